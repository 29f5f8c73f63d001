"""The fio normal text reader, and files in which outputs of fio are mixed.

The fixtures were made with fio 3.33 on small files; lines of older versions follow ``stat.c`` of their tags.
"""

import html
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core import schema
from azbenchlib.formats import registry
from azbenchlib.formats.fio import text as fio_text
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data" / "fio"
CASES = sorted(path.stem for path in DATA.glob("text/*.txt"))
MIXED = sorted(path.stem for path in DATA.glob("mixed/*.txt"))


def read(text: str | bytes, path: str = "some.txt") -> dict[str, pd.DataFrame]:
    data = text if isinstance(text, bytes) else text.encode()
    return registry.read(Source(path, data))


def fixture(case: str, kind: str = "text") -> str:
    return (DATA / kind / f"{case}.txt").read_text(encoding="utf-8")


def rows(tables: dict[str, pd.DataFrame], table: str, *columns: str) -> list[list[Any]]:
    return [[row[name] for name in columns] for row in schema.records(tables[table])]


def codes(tables: dict[str, pd.DataFrame]) -> list[str]:
    return tables["findings"]["code"].tolist()


HEADER = "j: (groupid=0, jobs=1): err= 0: pid=7: Fri Nov 20 16:23:18 2026\n"
RATES = "  read: IOPS=50, BW=200KiB/s (205kB/s)(400KiB/2000msec)\n"
CLAT = "    clat (usec): min=2, max=90, avg=25.50, stdev=10.00\n"
END = "     issued rwts: total=100,0,0,0 short=0,0,0,0 dropped=0,0,0,0\n"
SIZES = "(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B"
OPENING = f"j: (g=0): rw=randread, bs={SIZES}, ioengine=libaio, iodepth=16\n"


def job(*inside: str, header: str = HEADER) -> str:
    return header + "".join(inside) + END


def result(*inside: str, **changes: str) -> dict[str, Any]:
    """The one row of results that a job with these lines gives."""
    (row,) = schema.records(read(job(*inside, **changes))["results"])
    return row


# ---- figures ------------------------------------------------------------------------------------------


def test_the_fixture_gives_the_figures_that_fio_printed():
    tables = read(fixture("slow"))
    run = schema.records(tables["runs"])[0]
    del run["run_id"], run["source_sha256"]
    assert (
        {key: value for key, value in run.items() if value is not None}
        == {
            "source_path": "some.txt",
            "source_doc": 0,
            "level": "job",
            "tool": "fio",
            "tool_version": "fio-3.33",
            "job": "slow",
            "job_index": 0,
            "group_id": 0,
            "rw": "randread",
            "bs_bytes": 4096,
            "iodepth": 8,
            "numjobs": 1,
            "queue_depth": 8,
            "ioengine": "libaio",
            "device_ios_per_io": 0.0,  # the page cache answered
            "error": 0,
            **{
                name: float(text.split("=")[1].rstrip("%,"))
                for name, text in zip(
                    ("usr_cpu_pct", "sys_cpu_pct"),
                    fixture("slow").split("cpu          : ")[1].split()[:2],
                    strict=True,
                )
            },
        }
    )
    columns = ("ddir", "ios", "io_bytes", "runtime_s", "iops", "bw_bytes_per_s")
    assert rows(tables, "results", *columns) == [
        ["read", 40, 160 * 1024, 0.042, pytest.approx(40 / 0.042), pytest.approx(160 * 1024 / 0.042)]
    ]
    assert codes(tables) == []


def test_a_mean_in_milliseconds_is_thousands_of_microseconds():
    line = "     lat (msec): min=3, max=12, avg= 4.03, stdev= 1.50\n"
    tables = read(job(RATES, "    slat (nsec): min=30, max=64626, avg=100.02, stdev=785.61\n", CLAT, line))
    columns = ("lat_kind", "lat_min_us", "lat_mean_us", "lat_stddev_us", "lat_max_us")
    assert rows(tables, "latency", *columns) == [
        ["slat", pytest.approx(0.03), pytest.approx(0.10002), pytest.approx(0.78561), pytest.approx(64.626)],
        ["clat", 2, 25.5, 10, 90],
        ["lat", 3000, pytest.approx(4030), 1500, 12000],
    ]


