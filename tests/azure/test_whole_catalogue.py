"""Nothing that Azure sells is missing without a reason: sizes, limits, days of retirement, bursts, dates."""

import csv
import gzip
import os
import re
from datetime import date
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from azbenchlib.advisor.offers.vm_choice import SizeName
from azbenchlib.azure import catalog
from azbenchlib.azure.catalog import BurstDocumented, VmRow
from azbenchlib.azure.catalog.files import DATA
from azbenchlib.core.findings import Code
from azbenchlib.model.setup import VM, Setup
from azbenchlib.model.size_remarks import findings
from azbenchlib.verdict.limit_sources import resolved

DAY = "2026-11-26"
FACTS = Path(os.environ.get("AZBENCH_CORPUS", "absent")).parent / "facts"
needs_facts = pytest.mark.skipif(
    not (FACTS / "vm_sizes_docs_missing.csv").is_file(), reason="the facts do not lie beside AZBENCH_CORPUS"
)
PRINTED_AS = {
    "doc_uncached_iops": "uncached_iops",
    "doc_uncached_mbps": "uncached_bytes_per_s",
    "burst_uncached_iops": "uncached_burst_iops",
    "burst_uncached_mbps": "uncached_burst_bytes_per_s",
    "pv2_ultra_iops": "uncached_v2_iops",
    "local_write_iops": "nvme_write_iops",
}
# Price lists name these, and neither a page at hand nor the resource-SKU API states anything of them.
ONLY_PRICED = (
    "D2as_v5_Promo D4as_v5_Promo D8as_v5_Promo D16as_v5_Promo D32as_v5_Promo D48as_v5_Promo D64as_v5_Promo "
    "D96as_v5_Promo D96pds_v5 D96plds_v5 D96pls_v5 D96ps_v5 E48pds_v5 E48ps_v5 E64pds_v5 E64ps_v5 E96pds_v5 "
    "E96ps_v5 E96iads_v5 E96ias_v5 D372ids_v7 D372is_v7 F1als_v6 F1ams_v6 F1as_v6 F72als_v6 F72as_v6 "
    "F72iams_v6 L104is_v3 L112ias_v3 L112is_v3 L96ias_v3 L96is_v3 M12s-6_v32 M176bds_3_v3 M176bs_3_v3 "
    "M176ds_v3 M176s_v3 M192ms_v2 M192s_v2 M416is_v2 M96ds_v3 M96s_v3"
)


def _csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def _rows() -> dict[str, VmRow]:
    return {row.size: row for row in catalog.every_vm(DAY)}


def _printed(row: VmRow) -> set[tuple[str, float, str | None, str | None, str]]:
    return {limit[:2] + limit[3:6] for limit in row.limits if limit.from_page}


def test_whatever_is_priced_for_servers_can_be_advised_or_no_source_has_its_limits() -> None:
    priced = set()
    for path in sorted((DATA / "prices").glob("*.csv.gz")):
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            priced |= {row["arm_sku"] for row in csv.DictReader(file) if row["kind"] == "vm"}
    wanted = {size for size in priced if SizeName.of(size).current}
    assert len(priced) > 1_700 and len(wanted) > 1_000
    known = {size.lower(): row for size, row in _rows().items()}
    lacking = set()
    for size in wanted:
        row = known.get(size.lower())
        limits = row and (row.best("uncached_iops"), row.best("uncached_bytes_per_s"))
        if not row or None in (row.vcpus, row.memory_bytes, row.max_data_disks, *(limits or ())):
            lacking.add(size.removeprefix("Standard_"))
    assert sorted(lacking) == sorted(ONLY_PRICED.split())


@pytest.mark.parametrize(
    ("size", "vcpus", "memory_gib", "disks", "iops"),
    [
        ("E8bs_v6", 8, 64, 24, 36_300),
        ("E192ibds_v6", 192, 1_832, 64, 400_000),
        ("M16ls_v4", 16, 256, 64, None),
        ("L8as_v5", 8, 64, 16, None),
    ],
)
def test_sizes_of_pages_alone_have_what_the_page_prints(
    size: str, vcpus: int, memory_gib: int, disks: int, iops: int | None
) -> None:
    row = catalog.vm(size, DAY)
    assert (row.vcpus, row.memory_bytes, row.max_data_disks) == (vcpus, memory_gib * 2**30, disks)
    assert row.premium_io and row.pages_only and row.architecture == "x64"
    best = row.best("uncached_iops")
    assert best and iops in (None, best.value)


