"""Telemetry: every form of it read right, its traps told, and nothing falls over damage."""

import itertools
import json
import random
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pytest
from measuring import Measurement
from waiting import PATIENCE_S, wait_for

from azbenchlib.core import schema
from azbenchlib.core.findings import Code
from azbenchlib.core.units import MIB
from azbenchlib.formats import registry
from azbenchlib.formats.device_names import sorted_by_role
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data"
FILES = sorted(
    path.with_name(path.name.removesuffix(".demand.csv"))
    for tool in (
        "sysstat",
        "perfmon",
        "blkparse",
        "oracle_awr",
        "powershell",
        "nmon",
        "dstat",
        "vmstat",
        "node_exporter",
    )
    for path in (DATA / tool).glob("*.demand.csv")
)
LINUX = "Linux 6.1.0 (db1) \t11/20/26 \t_x86_64_\t(8 CPU)\n"
HEADER = "Device            r/s     rkB/s     w/s     wkB/s r_await w_await  aqu-sz  %util\n"

OLD = "Device:  rrqm/s wrqm/s r/s w/s rsec/s wsec/s avgrq-sz avgqu-sz await svctm %util"


def read(text: str | bytes, name: str = "telemetry.txt") -> dict[str, pd.DataFrame]:
    return registry.read(Source(name, text if isinstance(text, bytes) else text.encode()))


def codes(tables: dict[str, pd.DataFrame]) -> set[str]:
    return set(tables["findings"]["code"])


def iostat(*reports: str, rows: str = "sda   10.00   40.00   5.00   80.00 0.50 1.00 0.02 1.00") -> str:
    """Text with the reports of these times, and the same rows in each."""
    return LINUX + "".join(f"\n{time}\n{HEADER}{rows}\n\n" for time in reports)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_form_gives_the_figures_of_its_file(path: Path) -> None:
    tables = registry.read(Source.of(path))
    told = pd.read_csv(path.with_name(f"{path.name}.demand.csv"), dtype={"device": "string"})
    expected = schema.conform("demand", told).drop(columns=["telemetry_id", "source_path"])
    found = tables["demand"].drop(columns=["telemetry_id", "source_path"])
    pd.testing.assert_frame_equal(found, expected)
    assert not tables["demand"].duplicated(list(schema.TABLES["demand"].key)).any()


def test_the_average_since_boot_is_left_out_and_a_lone_one_warned_of() -> None:
    several = read(iostat("11/20/26 10:00:00", "11/20/26 10:01:00", "11/20/26 10:02:00"))
    assert several["demand"]["interval_s"].tolist() == [60, 60]
    told = several["findings"].set_index("code")["severity"]
    assert told["since_boot"] == "info"
    lone = read(iostat("11/20/26 10:00:00"))
    assert lone["demand"].empty
    assert lone["findings"].set_index("code")["severity"]["since_boot"] == "warning"


def test_a_pause_is_no_interval() -> None:
    times = [f"11/20/26 10:{minute:02}:00" for minute in (0, 1, 2, 12, 13)]
    tables = read(iostat(*times))
    assert tables["demand"]["interval_s"].tolist() == [60] * 4
    assert tables["demand"]["t_s"].diff().dropna().tolist() == [60, 600, 60]
    assert Code.INTERVALS_MISSING in codes(tables)


def test_times_of_any_form_are_the_same_moments() -> None:
    forms = {
        "local": (["11/20/26 23:59:00", "11/21/26 00:00:00"], ["20.11.2026 23:59:00", "21.11.2026 00:00:00"]),
        "utc": (["2026-11-20T23:59:00+0000", "2026-11-21T00:00:00+0000"],
                ["2026-11-21T00:59:00+01:00", "2026-11-21T01:00:00+01:00"], ["1795219140", "1795219200"]),
    }  # fmt: skip
    for clock, several in forms.items():
        for times in several:
            (row,) = read(iostat(*times))["demand"].to_dict("records")
            assert (row["clock"], row["t_s"], row["interval_s"]) == (clock, 1795219140, 60), times
    (row,) = read(iostat("20/11/2026 11:59:00 PM", "21/11/2026 12:00:00 AM"))["demand"].to_dict("records")
    assert row["t_s"] == 1795219140


