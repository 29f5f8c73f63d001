"""The list of formats as a whole: one claims a file, or none; and nothing makes a reader fall over."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

ROOT = Path(__file__).parents[2]
# what a fixture's tables must be stands beside it
EXPECTED = re.compile(r"\.(?:results|latency|percentiles|bins|samples|runs)\.csv$")
ASIDE = {".inc", ".fz", ".md"}  # a part of a job file, and fio's own memory: nobody claims these
TOOLS = ("fio", "iozone", "diskspd", "iometer", "azure_monitor")
FIXTURES = sorted(
    path
    for pattern in (*(f"tests/data/{tool}/**/*" for tool in TOOLS), "datasets/*-20*/raw/*.csv")
    for path in ROOT.glob(pattern)
    if path.is_file() and path.stat().st_size and path.suffix not in ASIDE and not EXPECTED.search(path.name)
)
WHOLE = {path: path.read_bytes() for path in FIXTURES}
SMALL = [path for path in FIXTURES if len(WHOLE[path]) < 40_000]

HOSTILE = {
    "empty.json": b"",
    "nul.json": b"\0" * 1000,
    "binary.log": bytes(range(256)) * 20,
    "cr_only.csv": b"source_file,source_line,experiment\rquantity,stat,value,unit\r1,2,3\r",
    "utf16.json": '{"fio version": "fio-3.33", "jobs": [{"jobname": "ü"}]}'.encode("utf-16"),
    "other_digits_bw.1.log": "100, ٣, 1, 0\n".encode() * 5,
    "one_line.json": b'{"jobs": [' + b"[" * 200_000,
    "header_only.csv": b"source_file,source_line,experiment,quantity,stat,value,unit",
    "utf16.txt": "j: (groupid=0, jobs=1): err= 0: pid=7\n".encode("utf-16"),
    "eta.txt": b"Jobs: 1 (f=1): [r(1)][9.5%][r=52.1MiB/s][r=13.3k IOPS][eta 00m:01s]\r" * 50,
    "nul_in_text.txt": b"  read: IOPS=5\0, BW=20KiB/s (20kB/s)(40KiB/2000msec)\n" * 5,
    "cut_terse.txt": b"3;fio-3.33;j;0;0;400;200;50;2000;1;9;2.5",
    "half_quoted.csv": b'source_file,source_line,experiment,quantity,stat,value,unit\n"a,b\nc,',
}


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_exactly_one_format_claims_each_fixture(path: Path) -> None:
    opening = Source.of(path).opening
    assert len([fmt.name for fmt in registry.FORMATS if fmt.sniff(opening)]) == 1


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_end_in_findings(name: str) -> None:
    tables = registry.read(Source(name, HOSTILE[name]))
    assert len(tables["findings"]) or not len(tables["published"])
    assert tables["results"].empty


@given(st.data())
def test_damage_never_makes_a_reader_fall_over(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(SMALL))
    content = bytearray(WHOLE[path])
    for place, byte in data.draw(st.lists(st.tuples(st.integers(0, len(content) - 1), st.integers(0, 255)))):
        content[place] = byte
    cut = data.draw(st.integers(0, len(content)))
    registry.read(Source(path.name, bytes(content[:cut])))


@pytest.mark.parametrize(
    "unit", [b" ", b"9", b";", b"{", b"|", b"\0", b"\r", b"2;", b"1%=0;", b"j: (g=0): rw="]
)
@pytest.mark.sampled(4)
def test_endless_lines_are_given_up_quickly(unit: bytes) -> None:
    source = Source("endless.txt", unit * (10**7 // len(unit)))
    tables = registry.read(source)
    assert tables["runs"].empty
    assert len(tables["findings"])


@pytest.mark.parametrize("size", [10, 200_000])
def test_a_file_that_was_let_go_is_read_anew(tmp_path, size):
    file = tmp_path / "job.json"
    file.write_text("a" * size)
    source = Source.of(file)
    assert source.text == "a" * size and source.data == b"a" * size and source.opening[0] == "a"
    file.write_text("b" * size)
    assert source.text == "a" * size
    source.forget()
    assert source.text == "b" * size and source.data == b"b" * size and source.opening[0] == "b"
