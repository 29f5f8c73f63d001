"""A job that the kernel killed: fio kept its count of I/Os and lost their bytes and time."""

import json
from pathlib import Path

import pandas as pd
import pytest

from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data"
LOST = ["io_bytes", "runtime_s", "iops", "bw_bytes_per_s"]


def read(name: str, text: str) -> dict[str, pd.DataFrame]:
    return registry.read(Source(name, text.encode()))


def codes(tables: dict[str, pd.DataFrame]) -> list[str]:
    return tables["findings"]["code"].tolist()


@pytest.mark.parametrize("name", ["killed.json", "text.txt", "terse.txt"])
def test_io_without_bytes_and_time_has_no_rate(name: str) -> None:
    tables = registry.read(Source.of(DATA / "fio/killed" / name))
    results = tables["results"].set_index("ddir")
    assert list(results.index) == ["read", "write"]
    assert results[LOST].isna().all(axis=None)
    assert codes(tables).count("io_without_figures") == 2
    assert "no_io" not in codes(tables)
    if name != "terse.txt":  # which tells no number of I/Os
        assert results["ios"].tolist() == [30758, 30779]
    if name == "text.txt":
        assert "got signal=9" in tables["findings"]["message"][0]


def test_a_job_without_io_did_none() -> None:
    document = json.loads((DATA / "fio/killed/killed.json").read_text())
    idle = {"io_bytes": 0, "bw_bytes": 0, "iops": 0.0, "runtime": 0, "total_ios": 0}
    document["jobs"][0] |= {"read": idle, "write": idle}
    tables = read("out.json", json.dumps(document))
    assert tables["results"].empty
    assert codes(tables) == ["no_io"]


def test_a_zero_of_diskspd_is_no_figure() -> None:
    text = (DATA / "diskspd/mixed.xml").read_text()
    first = text[text.index("<ReadBytes>") : text.index("</ReadBytes>")]
    tables = read("out.xml", text.replace(first, "<ReadBytes>0"))
    reads = tables["results"].query("ddir == 'read' and ios > 0")
    assert reads["io_bytes"].isna().any()
    assert "io_without_figures" in codes(tables)