def test_sar_passes_midnight_and_restarts() -> None:
    text = LINUX + (
        "\n23:50:01          DEV       tps     rkB/s     wkB/s     await     %util\n"
        "00:00:01          sda      1,50     10.00     20.00      0.50      0.10\n"
        "00:10:01          sda      2.50     10.00     20.00      0.50      0.10\n"
        "\n00:20:00     LINUX RESTART\t(8 CPU)\n"
        "\n00:30:01          DEV       tps     rkB/s     wkB/s     await     %util\n"
        "00:40:01          sda      3.50     10.00     20.00      0.50      0.10\n"
        "Average:          DEV       tps     rkB/s     wkB/s     await     %util\n"
        "Average:          sda      2.50     10.00     20.00      0.50      0.10\n"
    )
    tables = read(text)
    assert tables["demand"]["iops"].tolist() == [1.5, 2.5, 3.5]
    assert tables["demand"]["t_s"].diff().dropna().tolist() == [600, 1800]
    assert tables["demand"]["interval_s"].tolist() == [600] * 3
    assert "row_not_read" not in codes(tables)


def test_old_columns_and_units() -> None:
    text = LINUX + (
        f"\nTime: 10:00:00 AM\n{OLD}\nsda 0.00 0.00 1.00 1.00 8.00 8.00 8.00 0.01 1.00 1.00 0.10\n"
        f"\nTime: 10:01:00 AM\n{OLD}\nsda 0.00 0.00 10.00 5.00 80.00 160.00 8.00 0.25 2.00 1.00 0.10\n"
    )
    (row,) = read(text)["demand"].to_dict("records")
    assert (row["read_bytes_per_s"], row["write_bytes_per_s"]) == (80 * 512, 160 * 512)
    assert (row["lat_us"], row["queue_depth"], row["interval_s"]) == (2000, 0.25, 60)


def test_partitions_and_stacked_devices_are_told() -> None:
    row = "   10.00   40.00   5.00   80.00 0.50 1.00 0.02 1.00"
    rows = "\n".join(name + row for name in ("nvme0n1", "nvme0n1p1", "sda", "sda1", "dm-0", "md127"))
    tables = read(iostat("11/20/26 10:00:00", "11/20/26 10:01:00", rows=rows))
    assert {Code.PARTITIONS_BESIDE_DISK, Code.STACKED_DEVICES} <= codes(tables)
    assert len(tables["demand"]) == 6


def test_devices_by_what_they_are() -> None:
    found = sorted_by_role(["loop0", "sda", "sda1", "sdaa", "nvme0n1", "nvme0n1p2", "dm-3", "sr0", "xvdb1"])
    assert found.disks == ("sda", "sdaa", "nvme0n1", "xvdb1")
    assert (found.partitions, found.stacked) == (("sda1", "nvme0n1p2"), ("dm-3",))
    assert sorted_by_role(["dm-0", "dm-1"]).disks == ("dm-0", "dm-1")
    assert sorted_by_role(["_Total"]).disks == ("_Total",)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) * 3 // 4],  # cut off by Ctrl-C
        lambda text: text.replace('"statistics": [', '"statistics": [ ,'),  # with -y
        lambda text: text.replace("},\n", "}\n"),  # commas missing
        lambda text: text.replace("]\n", "\n"),  # brackets missing
        lambda text: text.rstrip("}\n"),
    ],
    ids=["cut", "comma", "no commas", "no brackets", "no end"],
)
def test_what_is_whole_of_damaged_json_is_read(damage) -> None:
    text = (DATA / "sysstat" / "extended.json").read_text()
    whole, tables = read(text)["demand"], read(damage(text))
    assert Code.BROKEN_JSON in codes(tables)
    found = tables["demand"]
    assert 1 <= len(found) <= len(whole)
    columns = ["read_iops", "write_bytes_per_s", "t_s", "interval_s"]
    assert found[columns].equals(whole[columns].head(len(found)))


def test_a_decimal_comma_and_a_lost_key_cost_no_other_figure() -> None:
    text = (DATA / "sysstat" / "extended.json").read_text()
    lost = text.replace('"w/s": 201.00, ', "").replace('"r/s": 402.00', '"r/s": 402,00')
    found = read(lost)["demand"]
    assert found["read_iops"].tolist() == [1302.0, 402.0, 397.03]
    assert found["write_iops"].isna().tolist() == [False, True, False]


def test_counters_in_another_language_are_told() -> None:
    header = '"(PDH-CSV 4.0)","\\\\H\\Physikalischer Datenträger(0 C:)\\Lesevorgänge/s"'
    tables = read(f'{header}\r\n"11/20/2026 10:00:00.000","1"\r\n')
    assert tables["findings"].set_index("code")["severity"]["counters_left_out"] == "warning"


