"""The readers of iozone's text and latency files: positions, units, modes, damage."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core import schema
from azbenchlib.core.units import KIB
from azbenchlib.formats import registry
from azbenchlib.formats.iozone import dat as iozone_dat
from azbenchlib.formats.iozone import text as iozone_text
from azbenchlib.formats.iozone._tests import TESTS, CommandLine
from azbenchlib.formats.iozone._tests import test_of as iozone_test
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data" / "iozone"
CASES = [path for path in sorted(DATA.glob("*")) if path.with_suffix(".results.csv").exists()]
HEADER = {
    9: "              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite"
    "      read   fwrite frewrite    fread  freread",
    8: "              KB  reclen   write rewrite    read    reread    read   write    read  rewrite"
    "     read   fwrite frewrite   fread  freread",
}
WIDTHS = {9: (9, 9, 9, 9, 9, 9, 9, 10, 10, 9, 9, 9, 9), 8: (8, 8, 9, 9, 8, 8, 8, 9, 9, 9, 9, 8, 9)}


def read(text: str) -> dict[str, pd.DataFrame]:
    return iozone_text.read_iozone_text(Source("iozone.txt", text.encode())).frames()


def figures(tables: dict[str, pd.DataFrame], column: str = "bw_bytes_per_s") -> dict[str, float]:
    """Figure of each test."""
    rows = tables["runs"].merge(tables["results" if column in tables["results"] else "latency"], on="run_id")
    return dict(zip(rows["rw"], rows[column], strict=True))


def row(values: dict[int, int], layout: int = 9, sizes: tuple[int, int] = (1024, 64)) -> str:
    """A row of auto mode as iozone prints it."""
    text = f"{sizes[0]:>16}{sizes[1]:>8}"
    for place, width in enumerate(WIDTHS[layout]):
        if place not in values:
            text += " " * width
        elif layout == 9:
            text += f" {values[place]:>{width - 1}}"
        else:
            text += f"{values[place]:>{width}}"
    return text


def codes(tables: dict[str, pd.DataFrame]) -> list[str]:
    return tables["findings"]["code"].tolist()


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.name)
def test_a_fixture_gives_its_figures(path):
    tables = registry.read(Source.of(path))
    wanted = pd.read_csv(path.with_suffix(".results.csv"))
    keys = wanted.columns.tolist()[:-1]
    rows = tables["runs"].merge(tables["results"], on="run_id", validate="one_to_one")[wanted.columns]
    pd.testing.assert_frame_equal(
        rows.sort_values(keys, ignore_index=True),
        wanted.sort_values(keys, ignore_index=True),
        check_dtype=False,
    )
    assert set(codes(tables)) <= {"cpu_is_a_sum"}


@pytest.mark.parametrize("path", [DATA / "auto.txt", DATA / "auto.xls"], ids=lambda path: path.name)
def test_a_run_says_how_it_was_called(path):
    tables = registry.read(Source.of(path))
    runs = tables["runs"]
    assert runs["direct"].all()
    assert set(runs["target"]) == {"/mnt/data/iozone.tmp"}
    assert runs["tool"].eq("iozone").all() and runs["level"].eq("job").all()
    assert runs["run_id"].is_unique
    cpu = runs[runs["rw"] == "write"].set_index(["working_set_bytes", "bs_bytes"])["usr_cpu_pct"]
    assert cpu.isna().tolist() == [False, True, False, False, False]  # a zero is no measurement
    assert cpu[131072, 131072] == 8.75
    assert runs.loc[runs["rw"] != "write", "usr_cpu_pct"].isna().all()


def test_directions_follow_from_the_tests():
    tables = registry.read(Source.of(DATA / "auto.txt"))
    rows = tables["runs"].merge(tables["results"], on="run_id")
    ddirs = rows.groupby("rw")["ddir"].unique().map(list).to_dict()
    assert ddirs == {
        "write": ["write"],
        "rewrite": ["write"],
        "read": ["read"],
        "reread": ["read"],
        "stride_read": ["read"],
    }


@given(
    layout=st.sampled_from([9, 8]),
    values=st.dictionaries(st.integers(0, 12), st.integers(1, 10**7 - 1), min_size=1),
)
def test_a_figure_belongs_to_the_column_at_whose_end_it_stands(layout, values):
    values = dict(sorted(values.items()))
    wanted = {TESTS[place]: value * KIB for place, value in values.items()}
    assert figures(read(f"{HEADER[layout]}\n{row(values, layout)}\n")) == wanted


@given(wide=st.integers(0, 11), digits=st.integers(9, 12), data=st.data())
def test_an_over_wide_figure_shifts_the_rest_of_its_row(wide, digits, data):
    values = {place: data.draw(st.integers(1, 9_999_999)) for place in range(13)}
    values[wide] = int("9" * digits)
    wanted = {TESTS[place]: value * KIB for place, value in values.items()}
    assert figures(read(f"{HEADER[9]}\n{row(values)}\n")) == wanted


def test_narrow_figures_that_touch_are_told_apart_unless_one_is_too_wide():
    touching = dict(enumerate([1234567, 12345678, 123456789, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))
    wanted = {TESTS[place]: value * KIB for place, value in touching.items()}
    assert figures(read(f"{HEADER[8]}\n{row(touching, 8)}\n")) == wanted
    behind_a_shift = touching | {0: 123456789, 1: 1, 4: 1234567, 5: 12345678}
    wanted = {TESTS[place]: value * KIB for place, value in behind_a_shift.items()}
    assert figures(read(f"{HEADER[8]}\n{row(behind_a_shift, 8)}\n")) == wanted
    for one, other in ((1234567, 123456789), (123456789, 12345678)):
        tables = read(f"{HEADER[8]}\n{row(touching | {0: one, 1: other}, 8)}\n")
        assert set(TESTS[:13]) - figures(tables).keys() >= {"write", "rewrite"}
        assert codes(tables) == ["row_not_read"]


OLDER = HEADER[8].replace("  rewrite     read   fwrite", " rewrite    read   fwrite")
OLDER_WIDTHS = (8, 8, 9, 9, 8, 8, 8, 8, 8, 9, 9, 8, 9)


def older_row(values: dict[int, int], widths: tuple[int, ...] = OLDER_WIDTHS) -> str:
    """Give a row as iozone 3.28 prints it (``printf`` of its tests), blanks for tests that were not run."""
    cells = (f"{values.get(place, ''):>{width}}" for place, width in enumerate(widths))
    return f"{1024:>16}{64:>8}" + "".join(cells)


@given(values=st.dictionaries(st.integers(0, 12), st.integers(1, 10**7 - 1), min_size=1))
def test_a_figure_of_a_version_before_3_4_belongs_to_its_narrower_column(values):
    values = dict(sorted(values.items()))
    tables = read(f"{OLDER}\n{older_row(values).rstrip()}\n\niozone test complete.\n")
    assert figures(tables) == {TESTS[place]: value * KIB for place, value in values.items()}
    assert codes(tables) == []


@pytest.mark.parametrize("command", ["-O", "-N"])
def test_older_columns_hold_other_units_too(command):
    column, unit = {
        "-O": ("iops", "operations per second"),
        "-N": ("lat_mean_us", "microseconds per operation"),
    }[command]
    text = f"Command line used: iozone -a {command}\n\tOutput is in {unit}.\n{OLDER}\n"
    wanted = {0: 999, 1: 1165, 4: 246, 7: 1107, 8: 88}
    found = figures(read(f"{text}{older_row(wanted)}\n"), column)
    assert found == {TESTS[place]: value for place, value in wanted.items()}


UNKNOWN = (9, 7, 9, 10, 8, 8, 7, 9, 8, 9, 9, 8, 9)


def test_as_many_figures_as_titles_are_taken_in_their_order():
    wanted = {place: 1000 + place for place in range(13)}
    tables = read(f"{OLDER}\n{older_row(wanted, UNKNOWN)}\n\niozone test complete.\n")
    assert figures(tables) == {TESTS[place]: value * KIB for place, value in wanted.items()}
    assert codes(tables) == []
    cut = read(f"{OLDER}\n{older_row(wanted, UNKNOWN)[:-1]}")  # its end may be missing
    assert "row_not_read" in codes(cut)


def test_figures_of_some_tests_belong_where_the_rows_of_the_table_share_an_end():
    wanted = {0: 1000, 1: 1001, 4: 1004, 7: 1007, 8: 1008}
    rows = [
        older_row(wanted, UNKNOWN).rstrip(),
        older_row(wanted, UNKNOWN).rstrip().replace("1024", "2048", 1),
    ]
    tables = read(f"{OLDER}\n" + "\n".join(rows) + "\n\niozone test complete.\n")
    assert codes(tables) == []
    assert tables["runs"]["rw"].tolist() == [TESTS[place] for place in wanted] * 2
    assert "row_not_read" in codes(read(f"{OLDER}\n{rows[0]}\n\n"))  # a row alone shares its ends with none


def test_a_second_row_of_the_same_sizes_is_of_another_run():
    rows = [older_row({0: 10, 1: 20}), older_row({0: 30, 1: 40})]
    text = f"\tIozone: Performance Test of File I/O\n\tVersion $Revision: 3.279 $\n{OLDER}\n" + "\n".join(
        rows
    )
    tables = read(f"{text}\n\niozone test complete.\n")
    assert tables["runs"]["source_doc"].tolist() == [0, 0, 1, 1]
    assert tables["runs"]["tool_version"].tolist() == ["3.279"] * 4
    assert (tables["results"]["bw_bytes_per_s"] / KIB).tolist() == [10, 20, 30, 40]
    assert codes(tables) == []


@pytest.mark.parametrize(
    "prompt", ["$ sudo iozone", "root@host:/mnt# ./iozone", "+ iozone", "PS C:\\> iozone.exe"]
)
def test_a_command_line_above_an_output_without_its_banner_tells_its_unit(prompt):
    table = f"{OLDER}\n{older_row({0: 10, 1: 20})}\n"
    tables = read(f"{prompt} -a -O -I -f /mnt/x | tee out\n{table}$ iozone -a\n{table}")
    assert tables["runs"]["direct"].tolist() == [True, True, False, False]
    assert tables["runs"]["target"].dropna().tolist() == ["/mnt/x", "/mnt/x"]
    assert tables["results"]["iops"].tolist()[:2] == [10, 20]
    assert (tables["results"]["bw_bytes_per_s"] / KIB).tolist()[2:] == [10, 20]
    assert codes(tables) == ["options_beside"] * 2


def test_a_page_that_keeps_one_blank_of_several_is_read_in_order():
    header = "KB reclen write rewrite read reread"
    tables = read(f"{header}\n1024 64 10 20 30 40\n1024 128 11 21 31 41\n1024 256 12 22\n\n")
    assert figures(tables) == {"write": 11 * KIB, "rewrite": 21 * KIB, "read": 31 * KIB, "reread": 41 * KIB}
    assert len(tables["runs"]) == 8
    assert codes(tables) == ["row_not_read"]


def test_a_row_that_was_cut_loses_the_figure_that_was_cut():
    whole = row({0: 1111111, 1: 2222222, 2: 3333333, 3: 4444444})
    cut = row({0: 1111111, 1: 2222222, 2: 3333333}, sizes=(2048, 64)).rstrip()[:-2]
    tables = read(f"{HEADER[9]}\n{whole}\n{cut}")
    runs = tables["runs"]
    assert runs.loc[runs["working_set_bytes"] == 2048 * KIB, "rw"].tolist() == ["write", "rewrite"]
    assert codes(tables) == ["row_not_read"]


def test_a_row_without_figures_is_a_finding():
    tables = read(f"{HEADER[9]}\n{row({0: 5})}\n            2048      64\n\nCan not open temp file: /x\n")
    assert len(tables["runs"]) == 1
    assert codes(tables) == ["iozone_message", "row_not_read"]


def test_extended_tests_have_columns_of_their_own():
    header = HEADER[9] + "  pwrite repwrite   pread   repread"
    text = row({0: 11, 1: 22}).ljust(142) + f"{33:>9}{44:>9}{55:>8}{66:>9}"
    wanted = {"write": 11, "rewrite": 22, "pwrite": 33, "repwrite": 44, "pread": 55, "repread": 66}
    assert figures(read(f"{header}\n{text}\n")) == {test: value * KIB for test, value in wanted.items()}


@pytest.mark.parametrize(
    ("told", "table", "column", "wanted"),
    [
        ("OPS Mode. Output is in operations per second.", "results", "iops", [7.0, 3.0]),
        (
            "Microseconds/op Mode. Output is in microseconds per operation.",
            "latency",
            "lat_mean_us",
            [7.0, 3.0],
        ),
        ("Output is in kBytes/sec", "results", "bw_bytes_per_s", [7.0 * KIB, 3.0 * KIB]),
        ("Output is in Kbytes/sec", "results", "bw_bytes_per_s", [7.0 * KIB, 3.0 * KIB]),
    ],
)
def test_the_unit_is_the_one_that_is_told(told, table, column, wanted):
    tables = read(f"\t{told}\n{HEADER[9]}\n{row({0: 7, 2: 3})}\n")
    assert tables[table][column].tolist() == wanted
    assert tables["results" if table == "latency" else "latency"].empty
    filled = tables[table].dropna(axis=1, how="all").columns
    assert set(filled) == {"run_id", "ddir", column} | ({"lat_kind"} if table == "latency" else set())


def test_the_zeros_of_retests_left_out_are_no_measurement():
    rows = f"{HEADER[9]}\n{row({0: 7, 1: 0, 2: 9, 3: 0})}\n"
    tables = read(f"\tCommand line used: iozone -+n -i 0 -i 1 -s 1m -r 64k\n{rows}")
    assert figures(tables) == {"write": 7 * KIB, "read": 9 * KIB}
    assert codes(tables) == []
    other = read(f"\tCommand line used: iozone -i 0 -i 1 -s 1m -r 64k\n{rows}")
    assert pd.isna(figures(other)["rewrite"])
    assert codes(other) == ["zero_rate"]


def test_means_below_a_microsecond_are_kept_and_told():
    tables = read(
        f"\tMicroseconds/op Mode. Output is in microseconds per operation.\n{HEADER[9]}\n{row({0: 0})}\n"
    )
    assert tables["latency"]["lat_mean_us"].tolist() == [0]
    assert codes(tables) == ["below_resolution"]


def test_a_report_counts_where_there_are_no_rows_and_is_checked_where_there_are():
    report = '\nExcel output is below:\n\n"Writer report"\n        "4"  "64"\n"1024"   21  22 \n'
    assert len(read(report)["results"]) == 2
    rows = f"{HEADER[9]}\n{row({0: 22})}\n"
    assert codes(read(rows + report)) == []
    tables = read(rows.replace("22", "23") + report)
    assert codes(tables) == ["report_differs"]
    assert 23 * KIB in tables["results"]["bw_bytes_per_s"].tolist()


def test_a_report_alone_gives_no_figure_whose_place_is_not_told():
    head = 'Excel output is below:\n\n"Writer report"\n        "4"  "64"  "1024"\n'
    tables = read(f'{head}"64"   5  6 \n"2048"   7  8 \n"4096"   0  9  10 \n')
    rows = tables["runs"].merge(tables["results"], on="run_id")
    places = rows[["working_set_bytes", "bs_bytes", "bw_bytes_per_s"]] / KIB
    assert places.values.tolist() == [[64, 4, 5], [64, 64, 6], [4096, 64, 9], [4096, 1024, 10]]
    assert codes(tables) == ["row_not_read"]


@pytest.mark.parametrize("unit", ["kB/sec", "KB/sec"])
def test_throughput_mode_gives_the_sum_of_the_children(unit):
    text = (
        "\tEach process writes a 512 kByte file in 4 kByte records\n\n"
        f"\tChildren see throughput for  4 mixed workload \t=   100.50 {unit}\n"
        f"\tParent sees throughput for  4 mixed workload \t=   90.50 {unit}\n"
        "\tCPU Utilization: Wall time    1.000    CPU time    0.250    CPU utilization  25.00 %\n"
    )
    tables = read(text)
    (run,) = tables["runs"].to_dict("records")
    assert (run["rw"], run["numjobs"], run["bs_bytes"], run["working_set_bytes"]) == (
        "random_mix",
        4,
        4 * KIB,
        4 * 512 * KIB,
    )
    assert run["usr_cpu_pct"] == 25
    assert tables["results"][["ddir", "bw_bytes_per_s"]].values.tolist() == [["mixed", 100.5 * KIB]]


def _processes(children: float, parent: float, least: float, jobs: int = 4) -> str:
    return (
        f"\tChildren see throughput for  {jobs} random readers \t=   {children:.2f} ops/sec\n"
        f"\tParent sees throughput for  {jobs} random readers \t=   {parent:.2f} ops/sec\n"
        f"\tMin throughput per process \t\t\t=   {least:.2f} ops/sec \n"
    )


@pytest.mark.parametrize(
    ("children", "parent", "least", "doubtful"),
    [
        (38_462, 240, 0, True),
        (38_462, 240, 9_000, True),
        (400, 380, 0, True),
        (400, 380, 90, False),
        (400, 220, 90, False),
        (400, 190, 90, True),
    ],
)
def test_processes_that_hardly_ran_at_once_make_their_sum_doubtful(children, parent, least, doubtful):
    tables = read(_processes(children, parent, least))
    assert tables["results"]["iops"].tolist() == [children]
    assert codes(tables) == (["processes_uneven"] if doubtful else [])


def test_the_cpu_report_of_throughput_mode_is_no_second_throughput():
    text = (
        "\tCommand line used: iozone -t 2 -+u -R -s 1m -r 64k -i 0\n"
        "\tEach process writes a 1024 kByte file in 64 kByte records\n"
        "\tChildren see throughput for  2 initial writers \t=  500.50 kB/sec\n"
        "\tCPU Utilization: Wall time    0.001    CPU time    0.001    CPU utilization  85.95 %\n"
        '"Throughput report Y-axis is type of test X-axis is number of processes"\n'
        '"Record size = 64 kBytes "\n"Output is in kBytes/sec"\n\n"  Initial write " 500.50 \n\n'
        '"CPU utilization report Y-axis is type of test X-axis is number of processes"\n'
        '"Record size = 64 kBytes "\n"Output is in CPU%"\n\n"  Initial write "      85.95 \n'
    )
    tables = read(text)
    assert tables["results"]["bw_bytes_per_s"].tolist() == [500.5 * KIB]
    assert tables["runs"]["usr_cpu_pct"].tolist() == [85.95]
    assert codes(tables) == ["cpu_is_a_sum"]
    report_alone = text[: text.index("\tChildren")] + text[text.index('"CPU utilization report') :]
    assert read(report_alone)["results"].empty


def test_throughput_in_operations_is_told_on_the_line():
    tables = read("\tChildren see throughput for  2 random readers \t=   150.25 ops/sec\n")
    assert tables["results"][["ddir", "iops"]].values.tolist() == [["read", 150.25]]
    assert tables["results"]["bw_bytes_per_s"].isna().all()


def test_several_runs_in_a_file_are_apart():
    text = (DATA / "narrow.txt").read_text()
    runs = read(text + text)["runs"]
    assert runs["source_doc"].value_counts().to_dict() == {0: 26, 1: 26}
    assert runs["run_id"].is_unique


def test_the_place_of_a_file_does_not_change_its_runs():
    data = (DATA / "auto.txt").read_bytes()
    one, other = (
        iozone_text.read_iozone_text(Source(name, data)).frames()["runs"]["run_id"].tolist()
        for name in ("a.txt", "elsewhere/b.log")
    )
    assert one == other


def test_an_output_that_breaks_off_says_so():
    text = (DATA / "auto.txt").read_text()
    assert "not_complete" in codes(read(text[: text.index("iozone test complete")]))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("iozone -Rab x.xls -I -s 1g", {"unit": "kBytes/sec", "direct": True}),
        ("iozone -ON", {"unit": "ops/sec", "direct": False}),
        ("./iozone -N -+n -t 4", {"unit": "microseconds/op", "direct": False}),
        ("", {"unit": "kBytes/sec", "direct": None}),
        ("iozone -s", {"unit": "kBytes/sec", "direct": False}),
    ],
)
def test_a_command_line_tells_unit_and_cache(line, expected):
    command = CommandLine(line)
    assert {"unit": command.unit, "direct": command.direct} == expected
    assert ("+n" in command) == ("-+n" in line)


@pytest.mark.parametrize(
    ("size", "n_bytes"),
    [("512", 512 * KIB), ("8m", 8 * KIB**2), ("1G", KIB**3), ("64k", 64 * KIB), ("x", None)],
)
def test_a_bare_size_counts_kib(size, n_bytes):
    assert CommandLine(f"iozone -s {size}").size_bytes("s") == n_bytes


@pytest.mark.parametrize(
    ("label", "test"),
    [
        ("Writer Report", "write"),
        ("Re-Fwrite report", "frewrite"),
        ("  Initial write ", "write"),
        ("reverse readers", "backward_read"),
        ("pwrite writers", "pwrite"),
        ("Record Rewrite Report", "record_rewrite"),
        ("something else", None),
    ],
)
def test_labels_name_tests(label, test):
    assert iozone_test(label) == test


def test_every_latency_of_a_dat_file_is_a_sample():
    tables = registry.read(Source.of(DATA / "rol.dat"))
    assert tables["samples"][["ddir", "metric", "seq", "value", "bs_bytes"]].values.tolist() == [
        ["read", "lat_us", 0, 12.0, 65536],
        ["read", "lat_us", 1, 0.0, 65536],
        ["read", "lat_us", 2, 7.0, 65536],
    ]
    assert tables["samples"]["t_s"].isna().all()
    assert tables["runs"][["rw", "bs_bytes"]].values.tolist() == [["read", 65536]]
    assert tables["findings"].empty


def test_the_name_of_a_dat_file_tells_its_test():
    data = (DATA / "rol.dat").read_bytes()
    for name, test in iozone_dat.DAT_TESTS.items():
        tables = iozone_dat.read_iozone_dat(Source(f"a/loc_{name}.dat", data)).frames()
        assert tables["runs"]["rw"].tolist() == [test]
    assert codes(iozone_dat.read_iozone_dat(Source("control.dat", data)).frames()) == ["test_unknown"]


def test_a_dat_file_has_a_run_for_each_header_and_findings_for_damage():
    text = (DATA / "rol.dat").read_text()
    tables = iozone_dat.read_iozone_dat(Source("wol.dat", (text + text).encode())).frames()
    assert len(tables["runs"]) == 2 and len(tables["samples"]) == 6
    broken = text.replace("         12  ", "         -9  ").replace("  7 ", "  x ")
    tables = iozone_dat.read_iozone_dat(Source("wol.dat", broken.encode())).frames()
    assert tables["samples"][["seq", "value"]].values.tolist() == [[1, 0.0]]
    assert codes(tables) == ["row_not_read", "negative_latency"]
    assert codes(iozone_dat.read_iozone_dat(Source("wol.dat", text.splitlines()[0].encode())).frames()) == [
        "no_figures"
    ]


@given(data=st.data())
def test_damage_gives_tables_and_no_traceback(data):
    path = data.draw(st.sampled_from([p for p in sorted(DATA.glob("*")) if p.suffix in (".txt", ".dat")]))
    raw = bytearray(path.read_bytes()[: data.draw(st.integers(0, 4000))])
    for _ in range(data.draw(st.integers(0, 8))):
        if raw:
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    reader = iozone_dat.read_iozone_dat if path.suffix == ".dat" else iozone_text.read_iozone_text
    tables = reader(Source(path.name, bytes(raw))).frames()
    for name, table in tables.items():
        schema.check(name, table)
