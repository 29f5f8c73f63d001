"""A proposed run as a fio job file, with the options that the run had."""

from __future__ import annotations

from collections.abc import Iterator

from azbenchlib.analysis.observation import Observation
from azbenchlib.core.patterns import DIRECTIONS
from azbenchlib.core.units import MIB, fio_size_text
from azbenchlib.verdict.next_run.trials import NEXT_RAMP_S, NEXT_RUN_S, CandidateRun, Change, Trial

_TARGET = "${TARGET}"  # fio takes it from the environment
_SECTORS = (512, 4096)  # of disks; Ultra and Premium v2 have the latter. Source: Microsoft Learn, 2026
_ENGINE = "libaio"
_UNSTATED_DEPTH = 32
_NOT_READ = "; add what else the run had and no output tells, such as fsync or thinktime"
_PREPARES = {Change.SPEND: "spend", Change.FILL: "fill"}


def job_file(seen: Observation, was: Trial, experiment: CandidateRun) -> str:
    """The job file of an experiment.

    Parameters
    ----------
    seen : Observation
        The run that it follows.
    was : Trial
        Its conditions.
    experiment : CandidateRun
    """
    trial = experiment.trial
    lines = [*_comments(seen, experiment), "[global]", f"filename={_TARGET}", f"ioengine={_engine(seen)}"]
    lines += ["direct=1" if trial.direct or seen.direct is None else "direct=0", *_pattern(seen, trial)]
    lines += [f"size={_span(seen, experiment)}", f"ramp_time={NEXT_RAMP_S}", "group_reporting"]
    if experiment.kind is Change.WARM:
        lines += ["", "[warm]", "stonewall", "rw=read", f"bs={fio_size_text(MIB)}", "iodepth=32"]
    if experiment.kind in _PREPARES:
        lines += _section(_PREPARES[experiment.kind], seen, was, trial, experiment.before_s)
    name = "after" if experiment.kind in _PREPARES or experiment.kind is Change.WARM else "next"
    lines += _section(name, seen, was, trial, NEXT_RUN_S)
    if experiment.kind is Change.REST:
        lines.append(f"startdelay={experiment.before_s:.0f}")
    return "\n".join(lines) + "\n"


def _comments(seen: Observation, experiment: CandidateRun) -> Iterator[str]:
    two = experiment.kind is Change.MORE_DISKS
    yield f"; TARGET={'FIRST:SECOND' if two else 'FILE_OR_DEVICE'} fio next.fio"
    if experiment.trial.read_share < 1:
        yield "; overwrites TARGET"
    if experiment.trial.pauses:
        yield _NOT_READ
    if seen.queue_depth is None:
        yield "; the queue depth of the run is not known: set iodepth"


def _engine(seen: Observation) -> str:
    """The engine of the run, where it was one of fio's."""
    return seen.ioengine if seen.tool == "fio" and seen.ioengine else _ENGINE


def _pattern(seen: Observation, trial: Trial) -> list[str]:
    """The pattern of the run, or the random one of the same directions."""
    share = trial.read_share
    ways = {"read"} if share == 1 else {"write"} if share == 0 else {"read", "write"}
    known = seen.rw if seen.rw in DIRECTIONS and DIRECTIONS[seen.rw] == ways else None
    sequential = seen.rw in DIRECTIONS and not str(seen.rw).startswith("rand")
    plain = "rw" if len(ways) > 1 else next(iter(ways))
    lines = [f"rw={known or (plain if sequential else f'rand{plain}')}"]
    return lines if len(ways) == 1 else [*lines, f"rwmixread={share * 100:.0f}"]


def _span(seen: Observation, experiment: CandidateRun) -> str:
    span = experiment.span_bytes or seen.working_set_bytes
    return fio_size_text(max(1, round(span / MIB)) * MIB) if span and span >= MIB else "100%"


def _section(name: str, seen: Observation, was: Trial, trial: Trial, runtime_s: float) -> list[str]:
    depth = trial.queue_depth or _UNSTATED_DEPTH * trial.numjobs
    lines = ["", f"[{name}]", "stonewall", "time_based", f"bs={_sizes(seen, was, trial)}"]
    lines += [f"iodepth={max(1, depth // trial.numjobs):.0f}", f"numjobs={trial.numjobs}"]
    lines.append(f"runtime={runtime_s:.0f}")
    if trial.rate_iops:
        lines.append(f"rate_iops={_of_each_way(trial.rate_iops / trial.numjobs, trial.read_share)}")
    return lines


def _of_each_way(rate: float, read_share: float) -> str:
    """The rate of a job; fio takes that of reads and that of writes apart."""
    if read_share in (0, 1):
        return f"{max(1, round(rate))}"
    return f"{max(1, round(rate * read_share))},{max(1, round(rate * (1 - read_share)))}"


def _sizes(seen: Observation, was: Trial, trial: Trial) -> str:
    """One block size, or those of reads and writes where they differ."""
    reads, writes = seen.bs_bytes, seen.bs_write_bytes
    if trial.bs_bytes != was.bs_bytes or not reads or not writes or reads == writes:
        return _size(trial.bs_bytes if trial.bs_bytes != was.bs_bytes or not reads else reads)
    return f"{_size(reads)},{_size(writes)}"


def _size(size: float) -> str:
    """The nearest size that direct I/O can address on every disk: a mean of several sizes is none."""
    sector = _SECTORS[-1] if size >= _SECTORS[-1] else _SECTORS[0]
    return fio_size_text(max(1, round(size / sector)) * sector)
