"""Reader of fio's JSON (``--output-format=json`` and ``json+``), from fio 2.1 to 3.41.

Units, by what a file has rather than by its version, for there are many builds from git:

========================= ======================= ======================= =====================
quantity                  fio 2.1 to 2.20         fio 2.21                fio 3.0 and later
========================= ======================= ======================= =====================
``io_bytes``              KiB                     bytes (``io_kbytes``)   bytes (``io_kbytes``)
bandwidth                 ``bw``, KiB/s           ``bw``, KiB/s           ``bw_bytes`` from 3.2
latency                   ``slat clat lat``, µs   the same, µs            ``slat_ns`` …, ns
``iops``                  integer in 2.1          real                    real
``runtime``               ms                      ms                      ms
========================= ======================= ======================= =====================

Traps that are dealt with: ``bw`` is truncated to KiB/s, so without ``bw_bytes`` the throughput is made of
bytes and time; a direction without I/O is all zeros, and so is a kind of latency without samples;
percentiles are padded with ``"0.00": 0`` up to 3.1; json+ of fio 2 names bins by their index, later
versions by their value; ``unified_rw_reporting=both`` adds ``mixed`` to the directions that it sums; "All
clients" sums all rows of a client/server run, even of one client; ``--status-interval`` writes a document
each time, of which the last counts, and the differences are rates over time; messages, progress and other
formats stand around the JSON; a killed fio leaves half a document. Options are text as typed, and an absent
one has fio's default; where a document repeats none, a command line above it tells them.

Source: fio ``stat.c`` (``add_ddir_status_json``, ``show_thread_status_json``), ``client.c`` and HOWTO, read
at tags 2.0.7 to 3.41, and outputs of 2.1.11, 2.14, 2.21, 3.0, 3.16, 3.28, 3.33, 3.38 and 3.41.
"""

import reprlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import compress
from typing import Any

import numpy as np

from azbenchlib.core import histogram, schema, units
from azbenchlib.core.findings import ERROR, WARNING, Code
from azbenchlib.formats._json_values import INT64_MAX, Complaints, Fields
from azbenchlib.formats.base import Records
from azbenchlib.formats.fio._beside import StatedBefore, with_options_beside
from azbenchlib.formats.fio._disk_util import device_ios_per_io
from azbenchlib.formats.fio._intervals import DirectionState, State, add_intervals, chains
from azbenchlib.formats.fio._jobs import (
    QUOTE_LENGTH,
    SHOWN,
    SUM_OF_CLIENTS,
    FioJob,
    Key,
    OptionsBeside,
    Printed,
    report_complaints,
)
from azbenchlib.formats.fio._json_documents import (
    Found,
    JsonDocument,
    find_documents,
    shows_document,
    superseded,
    timestamp_s,
    without_bins,
)
from azbenchlib.formats.fio._options import FioOptions, merged, workload_of
from azbenchlib.formats.fio._rows import JobRows, errors_of_each
from azbenchlib.formats.fio._shared import SharedOptions, bytes_of_the_ramp, own_options
from azbenchlib.formats.source import Source

_BIN_CONSTANTS = {"FIO_IO_U_PLAT_BITS", "FIO_IO_U_PLAT_VAL", "FIO_IO_U_PLAT_NR"}
_MOMENTS = {name: f"lat_{name}_us" for name in ("min", "mean", "stddev", "max")}
_LONGEST = INT64_MAX // units.NS_PER_US  # a latency of either unit whose nanoseconds a column can hold


def sniff(opening: str) -> bool:
    """Whether a fio JSON document begins in the opening of a file, even after other text."""
    return shows_document(opening)


def read_fio_json(source: Source) -> Records:
    """All jobs of all documents of a fio JSON file.

    Parameters
    ----------
    source : Source
        The file. It may be damaged; what is whole is read, and the rest becomes findings.

    Returns
    -------
    Records
        Rows of runs, results, latency (µs), percentiles (µs), bins (ns; json+), samples (of status
        reports) and findings. A job without I/O has a row in runs alone.
    """
    records = Records(source)
    found = _documents(source)
    records.is_all_read = found.is_all
    _report_lines(records, source, found.stray)
    if not found.documents:
        records.finding(Code.NO_FIO_DOCUMENT, f"{source.path}: no job can be read from this file")
    replaced = superseded(found.documents)
    stated = StatedBefore()
    for number, document in enumerate(found.documents):
        _report_document(records, source, number, document)
        shared, ratio = SharedOptions(document), device_ios_per_io(document)
        for line in document.above.splitlines():
            stated.read(line)
        for place, entry in document.entries:
            run_id = source.run_id(number, place)
            job = _Job(records, source, document, shared, run_id, ratio)
            job.beside = stated.of
            job.read(entry, number, place)
            if number in replaced:
                job.rows.report_interim(number, len(found.documents))
    if replaced:
        _add_intervals(records, source, found.documents, replaced)
    if found.stray:
        from azbenchlib.formats.fio._mixed import read_beside_json  # the other formats, which few files need

        read_beside_json(records, source, found.stray, len(found.documents))
    return records


