"""The tables: what every column holds, in which unit, and what its values may be.

One registry. Readers build frames with :func:`frame`, which fixes the order and the dtypes of the
columns and refuses values that break a column's check. The column reference in ``docs/tables.md`` is
made from it. Missing is always NA (``pd.NA``), never zero.
"""

import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from azbenchlib.core.choices import ENVIRONMENTS, HOST_CACHING, ROLES
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Severity

TEXT, INT, FLOAT, BOOL = "string", "Int64", "Float64", "boolean"
_PLAIN: dict[str, Callable[[Any], Any]] = {TEXT: str, INT: int, FLOAT: float, BOOL: bool}

_LEVELS = ("job", "group", "host", "all")
DDIRS = ("read", "write", "trim", "mixed")
LAT_KINDS = ("slat", "clat", "lat")
_METRICS = (
    "iops",
    "bw_bytes_per_s",
    "slat_us",
    "clat_us",
    "lat_us",
    "credits",
    "cache_hit_ratio",
    "queue_depth",
    "throttled_share",
    "disk_lat_us",
    "iops_consumed_pct",
    "bw_consumed_pct",
    "iops_credits_used_pct",
    "bw_credits_used_pct",
)
BOUNDS = ("=", ">", "<", "~")
CLOCKS = ("utc", "local", "elapsed")
SEVERITIES = tuple(severity.value for severity in Severity)
# No measurement is larger, and what is made of such values (rates times sizes, squares, whole numbers of 64
# bits) stays within what a float or an integer holds.
LARGEST_VALUE = 1e18
_FEW = 64  # rows of which single values are looked at
QUOTED = 100  # characters of a value that a sentence quotes
_LONGEST_TEXT = 64 * 1024  # characters; longer ones are damage, and would be repeated in every message


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column: dtype, unit, allowed values, smallest and largest value, meaning."""

    dtype: str
    doc: str
    unit: str = ""
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None

    def offenders(self, values: pd.Series) -> pd.Series:
        """The values that break this column's check; NA never does."""
        if self.choices:
            return values[~values.isin(self.choices) & values.notna()]
        if self.dtype not in (INT, FLOAT):
            return values[:0]
        low, high = self._range()
        numbers = values.to_numpy(dtype=float, na_value=np.nan)
        return values[(numbers < low) | (numbers > high)]

    def _range(self) -> tuple[float, float]:
        """The smallest and the largest number."""
        return (
            -LARGEST_VALUE if self.low is None else self.low,
            LARGEST_VALUE if self.high is None else self.high,
        )

    def accepts(self, value: Any) -> bool:
        """Whether this column can hold a value; it holds what is missing too."""
        if _is_missing(value):
            return True
        if self.dtype == TEXT:
            return _is_text(value) and (not self.choices or value in self.choices)
        if self.dtype == BOOL:
            return isinstance(value, bool | np.bool_)
        low, high = self._range()
        if not isinstance(value, int | float | np.number) or not low <= value <= high:
            return False
        return self.dtype == FLOAT or float(value).is_integer()

    def allowed(self) -> str:
        """What a value may be, in words."""
        if self.choices:
            return f"one of: {', '.join(self.choices)}"
        kind = {TEXT: "text", INT: "a whole number", FLOAT: "a finite number", BOOL: "true or false"}[
            self.dtype
        ]
        if self.dtype not in (INT, FLOAT):
            return kind
        low, high = self._range()
        return f"{kind} of at least {low:g} and at most {high:g}"


@dataclass(frozen=True)
class Table:
    """One table: the columns that identify a row, and all columns in order."""

    key: tuple[str, ...]
    doc: str
    columns: Mapping[str, Column] = field(repr=False)


def _text(doc: str, choices: tuple[str, ...] = ()) -> Column:
    return Column(dtype=TEXT, doc=doc, choices=choices)


def _whole(doc: str, unit: str = "", low: float = 0) -> Column:
    return Column(dtype=INT, doc=doc, unit=unit, low=low)


