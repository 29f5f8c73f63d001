"""The fio terse reader: positions and units of every version, names with ``;``, damage.

The fixtures were made with fio 3.33 on small files.
"""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core import schema
from azbenchlib.formats.fio import _terse_jobs as _fio_terse_jobs
from azbenchlib.formats.fio import terse as fio_terse
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data" / "fio" / "terse"
CASES = sorted(path.stem for path in DATA.glob("*.txt"))


def read(text: str | bytes, path: str = "some.txt") -> dict[str, pd.DataFrame]:
    data = text if isinstance(text, bytes) else text.encode()
    return fio_terse.read_fio_terse(Source(path, data)).frames()


def fixture(case: str) -> str:
    return (DATA / f"{case}.txt").read_text(encoding="utf-8")


def rows(tables: dict[str, pd.DataFrame], table: str, *columns: str) -> list[list[object]]:
    return [[row[name] for name in columns] for row in schema.records(tables[table])]


def codes(tables: dict[str, pd.DataFrame]) -> list[str]:
    return tables["findings"]["code"].tolist()


def direction(iops: int = 50, version: str = "3") -> str:
    """A direction of 100 I/Os of 4 KiB in 2 s, as stat.c prints it."""
    percentiles = ";".join([*("1.000000%=10", "50.000000%=20", "99.000000%=80"), *["0%=0"] * 17])
    samples = ";4;40;60;50.500000;3.250000;4" if version == "5" else ""
    return (
        f"400;200;{iops};2000;1;9;2.500000;0.500000;2;90;25.500000;10.000000;{percentiles};"
        f"3;99;28.000000;10.500000;180;220;100.000000%;200.000000;7.000000{samples}"
    )


def idle(version: str = "3") -> str:
    return ";".join(
        "%=".join("0" for _ in text.split("%=")) for text in direction(version=version).split(";")
    )


TAIL = "1.500000%;2.500000%;100;0;5" + ";100.0%" * 7 + ";0.00%" * 22
DISK = ";sda;5;6;0;1;7;8;9;50.00%"


def line(*blocks: str, version: str = "3", name: str = "j", group: str = "0", error: str = "0") -> str:
    head = [version] if version == "2" else [version, "fio-3.33"]
    return ";".join([*head, name, group, error, *blocks, TAIL])


# ---- positions and units ------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2", "3", "4", "5"])
def test_every_version_has_its_figures_in_their_places(version):
    active, none = direction(version=version), idle(version)
    blocks = [active, none] if version == "3" else [active, none, active]
    tables = read(line(*blocks, version=version) + DISK)
    run = schema.records(tables["runs"])[0]
    told = ("job", "group_id", "error", "usr_cpu_pct", "sys_cpu_pct", "level", "tool")
    assert [run[name] for name in told] == ["j", 0, 0, 1.5, 2.5, "job", "fio"]
    assert run["tool_version"] == (None if version == "2" else "fio-3.33")
    columns = ("ddir", "ios", "io_bytes", "runtime_s", "iops", "iops_stddev", "bw_bytes_per_s", "errors")
    expected = [None, 409600, 2.0, 50.0, 3.25 if version == "5" else None, 204800.0, None]
    ddirs = ["read"] if version == "3" else ["read", "trim"]
    assert rows(tables, "results", *columns) == [[ddir, *expected] for ddir in ddirs]
    moments = ("lat_kind", "lat_min_us", "lat_mean_us", "lat_stddev_us", "lat_max_us")
    assert rows(tables, "latency", *moments)[:3] == [
        ["slat", 1, 2.5, 0.5, 9],
        ["clat", 2, 25.5, 10, 90],
        ["lat", 3, 28, 10.5, 99],
    ]
    assert rows(tables, "percentiles", "lat_kind", "percentile", "lat_us")[:3] == [
        ["clat", 1, 10],
        ["clat", 50, 20],
        ["clat", 99, 80],
    ]
    assert codes(tables) == []


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("v2", [["read", 102400, 0.001, 25000, 102400000], ["write", 425984, 0.001, 26000, 425984000]]),
        ("v3", [["read", 102400, 0.001, 25000, 102400000], ["write", 425984, 0.001, 26000, 425984000]]),
        ("v5", [["read", 102400, 0.002, 12500, 51200000], ["write", 425984, 0.002, 13000, 212992000]]),
        ("unified", [["mixed", 524288, 0.004, 32000, 131072000]]),
        (
            "unified_both",
            [
                ["read", 253952, 0.004, 15500, 63488000],
                ["write", 270336, 0.004, 16500, 67584000],
                ["mixed", 524288, 0.004, 32000, 131072000],
            ],
        ),
    ],
)
def test_a_fixture_gives_the_figures_that_fio_printed(case, expected):
    tables = read(fixture(case))
    assert rows(tables, "results", "ddir", "io_bytes", "runtime_s", "iops", "bw_bytes_per_s") == expected
    assert codes(tables) == []