def test_ten_series_of_azure_monitor_may_be_cut() -> None:
    point = {"timeStamp": "2026-11-20T10:00:00Z", "average": 1.0}

    def answer(n: int) -> str:
        series = [
            {"metadatavalues": [{"name": {"value": "lun"}, "value": str(i)}], "data": [point]}
            for i in range(n)
        ]
        name = {"value": "Data Disk Read Operations/Sec"}
        metric = {"id": "/x/providers/Microsoft.Insights/metrics/a", "name": name, "timeseries": series}
        return json.dumps({"interval": "PT1M", "value": [metric]})

    assert Code.SERIES_CUT in codes(read(answer(10)))
    assert Code.SERIES_CUT not in codes(read(answer(9)))


@pytest.mark.parametrize("damage", ["9" * 5000, "²", "0", "1.5"])
@pytest.mark.parametrize(("name", "length"), [("sadf.txt", ";1;"), ("sadf.json", '"interval": 1')])
def test_a_damaged_length_of_an_interval_is_none(name: str, length: str, damage: str) -> None:
    whole = (DATA / "sysstat" / name).read_text()
    damaged = whole.replace(length, length.replace("1", damage), 1)
    assert damaged != whole
    assert (read(damaged)["demand"]["interval_s"].dropna() == 1).all()


def test_damage_never_makes_a_reader_fall_over() -> None:
    dice = random.Random(24)  # noqa: S311
    texts = [path.read_bytes() for path in FILES]
    for _ in range(200):
        data = bytearray(dice.choice(texts))
        for _ in range(dice.randint(1, 4)):
            place, kind = dice.randrange(len(data)), dice.randrange(4)
            if kind == 0:
                data[place] = dice.randrange(256)
            elif kind == 1:
                del data[place : place + dice.randint(1, 200)]
            elif kind == 2:
                data[place:place] = dice.choice(
                    [b"-", b"1e999", b"nan", b'"', b"{", b"\0", b";", b"\n", b"9" * 40]
                )
            else:
                other = dice.choice(texts)
                data[place:place] = other[: dice.randint(1, 400)]
            if not data:
                break
        for name, table in read(bytes(data))["demand"].items():
            assert str(table.dtype) == schema.TABLES["demand"].columns[name].dtype


@pytest.mark.fio
@pytest.mark.alone
@pytest.mark.usefixtures("own_disk")  # one that others drive too has its I/Os of a second told as of two
@pytest.mark.skipif(
    shutil.which("sar") is None,
    reason="no sysstat is installed: scripts/install-sysstat gets it in a container",
)
def test_real_sysstat_beside_real_fio_is_read_right(tmp_path: Path) -> None:
    if not Path("/proc/diskstats").read_text().strip():
        pytest.skip("the kernel counts no I/O of disks here")
    folders = (tmp_path / f"try{n}" for n in itertools.count())
    Measurement(lambda: _reports_beside_fio(next(folders))).check(_counted_right)


@dataclass(frozen=True)
class Reports:
    """What the tools wrote, read: a table a file; the I/Os of fio; the kernel's counts as time went by."""

    demand: dict[str, pd.DataFrame]
    ios: int
    marks: list[dict[str, int]]


def _counted_right(found: Reports) -> None:
    last = {name: table["seq"].max() for name, table in found.demand.items()}
    for name, table in found.demand.items():
        rates = table["iops"].fillna(table["read_iops"] + table["write_iops"]).astype(float)
        told = (rates * table["interval_s"].astype(float)).groupby(table["device"]).sum()
        assert told.sum() >= 0.8 * found.ios, name
        for device, number in told.items():
            before, start, end, after = (mark.get(str(device), 0) for mark in found.marks)
            # Reports are a second apart and say so in whole seconds.
            assert 0.8 * (end - start) <= number <= 1.25 * (after - before) + 10, (name, device)
        # The signal may come between a report's record in the file and its print.
        assert not name.startswith("sadf") or abs(last[name] - last["sar.txt"]) <= 1


