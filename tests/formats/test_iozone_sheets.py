"""The reader of iozone's spreadsheets: layout, units, damage, files that unpack to too much."""

import io
import struct
import zipfile
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core import schema
from azbenchlib.core.units import KIB
from azbenchlib.formats import _sheet_files, registry
from azbenchlib.formats.iozone import sheets as iozone_sheets
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data" / "iozone"
BIFF2 = iozone_sheets.BIFF2.encode()
EOF = struct.pack("<HH", _sheet_files.EOF, 0)
AUTO = (DATA / "auto.xls").read_bytes()
WORKBOOK = (DATA / "workbook.xlsx").read_bytes()


def label(row: int, column: int, text: str) -> bytes:
    """A LABEL record as iozone writes it: 256 bytes of text."""
    body = struct.pack("<HHBBBB", row, column, 0, 0, 0, len(text)) + text.encode().ljust(256, b"\0")
    return struct.pack("<HH", _sheet_files.LABEL, len(body)) + body


def figure(row: int, column: int, value: float) -> bytes:
    """A NUMBER record."""
    return struct.pack("<HHHHBBBd", _sheet_files.NUMBER, 15, row, column, 0, 0, 0, value)


def read(data: bytes, name: str = "sheet.xls") -> dict[str, pd.DataFrame]:
    return registry.read(Source(name, data))


def codes(tables: dict[str, pd.DataFrame]) -> list[str]:
    return tables["findings"]["code"].tolist()