def test_both_adds_a_block_in_versions_with_trim():
    blocks = [direction(1, "4"), idle("4"), idle("4"), direction(2, "4")]
    assert rows(read(line(*blocks, version="4")), "results", "ddir", "iops") == [["read", 1], ["mixed", 2]]


def test_version_2_of_fio_2_0_has_no_trim():
    tables = read(line(direction(1), direction(2), version="2"))
    assert rows(tables, "results", "ddir", "iops") == [["read", 1], ["write", 2]]


def test_names_and_descriptions_may_hold_what_separates_the_fields():
    tables = read(fixture("semicolons"))
    assert tables["runs"]["job"].tolist() == ["semi;colon"]
    assert rows(tables, "results", "ddir", "iops", "errors") == [["read", 25600, 0]]
    tables = read(line(direction(), idle(), name="2;3;fio-3.33;x;0;7", group="1") + DISK + ";a;b")
    assert rows(tables, "runs", "job", "group_id") == [["2;3;fio-3.33;x;0;7", 1]]
    assert rows(read(line(direction(), idle(), idle(), version="2", name="2;a")), "runs", "job") == [["2;a"]]


def test_failed_ios_are_counted_where_it_is_clear_whose_they_are():
    for disks in ("", DISK, DISK * 2):
        one = read(line(direction(), idle()) + disks + ";3;5;why")
        assert rows(one, "results", "errors") == [[3]]
        assert codes(one) == ["io_errors"]
        two = read(line(direction(), direction()) + disks + ";3;5")
        assert rows(two, "results", "errors") == [[None], [None]]
    assert rows(read(line(direction(), idle()) + ";a;b"), "results", "errors") == [[None]]


def test_the_sum_over_clients_says_so_and_has_no_percentiles():
    tables = read(fixture("clients"))
    assert rows(tables, "runs", "job", "level") == [["a", "job"], ["b", "job"], ["All clients", "all"]]
    last = tables["runs"]["run_id"].iloc[-1]
    assert last in set(tables["results"]["run_id"])
    assert last not in set(tables["percentiles"]["run_id"])


def test_progress_in_the_same_line_does_no_harm():
    noise = "Jobs: 1 (f=1): [r(1)][9.5%][r=5;MiB/s][eta 3"
    tables = read(
        noise + line(direction(), idle()) + "\nJobs: 1 (f=1)\rJobs: 0\r" + line(direction(60), idle())
    )
    assert rows(tables, "results", "iops") == [[50], [60]]
    tables = read("Jobs: 1 (f=1): [eta 00m:00s]" + line(direction(), idle(), idle(), version="2"))
    assert rows(tables, "results", "iops") == [[50]]


