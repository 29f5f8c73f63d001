"""What `azbench plan` says of host caching on the VM size of a measurement file."""

from pathlib import Path

import pytest

from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.planning import forecast

FILE = """\
title: Cached
region: westeurope
as_of: 2026-11-20
vm: VM
zone: 1
disks:
  data: {sku: Premium_LRS, size: 128GiB, caching: ReadOnly}
workloads:
  reads: {rw: randread, bs: 4k, iodepth: 16, size: 6m, runtime: 4}
"""


@pytest.mark.parametrize(
    ("vm", "said"),
    [
        ("Standard_D8s_v3", None),
        ("Standard_D8s_v5", "Standard_D8s_v5 supports host caching"),
        ("Standard_L8s_v3", "Standard_L8s_v3 does not support host caching of data disks"),
    ],
)
def test_the_plan_says_where_host_caching_is_denied_or_has_no_limit(
    tmp_path: Path, vm: str, said: str | None
) -> None:
    (tmp_path / "file.yaml").write_text(FILE.replace("VM", vm))
    found = forecast.of(measurement_file.load(tmp_path / "file.yaml"), "")
    assert len(found.remarks) == (said is not None)
    assert all(remark.startswith(said or "") for remark in found.remarks)
    lines = list(found.lines())
    assert set(found.remarks) <= set(lines) and found.to_json()["remarks"] == list(found.remarks)
