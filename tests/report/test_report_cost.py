"""The report's part on cost: right sums, doubts said, silent where nothing of Azure was measured."""

import json
import re
import shutil
from dataclasses import replace
from decimal import Decimal
from html import unescape
from pathlib import Path

import pandas as pd
import pytest
from price_server import price_service, vm_item
from shipped_datasets import MEASURED
from shipped_reports import shown
from sides import side

from azbenchlib import Report
from azbenchlib.advisor.demands.achieved import AchievedRates, achieved
from azbenchlib.advisor.offers.load_market import market
from azbenchlib.advisor.reasons.cheaper import cheaper, demand_of, documented_part
from azbenchlib.answers.next_step import disk_words, vm_words
from azbenchlib.azure.prices.book import PRICE_COLUMNS
from azbenchlib.azure.prices.refresh import refresh
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, MB, format_money
from azbenchlib.cost import priced_setups, published_costs
from azbenchlib.cost.priced_setups import Priced, Terms
from azbenchlib.dataset import manifest
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.model import VM, Cap, Disk, Setup, notation
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.report import build, to_json
from azbenchlib.report.sections import bills
from azbenchlib.report.sections.cheaper import design_words

DATASETS = Path(__file__).parents[2] / "datasets"
LOCAL_DISKS, ULTRA = DATASETS / "azure-local-disks-2020", DATASETS / "ultra-disk-2019"
SHIPPED_DAY = "2026-08-22"
OWN = f"""{",".join(PRICE_COLUMNS)}
vm,northeurope,,,,Standard_E8ds_v4,,,Consumption,linux,EUR,0.5,1 Hour,2026-01-02,mine
disk,northeurope,Premium SSD Managed Disks,P4,P4 LRS Disk,,P4,LRS,Consumption,,EUR,7.3,1/Month,2026-01-02,mine
"""