def _reports_beside_fio(folder: Path) -> Reports:
    folder.mkdir()
    commands = {
        "x.json": ["iostat", "-d", "-x", "-t", "-o", "JSON", "1"],
        "x.txt": ["iostat", "-x", "-t", "1"],
        "plain.txt": ["iostat", "-d", "-t", "1"],
        "sar.txt": ["sar", "-d", "-o", str(folder / "sar.bin"), "1"],
    }
    marks = [_counted_ios()]
    running = [
        subprocess.Popen(["stdbuf", "-oL", *command], stdout=(folder / name).open("wb"))
        for name, command in commands.items()
    ]
    try:
        _wait_for_reports(folder, commands, 1)
        marks.append(_counted_ios())
        ios = _fio_ios(folder)
        marks.append(_counted_ios())
        _wait_for_reports(folder, commands, 2)
    finally:
        for process in running:
            process.send_signal(signal.SIGINT)
    assert [process.wait(PATIENCE_S) for process in running] == [0] * 4
    marks.append(_counted_ios())
    for name, option in (("sadf.json", "-j"), ("sadf.txt", "-d"), ("sadf-u.txt", "-dU")):
        made = subprocess.run(
            ["sadf", option, str(folder / "sar.bin"), "--", "-d"], capture_output=True, check=True
        )
        (folder / name).write_bytes(made.stdout)
    demand = {path.name: registry.read(Source.of(path))["demand"] for path in folder.glob("*.[jt]*")}
    assert len(demand) == 7
    columns = ["iops", "read_bytes_per_s", "write_bytes_per_s", "lat_us", "queue_depth", "busy_pct"]
    for name in ("sadf.json", "sadf.txt", "sadf-u.txt"):
        pair = [demand[each].sort_values(["device", "seq"]) for each in (name, "sar.txt")]
        last = min(table["seq"].max() for table in pair)
        same, of_sar = (table[table["seq"] <= last][columns].reset_index(drop=True) for table in pair)
        pd.testing.assert_frame_equal(same, of_sar)
    return Reports(demand, ios, marks)


def _wait_for_reports(folder: Path, names: Iterable[str], number: int) -> None:
    """Until every file has so many more reports, by the times that stand in them."""

    def times(name: str) -> int:
        return len(set(re.findall(rb"\d\d:\d\d:\d\d", (folder / name).read_bytes())))

    goal = {name: times(name) + number for name in names}
    wait_for(lambda: all(times(name) >= enough for name, enough in goal.items()))


def _counted_ios() -> dict[str, int]:
    """Reads and writes that the kernel has counted, by device."""
    rows = [line.split() for line in Path("/proc/diskstats").read_text().splitlines()]
    return {row[2]: int(row[3]) + int(row[7]) for row in rows}


def _fio_ios(folder: Path) -> int:
    """Have fio make a given number of I/Os, of which the disk sees each."""
    command = ["fio", "--name=a", f"--directory={folder}", "--size=32m", "--rw=randrw", "--bs=8k",
               "--direct=1", "--ioengine=libaio", "--number_ios=2000", "--output-format=json"]  # fmt: skip
    (job,) = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["jobs"]
    return int(job["read"]["total_ios"]) + int(job["write"]["total_ios"])


def of_host(text: str, name: str = "telemetry.txt") -> set[tuple[object, object]]:
    rows = read(text, name)["demand"]
    assert len(rows)
    values = rows[["host_cpus", "host_memory_bytes"]].astype(object)
    return {tuple(row) for row in values.where(values.notna(), None).itertuples(index=False, name=None)}


def test_processors_and_memory_of_the_host_are_told_where_the_tool_tells_them() -> None:
    data = {name: (DATA / "sysstat" / name).read_text() for name in ("extended.json", "sadf.xml")}
    assert of_host(iostat("11/20/26 10:00:00", "11/20/26 10:01:00")) == {(8, None)}
    unstated = iostat("11/20/26 10:00:00", "11/20/26 10:01:00").replace("\t(8 CPU)", "")
    assert of_host(unstated) == {(None, None)}
    assert of_host(data["extended.json"]) == {(2, None)}
    assert of_host(data["extended.json"][:-40]) == {(2, None)}  # its end is cut off
    assert of_host(data["extended.json"].replace('"number-of-cpus": 2', '"number-of-cpus": 0')) == {
        (None, None)
    }
    assert of_host(data["sadf.xml"]) == {(2, None)}
    nmon = (DATA / "nmon" / "linux.nmon").read_text()
    assert of_host(nmon) == {(2, 24105.6 * MIB)}
    aix = re.sub("(?m)^MEM,.*\n", "", nmon).replace(
        "ZZZZ,T0001", "MEM,Memory h,Real Free %,Real total(MB)\nMEM,T0001,25.0,8192.0\nZZZZ,T0001"
    )
    assert of_host(aix) == {(2, 8192 * MIB)}