def _add_intervals(
    records: Records, source: Source, documents: Sequence[JsonDocument], replaced: set[int]
) -> None:
    """Add the rates between the reports on a run under way."""
    for chain in chains([number in replaced for number in range(len(documents))]):
        for several in zip(*(documents[number].entries for number in chain), strict=True):
            place, _ = several[-1]
            add_intervals(records, source.run_id(chain[-1], place), [_state(entry) for _, entry in several])


def _state(entry: Any) -> State:
    """What the directions of a job had done."""
    job, found = Fields(entry, "", Complaints()), {}
    for ddir in schema.DDIRS:
        part = job.at(ddir)
        ios, n_bytes, ms = part.whole("total_ios"), _io_bytes(part), part.whole("runtime")
        if ms is not None and _is_active(part):
            slack = 0 if "io_kbytes" in part else units.KIB
            found[ddir] = DirectionState(
                ms / units.MS_PER_S,
                None if ios is None else Printed(ios),
                None if n_bytes is None else Printed(n_bytes, slack),
            )
    return found


def _documents(source: Source) -> Found:
    """The documents of a file; without bins where nobody wants them, which are most of json+.

    Where something is broken, the text is searched as it stands, so that places in it are told rightly.
    """
    if not source.with_bins:
        found = find_documents(without_bins(source.text))
        if found.documents and not any(document.damage for document in found.documents):
            return found
    return find_documents(source.text)


def _report_lines(records: Records, source: Source, lines: tuple[str, ...]) -> None:
    """Findings on the text around the JSON: fio's complaints are errors, the rest is worth knowing."""
    others = report_complaints(records, source, lines)
    if others:
        message = f"{source.path}: text around the JSON, such as '{others[0][:QUOTE_LENGTH]}'"
        records.finding(Code.TEXT_AROUND_JSON, message)


def _report_document(records: Records, source: Source, number: int, document: JsonDocument) -> None:
    """Findings on a document as a whole."""
    if document.damage:
        where = f"line {source.line(document.damage.line)}, column {document.damage.column}"
        records.finding(
            Code.BROKEN_JSON,
            f"{source.path}: document {number + 1} is broken at {where} ({document.damage.reason}); "
            f"{len(document.entries)} jobs of it were kept",
            "Jobs after the damage may be missing" if document.damage.lost else "Nothing is lost",
            severity=ERROR if document.damage.lost else WARNING,
        )
    elif not document.entries:
        records.finding(Code.NO_JOBS, f"{source.path}: document {number + 1} has no jobs")