@pytest.fixture(autouse=True)
def shipped_prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the prices that come with azbench, not what was read on this machine."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def words(html: str) -> str:
    bare = re.sub(r"<[^>]+>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(bare).replace("\u00a0", " ")).strip()


def rows(html: str) -> list[str]:
    table = html[html.index('<table class="data" id="price"') :]
    return [words(row) for row in re.findall(r"<tr .*?</tr>", table[: table.index("</table>")], re.DOTALL)]


def changed(folder: Path, target: Path, **of_first_setup: object) -> Path:
    shutil.copytree(folder, target)
    described = json.loads((target / manifest.MANIFEST_FILE).read_text())
    described["setups"][0] |= of_first_setup
    (target / manifest.MANIFEST_FILE).write_text(json.dumps(described))
    return target


# --- sums -------------------------------------------------------------------------------------------


def test_each_setup_has_its_month_and_the_price_of_what_it_delivered() -> None:
    """E8ds_v4 0.64 × 730 = 467.20, P4 5.2795: 472.48 for 60,100 IOPS and 491.78 MB/s."""
    html = shown("prices", LOCAL_DISKS)
    found = rows(html)
    assert len(found) == 6
    assert found[2] == (
        "◆ E8ds_v4, OS disk, ReadWrite cache 8 KiB random writes, QD 1,024 472 7.86 96.07 60,100 492 5.28"
    )
    assert "A month of 1,000 IOPS, VM and disks: USD 1.92 (L8s_v2, local NVMe) to USD 135 (E8ds_v4" in words(
        html
    )
    assert "List prices of northeurope, read 22 August 2026." in words(html)
    assert "EUR 374 to 458 a month for the VM" in words(html)


def test_each_setup_stands_at_its_price_and_rate() -> None:
    html = shown("prices", LOCAL_DISKS, ULTRA)
    figure = html[html.index('id="price-and-rate-figure"') : html.index("</figure>")]
    marks = {words(title) for title in re.findall(r"<title>(.*?)</title>", figure)}
    assert "E8ds_v4, OS disk, ReadWrite cache: 472 USD a month, 60,100 IOPS delivered" in marks
    assert "E32-8s_v3, data disk, 10,000 IOPS, 50 MB/s: 2,083 USD a month, 6,250 IOPS delivered" in marks
    assert len(marks) == 8  # of the ninth, only throughput was published
    assert figure.count("(log scale)") == 4  # both axes, in both layouts


def test_two_sides_on_one_kind_of_setup_have_no_prices_to_compare(tmp_path: Path) -> None:
    sides = [
        str(side(tmp_path / name, rates)) for name, rates in (("old", (4000, 4010)), ("new", (4900, 4910)))
    ]
    html = Report(sides, vm="Standard_D8s_v5", disks=["P30"]).prices().html
    assert "price-and-rate" not in html and len(rows(html)) == 2


def test_one_setup_alone_has_no_price_to_compare() -> None:
    assert "price-and-rate" not in shown("prices", "iozone-host-cache-2012")


def test_what_is_missing_stays_empty_and_a_bound_turns_round() -> None:
    first, second, third = rows(shown("prices", ULTRA))
    assert first.endswith("2,083 ≈ 333 ≈ 6,250 529")
    assert second.endswith("< 210 > 10,000 547")  # more IOPS for the same money
    assert third.endswith("3,857 491 785 2,303")


def test_a_report_in_euros_has_euros_everywhere() -> None:
    with pytest.raises(InputError, match=r"no prices in EUR for northeurope, .*--currency EUR"):
        build.check_currency([Dataset.load(LOCAL_DISKS)], "EUR")
    sizes = [vm_item("Standard_E8ds_v4", 0.5), vm_item("Standard_E16ads_v5", 0.26)]
    euros = [one | {"currencyCode": "EUR", "armRegionName": "northeurope"} for one in sizes]
    with price_service(euros) as server:
        refresh("northeurope", server.url, currency="EUR")
    build.check_currency([Dataset.load(LOCAL_DISKS)], "EUR")
    report = Report([str(LOCAL_DISKS)], currency="eur")
    told = words(report.cards().html)
    assert "EUR 365 a month" in told and "EUR 190 a month" in told and "USD" not in told
    assert "USD" not in words(report.prices().html)
    setups = to_json.record([Dataset.load(LOCAL_DISKS)], "EUR")["setups"]
    prices = [one["price"] for one in setups if one["price"]]
    assert {"per_month": 365.0, "currency": "EUR", "region": "northeurope"} in prices
    assert any(one["price"] is None for one in setups)  # of an L8s_v2 no price in EUR was read
    dollars = to_json.record([Dataset.load(LOCAL_DISKS)])["setups"]
    assert {one["price"]["currency"] for one in dollars} == {"USD"}


def test_an_own_price_book_in_another_currency(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(OWN)
    setup = Setup(VM(size="Standard_E8ds_v4"), notation.parse_disks(["os:P4:ReadWrite"]))
    one = priced_setups.price(setup, Terms(region="northeurope", own=tmp_path / "own.csv"))
    assert one.total == Decimal("372.3") and one.doubts == ()
    assert bills.currency([one]) == "EUR" and bills.disks_total(one) == Decimal("7.3")
    assert bills.coverage({"s": one}) == "List prices of northeurope, read 2\u00a0January\u00a02026."


@pytest.mark.parametrize(
    ("disks", "why"),
    [
        (["P30"], "no price in northeurope for Premium SSD Managed Disks: P30 LRS Disk"),
        (["os:P4/64GiB"], "64 GiB do not fit in a P4"),
        (["S4"], "no price in northeurope for Standard HDD Managed Disks: S4 LRS Disk"),
    ],
)
def test_a_missing_price_is_named_and_makes_no_total(tmp_path: Path, disks: list[str], why: str) -> None:
    (tmp_path / "own.csv").write_text(OWN)
    setup = Setup(VM(size="Standard_E8ds_v4"), notation.parse_disks(disks))
    one = priced_setups.price(setup, Terms(region="northeurope", own=tmp_path / "own.csv"))
    assert one.total is None and why in one.why.replace("\u00a0", " ")
    table = priced_setups.per_delivered(
        pd.DataFrame(
            [{"setup_id": "s", "iops": 5.0, "bw_bytes_per_s": 1.0, "iops_bound": "=", "bw_bound": "="}]
        ),
        {"s": one},
    )
    assert table[["price", "per_1000_iops", "per_100_mbps"]].isna().all(axis=None)


def test_no_rate_is_no_division() -> None:
    rates = pd.DataFrame(
        {"setup_id": "s", "iops": [0.0, None, 2000.0], "bw_bytes_per_s": [None, 50 * MB, 0.0]}
    ).assign(iops_bound="=", bw_bound=">")
    setup = Priced(
        setup=Setup(),
        region="here",
        bill=priced_setups.price(Setup(VM(size="Standard_E8ds_v4")), Terms(region="northeurope")).bill,
    )
    table = priced_setups.per_delivered(rates, {"s": setup})
    assert table["per_1000_iops"].isna().tolist() == [True, True, False]
    assert table["per_1000_iops"].iloc[2] == pytest.approx(467.2 / 2)
    assert table["per_100_mbps"].iloc[1] == pytest.approx(467.2 * 2)
    assert table["per_mbps_bound"].tolist() == ["<"] * 3


# --- what the publications print ---------------------------------------------------------------------


def test_the_publication_s_two_errors_are_found_by_its_own_prices() -> None:
    found = {one.what: one for one in published_costs.recounts(Dataset.load(ULTRA).tables)}
    total, fee = found["total"], found["reservation"]
    assert (total.printed, total.computed) == (Decimal("2.488496"), Decimal("2.468496"))
    assert total.how == "0.010496 + 1.088 + 1.37" and "1.008" in total.claim
    assert (fee.printed, fee.computed) == (Decimal("0.024"), Decimal("0.096"))
    assert fee.how == "32 × 0.003" and fee.claim == "8 vCPUs"
    assert [one.what for one in found.values() if one.right] == ["capacity", "iops", "mbps"]


def test_published_vm_prices_are_as_printed() -> None:
    table = published_costs.vm_prices(Dataset.load(LOCAL_DISKS).tables).set_index("vm_size")
    assert table.loc["Standard_E8ds_v4", ["payg", "1y_reserved"]].tolist() == [426, 251]
    assert set(table["unit"]) == {"EUR/month"} and len(table) == 5
    assert published_costs.vm_prices(Dataset.load(ULTRA).tables).empty


# --- what is cheaper --------------------------------------------------------------------------------


def test_what_is_cheaper_gives_as_much_on_as_large_a_vm() -> None:
    part = Report([str(ULTRA)]).parts[0]
    found = part.priced
    designs, none = cheaper(bills.headlines(part), found)
    assert [one.series for one in designs] == ["ultra-10000-50", "ultra-10000-100", "ultra-32000-2000"]
    assert none == []
    for one in designs:
        total = float(found[one.series].total or 0)
        assert float(one.candidate.price) < total and one.saved == pytest.approx(
            1 - float(one.candidate.price) / total
        )
    offers = {offer.size: offer for offer in market("eastus2").vms}
    chosen, measured = (
        offers[f"Standard_{vm_words(designs[0].candidate.setup)}"],
        offers["Standard_E32-8s_v3"],
    )
    assert (chosen.vcpus or 0) >= (measured.vcpus or 0)
    assert (chosen.memory_bytes or 0) >= (measured.memory_bytes or 0)
    assert "Premium SSD v2 (32 GiB, 3,000 IOPS, 125 MB/s each)" in design_words(designs[0]).replace(
        "\u00a0", " "
    )


def test_what_is_cheaper_stands_on_the_card_and_what_it_keeps_below_the_prices() -> None:
    cards, said = words(shown("cards", LOCAL_DISKS)), words(shown("prices", LOCAL_DISKS))
    assert cards.count("Cheaper ") == 1 and "21 % less" in cards
    assert "the same performance and durability" in said
    assert "on a VM of the same CPU architecture with as many vCPUs" in said  # Arm would cost less still


@pytest.mark.parametrize(
    ("notation_", "said"),
    [
        ("P15x5", "5 × P15"),
        ("P30:ReadOnly", "P30 with ReadOnly cache"),
        ("temp", "its temp disk"),
        ("ultra:128GiB/10000iops/50MBps", "Ultra Disk (128 GiB, 10,000 IOPS, 50 MB/s)"),
        ("pv2x2:16GiB/3000iops/125MBps", "2 × Premium SSD v2 (16 GiB, 3,000 IOPS, 125 MB/s each)"),
    ],
)
def test_disks_read_as_people_say_them(notation_: str, said: str) -> None:
    (disk,) = resolve(Setup(disks=notation.parse_disks([notation_])), SHIPPED_DAY).disks
    assert disk_words(disk).replace("\u00a0", " ") == said


# --- where there is little to say --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["this-machine", "rehearsal"])
def test_nothing_is_said_where_no_disk_of_azure_was_measured(name: str) -> None:
    if not (DATASETS / name).is_dir():
        pytest.skip(f"datasets/{name} was not made here")
    assert shown("prices", name) == ""


def test_a_disk_of_another_cloud_has_no_part(tmp_path: Path) -> None:
    folder = changed(ULTRA, tmp_path / "x")
    described = json.loads((folder / manifest.MANIFEST_FILE).read_text())
    for setup in described["setups"]:
        setup["environment"] = "other"
    (folder / manifest.MANIFEST_FILE).write_text(json.dumps(described))
    assert Report([str(folder)]).prices().html == ""


def test_what_cannot_be_priced_is_one_sentence() -> None:
    said = words(shown("prices", "iozone-host-cache-2012"))
    assert said.startswith("What it costs Nothing here can be priced: no VM size 'Medium' in the catalogue")
    assert len(said) < 120


def test_without_a_region_it_is_said_whose_prices_these_are() -> None:
    html = shown("prices", "l-series-iometer-2017")
    assert "No region is stated for some: prices of westeurope." in words(html)
    assert "List prices of westeurope" in words(html)


def test_one_setup_without_a_price_does_not_hide_the_others(tmp_path: Path) -> None:
    folder = changed(LOCAL_DISKS, tmp_path / "x", vm_size="Standard_Q9")
    html = Report([str(folder)]).prices().html
    assert len(rows(html)) == 5
    assert "No VM size 'Standard_Q9' in the catalogue" in words(html)


def test_two_datasets_stand_in_one_table() -> None:
    html = shown("prices", "ultra-disk-2019", "zone-redundant-disks-2022")
    titles = re.findall(r"<h(\d)[^>]*>([^<]*)</h", html)
    assert titles == [
        ("2", "What it costs"),
        ("3", "Price and rate of each setup"),
        ("3", "Prices as a table"),
    ]
    assert html.count("<table") == 1 and len(rows(html)) == 7
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))


