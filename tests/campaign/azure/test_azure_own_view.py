"""Azure's own view of a run: asked for before the VM goes, kept as it is, and evidence for the verdict."""

import html
from pathlib import Path

import pytest
from fake_azure.campaigns import SMALL, measured_and_told
from fake_azure.identity import SUBSCRIPTION
from fake_azure.login import Azure

from azbenchlib import Report
from azbenchlib.campaign.targets.azure import cloud, commands, money
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.formats.azure_monitor import TOOL
from azbenchlib.verdict.run_verdicts import judge_runs

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]


def test_no_call_asks_for_more_metrics_than_azure_answers() -> None:
    for names in cloud.METRIC_FILES.values():
        assert len(names) == len(set(names)) <= 20
    assert all(name.startswith("Data Disk ") for name in commands.DISK_METRICS)


@pytest.mark.long
@pytest.mark.parametrize("refused", [False, True])
def test_the_metrics_of_a_run_are_kept_and_judged(
    signed_in: Azure, small: Path, monkeypatch: pytest.MonkeyPatch, refused: bool
) -> None:
    monkeypatch.setattr(money, "MONITORED_S", 0.0)
    monkeypatch.setattr(cloud, "MONITOR_PAUSE_S", 0.1)
    small.write_text(SMALL.replace("  data:", "  more: {sku: StandardSSD_LRS, size: 8GiB}\n  data:"))
    signed_in.arm.metrics_late = 3  # figures come minutes after what they tell of
    signed_in.arm.metrics |= {
        "VM Uncached IOPS Consumed Percentage": 41.0,
        "Data Disk IOPS Consumed Percentage": 99.5,
        "Data Disk Read Operations/Sec": 120.0,
        "Data Disk Used Burst IO Credits Percentage": 12.5,
    }
    if refused:
        signed_in.faults.refuse(
            "GET", "Microsoft.Insights/metrics", "AuthorizationFailed", status=403, times=9
        )
    folder, told = measured_and_told(small)
    assert not signed_in.arm.resources
    files = sorted(path.name for path in folder.glob("raw/*/azure-monitor-*.json"))
    found = Dataset.load(folder)
    if refused:
        assert files == []
        assert [text for text in told if text.startswith("Azure Monitor was not read: ")]
        return
    assert files == ["azure-monitor-disks.json", "azure-monitor-vm.json"]
    assert SUBSCRIPTION not in "".join(path.read_text() for path in folder.glob("raw/*/*.json"))
    samples = found.samples[found.samples["object"].notna()]
    assert {"LUN 0", "LUN 1", "VM uncached"} <= set(samples["object"])
    assert dict(found.disks[["disk", "lun"]].itertuples(index=False)) == {"more": 0, "data": 1}
    assert found.runs.loc[found.runs["tool"] == TOOL, "setup_id"].notna().all()
    judged = judge_runs(found.tables)
    assert len(judged) == 2
    for one in judged:
        (flow,) = one.run.flows
        assert flow.observation.consumed_pct == {
            **{
                "vm_uncached_iops": 41.0,
                "vm_uncached_mbps": 0.0,
                "vm_cached_iops": 0.0,
                "vm_cached_mbps": 0.0,
            },
            **{"disk_iops": 99.5, "disk_mbps": 0.0},
        }
        assert flow.observation.credits_used_pct["disk_iops"] == 12.5
        assert flow.observation.monitor_iops == 120.0
    said = html.unescape(Report([str(folder)]).over_time().html).replace("\u00a0", " ")
    used = "Disk IOPS 100 %; VM uncached IOPS 41 %."
    assert f"Azure Monitor: the most that a minute used of each limit: {used}" in said
    assert "Used, % (Azure Monitor)" in said
