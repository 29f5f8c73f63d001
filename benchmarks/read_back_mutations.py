"""Plant errors in copies of the tree, one at a time, and see that the read-back test names each of them.

    python benchmarks/read_back_mutations.py [WORD …]

A mutation replaces a piece of text that must be there just once; where it is gone, that is said, for an error
that is not planted proves nothing. Exit code 1 where one was not found or not named.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEST = "tests/report/test_read_back.py"
COPIED = ("azbenchlib", "tests/support", "tests/data/fio", "datasets", TEST)
LONGEST_S = 600


@dataclass(frozen=True)
class Mutation:
    """An error: what it is, where, the text and its replacement, which report shows it, how it is named."""

    what: str
    file: str
    text: str
    instead: str
    shown_by: str
    named: tuple[str, ...]


# Words of the tests' names.
ULTRA, LOCAL, STATED = "tables and ultra", "tables and azure-local", "known_to_be_true and setups"
OUTPUTS = "without_a_manifest and jobs"
BINNED, UNBINNED = "without_a_manifest and many and with-bins", "without_a_manifest and many and without-bins"
MUTATIONS = (
    Mutation(
        "the lead has the limit that was not reached",
        "report/sections/lead.py",
        "at = _near(some) + \" and \".join(sayings.limit_text(row) for row in rows)",
        "at = sayings.limit_text(verdict.judged.limits[-1])",
        ULTRA,
        ("headline", "51,200 IOPS"),
    ),
    Mutation(
        "the writes of a mixed run are left out",
        "analysis/repeats.py",
        "rated = runs[runs[list(RATE_COLUMNS)].notna().any(axis=1)]",
        "rated = runs[runs[list(RATE_COLUMNS)].notna().any(axis=1) & ((runs[\"ddir\"] != \"write\") "
        "| (runs[\"rw\"] != \"randrw\"))]",
        STATED,
        ("card", "7,007 IOPS", "10,011"),
    ),
    Mutation(
        "MiB/s are called MB/s",
        "core/units.py",
        "value = _figure(bytes_per_s) / MB",
        "value = _figure(bytes_per_s) / MIB",
        ULTRA,
        ("card", "749 MB/s"),
    ),
    Mutation(
        "p99 is called p95",
        "analysis/summary.py",
        "values = {p: known[p] for p in CARD_PERCENTILES if p in known}",
        "values = {p: known[{95.0: 99.0, 99.0: 95.0}.get(p, p)] for p in CARD_PERCENTILES if p in known}",
        LOCAL,
        ("card", "p95 578 µs"),
    ),
    Mutation(
        "1,000 IOPS cost half",
        "cost/priced_setups.py",
        "per_1000_iops=(price_of * 1000 / iops.where(iops > 0)),",
        "per_1000_iops=(price_of * 500 / iops.where(iops > 0)),",
        ULTRA,
        ("table price", "≈ 167"),
    ),
    Mutation(
        "a price is drawn at another rate",
        "report/sections/prices.py",
        "\"x\": [iops for _, iops, _ in told],",
        "\"x\": [2 * iops for _, iops, _ in told],",
        ULTRA,
        ("price-and-rate-figure", "12,500"),
    ),
    Mutation(
        "one repeat too many is told",
        "report/formatting.py",
        "return f\"median of {count(int(row['repeats']), 'run')}{between}\"",
        "return f\"median of {count(int(row['repeats']) + 1, 'run')}{between}\"",
        STATED,
        ("a median of 3 runs",),
    ),
    Mutation(
        "repeats give their mean",
        "analysis/repeats.py",
        "table[rate], low = groups[rate].median(),",
        "table[rate], low = groups[rate].mean(),",
        STATED,
        ("card", "4,921 IOPS", "4,950"),
    ),
    Mutation(
        "a line has the value of another one",
        "plots/percentiles.py",
        "labels = EndLabels([(entry, _end_value(lasts[entry.key], farthest)) for entry in present], layout)",
        "labels = EndLabels([(entry, _end_value(lasts[present[0].key], farthest)) for entry in present], "
        "layout)",
        LOCAL,
        ("label", "3.79 ms"),
    ),
    Mutation(
        "a bar has the share of another limit",
        "report/sections/setup_cards.py",
        "rows = [row for row in verdict.judged.limits if is_above or row.utilisation <= FAR]",
        "from dataclasses import replace\n        rows = [replace(row, utilisation=verdict.judged.limits[-1]"
        ".utilisation) for row in verdict.judged.limits]",
        ULTRA,
        ("card", "50 MB/s"),
    ),
    Mutation(
        "a limit has the figure of another one",
        "answers/sayings.py",
        "return f\"{format_mbps(row.value)}{NBSP}MB/s\"",
        "return f\"{format_mbps(row.value * 1.04)}{NBSP}MB/s\"",
        ULTRA,
        ("card", "the limit is not what"),
    ),
    Mutation(
        "a marker stands at another rate",
        "plots/rates.py",
        "panel.plot([value], [row.baseline], gid=gid, **row.series.marker(11.5))",
        "panel.plot([value * 0.9], [row.baseline], gid=gid, **row.series.marker(11.5))",
        ULTRA,
        ("marker's place", "785 MB/s"),
    ),
    Mutation(
        "the table of results has p99.9 for p99",
        "report/formatting.py",
        "values = (row[f\"p{p:g}\"] for row in rows)",
        "values = (row[\"p99.9\" if p == 99 else f\"p{p:g}\"] for row in rows)",
        LOCAL,
        ("table results", "971 µs"),
    ),
    Mutation(
        "a design costs half",
        "report/sections/cheaper.py",
        "{format_money(float(one.candidate.price))} a month",
        "{format_money(float(one.candidate.price) / 2)} a month",
        ULTRA,
        ("cheaper", "652"),
    ),
    Mutation(
        "a job has the figures of another",
        "analysis/repeats.py",
        "named = numbered.mask(by_job, \"job '\" + first[\"job\"].astype(\"string\") + \"'\").where(n > 1)",
        "turned = first[\"job\"].astype(\"string\")[::-1].to_numpy()\n    "
        "named = numbered.mask(by_job, \"job '\" + turned + \"'\").where(n > 1)",
        OUTPUTS,
        ("table results", "9,000", "1,000"),
    ),
    Mutation(
        "reads are called writes",
        "analysis/grouping.py",
        'DIRECTION_WORDS = {"read": "reads", "write": "writes",',
        'DIRECTION_WORDS = {"read": "writes", "write": "reads",',
        OUTPUTS,
        ("table results", "QD 1, writes"),
    ),
    Mutation(
        "jobs of a file are taken for repeats",
        "analysis/repeats.py",
        'return found["which"].set_axis(runs.index).astype("string").fillna("")',
        'return found["which"].set_axis(runs.index).astype("string").str[:0].fillna("")',
        OUTPUTS,
        ("card", "3,000 IOPS"),
    ),
    Mutation(
        "the lead has the mean of many files",
        "analysis/file_sets.py",
        "median = float(values.median())",
        "median = float(values.mean())",
        BINNED,
        ("headline", "1,404 IOPS"),
    ),
    Mutation(
        "a host has the mean of its files",
        "analysis/file_sets.py",
        "groups[\"value\"].agg([\"median\", \"min\", \"max\"])",
        "groups[\"value\"].agg([\"mean\", \"min\", \"max\"])",
        BINNED,
        ("card", "db0: 8 1,514"),
    ),
    Mutation(
        "an outlier has the name of another file",
        "analysis/file_sets.py",
        "found = rows.assign(file=paths.map(names))[apart(values)]",
        "found = rows.assign(file=paths.map(names).to_numpy()[::-1])[apart(values)]",
        BINNED,
        ("card", "run-13.json", "468 IOPS"),
    ),
    Mutation(
        "percentiles are those of one of many files",
        "analysis/percentiles.py",
        "counts = histogram.merge(group)",
        "counts = histogram.merge(group[group[\"run_id\"] == group[\"run_id\"].iloc[0]])",
        BINNED,
        ("card", "p99 "),
    ),
    Mutation(
        "a range of percentiles begins at its median",
        "analysis/summary.py",
        "each.Index): (float(each.min), float(each.max))",
        "each.Index): (float(each.median), float(each.max))",
        UNBINNED,
        ("card", "p50 "),
    ),
)  # fmt: skip


def planted(mutation: Mutation, tree: Path) -> None:
    """Replace the text, which must be there just once."""
    path = tree / "azbenchlib" / mutation.file
    found = path.read_text()
    if found.count(mutation.text) != 1:
        raise LookupError(
            f"'{mutation.what}' cannot be planted: {mutation.file} has its text {found.count(mutation.text)} "
            f"times: {mutation.text}"
        )
    path.write_text(found.replace(mutation.text, mutation.instead))


def copied(tree: Path) -> None:
    """What the test needs, into an empty folder."""
    ignored = shutil.ignore_patterns("tables", "this-machine", "rehearsal", "emulated*")
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=ignored)
        else:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tree / name)


def tested(tree: Path, shown_by: str) -> tuple[int, str]:
    """The exit code and output of the read-back test of one report, in a copy."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", TEST, "-k", shown_by]
    folders = os.pathsep.join([str(tree), str(tree / "tests" / "support")])
    environment = {**os.environ, "PYTHONPATH": folders, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, timeout=LONGEST_S, check=False
    )
    return done.returncode, done.stdout + done.stderr


def faults(mutations: Sequence[Mutation]) -> Iterator[str]:
    """What was not found, a sentence each; what each took is printed."""
    for mutation in mutations:
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="azbench-") as folder:
            copied(Path(folder))
            planted(mutation, Path(folder))
            code, said = tested(Path(folder), mutation.shown_by)
        lacking = [word for word in mutation.named if word not in said]
        if code != 1:
            yield f"{mutation.what}: not found (exit code {code}): {said[-2000:]}"
        elif lacking:
            yield f"{mutation.what}: found, but {', '.join(lacking)} is not named: {said[-2000:]}"
        print(f"{time.monotonic() - start:6.1f} s  {mutation.what}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("words", nargs="*", help="only mutations whose description has one of these words")
    words = parser.parse_args().words
    chosen = [one for one in MUTATIONS if not words or any(word in one.what for word in words)]
    wrong = list(faults(chosen))
    for sentence in wrong:
        print(sentence, file=sys.stderr)
    print(f"{len(chosen) - len(wrong)} of {len(chosen)} planted errors found and named")
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
