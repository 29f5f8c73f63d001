"""Azure's own view of what was measured: the metrics of a VM and its disks, kept as az answers them."""

import json
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from azbenchlib.azure.az_errors import AzError
from azbenchlib.campaign.targets.azure import commands
from azbenchlib.campaign.targets.azure.cloud import Cloud
from azbenchlib.campaign.targets.azure.money import reckoning
from azbenchlib.campaign.targets.azure.steps import Measure
from azbenchlib.core.files import make_folder, write_atomically
from azbenchlib.core.privacy import masked

LAG_S, MONITOR_PAUSE_S = 300.0, 15.0  # until the figures of a minute are there, and between looks
_CLOSE_S = 120.0  # so long before the end the last figure may be
FILES = {"vm": commands.VM_METRICS, "disks": commands.DISK_METRICS}


def noted(cloud: Cloud, step: Measure) -> None:
    """Note when a setup is measured on which VM, where a workload lasts long enough."""
    if step.workload.max_duration_s >= reckoning.MONITORED_S:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        begun = cloud.run.plan.windows.get(step.setup.name, [step.vm, now])[1]
        cloud.run.plan.windows[step.setup.name] = [step.vm, begun, now]


def collect(cloud: Cloud) -> None:
    """Ask for the metrics of all setups that were measured and are not asked for yet; a refusal is told."""
    for setup, (vm, begun, ended) in list(cloud.run.plan.windows.items()):
        try:
            _collect_setup(cloud, setup, vm, (begun, ended))
        except AzError as error:
            cloud.run.tell(f"Azure Monitor was not read: {error}")
        del cloud.run.plan.windows[setup]
    cloud.run.save()


def _collect_setup(cloud: Cloud, setup: str, vm: str, window: tuple[str, str]) -> None:
    """The metrics of a setup into ``raw/SETUP/``, when all of them are there or their time is over."""
    cloud.run.tell(f"{setup}: Azure Monitor …")
    resource = cloud.az.json(*commands.vm_show(cloud.group, vm))
    resource_id = str(resource["id"]) if isinstance(resource, dict) and "id" in resource else ""
    if not resource_id:
        raise AzError("az vm show: its answer names no VM")
    minute = datetime.fromisoformat(window[0]).replace(second=0)
    ends = datetime.fromisoformat(window[1])
    deadline = time.monotonic() + LAG_S
    for name, metrics in FILES.items():
        argv = commands.metrics(resource_id, metrics, minute, ends + timedelta(minutes=1), name == "disks")
        while True:
            answer = cloud.az.json(*argv)
            if _reaches(answer, ends) or time.monotonic() > deadline:
                break
            time.sleep(MONITOR_PAUSE_S)  # in all much less than the lease lasts
        file = cloud.run.raw / setup / f"azure-monitor-{name}.json"
        make_folder(file.parent)
        write_atomically(file, masked(json.dumps(answer, indent=1)).encode() + b"\n")


def _reaches(answer: Any, ends: datetime) -> bool:
    """Whether an answer has a figure of the last minutes."""
    latest = datetime.min.replace(tzinfo=UTC)
    try:
        for metric in answer["value"]:
            for series in metric["timeseries"]:
                for point in series["data"]:
                    if point.get("average") is not None:
                        latest = max(latest, datetime.fromisoformat(point["timeStamp"]))
    except (TypeError, KeyError, ValueError, AttributeError):
        raise AzError("az monitor metrics list: its answer tells no metrics") from None
    return latest >= ends - timedelta(seconds=_CLOSE_S)
