"""Verdicts of published measurements: how often right, how sure, and what less or other data make of them.

    .venv/bin/python benchmarks/judge_cases.py FILE... [--perturbed] [--each-fact] [--docs docs]

FILE are files of published cases (JSON). What is expected of a case is taken off before it is judged.
"""

from __future__ import annotations

import argparse
import copy
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from azbenchlib.core.files import write_atomically
from azbenchlib.core.units import MB, MIB
from azbenchlib.verdict.cases.judge import judge_case

Case = Mapping[str, Any]
SURE = 0.95
MEASURED = ("measurement", "little_sweep", "measurement_disputed")
RATES = ("iops", "mbps", "mib_s", "kib_s", "bps", "total")
LATENCIES = ("_us", "_ms", "_s")
PAGE, BEGIN, END = "verdict-calibration.md", "<!-- published -->\n", "<!-- /published -->\n"


def measurements(files: Iterable[Path]) -> list[Case]:
    """The cases of these files that were measured."""
    found = [case for path in files for case in json.loads(path.read_text())["cases"]]
    return [case for case in found if case["kind"] in MEASURED and case["observed"]]


def judged(cases: Iterable[tuple[str, Case]]) -> pd.DataFrame:
    """One row a case: what was changed in it, the label at the top, its probability, and whether it is right;
    `named` says whether one of the labels that tie at the top is, `second` whether the top or the runner-up.
    """
    rows = []
    for change, case in cases:
        got = judge_case({name: part for name, part in case.items() if name != "expected"})
        right = got.binding[0] in case["expected"]["binding"]
        second = right or got.runner_up in case["expected"]["binding"]
        named = not set(got.binding).isdisjoint(case["expected"]["binding"])
        rows.append((case["id"], change, str(got.binding[0]), got.probability, right, named, second))
    columns = ["id", "change", "top", "probability", "right", "named", "second"]
    return pd.DataFrame(rows, columns=columns)


def perturbed(case: Case) -> Iterator[tuple[str, Case]]:
    """The case with other rates, with MB taken for MiB and the reverse, and without what it states."""
    for factor in (0.95, 1.05):
        yield f"rates x {factor}", _scaled(case, factor)
    for name, other in (("mbps", "mib_s"), ("mib_s", "mbps")):
        if name in case["observed"]:
            made = copy.deepcopy(dict(case))
            made["observed"] = {other if k == name else k: v for k, v in case["observed"].items()}
            yield f"{name} for {other}", made
    for what, part, names in (
        ("caching", "disks", ("cache",)),
        ("depth", "job", ("qd_total", "jobs")),
        ("runtime", "job", ("runtime_s", "ramp_s")),
        ("direct", "job", ("direct",)),
    ):
        made = copy.deepcopy(dict(case))
        rows = made[part] if part == "disks" else [made[part]]
        held = [row.pop(name, None) for row in rows for name in names]
        if any(value is not None for value in held):
            yield f"no {what}", made
    for what, nothing in (("vm", None), ("disks", [])):
        if (case[what] or {}) and (what != "vm" or any(case["vm"].values())):
            yield f"no {what}", {**case, what: nothing}


def with_one_change(case: Case) -> Iterator[tuple[str, Case]]:
    """The case without each single fact, and with each MB/s of the setup taken for MiB/s or the reverse."""
    for part in ("vm", "disks", "job", "demand", "observed"):
        for path in _leaves(case.get(part)):
            whole = (part, *path)
            if part != "observed" or (len(case[part]) > 1 and not _is_rate(str(path[-1]))):
                yield f"no {part}", _changed(case, whole, None)
            if part in ("vm", "disks") and str(path[-1]).endswith("mbps"):
                for factor in (MIB / MB, MB / MIB):
                    yield f"MB for MiB in {part}", _changed(case, whole, factor)