@pytest.mark.parametrize(
    ("least", "expected"),
    [
        ("0 ", 0),
        ("16062k", 16_062_000),
        ("1464.5k", 1_464_500),
        ("756523K", 756_523_000),
        ("  3M", 3_000_000),
    ],
)
def test_large_latencies_are_printed_in_thousands(least, expected):
    tables = read(job(RATES, f"    clat (usec): min={least}, max= 756600K, avg=25.50, stdev=10.00\n"))
    assert rows(tables, "latency", "lat_min_us", "lat_max_us") == [[expected, 756_600_000]]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "read : io=34364KB, bw=34227KB/s, iops=8556, runt=  1004msec",
            (8556, 34227 << 10, 34364 << 10, 1.004),
        ),
        ("read : io=1794.4KB, bw=10204 B/s, iops=927 , runt=180052msec", (927, 10204, 1837466, 180.052)),
        ("read : io=2048.0MB, bw=1.5GB/s, iops=1.2K, runt= 5msec", (1200, 3 << 29, 2 << 30, 0.005)),
        ("read : io=9,216KiB, bw=3,072KiB/s, iops=750, runt=  3000msec", (750, 3 << 20, 9 << 20, 3)),
        (
            "read: io=8040.0MiB, bw=136685KiB/s, iops=133, runt= 60233msec",
            (133, 136685 << 10, 8040 << 20, 60.233),
        ),
        ("read: IOPS=4801, BW=18.5MiB/s (19.4MB/s)(22.0MiB/1173msec)", (4801, 37 << 19, 22 << 20, 1.173)),
        ("read: IOPS=13.3k, BW=2.00GiB/s (2147MB/s)(4.00GiB/2000msec)", (13300, 2 << 30, 4 << 30, 2)),
        ("read: IOPS=4528k, BW=65.5MB/s (62.5MiB/s)(1049kB/16msec)", (4528000, 65.5e6, 1049000, 0.016)),
        ("read: IOPS=17.1k, BW=533Mibit/s (559Mbit/s)(1024KiB/15msec)", (17100, 533 << 17, 1 << 20, 0.015)),
        ("read: IOPS=37.1k, BW=217Mi (228M)(1552KiB/7msec)", (37100, 217 << 20, 1552 << 10, 0.007)),
        ("read: IOPS=1, BW=200B/s (200B/s)(400B/2000msec); 0 zone resets", (1, 200, 400, 2)),
    ],
)
def test_rates_of_every_version_are_read_in_their_units(line, expected):
    (row,) = schema.records(
        read(HEADER + f"  {line}\n")["results"]
    )  # without I/Os, nothing is exact but time
    iops, rate, *others = (row[name] for name in ("iops", "bw_bytes_per_s", "io_bytes", "runtime_s"))
    assert (iops, rate, *others) == (expected[0], pytest.approx(expected[1], rel=0.003), *expected[2:])


@pytest.mark.parametrize(
    "line",
    [
        "     issued rwts: total=7,8,9,0 short=0,0,0,0 dropped=0,0,0,0",
        "     issued rwt: total=7,8,9, short=0,0,0, dropped=0,0,0",
        "     issued    : total=r=7/w=8/d=9, short=r=0/w=0/d=0, drop=r=0/w=0/d=0",
        "     issued r/w/d: total=7/8/9, short=0/0/0",
    ],
)
def test_the_number_of_ios_is_exact(line):
    text = HEADER + RATES + RATES.replace("read", "write") + RATES.replace("read", "trim") + line
    assert rows(read(text), "results", "ddir", "ios") == [["read", 7], ["write", 8], ["trim", 9]]


def test_what_is_rounded_says_so():
    tables = read(HEADER + "  read: IOPS=13.3k, BW=52.0MiB/s (54.5MB/s)(104MiB/2000msec)\n")
    assert codes(tables) == ["report_cut", "rounded_iops"]
    assert "read IOPS are rounded: 13300 to within 100" in tables["findings"]["message"][1]


def issued(line: str, ios: int, opening: str = OPENING) -> dict[str, pd.DataFrame]:
    """What a job gives that did so many I/Os of 4 KiB and has this line."""
    return read(opening + HEADER + f"  {line}\n" + END.replace("100", str(ios)))


@pytest.mark.parametrize(
    ("line", "ios", "seconds"),
    [
        ("read: IOPS=75.5k, BW=295MiB/s (309MB/s)(2947MiB/10000msec)", 754_530, 10),
        ("read: IOPS=0, BW=1293B/s (1293B/s)(24.0KiB/19005msec)", 6, 19.005),
        ("read : io=34364KB, bw=34227KB/s, iops=8556, runt=  1004msec", 8591, 1.004),
        # the carry is lost in MiB/s, in MB/s, in the amount of data, and in both forms of an old line
        ("read: IOPS=7669, BW=29.0MiB/s (31.4MB/s)(29.0MiB/1001msec)", 7677, 1.001),
        ("read: IOPS=3052, BW=11.9MiB/s (12.0MB/s)(119MiB/10000msec)", 30_526, 10),
        ("read: IOPS=3070, BW=11.0MiB/s (12.6MB/s)(120MiB/10000msec)", 30_708, 10),
        ("read : io=29.0MB, bw=30678KB/s, iops=7669, runt=  1001msec", 7677, 1.001),
    ],
)
def test_rates_are_those_of_ios_and_time(line, ios, seconds):
    tables = issued(line, ios)
    columns = ("ios", "io_bytes", "iops", "bw_bytes_per_s")
    assert rows(tables, "results", *columns) == [
        [ios, ios * 4096, pytest.approx(ios / seconds, rel=1e-12), pytest.approx(ios * 4096 / seconds)]
    ]
    is_in_doubt = "29.0M" in line or " (12." in line
    assert codes(tables) == (["rounding_error"] if is_in_doubt and "BW" in line else [])


