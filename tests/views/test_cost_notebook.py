"""The notebook of cost: amounts with their source, curves with break-even points, published errors."""

import ast
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import cells
import nbformat
import pytest
from price_server import item, price_service, vm_item
from typer.testing import CliRunner

from azbenchlib.azure.prices.refresh import refresh
from azbenchlib.cli import app
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import format_money
from azbenchlib.report import execute
from azbenchlib.views.cost import Cost

ULTRA = "ultra-disk-2019"


@pytest.fixture(autouse=True, scope="module")
def shipped_prices(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Only the prices that come with azbench, not what was read on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


def words(html: str) -> str:
    bare = re.sub(r"<(style|title)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(bare).replace("\u00a0", " ")).strip()


@pytest.fixture(scope="module")
def west() -> Cost:
    """No dataset, a setup of one's own, in a region of which burst and transaction prices are known."""
    return Cost(vm="Standard_E32-8s_v3", disks=["ultra:128GiB/32000iops/2000MBps"], region="westeurope")


@pytest.mark.slow
def test_the_notebook_runs_and_says_it_all() -> None:
    html = cells.page("04_cost", region="westeurope")
    assert set(re.findall(r'<figure[^>]* id="([a-z]+)-figure"', html)) == {
        "transactions", "ways", "bursts", "frontier",
    }  # fmt: skip
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    text = words(html)
    assert "From 137 IOPS on average (359 million I/Os a month) on, Premium SSD P30 costs less" in text
    assert "Premium SSD v2 striped: the cheapest at every demand" in text
    assert "From 10 h a month on, Premium SSD with 10,000 IOPS costs less than P30 bursting" in text
    assert "2.488496 2.468496 too high by 0.02 0.010496 + 1.088 + 1.37" in text
    assert "0.024 0.096 too low by 0.072 32 × 0.003" in text
    assert "E8ds_v4 426 251 505" in text  # EUR as published, USD of the price book
    assert not re.search(r"\b(nan|NaN|<NA>|inf)\b", text)


def test_a_bill_has_every_meter_with_source_and_day(west: Cost) -> None:
    text = words(west.bills().html)
    assert "Every meter in 730 h" in text and "radar of 2026-08-22: Standard_E32-8s_v3, linux" in text
    assert "Standard_E32-8s_v3, linux, pay-as-you-go 1 Hour 1 2.56 1,868.80 " in text
    assert "Ultra LRS Provisioned IOPS 1/Hour 32,000 0.000088 2,055.68 " in text
    assert "Ultra LRS Provisioned Throughput (MBps) 1/Hour 2,000 0.000572 835.12 " in text
    assert "The OS disk is not stated, so it is not counted." in text
    total = 1868.80 + 128 * 0.000213 * 730 + 2055.68 + 835.12
    assert f"{total:,.2f} USD" in text
    assert list(west.bills().data["amount"]) == pytest.approx([1868.8, 128 * 0.000213 * 730, 2055.68, 835.12])


def test_old_prices_give_the_preview_s_bill() -> None:
    """The VM had no price then that is known: it is named, and there is no total."""
    text = words(Cost([ULTRA], as_of="2019-09-01", hours=1).bills().html)
    assert "Ultra LRS Provisioned IOPS 1/Hour 32,000 0.000034 1.088" in text
    assert "ultra-preview-2019 of 2019-09-01: Ultra LRS Provisioned Capacity;" in text
    assert "no total" in text and "No price in eastus2 for Virtual Machines: standard_e32-8s_v3" in text
    assert "Every meter in 1 h" in text


def test_what_was_delivered_is_priced_and_what_was_not_is_said() -> None:
    text = words(Cost([ULTRA]).delivered().html)
    assert "≈ 333" in text and "< 210" in text and "491" in text
    assert "“Host cache settings in 2012, with iozone” has no setup with both" in words(
        Cost(["iozone-host-cache-2012"]).delivered().html
    )
    assert "prints no prices" in words(Cost(["l-series-iometer-2017"]).published().html)


def test_each_size_has_its_crossing(west: Cost) -> None:
    text = words(west.transactions().html)
    assert "1 TiB P30 or E30 149 76.80 137 359" in text
    assert "32 GiB P4 or E4 5.81 2.40 6.5 17.1" in text
    assert "Standard HDD S30 costs less than Premium SSD P30 at every demand up to 500 IOPS" in text


def test_a_cap_lets_standard_stay_cheap() -> None:
    """100,000 an hour are 14.60 USD a month at most: E30 stays below P30."""
    text = words(Cost(region="westeurope", transaction_cap=100_000).transactions().html)
    assert "at most 100,000 an hour are billed" in text
    assert "Standard SSD E30 costs less than Premium SSD P30 at every demand up to 500 IOPS" in text


def test_ways_cross_where_tiers_end(west: Cost) -> None:
    text = words(west.standing().html)
    assert "Premium SSD or Premium SSD striped 5,001; 6,901; 7,501 209; 285; 293" in text
    assert "Premium SSD or Ultra Disk 7,501; 12,421; 16,001" in text


def test_a_region_without_a_price_names_the_meter() -> None:
    cost = Cost(region="westus")
    text = words(cost.standing().html)
    assert "Left out because a price is missing: Premium SSD v2: Azure Premium SSD v2: Premium LRS" in text
    text = words(cost.bursting().html)
    assert "P30 bursting on demand: Premium SSD Managed Disks: LRS Burst Enablement" in text


def test_standard_disks_without_a_transaction_price_are_not_compared() -> None:
    text = words(Cost(region="eastus2").transactions().html)
    assert "Standard SSD E30: Standard SSD Managed Disks: E4 LRS Disk Operations" in text
    assert "costs less" not in text and "Two options" not in text


def test_a_small_disk_does_not_burst_on_demand() -> None:
    text = words(Cost(region="westeurope", size="512GiB").bursting().html)
    assert text == "No on-demand bursting for 512 GiB: it is for Premium SSD above 512 GiB."


def test_a_burst_that_no_disk_gives_is_one_sentence() -> None:
    text = words(Cost(region="westeurope", iops=2_000_000).bursting().html)
    assert text == "1 TiB in westeurope, in one disk or several striped. No disk gives as much."


def test_the_frontier_tells_the_cheapest_of_each_demand(west: Cost) -> None:
    html = west.frontier().html
    table = html[html.index('id="frontier-best"') :]
    found = [words(row) for row in re.findall(r"<tr><th.*?</tr>", table, re.DOTALL)][1:]
    assert [row.split(" IOPS")[0] for row in found] == [
        "1,250", "2,500", "5,000", "10,000", "20,000", "40,000", "80,000",
    ]  # fmt: skip
    prices = [float(row.split()[-2].replace(",", "")) for row in found]
    assert prices == sorted(prices) and all("pv2" in row for row in found)


def test_the_frontier_names_what_the_command_line_names(west: Cost) -> None:
    """Once it compared other VM sizes than `azbench advise` does."""
    text = words(west.frontier().html)
    for iops, mbps in ((1_250, 25), (10_000, 200), (80_000, 1_600)):
        asked = ("--iops", str(iops), "--mbps", str(mbps), "--size", "1TiB", "--region", "westeurope")
        done = CliRunner().invoke(
            app, ["advise", *asked, "--read-share", "0.7", "--strictly-cheapest", "--format", "json"]
        )
        best = json.loads(done.stdout)["configurations"][0]
        vm, price = best["vm"].removeprefix("Standard_"), format_money(best["price_per_month"])
        assert f"{iops:,} IOPS {vm} with {best['disks']} {price} " in text


def test_prices_in_euros_are_euros_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    euros = [vm_item("Standard_D8s_v5", 0.44), item("P30 LRS Disk", 130.0), item("P20 LRS Disk", 70.0)]
    with price_service([one | {"currencyCode": "EUR"} for one in euros]) as server:
        refresh("westeurope", server.url, currency="EUR")
    cost = Cost(vm="Standard_D8s_v5", disks=["P30"], region="westeurope", currency="eur")
    assert "Standard_D8s_v5 with P30: 451.20 EUR" in words(cost.bills().html)
    frontier = words(cost.frontier().html)
    assert "10,000 IOPS D8s_v5 with P30x3 711 71.12" in frontier and "EUR" in frontier
    for block in (cost.bills, cost.standing, cost.frontier):
        assert "USD" not in words(block().html)
    place = ("--region", "westeurope", "--currency", "EUR", "--format", "json")
    billed = CliRunner().invoke(app, ["cost", "--vm", "D8s_v5", "--disk", "P30", *place])
    assert json.loads(billed.stdout)["total"] == pytest.approx(451.20)
    best = CliRunner().invoke(app, ["advise", "--iops", "10000", "--size", "1TiB", *place])
    assert json.loads(best.stdout)["configurations"][0]["price_per_month"] == pytest.approx(711.20)
    with pytest.raises(InputError, match="'EURO' is not a currency"):
        Cost(currency="euro")


def test_each_cell_is_prose_parameters_or_one_library_call() -> None:
    notebook = nbformat.read(execute.find_notebook("04_cost"), as_version=4)
    for cell in notebook.cells:
        if cell.cell_type != "code" or cell.id.startswith("going-on"):
            continue
        assert cell.outputs == [] and cell.execution_count is None
        body = ast.parse(cell.source).body
        if "parameters" in cell.metadata.get("tags", []):
            assert all(isinstance(line, ast.AnnAssign) for line in body)
            assert len(cell.source.splitlines()) == len(body)
            continue
        lines = [line for line in body if not isinstance(line, ast.ImportFrom)]
        assert isinstance(lines[-1], ast.Expr) and len(lines) <= 2
        assert sum(isinstance(node, ast.Call) for line in lines for node in ast.walk(line)) == len(lines)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"datasets": ["no-such"]}, "no dataset 'no-such'"),
        ({"pay": "monthly"}, "pay 'monthly' is not one of: payg, spot, 1y, 3y"),
        ({"vm": "Standard_E8ds_v4"}, "region: name the region that the setup is priced in"),
        ({"disks": ["P31x"], "region": "westeurope"}, "P31x"),
        ({"size": "large"}, "'large' is not a size"),
        ({"iops": 0}, "iops, mbps and most_disks must be above 0"),
    ],
)
def test_what_cannot_be_priced_is_refused_in_a_sentence(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        Cost(**given)


def test_a_region_that_is_not_known_is_one_sentence() -> None:
    with pytest.raises(InputError, match="no region 'mars' is known"):
        Cost(region="mars").transactions()
    text = words(Cost(vm="Standard_E8ds_v4", region="mars").bills().html)
    assert "No region 'mars' is known; there are:" in text


def test_a_cap_that_is_not_known_is_told() -> None:
    told = "up to a cap an hour that is not known here, so its line is the most that it can cost"
    assert told in words(Cost(region="westeurope").transactions().html)
    assert told not in words(Cost(region="westeurope", transaction_cap=50_000).transactions().html)
