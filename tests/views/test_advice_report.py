"""`advise --report`: three designs, the ways to pay and what binds, as a page and as a PDF of two."""

import json
import re
from decimal import Decimal
from html import unescape
from pathlib import Path

import pytest
from pypdf import PdfReader
from typer.testing import CliRunner

import azbenchlib as az
from azbenchlib.advisor.order_designs import GROWTH, WAYS_TO_PAY, markets_by_payment, order_designs
from azbenchlib.answers.advice import AdviceAnswer
from azbenchlib.azure.prices.rows import PAYMENTS
from azbenchlib.cli import app
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB
from azbenchlib.views import advice_report

DAY = "2026-11-20"
ASKED = ("--iops", "2000", "--size", "512GiB", "--vcpus", "4", "--region", "polandcentral", "--as-of", DAY)


@pytest.fixture(scope="module")
def answer() -> AdviceAnswer:
    return az.advise(
        iops=2000, size="512GiB", vcpus=4, region="polandcentral", as_of=DAY, peak="600/3600:9000"
    )


def words(html: str) -> str:
    bare = re.sub(r"<(style|script)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(bare).replace("\N{NO-BREAK SPACE}", " ")).strip()


def test_the_safe_design_has_more_headroom_and_no_credits_and_another_one_grows(
    answer: AdviceAnswer,
) -> None:
    recommended, safe, growth = order_designs(answer.result)
    assert recommended.configuration is answer.best
    assert safe.configuration is not None and growth.configuration is not None
    assert not safe.configuration.bursts and not safe.configuration.kind.soft_limits
    assert all(one.headroom >= 0.5 - 1e-9 for one in safe.configuration.limits if one.unit == "iops")
    assert safe.configuration.demand.highest[0] == 9000
    assert growth.configuration.demand.size_bytes == 512 * GIB * GROWTH
    assert growth.configuration.demand.highest[0] == 9000 * GROWTH
    assert recommended.configuration.price <= safe.configuration.price


def test_prices_by_the_way_to_pay_are_those_of_the_bill(answer: AdviceAnswer) -> None:
    markets = markets_by_payment(answer.result.market, None, DAY)
    assert set(markets) == set(WAYS_TO_PAY)
    recommended, *_ = order_designs(answer.result)
    words_of = {price_type: word for word, price_type in PAYMENTS.items()}
    for pay, there in markets.items():
        asked = ["cost", "--vm", answer.best.vm, "--disk", answer.best.disks, "--region", "polandcentral"]
        done = CliRunner().invoke(app, [*asked, "--as-of", DAY, "--pay", words_of[pay], "--format", "json"])
        price = recommended.price(there)
        assert price is not None
        total = json.loads(done.stdout)["total"]
        assert Decimal(str(total)) == pytest.approx(price, abs=Decimal("0.01"))


def test_a_way_to_pay_without_a_price_is_told_and_is_no_column(answer: AdviceAnswer, tmp_path: Path) -> None:
    other = az.advise(iops=2000, size="512GiB", region="westeurope", as_of=DAY)
    written = advice_report.write(other, tmp_path, as_of=DAY)
    text = words(written.html.read_text())
    assert "no price is known of 1-year reservation" in text
    assert "azbench catalog refresh --retail-prices --region westeurope" in text


def test_a_verb_writes_two_pages_with_the_answer(tmp_path: Path) -> None:
    asked = ["advise", *ASKED, "--os-disk", "128GiB"]
    done = CliRunner().invoke(app, [*asked, "--report", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    html = (tmp_path / "out" / "report.html").read_text()
    text, told = (
        words(html),
        json.loads(CliRunner().invoke(app, [*asked, "--format", "json"]).stdout),
    )
    best = told["configurations"][0]
    assert f"{best['price_per_month']:,.2f} USD a month: {best['vm']}" in text
    assert (
        text.count("OS disk: Premium SSD P10 LRS of 128 GiB, no host caching") == 1
    )  # in each design the same
    for part in (
        "Three designs",
        "By the way to pay for the VM",
        "Binding limits",
        "Not modelled",
        "Sources",
    ):
        assert part in text
    assert "notebook cells" not in text  # there are none
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert len(PdfReader(tmp_path / "out" / "report.pdf").pages) <= 2


@pytest.mark.parametrize("more", [("--region", "eastus"), ("--volume", "a:iops=100,size=1GiB")])
def test_a_report_is_of_one_answer(more: tuple[str, ...], tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["advise", *ASKED, *more, "--report", str(tmp_path)])
    assert isinstance(done.exception, InputError) and "--report" in str(done.exception)