class _Job:
    """One entry of ``jobs`` or ``client_stats`` on its way into the tables."""

    def __init__(
        self,
        records: Records,
        source: Source,
        document: JsonDocument,
        shared: SharedOptions,
        run_id: str,
        device_ios: float | None,
    ) -> None:
        self.records, self.source, self.document, self.run_id = records, source, document, run_id
        self.shared, self.device_ios = shared, device_ios
        self.complaints = Complaints()
        self.beside: Callable[[str], OptionsBeside | None] = lambda _: None

    def read(self, entry: Any, number: int, place: int) -> None:
        """Add all rows of this entry, which stands at `place` in document `number`."""
        job = Fields(entry, "", self.complaints)
        name = job.text("jobname")
        self.rows = JobRows(self.records, self.source, self.run_id, name or str(place))
        host = job.text("hostname")
        is_sum = name == SUM_OF_CLIENTS and host is not None
        version = Fields({"fio version": self.document.root.get("fio version")}, "", self.complaints)
        error = job.whole("error", low=-INT64_MAX)
        self.records.add(
            "runs",
            **self.rows.identity(name, number, place),
            tool_version=version.text("fio version"),
            host=host,
            group_id=job.whole("groupid"),
            started_at=self._moment("job_start", job.real("job_start"), units.MS_PER_S, "milliseconds"),
            ended_at=self._moment(
                "timestamp",
                timestamp_s(self.document),
                1,
                "milliseconds" if "timestamp_ms" in self.document.root else "seconds",
            ),
            usr_cpu_pct=job.real("usr_cpu"),
            sys_cpu_pct=job.real("sys_cpu"),
            error=error,
            **self._workload(entry, job, is_sum),
        )
        failed = job.whole("total_err")
        errors = errors_of_each(failed, len(self.active))
        for ddir, part in self.active:
            self._result(ddir, part, errors)
            for kind in schema.LAT_KINDS:
                self._latency(ddir, kind, part)
        self.rows.report_outcome(not self.active, failed, job.whole("first_error") if failed else None, error)
        self._report_complaints()

    def _workload(self, entry: Any, job: Fields, is_sum: bool) -> dict[str, Any]:
        """Columns from the job's options, and what could not be read of them."""
        own = own_options(entry)
        if own is None:
            job.at("job options")  # complains where it is of a wrong kind
        if not isinstance(self.shared.stated, dict | list | None):
            self.complaints.unexpected.append(f"global options = {reprlib.repr(self.shared.stated)}")
        shared = self._shared(entry, job, is_sum)
        defaults = own is not None and shared is not None
        workload = workload_of(merged(shared or {}, own or {}), defaults, self.document.rows_like(entry))
        self.active = [
            (ddir, part) for ddir in schema.DDIRS if ddir in job and _is_active(part := job.at(ddir))
        ]
        driven = {ddir for ddir, _ in self.active if ddir in schema.DDIRS[:3]}
        if not is_sum and (beside := self._options_beside(job, own, shared)):
            workload = workload_of(beside, False, self.document.rows_like(entry))
        columns = dict(workload.columns)
        named = (own or {}).get("name", job.text("jobname"))
        mingled = named != job.text("jobname") or bool(workload.directions and driven - workload.directions)
        if mingled:
            # reporting on a group, fio gives the name of its first job and the options of its last
            message = f"{self.rows.label}: the options are of another job, or of one among several in the row"
            advice = "Do not rely on the columns made from options; give each job its own new_group"
            self.rows.finding(Code.OPTIONS_OF_ANOTHER_JOB, message, advice)
        if not columns.get("ramp_s"):  # the devices count in a ramp too
            columns["device_ios_per_io"] = self.device_ios
        columns["level"] = "all" if is_sum else "group" if (workload.members or 1) > 1 else "job"
        if is_sum or mingled:
            columns = {key: columns[key] for key in columns.keys() - {"queue_depth", "working_set_bytes"}}
        self.rows.report_options(workload)
        if columns.get("ramp_s") and (surplus := bytes_of_the_ramp(job, columns)):
            self.rows.finding(Code.BYTES_OF_THE_RAMP, f"{self.rows.label}: {surplus}")
        return columns

    def _options_beside(
        self, job: Fields, own: Mapping[str, Any] | None, shared: FioOptions | None
    ) -> FioOptions | None:
        """All options, where a command line above says some that the document does not repeat.

        fio repeats all of them since 2.4; a script may have taken them out, or the head may have been cut.
        """
        name = job.text("jobname") or ""
        is_repeated = own is not None and not self.document.damage
        beside = None if is_repeated or job.text("hostname") is not None else self.beside(name)
        if beside is None:
            return None
        figures = {
            Key("results", ddir, column): Printed(value)
            for ddir, part in self.active
            for column, value in (("ios", part.whole("total_ios")), ("io_bytes", _io_bytes(part)))
            if value is not None
        }
        told = dict(merged(shared or {}, own or {}))
        ((found,),) = with_options_beside([[FioJob(name=name, options=told, figures=figures, beside=beside)]])
        for code, message in found.notes:
            self.rows.finding(code, f"{self.rows.label}: {message}")
        return merged(found.options or {})

    def _shared(self, entry: Any, job: Fields, is_sum: bool) -> FioOptions | None:
        """The global options that hold for this job, those unknown that do not; None: all are doubtful."""
        host = job.text("hostname")
        if is_sum:
            return self.shared.of_all(host)
        disproved, blended = self.shared.disproved(entry), self.shared.blended and host is not None
        shared = None if blended else merged(self.shared.of(host))
        if shared is not None:
            for name in disproved:
                shared.put(name, None, False)
        if disproved or blended:
            why = "; ".join(disproved.values()) or "they are of several clients, and another one shows it"
            message = f"{self.rows.label}: the global options are not those of this job: {why}"
            advice = "What they alone tell is NA; write the options into each job's own section"
            self.rows.finding(Code.OPTIONS_OF_ANOTHER_JOB, message, advice)
        return shared

    def _moment(self, name: str, value: float | None, per_s: int, precision: str) -> str | None:
        """A time since 1970 (UTC) in ISO 8601; zero is none."""
        if not value:
            return None
        try:
            moment = datetime.fromtimestamp(value / per_s, UTC)
        except (ValueError, OverflowError, OSError):
            self.complaints.unexpected.append(f"{name} = {value:.15g}")
            return None
        return moment.isoformat(timespec=precision)

    def _result(self, ddir: str, part: Fields, errors: int | None) -> None:
        runtime_ms, n_bytes = part.whole("runtime"), _io_bytes(part)
        rate = part.real("bw_bytes")
        if rate is None and runtime_ms and n_bytes is not None:
            rate = n_bytes * units.MS_PER_S / runtime_ms
        elif rate is None and (rate_kib := part.real("bw")) is not None:
            rate = rate_kib * units.KIB
        self.records.add_result(
            self.rows.label,
            ddir,
            run_id=self.run_id,
            errors=errors,
            ios=part.whole("total_ios"),
            io_bytes=n_bytes,
            runtime_s=None if runtime_ms is None else runtime_ms / units.MS_PER_S,
            iops=part.real("iops"),
            iops_stddev=part.real("iops_stddev") if part.whole("iops_samples") else None,
            bw_bytes_per_s=rate,
        )

    def _latency(self, ddir: str, kind: str, part: Fields) -> None:
        """Moments, percentiles and bins of one kind of latency, where it was sampled."""
        in_ns = f"{kind}_ns" in part
        fields = part.at(f"{kind}_ns" if in_ns else kind)
        if not _has_samples(fields):
            return
        per_us, bin_ns = (units.NS_PER_US, 1) if in_ns else (1, units.NS_PER_US)
        row: dict[str, Any] = {"run_id": self.run_id, "ddir": ddir, "lat_kind": kind}
        moments = {
            column: None if (value := fields.real(name)) is None else value / per_us
            for name, column in _MOMENTS.items()
        }
        self.records.add("latency", **row, n=fields.whole("N"), **moments)
        percentiles, values = fields.at("percentile").numbers(highest=100)
        if 0 in percentiles:  # "0.00": 0 pads the list
            told = [bool(p or value) for p, value in zip(percentiles, values, strict=True)]
            percentiles, values = (list(compress(some, told)) for some in (percentiles, values))
        lat_us = [value / per_us for value in values]
        self.records.add_columns("percentiles", row, percentile=percentiles, lat_us=lat_us)
        if self.source.with_bins:
            numbers, counts = _bins(fields.at("bins"))
            self.records.add_columns("bins", row, bin_ns=numbers * bin_ns, n=counts)

    def _report_complaints(self) -> None:
        for code, offenders, what in (
            (Code.UNEXPECTED_VALUE, self.complaints.unexpected, "not what fio writes there"),
            (Code.NOT_A_NUMBER, self.complaints.not_a_number, "nan or inf"),
        ):
            if offenders := list(dict.fromkeys(offenders)):
                more = f" and {len(offenders) - SHOWN} more" if len(offenders) > SHOWN else ""
                message = f"{self.rows.label}: {what}: {', '.join(offenders[:SHOWN])}{more}"
                self.rows.finding(code, message)


