"""An output is read alike whether it stands alone or a program put something around it."""

from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from support.wrappings import ARCHIVES, FURTHER, PAGES, PREFIXES, STRINGS

from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data"
OUTPUTS = {
    "fio text": "fio/text/randrw.txt",
    "fio text, two jobs": "fio/text/numjobs.txt",
    "fio JSON": "fio/randrw.json",
    "fio JSON, failed": "fio/failed_job.json",
    "terse": "fio/terse/v3.txt",
    "diskspd text": "diskspd/mixed.txt",
    "diskspd XML": "diskspd/mixed.xml",
    "iozone": "iozone/auto.txt",
    "iozone, throughput": "iozone/throughput.txt",
    "iostat": "sysstat/extended.txt",
    "sar": "sysstat/sar.txt",
}
TELEMETRY = {
    "iostat -o JSON": "sysstat/extended.json",
    "sadf": "sysstat/sadf.txt",
    "perfmon": "perfmon/typeperf.csv",
    "Get-Counter": "powershell/get_counter.txt",
    "Azure Monitor": "azure_monitor/two_disks.json",
    "nmon": "nmon/linux.nmon",
    "dool": "dstat/dool.csv",
    "vmstat": "vmstat/d_t.txt",
    "node_exporter": "node_exporter/scrapes.txt",
    "Prometheus": "node_exporter/range.json",
    "IOMeter": "iometer/results.csv",
}
WRAPPINGS = PREFIXES | PAGES | STRINGS | ARCHIVES | FURTHER
AROUND = {"unwrapped", "text_around_json"}  # what a wrapping may add to the findings
OF_PLACE = ["run_id", "source_path", "source_sha256", "source_doc"]


def _tables(name: str, data: bytes) -> dict[str, pd.DataFrame]:
    tables = registry.read(Source(name, data))
    return {table: frame.drop(columns=OF_PLACE, errors="ignore") for table, frame in tables.items()}


@cache
def _text(name: str) -> str:
    return (DATA / (OUTPUTS | TELEMETRY)[name]).read_text(encoding="utf-8")


@cache
def _bare(name: str) -> dict[str, pd.DataFrame]:
    return _tables("out", _text(name).encode())


def differences(output: str, wrapping: str) -> list[str]:
    """What is read otherwise from a wrapped output."""
    bare, wrapped = _bare(output), _tables("out", WRAPPINGS[wrapping](_text(output)))
    other = [table for table in bare if table != "findings" and not bare[table].equals(wrapped[table])]
    codes = [set(tables["findings"]["code"]) - AROUND for tables in (bare, wrapped)]
    return [*other, *(f"finding {code}" for code in codes[0] ^ codes[1])]


@pytest.mark.parametrize("wrapping", FURTHER)
@pytest.mark.parametrize("output", ["fio text", "fio JSON", "iostat"])
@pytest.mark.sampled(47)
def test_whatever_stands_before_each_line_is_taken_off(output: str, wrapping: str) -> None:
    assert differences(output, wrapping) == []


PAIRS = [(output, wrapping) for wrapping in PREFIXES | STRINGS | ARCHIVES for output in OUTPUTS]


@pytest.mark.parametrize(("output", "wrapping"), PAIRS[::7])  # every output, and every wrapping twice
def test_a_wrapped_output_is_read_as_the_bare_one(output: str, wrapping: str) -> None:
    assert differences(output, wrapping) == []


@pytest.mark.long
@pytest.mark.parametrize(("output", "wrapping"), PAIRS)
def test_each_wrapped_output_is_read_as_the_bare_one(output: str, wrapping: str) -> None:
    assert differences(output, wrapping) == []


@pytest.mark.parametrize("wrapping", PAGES)
@pytest.mark.parametrize("output", ["fio text", "fio text, two jobs", "fio JSON", "diskspd XML"])
def test_outputs_in_pages_are_read_with_their_first_line(output: str, wrapping: str) -> None:
    assert differences(output, wrapping) == []


@pytest.mark.parametrize(
    "wrapping", ["GitHub Actions", "kubectl logs --prefix", "syslog", "Ansible", "notebook"]
)
@pytest.mark.parametrize("output", TELEMETRY)
@pytest.mark.sampled(23)
def test_wrapped_telemetry_is_read_as_the_bare_one(output: str, wrapping: str) -> None:
    assert differences(output, wrapping) == []
