"""Advice as an answer: numbers as numbers, one wording on every surface, and short in a notebook."""

import csv
import inspect
import io
from collections.abc import Mapping
from decimal import Decimal
from html import unescape
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas
from typer.main import get_command
from typer.testing import CliRunner

import azbenchlib as az
from azbenchlib.advisor.demands.demand_file import DEMAND_COLUMNS, stated_demand
from azbenchlib.answers.advice import AdviceAnswer
from azbenchlib.answers.document import CodeBlock, Listing, Sentence
from azbenchlib.cli import app
from azbenchlib.core.errors import InputError

mpl.use("Agg")
DAY = "2026-11-20"
ASKED = (
    "advise",
    "--iops",
    "24k",
    "--mbps",
    "600",
    "--size",
    "2TiB",
    "--region",
    "westeurope",
    "--as-of",
    DAY,
)
# Of the command line alone: what a demand is measured from, several demands, and what is printed.
NOT_IN_PYTHON = {
    "from_", "run", "workloads", "volume", "instead_of", "job", "why", "quota", "format_",
    "system", "help", "report",
}  # fmt: skip


@pytest.fixture(scope="module")
def advice() -> AdviceAnswer:
    return az.advise(region="westeurope", iops=24000, mbps=600, size="2TiB", as_of=DAY)


def printed(*more: str) -> str:
    done = CliRunner().invoke(app, [*ASKED, *more])
    assert done.exit_code == 0, done.exception
    return done.stdout


def test_terminal_markdown_and_html_have_the_same_sentences(advice: AdviceAnswer) -> None:
    for answer in (advice, advice.explained()):
        parts = list(answer.document.walk())
        texts = [part.text for part in parts if isinstance(part, Sentence)]
        texts += [sentence.text for part in parts if isinstance(part, Listing) for sentence in part.sentences]
        html = answer.to_html().html.replace("<wbr>", "").replace('<span class="nb">', "")
        shown = {
            "text": answer.to_text(1000),
            "markdown": answer.to_markdown().replace("\\", ""),
            "html": unescape(html.replace("</span>", "")),
        }
        whole = {name: " ".join(text.split()) for name, text in shown.items()}
        for text in texts:
            plain = " ".join(text.split())
            assert [name for name, said in whole.items() if plain not in said] == [], text


def test_the_answer_is_short_and_the_explanation_has_the_rest(advice: AdviceAnswer) -> None:
    full = advice.explained()
    assert "Binding limits" not in advice.to_text()
    for title in ("Binding limits", "Alternatives", "Sensitivity", "Assumptions", "Sources"):
        assert title in full.to_text() and title in full.to_markdown()
    (job,) = [part for part in full.document.walk() if isinstance(part, CodeBlock)]
    assert job.text == advice.best.fio_job


def test_a_notebook_shows_it_in_few_lines_and_little_html(advice: AdviceAnswer) -> None:
    for answer in (advice, advice.explained()):
        assert len(repr(answer).splitlines()) <= 10
        assert len(answer._repr_html_()) < 30_000
    for inner in (advice.result, advice.market, advice.best):
        assert len(repr(inner)) < 2_000


def test_the_frame_is_that_of_csv_and_has_base_units(advice: AdviceAnswer) -> None:
    frame = advice.to_frame()
    rows = list(csv.DictReader(io.StringIO(printed("--format", "csv"))))
    assert list(rows[0]) == list(frame.columns)
    assert [float(row["price_per_month"]) for row in rows] == list(frame["price_per_month"])
    assert list(frame["price_per_month"]) == [float(one.price) for one in advice.configurations]
    assert frame.loc[0, "headroom"] == advice.best.headroom[advice.best.binding]


def test_the_command_line_prints_what_python_has(advice: AdviceAnswer) -> None:
    assert printed("--format", "md") == advice.to_markdown()
    assert "## Alternatives" in printed("--format", "md", "--why")


def test_bars_are_as_long_as_the_prices(advice: AdviceAnswer) -> None:
    axes = advice.plot(Canvas().subplots())
    assert [bar.get_width() for bar in axes.patches] == list(advice.to_frame()["price_per_month"])


def test_the_price_knows_its_source_and_day(advice: AdviceAnswer) -> None:
    price = advice.figures.set_index("name").loc["price"]
    assert (price["unit"], price["source"]) == ("USD", "radar of 2026-08-22")
    assert price["value"] == float(advice.best.price)


@pytest.mark.parametrize(
    "same",
    [
        {"iops": "24k", "mbps": "600", "read_share": "70%"},
        {"iops": 24000.0, "mbps": 600.0, "read_share": 0.7},
        {"iops": Decimal(24000), "mbps": Decimal("600.0"), "read_share": Decimal("0.7")},
        {"iops": np.int64(24000), "mbps": np.float64(600), "read_share": np.float64(0.7)},
        {"iops": 24000, "mbps": 600, "read_share": 0.7, "zrs": False, "arm": "no", "vcpus": None},
    ],
    ids=["texts", "floats", "decimals", "numpy", "bools"],
)
def test_the_same_demand_in_other_types_is_the_same(same: Mapping[str, Any]) -> None:
    stated = {"iops": 24000, "mbps": 600, "read_share": 0.7, "size": "2TiB"}
    assert stated_demand({"size": "2TiB", **same}) == stated_demand(stated)


@pytest.mark.parametrize("size", [2**41, float(2**41), Decimal(2**41), "2TiB", "2048GiB"])
def test_sizes_as_numbers_are_bytes(size: float | Decimal | str) -> None:
    demand = stated_demand({"iops": 100, "size": size, "ram": 2**36})
    assert (demand.size_bytes, demand.memory_bytes) == (2**41, 2**36)


def test_bools_are_yes_where_yes_is_meant() -> None:
    stated = {"iops": 100, "size": "1TiB"}
    assert stated_demand({**stated, "zrs": True}).redundancy == "ZRS"
    assert not stated_demand({**stated, "not_persistent": True}).persistent


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"iops": True}, "iops True is of type bool: give a number, or a text"),
        ({"iops": [1]}, "iops .* is of type list"),
        ({"iops": float("nan")}, "iops 'nan' is not a number above 0"),
        ({"max_disks": 2.5}, "max_disks '2.5' is not a whole number"),
        ({"arm": True, "arch": "x64"}, "arm allows Arm CPUs too"),
        ({"pay": "monthly"}, "pay 'monthly' is not one of: payg, spot"),
        ({"iopz": 24000}, "a demand has no 'iopz'; it has: size, iops, mbps"),
    ],
)
def test_what_is_no_demand_is_told_in_a_sentence(wrong: Mapping[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        az.advise(**{"iops": 100, "size": "1TiB", **wrong})


def test_every_option_of_the_verb_is_a_parameter() -> None:
    options = {param.name for param in get_command(app).commands["advise"].params} - NOT_IN_PYTHON  # type: ignore[attr-defined]
    parameters = set(inspect.signature(az.advise).parameters) - {"others", "os"}
    assert parameters == options >= set(DEMAND_COLUMNS)
