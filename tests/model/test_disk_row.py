"""Disks as rows of their table: one mapping to and from the model, and nothing lost on the way."""

from dataclasses import fields, replace

import pandas as pd
import pytest

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.model.disk_row import DiskRow
from azbenchlib.model.notation import parse_disks

ROW = {"disk": "d", "role": "data", "sku": "Premium_LRS", "size_bytes": 2**30, "count": 2, "stripe": "RAID 0"}


def test_a_row_has_the_columns_of_its_table() -> None:
    assert [field.name for field in fields(DiskRow)] == [
        name for name in schema.TABLES["disks"].columns if name != "setup_id"
    ]


@pytest.mark.parametrize("missing", [None, pd.NA, float("nan")])
def test_what_is_missing_is_left_out_both_ways(missing: object) -> None:
    found = DiskRow.from_row({**ROW, "setup_id": "s", "tier": missing, "lun": missing})
    assert found.tier is None
    assert found.to_row() == ROW


def test_values_have_the_types_of_their_columns() -> None:
    found = DiskRow.from_row({"disk": 7, "size_bytes": 1e9, "bursting": False})
    assert found.to_row() == {"disk": "7", "size_bytes": 1_000_000_000, "bursting": False}
    assert isinstance(found.size_bytes, int)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"disk": "d", "cache": "None"}, r"table disks has no column \['cache'\]"),
        ({"disk": "d", "count": 0}, "disks.count: value '0' is not a whole number of at least 1"),
        ({"disk": "d", "host_caching": "on"}, "disks.host_caching: value 'on' is not one of: None, ReadOnly"),
        ({"disk": None}, "disks.disk: every disk needs a name"),
    ],
)
def test_a_fault_is_named(row: dict[str, object], fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        DiskRow.from_row(row)


def test_a_disk_of_the_model_comes_back_from_its_row() -> None:
    texts = ["P30x3:ReadOnly:noburst", "ultra:128GiB/10000iops/50MBps", "temp", "nvme", "ephemeral:temp"]
    for disk in parse_disks(texts):
        back = DiskRow.from_row(DiskRow.from_disk(disk, "x").to_row()).to_disk()
        sku = f"local, {disk.place}" if disk.local else disk.sku
        assert back.place == disk.place
        assert back == replace(disk, name="x", sku=sku, placement=back.placement)
