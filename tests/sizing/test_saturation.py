"""Disks that gave all they could while they were recorded are named, whatever recorded them."""

import json
from pathlib import Path

import pytest

from azbenchlib.dataset.dataset import Dataset
from azbenchlib.sizing.saturation import sentence
from azbenchlib.sizing.telemetry import Telemetry, telemetry


def read(path: Path, interval_s: float | None = None) -> Telemetry:
    return telemetry(Dataset.read(path).tables, interval_s=interval_s)


def iostat_json(await_ms: float, queue: float, util: float) -> str:
    disk = {"disk_device": "sdc", "r/s": 3500.0, "w/s": 1500.0, "rkB/s": 28000.0, "wkB/s": 12000.0}
    disk |= {"r_await": await_ms, "w_await": await_ms, "aqu-sz": queue, "util": util}
    reports = [{"timestamp": f"11/20/26 10:{minute:02}:00", "disk": [disk]} for minute in range(10)]
    host = {"nodename": "hosta", "sysname": "Linux", "release": "6.1.0", "machine": "x86_64"}
    host |= {"number-of-cpus": 2, "date": "11/20/26", "statistics": reports}
    return json.dumps({"sysstat": {"hosts": [host]}})


def sar_text(await_ms: float, queue: float, util: float) -> str:
    head = "Linux 6.1.0 (hosta) \t11/20/2026 \t_x86_64_\t(2 CPU)\n\n"
    columns = (
        "{}          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util\n"
    )
    rows = [columns.format("10:00:00 AM")]
    rows += [
        f"10:{minute:02}:00 AM       sdc   5000.00  28000.00  12000.00      0.00      8.00    {queue:.2f}"
        f"    {await_ms:.2f}    {util:.2f}\n"
        for minute in range(1, 11)
    ]
    return head + "".join(rows)


def perfmon_csv(await_ms: float, queue: float, _util: float) -> str:
    disk = r"\\HOSTA\PhysicalDisk(1 F:)"
    counters = ("Disk Reads/sec", "Disk Writes/sec", "Disk Read Bytes/sec", "Disk Write Bytes/sec")
    counters += ("Avg. Disk sec/Transfer", "Avg. Disk Queue Length")
    values = (3500, 1500, 28_000_000, 12_000_000, await_ms / 1000, queue)
    names = ['"(PDH-CSV 4.0) (W. Europe Standard Time)(-60)"', *(f'"{disk}\\{one}"' for one in counters)]
    rows = [
        ",".join([f'"11/20/2026 10:{minute:02}:00.000"', *(f'"{value}"' for value in values)])
        for minute in range(11)
    ]
    return "\n".join([",".join(names), *rows]) + "\n"


FORMS = {"iostat.json": iostat_json, "sar.txt": sar_text, "perfmon.csv": perfmon_csv}


@pytest.mark.parametrize("name", FORMS)
def test_a_disk_that_lets_wait_is_named_with_how_long_and_how_much(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(FORMS[name](51.0, 255.8, 100.0))
    (one,) = read(path).held_back
    assert one.seconds == one.of_s > 500
    assert (one.lat_us, one.queue_depth) == pytest.approx((51_000, 255.8))
    told = sentence([one]).replace("\N{NO-BREAK SPACE}", " ")
    assert "256 I/Os were outstanding and took 51 ms. The load on a faster design is higher than" in told


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        *((name, figures) for name in FORMS for figures in ((2.0, 10.0, 100.0), (51.0, 1.0, 100.0))),
        *(
            (name, (51.0, 255.8, 40.0)) for name in ("iostat.json", "sar.txt")
        ),  # the others tell no such share
    ],
)
def test_a_disk_that_has_room_is_not_named(
    name: str, figures: tuple[float, float, float], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(FORMS[name](*figures))
    assert read(path).held_back == ()


def test_a_time_without_ios_is_no_evidence(tmp_path: Path) -> None:
    """Counters may tell the latency and the queue of a disk that completed nothing."""
    path = tmp_path / "perfmon.csv"
    path.write_text(perfmon_csv(51.0, 255.8, 100.0).replace('"3500"', '"0"').replace('"1500"', '"0"'))
    assert read(path).held_back == ()


def monitor_json(consumed: float) -> str:
    metrics = {"Data Disk Read Operations/Sec": 3500.0, "Data Disk Write Operations/Sec": 1500.0}
    metrics |= {"Data Disk Read Bytes/sec": 28e6, "Data Disk Write Bytes/sec": 12e6}
    metrics |= {"Data Disk IOPS Consumed Percentage": consumed}
    identity = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/vm1"
    value = [
        {
            "id": f"{identity}/providers/Microsoft.Insights/metrics/{name}",
            "type": "Microsoft.Insights/metrics",
            "name": {"value": name, "localizedValue": name},
            "unit": "CountPerSecond",
            "timeseries": [
                {
                    "metadatavalues": [{"name": {"value": "lun"}, "value": "0"}],
                    "data": [
                        {"timeStamp": f"2026-11-20T10:{minute:02}:00Z", "average": figure}
                        for minute in range(10)
                    ],
                }
            ],
        }
        for name, figure in metrics.items()
    ]
    return json.dumps({"interval": "PT1M", "namespace": "Microsoft.Compute/virtualMachines", "value": value})


def test_azure_monitor_tells_which_limit_was_used_up(tmp_path: Path) -> None:
    path = tmp_path / "monitor.json"
    path.write_text(monitor_json(99.6))
    (one,) = read(path).held_back
    assert (one.device, one.limit, one.seconds) == ("LUN 0", "IOPS", 600)
    assert "used up its IOPS for 10 min of 10 min" in sentence([one]).replace("\N{NO-BREAK SPACE}", " ")
    path.write_text(monitor_json(60.0))
    assert read(path).held_back == () and sentence(()) == ""
