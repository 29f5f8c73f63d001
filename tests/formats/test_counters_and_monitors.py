"""nmon, dstat, vmstat and node_exporter: what each leaves unsaid, and what is refused with a reason."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from azbenchlib.core.findings import Code
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.sizing.telemetry import telemetry

DATA = Path(__file__).parents[1] / "data"


def read(text: str) -> dict[str, pd.DataFrame]:
    return registry.read(Source("telemetry.txt", text.encode()))


def codes(tables: dict[str, pd.DataFrame]) -> set[str]:
    return set(tables["findings"]["code"])


def without_ids(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    return tables["demand"].drop(columns=["telemetry_id", "source_path"])


NMON = """AAA,progname,topas_nmon
AAA,host,aix1
AAA,time,10:00.00
AAA,date,20-NOV-2026
DISKREAD,Disk Read KB/s aix1,hdisk0
DISKREAD1,Disk Read KB/s aix1,hdisk1
DISKXFER,Disk transfers per second aix1,hdisk0
DISKRIO,Disk IO Reads per second aix1,hdisk0
DISKWIO,Disk IO Writes per second aix1,hdisk0
ZZZZ,T0001,10:01:00,20-NOV-2026
DISKREAD,T0001,17.5
DISKREAD1,T0001,8
DISKXFER,T0001,2.0
DISKRIO,T0001,0.2
DISKWIO,T0001,1.8
ZZZZ,T0002,10:02:00,20-NOV-2026
DISKREAD,T0002,16
DISKREAD1,T0002
"""


def test_sections_of_nmon_name_their_own_disks() -> None:
    tables = read(NMON)
    first, other, last = tables["demand"].to_dict("records")
    assert (first["device"], first["read_bytes_per_s"], first["iops"]) == ("hdisk0", 17.5 * 1024, 2)
    assert (first["read_iops"], first["write_iops"], first["interval_s"]) == (0.2, 1.8, 60)
    assert (other["device"], other["read_bytes_per_s"]) == ("hdisk1", 8 * 1024)
    assert (last["device"], last["read_bytes_per_s"]) == ("hdisk0", 16 * 1024)
    assert Code.ROW_NOT_READ in codes(tables)  # the last line is cut


def test_a_sorted_file_of_nmon_is_the_same() -> None:
    text = (DATA / "nmon" / "linux.nmon").read_text()
    titles_first = sorted(
        text.splitlines(), key=lambda line: (line.split(",")[0], line.split(",")[1][:1] == "T", line)
    )
    pd.testing.assert_frame_equal(without_ids(read("\n".join(titles_first))), without_ids(read(text)))


def test_several_files_of_nmon_below_each_other() -> None:
    found = read(NMON + NMON.replace("20-NOV", "21-NOV").replace("hdisk", "disk"))["demand"]
    assert found["device"].tolist() == ["hdisk0", "hdisk1", "hdisk0", "disk0", "disk1", "disk0"]
    assert set(found["interval_s"]) == {60}


DSTAT = """"Dstat 0.7.3 CSV output"
"Author:","Dag Wieers <dag@wieers.com>",,,,"URL:","http://dag.wieers.com/home-made/dstat/"
"Host:","db1",,,,"User:","root"
"Cmdline:","dstat {options} --output log.csv{delay}",,,,"Date:","20 Nov 2026 10:00:00 UTC"

