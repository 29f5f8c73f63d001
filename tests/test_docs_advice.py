"""The questions of docs/advice.md, asked again: each has the answer that stands there."""

import csv
import io
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from azbenchlib.advisor.demands.demand_file import DEMAND_COLUMNS
from azbenchlib.advisor.demands.presets import PRESETS
from azbenchlib.azure import catalog
from azbenchlib.cli import app

PAGE = (Path(__file__).parents[1] / "docs" / "advice.md").read_text()
ROW = re.compile(r"^\| [^|]+ \| `(--[^`]+)` \| `([^`]+)`, `([^`]+)`: ([\d,.]+) \| [^|]+ \|$", re.MULTILINE)
QUESTIONS = ROW.findall(PAGE)
PLACE = ("--region", "westeurope", "--as-of", "2026-11-20", "--format", "csv")


@pytest.fixture(autouse=True)
def _shipped_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def test_there_are_fifteen() -> None:
    assert len(QUESTIONS) == 15


@pytest.mark.parametrize(("asked", "vm", "disks", "price"), QUESTIONS, ids=[row[0] for row in QUESTIONS])
def test_a_question_has_the_answer_that_is_documented(asked: str, vm: str, disks: str, price: str) -> None:
    done = CliRunner().invoke(app, ["advise", *shlex.split(asked), *PLACE])
    assert done.exit_code == 0, done.exception
    first = next(csv.DictReader(io.StringIO(done.stdout)))
    found = (first["vm"], first["disks"], f"{float(first['price_per_month']):,.2f}")
    assert found == (f"Standard_{vm}", disks, price)


def test_the_counts_of_host_caching_are_those_of_the_catalogue() -> None:
    rows = catalog.every_vm("2026-11-20")
    documented = [row for row in rows if row.cached_limit_documented]
    others = [row.caching for row in rows if not row.cached_limit_documented]
    new = [row for row in rows if re.search(r"_v[567]$", row.size)]
    counts = (
        len(rows),
        len(documented),
        *(others.count(says) for says in (True, False, None)),
        len(new),
        sum(row.caching is not None for row in new),
        sum(row in documented for row in new),
    )
    (said,) = re.findall(r"Host caching counts only.*?have a documented limit", PAGE, re.DOTALL)
    figures = re.findall(r"(?<!v)\b\d[\d,]*", said)
    assert tuple(int(figure.replace(",", "")) for figure in figures) == counts


def test_presets_and_columns_are_all_named() -> None:
    assert all(f"`{name}`" in PAGE for name in PRESETS)
    (listed,) = re.findall(r"`name, ([a-z_,\s]+)`, in any order", PAGE)
    assert set(re.split(r",\s+", listed)) == {"preset", *DEMAND_COLUMNS}