def _real(doc: str, unit: str = "", low: float | None = 0, high: float | None = None) -> Column:
    return Column(dtype=FLOAT, doc=doc, unit=unit, low=low, high=high)


_RUN_ID = _text("The run: a hash of all that fio tells of it; of other tools, of text, document and place")
_DDIR = _text("Direction of the I/O; mixed sums the others", DDIRS)
_LAT_KIND = _text("Submission, completion or total latency", LAT_KINDS)

TABLES: dict[str, Table] = {
    "setups": Table(
        ("setup_id",),
        "What was measured: one row a machine with its disks",
        {
            "setup_id": _text("Name of the setup within the dataset"),
            "label": _text("How reports call it; NA: derived from the other columns"),
            "environment": _text("Where it ran", ENVIRONMENTS),
            "region": _text("Azure region"),
            "zone": _text("Availability zone"),
            "vm_size": _text("Azure VM size, such as Standard_E8ds_v4"),
            "ram_bytes": _whole("Main memory", "B"),
            "os": _text("Operating system or image"),
            "kernel": _text("Kernel release"),
            "time_scale": _real("Dilation factor of the lab, which times were divided by; 1 for none", "1"),
            "credit_s": _real("How long full burst credits last; NA: as documented, 1,800 s", "s"),
            "as_of": _text("Date whose documented limits and prices apply, ISO 8601"),
        },
    ),
    "disks": Table(
        ("setup_id", "disk"),
        "The disks of a setup",
        {
            "setup_id": _text("The setup it belongs to"),
            "disk": _text("Name of the disk within the setup"),
            "role": _text("What the disk is for", ROLES),
            "sku": _text("Azure SKU, such as Premium_LRS, or the kind of a local disk"),
            "tier": _text("Performance tier, such as P30"),
            "size_bytes": _whole("Size", "B"),
            "host_caching": _text("Azure host caching; the string None means off", HOST_CACHING),
            "provisioned_iops": _whole("Provisioned IOPS", "1/s"),
            "provisioned_bytes_per_s": _whole("Provisioned throughput", "B/s"),
            "count": _whole("How many of this kind", low=1),
            "stripe": _text("How several are joined: NA, or stripe with its chunk size"),
            "lun": _whole("Logical unit number on the VM"),
            "zone": _text("Zone of the disk, where it differs from the VM's"),
            "bursting": Column(dtype=BOOL, doc="Whether the disk could burst"),
        },
    ),
    "runs": Table(
        ("run_id",),
        "One row a tool job: a fio jobs[] entry, an iozone cell, a published experiment",
        {
            "run_id": _RUN_ID,
            "setup_id": _text("The setup it ran on"),
            "disks": _text("Names of the disks it drove, comma-separated"),
            "target": _text("File, directory or device that was driven"),
            "level": _text("job; or a sum of other rows: group, host, all", _LEVELS),
            "tool": _text(
                "fio, iozone, diskspd, iometer; or Azure Monitor, whose samples begin at started_at"
            ),
            "tool_version": _text("As the tool reports it"),
            "job": _text("Name of the job"),
            "job_index": _whole("Place of the job in its document, from 0"),
            "host": _text("Client in a client/server run"),
            "group_id": _whole(
                "Rows of one document with the same number ran at once: fio's reporting group"
            ),
            "rw": _text("Pattern in fio's spelling, or the iozone test"),
            "rwmix_read_pct": _real("Share of reads of a mixed pattern", "%", high=100),
            "bs_bytes": _whole("Block size (of reads, where writes have their own)", "B"),
            "bs_write_bytes": _whole("Block size of writes, where it differs", "B"),
            "iodepth": _whole("Requested outstanding I/Os per job"),
            "numjobs": _whole("Requested jobs that this row covers or was one of"),
            "queue_depth": _whole("Outstanding I/Os of this row in total"),
            "working_set_bytes": _whole("Data touched", "B"),
            "direct": Column(dtype=BOOL, doc="Whether the page cache was bypassed"),
            "ioengine": _text("fio's I/O engine"),
            "rate_iops": _real("Requested rate limit", "1/s"),
            "rate_bytes_per_s": _real("Requested limit of the throughput", "B/s"),
            "thinktime_us": _real("Requested pause between I/Os; 0: none", "µs"),
            "fsync": _whole("Writes after which fsync was to be called each time; 0: never"),
            "fdatasync": _whole("Writes after which fdatasync was to be called each time; 0: never"),
            "random_distribution": _text(
                "Which places a random pattern prefers, in fio's spelling, such as zipf:1.2; random: none"
            ),
            "verify": _text("How data were to be verified, in fio's spelling; none: not at all"),
            "ramp_s": _real("Time left out at the start", "s"),
            "runtime_limit_s": _real("Requested run time", "s"),
            "time_based": Column(dtype=BOOL, doc="Whether it ran on until the run time was over"),
            "started_at": _text("Start, ISO 8601 with zone"),
            "ended_at": _text("When the tool wrote its result, ISO 8601 with zone"),
            "idle_before_s": _real("Rest before the run", "s"),
            "usr_cpu_pct": _real("User CPU", "%"),
            "sys_cpu_pct": _real("System CPU", "%"),
            "device_ios_per_io": _real(
                "I/Os of the devices for one of the jobs that ran at once, after merging and splitting"
            ),
            "error": Column(dtype=INT, doc="The tool's error code; 0: none"),
            "source_path": _text("The file it was read from"),
            "source_sha256": _text("Hash of that file"),
            "source_doc": _whole("Which document in that file, from 0"),
        },
    ),
    "results": Table(
        ("run_id", "ddir"),
        "Rates over a whole run",
        {
            "run_id": _RUN_ID,
            "ddir": _DDIR,
            "ios": _whole("I/Os done"),
            "io_bytes": _whole("Bytes moved", "B"),
            "runtime_s": _real("Time in this direction", "s"),
            "iops": _real("I/Os per second", "1/s"),
            "iops_stddev": _real("Standard deviation of the tool's IOPS samples", "1/s"),
            "bw_bytes_per_s": _real("Throughput", "B/s"),
            "errors": _whole("I/Os that failed"),
        },
    ),
    "latency": Table(
        ("run_id", "ddir", "lat_kind"),
        "Latency moments over a whole run",
        {
            "run_id": _RUN_ID,
            "ddir": _DDIR,
            "lat_kind": _LAT_KIND,
            "n": _whole("Samples"),
            "lat_min_us": _real("Smallest", "µs"),
            "lat_mean_us": _real("Mean", "µs"),
            "lat_stddev_us": _real("Standard deviation", "µs"),
            "lat_max_us": _real("Largest", "µs"),
        },
    ),
    "percentiles": Table(
        ("run_id", "ddir", "lat_kind", "percentile"),
        "Latency percentiles that the tool reported",
        {
            "run_id": _RUN_ID,
            "ddir": _DDIR,
            "lat_kind": _LAT_KIND,
            "percentile": _real("0 to 100", "%", high=100),
            "lat_us": _real("The latency that this share of the I/Os did not exceed", "µs"),
        },
    ),
    "bins": Table(
        ("run_id", "ddir", "lat_kind", "t_s", "bin_ns"),
        "Latency histogram: how many I/Os fell into each of fio's bins",
        {
            "run_id": _RUN_ID,
            "ddir": _DDIR,
            "lat_kind": _LAT_KIND,
            "t_s": _real("Interval of a histogram log; NA: the whole run", "s"),
            "bin_ns": _whole("The bin, named by the value that fio prints for it", "ns"),
            "n": _whole("I/Os in the bin"),
        },
    ),
    "samples": Table(
        ("run_id", "ddir", "metric", "seq"),
        "Time series: one row a line of a log, or an interval between two reports on a run under way",
        {
            "run_id": _RUN_ID,
            "ddir": _DDIR,
            "metric": _text("What was sampled", _METRICS),
            "seq": _whole("Place in the log, from 0"),
            "t_s": _real("Time since the start of the job", "s"),
            "value": _real("In the metric's unit", low=None),
            "bs_bytes": _whole("Block size of this I/O; NA for averages", "B"),
            "object": _text(
                "The disk, LUN or VM path that a sample of the lab or of Azure Monitor speaks of"
            ),
        },
    ),
    "demand": Table(
        ("telemetry_id", "host", "device", "seq"),
        "Telemetry of a system at work: one row a device and interval",
        {
            "telemetry_id": _text("The file: a hash of its content"),
            "source_path": _text("The file it was read from"),
            "tool": _text(
                "What wrote it: iostat, sar, nmon, dstat, vmstat, node_exporter, perfmon, esxtop, blkparse, "
                "AWR, fio or Azure Monitor"
            ),
            "host": _text("Name of the host, as the tool reports it"),
            "host_cpus": _whole("Processors of the host, where the tool tells their number"),
            "host_memory_bytes": _real("Memory of the host, where the tool tells it", "B"),
            "device": _text("Disk, partition or volume, as the tool reports it"),
            "seq": _whole("Place of the report in the file, from 0"),
            "clock": _text(
                "utc, or local time of an unstated zone; elapsed: no time is stated, t_s begins at 0", CLOCKS
            ),
            "t_s": _real("Begin of the interval, since 1970-01-01 by this clock", "s"),
            "interval_s": _real("Length of the interval", "s"),
            "iops": _real("Reads, writes and discards, where the tool does not tell them apart", "1/s"),
            "read_iops": _real("Reads", "1/s"),
            "write_iops": _real("Writes, flushes among them", "1/s"),
            "bw_bytes_per_s": _real("Throughput, where the tool does not tell directions apart", "B/s"),
            "read_bytes_per_s": _real("Throughput of reads", "B/s"),
            "write_bytes_per_s": _real("Throughput of writes", "B/s"),
            "lat_us": _real("Mean latency of all, queueing included", "µs"),
            "read_lat_us": _real("Mean latency of reads", "µs"),
            "write_lat_us": _real("Mean latency of writes", "µs"),
            "queue_depth": _real("Mean number of outstanding I/Os"),
            "busy_pct": _real("Share of the time in which there were any", "%"),
        },
    ),
    "published": Table(
        ("run_id", "quantity", "stat"),
        "Figures from a publication as they were printed",
        {
            "run_id": _RUN_ID,
            "quantity": _text("What was measured, such as iops, clat, bandwidth"),
            "stat": _text("Which statistic of it: p99, mean, …; it may be unstated"),
            "value": _real("As printed", low=None),
            "bound": _text("=: this value; >, <: above or below it; ~: about it", BOUNDS),
            "unit": _text("As printed"),
            "measured": Column(
                dtype=BOOL, doc="Whether the publication measured it; or states, expects or computes it"
            ),
            "precision": _text("How far the figure can be taken at its word"),
            "claim": _text("What the publication concluded from it"),
            "source_file": _text("Text in which it stands"),
            "source_line": _whole("Line of that text, from 1", low=1),
        },
    ),
    "findings": Table(
        ("run_id", "source_path", "code"),
        "What was wrong with an input, or makes a result doubtful",
        {
            "run_id": _text("The run it speaks of; NA: the whole file"),
            "source_path": _text("The file it speaks of"),
            "severity": _text("error: something is lost; warning: doubtful; info: worth knowing", SEVERITIES),
            "code": _text("Short name of the kind of finding"),
            "message": _text("What, where and how much"),
            "advice": _text("What to do about it"),
        },
    ),
}


