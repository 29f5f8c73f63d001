"""Summaries of scripts around fio: kubestr, dbench, kbench, yabs.sh, and bench.sh, which has none.

The inputs follow what the scripts print, with invented figures (tests/data/fio/summaries).
"""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from azbenchlib.core import schema
from azbenchlib.core.units import GIB, KIB, MIB
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data" / "fio" / "summaries"


def read(text: str) -> dict[str, pd.DataFrame]:
    """Read a text as a file."""
    return registry.read(Source("some.txt", text.encode()))


def fixture(name: str) -> str:
    """Give the text of an input."""
    return (DATA / name).read_text(encoding="utf-8")


def rows(tables: dict[str, pd.DataFrame], *columns: str) -> list[list[Any]]:
    """Give these columns of the results, with those of their runs."""
    both = tables["results"].merge(tables["runs"], on="run_id")
    return [[row.get(name) for name in columns] for row in schema.records(both)]


def codes(tables: dict[str, pd.DataFrame]) -> set[str]:
    """Give the codes of the findings."""
    return set(tables["findings"]["code"])


def test_kubestr_tells_pattern_block_size_and_exact_rates() -> None:
    tables = read(fixture("kubestr.txt"))
    columns = ("job", "rw", "bs_bytes", "iodepth", "direct", "tool_version", "ddir", "iops", "bw_bytes_per_s")
    assert rows(tables, *columns) == [
        ["read_iops", "randread", 4096, 64, True, "fio-3.30", "read", 1234.5, 4938 * KIB],
        ["mixed", "randrw", 128 * KIB, 16, True, "fio-3.30", "read", 400.25, 51232 * KIB],
        ["mixed", "randrw", 128 * KIB, 16, True, "fio-3.30", "write", 401.75, 51424 * KIB],
    ]
    assert codes(tables) == {"script_summary"}


def test_kubestr_without_options_leaves_them_missing() -> None:
    asked = "blocksize=4K filesize=2G iodepth=64 rw=randread"
    text = fixture("kubestr.txt").replace(asked, "blocksize= filesize= iodepth= rw=")
    assert rows(read(text), "job", "rw", "bs_bytes", "iops")[0] == ["read_iops", None, None, 1234.5]


def test_dbench_has_rates_of_its_script_rounded() -> None:
    tables = read(fixture("dbench.txt"))
    assert rows(tables, "job", "rw", "bs_bytes", "queue_depth", "iops", "bw_bytes_per_s") == [
        ["read_iops", "randread", 4096, 64, 75_700, None],
        ["write_iops", "randwrite", 4096, 64, 9987, None],
        ["read_bw", "randread", 128 * KIB, 64, None, 523 * MIB],
        ["write_bw", "randwrite", 128 * KIB, 64, None, 1.5 * GIB],
        ["read_seq", "read", MIB, 64, None, 536 * MIB],
        ["write_seq", "write", MIB, 64, None, 512 * MIB],
        ["rw_mix", "randrw", 4096, 64, 43_100, None],
        ["rw_mix", "randrw", 4096, 64, 14_400, None],
    ]
    assert tables["latency"]["lat_mean_us"].tolist() == [183.07, 76.91]
    assert codes(tables) == {"script_summary", "rounded_iops"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Average Latency Read/Write: 1.5(ms) / 36.1(usec)", [1500, 36.1]),
        ("Average Latency (ms) Read/Write: 36.1/3.1", [36100, 3100]),
        ("Average Latency (usec) Read/Write: /", []),
        ("Average Latency Read/Write: 36.1/3.1", []),
    ],
)
def test_dbench_tells_the_unit_of_latencies_in_several_ways(line: str, expected: list[float]) -> None:
    lines = fixture("dbench.txt").splitlines()
    lines[6] = line
    assert read("\n".join(lines))["latency"]["lat_mean_us"].tolist() == expected


def test_kbench_has_rates_and_mean_latencies() -> None:
    tables = read(fixture("kbench.txt"))
    found = rows(tables, "job", "rw", "bs_bytes", "iodepth", "iops", "bw_bytes_per_s")
    assert found[:4] == [
        ["rand-read-iops", "randread", 4096, 64, 9380, None],
        ["rand-write-iops", "randwrite", 4096, 64, 5288, None],
        ["seq-read-iops", "read", 4096, 64, 14895, None],
        ["seq-write-iops", "write", 4096, 64, 10262, None],
    ]
    assert found[4] == ["rand-read-bw", "randread", 128 * KIB, 64, None, 300_118 * KIB]
    assert tables["latency"]["lat_mean_us"].tolist() == [902.039, 1093.148, 44.926, 1043.971]
    assert set(tables["runs"]["working_set_bytes"]) == {30 * GIB}


def test_a_comparison_of_kbench_has_two_volumes() -> None:
    text = (
        "================================\nFIO Benchmark Comparsion Summary\nFor: raw vs ext4\nSIZE: 50G\n"
        "================================\n        raw   vs    ext4    :              Change\n"
        "IOPS (Read/Write)\n   Random:   96,735 / 89,565   vs   98,135 / 88,990    :      1.45% / -0.64%\n"
    )
    assert rows(read(text), "job", "iops") == [
        ["raw rand-read-iops", 96_735],
        ["raw rand-write-iops", 89_565],
        ["ext4 rand-read-iops", 98_135],
        ["ext4 rand-write-iops", 88_990],
    ]


