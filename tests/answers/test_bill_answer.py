"""The bill as an answer: one wording on every surface, and figures that keep unit, source and day."""

import csv
import io
from decimal import Decimal
from html import unescape

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure as Canvas
from typer.testing import CliRunner

import azbenchlib as az
from azbenchlib.answers.bill import BillAnswer
from azbenchlib.answers.document import Listing, Sentence
from azbenchlib.cli import app
from azbenchlib.core.errors import InputError

mpl.use("Agg")
SETUP = ("Standard_D4as_v5", ["P30x2", "E10"], "westeurope")
ASKED = ("cost", "--vm", SETUP[0], "--disk", "P30x2", "--disk", "E10", "--region", SETUP[2])


@pytest.fixture(scope="module")
def bill() -> BillAnswer:
    return az.price(*SETUP)


def printed(*more: str) -> str:
    done = CliRunner().invoke(app, [*ASKED, *more])
    assert done.exit_code == 0, done.exception
    return done.stdout


def test_terminal_markdown_and_html_have_the_same_sentences(bill: BillAnswer) -> None:
    parts = list(bill.document.walk())
    texts = [part.text for part in parts if isinstance(part, Sentence)]
    texts += [sentence.text for part in parts if isinstance(part, Listing) for sentence in part.sentences]
    shown = {
        "text": " ".join(bill.to_text(1000).split()),
        "markdown": bill.to_markdown().replace("\\", ""),
        "html": unescape(bill.to_html().html.replace("<wbr>", "")).replace("\u00a0", " "),
    }
    assert any("Total for 730 h: 458.80 USD" in text for text in texts)
    assert any(text.startswith("radar of 2026-08-22: Standard_D4as_v5, linux") for text in texts)
    for text in texts:
        assert [name for name, whole in shown.items() if text not in whole] == [], text
    for amount in ("151.84", "297.36", "9.6", "P30 LRS Disk", "148.68"):
        assert [name for name, whole in shown.items() if amount not in whole] == [], amount


def test_a_notebook_shows_it_in_few_lines_and_little_html(bill: BillAnswer) -> None:
    assert len(repr(bill).splitlines()) <= 10
    assert repr(bill).startswith("Standard_D4as_v5 in westeurope, USD")
    assert len(bill._repr_html_()) < 30_000


def test_the_frame_is_that_of_csv_and_adds_up(bill: BillAnswer) -> None:
    frame = bill.to_frame()
    assert frame["amount"].sum() == pytest.approx(float(bill.total)) == bill.to_dict()["total"]
    assert list(frame["meter"]) == ["Standard_D4as_v5", "P30 LRS Disk", "E10 LRS Disk"]
    rows = list(csv.DictReader(io.StringIO(printed("--format", "csv"))))
    assert [row["meter"] for row in rows] == list(frame["meter"])
    assert [float(row["amount"]) for row in rows] == list(frame["amount"])


def test_the_command_line_prints_what_python_has(bill: BillAnswer) -> None:
    assert printed("--format", "md").splitlines()[0] == bill.to_markdown().splitlines()[0]
    assert "Total for 730 h: 458.80 USD" in printed("--format", "md")
    assert printed("--format", "table") == printed()


def test_every_amount_knows_its_source_and_day(bill: BillAnswer) -> None:
    figures = bill.figures.set_index("name")
    amounts = figures[figures.index.str.endswith("Amount")]
    assert set(amounts["source"]) == {"radar of 2026-08-22"}
    assert set(amounts["unit"]) == {"USD"} and figures.loc["total", "value"] == float(bill.total)


def test_bars_are_as_long_as_the_amounts(bill: BillAnswer) -> None:
    axes = bill.plot(Canvas().subplots())
    assert [bar.get_width() for bar in axes.patches] == list(bill.to_frame()["amount"])


def test_what_has_no_price_says_why() -> None:
    nowhere = az.price(None, "P30", "nowhere")
    assert nowhere.total is None and nowhere.to_dict()["lines"] == []
    assert "no region 'nowhere' is known" in repr(nowhere) and nowhere.to_frame().empty
    with pytest.raises(InputError, match="nothing can be drawn: no region"):
        nowhere.plot(Canvas().subplots())


@pytest.mark.parametrize("hours", [100, 100.0, Decimal(100)])
def test_hours_are_numbers(hours: float | Decimal) -> None:
    assert az.price(*SETUP, hours=hours).bill.hours == 100


@pytest.mark.parametrize(
    ("hours", "words"),
    [(True, "hours True is of type bool"), ("730", "is a text"), (0, "hours 0: a number above 0")],
)
def test_hours_that_are_no_number_above_zero_are_refused(hours: float, words: str) -> None:
    with pytest.raises(InputError, match=words):
        az.price(*SETUP, hours=hours)


def test_a_region_must_be_named() -> None:
    with pytest.raises(InputError, match="region is missing"):
        az.price(None, ["P30"])
