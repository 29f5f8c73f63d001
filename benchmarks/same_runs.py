"""Random sets of copies, forms, states and logs of runs: the answers must be those of the runs alone.

    .venv/bin/python benchmarks/same_runs.py [--sets 1000] [--seed 0] [--only N] [--keep FOLDER]

A set is some runs of the real fio (and outputs of iozone and diskspd), each once, and the same runs with
random copies (copied_runs.py). What is counted, all counted rates, latencies, percentiles and bins, must be
equal in `read` (as a folder, or all files in any order), in the table of results of a report, in `compare` of
two sides that are copied differently, and in a lake collected by folder, by single file or in random chunks,
as DuckDB and as workers answer. Set number n of a seed is made of the same copies whenever it is made; the
runs are measured anew, or kept in the file that --pool names. Exit code 1 where an answer differs.
"""

from __future__ import annotations

import argparse
import pickle
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from copied_runs import (
    SIDES,
    ChosenRun,
    MeasuredRun,
    chosen_runs,
    measured_runs,
    write_copied,
    write_plain,
)

from azbenchlib import Dataset, Lake
from azbenchlib.analysis import concurrency, grouping, percentiles, summary
from azbenchlib.analysis.compare import compare, to_json
from azbenchlib.analysis.percentiles import once
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.compared import load_side

Answers = dict[str, Counter[Any]]
SIDE_WORDS = ("old", "new")
PERCENTILES = (50.0, 99.0)
WAYS_TO_COLLECT = ("by folder", "by file", "in chunks")
WORKERS_EVERY = 10  # sets
OF_THE_SAME_RUNS = 4
TOLD_EVERY = 50
RESULTS = ("ddir", "ios", "io_bytes", "runtime_s", "iops", "bw_bytes_per_s")
LATENCIES = ("ddir", "lat_kind", "n", "lat_min_us", "lat_mean_us", "lat_stddev_us", "lat_max_us")
COUNTED_COLUMNS = ("tool", "job", "level", "rw", "bs_bytes", *RESULTS)
MERGED = ("ddir", "lat_kind", "n", "percentile", "lat_us")
COUNTED = """
SELECT * FROM (FROM runs WHERE counted) LEFT JOIN (FROM results WHERE counted) USING (run_id)
"""
TOLD = {
    "results": RESULTS,
    "latency": LATENCIES,
    "percentiles": ("ddir", "lat_kind", "percentile", "lat_us"),
    "bins": ("ddir", "lat_kind", "bin_ns", "n"),
    "samples": ("ddir", "metric", "t_s", "value"),
}


def rows(table: pd.DataFrame, columns: Sequence[str]) -> Counter[Any]:
    """How often each row is there, whatever its run is called."""
    return Counter(tuple(row[name] for name in columns) for row in schema.records(table[list(columns)]))


def of_tables(tables: dict[str, pd.DataFrame]) -> Answers:
    """What `read` counts."""
    runs = tables["runs"][concurrency.counted(tables)]
    told = {"runs": rows(runs, ("tool", "job", "level", "rw", "bs_bytes", "queue_depth"))}
    for name, columns in TOLD.items():
        own = tables[name][tables[name]["run_id"].isin(runs["run_id"])]
        own = own if name == "samples" else own[concurrency.counts_once(own)]
        told[name] = rows(once(own) if name == "bins" else own, columns)
    return told


def of_report(tables: dict[str, pd.DataFrame]) -> Answers:
    """The table of results, whatever its series are called, and what is measured at once."""
    arrangement = grouping.arrange(tables)
    table = summary.results_table(arrangement, tables)
    columns = ("ddir", "iops", "bw_bytes_per_s", "lat_kind", "p50", "p99")
    return {"series": Counter([len(arrangement.series)]), "table": rows(table, columns)}


def of_sides(home: Path) -> Answers:
    """The answers of a comparison of the two sides."""
    sides = [load_side(str(home / side)) for side in SIDES]
    try:
        told = to_json.record(compare(sides), 0)
    except InputError:  # nothing in common
        return {"result": Counter(), "figures": Counter()}
    figures = [one | {part: _sorted(one[part]) for part in SIDE_WORDS} for one in told["pairs"][0]["figures"]]
    return {"result": Counter([told["result"]]), "figures": Counter(map(repr, figures))}


def _sorted(side: dict[str, Any]) -> dict[str, Any]:
    return side | {"runs": sorted(side["runs"])}


def as_lake(tables: dict[str, pd.DataFrame]) -> Answers:
    """What a lake of these tables counts: all that `read` counts, and percentiles of its bins."""
    runs = tables["runs"][concurrency.counted(tables)]
    results, bins = (
        own[concurrency.counts_once(own)]
        for own in (tables[name][tables[name]["run_id"].isin(runs["run_id"])] for name in ("results", "bins"))
    )
    by = ["ddir", "lat_kind"]
    merged = Counter()
    if len(bins):
        n = once(bins).groupby(by)["n"].sum().rename("n").reset_index()
        merged = rows(percentiles.merged(bins, PERCENTILES, by).merge(n, on=by), MERGED)
    return {"runs": rows(runs.merge(results, on="run_id", how="left"), COUNTED_COLUMNS), "merged": merged}


