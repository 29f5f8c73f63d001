"""The outputs of one workload: whole or not, where they are kept, and how they are unpacked."""

import io
import tarfile
from functools import lru_cache
from pathlib import Path

from azbenchlib.analysis.concurrency import at_once, counted
from azbenchlib.campaign import wholeness
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.workloads.kinds import MOST_IN_FILE
from azbenchlib.core.errors import AzbenchError, OutputError
from azbenchlib.core.files import flush, make_folder, move
from azbenchlib.core.units import format_count, format_mbps
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

IOZONE_ENDED = "iozone test complete."  # what iozone prints when all tests are done
_KNOWN = 2 * MOST_IN_FILE  # outputs that are remembered: progress asks for all of them again and again
FAILED = "failed"  # in the dataset folder, beside raw/: what a workload left that failed


def came_to(output: Path) -> str | None:
    """What a whole output comes to, in words; None where it is not there, not whole, or no I/O was done."""
    if output.suffix != ".txt":
        return reached(output)
    return _of_iozone(output, *_state(output)) if output.is_file() else None


def reached(output: Path, times: float = 1) -> str | None:
    """The IOPS in a fio output, in words; None where it is not there, not whole, or no I/O was done.

    The jobs of a group ran at once and are added up; groups may have run one after the other, so of several
    the range is told.

    The figures are multiplied by `times`, such as the dilation of the lab.
    """
    found = _of_fio(output, *_state(output))[0] if output.is_file() else ()
    if not found:
        return None
    low, high = (format_count(round(one * times)) for one in (min(found), max(found)))
    span = high if low == high else f"{low} to {high}"
    return f"{span} IOPS" if len(found) == 1 else f"{span} IOPS in {len(found)} groups of jobs"


def flaw(output: Path) -> str:
    """Why an output is not whole, in words; empty: it is."""
    if not output.is_file():
        return "it left no output"
    if output.suffix == ".txt":
        return "" if _of_iozone(output, *_state(output)) else "its output is not whole"
    return _of_fio(output, *_state(output))[1]


def _state(output: Path) -> tuple[int, int]:
    """What changes with the file: progress asks for all outputs again and again, and each is read once."""
    found = output.stat()
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=_KNOWN)
def _of_iozone(output: Path, *state: int) -> str | None:
    if IOZONE_ENDED not in output.read_text(errors="replace"):
        return None
    tables = registry.read(Source.of(output, with_bins=False))
    rates = tables["results"]["bw_bytes_per_s"].dropna()
    if rates.empty or (tables["findings"]["severity"] == "error").any():
        return None
    low, high = format_mbps(rates.min()), format_mbps(rates.max())
    return f"{len(rates)} figures, {low} to {high} MB/s"


@lru_cache(maxsize=_KNOWN)
def _of_fio(output: Path, *state: int) -> tuple[tuple[float, ...], str]:
    """IOPS of the jobs of each group, and why the output is not whole: one of them is empty."""
    source = Source.of(output)
    tables = registry.read(source)
    if why := wholeness.flaw(source.text, tables):
        return (), why
    runs, results = tables["runs"], tables["results"]
    once = runs.loc[counted(tables), "run_id"]  # sums of several hosts repeat what the hosts tell
    results = results[results["run_id"].isin(once) & (results["ddir"] != "mixed")]
    together = results["run_id"].map(dict(zip(runs["run_id"], at_once(runs), strict=True)))
    return tuple(results["iops"].groupby(together).sum()), ""


def keep(part: Path, folder: Path, output: str) -> None:
    """Move what a workload wrote into place, that which tells it whole last: where that is, all of it is.

    When it returns, all of it is on the disk: a power cut takes nothing of it.
    """
    make_folder(folder)
    *others, last = sorted(part.iterdir(), key=lambda file: file.name == output)
    for file in others:
        move(file, folder / file.name)
    flush(folder)
    move(last, folder / last.name)
    flush(folder)
    part.rmdir()


def keep_failed(part: Path, dataset: Path, name: str) -> Path:
    """Put aside what a workload left that failed; the folder it is in now."""
    kept = dataset / FAILED / f"{name}-{plan.now().replace(':', '')}"
    make_folder(kept.parent)
    for file in part.iterdir():
        if file.is_file():
            flush(file)
    part.rename(kept)
    flush(kept)
    flush(kept.parent)
    return kept


LARGEST_OUTPUT = 64 * 1024 * 1024  # of a workload, packed and unpacked; more is no output of fio


def unpack(data: bytes, folder: Path, left: int) -> int:
    """Put the plain files of an archive, by their bare names, into a folder; how many more bytes may come.

    Raises an AzbenchError when they are more than `left` bytes; an OutputError, which names the file, when
    one cannot be written.
    """
    most = left
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                left -= member.size
                if left < 0:
                    raise AzbenchError(f"{folder.name}: its outputs unpack to more than {most} B")
                write(folder / Path(member.name).name, content.read())
    return left


def write(file: Path, data: bytes) -> None:
    """Write an output; an OutputError names the file that cannot be written."""
    try:
        file.write_bytes(data)
    except OSError as error:  # of a full disk, it names no file
        raise OutputError(f"{file}: {error.strerror or error}") from error
