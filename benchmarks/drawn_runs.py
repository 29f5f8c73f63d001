"""Draw datasets, check what is said of each, and print a table; what is contradicted is kept."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from drawn_datasets import Drawn
from said_figures import Surfaces, Tally, surfaces

Make = Callable[[random.Random], Drawn]
Check = Callable[[Tally, Drawn, Surfaces], None]
MOST_SHOWN = 5  # contradictions of a dataset


def checked(make: Make, check: Check, seed: str, home: Path) -> tuple[Drawn, Tally]:
    """A dataset that a seed gives, written below a folder, and what was checked of it."""
    drawn, tally = make(random.Random(seed)), Tally()  # noqa: S311  (no secret)
    check(tally, drawn, surfaces(drawn, home))
    return drawn, tally


def main(doc: str, kinds: Sequence[Make], check: Check) -> int:
    """Draw as many datasets as are asked for, of each kind in turn; the exit code."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=int, required=True, help="how many")
    parser.add_argument("--seed", type=int, default=1, help="of the first; each has its own")
    parser.add_argument("--first", type=int, default=0, help="the number of the first dataset")
    parser.add_argument("--keep", type=Path, help="a folder for the datasets that are contradicted")
    asked = parser.parse_args()
    os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="azbench-")  # only shipped prices
    datasets, wrong = Counter[str](), Counter[str]()
    statements, contradictions = Counter[str](), Counter[str]()
    begun = time.monotonic()
    for number in range(asked.first, asked.first + asked.datasets):
        seed = f"{asked.seed}-{number}"
        home = (asked.keep or Path(tempfile.mkdtemp(prefix="azbench-"))) / seed
        shutil.rmtree(home, ignore_errors=True)  # of a run before
        drawn, tally = checked(kinds[number % len(kinds)], check, seed, home)
        datasets[drawn.kind] += 1
        statements.update(tally.checked)
        contradictions.update(text.partition(":")[0] for text in tally.contradicted)
        if tally.contradicted:
            wrong[drawn.kind] += 1
            print(f"{seed} ({drawn.kind}, {drawn.vm or 'no VM'} {drawn.disk}) {home if asked.keep else ''}")
            for text in tally.contradicted[:MOST_SHOWN]:
                print(f"    {text}")
            if more := len(tally.contradicted[MOST_SHOWN:]):
                print(f"    and {more} more")
            sys.stdout.flush()
        if not tally.contradicted or not asked.keep:
            shutil.rmtree(home)
        for text in tally.unread[:MOST_SHOWN]:
            print(f"    {seed}, not read: {text}")
    _print("Datasets", datasets, wrong)
    _print("Statements", statements, contradictions)
    n = sum(contradictions.values())
    took = time.monotonic() - begun
    print(
        f"\n{asked.datasets} datasets of seed {asked.seed} from {asked.first} on, "
        f"{sum(statements.values()):,} statements, {n} contradictions in {sum(wrong.values())} datasets, "
        f"{took:,.0f} s"
    )
    return 1 if n else 0


def _print(title: str, every: Counter[str], wrong: Counter[str]) -> None:
    print(f"\n{title:<40}{'checked':>10}{'contradicted':>14}")
    for name, n in sorted(every.items()):
        print(f"{name:<40}{n:>10,}{wrong[name]:>14,}")
