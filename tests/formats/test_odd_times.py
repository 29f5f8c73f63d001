"""Times that no telemetry has: before 1970, in the year 9999, far apart; none ends or fills anything."""

import json
from pathlib import Path

import pandas as pd
import pytest

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code
from azbenchlib.dataset.log_windows import read_windows
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.sizing.telemetry import telemetry

METRIC = "/subscriptions/x/resourceGroups/y/providers/Microsoft.Compute/virtualMachines/v/providers/"
METRIC += "Microsoft.Insights/metrics/Data Disk Read Operations/Sec"


def monitored(*moments: str) -> Source:
    data = [{"timeStamp": moment, "average": 5.0} for moment in moments]
    metric = {"id": METRIC, "name": {"value": "Data Disk Read Operations/Sec"}}
    series = [{"data": data, "metadatavalues": [{"name": {"value": "lun"}, "value": "0"}]}]
    return Source(
        "m.json", json.dumps({"interval": "PT1M", "value": [metric | {"timeseries": series}]}).encode()
    )


@pytest.mark.parametrize(
    "moment",
    [
        *(
            "9999-12-31T23:59:30Z",
            "0001-01-01T00:00:00+14:00",
            "1969-12-31T23:59:59Z",
            "2200-01-01T00:00:00Z",
        ),
        *("2026-06-30T23:59:60Z", "0000-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "-2026-01-01T00:00:00Z"),
    ],
)
def test_a_point_of_azure_monitor_at_no_time_is_left_out(moment: str) -> None:
    tables = registry.read(monitored(moment, "2026-06-01T10:00:00Z", "2026-06-01T10:01:00Z"))
    assert list(tables["samples"]["t_s"]) == [0, 60]
    assert list(tables["findings"]["code"]) == [Code.ROW_NOT_READ]
    assert registry.read(monitored(moment))["samples"].empty


def perfmon(*stamps: str) -> bytes:
    header = '"(PDH-CSV 4.0) (UTC)(0)","\\\\\\\\VM\\\\PhysicalDisk(0 C:)\\\\Disk Reads/sec"'.replace(
        "\\\\", "\\"
    )
    return "\r\n".join([header, *(f'"{stamp}","5"' for stamp in stamps), ""]).encode()


@pytest.mark.parametrize(
    "stamp", ["12/31/9999 23:59:59.000", "01/01/0001 00:00:00.000", "12/31/1969 23:59:59.000"]
)
def test_a_report_of_perfmon_at_no_time_is_left_out(stamp: str) -> None:
    good = ("06/01/2026 10:00:00.000", "06/01/2026 10:00:15.000", "06/01/2026 10:00:30.000")
    tables = registry.read(Source("p.csv", perfmon(*good, stamp)))
    assert Code.ROW_NOT_READ in set(tables["findings"]["code"])
    assert tables["demand"]["t_s"].between(1.7e9, 1.8e9).all() and not tables["demand"].empty


def test_a_trace_of_blkparse_of_a_month_does_not_fill_the_memory() -> None:
    line = "8,{}    0        {}  {:>8}.000000000  1  D   R {} + 8 [x]"
    lines = [line.format(disk, disk, second, disk) for disk in range(50) for second in (0, 2_600_000)]
    (demand,) = [registry.read(Source("t.txt", "\n".join(lines).encode()))["demand"]]
    assert len(demand) == 100 and set(demand["t_s"]) == {0.0, 2_600_000.0}


def test_logs_of_fio_whose_times_are_out_of_all_proportion_are_refused(tmp_path: Path) -> None:
    times = (1000, 2000, 3000, 10**15 - 1)
    for kind in ("iops", "bw"):
        (tmp_path / f"j_{kind}.1.log").write_text("".join(f"{ms}, 5, 0, 0, 0\n" for ms in times))
    tables = {
        kind: registry.read(Source.of(tmp_path / f"j_{kind}.1.log"))["samples"] for kind in ("iops", "bw")
    }
    samples = [table.assign(run_id="r") for table in tables.values()]
    runs = pd.DataFrame(
        {"run_id": ["r"], "tool": ["fio"], "source_path": ["j.json"], "host": [None], "job": ["j"]}
    )
    empty = registry.read(Source("t.txt", b""))
    given = empty | {"runs": schema.conform("runs", runs), "samples": pd.concat(samples)}
    with pytest.raises(InputError, match="10,000,000 intervals are the most"):
        telemetry(given, interval_s=60.0)


def test_windows_of_a_log_of_the_year_33658_are_read(tmp_path: Path) -> None:
    log = tmp_path / "j_lat.1.log"
    log.write_text("".join(f"{10**15 - 5 + n}, 100, 0, 4096, 0\n" for n in range(4)))
    (row,) = read_windows([log], width_ms=1000, percentiles=[50]).rows
    assert row["n"] == 4
