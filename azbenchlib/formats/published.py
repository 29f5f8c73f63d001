"""Published measurements: a long CSV, one printed figure a row with its source file and line.

Required columns: ``source_file, source_line, experiment, quantity, stat, value, unit``. Optional:
``setup`` (a setup_id of the manifest), ``tool, rw, bs_kib, iodepth, numjobs, queue_depth, direct,
working_set_bytes, runtime_limit_s, bound, precision, claim, note, id`` and

- ``value_si``, ``si_unit``: the figure in base units, where the printed unit needs interpretation
  (iozone's "KB/s" is KiB/s, "k IOPS" is thousands);
- ``measured``: yes for a measurement of the experiment, no for a limit, a price, an expectation.

Every row goes to the table published as it was printed. What is measured, unambiguous and not a mere
bound also goes to results, latency and percentiles; a rate whose statistic is doubtful gets a finding.
Units of printed latencies: usec, us, ms, s, ns.
"""

import csv
import io
import re
from collections.abc import Mapping
from typing import Any

from azbenchlib.formats.base import Records, Source
from azbenchlib.units import KIB, NS_PER_US, US_PER_MS, US_PER_S

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
PERCENTILE = re.compile(r"^p(\d{1,2}(?:\.\d+)?|100)$")

# Statistics that may stand in results only together with a doubt: code -> what to know and do.
DOUBTS = {
    "eta_instant": (
        "rate_from_status_line",
        "the rate is fio's last status line, not the average of the run",
        "Run again with --output-format=json+",
    ),
    "unspecified": (
        "statistic_not_stated",
        "the publication does not say which statistic this figure is",
        "Take it as about this value; run again to know",
    ),
}


def sniff(opening: str) -> bool:
    """A CSV whose header names the required columns."""
    header = opening.lstrip("\ufeff").partition("\n")[0]
    return set(_columns(header.strip().split(","))) >= REQUIRED


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
        latency and percentiles.
    """
    records = Records(source)
    reader = csv.reader(io.StringIO(source.text, newline=""))
    columns = _columns(next(reader))
    experiments: dict[str, list[dict[str, str]]] = {}
    for number, cells in enumerate(reader, start=2):
        if len(cells) != len(columns):
            records.finding(
                "error",
                "row_not_read",
                f"{source.path}, line {number}: {len(cells)} cells where the header has {len(columns)}",
                "Quote cells that hold a comma",
            )
            continue
        row = dict(zip(columns, cells, strict=True))
        experiments.setdefault(row["experiment"], []).append(row)
    for index, (experiment, rows) in enumerate(experiments.items()):
        _experiment(records, source, index, experiment, rows)
    return records


def _columns(header: list[str]) -> list[str]:
    return [SYNONYMS.get(name.strip(), name.strip()) for name in header]


def _experiment(
    records: Records, source: Source, index: int, experiment: str, rows: list[dict[str, str]]
) -> None:
    run_id = source.run_id(0, experiment)
    first = rows[0]
    ddir = _ddir(first.get("rw", ""))
    rates: dict[str, float] = {}
    for row in rows:
        value = _number(row["value"])
        if value is None and row["value"]:
            message = (
                f"{source.path}: {experiment}, {row['quantity']} {row['stat']}: '{row['value']}' is no number"
            )
            records.finding("error", "value_not_read", message, run_id=run_id)
        bound, measured = row.get("bound") or "=", row.get("measured", "yes") == "yes"
        records.add(
            "published",
            run_id=run_id,
            quantity=row["quantity"],
            stat=row["stat"],
            value=value,
            bound=bound,
            unit=row["unit"] or None,
            measured=measured,
            precision=row.get("precision") or None,
            claim=row.get("claim") or None,
            source_file=row["source_file"],
            source_line=_whole(row["source_line"]),
        )
        if value is not None and ddir and bound in "=~" and measured:
            _measured(records, source, run_id, ddir, row, rates)
    if rates:
        records.add("results", run_id=run_id, ddir=ddir, **rates)
    records.add("runs", run_id=run_id, job_index=index, **_run(source, experiment, first))


def _measured(
    records: Records, source: Source, run_id: str, ddir: str, row: Mapping[str, str], rates: dict[str, float]
) -> None:
    """Put one figure where its quantity and statistic say, if they say it beyond doubt."""
    quantity, stat, value = row["quantity"], row["stat"], float(row["value"])
    percentile = PERCENTILE.match(stat)
    if quantity in ("slat", "clat", "lat"):
        place = {"run_id": run_id, "ddir": ddir, "lat_kind": quantity}
        us = value * US_PER.get(row["unit"], float("nan"))
        if us != us:
            records.finding("error", "unit_not_read", f"{source.path}: unit '{row['unit']}'", run_id=run_id)
        elif percentile:
            records.add("percentiles", **place, percentile=float(percentile[1]), lat_us=us)
        elif stat == "mean":
            records.add("latency", **place, lat_mean_us=us)
    elif quantity in ("iops", "bandwidth"):
        doubt = next((DOUBTS[name] for name in DOUBTS if stat.startswith(name)), None)
        if stat not in ("mean", "measured") and doubt is None:
            return
        rates["iops" if quantity == "iops" else "bw_bytes_per_s"] = float(row.get("value_si") or value)
        if doubt and quantity == "iops":
            code, message, advice = doubt
            records.finding("warning", code, f"{row['experiment']}: {message}", advice, run_id)
        if row.get("bound") == "~":
            message = f"{row['experiment']}: {quantity} is printed as an approximate figure"
            records.finding("info", "approximate", message, run_id=run_id)


def _run(source: Source, experiment: str, row: Mapping[str, str]) -> dict[str, Any]:
    bs_kib = _number(row.get("bs_kib", ""))
    return {
        "setup_id": row.get("setup") or None,
        "level": "job",
        "tool": row.get("tool", "").lower() or None,
        "job": experiment,
        "rw": row.get("rw") or None,
        "rwmix_read_pct": _number(row.get("rwmix_read_pct", "")),
        "bs_bytes": None if bs_kib is None else int(bs_kib * KIB),
        "iodepth": _whole(row.get("iodepth", "")),
        "numjobs": _whole(row.get("numjobs", "")),
        "queue_depth": _whole(row.get("queue_depth", "")),
        "working_set_bytes": _whole(row.get("working_set_bytes", "")),
        "direct": {"1": True, "0": False}.get(row.get("direct", "")),
        "runtime_limit_s": _number(row.get("runtime_limit_s", "")),
        "source_path": source.path,
        "source_sha256": source.sha256,
        "source_doc": 0,
    }


def _ddir(rw: str) -> str | None:
    """Direction of a pattern (fio's) or test (iozone's); None where it is not stated."""
    if rw in ("rw", "randrw"):
        return "mixed"
    if rw.endswith("write"):
        return "write"
    return "read" if rw.endswith("read") or rw == "reread" else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _whole(text: str) -> int | None:
    number = _number(text)
    return None if number is None or number != int(number) else int(number)