def test_a_block_size_in_kib_is_one_too():
    opening = OPENING.replace("4096B-4096B", "64.0KiB-64.0KiB")
    tables = issued("read: IOPS=160, BW=10.0MiB/s (10.5MB/s)(100MiB/10000msec)", 1601, opening)
    assert rows(tables, "results", "io_bytes", "iops") == [[1601 << 16, 160.1]]
    several = OPENING.replace("(R) 4096B-4096B", "(R) 4096B-64.0KiB")
    tables = issued("read: IOPS=160, BW=10.0MiB/s (10.5MB/s)(100MiB/10000msec)", 1601, several)
    assert rows(tables, "results", "io_bytes", "iops") == [[100 << 20, 160.1]]


def test_without_a_block_size_the_rate_is_that_of_bytes_and_time():
    tables = issued("read: IOPS=75.5k, BW=295MiB/s (309MB/s)(2947MiB/10000msec)", 754_530, opening="")
    columns = ("io_bytes", "iops", "bw_bytes_per_s")
    assert rows(tables, "results", *columns) == [[2947 << 20, 75_453, pytest.approx(294.7 * 2**20)]]


def test_bytes_that_are_not_those_of_whole_blocks_are_kept():
    """After a ramp, and where an I/O was short, some bytes are of no whole block."""
    tables = issued("read: IOPS=100, BW=440KiB/s (451kB/s)(4400KiB/10000msec)", 1000)
    assert rows(tables, "results", "io_bytes", "iops") == [[4400 << 10, 100]]
    assert codes(tables) == []


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("read: IOPS=60, BW=200KiB/s (205kB/s)(400KiB/2000msec)", [60, 204_800]),
        ("read: IOPS=50, BW=250KiB/s (256kB/s)(400KiB/2000msec)", [50, 250 << 10]),
    ],
)
def test_a_rate_that_its_ios_and_time_do_not_give_is_kept_and_told(line, kept):
    tables = issued(line, 100)
    assert rows(tables, "results", "iops", "bw_bytes_per_s") == [kept]
    assert codes(tables) == ["rates_disagree"]


def test_percentiles_have_a_unit_of_their_own_and_belong_to_one_kind():
    tables = read(fixture("percentiles"))
    counted = tables["percentiles"].groupby(["ddir", "lat_kind"], sort=False).size()
    kinds = ("slat", "clat", "lat")
    assert counted.to_dict() == {(ddir, kind): 17 for ddir in ("read", "write") for kind in kinds}
    ends = tables["percentiles"].set_index(["ddir", "lat_kind", "percentile"])["lat_us"]
    for row in schema.records(tables["latency"]):
        last = ends[row["ddir"], row["lat_kind"], 99.99]
        # a percentile is a bin's largest value, so it is at most 1/64 beyond the largest sample
        assert row["lat_min_us"] <= last <= row["lat_max_us"] * (1 + 1 / 64) + 1


def test_percentile_lines_in_every_form():
    text = (
        "    clat percentiles (msec):\n     |  1.00th=[  149], 99.9900th=[9001.3k],\n     | 50.00th=[>=17]\n"
    )
    others = "    clat prio 0/0 (50.00% of IOs) percentiles (usec):\n     |  5.00th=[  7]\n"
    sync = "    sync percentiles (nsec):\n     |  6.00th=[  7]\n"
    tables = read(job(RATES, CLAT, text, others, sync))
    assert rows(tables, "percentiles", "percentile", "lat_us") == [[1, 149000], [99.99, 9001300000]]


def test_shares_of_latency_and_priorities_are_no_moments():
    shares = "    lat (usec) : 100=0.16%, 250=96.65%\n"
    priorities = "    clat prio 0/0 (usec): min=1, max=2, avg=1.50, stdev= 0.50\n"
    tables = read(job(RATES, shares, priorities))
    assert tables["latency"].empty
    assert tables["bins"].empty