def test_a_constrained_size_has_all_that_pages_print_of_its_parent() -> None:
    constrained = [row for row in _rows().values() if row.parent]
    assert len(constrained) > 300
    for row in constrained:
        parent = _rows()[str(row.parent)]
        assert _printed(row) == _printed(parent), row.size
        assert row.vcpus_available and row.vcpus and row.vcpus_available < row.vcpus
        assert (row.memory_bytes, row.premium_io) == (parent.memory_bytes, parent.premium_io)
        assert row.retires_on or not parent.retires_on
    lowered = {size for size in _rows() if re.match(r"Standard_[A-Z]+\d+[a-z]*-\d", size)}
    assert lowered == {row.size for row in constrained}


def test_what_a_dozen_vcpus_less_may_do_is_what_the_parent_may() -> None:
    few, whole = (catalog.vm(size, DAY).best("uncached_v2_iops") for size in ("E32-8ds_v6", "E32ds_v6"))
    assert few and whole and few == whole and few.value == 66_667


# --- retirement


@pytest.mark.parametrize(
    ("size", "day"),
    [
        ("NC6s_v3", "2025-09-30"),
        ("NC24rs_v3", "2025-09-30"),
        ("NV12s_v3", "2026-09-30"),
        ("NV4as_v4", "2026-09-30"),
        ("M192is_v2", "2027-03-31"),
        ("HB120-16rs_v2", "2027-05-31"),
        ("HC44rs", "2027-05-31"),
        ("NP10s", "2027-05-31"),
        ("DC8s_v3", "2029-10-31"),
        ("DC16ds_v3", "2029-10-31"),
        ("D8s_v3", "2029-11-15"),
        ("E32-8s_v3", "2029-11-15"),
        ("EC8as_cc_v5", "2026-09-01"),
        ("Basic_A1", "2024-08-31"),
        ("NV12", "2023-09-06"),
    ],
)
def test_days_of_retirement_have_their_page(size: str, day: str) -> None:
    row = catalog.vm(size, DAY)
    assert row.retires_on == day and row.retirement_source
    page = catalog.source(row.retirement_source)
    assert "retirement" in page.path and page.repository.startswith("MicrosoftDocs/")
    (said,) = (one for one in findings(Setup(VM(size=size)), DAY) if one.code == Code.VM_SIZE_RETIRES)
    word = "retired" if day <= DAY else "retires"
    assert said.message.startswith(f"Azure {word} {row.size} on {day} (azure-")


def test_a_size_that_stays_is_not_said_to_go() -> None:
    assert catalog.vm("E8ds_v5", DAY).retires_on is None
    assert findings(Setup(VM(size="E8ds_v5")), DAY) == ()


# --- figures, bursts and days


def test_page_and_api_that_differ_are_both_in_force() -> None:
    rates = catalog.vm("NC6s_v3", DAY).figures("uncached_bytes_per_s")
    assert [(limit.value, limit.from_page) for limit in rates] == [(300e6, False), (200e6, True)]
    assert len(catalog.vm("E8bds_v5", DAY).figures("uncached_iops")) == 1  # what a page once printed is over
    assert catalog.vm("L8s_v2", DAY).figures("nvme_write_iops") == ()


@pytest.mark.parametrize(
    ("size", "day", "burst"),
    [
        ("D8s_v5", DAY, BurstDocumented.PRINTED),
        ("E8bds_v5", DAY, BurstDocumented.PRINTED),
        ("FX12mds", DAY, BurstDocumented.NONE),  # uncached limits in print, no burst beside them
        ("DC16as_v6", DAY, BurstDocumented.NOT_KNOWN),  # the page prints no uncached limit
        ("E192ids_v6", DAY, BurstDocumented.NOT_KNOWN),  # it prints the local disk's figures in their place
        ("DS11_v2_Promo", DAY, BurstDocumented.NOT_KNOWN),  # no page
        ("D8_v5", DAY, BurstDocumented.NONE),  # takes no Premium storage
        ("D4as_v5", "2021-10-10", BurstDocumented.NONE),  # the page of that day prints none
        ("D4as_v5", "2021-11-10", BurstDocumented.PRINTED),
        ("DC16as_v6", "2019-01-01", BurstDocumented.NONE),  # no VM burst at all then
    ],
)
def test_whether_a_burst_is_documented(size: str, day: str, burst: BurstDocumented) -> None:
    assert catalog.vm(size, day).burst is burst


