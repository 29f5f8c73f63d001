"""What reading may take: bounded memory for huge, hostile and unclaimed files, measured in a process each."""

import io
import os
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from azbenchlib.formats.fio.logs.binned_log import LONG_LOG

MIB = 1 << 20
FIO = Path(__file__).parents[1] / "data" / "fio"
READ = """
import re, sys
import pandas, pyarrow.csv
from azbenchlib.dataset.dataset import Dataset
def peak_kib():  # of this program alone; what getrusage tells begins with the parent's
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\\s+(\\d+)", file.read())[1])
before = peak_kib()
found = Dataset.read(sys.argv[1])
print((peak_kib() - before) // 1024, len(found.samples), *found.findings["code"])
"""


def read_apart(path: Path) -> tuple[int, int, list[str]]:
    """MiB that reading a file took, the samples in it and the codes of the findings."""
    result = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
    )
    taken, n_samples, *codes = result.stdout.split()
    return int(taken), int(n_samples), codes


def test_what_nobody_claims_is_not_read_further(tmp_path):
    path = tmp_path / "garbage.json"
    path.write_bytes(b"no format begins so")
    os.truncate(path, 4096 * MIB)  # a line of 4 GiB; sparse, so it takes no room on the disk
    taken, _, codes = read_apart(path)
    assert codes == ["not_recognised"]
    assert taken < 60


def test_a_huge_line_in_a_log_is_left_out(tmp_path):
    path = tmp_path / "a_iops.1.log"
    path.write_bytes(b"1, 5, 0, 4096\n" * 100)
    os.truncate(path, 200 * MIB)
    with path.open("ab") as file:
        file.write(b"\n2, 5, 0, 4096\n")
    taken, n_samples, codes = read_apart(path)
    assert (n_samples, codes) == (101, ["broken_lines"])
    assert taken < 80


def test_a_log_takes_200_bytes_a_line(tmp_path):
    path = tmp_path / "a_iops.1.log"
    n_lines = 400_000
    with path.open("w") as file:
        file.writelines(f"{place // 50}, {place % 9973}, 0, 4096, 0\n" for place in range(n_lines))
    taken, n_samples, codes = read_apart(path)
    assert (n_samples, codes) == (n_lines, [])
    assert taken < 200 * n_lines / MIB + 60


def test_a_long_log_of_latencies_takes_no_more_than_its_windows(tmp_path):
    """Two and a half million lines, which as samples would take 500 MB."""
    path = tmp_path / "a_lat.1.log"
    part = "".join(f"{place}, {900_000 + place % 9973}, 0, 4096, 0\n" for place in range(100_000))
    with path.open("w") as file:
        while file.tell() <= LONG_LOG:
            file.write(part)
    taken, n_samples, codes = read_apart(path)
    assert (n_samples, codes) == (0, ["log_unit_assumed", "log_binned"])
    assert taken < 100


@pytest.mark.parametrize(
    ("name", "start", "size_mib"),
    [("a.json", (FIO / "randrw.json").read_bytes(), 257), ("a_iops.1.log", b"1, 5, 0, 4096\n" * 9, 1025)],
)
def test_what_is_too_large_is_told_and_not_read(tmp_path, name, start, size_mib):
    path = tmp_path / name
    path.write_bytes(start)
    os.truncate(path, size_mib * MIB)
    taken, n_samples, codes = read_apart(path)
    assert (n_samples, codes) == (0, ["too_large"])
    assert taken < 60


def workbook(rows: str) -> bytes:
    """An .xlsx file with one sheet of these rows."""
    parts = {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": '<workbook xmlns:r="r"><sheets><sheet name="a" r:id="i"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="i" Type="x/worksheet" '
        'Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f"<worksheet><sheetData>{rows}</sheetData></worksheet>",
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return content.getvalue()


def span(inside: bytes) -> bytes:
    """A document of diskspd's with something in a time span."""
    return b"<Results><Profile></Profile><TimeSpan>" + inside + b"</TimeSpan></Results>"


def odd_cells() -> str:
    """Cells of figures that hardly pack: to a fifth."""
    return "".join(f"<c><v>{place * 7919 % 10**7}</v></c>" for place in range(1_200_000))


def labels() -> bytes:
    """Records of an .xls file, each a cell at the far right of its row."""
    return b"".join(struct.pack("<HHHHBBBB", 4, 9, row, 255, 0, 0, 0, 1) + b"x" for row in range(2**14))


def attributes() -> bytes:
    return b" ".join(b"a%d=''" % place for place in range(500_000))


HOSTILE = {
    "row.xlsx": lambda: workbook(f"<row>{'<c><v>1</v></c>' * 3_000_000}</row>"),
    "odd.xlsx": lambda: workbook(f"<row>{odd_cells()}</row>"),
    "rows.xlsx": lambda: workbook('<row><c r="IV1"/></row>' * 500_000),
    "texts.xlsx": lambda: workbook(f'<row><c t="inlineStr"><is><t>{"x" * 30_000_000}</t></is></c></row>'),
    "cells.xls": lambda: b"\t\0\x04\0\x02\0\x10\0" + labels() + b"\n\0\0\0",
    "figures.xml": lambda: span(b"<Target><Path>a</Path></Target>" * 600_000),
    "elements.xml": lambda: span(b"<a/>" * 4_000_000),
    "attributes.xml": lambda: span(b"<Target " + attributes() + b"/>"),
    "text.xml": lambda: span(b"<Path>" + b"x" * 20_000_000 + b"</Path>"),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.sampled(1)
def test_spreadsheets_and_xml_take_little_more_than_their_size(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(HOSTILE[name]())
    taken, _, codes = read_apart(path)
    assert codes
    assert taken < 120 + 10 * path.stat().st_size / MIB


def test_latencies_of_single_operations_take_a_hundred_bytes_each(tmp_path):
    path = tmp_path / "wol.dat"
    n = 400_000
    head = b"Offset in Kbytes   Latency in microseconds  Transfer size in bytes\n"
    path.write_bytes(head + b"0 1 4\n" * n)
    taken, n_samples, _ = read_apart(path)
    assert n_samples == n
    assert taken < 100 * n / MIB * 2 + 250  # twice the table, and a block of lines
