"""A comparison as an answer: every surface says the same, and Python gets figures."""

import csv
import io
import re
from html import unescape
from pathlib import Path

import matplotlib as mpl
import pytest
import typer
from compared_runs import fio_outputs, rates, side
from typer.testing import CliRunner

import azbenchlib as az
from azbenchlib.analysis.compare import CompareTerms, Shift, compare, words
from azbenchlib.answers.comparison import Compared
from azbenchlib.cli.compare import compare as verb
from azbenchlib.core.units import NBSP

mpl.use("agg")
app = typer.Typer()
app.command()(verb)
STEADY = [1000, 1004, 998, 1001, 997]
LOWER = [800, 803, 799, 801, 797]
EVIL = "a|b <script>&[x](http://y) \x1b[31m\n@team `c` {d} ~~e~~"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    home = tmp_path_factory.mktemp("sides")
    return fio_outputs(home / "old", STEADY), fio_outputs(home / "low", LOWER, version="fio-3.41")


@pytest.fixture(scope="module")
def answer(folders: tuple[Path, Path]) -> Compared:
    return az.compare(*folders)


def many() -> Compared:
    """More figures than a comment or a cell of a notebook takes."""
    runs = [{"iops": value, "job": f"job{i}", "iodepth": i, "queue_depth": i} for i in range(1, 402)
            for value in STEADY * 2]  # fmt: skip
    new = [run | {"iops": 500 if run["job"] == "job7" else run["iops"]} for run in runs]
    return Compared(compare([side("old", runs), side("new", new)]))


def bare(text: str) -> str:
    """Letters, digits and signs alone, so that layout and escapes do not count."""
    shown = unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", text, flags=re.DOTALL))
    return re.sub(r"[\s\u200b|*\\#·❌✅❔]+", "", shown)


def test_text_markdown_and_html_have_the_same_words(answer: Compared) -> None:
    (pair,) = answer.pairs
    sentences = [answer.document.headline.text, *words.remarks(answer.result, pair)]
    sentences += [words.method(answer.result), "1,000 (5)", "800 (5)", "×0.800", pair.figures[0].answer.value]
    assert "Differs: tool version: fio-3.36 and fio-3.41." in sentences
    for surface in (answer.to_text(), answer.to_markdown(), answer._repr_html_()):
        for sentence in sentences:
            assert bare(sentence) in bare(surface)
    assert answer.to_markdown().startswith("### Disk benchmark\n\n**❌ Worse: ")
    assert "| ❌ worse |" in answer.to_markdown()


@pytest.mark.long
def test_it_is_small_where_it_shows_itself_and_says_what_is_left_out() -> None:
    large = many()
    assert len(repr(large).splitlines()) <= 10
    html, markdown = large._repr_html_(), large.to_markdown()
    assert len(html) < 30_000 and len(markdown) < 65_536
    assert "351 further rows are left out" in html and "101 further rows are left out" in markdown
    first = next(line for line in markdown.splitlines() if "❌" in line and line.startswith("|"))
    assert f"QD{NBSP}7" in first  # what is worse stands first
    assert len(large.to_frame()) == 401


def test_names_stay_names() -> None:
    runs = [{"iops": value, "ioengine": engine} for engine in (EVIL, "psync") for value in STEADY]
    hostile = Compared(compare([side(EVIL, runs), side("new\ufffe]]>", runs)]))
    assert not re.search(r"(?<!\\)[<>&`@~]|(?<!\\)\[|\x1b|http://", hostile.to_markdown())
    rows = [line for line in hostile.to_markdown().splitlines() if line.startswith("| ")]
    assert [line.replace("\\|", "").count("|") for line in rows] == [6] * 4 + [8] * 4
    assert "<script>" not in hostile._repr_html_() and "\x1b" not in hostile.to_text()
    assert "{d}" in hostile.to_text()


def test_figures_are_rows_in_base_units_and_unknown_ones_are_not_zero(answer: Compared) -> None:
    (row,) = answer.to_frame().to_dict("records")
    assert (row["old"], row["new"], row["old_runs"], row["unit"]) == (1000, 800, 5, "iops")
    assert row["low"] < row["ratio"] < row["high"] < 0.82 and row["answer"] == "worse"
    assert row["baseline"] == answer.pairs[0].a
    fast = side("old", [{"iops": 1000, "bw_bytes_per_s": 4_096_000, "percentiles": {99: 250.0}}])
    idle = side("new", [{"iops": 0, "bw_bytes_per_s": 4_096_000, "percentiles": {99: 250.0}}])
    rows = Compared(compare([fast, idle], CompareTerms())).to_frame().set_index("metric")
    assert rows["ratio"].isna()["iops"] and rows.loc["p99", "old"] == 250 and rows.loc["p99", "unit"] == "us"
    known = answer.figures.set_index("name")["value"]
    assert 800 in set(known) and 1000 in set(known)


def test_what_it_had_before_is_still_there(answer: Compared) -> None:
    assert answer.answer is Shift.WORSE and answer.exit_code == 1
    assert answer.answers == [Shift.WORSE] and answer.terms.margin == 0.05
    assert answer.to_dict()["sentence"] == answer.document.headline.text


def test_intervals_and_the_margin_are_drawn(answer: Compared) -> None:
    axes = answer.plot()
    interval, margin, better, ratio, *_ = axes.lines
    assert tuple(interval.get_xdata()) == pytest.approx(answer.pairs[0].figures[0].interval)
    assert (list(margin.get_xdata()), list(better.get_xdata())) == ([0.95], [1.05])
    assert list(ratio.get_xdata()) == pytest.approx([0.8], abs=1e-3)


def test_sides_are_paths_lists_and_datasets(folders: tuple[Path, Path], answer: Compared) -> None:
    old, new = folders
    several = az.compare(sorted(old.glob("*.json")), az.read(new))
    figures = ["workload", "metric", "old", "new", "ratio", "low", "high", "answer"]
    assert several.to_frame()[figures].equals(answer.to_frame()[figures])


def test_the_command_line_prints_and_writes_the_same(
    folders: tuple[Path, Path], answer: Compared, tmp_path: Path
) -> None:
    asked = list(map(str, folders))
    for form in ("md", "markdown"):
        assert CliRunner().invoke(app, [*asked, "--format", form]).stdout == answer.to_markdown()
    done = CliRunner().invoke(app, [*asked, "--format", "csv"])
    assert done.exit_code == 1
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    assert float(row["old"]) == 1000 and row["answer"] == "worse"
    file = tmp_path / "figures.csv"
    CliRunner().invoke(app, [*asked, "--format", "csv", "-o", str(file)])
    assert file.read_text() == done.stdout


def test_two_sides_and_a_baseline() -> None:
    found = Compared(compare([rates(name, STEADY) for name in ("old", "new", "newer")]))
    assert list(found.to_frame()["side"]) == ["new", "newer"]
    assert re.search(r"new +newer\n", found.to_text())
