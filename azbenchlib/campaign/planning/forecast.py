"""What is expected of each run of a measurement file: how long, how much is written, which limit binds."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import date
from numbers import Real
from typing import Any

from azbenchlib import model
from azbenchlib.analysis.mix import read_share
from azbenchlib.campaign.design import figures
from azbenchlib.campaign.files.spec import Experiment, SetupSpec, Task, planned
from azbenchlib.campaign.workloads import base
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import US_PER_S, format_count, format_size, format_span
from azbenchlib.model import host_caching
from azbenchlib.model.descriptions import stated_setup
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.io_path import Load
from azbenchlib.model.labels import Label
from azbenchlib.model.limits import Delivered, deliver
from azbenchlib.model.unloaded_latency import expected_us, table_of


@dataclass(frozen=True, kw_only=True)
class RunForecast:
    """A run as it is expected.

    `seconds` is at most, where `certain` is False; `iops`, `written_bytes` and `limits` (those that bind, the
    tightest first) are None or empty where nothing tells.
    """

    setup: str
    disk: str
    workload: str
    repeat: int
    warm_up: int
    title: str
    seconds: float
    certain: bool
    iops: float | None
    written_bytes: float | None
    limits: tuple[Label, ...]


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """All runs in order, what is written before the first of them, in bytes, and remarks on host caching."""

    runs: tuple[RunForecast, ...]
    laid_out_bytes: int
    rest_s: float
    design: str
    remarks: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """Of all runs and rests."""
        return self.rest_s + sum(run.seconds for run in self.runs)

    @property
    def written_bytes(self) -> float:
        """Of the data that is laid out, and of the runs as far as it is known."""
        return self.laid_out_bytes + sum(run.written_bytes or 0.0 for run in self.runs)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain values; times in s, sizes in bytes."""
        return {
            "runs": [asdict(run) for run in self.runs],
            "seconds": self.seconds,
            "laid_out_bytes": self.laid_out_bytes,
            "written_bytes": self.written_bytes,
            "design": self.design,
            "remarks": list(self.remarks),
        }

    def lines(self) -> Iterator[str]:
        """In words: the whole, then each workload once."""
        unknown = sum(run.written_bytes is None for run in self.runs)
        beside = f", beside what {unknown} of them write, which is not known" if unknown else ""
        sure = all(run.certain and run.warm_up <= figures.LEAST_WARM_UPS for run in self.runs)
        most = "" if sure else "at most "
        yield (
            f"{len(self.runs)} runs; workloads and rests last {most}{format_span(self.seconds)}; about "
            f"{format_size(self.written_bytes)} are written{beside}"
        )
        if self.design:
            yield self.design
        yield from self.remarks
        counted: dict[tuple[str, str, str], list[RunForecast]] = {}
        for run in self.runs:
            counted.setdefault((run.setup, run.disk, run.workload), []).append(run)
        for (setup, disk, workload), runs in counted.items():
            yield f"{setup}, {disk}, {workload}: {_of_one(runs)}"


def of(experiment: Experiment, design: str) -> Forecast:
    """What is expected of each run of a measurement file, by the limits of its day or today's."""
    tables, runs, laid = planned(experiment), list[RunForecast](), dict[tuple[str, str], int]()
    remarks = dict[str | None, None]()
    for setup in experiment.setups:
        stated, day = stated_setup(tables, setup.name), setup.as_of or date.today().isoformat()
        known = _known(stated, day)
        remarks[host_caching.remark(stated, day)] = None
        for task in setup.tasks:
            for disk in setup.driven(task):
                runs.append(_run(setup, disk, task, known))
                work = task.workload
                whose = (setup.name, disk) if setup.disks[disk].role != "data" else ("", disk)
                laid[whose] = max(laid.get(whose, 0), work.shared_bytes, work.own_bytes)
    return Forecast(
        runs=tuple(runs),
        laid_out_bytes=sum(laid.values()),
        rest_s=sum(setup.rest for setup in experiment.setups),
        design=design,
        remarks=tuple(filter(None, remarks)),
    )


def _known(stated: model.Setup, day: str) -> model.Setup | None:
    """The setup with its limits; None where the catalogue does not know them."""
    try:
        return resolve(stated, day)
    except InputError:
        return None


def _run(setup: SetupSpec, disk: str, task: Task, known: model.Setup | None) -> RunForecast:
    work, facts = task.workload, task.workload.facts()
    share = read_share(facts.get("rw"), facts.get("rwmix_read_pct"))
    got = _delivered(known, disk, facts, share) if known else None
    written = None
    if share == 1.0:
        written = 0.0
    elif share is not None and got and got.bytes_per_s is not None and work.duration_s:
        written = got.bytes_per_s * (1 - share) * work.duration_s
    return RunForecast(
        setup=setup.name,
        disk=disk,
        workload=base.workload_of(work.name),
        repeat=base.repeat_of(work.name)[1],
        warm_up=base.warm_up_of(work.name)[1],
        title=work.title,
        seconds=work.max_duration_s,
        certain=work.duration_s is not None,
        iops=got.iops if got else None,
        written_bytes=written,
        limits=got.binding if got else (),
    )


def _delivered(
    setup: model.Setup, disk: str, facts: dict[str, object], share: float | None
) -> Delivered | None:
    """What the disk delivers while it has credits; None where the load is not known."""
    asked = [facts.get(name) for name in ("bs_bytes", "iodepth", "numjobs")]
    numbers = [float(one) for one in asked if isinstance(one, Real)]
    volume = next((one for one in setup.volumes() if one.name == disk), None)
    mine = next((one for one in setup.disks if one.name == disk), None)
    if share is None or volume is None or mine is None or len(numbers) < len(asked):
        return None
    block, depth, jobs = numbers
    latency_s = expected_us(table_of(setup.vm, mine), share) / US_PER_S
    load = Load(volume=disk, read_share=share, bs_bytes=block)
    got = deliver(setup, [load], queue_depth=depth * jobs, latency_s=latency_s)
    documented = any(use.label is not Label.LATENCY_QD for use in got.limits)
    return got if documented or depth * jobs == 1 else None  # else a deep queue would promise anything


def _of_one(runs: list[RunForecast]) -> str:
    run = runs[0]
    warm_ups = sum(run.warm_up > 0 for run in runs)
    counted = len(runs) - warm_ups
    times = f"{counted} × " if counted > 1 else ""
    before = f", after {figures.LEAST_WARM_UPS} to {warm_ups} warm-ups" if warm_ups else ""
    long = f"{times}{'' if run.certain else 'at most '}{format_span(run.seconds)}{before}"
    if run.iops is None:
        return f"{long}; the limit is not known"
    limits = " and ".join(label.display_name for label in run.limits)
    return f"{long}, up to {format_count(round(run.iops))} IOPS, by {limits}"
