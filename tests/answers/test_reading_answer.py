"""What was read as a document: text and Markdown say the same, and what is not known is no 0."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import azbenchlib as az
from azbenchlib.answers import terminal
from azbenchlib.answers.markdown import markdown
from azbenchlib.answers.reading import overview_document
from azbenchlib.cli import app

DATA = Path(__file__).parents[1] / "data"
MIX = DATA / "fio" / "randrw.json"


def printed(*words: object) -> str:
    done = CliRunner().invoke(app, ["read", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_text_and_markdown_have_the_same_rows_and_name_what_is_missing() -> None:
    text, table = printed(MIX), printed(MIX, "--format", "md").replace("\u00a0", " ")
    cells = [re.split(r" {2,}", line.strip()) for line in text.splitlines()[:3]]
    assert cells == [
        line.strip("| ").split(" | ") for line in table.splitlines() if "mix" in line or "Job" in line
    ]
    assert text.count("No setup is stated.") == table.count("No setup is stated.") == 1
    assert printed(MIX, "--format", "table") == text == printed(MIX, "--format", "text")


def test_figures_are_in_base_units_and_what_no_tool_told_is_a_dash() -> None:
    document = overview_document(az.read("azure-local-disks-2020"))
    known = dict(document.figures())
    assert known["000-L8sv2-nvme-async: IOPS"].value == 261_000
    assert known["000-L8sv2-nvme-async: MB/s"].value == pytest.approx(1_071e6, rel=1e-3)
    assert known["000-E8as-temp-sync: IOPS"].value is None
    assert terminal.text(document, 200).splitlines()[1].split()[-6:-4] == ["–", "–"]
    assert "| – |" in markdown(document)


def test_a_column_that_no_run_has_is_left_out() -> None:
    (table,) = overview_document(az.read("iozone-host-cache-2012")).tables()
    assert [column.title for column in table.columns][-2:] == ["Block", "MB/s"]


def test_a_device_of_telemetry_is_a_line() -> None:
    text = printed(DATA / "nmon" / "linux.nmon").splitlines()
    assert text[0] == "Telemetry" and text[2].split() == ["db1", "vda", "nmon", "3", "1", "s", "55.7"]


def test_each_row_is_a_line_for_programs_and_fits_a_terminal() -> None:
    rows = printed("iozone-host-cache-2012").splitlines()
    assert len(rows) == 1 + len(az.read("iozone-host-cache-2012").overview())
    narrow = terminal.text(overview_document(az.read("iozone-host-cache-2012")), 80)
    assert max(map(len, narrow.splitlines())) <= 80