def test_zeros_of_what_was_not_measured_are_missing():
    zero = "    slat (nsec): min=0, max=0, avg= 0.00, stdev= 0.00\n"
    tables = read(job(RATES, zero, CLAT, "  write: IOPS=0, BW=0B/s (0B/s)(0B/2000msec)\n"))
    assert rows(tables, "results", "ddir") == [["read"]]
    assert rows(tables, "latency", "lat_kind") == [["clat"]]


def test_mixed_beside_its_parts_has_latencies_alone():
    tables = read(fixture("unified_both"))
    assert rows(tables, "results", "ddir", "ios") == [["read", 62], ["write", 66]]
    assert set(tables["latency"]["ddir"]) == {"read", "write", "mixed"}
    alone = read(job(RATES.replace("read", "mixed")))
    assert rows(alone, "results", "ddir", "ios") == [["mixed", 100]]


def test_the_deviation_of_iops_is_that_of_the_samples():
    line = "   iops        : min=   76, max=   88, avg=83.58, stdev= 2.28, samples=24\n"
    assert result(RATES, line)["iops_stddev"] == 2.28
    assert result(RATES, line.replace("=24", "=0"))["iops_stddev"] is None


def test_failed_ios_and_failed_jobs():
    errors = "     errors    : total=3, first_error=5/<Input/output error>\n"
    tables = read(job(RATES, errors))
    assert rows(tables, "results", "errors") == [[3]]
    assert codes(tables) == ["io_errors"]
    tables = read(fixture("failed"))
    assert rows(tables, "runs", "job", "error") == [["full", 28], ["ok", 0]]
    assert codes(tables) == ["fio_error_line", "io_without_figures", "job_failed"]
    assert "error 28 (No space left on device)" in tables["findings"]["message"][2]


# ---- who it was, and what was asked for ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ("(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B", [4096, None]),
        ("(R) 64.0KiB-64.0KiB, (W) 1024KiB-1024KiB, (T) 64.0KiB-64.0KiB", [65536, 1 << 20]),
        ("4K-4K/16K-16K/4K-4K", [4096, 16384]),
        ("1M-1M/1M-1M", [1 << 20, None]),
        ("11-11/11-11/11-11", [11, None]),
    ],
)
def test_the_opening_line_tells_what_was_asked_for(sizes, expected):
    opening = f"j: (g=0): rw=randrw, bs={sizes}, ioengine=libaio, iodepth=16\n"
    tables = read(opening + "fio-2.18-59-g618e\nStarting 1 process\n" + job(RATES))
    run = schema.records(tables["runs"])[0]
    told = (
        "rw",
        "bs_bytes",
        "bs_write_bytes",
        "ioengine",
        "iodepth",
        "numjobs",
        "queue_depth",
        "tool_version",
    )
    assert [run[name] for name in told] == ["randrw", *expected, "libaio", 16, 1, 16, "fio-2.18-59-g618e"]
    assert run["direct"] is None
    assert codes(tables) == []


@pytest.mark.parametrize(
    ("sizes", "code"),
    [("(R) 4096B-64.0KiB, (W) 4096B-4096B", "block_size_varies"), ("(R) 97.7KiB-97.7KiB", "option_not_read")],
)
def test_block_sizes_that_are_not_one_number_are_missing(sizes, code):
    tables = read(f"j: (g=0): rw=read, bs={sizes}, ioengine=sync, iodepth=1\n" + job(RATES))
    assert rows(tables, "runs", "bs_bytes", "iodepth") == [[None, 1]]
    assert codes(tables) == [code]


def test_a_group_says_so_and_counts_all_of_its_jobs():
    tables = read(fixture("group"))
    told = ("level", "numjobs", "iodepth", "queue_depth")
    assert rows(tables, "runs", *told) == [["group", 2, 8, 16]]
    assert rows(tables, "results", "ios", "io_bytes") == [[256, 1 << 20]]


def test_jobs_that_were_started_together_know_of_each_other():
    tables = read(fixture("numjobs"))
    told = ("level", "job_index", "numjobs", "queue_depth")
    assert rows(tables, "runs", *told) == [["job", 0, 2, 1], ["job", 1, 2, 1]]


def test_options_are_of_the_job_of_that_name_and_group():
    openings = OPENING + OPENING.replace("g=0", "g=1").replace("iodepth=16", "iodepth=32")
    tables = read(openings + job(RATES) + job(RATES, header=HEADER.replace("groupid=0", "groupid=1")))
    assert rows(tables, "runs", "group_id", "iodepth") == [[0, 16], [1, 32]]
    tables = read(OPENING + job(RATES) + OPENING.replace("j:", "other:") + job(RATES))
    assert rows(tables, "runs", "iodepth") == [[16], [None]]