{titles}
"""


def dstat(options: str, delay: str, titles: str, *rows: str) -> str:
    return DSTAT.format(options=options, delay=delay, titles=titles) + "\n".join(rows) + "\n"


def test_the_delay_of_the_command_line_is_the_interval_where_no_time_is_printed() -> None:
    titles = '"dsk/total",,"io/total",\n"read","writ","read","writ"'
    rows = ("9,9,9,9", "4096.0,8192.0,1.0,2.0", "8192.0,4096.0,2.0,1.0")
    for delay, seconds in ((" 30", 30), (" 30 3", 30), ("", 1)):
        found = read(dstat("-dr", delay, titles, *rows))["demand"]
        assert found["interval_s"].tolist() == [seconds] * 2, delay
        assert found["read_bytes_per_s"].tolist() == [4096, 8192]
        assert found["write_iops"].tolist() == [2, 1]
    assert telemetry(read(dstat("-dr", " 30", titles, *rows))).history.read_iops.tolist() == [1, 2]


def test_the_year_of_a_time_is_that_of_the_run_and_an_epoch_is_one() -> None:
    titles = '"system","dsk/sda",,"epoch"\n"time","read","writ","epoch"'
    rows = tuple(f"20-11 10:0{n}:00,4096.0,8192.0,{1795168800 + 60 * n}.5" for n in range(3))
    found = read(dstat("-td -T", " 60", titles, *rows))["demand"]
    assert (found["clock"].tolist(), found["t_s"].tolist()) == (["utc"] * 2, [1795168800.5, 1795168860.5])
    without = tuple(row.rpartition(",")[0] for row in rows)
    found = read(dstat("-td", " 60", titles.replace(',"epoch"', ""), *without))["demand"]
    assert (found["clock"].tolist(), found["t_s"].tolist()) == (["local"] * 2, [1795168800, 1795168860])


def test_devices_that_dool_shortens_have_their_names_from_io() -> None:
    titles = (
        '"dsk/nvm01",,"dsk/nvm11",,"io/nvme0n1",,"io/nvme1n1",\n"dsk/nvm01:read","dsk/nvm01:writ",'
        '"dsk/nvm11:read","dsk/nvm11:writ","io/nvme0n1:read","io/nvme0n1:writ","io/nvme1n1:read","io/nvme1n1:writ"'
    )
    found = read(dstat("-dr", " 5", titles, "0,0,0,0,0,0,0,0", "1,2,3,4,5,6,7,8"))["demand"]
    assert found["device"].tolist() == ["nvme0n1", "nvme1n1"]
    assert found["read_bytes_per_s"].tolist() == [1, 3]
    assert found["write_iops"].tolist() == [6, 8]


def test_pcp_dstat_and_a_file_without_disks_are_refused_with_a_reason() -> None:
    titles = '"dsk/total",\n"dsk/total:read","dsk/total:writ"'
    text = dstat("-d", " 5", titles, "0,0", "1,2").replace(
        "Dstat 0.7.3 CSV output", "pcp-dstat 5.0.3 CSV Output"
    )
    for refused in (text, dstat("-c", " 5", '"total cpu usage",\n"usr","sys"', "1,2", "3,4")):
        tables = read(refused)
        assert tables["demand"].empty
        assert codes(tables) == {"no_figures"}


def test_a_run_without_disks_behind_one_with_them() -> None:
    disks = dstat("-d", " 5", '"dsk/sda",\n"read","writ"', "0,0", "1,2")
    processors = dstat("-c", " 5", '"total cpu usage",\n"usr","sys"', "1,2", "3,4")
    found = read(disks + processors)["demand"]
    assert found["read_bytes_per_s"].tolist() == [1]


def test_rows_that_are_cut_are_left_out_and_told() -> None:
    text = (DATA / "dstat" / "dool.csv").read_text()
    tables = read(text[:-30])
    assert len(tables["demand"]) == 2
    assert Code.ROW_NOT_READ in codes(tables)


def test_vmstat_needs_two_readings_with_times() -> None:
    text = (DATA / "vmstat" / "d_t.txt").read_text()
    once = "".join(text.splitlines(keepends=True)[:4])
    untimed = text.replace(" 2026-11-27 00:23:", "").replace("-----timestamp-----", "")
    for refused in (once, untimed):
        tables = read(refused)
        assert tables["demand"].empty
        assert tables["findings"][["code", "severity"]].to_numpy().tolist() == [["counters_once", "warning"]]
    pd.testing.assert_frame_equal(without_ids(read("$ vmstat -d -t 1\n> " + text)), without_ids(read(text)))


def test_a_device_whose_counters_fell_is_left_out_of_that_interval() -> None:
    text = (DATA / "vmstat" / "d_t.txt").read_text().replace("106019", "     9")
    found = read(text)["demand"]
    assert found[found["device"] == "vda"]["read_iops"].tolist() == [141, 106016]


def test_a_lone_scrape_has_no_rate() -> None:
    text = (DATA / "node_exporter" / "scrapes.txt").read_text()
    one = text[: text.index("# HELP go", 10)]
    untimed = "\n".join(line for line in text.splitlines() if not line.startswith("node_time"))
    for refused, why in ((one, "one reading"), (untimed, "no time")):
        tables = read(refused)
        assert tables["demand"].empty
        assert why in tables["findings"]["message"].iloc[0]


def test_times_may_stand_behind_the_values() -> None:
    text = (DATA / "node_exporter" / "scrapes.txt").read_text()
    stamped, n = [], -1
    for line in text.splitlines():
        n += line.startswith("# HELP go")
        if not line.startswith("node_time"):
            stamped.append(line if line.startswith("#") else f"{line} {1795168800000 + 15000 * n}")
    pd.testing.assert_frame_equal(without_ids(read("\n".join(stamped))), without_ids(read(text)))


def answer(*series: dict[str, Any]) -> str:
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": list(series)}})


def test_rates_that_lost_their_name_are_refused() -> None:
    values = [[1795168800, "100"], [1795168860, "100"]]
    for labels in (
        {"device": "sda"},
        {"device": "sda", "__name__": "other"},
        {"__name__": "node_disk_io_now"},
    ):
        tables = read(answer({"metric": labels, "values": values}))
        assert tables["demand"].empty
        assert codes(tables) == {"counters_once"}
    tables = read(json.dumps({"status": "success", "data": {"resultType": "vector", "result": [None, 3]}}))
    assert codes(tables) == {"counters_once"}


def test_hosts_of_one_text_are_told_apart() -> None:
    """As a server's ``/federate`` prints them: by metric, with a label for the host."""
    lines = []
    for n in range(3):
        for name in ("reads_completed", "writes_completed"):
            for host, growth in (("a", 60), ("b", 120)):
                labels = f'device="sda",instance="{host}:9100",job="node"'
                lines.append(f"node_disk_{name}_total{{{labels}}} {growth * n} {1795168800000 + 60000 * n}")
    found = read("\n".join(lines))["demand"]
    assert found.groupby("host")["read_iops"].unique().map(list).to_dict() == {"a:9100": [1], "b:9100": [2]}
    assert set(found["interval_s"]) == {60}


def test_hosts_of_prometheus_are_told_apart() -> None:
    def series(host: str, growth: int) -> dict[str, Any]:
        labels = {"__name__": "node_disk_reads_completed_total", "device": "sda", "instance": host}
        return {"metric": labels, "values": [[1795168800 + 60 * n, str(growth * n)] for n in range(3)]}

    found = read(answer(series("a:9100", 60), series("b:9100", 120)))["demand"]
    assert found.groupby("host")["read_iops"].unique().map(list).to_dict() == {"a:9100": [1], "b:9100": [2]}


@pytest.mark.parametrize(
    "name", ["nmon/linux.nmon", "dstat/dool.csv", "vmstat/d_t.txt", "node_exporter/range.json"]
)
def test_half_a_file_gives_its_first_half(name: str) -> None:
    text = (DATA / name).read_text()
    whole, half = read(text)["demand"], read(text[: len(text) * 4 // 5])["demand"]
    assert len(half) <= len(whole)