@pytest.mark.long  # test_report.py has this of the whole page
def test_what_a_dataset_says_is_escaped(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    folder = changed(LOCAL_DISKS, tmp_path / "x", label=evil, region=evil)
    html = Report([str(folder)]).prices().html
    assert "<script" not in html and "alert(1)" in html


def test_an_emulated_disk_is_priced_as_what_it_stands_for(tmp_path: Path) -> None:
    folder = changed(LOCAL_DISKS, tmp_path / "x", environment="lab")
    html = Report([str(folder)]).prices().html
    assert len(rows(html)) == 6 and "Emulated disks: the prices are those of the Azure disks" in words(html)


def test_the_size_of_a_demand_is_that_of_all_disks() -> None:
    there = market("westeurope", as_of=SHIPPED_DAY)
    row = {"iops": 1000.0, "bw_bytes_per_s": None, "bs_bytes": 4096, "read_share": 1.0}
    setup = Setup(VM(size="Standard_E8ds_v4"), notation.parse_disks(["P30x3"]))
    demand = demand_of(row, resolve(setup, SHIPPED_DAY), there)
    assert demand is not None and demand.size_bytes == 3072 * GIB and demand.read_share == 1
    disks = resolve(setup, SHIPPED_DAY).disks
    unknown = replace(setup, disks=(*disks, Disk(name="other", cap=Cap(iops=500, bytes_per_s=60e6))))
    assert demand_of(row, unknown, there) is None  # a size that is not known is not zero
    boots = replace(setup, disks=(*disks, Disk(name="os", role="os", size_bytes=32 * GIB)))
    also = demand_of(row, boots, there)
    assert also is not None and also.size_bytes == 3072 * GIB  # what it boots from holds no data


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0, "0"), (0.00875, "0.00875"), (0.999, "1.00"), (5.2795, "5.28"), (99.996, "100"), (1651.2, "1,651")],
)
def test_money_has_cents_where_they_matter(amount: float, text: str) -> None:
    assert format_money(amount) == text