def _leaves(value: Any) -> Iterator[tuple[str | int, ...]]:
    """The paths to all single values."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        if isinstance(part, dict) or (isinstance(part, list) and part and isinstance(part[0], dict)):
            yield from ((key, *path) for path in _leaves(part))
        elif part is not None:
            yield (key,)


def _changed(case: Case, path: tuple[str | int, ...], factor: float | None) -> Case:
    """The case with a value times a factor, or without it."""
    changed = copy.deepcopy(dict(case))
    *above, last = path
    holder: Any = changed
    for key in above:
        holder = holder[key]
    if factor is None:
        del holder[last]
    else:
        holder[last] *= factor
    return changed


def _scaled(case: Case, factor: float) -> Case:
    def part(name: str, value: Any) -> Any:
        if not isinstance(value, int | float):
            return value
        if name.endswith(LATENCIES) and "iops" not in name and name not in RATES:
            return value / factor
        return value * factor if _is_rate(name) else value

    observed = dict(case["observed"])
    if "points" in observed:
        names = observed["columns"]
        rows = [[part(n, v) for n, v in zip(names, row, strict=True)] for row in observed["points"]]
        return {**case, "observed": {**observed, "points": rows}}
    return {**case, "observed": {name: part(name, value) for name, value in observed.items()}}


def _is_rate(name: str) -> bool:
    return (
        name == "disk_ios"
        or any(name == rate or name.endswith(f"_{rate}") for rate in RATES)
        or (name.startswith("iops"))
    )


def reliability(found: pd.DataFrame) -> pd.DataFrame:
    """By bins of the probability that was said: how many, its mean, and the share that was right."""
    bins = pd.cut(found["probability"], [0, 0.5, 0.8, 0.95, 1.0], right=False, labels=BINS)
    bins = bins.fillna(BINS[-1])
    rows = found.groupby(bins, observed=True)
    return rows.agg(n=("right", "size"), said=("probability", "mean"), was=("right", "mean")).reset_index()


BINS = ["below 50 %", "50–80 %", "80–95 %", "95–100 %"]


def summary(found: pd.DataFrame, changed: pd.DataFrame | None) -> str:
    """The part of the page of the documents."""
    rows = [
        f"| {row.probability} | {row.n:,} | {row.said:.1%} | {row.was:.1%} |"
        for row in reliability(found).itertuples()
    ]
    sure = (~found["right"] & (found["probability"] >= SURE)).sum()
    text = PART.format(
        n=len(found),
        right=found["right"].mean(),
        sure=sure,
        brier=((found["probability"] - found["right"]) ** 2).mean(),
        rows="\n".join(rows),
    )
    if changed is None:
        return text
    kinds = changed.assign(sure=~changed["right"] & (changed["probability"] >= SURE)).groupby("change")
    more = [
        f"| {row.change} | {row.n:,} | {row.right:.0%} | {row.second:.0%} | {row.sure} |"
        for row in kinds.agg(
            n=("right", "size"), right=("right", "mean"), second=("second", "mean"), sure=("sure", "sum")
        )
        .reset_index()
        .itertuples()
    ]
    return text + CHANGED.format(rows="\n".join(more))


PART = """
## Published measurements

The verdicts of {n} measurements that others published, each with what bound it as its source or we say; what
is expected was hidden. `benchmarks/judge_cases.py` makes this part from the files of cases, which are not
shipped.
Right at first place: {right:.1%}. Wrong at 95 % or more: {sure}. Brier score {brier:.4f}.

| said | measurements | mean | right |
|---|--:|--:|--:|
{rows}
"""

CHANGED = """
The same measurements with a change each: rates 5 % lower or higher, MB/s taken for MiB/s or the reverse, or a
fact left out. What is right stays what it was, though a fact that is left out may be the one that tells.

| change | measurements | right | right or next | wrong at 95 % or more |
|---|--:|--:|--:|--:|
{rows}
"""


def into_page(page: str, part: str) -> str:
    """The page with this part at its place, or at its end."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head.rstrip("\n") + "\n\n" + BEGIN + part + "\n" + END + tail


def part_of(page: str) -> str:
    """The part of a page that this command wrote; empty where there is none."""
    _, _, rest = page.partition(BEGIN)
    return rest.partition(END)[0].removesuffix("\n")


def _tell_each(found: pd.DataFrame) -> None:
    sure = found[~found["named"] & (found["probability"] >= SURE)]
    print(
        f"{len(found):,} cases with one fact left out or misstated: {found['right'].mean():.1%} right, "
        f"{found['second'].mean():.1%} right or next, {len(sure)} wrong at {SURE:.0%} or more"
    )
    print(sure.to_string() if len(sure) else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--perturbed", action="store_true", help="judge changed cases too")
    parser.add_argument("--each-fact", action="store_true", help="judge each case without each of its facts")
    parser.add_argument("--docs", type=Path, help="write into verdict-calibration.md of this folder")
    args = parser.parse_args()
    cases = measurements(args.files)
    found = judged(("", case) for case in cases)
    changed = judged(pair for case in cases for pair in perturbed(case)) if args.perturbed else None
    for some in (found, changed):
        if some is not None:
            print(some[~some["right"]].to_string())
    if args.each_fact:
        _tell_each(judged(pair for case in cases for pair in with_one_change(case)))
    part = summary(found, changed)
    print(part)
    if args.docs:
        path = args.docs / PAGE
        write_atomically(path, into_page(path.read_text(), part).encode())


if __name__ == "__main__":
    main()
