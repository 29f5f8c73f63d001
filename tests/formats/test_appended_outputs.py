"""Outputs that were appended to one file: each is read as if alone, and none is lost without a word."""

import re
from pathlib import Path

import pandas as pd
import pytest

from azbenchlib.dataset.read import read_files
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data"
NAMES = (
    *("diskspd/mixed.txt", "diskspd/mixed.xml", "iometer/results.csv", "iometer/setup.icf"),
    *("iozone/auto.txt", "iozone/narrow.txt", "iozone/throughput.txt"),
)
LAB = (
    '{"azbench_lab": 1, "started_unix_s": 1000.0}\n'
    '{"unix_s": 1002.5, "objects": {"os": {"queue_depth": 12, "cache_hit_ratio": 0.75}}}\n'
)
TABLES = ("results", "latency", "percentiles", "samples")


def text_of(name: str) -> str:
    return LAB if name == "lab" else (DATA / name).read_bytes().decode()


def read(text: str, name: str = "out.txt") -> dict[str, pd.DataFrame]:
    return registry.read(Source(name, text.encode()))


def codes(tables: dict[str, pd.DataFrame]) -> list[str]:
    return tables["findings"]["code"].tolist()


def figures(tables: dict[str, pd.DataFrame]) -> list[list[list[object]]]:
    """What each document of a file says: of every table all but names of runs and of the file, in order."""
    runs = tables["runs"].drop(columns=["source_sha256", "source_path", "job_index"])
    place = {run_id: n for n, run_id in enumerate(tables["runs"]["run_id"])}
    first = runs.groupby("source_doc")["run_id"].transform(lambda ids: min(place[one] for one in ids))
    order = {doc: n for n, doc in enumerate(sorted(runs["source_doc"].unique()))}
    found: list[list[list[object]]] = [[] for _ in order]
    doc_of = dict(zip(runs["run_id"], runs["source_doc"].map(order), strict=True))
    number = {one: place[one] - base for one, base in zip(runs["run_id"], first, strict=True)}
    for row in runs.drop(columns="source_doc").astype(str).itertuples(index=False):
        found[doc_of[row.run_id]].append(["runs", number[row.run_id], *row[1:]])
    for name in TABLES:
        for row in tables[name].astype(str).itertuples(index=False):
            if row.run_id in doc_of:
                found[doc_of[row.run_id]].append([name, number[row.run_id], *row[1:]])
    return [sorted(doc, key=str) for doc in found]


def changed(text: str) -> str:
    """The same output with other figures, times and options."""
    text = text.replace("2026/03/02", "2026/04/05").replace("BENCH01", "OTHER").replace("8KiB", "4KiB")
    text = text.replace("1.006", "9.006").replace("20.00s", "40.00s").replace("Revision: 3.", "Revision: 4.")
    return re.sub(r"(?<![\w.])27(\d{2}\.\d\d)", r"11\1", text)


@pytest.mark.parametrize("name", NAMES)
def test_appended_outputs_are_documents_of_their_own(name: str) -> None:
    one, other = text_of(name), changed(text_of(name))
    assert one != other
    alone = [doc for text in (one, other) for doc in figures(read(text))]
    both = read(one + "\n" + other)
    assert both["runs"]["run_id"].is_unique
    assert figures(both) == alone
    bad = {"row_not_read", "not_complete", "broken_xml", "several_tools", "heading_missing"}
    assert not bad & set(codes(both))


@pytest.mark.parametrize("name", NAMES)
def test_three_repeats_of_an_output_are_three_documents(name: str) -> None:
    text = text_of(name)
    assert figures(read("\n".join([text] * 3))) == figures(read(text)) * 3


def test_a_total_never_has_the_percentiles_and_the_run_time_of_another_output() -> None:
    one = text_of("diskspd/mixed.txt")
    no_latency = one[: one.index("Total latency")].replace("20.00s", "10.00s")
    tables = read(no_latency + "\n" + one)
    assert tables["percentiles"]["run_id"].nunique() == 1
    totals = tables["runs"][tables["runs"]["level"] == "all"].set_index("source_doc")["run_id"]
    assert set(tables["percentiles"]["run_id"]) == {totals[1]}
    times = tables["results"].groupby("run_id")["runtime_s"].unique().map(list)
    assert [times[totals[doc]] for doc in (0, 1)] == [[10.0], [20.0]]


@pytest.mark.parametrize("cut", ["Command Line", "Input parameters:", "System information:", "Results for"])
def test_a_second_diskspd_output_that_lost_its_head_is_not_blended(cut: str) -> None:
    one = text_of("diskspd/mixed.txt")
    rest = changed(one)[changed(one).index(cut) :]
    tables = read(one + "\n" + rest)
    iops = tables["results"][tables["results"]["ddir"] == "mixed"]
    runs = tables["runs"].set_index("run_id")
    doc = iops["run_id"].map(runs["source_doc"])
    assert iops.groupby(doc)["ios"].sum().tolist() == [144000, 144000]
    hosts = runs.groupby("source_doc")["host"].unique().map(list).tolist()
    assert hosts[0] == ["BENCH01"]
    assert pd.isna(hosts[1][0]) if cut == "Results for" else hosts[1] == ["OTHER"]
    p50 = tables["percentiles"].query("ddir == 'read' and percentile == 50")["lat_us"].tolist()
    assert p50 == [1006, 9006]