def _io_bytes(part: Fields) -> int | None:
    """Bytes moved: fio counted in KiB until it wrote ``io_kbytes`` beside it (2.21)."""
    count = part.whole("io_bytes")
    in_bytes = any(key in part for key in ("io_kbytes", "bw_bytes", "clat_ns", "lat_ns"))
    if count is None or in_bytes:
        return count
    return count * units.KIB if count <= INT64_MAX // units.KIB else None


def _has_samples(latency: Fields) -> bool:
    """Whether anything was measured: fio prints zeros where nothing was."""
    if (count := latency.whole("N")) is not None:
        return count > 0
    return any(latency.real(name) for name in ("min", "max", "mean"))


def _bins(bins: Fields) -> tuple[np.ndarray, np.ndarray]:
    """The bins that are not empty: their values in the unit of the latency, and their counts.

    fio 2 names its bins by their index and says so by adding the constants of its histogram.
    """
    by_index = "FIO_IO_U_PLAT_BITS" in bins
    highest = bins.whole("FIO_IO_U_PLAT_NR") if by_index else _LONGEST
    values, counts = bins.counts(highest or 0, aside=_BIN_CONSTANTS)
    if by_index:
        values = histogram.value_of(values)
    filled = counts > 0
    return (values, counts) if filled.all() else (values[filled], counts[filled])


def _is_active(part: Fields) -> bool:
    if part.whole("total_ios") or part.whole("io_bytes"):
        return True
    return any(
        _has_samples(part.at(key)) for kind in schema.LAT_KINDS for key in (f"{kind}_ns", kind) if key in part
    )
