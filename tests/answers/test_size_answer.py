"""A size as an answer: every surface says the same, and Python gets figures."""

import csv
import io
import re
from html import unescape
from pathlib import Path

import matplotlib as mpl
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import azbenchlib as az
from azbenchlib.answers.size import Sized
from azbenchlib.cli.size import size
from azbenchlib.core.errors import InputError
from azbenchlib.sizing.to_json import record

mpl.use("agg")
app = typer.Typer()
app.command()(size)
FEWEST = "The design with the fewest disks within 5% of the cheapest that meets the requirement: "
FILE = Path(__file__).parents[1] / "data" / "sysstat" / "extended.json"
ASKED = ["--held-back", "0s", "--size", "1TiB", "--region", "westeurope", "--as-of", "2026-11-20"]


@pytest.fixture(scope="module")
def answer() -> Sized:
    return az.size(FILE, region="westeurope", held_back=0, size="1TiB", headroom=20, as_of="2026-11-20")


def bare(text: str) -> str:
    """Letters, digits and signs alone, so that layout and escapes do not count."""
    words = unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", text, flags=re.DOTALL))
    return re.sub(r"[\s\u200b|*\\#·!-]+", "", words)


def test_text_markdown_and_html_have_the_same_words(answer: Sized) -> None:
    text, markdown, html = answer.to_text(), answer.to_markdown(), answer._repr_html_()
    sentences = [answer.document.headline, *(part for part in answer.document.parts if hasattr(part, "text"))]
    assert len(sentences) > 2
    for surface in (text, markdown, html):
        for one in sentences:
            assert bare(one.text) in bare(surface)
        assert bare("The best design among the cheaper ones") in bare(surface)
    assert text.startswith(FEWEST)
    assert markdown.startswith(f"**{FEWEST}")


def test_it_is_small_where_it_shows_itself(answer: Sized) -> None:
    assert len(repr(answer).splitlines()) <= 10
    assert len(answer._repr_html_()) < 30_000


def test_designs_are_rows_in_base_units(answer: Sized) -> None:
    rows = answer.to_frame().set_index("design")
    assert list(rows.index) == ["recommended", "cheapest", "one_disk", "next_cheaper", "by_percentile"]
    below = answer.next_cheaper
    assert below is not None and below.at_least_s > 0  # asked of the result
    assert rows.loc["next_cheaper", "throttled_at_least_s"] == below.at_least_s
    assert rows.loc["cheapest", "throttled_at_least_s"] == 0
    assert rows.loc["next_cheaper", "price_per_month"] < rows.loc["cheapest", "price_per_month"]
    assert answer.to_dict() == record(answer.result)
    known = answer.figures
    assert {"iops", "bytes_per_s", "s", "share", "USD"} == set(known["unit"])
    largest = known[known["name"] == "MB/s: largest"]["value"]
    assert list(largest) == [answer.history.bytes_per_s.max()]


def test_the_load_is_drawn_below_a_limit_of_the_design(answer: Sized) -> None:
    axes = answer.plot()
    load, *limits = axes.lines
    assert axes.get_ylabel() in ("IOPS", "MB/s") and limits
    assert max(load.get_ydata()) <= max(limits[0].get_ydata())


def test_numbers_and_texts_are_the_same_and_a_wrong_name_is_refused() -> None:
    def best(**demand: object) -> dict:
        return az.size(az.read(FILE), region="westeurope", held_back="0s", **demand).to_dict()

    assert best(size=2**40, ram=2**36, growth=0.5) == best(size="1TiB", ram="64GiB", growth="50%")
    with pytest.raises(InputError, match="a size has no 'sise'; it has: held_back"):
        best(sise="1TiB")
    with pytest.raises(InputError, match=r"headroom '0\.5' is not 1 or more"):
        best(headroom=0.5)


def test_the_command_line_prints_markdown_and_csv_of_the_same_answer() -> None:
    ours = az.size(FILE, region="westeurope", held_back="0s", size="1TiB", as_of="2026-11-20")
    printed = {
        form: CliRunner().invoke(app, [str(FILE), *ASKED, "--format", form]).stdout for form in ("md", "csv")
    }
    assert printed["md"] == ours.to_markdown()
    rows = list(csv.DictReader(io.StringIO(printed["csv"])))
    pd.testing.assert_series_equal(
        pd.Series([float(row["price_per_month"]) for row in rows]),
        ours.to_frame()["price_per_month"].astype(float),
        check_names=False,
    )
    assert [row["vm"] for row in rows] == list(ours.to_frame()["vm"])