def test_the_sum_over_clients_says_so():
    tables = read(fixture("clients"))
    told = ("job", "level", "host", "rw", "bs_bytes", "tool_version", "source_doc")
    assert rows(tables, "runs", *told) == [
        ["a", "job", "vm", "randrw", 4096, "fio-3.33", 0],
        ["b", "job", "vm", "randread", 8192, "fio-3.33", 0],
        ["All clients", "all", None, None, None, "fio-3.33", 0],
    ]
    assert rows(tables, "results", "io_bytes")[-2:] == [[380928], [143360]]


def test_summaries_of_a_group_are_not_counted_again():
    for case in CASES:
        headers = fixture(case).count(": (groupid=")
        assert len(read(fixture(case))["runs"]) == headers, case


def test_names_may_hold_anything():
    for name in ("/dev/vdb", "a: b", "read: IOPS=5", "x;y", "Größe"):
        tables = read(job(RATES, header=HEADER.replace("j:", f"{name}:", 1)))
        assert tables["runs"]["job"].tolist() == [name]


# ---- several reports, and text around them ------------------------------------------------------------


def test_of_status_reports_the_last_one_counts():
    tables = read(fixture("status_interval"))
    assert rows(tables, "runs", "source_doc") == [[0], [1], [2]]
    findings = tables["findings"]
    assert findings["code"].tolist() == ["interim_document"] * 2
    assert findings["run_id"].tolist() == tables["runs"]["run_id"].tolist()[:2]


def test_runs_that_were_appended_to_one_file_all_count():
    longer = RATES.replace("400KiB/2000", "800KiB/4000")

    def twice(**changes: str) -> str:
        return job(longer, **changes).replace("total=100", "total=200")

    start = OPENING + "fio-3.33\nStarting 1 process\n\n"
    tables = read(start + job(RATES) + start + twice())
    assert rows(tables, "runs", "source_doc") == [[0], [1]]
    assert codes(tables) == []
    assert codes(read(job(RATES) + twice())) == ["interim_document"]
    assert codes(read(twice() + job(RATES))) == []
    other = HEADER.replace("pid=7", "pid=8")
    assert codes(read(job(RATES) + twice(header=other))) == []


@pytest.mark.parametrize(
    "quoting",
    [
        lambda text: "".join(f"> {line}\n" for line in text.splitlines()),
        lambda text: "".join(f"# {line}\n" for line in text.splitlines()),
        lambda text: "".join(f"        {line}\n" for line in text.splitlines()),
        lambda text: f"<html><p>We ran fio:</p><pre><code>{html.escape(text)}</code></pre></html>",
        lambda text: "<p>" + "<br>\n".join(html.escape(text).replace(" ", "&nbsp;").splitlines()) + "</p>",
        lambda text: "So we measured:\n\n```\n" + text + "```\nIOPS=5 is what read: gives.\n",
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r\r\n"),
        lambda text: "Jobs: 1 (f=1): [r(1)][50.0%][eta 00m:01s]\r" + text,
        lambda text: text.replace("\nrw: (groupid", "\nJobs: 1 (f=1): [r(1)][eta 00m:00s]rw: (groupid"),
    ],
    ids=["mail", "comment", "indented", "html", "nbsp", "markdown", "crlf", "crcrlf", "eta", "eta-in-line"],
)
def test_a_page_that_quotes_an_output_gives_what_the_output_gives(quoting):
    plain, quoted = (read(text) for text in (fixture("randrw"), quoting(fixture("randrw"))))
    for table in ("results", "latency", "percentiles"):
        left, right = (tables[table].drop(columns="run_id") for tables in (plain, quoted))
        pd.testing.assert_frame_equal(left, right)
    told = ("job", "rw", "bs_bytes", "bs_write_bytes", "iodepth", "error")
    assert rows(plain, "runs", *told) == rows(quoted, "runs", *told)


def test_a_direction_that_is_quoted_alone_is_a_run_of_its_own():
    text = (
        job(RATES)
        + "and with look-ahead\n# fio --name=j\n"
        + RATES.replace("50", "94")
        + "that is more\n"
        + RATES
    )
    tables = read(text + "So it is.\n" + RATES.replace("read", "write"))
    assert rows(tables, "results", "ddir", "iops") == [
        ["read", 50],
        ["read", 94],
        ["read", 50],
        ["write", 50],
    ]
    assert codes(tables) == ["no_job_header", "report_cut"] * 3
    assert rows(tables, "runs", "job", "group_id", "error") == [["j", 0, 0], *[["j", None, None]] * 3]