@needs_facts
def test_a_burst_is_not_known_of_just_the_sizes_whose_pages_lack_uncached_limits() -> None:
    missing = {row["name"] for row in _csv(FACTS / "vm_sizes_docs_missing.csv")}
    unknown = {size for size, row in _rows().items() if row.burst is BurstDocumented.NOT_KNOWN}
    assert unknown - missing == {"Standard_NM16ads_MA35D"}  # whose page prints no figure at all
    assert missing <= unknown


def test_the_oldest_page_holds_for_the_days_before_it() -> None:
    row = catalog.vm("D8s_v6", "2023-05-01")
    burst, first = row.best("uncached_burst_iops"), row.best("uncached_burst_iops", DAY)
    assert burst and first and burst.value == first.value
    assert burst.page_day and "2023-05-01" < burst.page_day == burst.valid_to
    assert row.burst is BurstDocumented.PRINTED and burst in row.taken_back
    (said,) = findings(Setup(VM(size="D8s_v6")), "2023-05-01")
    assert said.code == Code.OLDEST_PAGE_TAKEN
    assert re.fullmatch(
        rf"the oldest page at hand of Standard_D8s_v6, of {burst.page_day} \(.*\), is taken for 2023-05-01",
        said.message,
    )
    assert catalog.vm("D8s_v6", DAY).taken_back == () == findings(Setup(VM(size="D8s_v6")), DAY)


def test_an_older_page_that_prints_something_else_stands() -> None:
    """The temp disk of the Edsv4 was one limit with the cache on the page of 2020, which has no burst."""
    row = catalog.vm("E8ds_v4", "2019-12-01")
    assert row.best("temp_iops") is row.best("uncached_burst_iops") is None
    assert row.best("cached_bytes_per_s") is not None


def test_no_burst_is_taken_back_to_days_on_which_no_vm_burst() -> None:
    days = ("2017-01-01", "2020-02-02")
    for (size, row), day in product(_rows().items(), days):
        assert not row.best("uncached_burst_iops", day), (size, day)
    lone = catalog.vm("D8s_v6", "2021-06-01")
    assert lone.best("uncached_burst_iops") is None and lone.best("uncached_burst_iops", "2021-06-02")


@needs_facts
def test_what_pages_print_wrong_is_named_and_what_is_not_sure_is_not_taken() -> None:
    errors = _csv(FACTS / "vm_sizes_page_errors.csv")
    listed = (DATA.parent / "SOURCES.md").read_text(encoding="utf-8")
    assert len(errors) == 50
    for error in errors:
        row = catalog.vm(error["name"], DAY)
        assert f"| {error['name']} | {error['field']} | {error['printed']} |" in listed
        name = PRINTED_AS[error["field"]]
        wrong = float(error["printed"]) * (1e6 if name.endswith("bytes_per_s") else 1)
        assert wrong not in [one.value for one in row.limits if one.name == name], error
    slip = catalog.vm("E48nds_v6", DAY).best("uncached_v2_iops")
    assert slip and slip.value == 100_000 and "the page prints 1,000,000" in slip.note
    empty = catalog.vm("E192ids_v6", DAY)
    assert empty.best("uncached_burst_iops") is None
    assert [one.from_api for one in empty.figures("uncached_iops")] == [True]


def test_a_day_is_a_day_in_every_file() -> None:
    for name in ("vm_pages.csv", "vm_retirements.csv"):
        for row in _csv(DATA / name):
            for column in ("valid_from", "valid_to", "retires_on"):
                assert not row.get(column) or date.fromisoformat(row[column])


def test_a_verdict_has_what_is_to_be_known_of_the_size() -> None:
    setup, said = resolved(Setup(VM(size="D8s_v3")), "2017-01-01")
    assert setup.vm.uncached.iops and Code.VM_SIZE_RETIRES in [one.code for one in said]
    assert Code.OLDEST_PAGE_TAKEN in [one.code for one in resolved(Setup(VM(size="D8s_v6")), "2023-05-01")[1]]
