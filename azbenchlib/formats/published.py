"""Published measurements: a long CSV, one printed figure a row with its source file and line.

Required columns: ``source_file, source_line, experiment, quantity, stat, value, unit``. Optional:
``setup`` (a setup_id of the manifest), ``tool, rw, bs_kib, iodepth, numjobs, queue_depth, direct,
working_set_bytes, runtime_limit_s, bound, precision, claim, note, id`` and

- ``value_si``, ``si_unit``: the figure in base units, where the printed unit needs interpretation
  (iozone's "KB/s" is KiB/s, "k IOPS" is thousands);
- ``measured``: yes (or nothing) for a measurement of the experiment, no for a limit, a price, an
  expectation.

Every row goes to the table published as it was printed. What is measured, unambiguous and not a mere
bound also goes to results, latency and percentiles; a rate whose statistic is doubtful gets a finding.
The rows of one experiment are one run: they share setup and workload, which the first of them tells.
"""

import csv
import io
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from azbenchlib.core import schema
from azbenchlib.core.findings import ERROR, Code, job_label
from azbenchlib.core.patterns import direction_of
from azbenchlib.core.units import GB, GIB, KB, KIB, MB, MIB, NS_PER_US, US_PER_MS, US_PER_S
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

REQUIRED = {"source_file", "source_line", "experiment", "quantity", "stat", "value", "unit"}
# Other spellings of the same columns that collections of published figures use.
SYNONYMS = {
    "seed_file": "source_file",
    "line": "source_line",
    "experiment_id": "experiment",
    "metric": "quantity",
    "iodepth_per_job": "iodepth",
    "outstanding_total": "queue_depth",
    "runtime_cap_s": "runtime_limit_s",
}
US_PER = {"ns": 1 / NS_PER_US, "us": 1, "usec": 1, "µs": 1, "ms": US_PER_MS, "msec": US_PER_MS, "s": US_PER_S}
# Rates whose unit needs no interpretation; "KB/s" and "k IOPS" do.
PER_S = {
    "iops": {"IOPS": 1, "1/s": 1},
    "bandwidth": {"B/s": 1, "kB/s": KB, "MB/s": MB, "GB/s": GB, "KiB/s": KIB, "MiB/s": MIB, "GiB/s": GIB},
}
SI_UNITS = {"iops": "1/s", "bandwidth": "B/s"}
# Columns of runs that are taken over as they are.
WHOLE = ("iodepth", "numjobs", "queue_depth", "working_set_bytes")
_MOST = 2**53  # up to here a float holds every whole number
MOST_KIB = _MOST / KIB
_PERCENTILE = re.compile(r"^p(\d{1,2}(?:\.\d+)?|100)$")

# Statistics that may stand in results only together with a doubt: code -> what to know and do.
DOUBTS = {
    "eta_instant": (
        Code.RATE_FROM_STATUS_LINE,
        "the rate is fio's last status line, not the average of the run",
    ),
    "unspecified": (
        Code.STATISTIC_NOT_STATED,
        "the publication does not say which statistic this figure is",
    ),
}


def sniff(opening: str) -> bool:
    """A CSV whose header names the required columns."""
    try:
        return set(_columns(next(_cells(opening), []))) >= REQUIRED
    except csv.Error:
        return False


def read_published(source: Source) -> Records:
    """Figures of a publication as tables.

    Parameters
    ----------
    source : Source
        A CSV as described at the top of this module.

    Returns
    -------
    Records
        published (every figure), runs (one an experiment), and what is unambiguous in results,
        latency and percentiles. A row or figure that cannot be read is a finding; the others are kept.
    """
    records = Records(source)
    experiments: dict[str, list[dict[str, str]]] = {}
    for row in _rows(records, source):
        experiments.setdefault(row["experiment"], []).append(row)
    for index, rows in enumerate(experiments.values()):
        _Experiment(records, source, rows).read(index)
    if not experiments:
        message = f"{source.path}: a header of published figures, and no figure below it"
        records.finding(Code.NO_FIGURES, message)
    return records