def test_a_direction_that_comes_again_begins_another_run():
    tables = read(HEADER + RATES + RATES.replace("50", "94"))
    assert rows(tables, "results", "iops") == [[50], [94]]
    assert tables["runs"]["run_id"].is_unique


def test_progress_is_no_result():
    text = (
        OPENING
        + "fio-3.33\nStarting 1 process\n"
        + "Jobs: 1 (f=1): [r(1)][9.5%][r=52.1MiB/s][r=13.3k IOPS]\r" * 9
    )
    tables = read(text)
    assert codes(tables) == ["eta_only"]
    assert "9 lines of fio's progress" in tables["findings"]["message"][0]
    assert tables["runs"].empty
    assert codes(read("Jobs: 1 (f=1), 0-200 IOPS\r")) == ["eta_only"]
    assert codes(read(OPENING)) == ["no_fio_job"]


def test_a_complaint_alone_is_an_error():
    text = "fio: file:ioengines.c:135, func=dlopen, error=libaio: cannot open shared object file\n"
    assert codes(read(text)) == ["fio_error_line", "no_fio_job"]


# ---- mixed outputs ------------------------------------------------------------------------------------


def parts(case: str) -> tuple[str, str, str]:
    """JSON, terse lines and text of a fixture, apart."""
    text = fixture(case, "mixed")
    decoder, documents, rest = json.JSONDecoder(), [], ""
    while (start := text.find("{\n")) >= 0:
        document, end = decoder.raw_decode(text, start)
        documents.append(json.dumps(document))
        rest, text = rest + text[:start], text[end:]
    rest += text
    terse = [line for line in rest.splitlines() if line.count(";") > 99]
    other = [line for line in rest.splitlines() if line.count(";") <= 99]
    return "\n".join(documents), "\n".join(terse), "\n".join(other)


def test_three_outputs_of_one_run_give_the_same_figures_within_their_rounding():
    exact, terse, text = map(read, parts("three"))
    bounds = {
        "results": {
            "iops": (1, 1),
            "io_bytes": (1024, 1024),
            "bw_bytes_per_s": (1024, 104858),
            "runtime_s": (0, 0),
        },
        "latency": {"lat_min_us": (1, 1), "lat_mean_us": (1e-6, 0.01), "lat_max_us": (1, 1)},
        "percentiles": {"lat_us": (1, 1)},
    }
    keys = ["ddir", "lat_kind", "percentile"]
    for table, columns in bounds.items():
        on = [key for key in keys if key in exact[table]]
        kinds = set(terse[table]["lat_kind"]) if "lat_kind" in on else {None}
        for place, rough in enumerate((terse, text)):
            both = exact[table].merge(rough[table], on=on)
            assert len(both) == len(exact[table]) == len(rough[table]) > 0, (table, kinds)
            for column, slack in columns.items():
                off = (both[f"{column}_x"] - both[f"{column}_y"]).abs()
                assert (off <= slack[place] * 1.000001 + 1e-9).all(), (table, column, place)
    assert rows(text, "results", "ddir", "ios") == rows(exact, "results", "ddir", "ios")


@pytest.mark.parametrize("case", MIXED)
def test_every_job_of_a_mixed_file_counts_once(case):
    exact, terse, _ = parts(case)
    mixed, alone = read(fixture(case, "mixed")), read(exact or terse)
    assert len(mixed["runs"]) == len(alone["runs"])
    for table in ("results", "latency", "percentiles", "bins"):
        left, right = (tables[table].drop(columns="run_id") for tables in (mixed, alone))
        if not exact:  # the text adds the number of I/Os
            left, right = (part.drop(columns="ios", errors="ignore") for part in (left, right))
        pd.testing.assert_frame_equal(left, right)
    assert "text_differs" not in codes(mixed)


def test_text_that_differs_from_its_json_is_told_with_both_figures():
    text = fixture("three", "mixed")
    changed = text.replace("issued rwts: total=62", "issued rwts: total=63")
    assert changed != text
    finding = read(changed)["findings"].set_index("code").loc["text_differs"]
    assert "read ios 63 and 62" in finding["message"]
    assert rows(read(changed), "results", "ios") == rows(read(text), "results", "ios")


def test_terse_lines_that_differ_from_their_json_are_told():
    text = fixture("three", "mixed")
    changed = text.replace("3;fio-3.33;mix;0;0;248;", "3;fio-3.33;mix;0;0;240;")
    assert changed != text
    assert "text_differs" in codes(read(changed))


def test_a_job_that_json_lost_is_read_from_the_text():
    text = fixture("three", "mixed")
    start, end = text.index("{\n"), text.index("\nmix: (groupid")
    tables = read(text[: start + 300] + "\n" + text[end:])
    assert "broken_json" in codes(tables)
    assert len(tables["runs"]) == 1
    assert rows(tables, "results", "ddir", "io_bytes") == [["read", 253952], ["write", 270336]]