def test_a_failed_job_says_so_and_its_neighbour_is_kept():
    tables = read(fixture("failed"))
    assert rows(tables, "runs", "job", "error", "rw") == [["full", 28, "write"], ["ok", 0, None]]
    assert rows(tables, "results", "ddir", "iops") == [["read", 4000]]
    assert codes(tables) == ["fio_error_line", "no_io", "job_failed"]
    assert "err=28" in tables["findings"]["message"][0]


def test_version_3_cannot_tell_that_a_job_trimmed():
    assert codes(read(line(idle(), idle()))) == ["trim_not_shown", "no_io"]
    assert codes(read(line(*[idle("4")] * 3, version="4"))) == ["no_io"]


def test_words_of_printf_for_no_number_are_missing():
    text = line(direction(), idle()).replace("1.500000%", "-nan%").replace("0.00%", "-nan%", 1)
    tables = read(text.replace("100.000000%", "inf%"))
    assert rows(tables, "runs", "usr_cpu_pct", "sys_cpu_pct") == [[None, 2.5]]
    assert codes(tables) == []


def test_a_latency_without_samples_is_missing():
    block = direction().replace("1;9;2.500000;0.500000", "0;0;0.000000;0.000000")
    assert rows(read(line(block, idle())), "latency", "lat_kind") == [["clat"], ["lat"]]
    unsampled = block.replace("2;90;25.500000;10.000000", "0;0;0.000000;0.000000")
    tables = read(line(unsampled, idle()))
    assert rows(tables, "latency", "lat_kind") == [["lat"]]
    assert tables["percentiles"].empty


# ---- several lines ------------------------------------------------------------------------------------


def test_of_status_reports_the_last_one_counts():
    tables = read(fixture("status_interval"))
    assert rows(tables, "runs", "source_doc", "job_index") == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
    assert tables["runs"]["run_id"].is_unique
    findings = tables["findings"]
    assert findings["code"].tolist() == ["interim_document"] * 4
    assert findings["run_id"].tolist() == tables["runs"]["run_id"].tolist()[:4]


def test_jobs_of_one_name_are_not_taken_for_status_reports():
    tables = read(fixture("numjobs"))
    assert rows(tables, "runs", "source_doc", "job_index") == [[0, 0], [0, 1], [0, 2]]
    assert codes(tables) == ["repeated_lines"]


@pytest.mark.parametrize(
    "change",
    [
        ("2;90;", "3;95;"),
        ("2;90;", "2;80;"),
        ("2000;1", "1999;1"),
        ("400;200;", "300;150;"),
        ("200;50;2000", "195;48;2050"),
    ],
)
def test_repeats_of_a_run_in_one_file_all_count(change):
    first = line(direction(), idle())
    assert codes(read(first + "\n" + first.replace(*change))) == ["repeated_lines"]
    assert codes(read(first + "\n" + first.replace("400;200;50;2000", "800;200;50;4000"))) == [
        "interim_document"
    ]


# ---- damage -------------------------------------------------------------------------------------------


def test_of_a_line_that_breaks_off_the_whole_directions_are_kept():
    text = line(direction(1), direction(2))
    cut = text.index(TAIL)
    tables = read(text[: cut + 20])
    assert rows(tables, "results", "ddir", "iops") == [["read", 1], ["write", 2]]
    assert tables["runs"]["usr_cpu_pct"].isna().all()
    (finding,) = schema.records(tables["findings"])
    assert (finding["code"], finding["severity"]) == ("broken_lines", "error")
    assert "the first is line 1" in finding["message"]
    for length in (cut - 1, cut // 2 + 40):  # the second direction is cut, so the first may be mixed
        tables = read("\n" + text[:length])
        assert tables["results"].empty
        assert codes(tables) == ["broken_lines", "no_fio_job"]


@given(st.data())
def test_no_damage_makes_the_reader_fall_over_or_invent_figures(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CASES))
    text = fixture(case)
    whole = read(text)["results"].drop(columns="run_id").values.tolist()
    cut = data.draw(st.integers(0, len(text)))
    kept = read(text[:cut])["results"].drop(columns="run_id").values.tolist()
    # what stands after a line's end, such as the failed I/Os, may be gone
    assert [row[:-1] for row in kept] == [row[:-1] for row in whole[: len(kept)]]
    content = bytearray(text.encode())
    for place, byte in data.draw(st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)))):
        content[place] = byte
    for name, table in read(bytes(content)).items():
        schema.check(name, table)


