"""The identity of a run: a name made of what its tool tells of it, whichever file tells it.

A run of fio is named by the tool and its version, the job, host and group, the moment, and every count,
sum and latency to the last digit. So the same run has the same name in JSON that was saved again (other line
ends, indents, order of keys, encoding), with latency bins and without, whole and cut, and where it stands
twice in one file. Equal rows of one document whose latencies have too few digits, such as clones of a job
that did nothing, are told apart by their place among equals.

Two runs may agree in figures that are few or rounded, as those of normal output on a handful of I/Os are.
So a row without a moment whose latencies have too few digits, and that of any other tool, keeps the name
that the text of its file gives it (:meth:`~azbenchlib.formats.source.Source.run_id`).
"""

import hashlib
import math
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Any

from azbenchlib.core.findings import Code
from azbenchlib.formats.base import Records

Row = Mapping[str, Any]

ENOUGH_DIGITS = 12  # significant ones of the moments of latencies: no two runs agree in so many by chance
MOMENTS = ("lat_min_us", "lat_max_us", "lat_mean_us", "lat_stddev_us")
_WHO = ("tool", "tool_version", "job", "host", "group_id", "error")
_AMOUNTS = ("ios", "io_bytes", "runtime_s", "iops", "errors")
_SHARES = ("usr_cpu_pct", "sys_cpu_pct")
_GETTERS: dict[tuple[str, ...], Callable[[Row], Any]] = {
    names: itemgetter(*names) for names in (_WHO, _SHARES, _AMOUNTS, MOMENTS)
}
_MISSING = float("nan")


def digits(value: float | None) -> int:
    """How many significant digits a value has, of ten at most: 12 of 12.4180 µs would be 12418."""
    return 0 if not value or not math.isfinite(value) else len(f"{value:.9e}".split("e")[0].rstrip("0")) - 1


def name_by_content(records: Records) -> None:
    """Name the runs of fio among these by their content, in all rows.

    Parameters
    ----------
    records : Records
        All rows of one file.
    """
    runs = [row for row in records.rows["runs"] if row.get("tool") == "fio"]
    if not runs:
        return
    results, latencies = (_by_run(records.rows[table]) for table in ("results", "latency"))
    names: dict[str, str] = {}
    equals: Counter[tuple[Any, bytes]] = Counter()
    for row in runs:
        run_id = row["run_id"]
        moment = row.get("started_at") or row.get("ended_at")
        timed = latencies.get(run_id, ())
        is_sure = sum(digits(one.get(name)) for one in timed for name in MOMENTS) >= ENOUGH_DIGITS
        if not moment and not is_sure:
            continue
        content = _hash(row, moment, results.get(run_id, ()), timed)
        place = 0 if is_sure else equals[row.get("source_doc"), content]
        equals[row.get("source_doc"), content] += 1
        names[run_id] = (hashlib.sha256(content + place.to_bytes(8)).digest() if place else content).hex()[
            :16
        ]
    ended = {names.get(run_id, run_id) for run_id in _ended(records, runs)}
    records.rename(names)
    records.drop_findings(Code.INTERIM_DOCUMENT, ended)


def _ended(records: Records, runs: Iterable[Row]) -> set[str]:
    """The runs that no finding says to be under way."""
    under_way = {row["run_id"] for row in records.rows["findings"] if row["code"] == Code.INTERIM_DOCUMENT}
    return {row["run_id"] for row in runs} - under_way if under_way else set()


def _by_run(rows: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["run_id"], []).append(row)
    return found


def _hash(run: Row, moment: str | None, results: Iterable[Row], latencies: Iterable[Row]) -> bytes:
    """All that is told of a run, as one number; percentiles follow from what else is told."""
    texts = [moment, *_values(run, _WHO)]
    numbers = [*_values(run, _SHARES)]
    for row in results:
        texts.append(row["ddir"])
        numbers += _values(row, _AMOUNTS)
    for row in latencies:
        texts += row["ddir"], row["lat_kind"]
        numbers += _values(row, MOMENTS)
    hashed = hashlib.sha256(repr(texts).encode("utf-8", "backslashreplace"))
    try:
        hashed.update(array("d", [_MISSING if value is None else value for value in numbers]))
    except (TypeError, OverflowError):  # values that no column can hold
        hashed.update(repr(numbers).encode("utf-8", "backslashreplace"))
    return hashed.digest()


def _values(row: Row, names: tuple[str, ...]) -> Iterable[Any]:
    """Some values of a row; most rows have them all."""
    try:
        values: tuple[Any, ...] = _GETTERS[names](row)
    except KeyError:
        return map(row.get, names)
    return values
