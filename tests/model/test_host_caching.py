"""Host caching on sizes that support it with and without a documented limit, deny it, or say nothing."""

import pytest

from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code
from azbenchlib.core.units import MB
from azbenchlib.model import host_caching
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.notation import parse_disks
from azbenchlib.model.setup import VM, Cap, Setup
from azbenchlib.verdict.limit_sources import resolved

DAY = "2026-11-23"
NOT_DOCUMENTED = (
    "Standard_D8s_v5 supports host caching (azure-compute-docs dsv5-series.md@005f8f6e, 2026-02-27), but its "
    "cached limit is not documented; the API's limit of cache and temp disk may not hold for cached disks"
)
DENIED = (
    "Standard_L8s_v3 does not support host caching of data disks "
    "(azure-compute-docs lsv3-series.md@05e75b14, 2024-07-31)"
)


def setup(size: str, *disks: str) -> Setup:
    return Setup(VM(size=size), parse_disks(disks), DAY)


@pytest.mark.parametrize(
    ("size", "disk", "said"),
    [
        ("Standard_E8ds_v4", "P30:ReadOnly", None),
        ("Standard_D8s_v5", "P30:ReadOnly", NOT_DOCUMENTED),
        ("Standard_D8s_v5", "os:P10:ReadWrite", NOT_DOCUMENTED),
        ("Standard_D8s_v5", "P30", None),
        ("Standard_L8s_v3", "P30:ReadOnly", DENIED),
        ("Standard_L8s_v3", "os:P10:ReadWrite", None),  # the pages speak of data disks
        (
            "Standard_D8_v5",
            "S30:ReadOnly",
            "whether Standard_D8_v5 supports host caching is not documented; the API's limit of cache and "
            "temp disk may not hold for cached disks",
        ),
        (
            "Standard_HB120rs_v2",  # the API states a cache size and no limit
            "P30:ReadOnly",
            "Standard_HB120rs_v2 supports host caching (policy_templates azure_compute_instance_types.json"
            "@5bb88c4b, 2026-08-17), but its cached limit is not documented",
        ),
        ("Standard_E64is_v3", "P30:ReadOnly", None),  # a page prints its cached limit
        ("Standard_D8s_v99", "P30:ReadOnly", None),
    ],
)
def test_the_remark_says_what_is_known(size: str, disk: str, said: str | None) -> None:
    assert host_caching.remark(setup(size, disk), DAY) == said


def test_caching_is_refused_where_its_page_denies_it() -> None:
    with pytest.raises(InputError) as refused:
        resolve(setup("Standard_L8s_v3", "P30", "P20:ReadOnly"), DAY)
    assert str(refused.value) == f"disk 'P20:ReadOnly': {DENIED}; use None"
    assert host_caching.denied_of("l8s_v3") == DENIED
    assert host_caching.denied_of("D8s_v5") is host_caching.denied_of("no-such-size") is None


def test_what_is_supported_unknown_or_an_os_disk_is_not_refused() -> None:
    for size, disk in (
        ("Standard_D8s_v5", "P30:ReadOnly"),
        ("Standard_D8_v5", "S30:ReadOnly"),
        ("Standard_L8s_v3", "os:P10:ReadWrite"),
    ):
        (full,) = resolve(setup(size, disk), DAY).disks
        assert full.caching != "None"


def test_limits_that_are_stated_need_no_catalogue() -> None:
    vm = VM(size="Standard_L8s_v3", cached=Cap(iops=1_000, bytes_per_s=10 * MB))
    own = Setup(vm, parse_disks(["P30:ReadOnly"]), DAY)
    assert resolve(own, DAY).disks[0].caching == "ReadOnly"
    assert host_caching.remark(own, DAY) is None and host_caching.without_denied(own, DAY) is own


def test_a_verdict_leaves_out_the_caching_that_is_denied_and_keeps_the_limits() -> None:
    full, (finding,) = resolved(setup("Standard_L8s_v3", "P30:ReadOnly"), DAY)
    assert (finding.code, finding.message) == (Code.HOST_CACHING_DOUBTFUL, DENIED)
    assert full.disks[0].caching == "None" and full.vm.uncached.iops == 12_800


def test_a_verdict_doubts_a_cached_limit_that_is_not_documented() -> None:
    full, (finding,) = resolved(setup("Standard_D8s_v5", "P30:ReadOnly"), DAY)
    assert (finding.code, finding.message) == (Code.HOST_CACHING_DOUBTFUL, NOT_DOCUMENTED)
    assert full.disks[0].caching == "ReadOnly"
    assert resolved(setup("Standard_E8ds_v4", "P30:ReadOnly"), DAY)[1] == ()