def empty(table: str) -> pd.DataFrame:
    """A table without rows, every column in its place and dtype."""
    return _empty(table).copy(deep=False)  # pandas copies what is written to


@cache
def _empty(table: str) -> pd.DataFrame:
    columns = TABLES[table].columns
    return pd.DataFrame({name: _no_values(column.dtype) for name, column in columns.items()}, copy=False)


@cache
def _no_values(dtype: str) -> pd.api.extensions.ExtensionArray:
    return pd.array([], dtype=dtype)


def frame(table: str, records: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as a frame of this table.

    Parameters
    ----------
    table : str
        A name in :data:`TABLES`.
    records : iterable of mappings
        Column to value; a column that is absent or None is NA.

    Returns
    -------
    DataFrame
        All columns of the table in the registry's order and dtypes.

    Raises
    ------
    InputError
        For a column that the table does not have, or a value that breaks a column's check.
    """
    rows = list(records)
    if not rows:
        return empty(table)
    stated = set().union(*rows)
    columns = _columns(table, stated)
    values = {name: [row.get(name) for row in rows] for name in columns if name in stated}
    data = pd.DataFrame(
        {
            name: array(table, name, values[name]) if name in stated else missing(table, name, len(rows))
            for name in columns
        }
    )
    if len(rows) <= _FEW and all(
        _all_fit(TABLES[table].columns[name], told) for name, told in values.items()
    ):
        return data  # found faster value by value
    return check(table, data)


def _all_fit(column: Column, values: Sequence[Any]) -> bool:
    return all(value is None or column.accepts(value) for value in values)


def row(table: str, record: Mapping[str, Any]) -> dict[str, Any]:
    """One row as plain values of its columns' types; what is missing is left out.

    Raises
    ------
    InputError
        As :func:`frame` does.
    """
    _columns(table, record)
    found = {}
    for name, value in record.items():
        column = TABLES[table].columns[name]
        if not column.accepts(value):
            raise InputError(_misfit(table, name, value))
        if not _is_missing(value):
            found[name] = _PLAIN[column.dtype](value)
    return found


def conform(table: str, data: pd.DataFrame) -> pd.DataFrame:
    """Any frame with this table's columns (some may be absent) in the registry's order and dtypes.

    Raises
    ------
    InputError
        As :func:`frame` does.
    """
    columns = _columns(table, data.columns)
    full = data.reindex(columns=columns)
    return check(table, pd.DataFrame({name: array(table, name, full[name]) for name in columns}, full.index))


def fitting(table: str, data: Iterable[Mapping[str, Any]] | pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """What of these rows a table can hold, and a sentence on each column of which something is left out.

    Parameters
    ----------
    table : str
        A name in :data:`TABLES`.
    data : iterable of mappings, or DataFrame
        As for :func:`frame` or :func:`conform`.

    Returns
    -------
    frame : DataFrame
        A value that its column cannot hold is NA; a row where that is part of the key is left out.
    misfits : list of str
        The first such value of each column, what may be there, and how many more there are.

    Raises
    ------
    InputError
        For a column that the table does not have.
    """
    given = data if isinstance(data, pd.DataFrame) else pd.DataFrame(list(data), dtype=object)
    names = _columns(table, given.columns)
    kept = pd.Series(True, index=given.index)
    columns, misfits = {}, []
    for name in names:
        column = TABLES[table].columns[name]
        values = given[name].astype(object) if name in given else pd.Series(None, given.index, dtype=object)
        wrong = ~values.map(column.accepts).astype(bool)
        if wrong.any():
            more = f", and {wrong.sum() - 1} more" if wrong.sum() > 1 else ""
            misfits.append(f"{_misfit(table, name, values[wrong].iloc[0])}{more}")
            kept &= ~wrong if name in TABLES[table].key else True
        columns[name] = values.mask(wrong, None)
    return conform(table, pd.DataFrame(columns)[kept].reset_index(drop=True)), misfits


def check(table: str, data: pd.DataFrame) -> pd.DataFrame:
    """The same frame, or an InputError that names the column, a value and what it may be."""
    for name in TABLES[table].columns if len(data) else ():
        _check_column(table, name, data[name])
    return data


def _check_column(table: str, name: str, values: pd.Series) -> None:
    bad = TABLES[table].columns[name].offenders(values)
    if len(bad):
        raise InputError(_misfit(table, name, bad.iloc[0]))


def _columns(table: str, given: Iterable[str]) -> list[str]:
    """The columns of a table, or an InputError that names those given which are not among them."""
    columns = list(TABLES[table].columns)
    if unknown := set(given) - set(columns):
        raise InputError(f"table {table} has no column {sorted(unknown)}; it has: {', '.join(columns)}")
    return columns


def array(
    table: str, name: str, values: Sequence[Any] | pd.api.extensions.ExtensionArray | pd.Series
) -> pd.api.extensions.ExtensionArray:
    """The values in the column's dtype, or an InputError that names the first that does not fit."""
    column = TABLES[table].columns[name]
    if column.dtype == TEXT and isinstance(values, list):
        for value in values:
            if isinstance(value, str) and len(value) > _LONGEST_TEXT:
                raise InputError(_misfit(table, name, value))
    try:
        return pd.array(values, dtype=column.dtype)
    except (TypeError, ValueError, OverflowError, IndexError) as error:
        bad = next((value for value in values if not column.accepts(value)), values)
        raise InputError(_misfit(table, name, bad)) from error


def column(table: str, name: str, values: Sequence[Any] | np.ndarray) -> pd.api.extensions.ExtensionArray:
    """The values of a column in its dtype.

    Raises
    ------
    InputError
        As :func:`frame` does.
    """
    found = array(table, name, values)
    _check_column(table, name, pd.Series(found, copy=False))
    return found


def missing(table: str, name: str, n: int) -> pd.api.extensions.ExtensionArray:
    """A column of `n` NA; of numbers, only the mask takes memory, for nothing is written to the rest."""
    dtype = TABLES[table].columns[name].dtype
    if dtype == FLOAT:
        return pd.arrays.FloatingArray(np.zeros(n), np.ones(n, dtype=bool))
    return pd.Series(pd.NA, pd.RangeIndex(n), dtype).array


def _is_missing(value: Any) -> bool:
    return value is None or value is pd.NA or bool(value != value)  # NaN differs from itself


def _is_text(value: Any) -> bool:
    """Whether it is text that can be written, of a length that a name or a sentence can have."""
    if not isinstance(value, str):
        return isinstance(value, Real)  # is written out
    if len(value) > _LONGEST_TEXT:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _misfit(table: str, name: str, value: Any) -> str:
    column = TABLES[table].columns[name]
    return f"{table}.{name}: value '{_shown(value)}' is not {column.allowed()}"


def _shown(value: Any) -> str:
    """A value as a sentence quotes it: short, and of characters that can be written."""
    if isinstance(value, int) and abs(value) > LARGEST_VALUE**2:
        return f"an integer of {value.bit_length()} bits"
    text = str(value) if isinstance(value, str | Real) else reprlib.repr(value)
    short = text if len(text) <= QUOTED else f"{text[:QUOTED]}…"
    return short.encode("utf-8", "backslashreplace").decode()


def plain(tables: Mapping[str, pd.DataFrame]) -> dict[str, list[dict[str, Any]]]:
    """Every table as a list of records."""
    return {name: records(rows) for name, rows in tables.items()}


def records(data: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as plain dicts with every column; NA is None, numbers are Python's own.

    This is what ``azbench read --format json`` prints, so no value is NaN or infinite.
    """
    names = [str(name) for name in data.columns]
    columns = [plain_values(values) for _, values in data.items()]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def plain_values(values: pd.Series) -> list[Any]:
    """Return the values as Python's own, None where one is missing."""
    gone = values.array.isna()  # not of the series, which takes ten times as long to make one of it
    if gone.all():
        return [None] * len(values)
    plain: list[Any] = values.tolist()
    if not gone.any():
        return plain
    return [None if missed else value for value, missed in zip(plain, gone, strict=True)]
