"""The global options of a fio JSON document: which of its jobs they hold for.

fio writes one list of them. With several servers it is that of all clients in one, where the last one's
value counts (since 3.41 each host has a list of its own); and a ``[global]`` section that comes after a job
is in it too. So what a job did may show that some of them are not its own.

Source: outputs of fio 3.33 and 3.41, and fio ``client.c`` (``fio_client_json_init``) at fio-3.41.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from azbenchlib.core import schema
from azbenchlib.core.patterns import DIRECTIONS
from azbenchlib.formats._json_values import Complaints, Fields
from azbenchlib.formats.fio._jobs import SUM_OF_CLIENTS
from azbenchlib.formats.fio._json_documents import JsonDocument
from azbenchlib.formats.fio._options import FioOptions, merged, workload_of

SURELY = 20  # so many I/Os that were to be expected, and none was done: that is no chance
LARGER = 1.05  # no I/O is larger than a block; of what a ramp leaves over, so little is not worth a word
SMALLER = 0.5  # a file's last block may be cut short, and a few others


def own_options(entry: Any) -> dict[str, Any] | None:
    """The options of an entry, and None where fio did not write them (before 2.4, and where it has none)."""
    options = entry.get("job options") if isinstance(entry, dict) else None
    return options if isinstance(options, dict) else None


class SharedOptions:
    """What the jobs of a document share, as far as the output tells.

    Parameters
    ----------
    document : JsonDocument
        A document of fio's JSON.
    """

    def __init__(self, document: JsonDocument) -> None:
        self._document = document
        self.stated = document.root.get("global options")
        self._of_host: dict[str, list[Mapping[str, Any]]] = {}
        for layer in self.stated if isinstance(self.stated, list) else [self.stated]:
            if isinstance(layer, dict):
                self._of_host.setdefault(str(layer.get("hostname", "")), []).append(layer)
        self._merged: dict[str, FioOptions] = {}

    def of(self, host: str | None) -> FioOptions:
        """The global options of a host: with several servers, each may have some of its own."""
        key = host or ""
        if key not in self._merged:
            self._merged[key] = merged(
                *self._of_host.get("", ()), *(self._of_host.get(key, ()) if key else ())
            )
        return self._merged[key]

    def of_all(self, host: str | None) -> FioOptions:
        """Those that hold for every job of a sum: what some client did otherwise is true of none."""
        return FioOptions() if self.blended else self.of(host).without(self._typed_by_some)

    @cached_property
    def _typed_by_some(self) -> FioOptions:
        return merged(*(own_options(entry) or {} for _, entry in self._document.entries))

    @cached_property
    def blended(self) -> bool:
        """Whether they are of several clients in one, as what one of these did shows."""
        hosts = {(entry.get("hostname"), entry.get("port")) for entry in self._of_clients}
        return len(hosts) > 1 and any(self.disproved(entry) for entry in self._of_clients)

    @property
    def _of_clients(self) -> list[dict[str, Any]]:
        rows = [entry for _, entry in self._document.entries if isinstance(entry, dict)]
        return [row for row in rows if "hostname" in row and row.get("jobname") != SUM_OF_CLIENTS]

    def disproved(self, entry: Any) -> dict[str, str]:
        """Global options that what a job did shows not to be its own, each with the reason."""
        job = Fields(entry, "", Complaints())
        shared = self.of(job.text("hostname"))
        if not shared:
            return {}
        own = merged(own_options(entry) or {})
        if "verify" in shared or "verify" in own:
            return {}
        columns = workload_of(merged(shared, own), False, None).columns
        reasons = {}
        if columns["rw"] is not None and "rw" in shared and "rw" not in own:
            reasons["rw"] = _other_pattern(job, columns)
        if columns.get("bs_bytes") is not None and "bs" in shared and "bs" not in own:
            reasons["bs"] = _other_size(job, columns)
        return {name: why for name, why in reasons.items() if why}


def _other_pattern(job: Fields, columns: Mapping[str, Any]) -> str:
    done = {ddir: job.at(ddir).whole("total_ios") or 0 for ddir in schema.DDIRS[:3]}
    driven = sorted(ddir for ddir, ios in done.items() if ios)
    read_pct = columns.get("rwmix_read_pct")
    shares = {} if read_pct is None else {"read": read_pct / 100, "write": 1 - read_pct / 100}
    missing = [
        ddir for ddir, share in shares.items() if not done[ddir] and sum(done.values()) * share > SURELY
    ]
    surplus = set(driven) - DIRECTIONS[columns["rw"]]
    return f"it did {' and '.join(driven)}, not {columns['rw']}" if driven and (missing or surplus) else ""


def _other_size(job: Fields, columns: Mapping[str, Any]) -> str:
    for ddir, size, ios, n_bytes in _counted(job, columns):
        if _is_larger(ios, n_bytes, size, columns) or (ios > SURELY and n_bytes < ios * size * SMALLER):
            return _another_size(ddir, size, ios, n_bytes)
    return ""


def _is_larger(ios: int, n_bytes: int, size: int, columns: Mapping[str, Any]) -> bool:
    """Whether the I/Os were larger than a size, though some bytes were counted without their I/O."""
    if not columns.get("ramp_s"):
        return n_bytes > ios * size * LARGER
    under_way = (columns.get("iodepth") or 1) * (columns.get("numjobs") or 1)
    return n_bytes > (ios + max(ios, 2 * under_way)) * size


def bytes_of_the_ramp(job: Fields, columns: Mapping[str, Any]) -> str:
    """What a job's bytes say of I/Os that were under way when its ramp ended; "": nothing.

    fio counts an I/O when it is submitted and its bytes when it ends, and sets both to zero in between. Tried
    with fio 3.33: 32 jobs of 32 outstanding I/Os counted 32 to 1,024 blocks too many.

    Parameters
    ----------
    job : Fields
        The job's entry.
    columns : mapping
        Its columns of the table of runs.
    """
    if not columns.get("ramp_s") or columns.get("bs_bytes") is None:
        return ""
    for ddir, size, ios, n_bytes in _counted(job, columns):
        if n_bytes > ios * size * LARGER:
            return _another_size(ddir, size, ios, n_bytes)
    return ""


def _another_size(ddir: str, size: int, ios: int, n_bytes: int) -> str:
    return f"a {ddir} of it has {n_bytes / ios:.0f} B, not {size}"


def _counted(job: Fields, columns: Mapping[str, Any]) -> Iterator[tuple[str, int, int, int]]:
    """Direction, block size, I/Os and bytes, where these were counted one by one."""
    sizes = {"read": columns["bs_bytes"], "write": columns.get("bs_write_bytes") or columns["bs_bytes"]}
    for ddir, size in sizes.items():
        part = job.at(ddir)
        ios, n_bytes = part.whole("total_ios"), part.whole("io_bytes")
        if ios and n_bytes and "io_kbytes" in part:
            yield ddir, size, ios, n_bytes