def test_other_jobs_in_the_text_around_json_are_read_too():
    text = fixture("three", "mixed") + job(RATES)
    tables = read(text)
    assert rows(tables, "runs", "job", "source_doc") == [["mix", 0], ["j", 1]]
    assert tables["runs"]["run_id"].is_unique


def test_text_beside_terse_lines_adds_what_only_it_tells():
    tables = read(fixture("terse_text", "mixed"))
    assert rows(tables, "runs", "rw", "bs_bytes", "iodepth", "ioengine") == [["randrw", 4096, 1, "psync"]]
    assert rows(tables, "results", "ddir", "ios") == [["read", 62], ["write", 66]]
    trimmed = fixture("terse_text", "mixed") + RATES.replace("read", "trim")
    assert "no_job_header" in codes(read(trimmed))


def test_noise_longer_than_the_opening_does_not_hide_the_json():
    noise = OPENING + "Jobs: 1 (f=1): [r(1)][9.5%][eta 00m:01s]\r" * 3000
    tables = read(noise + fixture("three", "mixed"))
    assert rows(tables, "runs", "job", "bs_write_bytes") == [["mix", 8192]]
    assert len(tables["bins"])


# ---- damage -------------------------------------------------------------------------------------------


def test_a_report_that_breaks_off_keeps_what_is_whole():
    text = fixture("randrw")
    for end in ("  write:", "    clat percentiles", "  cpu "):
        tables = read(text[: text.index(end)])
        assert "report_cut" in codes(tables)
        assert rows(tables, "results", "ddir", "ios", "io_bytes")[0] == ["read", None, 102400]


@pytest.mark.parametrize(
    ("inside", "ios"),
    [((), 100), ((CLAT,), 100), (("  cpu          : usr=1.00%, sys=2.00%, ctx=1, majf=0, minf=1\n",), 100)],
)
def test_a_job_whose_rates_were_taken_out_did_io(inside: tuple[str, ...], ios: int) -> None:
    tables = read(HEADER + "".join(inside) + END)
    assert rows(tables, "results", "ios", "iops", "io_bytes") == [[ios, None, None]]
    assert "no_io" not in codes(tables)


@pytest.mark.parametrize("text", [HEADER, HEADER + CLAT, HEADER + CLAT + END.replace("100,", "0,")])
def test_where_the_lines_of_the_directions_are_missing_nothing_says_that_there_was_no_io(text: str) -> None:
    tables = read(text)
    assert codes(tables) == ["report_cut"]
    assert "lines with its rates are missing" in tables["findings"]["message"][0]


def test_a_direction_without_its_line_beside_another_one_has_its_ios_alone() -> None:
    tables = read(job(RATES).replace("total=100,0", "total=100,50"))
    assert rows(tables, "results", "ddir", "ios", "runtime_s") == [["read", 100, 2], ["write", 50, None]]
    assert codes(tables) == ["report_cut"]


def test_a_whole_report_without_io_says_so() -> None:
    assert codes(read(HEADER + END.replace("100,", "0,"))) == ["no_io"]


@given(st.data())
def test_no_cut_invents_figures(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CASES))
    text = fixture(case)
    cut = data.draw(st.integers(0, len(text)))
    whole, kept = read(text), read(text[:cut])
    rates = ("iops", "bw_bytes_per_s", "io_bytes")  # as printed, where the number of I/Os was cut off
    for table in ("results", "latency", "percentiles"):
        exact = [
            name for name in whole[table] if name not in ("run_id", "ios", "iops_stddev", "errors", *rates)
        ]
        left, right = (tables[table][exact].values.tolist() for tables in (kept, whole))
        assert left == right[: len(left)], table
    for name in rates:
        left, right = (tables["results"][name].fillna(-1).tolist() for tables in (kept, whole))
        assert left == pytest.approx(right[: len(left)], rel=0.01), name


@given(st.data())
def test_any_overwritten_byte_leaves_tables_sound(data: st.DataObject) -> None:
    kind, case = data.draw(st.sampled_from([("text", case) for case in CASES] + [("mixed", "three")]))
    content = bytearray(fixture(case, kind).encode())
    for place, byte in data.draw(st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)))):
        content[place] = byte
    tables = read(bytes(content))
    for name, table in tables.items():
        schema.check(name, table)
    for name in ("results", "latency", "percentiles", "bins"):
        assert set(tables[name]["run_id"]) <= set(tables["runs"]["run_id"])