@pytest.mark.parametrize(
    "text",
    ["2;" * 10**6, "3;fio-" * 10**6, "1%=0;" * 10**6, "0;" * 10**6 + "1%=0", " " * 10**7, "9" * 10**7],
    ids=lambda text: text[:10],
)
@pytest.mark.sampled(2)
def test_hopeless_lines_are_given_up_quickly(text):
    assert not fio_terse.sniff(text)
    tables = read(text)
    assert codes(tables) == ["no_fio_job"]


@pytest.mark.parametrize("text", ["a;b;c", "3;fio-3.33;j;0;0;1", line(direction(), idle(), version="6")])
def test_other_text_is_not_claimed(text):
    assert not fio_terse.sniff(text)


def test_many_equal_lines_take_linear_time():
    _fio_terse_jobs.find_jobs([line(direction(), idle())] * 2000)


def test_windows_line_ends_and_utf_16_are_no_trouble():
    text = fixture("v5")
    expected = rows(read(text), "percentiles", "ddir", "percentile", "lat_us")
    for data in (text.replace("\n", "\r\n").encode(), text.encode("utf-16"), b"\xef\xbb\xbf" + text.encode()):
        assert rows(read(data), "percentiles", "ddir", "percentile", "lat_us") == expected


@pytest.mark.parametrize(("p99", "kind"), [(80, "clat"), (91, "clat"), (98, "lat"), (5000, "clat")])
def test_percentiles_longer_than_any_clat_are_those_of_lat(p99, kind):
    """fio puts them in one place (lat_percentiles=1); longest clat is 90 µs here, longest lat 99 µs."""
    tables = read(line(direction().replace("99.000000%=80", f"99.000000%={p99}"), idle()))
    assert set(tables["percentiles"]["lat_kind"]) == {kind}


# ---- what the disks did -------------------------------------------------------------------------------


def ratios(*lines: str) -> list[object]:
    """Of the I/Os of the disks and of the jobs; `direction` has 100 I/Os in 2 s."""
    return [row[0] for row in rows(read("\n".join(lines)), "runs", "device_ios_per_io")]


@pytest.mark.parametrize(
    ("disks", "expected"),
    [
        (DISK, 0.11),  # reads and writes
        (DISK + DISK.replace(";5;6;", ";80;9;"), 1.0),
        (DISK + DISK.replace("sda", "slaves") + DISK.replace("sda", "sdb"), 0.11),  # sda is made of sdb
        (DISK.replace(";5;", ";x;"), None),
        ("", None),
    ],
)
def test_disks_tell_how_many_ios_they_did_for_one_of_the_jobs(disks: str, expected: float | None):
    assert ratios(line(direction(), idle()) + disks) == [expected]


def test_the_disks_of_several_lines_are_the_same_disks():
    at_once = [line(direction(), direction(), name=name) + DISK for name in ("a", "b")]
    assert ratios(*at_once) == [pytest.approx(11 / 400)] * 2
    after_each_other = [line(direction(), idle(), name=name, group=name) + DISK for name in ("0", "1")]
    assert ratios(*after_each_other) == [None, None]


def test_a_sum_of_directions_is_not_counted_beside_them():
    both = line(direction(version="4"), idle("4"), idle("4"), direction(version="4"), version="4")
    assert ratios(both + DISK) == [0.11]


def test_a_rate_that_is_truncated_too_coarsely_tells_no_number_of_ios():
    assert ratios(line(direction(20), idle()) + DISK) == [None]