def _rows(records: Records, source: Source) -> Iterator[dict[str, str]]:
    """The rows that have a cell for each column; the others become findings."""
    reader = _cells(source.text)
    try:
        columns = _columns(next(reader, []))
        if not set(columns) >= REQUIRED:  # a header so long that its end was not seen before
            records.finding(Code.NO_FIGURES, f"{source.path}: the header names no figures", severity=ERROR)
            return
        for cells in reader:
            if len(cells) == len(columns):
                yield dict(zip(columns, cells, strict=True))
            elif cells:
                what = f"{len(cells)} cells where the header has {len(columns)}"
                message = f"{source.path}, line {source.line(reader.line_num)}: {what}"
                records.finding(Code.ROW_NOT_READ, message, "Quote cells that hold a comma", severity=ERROR)
    except csv.Error as error:
        message = f"{source.path}, line {source.line(reader.line_num)}: no CSV from here on ({error})"
        records.finding(Code.ROW_NOT_READ, message, "Close every quote", severity=ERROR)


def _cells(text: str) -> Any:
    """The rows of a CSV as lists of cells; the first is its header."""
    return csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""))


def _columns(header: list[str]) -> list[str]:
    return [SYNONYMS.get(name.strip(), name.strip()) for name in header]


class _Experiment:
    """The rows of one experiment on their way into the tables."""

    def __init__(self, records: Records, source: Source, rows: list[dict[str, str]]) -> None:
        self.records, self.source, self.rows = records, source, rows
        self.name = rows[0]["experiment"]
        self.run_id = source.run_id(0, self.name)
        self.rates: dict[str, dict[str, float]] = defaultdict(dict)  # by direction and column
        self.codes: set[str] = set()  # doubts that were told already

    def read(self, index: int) -> None:
        """Add all rows of this experiment, the `index`-th of the file."""
        seen = set()
        for row in self.rows:
            figure = (row["quantity"], row["stat"])
            usable = self._print(row)
            if figure in seen:
                self._finding(Code.FIGURE_TWICE, row, "is there twice; the first counts")
            elif usable:
                self._measured(row)
            seen.add(figure)
        for ddir, rates in self.rates.items():
            self.records.add("results", run_id=self.run_id, ddir=ddir, **rates)
        self.records.add("runs", run_id=self.run_id, job_index=index, **self._run())

    def _print(self, row: Mapping[str, str]) -> bool:
        """Add the figure as printed; whether it is a measured value and not a mere bound."""
        value, bound = _number(row["value"]), row.get("bound") or "="
        if value is None and row["value"]:
            self._finding(Code.VALUE_NOT_READ, row, f"'{row['value']}' is no number")
        if bound not in schema.BOUNDS:
            accepted = ", ".join(schema.BOUNDS)
            self._finding(Code.BOUND_NOT_READ, row, f"bound '{bound}' is not one of: {accepted}")
        measured = (row.get("measured") or "yes") == "yes"
        self.records.add(
            "published",
            run_id=self.run_id,
            quantity=row["quantity"],
            stat=row["stat"],
            value=value,
            bound=bound if bound in schema.BOUNDS else None,
            unit=row["unit"] or None,
            measured=measured,
            precision=row.get("precision") or None,
            claim=row.get("claim") or None,
            source_file=row["source_file"],
            source_line=_whole(row["source_line"], low=1),
        )
        return value is not None and bound in ("=", "~") and measured

    def _measured(self, row: Mapping[str, str]) -> None:
        """Put one figure where its quantity and statistic say, if they say it beyond doubt."""
        ddir, quantity = direction_of(row.get("rw", "")), row["quantity"]
        if ddir is None:
            return
        if float(row["value"]) < 0:
            self._finding(Code.VALUE_NOT_READ, row, f"'{row['value']}' is below zero")
        elif quantity in schema.LAT_KINDS:
            self._latency(ddir, row)
        elif quantity in PER_S:
            self._rate(ddir, row)

    def _latency(self, ddir: str, row: Mapping[str, str]) -> None:
        place = {"run_id": self.run_id, "ddir": ddir, "lat_kind": row["quantity"]}
        percentile = _PERCENTILE.match(row["stat"])
        if row["unit"] not in US_PER:
            self._unit_not_read(row, list(US_PER))
        elif percentile:
            us = self._scaled(row, US_PER[row["unit"]])
            self.records.add("percentiles", **place, percentile=float(percentile[1]), lat_us=us)
        elif row["stat"] == "mean":
            self.records.add("latency", **place, lat_mean_us=self._scaled(row, US_PER[row["unit"]]))

    def _scaled(self, row: Mapping[str, str], factor: float) -> float | None:
        """A figure in base units; None, and a finding, for one beyond all that can be."""
        value = float(row["value"]) * factor
        if value <= schema.LARGEST_VALUE:
            return value
        self._finding(Code.VALUE_NOT_READ, row, f"'{row['value']} {row['unit']}' is beyond all measure")
        return None

    def _rate(self, ddir: str, row: Mapping[str, str]) -> None:
        doubt = next((DOUBTS[name] for name in DOUBTS if row["stat"].startswith(name)), None)
        if row["stat"] not in ("mean", "measured") and doubt is None:
            return
        rate = _per_s(row)
        if rate is None:
            self._unit_not_read(row, [*PER_S[row["quantity"]], "any with value_si and si_unit"])
            return
        column = "iops" if row["quantity"] == "iops" else "bw_bytes_per_s"
        self.rates[ddir].setdefault(column, rate)
        if doubt:
            self._warn_once(*doubt)
        if row.get("bound") == "~":
            self._warn_once(Code.APPROXIMATE, "the rate is printed as an approximate figure")

    def _run(self) -> dict[str, Any]:
        row = self.rows[0]
        numbers = {
            "rwmix_read_pct": _number(row.get("rwmix_read_pct", ""), low=0, high=100),
            "bs_kib": _number(row.get("bs_kib", ""), low=0, high=MOST_KIB),
            "runtime_limit_s": _number(row.get("runtime_limit_s", ""), low=0),
            **{name: _whole(row.get(name, "")) for name in WHOLE},
        }
        for name, number in numbers.items():
            if number is None and row.get(name):
                message = f"{self.source.path}: {self.name}: {name} '{row[name]}' is no such number"
                self.records.finding(Code.CELL_NOT_READ, message, run_id=self.run_id)
        bs_kib = numbers.pop("bs_kib")
        return {
            "setup_id": row.get("setup") or None,
            "level": "job",
            "tool": row.get("tool", "").lower() or None,
            "job": self.name,
            "rw": row.get("rw") or None,
            "bs_bytes": None if bs_kib is None else int(bs_kib * KIB),
            "direct": {"1": True, "0": False}.get(row.get("direct", "")),
            "source_path": self.source.path,
            "source_sha256": self.source.sha256,
            "source_doc": 0,
            **numbers,
        }

    def _unit_not_read(self, row: Mapping[str, str], accepted: list[str]) -> None:
        what = f"unit '{row['unit']}' is not one of: {', '.join(accepted)}"
        self._finding(Code.UNIT_NOT_READ, row, what)

    def _finding(self, code: Code, row: Mapping[str, str], what: str) -> None:
        message = f"{self.source.path}: {self.name}, {row['quantity']} {row['stat']}: {what}"
        self.records.finding(code, message, run_id=self.run_id)

    def _warn_once(self, code: Code, what: str) -> None:
        """What is doubtful of the experiment's rates, reported once."""
        if code not in self.codes:
            self.records.finding(
                code, f"{job_label(self.source.path, self.name)}: {what}", run_id=self.run_id
            )
        self.codes.add(code)


def _per_s(row: Mapping[str, str]) -> float | None:
    """A rate in base units: as interpreted, else by its unit; None where neither tells."""
    quantity = row["quantity"]
    if row.get("value_si"):
        in_si = row.get("si_unit", SI_UNITS[quantity]) == SI_UNITS[quantity]
        return _number(row["value_si"], low=0) if in_si else None
    factor = PER_S[quantity].get(row["unit"])
    rate = math.inf if factor is None else float(row["value"]) * factor
    return rate if rate <= schema.LARGEST_VALUE else None


def _number(text: str, low: float = -math.inf, high: float = math.inf) -> float | None:
    """The finite number in these bounds that a cell holds, if it holds one."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and low <= number <= high else None


def _whole(text: str, low: int = 0) -> int | None:
    number = _number(text, low, _MOST)
    return None if number is None or number != int(number) else int(number)