@pytest.mark.parametrize(
    "line",
    [
        " " * 10**7,
        "9" * 10**7,
        "j: (groupid=0, jobs=1): err= 0: pid=" + "9" * 10**7,
        "read: IOPS=" + "9" * 10**7,
        "clat (usec): min=" + "1," * 10**6,
        "> " * 10**6,
        "<p>" * 10**6,
        "<p" * 10**6,
        "&gt;" * 10**6,
        "[eta " * 10**6,
        "Jobs: 1 (f=1)" + "[eta " * 10**6,
        ": (g=0): rw=" * 10**6,
        "issued: total=" + "0," * 10**6,
        "hostname=" * 10**6,
        "\n" * 10**6,
        "1.00th=[" * 10**6,
    ],
    ids=lambda line: line[:12],
)
@pytest.mark.sampled(7)
def test_hopeless_lines_are_given_up_quickly(line):
    fio_text.sniff(line)
    tables = fio_text.read_fio_text(Source("some.txt", (HEADER + line).encode())).frames()
    assert tables["results"].empty


def test_many_jobs_of_one_name_take_linear_time():
    tables = fio_text.read_fio_text(Source("some.txt", (job(RATES) * 3000).encode())).frames()
    assert len(tables["runs"]) == 3000


@pytest.mark.parametrize(
    "text", ["", "read: 5\n", "fio is a tool\n", "1, 2, 0, 4096\n", "Run status group 0\n"]
)
def test_other_text_is_not_claimed(text):
    assert not fio_text.sniff(text)


@pytest.mark.parametrize("rate", ["812iB/s", "8.12iB/s", "812i/s"])
def test_a_prefix_without_its_letter_is_no_rate(rate):
    """fio writes B, KiB or kB; a figure of which the letter is gone can be of any size."""
    tables = read(HEADER + RATES.replace("200KiB/s", rate) + CLAT + END)
    assert tables["results"].empty
    assert len(codes(tables))


def test_a_block_size_without_its_letter_is_none():
    opening = "j: (g=0): rw=read, bs=4iB-4iB/4iB-4iB/4iB-4iB, ioengine=psync, iodepth=1\n"
    tables = read(opening + HEADER + RATES + CLAT + END)
    assert tables["runs"]["bs_bytes"].isna().all()


SUMMARY = (
    "\nRun status group 0 (all jobs):\n   READ: bw=200KiB/s (205kB/s), io=400KiB (410kB), run=2000-2000msec\n"
)
STATS = "\nDisk stats (read/write):\n"
SDA = "  sda: ios=150/50, merge=0/7685416, ticks=4933/2652238, in_queue=2657171, util=24.43%\n"
DM = (
    "    dm-0: ios=140/60, merge=0/0, ticks=1/2, in_queue=3, util=24.43%, aggrios=150/50, aggrmerge=0/1, "
    "aggrticks=1/2, aggrin_queue=3, aggrutil=24.10%\n"
)


def device_ios(text: str) -> list[Any]:
    return [row[0] for row in rows(read(text), "runs", "device_ios_per_io")]


@pytest.mark.parametrize(
    ("stats", "expected"),
    [
        (SDA, 2.0),  # 200 I/Os of the device for 100 of the job
        (DM + SDA, 2.0),  # a device that is made of others is not counted beside them
        (SDA + SDA.replace("sda", "nvme0n1").replace("150/50", "10/0"), 2.1),
        (SDA.replace("ios=150/50, ", "ios=150/50, sectors=20253896/15093720, "), 2.0),  # from 3.35 on
        ("", None),
        ("  sda: ios=x/50, merge=0/0\n", None),
    ],
)
def test_disk_stats_tell_the_ios_of_the_devices(stats: str, expected: float | None) -> None:
    assert device_ios(OPENING + "\n" + job(RATES, CLAT) + SUMMARY + STATS + stats) == [expected]


def test_disk_stats_of_jobs_one_after_the_other_are_of_neither() -> None:
    """fio's statistics are of the whole time; with stonewall the jobs have groups of their own."""
    second = job(RATES, header=HEADER.replace("groupid=0", "groupid=1").replace("j:", "k:", 1))
    assert device_ios(job(RATES) + second + SUMMARY + STATS + SDA) == [None, None]
    both = job(RATES) + job(RATES, header=HEADER.replace("j:", "k:", 1).replace("pid=7", "pid=8"))
    assert device_ios(both + SUMMARY + STATS + SDA) == [1.0, 1.0]


def test_disk_stats_belong_to_the_run_above_them() -> None:
    again = job(RATES, header=HEADER.replace("pid=7", "pid=9"))
    text = job(RATES) + SUMMARY + STATS + SDA + "Starting 1 process\n" + again + SUMMARY
    assert device_ios(text) == [2.0, None]
