"""What Microsoft's pages say of host caching, as the catalogue holds it: each size with its page."""

import csv
import re

import pytest

from azbenchlib.azure import catalog
from azbenchlib.azure.catalog import skus
from azbenchlib.azure.catalog.files import DATA

DAY = "2026-11-23"
ROWS = list(csv.DictReader((DATA / "vm_caching.csv").open(encoding="utf-8")))


def test_every_size_is_stated_once_by_a_dated_page() -> None:
    sizes = [row["size"] for row in ROWS]
    assert len(sizes) == len(set(sizes)) == 811 and {row["caching"] for row in ROWS} == {"True", "False"}
    for name in {row["source_id"] for row in ROWS} | {"constrained-vcpu@4efd854f"}:
        page = catalog.source(name)
        assert page.repository.startswith("MicrosoftDocs/azure-") and page.path.endswith(".md")
        assert len(page.commit) == 40 and "2020" <= page.date < DAY


def test_no_page_contradicts_what_the_api_states() -> None:
    for row in ROWS:
        known = catalog.vm(row["size"], DAY)
        assert known.caching is (row["caching"] == "True"), row
        assert known.caching_source == row["source_id"] and not known.cached_limit_documented, row


def test_the_api_s_limit_is_dropped_for_just_the_sizes_that_pages_deny() -> None:
    """A refresh tells sizes apart by their names alone."""
    denied = {row["size"] for row in ROWS if row["caching"] == "False"}
    every = {row.size for row in catalog.every_vm(DAY)}
    assert {size for size in every if skus.caches_data_disks(size, False) is False} == denied & every
    assert all(catalog.vm(size, DAY).best("cached_iops") is None for size in denied)


@pytest.mark.parametrize(
    ("size", "caching", "documented", "source"),
    [
        ("E8ds_v4", True, True, "sku-api-2026-08-17"),
        ("E64is_v3", None, True, None),  # a page prints its cached limit, and the API no longer lists it
        ("HB120rs_v2", True, False, "sku-api-2026-08-17"),  # a cache size, and no limit
        ("D8s_v5", True, False, "dsv5-series@005f8f6e"),
        ("E32-8s_v6", True, False, "esv6-series@8f7fc3d6"),
        ("L80s_v4", True, False, "lsv4-series@05e75b14"),
        ("L96s_v4", False, False, "lsv4-series@05e75b14"),
        ("DC8s_v3", False, False, "dcsv3-series@075a2681"),
        ("D8_v5", None, False, None),  # its page denies Premium storage, and so says nothing of other disks
        ("D192ds_v6", None, False, None),  # not in its page's table
    ],
)
def test_supported_denied_and_unknown(
    size: str, caching: bool | None, documented: bool, source: str | None
) -> None:
    row = catalog.vm(size, DAY)
    assert (row.caching, row.cached_limit_documented, row.caching_source) == (caching, documented, source)


def test_a_constrained_size_is_as_its_base() -> None:
    stated = {row["size"]: row for row in ROWS}
    constrained = [row for row in catalog.every_vm(DAY) if row.parent in stated]
    assert len(constrained) == 172
    for row in constrained:
        assert row.parent and row.parent == re.sub(r"-\d+", "", row.size)
        assert row.caching_source == stated[row.parent]["source_id"]