def test_tables_of_diskspd_that_were_cut_out_and_appended_are_apart() -> None:
    one = text_of("diskspd/mixed.txt")
    tables = one[one.index("Total IO") :]
    found = read("\n".join([tables, tables]))
    assert found["runs"]["source_doc"].value_counts().to_dict() == {0: 3, 1: 3}
    assert len(found["percentiles"]) == 2 * 45


def test_an_iozone_output_without_banner_behind_another_is_apart() -> None:
    one = text_of("iozone/narrow.txt")
    for start in ("Command line used", "              KB  reclen", "KB  reclen"):
        if start in one:
            rest = one[one.rindex("\n", 0, one.index(start)) + 1 :]
            assert read(one + rest)["runs"]["source_doc"].value_counts().to_dict() == {0: 26, 1: 26}


def test_an_iozone_output_that_was_killed_does_not_take_the_next_ones_options() -> None:
    one = text_of("iozone/auto.txt")
    killed = one[: one.index("iozone test complete")].replace(" -I ", " ").replace("O_DIRECT", "")
    runs = read(killed + one)["runs"]
    assert runs.groupby("source_doc")["direct"].unique().map(list).tolist() == [[False], [True]]


def test_each_lab_log_of_a_file_has_its_own_start() -> None:
    tables = read(LAB + LAB.replace("1000.0", "1001.0"), "x_lab.log")
    assert tables["samples"]["t_s"].tolist() == [2.5, 2.5, 1.5, 1.5]
    assert tables["samples"]["run_id"].nunique() == 2
    assert not tables["samples"].duplicated(["run_id", "metric", "seq"]).any()
    assert "several_logs" in codes(tables)


@pytest.mark.parametrize("broken", [0, 1])
def test_a_broken_xml_document_loses_none_of_the_others(broken: int) -> None:
    one = text_of("diskspd/mixed.xml")
    parts = [one, one]
    parts[broken] = one.replace("<Thread>", "<Thread", 1)
    tables = read("".join(parts))
    assert len(tables["runs"]) == 3
    assert codes(tables) == ["broken_xml"]


FIO = '{\n"fio version" : "fio-3.33",\n"jobs" : [{"jobname": "a", "read": {"total_ios": 3, "iops": 1}}]\n}\n'


SEVERAL = [
    ("diskspd/mixed.txt", "iozone/auto.txt"),
    ("iozone/auto.txt", "diskspd/mixed.txt"),
    ("iometer/results.csv", "diskspd/mixed.txt"),
    ("diskspd/mixed.txt", "diskspd/mixed.xml"),
    ("diskspd/mixed.xml", "diskspd/mixed.txt"),
    ("iozone/throughput.txt", "iometer/results.csv"),
    ("iozone/auto.txt", "lab"),
    ("fio/text/randrw.txt", "iozone/auto.txt"),
    ("iozone/auto.txt", "fio/text/randrw.txt"),
    ("fio/randrw.json", "diskspd/mixed.xml"),
    ("sysstat/extended.txt", "fio/terse/v3.txt"),
    ("fio/text/randrw.txt", "sysstat/sar.txt"),
]


@pytest.mark.parametrize(("first", "second"), SEVERAL)
def test_outputs_of_several_tools_in_a_file_are_read_as_alone(first: str, second: str) -> None:
    alone, both = (
        [read(text_of(name)) for name in (first, second)],
        read(text_of(first) + "\n" + text_of(second)),
    )
    for table in (*TABLES, "demand"):
        keys = [name for name in both[table] if name not in ("run_id", "source_path")]
        rows = pd.concat([tables[table] for tables in alone])[keys]
        assert sorted(map(repr, rows.itertuples(index=False))) == sorted(
            map(repr, both[table][keys].itertuples(index=False))
        )
    assert "several_tools" not in codes(both)
    documents = both["runs"].groupby("source_doc")["tool"].nunique()
    assert (documents == 1).all()


def test_an_output_that_was_pasted_twice_is_counted_once(tmp_path: Path) -> None:
    out = tmp_path / "page.txt"
    iozone = text_of("iozone/auto.txt")
    out.write_text(text_of("fio/text/randrw.txt") + iozone + "Again:\n" + iozone, encoding="utf-8")
    tables = read_files([(out, "page.txt")])
    alone = read(iozone)
    assert (tables["runs"]["tool"] == "iozone").sum() == len(alone["runs"])
    assert "counted_once" in codes(tables)


def test_json_with_another_tool_between_its_documents_names_it() -> None:
    text = FIO + text_of("iozone/auto.txt") + FIO
    assert "several_tools" in codes(read(text))


def test_fio_beside_another_tool_is_read() -> None:
    other = text_of("iozone/auto.txt")
    for text in (FIO + other, other + FIO):
        tables = read(text)
        assert set(tables["runs"]["tool"]) == {"fio", "iozone"}