@pytest.mark.parametrize("folder", MEASURED, ids=lambda path: path.name)
@pytest.mark.sampled(1)
def test_no_shipped_dataset_shows_what_is_missing_as_a_figure(folder: Path) -> None:
    said = words(shown("prices", folder))
    assert said.startswith("What it costs") and not re.search(r"\b(nan|NaN|None|NA|<NA>|inf)\b", said)


def test_what_is_cheaper_suits_a_server_as_advice_does() -> None:
    """D4as_v4 is of a previous generation; a B4as_v2 would cost less still, but its CPU is burstable."""
    said = words(shown("cards", "zone-redundant-disks-2022"))
    assert "D4as_v5 with 2 × Premium SSD v2" in said and "B4as_v2" not in said


def test_a_run_in_the_page_cache_is_asked_for_only_where_there_is_no_other() -> None:
    tables = dict(Dataset.load(LOCAL_DISKS).tables)
    before = achieved(tables)
    ids = tables["runs"].loc[tables["runs"]["job"] == before.run, "run_id"]
    told = {"code": "page_cache_suspected", "severity": "warning", "message": "buffered", "source_path": "x"}
    found = pd.DataFrame([{"run_id": run_id, **told} for run_id in ids])
    tables["findings"] = found.reindex(columns=tables["findings"].columns).astype("string")
    after = achieved(tables)
    assert after.run != before.run and not after.caveats
    assert achieved(tables, before.run).caveats == ("buffered",)


def test_the_disk_that_was_measured_does_for_what_it_gave() -> None:
    """P30s of 5,000 IOPS gave up to 5,180: nobody else's P30 would be asked for more than 5,000."""
    said = words(shown("cards", "zone-redundant-disks-2022"))
    assert said.count("with P30 ZRS: USD 375 a month, 4 % less") == 3


@pytest.mark.parametrize(("measured", "asked"), [(5100, 5000), (5249, 5000), (5300, 5300), (4900, 4900)])
def test_a_little_above_the_limit_is_the_limit(measured: float, asked: float) -> None:
    setup = resolve(Setup(disks=notation.parse_disks(["P30"])), SHIPPED_DAY)
    rates = AchievedRates(iops=measured, bytes_per_s=None, bs_bytes=4096, read_share=1.0, size_bytes=None)
    part = documented_part(setup, rates, 1.0)
    assert measured * part == pytest.approx(asked)