def test_the_first_versions_of_kbench_have_a_block_a_pattern() -> None:
    text = (
        "=========\n= FIO Benchmark Summary =\n=========\n\nRandom Read/Write\n"
        "IOPS:             98,368  / 89,200\nIOPS CPU(USR/SYS): ( 8% / 9% ) / ( 7% / 5% )\n"
        "Bandwidth:        542,447 KiB/sec   / 514,487 KiB/sec\nAverage Latency:  97,222 ns  / 44,548 ns\n"
    )
    assert rows(read(text), "job", "iops", "bw_bytes_per_s") == [
        ["rand-read-iops", 98_368, None],
        ["rand-write-iops", 89_200, None],
        ["rand-read-bw", None, 542_447 * KIB],
        ["rand-write-bw", None, 514_487 * KIB],
    ]
    assert read(text)["latency"]["lat_mean_us"].tolist() == [97.222, 44.548]


def test_yabs_has_a_mix_of_each_block_size() -> None:
    tables = read(fixture("yabs.txt"))
    found = rows(tables, "job", "rw", "rwmix_read_pct", "bs_bytes", "queue_depth", "ddir", "iops")
    assert found[0] == ["rand_rw_4k", "randrw", 50, 4096, 128, "read", 4100]
    assert [row[-1] for row in found] == [4100, 61_000, 2300, 2400, 598, 630, 283, 1000]
    assert "rounded_iops" in codes(tables)
    assert set(tables["runs"]["target"]) == {"/dev/vda1"}


def test_what_yabs_calls_megabytes_follows_from_the_iops_beside_them() -> None:
    text = fixture("yabs.txt").partition("Total")[0]
    assert rows(read(text), "bw_bytes_per_s")[1] == [244_000 * KIB]
    since = text.replace("244.00 MB/s  (61.0k)", "249.86 MB/s  (61.0k)")
    assert rows(read(since), "bw_bytes_per_s")[1] == [pytest.approx(249.86e6)]
    unclear = text.replace("244.00 MB/s  (61.0k)", "200.00 MB/s  (61.0k)")
    assert rows(read(unclear), "bw_bytes_per_s")[1] == [None]


def test_json_of_yabs_is_exact() -> None:
    tables = read(fixture("yabs.json"))
    assert rows(tables, "ddir", "iops", "bw_bytes_per_s") == [
        ["read", 101_354, 405_417 * KIB],
        ["write", 101_621, 406_487 * KIB],
    ]
    assert codes(tables) == {"script_summary"}


@pytest.mark.parametrize("field", ['"iops_r": 101354', '"speed_w": 406487'])
def test_json_of_yabs_with_a_number_that_no_column_holds_has_no_figures(field: str) -> None:
    text = fixture("yabs.json")
    assert text.count(field) == 1
    tables = read(text.replace(field, f"{field.split(':')[0]}: 1{400 * '0'}"))
    assert tables["results"].empty and codes(tables) == {"no_figures"}


def test_bench_sh_is_told_what_to_use_instead() -> None:
    tables = read("----\n I/O Speed(1st run) : 652 MB/s\n I/O Speed(average) : 652.0 MB/s\n----\n")
    assert tables["runs"].empty
    assert codes(tables) == {"no_figures"}
    assert "fio" in tables["findings"]["advice"][0]


def test_the_output_of_fio_in_the_same_file_counts() -> None:
    fio = "j: (groupid=0, jobs=1): err= 0: pid=7: Fri Nov 20 16:23:18 2026\n"
    fio += "  read: IOPS=50, BW=200KiB/s (205kB/s)(400KiB/2000msec)\n"
    assert rows(read(fio + fixture("dbench.txt")), "job", "iops") == [["j", 50]]


def test_a_summary_beside_another_output_of_fio_is_read_too() -> None:
    fio = "j: (groupid=0, jobs=1): err= 0: pid=7: Fri Nov 20 16:23:18 2026\n"
    fio += "  read: IOPS=50, BW=200KiB/s (205kB/s)(400KiB/2000msec)\n"
    alone = rows(read(fio), "job", "ddir", "iops")
    for name in ("kbench.txt", "kubestr.txt", "yabs.txt"):
        summary = rows(read(fixture(name)), "job", "ddir", "iops")
        assert rows(read(fio + fixture(name)), "job", "ddir", "iops") == alone + summary
    assert rows(read(fio + fixture("dbench.txt")), "job", "ddir", "iops") == alone  # it sums up fio's texts


@pytest.mark.parametrize("name", ["kubestr.txt", "dbench.txt", "kbench.txt", "yabs.txt", "yabs.json"])
@pytest.mark.sampled(1)
def test_any_cut_of_a_summary_leaves_sound_tables(name: str) -> None:
    text = fixture(name)
    whole = {tuple(row) for row in rows(read(text), "job", "ddir", "iops")}
    for end in range(0, len(text), 7):
        tables = read(text[: text.rfind("\n", 0, end) + 1])
        assert {tuple(row) for row in rows(tables, "job", "ddir", "iops")} <= whole


@pytest.mark.parametrize(
    "unit",
    [
        "JobName: \n",
        "read:\n  IOPS=5 BW(KiB/s)=5\n",
        "Random Read/Write IOPS: 1/",
        "For: a vs ",
        "| 4k (IOPS) ",
    ],
)
@pytest.mark.sampled(2)
def test_hopeless_summaries_take_linear_time(unit: str) -> None:
    for name in ("kubestr.txt", "dbench.txt", "kbench.txt", "yabs.txt"):
        read(fixture(name) + unit * (200_000 // len(unit)))