def xlsx(*rows: list[object]) -> bytes:
    """A workbook with one sheet."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


@pytest.mark.parametrize("name", ["a.xls", "a.xlsx", "a.txt"])
def test_the_bytes_tell_the_format_whatever_the_name_ends_in(name):
    assert len(read(AUTO, name)["results"]) == 25
    assert len(read(WORKBOOK, name)["runs"]) == 6


def test_each_sheet_of_a_workbook_has_its_own_command():
    tables = read(WORKBOOK)
    rows = tables["runs"].merge(tables["results"], on="run_id")
    of_data = rows[rows["source_doc"] == 0].set_index(["rw", "bs_bytes"])
    assert of_data["iops"].to_dict() == {
        ("write", 4 * KIB): 2001,
        ("write", 8 * KIB): 1002,
        ("random_read", 4 * KIB): 3003,
    }
    assert of_data["bw_bytes_per_s"].isna().all()
    of_temp = rows[rows["source_doc"] == 1].set_index(["rw", "bs_bytes"])
    assert of_temp["bw_bytes_per_s"].to_dict() == {
        ("write", 4 * KIB): 2001 * KIB,
        ("write", 8 * KIB): 1002 * KIB,
        ("random_read", 4 * KIB): 3003 * KIB,
    }
    assert not of_data["direct"].any() and of_temp["direct"].all()
    assert codes(tables) == ["sheet_not_read"]


def test_figures_of_a_sheet_that_was_cut_are_those_that_are_whole():
    tables = read(AUTO[:-6])  # within the last figure, a CPU use
    assert len(tables["results"]) == 25
    assert "broken_sheet" in codes(tables)
    half = read(AUTO[: len(AUTO) // 2])
    assert 0 < len(half["results"]) < 25
    whole = set(read(AUTO)["results"]["bw_bytes_per_s"])
    assert set(half["results"]["bw_bytes_per_s"]) <= whole


def test_a_cell_outside_a_sheet_is_left_out():
    head = BIFF2 + label(0, 0, "iozone -a ") + label(3, 0, "Writer Report") + figure(4, 1, 4)
    good = figure(5, 0, 1024) + figure(5, 1, 7)
    far = figure(16384, 0, 1) + figure(5, 256, 1) + figure(65535, 65535, 1)
    tables = read(head + good + far + EOF)
    assert tables["results"]["bw_bytes_per_s"].tolist() == [7 * KIB]
    assert codes(tables) == ["broken_sheet"]
    assert codes(read(head + good + EOF)) == []


def test_how_a_cell_looks_does_not_matter():
    head = BIFF2 + label(0, 0, "iozone -a ") + label(3, 0, "Writer Report") + figure(4, 1, 4)
    shown = struct.pack("<HHHHBBBd", _sheet_files.NUMBER, 15, 5, 1, 63, 21, 7, 8.0)
    tables = read(head + figure(5, 0, 1024) + shown + EOF)
    assert tables["results"]["bw_bytes_per_s"].tolist() == [8 * KIB]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 1e300])
def test_a_figure_that_is_none_is_a_finding(value):
    head = (
        BIFF2 + label(0, 0, "iozone -a ") + label(3, 0, "Writer Report") + figure(4, 1, 4) + figure(4, 2, 8)
    )
    tables = read(head + figure(5, 0, 1024) + figure(5, 1, value) + figure(5, 2, 9) + EOF)
    assert tables["results"]["bw_bytes_per_s"].tolist() == [9 * KIB]
    assert codes(tables) == ["figure_not_read"]


def test_a_report_that_is_there_twice_counts_once():
    rows: list[list[object]] = [["Writer Report"], [None, 4], [64, 5]]
    tables = read(xlsx(["iozone -a "], *rows, *rows))
    assert len(tables["results"]) == 1
    assert codes(tables) == ["figure_twice"]


def test_zeros_of_retests_left_out_are_no_measurement():
    rows: list[list[object]] = [
        ["Writer Report"],
        [None, 4],
        [64, 5],
        ["Re-writer Report"],
        [None, 4],
        [64, 0],
    ]
    tables = read(xlsx(["iozone -a -+n "], *rows))
    assert tables["runs"]["rw"].tolist() == ["write"]
    assert codes(tables) == []


@pytest.mark.parametrize(
    ("options", "processes", "found"),
    [
        ("-t 4", [4], ["figure_not_read"]),
        ("-l 2 -u 3", [2, 3], []),
        ("-u 2", [1, 2], []),
        ("", [], ["figure_not_read"]),
    ],
)
def test_the_command_line_tells_how_many_processes_a_column_is_of(options, processes, found):
    head = (
        [f"iozone {options} -s 1m "],
        ["Throughput report Y-axis is type of test"],
        ["Record size = 4 kBytes"],
    )
    tables = read(xlsx(*head, ["  Initial write ", None, 10, 20]))
    assert tables["runs"]["numjobs"].tolist() == processes
    assert [code for code in codes(tables) if code == "figure_not_read"] == found


def test_the_cpu_report_of_throughput_mode_is_no_second_throughput():
    head: list[list[object]] = [["iozone -t 4 -+u -s 1m "], ["Throughput report Y-axis"]]
    tables = read(
        xlsx(
            *head,
            ["Record size = 4 kBytes"],
            ["  Initial write ", None, 10],
            ["CPU utilization report Y-axis is type of test"],
            ["  Initial write ", None, 85.5],
        )
    )
    assert tables["results"]["bw_bytes_per_s"].tolist() == [10 * KIB]
    assert tables["runs"]["usr_cpu_pct"].tolist() == [85.5]
    assert "figure_twice" not in codes(tables)


def test_a_workbook_without_any_report_is_a_finding():
    assert codes(read(xlsx(["budget", 3], ["rent", 4]))) == ["sheet_not_read", "no_figures"]


def _packed(**parts: bytes) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", b"<Types/>")
        for name, part in parts.items():
            archive.writestr(name, part)
    return content.getvalue()


def test_a_file_that_unpacks_to_too_much_is_refused():
    bomb = _packed(bomb=bytes(_sheet_files.MOST_UNPACKED + 1))
    assert len(bomb) < 100_000
    tables = read(bomb)
    assert codes(tables) == ["broken_sheet", "no_figures"]
    assert "too much" in tables["findings"]["message"].iloc[0]


def test_a_file_of_very_many_parts_is_refused():
    tables = read(_packed(**{f"p{number}": b"" for number in range(_sheet_files.MOST_MEMBERS)}))
    assert "too much" in tables["findings"]["message"].iloc[0]


@pytest.mark.parametrize("code", ["utf-8", "utf-16-le", "utf-16-be"])
def test_a_part_with_a_document_type_is_refused(code):
    entities = '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>'
    tables = read(_packed(**{"xl/workbook.xml": entities.encode(code)}))
    assert "document type" in tables["findings"]["message"].iloc[0]


def test_a_sheet_that_claims_to_be_huge_is_read_in_bounds():
    content = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(WORKBOOK)) as old, zipfile.ZipFile(content, "w") as new:
        for member in old.infolist():
            part = old.read(member)
            if member.filename.endswith("sheet1.xml"):
                far = (
                    b'<row r="1048576"><c r="A1048576"><v>2048</v></c><c r="B1048576"><v>1</v></c>'
                    b'<c r="XFD1048576"><v>1</v></c></row></sheetData>'
                )
                part = part.replace(b"</sheetData>", far)
            new.writestr(member, part)
    assert len(read(content.getvalue())["results"]) == 6


@given(data=st.data())
def test_damage_gives_tables_and_no_traceback(data):
    raw = bytearray(data.draw(st.sampled_from([AUTO, (DATA / "throughput.xls").read_bytes(), WORKBOOK])))
    raw = raw[: data.draw(st.one_of(st.just(len(raw)), st.integers(0, len(raw))))]
    for _ in range(data.draw(st.integers(0, 8))):
        if raw:
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    tables = iozone_sheets.read_iozone_sheets(Source("x.xls", bytes(raw))).frames()
    for name, table in tables.items():
        schema.check(name, table)


def test_a_command_line_too_long_for_its_cell_still_tells_the_mode() -> None:
    line = "iozone -R -b a.xls -w -I -i 0 -N -s 1m -r 64k -f /"
    line += "x" * (256 + 12 - len(line))
    first = bytearray(label(0, 0, line[:255]))
    first[11] = len(line) % 256  # one byte, which runs over
    rest = AUTO[len(BIFF2) + len(label(0, 0, "")) :]
    tables = registry.read(Source("a.xls", BIFF2 + bytes(first) + rest))
    assert tables["runs"]["direct"].all() and tables["results"].empty
    assert (tables["latency"]["lat_mean_us"] > 0).all()