def of_lake(lake: Lake) -> Answers:
    """What a lake counts, and its percentiles."""
    merged = lake.percentiles(("ddir", "lat_kind"), PERCENTILES)
    return {"runs": rows(lake.query(COUNTED), COUNTED_COLUMNS), "merged": rows(merged, MERGED)}


def of_workers(lake: Lake) -> Answers:
    """Its percentiles as workers merge them."""
    merged = lake.percentiles(("ddir", "lat_kind"), PERCENTILES, processes=1)
    return {"merged": rows(merged, MERGED)}


def collected(home: Path, place: Path, chance: random.Random, way: str) -> Lake:
    """A lake of all files below a folder, collected in one of several ways."""
    files = sorted(path for path in home.rglob("*") if path.is_file())
    chance.shuffle(files)
    lake = Lake(place)
    if way == "by folder":
        lake.collect(home)
    elif way == "by file":
        for file in files:
            lake.collect(file)
    else:
        while files:
            size = chance.randint(1, len(files))
            lake.collect(*files[:size])
            files = files[size:]
    return lake


class CopiedSets:
    """Random sets of a seed; some in a row are of the same runs, copied differently.

    Parameters
    ----------
    pool : sequence of MeasuredRun
    seed : int
    """

    def __init__(self, pool: Sequence[MeasuredRun], seed: int) -> None:
        self.pool, self.seed = pool, seed
        self.group = -1
        self.chosen: list[ChosenRun] = []
        self.expected: dict[str, Answers] = {}

    def check(self, number: int, home: Path) -> list[str]:
        """What is answered otherwise of a set than of its runs alone, with what it holds first."""
        self._choose(number // OF_THE_SAME_RUNS, home / "plain")
        chance = random.Random(f"{self.seed}:{number}")  # noqa: S311
        said = write_copied(chance, self.chosen, home / "copied")
        found = list(self._differences(chance, home, number))
        return [said, *found] if found else []

    def _choose(self, group: int, home: Path) -> None:
        """Write the runs of a set, and read them where that was not done for the one before."""
        is_new = group != self.group
        if is_new:
            self.chosen = chosen_runs(random.Random(f"{self.seed}, {group}"), self.pool)  # noqa: S311
        write_plain(self.chosen, home)
        if is_new:
            tables = Dataset.read(home).tables
            sides, whole = of_sides(home), as_lake(tables)
            told = {"read": of_tables(tables), "report": of_report(tables)}
            self.group, self.expected = group, told | {"compare": sides, "lake": whole}

    def _differences(self, chance: random.Random, home: Path, number: int) -> Iterator[str]:
        copied, expected = home / "copied", self.expected
        files = sorted(path for path in copied.rglob("*") if path.is_file())
        chance.shuffle(files)
        named = chance.choice([[copied], files])
        tables = Dataset.read(*named).tables
        yield from _differ(f"read of {len(named)} names", expected["read"], of_tables(tables))
        yield from _differ("report", expected["report"], of_report(tables))
        yield from _differ("compare", expected["compare"], of_sides(copied))
        way = chance.choice(WAYS_TO_COLLECT)
        lake = collected(copied, home / "lake", chance, way)
        yield from _differ(f"lake {way}", expected["lake"], of_lake(lake))
        if number % WORKERS_EVERY == 0:
            by_duckdb = {"merged": expected["lake"]["merged"]}
            yield from _differ(f"lake {way} by workers", by_duckdb, of_workers(lake))


def _differ(what: str, expected: Answers, found: Answers) -> Iterator[str]:
    for name, told in expected.items():
        lost, added = told - found[name], found[name] - told
        if name == "samples":  # a stream of reports tells rates over time, which the plain run has not
            added.clear()
        if lost or added:
            shown = [*(f"-{row}" for row in list(lost)[:2]), *(f"+{row}" for row in list(added)[:2])]
            yield f"{what}: {name}: {sum(lost.values())} lost, {sum(added.values())} added: {' '.join(shown)}"


def pool_of(file: Path | None) -> list[MeasuredRun]:
    """The runs, measured, or as they were kept."""
    if file and file.exists():
        kept: list[MeasuredRun] = pickle.loads(file.read_bytes())  # noqa: S301
        return kept
    pool = measured_runs()
    if file:
        file.write_bytes(pickle.dumps(pool))
    return pool


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first set")
    parser.add_argument("--only", type=int, help="the set of this number alone, which is kept in --keep")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--pool", type=Path, help="a file of this program, in which the runs are kept")
    chosen = parser.parse_args()
    pool = pool_of(chosen.pool)
    numbers = range(chosen.first, chosen.first + chosen.sets) if chosen.only is None else [chosen.only]
    sets = CopiedSets(pool, chosen.seed)
    failed, began = 0, time.perf_counter()
    for number in numbers:
        if number and number % TOLD_EVERY == 0:
            print(f"at set {number:,}, {failed} with other answers", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="azbench-") as name:
            home = chosen.keep if chosen.keep and chosen.only is not None else Path(name)
            found = sets.check(number, home)
        if found:
            failed += 1
            print("\n  ".join([f"set {number} of seed {chosen.seed}:", *found]), flush=True)
    print(f"{len(numbers):,} sets, {failed} with other answers, {time.perf_counter() - began:,.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
