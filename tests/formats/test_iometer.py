"""The readers of IOMeter's results and configuration: hierarchy, commas in names, units, damage."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core import schema
from azbenchlib.core.units import GIB, MB, MIB
from azbenchlib.formats import registry
from azbenchlib.formats.iometer import csv as iometer_csv
from azbenchlib.formats.iometer import icf as iometer_icf
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data" / "iometer"
RESULTS, SETUP = ((DATA / name).read_bytes() for name in ("results.csv", "setup.icf"))
SPEC = "8 KiB; 75% Read, random"


def read(data: bytes | str) -> dict[str, pd.DataFrame]:
    return registry.read(Source("results.csv", data if isinstance(data, bytes) else data.encode()))


def codes(tables: dict[str, pd.DataFrame]) -> list[str]:
    return tables["findings"]["code"].tolist()


def rows(tables: dict[str, pd.DataFrame], name: str = "results") -> pd.DataFrame:
    return tables["runs"].merge(tables[name], on="run_id", suffixes=("_run", ""))


def test_sums_have_levels_of_their_own_and_disks_are_the_jobs():
    tables = read(RESULTS)
    runs = tables["runs"]
    assert runs["level"].tolist() == [
        *("all", "host", "group", "group", "job", "group", "job"),
        *("all", "host", "group", "job"),
    ]
    first = rows(tables)[rows(tables)["source_doc"] == 0]
    iops = first.groupby(["level", "ddir"])["iops"].sum()
    for level in ("host", "group", "job"):
        assert iops[level].to_dict() == iops["all"].to_dict() == {"mixed": 6000, "read": 4500, "write": 1500}
    assert codes(tables) == []


def test_names_with_commas_do_not_move_the_figures():
    runs = read(RESULTS)["runs"]
    assert runs["job"].tolist()[:2] == [SPEC, SPEC]
    disks = runs[runs["level"] == "job"]
    assert disks["target"].tolist() == ["C:", '1: "VIRT, DISK"', "C:"]
    assert disks["job"].tolist() == [SPEC, SPEC, "8 KiB write"]  # of their workers
    assert runs.loc[runs["level"] != "all", "host"].unique().tolist() == ["BENCH01"]
    assert runs.loc[runs["level"] == "all", "host"].isna().all()


def test_an_access_specification_tells_the_pattern():
    runs = read(RESULTS)["runs"]
    columns = ["rw", "rwmix_read_pct", "bs_bytes", "iodepth", "queue_depth"]
    first, _, last = runs.loc[runs["level"] == "job", columns].to_dict("records")
    assert list(first.values()) == ["randrw", 75, 8192, 4, 4]
    assert list(last.values())[:1] + list(last.values())[2:] == ["write", 8192, 8, 8]


def test_response_times_and_errors():
    tables = read(RESULTS)
    last = rows(tables, "latency").query("source_doc == 1 and level == 'job'")
    assert last[["ddir", "n", "lat_mean_us", "lat_max_us"]].values.tolist()[1] == [
        "write",
        20000,
        4000,
        12500,
    ]
    errors = rows(tables).query("source_doc == 1 and level == 'job'").set_index("ddir")["errors"]
    assert errors.to_dict() == {"mixed": 3, "write": 3}  # and no read, for there was none


def test_cpu_is_told_of_sums():
    runs = read(RESULTS)["runs"]
    cpu = runs[runs["usr_cpu_pct"].notna()]
    assert set(cpu["level"]) == {"all", "host", "group"}
    assert cpu[["usr_cpu_pct", "sys_cpu_pct"]].drop_duplicates().values.tolist() == [[2.5, 10.0]]


OLD = (
    "'Results\n'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps,"
    "Read IOps,Write IOps,{unit},Read {unit},Write {unit},Average Response Time\n"
    "ALL,All,x,1,1,1,100,100,0,2.5,2.5,0,1.25{end}\nDISK,C:,,,,,100,100,0,2.5,2.5,0,1.25{end}\n"
)


@pytest.mark.parametrize(
    ("unit", "per_s"),
    [("MBps", MIB), ("MiBps (Binary)", MIB), ("MBps (Binary)", MIB), ("MBps (Decimal)", MB)],
)
def test_the_unit_of_throughput_is_told_by_its_label(unit, per_s):
    results = read(OLD.format(unit=unit, end=""))["results"]
    assert results["bw_bytes_per_s"].tolist() == [2.5 * per_s] * 4


def test_a_comma_at_the_end_of_a_row_is_no_cell():
    plain, ended = (read(OLD.format(unit="MBps", end=end)) for end in ("", ","))
    columns = ["ddir", "iops", "bw_bytes_per_s"]
    pd.testing.assert_frame_equal(plain["results"][columns], ended["results"][columns])
    assert ended["runs"]["target"].tolist()[1] == "C:"


def test_a_row_of_another_kind_or_too_short_is_a_finding():
    tables = read(OLD.format(unit="MBps", end="") + "ROW ALL,All,x\nDISK,C:,,,,,5\n")
    assert len(tables["runs"]) == 2
    assert codes(tables) == ["row_not_read"]
    assert "2 lines" in tables["findings"]["message"].iloc[0]


def test_a_head_without_results_is_a_finding():
    assert codes(read("'Test Type,Test Description\r\n0,\r\n'Version\r\n1.1.0\r\n")) == ["no_figures"]


def test_a_configuration_describes_each_worker_target_and_specification():
    tables = read(SETUP)
    columns = ["job", "target", "host", "rw", "rwmix_read_pct", "bs_bytes", "iodepth"]
    described = [list(row.values()) for row in schema.records(tables["runs"][columns])]
    assert described == [
        [SPEC, "C:", "BENCH01", "randrw", 75, 8192, 16],
        [SPEC, "D: data", "BENCH01", "randrw", 75, 8192, 16],
        ["part sizes", "C:", "BENCH01", "randread", None, None, 16],
        ["part sizes", "D: data", "BENCH01", "randread", None, None, 16],
    ]
    run = tables["runs"].iloc[0]
    assert (run["runtime_limit_s"], run["ramp_s"], run["working_set_bytes"]) == (90, 15, GIB)
    assert tables["results"].empty
    assert set(codes(tables)) == {"job_description"}


def test_a_configuration_without_managers_describes_its_specifications():
    text = SETUP.decode()
    runs = read(text[: text.index("'MANAGER LIST")])["runs"]
    assert runs["job"].tolist() == [SPEC, "part sizes"]
    assert runs["target"].isna().all()


@pytest.mark.parametrize("end", ["'END test setup", "'END access specifications", "'END manager list"])
def test_a_configuration_that_is_cut_says_so(end):
    text = SETUP.decode()
    assert "not_complete" in codes(read(text[: text.index(end)]))
    assert codes(read(text)) == ["job_description"] * 4


def test_a_broken_specification_is_a_finding():
    tables = read(SETUP.replace(b"8192,100,75,100", b"8192,100,7500,100"))
    assert "row_not_read" in codes(tables)
    assert tables["runs"]["rw"].isna().tolist() == [True, True, False, False]


@given(data=st.data())
def test_damage_gives_tables_and_no_traceback(data):
    whole = data.draw(st.sampled_from([RESULTS, SETUP]))
    raw = bytearray(whole[: data.draw(st.one_of(st.just(len(whole)), st.integers(0, len(whole))))])
    for _ in range(data.draw(st.integers(0, 8))):
        if raw:
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    reader = iometer_csv.read_iometer_csv if whole is RESULTS else iometer_icf.read_iometer_icf
    tables = reader(Source("x", bytes(raw))).frames()
    for name, table in tables.items():
        schema.check(name, table)
