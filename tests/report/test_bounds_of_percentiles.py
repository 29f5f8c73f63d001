"""A percentile in the last bin of fio's histogram is a lower bound, wherever a person sees it."""

import json
import re
from html import unescape
from pathlib import Path

import pytest
from typer.testing import CliRunner

from azbenchlib import Report
from azbenchlib.cli import app
from azbenchlib.core.histogram import format_percentile, index_of, value_of

LAST_NS, BEFORE_NS = 17_112_760_320, 16_978_542_592  # of the last bin, and of the one before


@pytest.mark.parametrize(
    ("us", "shown"),
    [
        (LAST_NS / 1000, "≥ 17.1 s"),
        (17_113_000.0, "≥ 17.1 s"),  # as text has it
        (16_711_680.0, "≥ 16.7 s"),  # before fio 3.0
        (BEFORE_NS / 1000, "17 s"),
        (147.0, "147 µs"),
    ],
)
def test_the_last_bin_has_the_sign_of_a_bound(us: float, shown: str) -> None:
    assert format_percentile(us).replace("\u00a0", " ") == shown
    assert value_of(index_of(LAST_NS)) == LAST_NS and value_of(index_of(LAST_NS) - 1) == BEFORE_NS


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Path:
    percentiles = {"50.000000": 2_000_000, "95.000000": BEFORE_NS, "99.000000": LAST_NS}
    clat = {"min": 900_000, "max": 40_000_000_000, "mean": 3e9, "stddev": 2e9, "N": 40_000}
    done = {"total_ios": 40_000, "io_bytes": 163_840_000, "io_kbytes": 160_000, "runtime": 60_000}
    rates = {"iops": 666.67, "bw_bytes": 2_730_666, "clat_ns": clat | {"percentile": percentiles}}
    job = {
        "jobname": "slow",
        "groupid": 0,
        "error": 0,
        "job options": {"rw": "randread"},
        "read": done | rates,
    }
    file = tmp_path_factory.mktemp("slow") / "slow.json"
    file.write_text(json.dumps({"fio version": "fio-3.36", "jobs": [job]}), encoding="utf-8")
    return file


def words(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)).replace("\u00a0", " "))


def test_the_terminal_shows_it(slow: Path) -> None:
    told = CliRunner().invoke(app, ["read", str(slow)]).stdout.replace("\u00a0", " ")
    assert "≥ 17.1 s" in told and "2 ms" in told


def test_cards_charts_and_tables_show_it(slow: Path) -> None:
    report = Report([str(slow)])
    cards, table = words(report.cards().html), words(report.results().html)
    assert re.search(r"p99 ≥ 17\.1 s", cards) and "p95 17 s" in cards
    assert "≥ 17.1 s" in table and "≥ 17 s" not in table
    chart = words(report.percentiles().html)
    titles = re.findall(r"p9\d: [^;,<]*? s", chart)
    assert any("≥ 17.1 s" in title for title in titles), titles


def of_hosts(folder: Path, **of_second: object) -> Path:
    """Two clients with a job each, and their sum, of which fio 3.33 tells no percentiles."""
    entries = []
    for host, p99 in (("a", 2_000_000), ("b", 6_000_000)):
        clat = {"min": 900_000, "max": 9_000_000, "mean": 1.5e6, "stddev": 9e5, "N": 9_000}
        clat["percentile"] = {"50.000000": 1_000_000, "99.000000": p99}
        done = {"total_ios": 9_000, "io_bytes": 36_864_000, "io_kbytes": 36_000, "runtime": 60_000}
        entry = {"jobname": "load", "hostname": host, "port": 8765, "groupid": 0, "error": 0}
        done |= {"iops": 150.0, "bw_bytes": 614_400, "clat_ns": clat}
        entries.append(entry | {"job options": {"rw": "randread", "bs": "4k"}, "read": done})
    entries[1]["read"]["clat_ns"] |= of_second  # type: ignore[index]
    total = {"jobname": "All clients", "hostname": "b", "port": 8765, "groupid": 0, "error": 0}
    moments = {"min": 900_000, "max": 9_000_000, "mean": 1.5e6, "stddev": 9e5, "N": 18_000}
    done = {"total_ios": 18_000, "io_bytes": 73_728_000, "io_kbytes": 72_000, "runtime": 60_000}
    done |= {"iops": 300.0, "bw_bytes": 1_228_800, "clat_ns": moments}
    document = {"fio version": "fio-3.33", "client_stats": [*entries, total | {"read": done}]}
    file = folder / "clients.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def test_a_card_of_several_hosts_has_the_range_of_their_percentiles(tmp_path: Path) -> None:
    cards = words(Report([str(of_hosts(tmp_path))]).cards().html)
    assert "300 IOPS" in cards and "p99 2 to 6 ms" in cards
    assert "range of each job's own percentiles" in cards


def test_it_has_none_where_a_host_tells_none(tmp_path: Path) -> None:
    cards = words(Report([str(of_hosts(tmp_path, percentile={}))]).cards().html)
    assert "300 IOPS" in cards and "p99" not in cards
