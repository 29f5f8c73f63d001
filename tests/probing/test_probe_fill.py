"""All data is read once before a probe, part by part, where a cache could change what is measured."""

import pytest

from azbenchlib.campaign.stated_probe import LAB_TARGET, ProbeTerms, stated_request
from azbenchlib.core.units import GIB, MIB
from azbenchlib.probing.cache import FILL_BYTES
from azbenchlib.probing.fill import EMULATED_BYTES, EMULATED_PARTS, MOST_FILL_S, Fill, FillShown


def test_parts_cover_the_data_in_their_order_and_in_the_time_of_all() -> None:
    fill = Fill(size_bytes=64 * MIB + FILL_BYTES // 2, parts=4)
    runs = fill.runs()
    assert [run.offset_bytes for run in runs] == [0, 16 * MIB, 32 * MIB, 48 * MIB]
    assert {run.part_bytes for run in runs} == {16 * MIB}
    assert sum(run.seconds for run in runs) == MOST_FILL_S
    assert len({run.name for run in runs}) == 4
    for run in runs:
        assert fill.next() == run
        fill.tell(FillShown(run=run, read_bytes=run.part_bytes))
    assert fill.next() is None


def test_a_slow_disk_is_not_read_on_and_no_data_needs_no_run() -> None:
    fill = Fill(size_bytes=64 * MIB, parts=4)
    first = fill.runs()[0]
    fill.tell(FillShown(run=first, read_bytes=first.part_bytes - FILL_BYTES))
    assert fill.next() is None
    assert Fill(size_bytes=FILL_BYTES - 1).next() is None


@pytest.mark.parametrize(
    ("disk", "cache", "size_bytes"),
    [
        ("P30:ReadOnly", False, EMULATED_BYTES),
        ("P30:ReadWrite", True, GIB),  # what is looked for may be larger
    ],
)
def test_an_emulated_disk_with_a_cache_is_read_in_parts(disk: str, cache: bool, size_bytes: int) -> None:
    asked = stated_request(LAB_TARGET, vm="Standard_E8ds_v4", disks=[disk])
    probed, fill = ProbeTerms(cache=cache).filled(asked)
    assert fill == Fill(size_bytes=size_bytes, parts=EMULATED_PARTS)
    assert probed.size_bytes == size_bytes


def test_what_has_no_cache_or_is_dear_is_not_read_before() -> None:
    asked = stated_request(LAB_TARGET, disks=["P30"])
    assert ProbeTerms().filled(asked) == (asked, None)
    asked = stated_request("azure", vm_id="an-id")
    assert ProbeTerms().filled(asked) == (asked, None)
    asked = stated_request("/mnt/data", size="2GiB")
    assert ProbeTerms().filled(asked) == (asked, Fill(size_bytes=2 * GIB))
