"""Disks that are none of Azure's, as those of this machine and of hosts, are not judged as if they were."""

from pathlib import Path

import pytest

from azbenchlib.campaign import host
from azbenchlib.core import schema
from azbenchlib.core.findings import Code
from azbenchlib.dataset import manifest
from azbenchlib.model.descriptions import stated_setup
from azbenchlib.verdict.run_verdicts import resolved_setup

DAY = "2026-01-01"


def _limits(environment: str, **disk: object) -> tuple[float | None, list[Code]]:
    """The IOPS of a disk that a dataset tells of, and what is found to be doubtful."""
    tables = {
        "setups": schema.frame("setups", [{"setup_id": "s", "environment": environment}]),
        "disks": schema.frame("disks", [{"setup_id": "s", "disk": "d", "role": "data", **disk}]),
    }
    setup, findings = resolved_setup(stated_setup(tables, "s"), DAY, nvme=False)
    return setup.disks[0].cap.iops, [finding.code for finding in findings]


def test_what_azbench_says_of_this_machine_is_no_sku(tmp_path: Path) -> None:
    tables = manifest.tables([host.describe(tmp_path)])
    setup, findings = resolved_setup(stated_setup(tables, host.SETUP_ID), DAY, nvme=False)
    assert findings == ()
    assert not setup.disks[0].in_azure


@pytest.mark.parametrize("environment", ["local", "other"])
def test_outside_azure_only_what_is_called_an_azure_disk_has_documented_limits(environment: str) -> None:
    assert _limits(environment, sku="ext4", size_bytes=2**40) == (None, [])
    assert _limits(environment, sku="xfs and ext4") == (None, [])
    assert _limits(environment, sku="Premium_LRS", size_bytes=2**40) == (5000, [])
    assert _limits(environment, tier="P30") == (5000, [])
    assert _limits(environment, role="temp", sku="local, temp") == (None, [])


def test_in_azure_a_sku_that_is_none_is_named() -> None:
    assert _limits("azure", sku="Premum_LRS", size_bytes=2**40) == (None, [Code.LIMITS_NOT_KNOWN])
