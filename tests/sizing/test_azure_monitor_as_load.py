"""What Azure Monitor tells of a VM's disks becomes a load: of all its disks, each once."""

import json
from collections.abc import Mapping

from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.sizing.telemetry import Telemetry, telemetry

METRICS = {
    "Read Operations/Sec": 1,
    "Write Operations/Sec": 2,
    "Read Bytes/sec": 4096,
    "Write Bytes/sec": 8192,
}
VM = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/v"


def answer(objects: Mapping[str, float | Mapping[int, float]]) -> str:
    """An answer with the four metrics of each object: its IOPS, or those of each LUN."""
    metrics = []
    for name, told in objects.items():
        of_luns = {str(lun): iops for lun, iops in told.items()} if isinstance(told, Mapping) else {"": told}
        for metric, factor in METRICS.items():
            series = [
                {
                    "data": [
                        {"timeStamp": f"2026-11-20T10:0{n}:00Z", "average": iops * factor} for n in range(3)
                    ],
                    "metadatavalues": [{"name": {"value": "LUN"}, "value": lun}] if lun else [],
                }
                for lun, iops in of_luns.items()
            ]
            path = f"{VM}/providers/Microsoft.Insights/metrics/{name} {metric}"
            metrics.append({"id": path, "name": {"value": f"{name} {metric}"}, "timeseries": series})
    return json.dumps({"interval": "PT1M", "value": metrics})


def sized(*answers: str) -> Telemetry:
    return telemetry(registry.read(Source("monitor.json", "\n".join(answers).encode())))


def test_the_disk_of_the_system_counts_beside_the_data_disks() -> None:
    data, system = {"Data Disk": {0: 100.0, 1: 50.0}}, {"OS Disk": 30.0}
    for found in (sized(answer(data | system)), sized(answer(data), answer(system))):
        assert found.history.read_iops.tolist() == [180] * 3
        assert found.history.write_bytes_per_s.tolist() == [180 * 8192] * 3
    assert sized(answer(system)).history.read_iops.tolist() == [30] * 3


def test_the_sum_of_a_vm_counts_where_its_disks_are_not_told() -> None:
    whole = {"Disk": 200.0}
    assert sized(answer(whole | {"OS Disk": 30.0})).history.read_iops.tolist() == [200] * 3
    assert sized(answer(whole | {"Data Disk": {0: 100.0}})).history.read_iops.tolist() == [100] * 3
