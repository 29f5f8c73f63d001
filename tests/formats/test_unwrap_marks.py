"""Outputs in boxes, tables, markup and encodings are read as they are where they stand bare."""

import json
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from support.further_wrappings import ENCODED, MARKED
from support.wrappings import Wrap

from azbenchlib.formats import registry
from azbenchlib.formats._entities import without_entities
from azbenchlib.formats.source import Source
from azbenchlib.formats.unwrap.strings import yaml_as_json

DATA = Path(__file__).parents[1] / "data"
OUTPUTS = {
    "fio JSON": "fio/randrw.json",
    "fio text, two jobs": "fio/text/numjobs.txt",
    "iozone": "iozone/auto.txt",
    "diskspd text": "diskspd/mixed.txt",
    "diskspd XML": "diskspd/mixed.xml",
    "IOMeter": "iometer/results.csv",
    "iostat": "sysstat/extended.txt",
    "sar": "sysstat/sar.txt",
}
OF_PLACE = ["run_id", "telemetry_id", "source_path", "source_sha256", "source_doc"]
AROUND = {"unwrapped", "text_around_json"}


def _text(output: str) -> str:
    return (DATA / OUTPUTS[output]).read_text(encoding="utf-8")


def _tables(data: bytes) -> dict[str, pd.DataFrame]:
    return registry.read(Source("out", data))


@cache
def _bare(text: str) -> dict[str, pd.DataFrame]:
    return _tables(text.encode())


def _differences(text: str, wrap: Wrap) -> list[str]:
    """What is read otherwise from a wrapped output: tables, and codes of findings."""
    bare, wrapped = _bare(text), _tables(wrap(text))
    codes = [set(tables["findings"]["code"]) - AROUND for tables in (bare, wrapped)]
    other = [
        name
        for name, table in bare.items()
        if name != "findings"
        and not table.drop(columns=OF_PLACE, errors="ignore").equals(
            wrapped[name].drop(columns=OF_PLACE, errors="ignore")
        )
    ]
    return [*other, *(codes[0] ^ codes[1])]


@pytest.mark.parametrize("wrapping", MARKED)
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.sampled(43)
def test_what_stands_around_each_line_is_taken_off(output: str, wrapping: str) -> None:
    assert _differences(_text(output), MARKED[wrapping]) == []


@pytest.mark.parametrize("wrapping", ENCODED)
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.sampled(43)
def test_an_encoded_output_is_read_as_the_bare_one(output: str, wrapping: str) -> None:
    assert _differences(_text(output), ENCODED[wrapping]) == []


@pytest.mark.parametrize("end", [" |", " \\", "$", "\t\u2502"])
def test_jobs_that_fio_numbers_with_dots_are_counted_whatever_ends_the_line(end: str) -> None:
    text = _text("fio text, two jobs").replace("\n...\n", f"\n...{end}\n")
    assert list(_tables(text.encode())["runs"]["numjobs"]) == [2, 2]


def test_base64_that_holds_no_output_is_in_no_known_format() -> None:
    (code,) = _tables(ENCODED["base64"]("nothing of note\n" * 99))["findings"]["code"]
    assert code == "not_recognised"


def test_a_carriage_return_in_a_row_of_titles_is_no_fault() -> None:
    tables = _tables(b"a,b\rc,d\ne,f\n")
    assert list(tables["findings"]["code"]) == ["not_recognised"]


def test_lines_of_csv_with_semicolons_are_read() -> None:
    rows = "".join(f"{n};vm1;{json.dumps(line)}\n" for n, line in enumerate(_text("sar").splitlines()))
    tables = _tables(f"n;host;message\n{rows}".encode())
    assert len(tables["demand"]) == len(_tables(_text("sar").encode())["demand"])


def test_a_finding_on_a_page_quotes_its_line() -> None:
    broken = _text("fio JSON").replace('"jobname"', '"jobname', 1)
    place = broken[: broken.index('"jobname')].count("\n") + 1
    findings = _tables(ENCODED["page with a span a line"](broken))["findings"]
    (said,) = findings.loc[findings["code"] == "broken_json", "message"]
    assert f"line {place + 1}," in said


def test_an_entity_of_thousands_of_digits_is_no_character():
    page = f"<html><p>randread: (groupid=0, jobs=1): err= 0: pid=1&#{'9' * 5000};</p></html>"

    assert without_entities(page).endswith("pid=1\ufffd</p></html>")
    assert without_entities("&#65;&#x42;&#0000000065;") == "ABA"
    assert registry.recognise(Source("page.html", page.encode())) is None


def test_yaml_that_nests_deeper_than_any_output_is_left_alone():
    def nested(depth: int) -> str:
        return 'stdout: "fio-3.36"\nmore: ' + "[" * depth + "]" * depth + "\n"

    assert yaml_as_json(nested(100), is_claimed=False)
    assert yaml_as_json(nested(101), is_claimed=False) is None
    assert yaml_as_json("more: ]]]]]]" + nested(101), is_claimed=False) is None
