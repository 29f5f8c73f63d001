"""The answer of `azbench size` as a report: what the notebook shows, on a page and on paper."""

import re
from html import unescape
from pathlib import Path

import pytest
from typer.testing import CliRunner

from azbenchlib.cli import app
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.report import build
from azbenchlib.views import size_report
from azbenchlib.views.sizing import Sizing

FILE = Path(__file__).parents[1] / "data" / "sysstat" / "extended.json"


def words(html: str) -> str:
    bare = re.sub(r"<(style|script)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(bare).replace("\N{NO-BREAK SPACE}", " ")).strip()


def test_the_page_shows_the_answer(tmp_path: Path) -> None:
    answer = Sizing([str(FILE)], held_back="0s", size="1TiB", as_of="2026-11-20").answer
    written = size_report.write(answer, tmp_path / "out")
    html = written.html.read_text()
    text = words(html)
    assert "<title>Which disk the system needs: azbench report</title>" in html
    best = answer.best.design
    price = f"{best.price:,.2f} USD a month"
    what = f"{best.vm} with {best.setup.disks[0].name}"
    assert f"The cheapest design that meets the requirement: {price}, {what}" in text
    assert html.count("<figure") >= 2 and "Assumptions" in text
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert written.pdf.read_bytes().startswith(b"%PDF")


def test_a_verb_writes_it(tmp_path: Path) -> None:
    asked = [
        "size",
        str(FILE),
        "--size",
        "1TiB",
        "--region",
        "westeurope",
        "--report",
        str(tmp_path / "out"),
    ]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert str(tmp_path / "out" / "report.pdf") in done.output.replace("\n", "")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["report.html", "report.pdf"]


def test_a_report_of_telemetry_alone_says_which_verb_reads_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="its telemetry is for azbench size"):
        build.build([Dataset.load(FILE)], tmp_path / "out")
