"""The readers of diskspd's text and XML: sums, directions, encodings, damage."""

from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core import schema
from azbenchlib.core.units import GIB, MIB
from azbenchlib.formats import registry
from azbenchlib.formats.diskspd import text as diskspd_text
from azbenchlib.formats.diskspd import xml as diskspd_xml
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data" / "diskspd"
TEXT, XML = ((DATA / name).read_bytes() for name in ("mixed.txt", "mixed.xml"))
BOTH = pytest.mark.parametrize("data", [TEXT, XML], ids=["text", "xml"])


def read(data: bytes | str) -> dict[str, pd.DataFrame]:
    return registry.read(Source("out.txt", data if isinstance(data, bytes) else data.encode()))


def codes(tables: dict[str, pd.DataFrame]) -> list[str]:
    return tables["findings"]["code"].tolist()


def of_level(tables: dict[str, pd.DataFrame], name: str, level: str = "all") -> pd.DataFrame:
    """Rows of a table whose runs have a level."""
    runs = tables["runs"]
    return tables[name][tables[name]["run_id"].isin(runs.loc[runs["level"] == level, "run_id"])]


@BOTH
def test_the_total_is_told_and_is_no_job(data):
    tables = read(data)
    assert tables["runs"]["level"].value_counts().to_dict() == {"job": 2, "all": 1}
    total = of_level(tables, "results").set_index("ddir")
    assert total[["ios", "io_bytes", "iops", "iops_stddev", "runtime_s"]].to_dict("index") == {
        "mixed": {"ios": 72000, "io_bytes": 589824000, "iops": 3600, "iops_stddev": 18.5, "runtime_s": 20},
        "read": {"ios": 54000, "io_bytes": 442368000, "iops": 2700, "iops_stddev": 15.25, "runtime_s": 20},
        "write": {"ios": 18000, "io_bytes": 147456000, "iops": 900, "iops_stddev": 7.75, "runtime_s": 20},
    }
    threads = of_level(tables, "results", "job").groupby("ddir")["ios"].sum()
    assert threads.to_dict() == total["ios"].to_dict()
    assert codes(tables) == []


def test_text_has_the_throughput_as_printed_and_xml_by_its_counters():
    text, xml = (of_level(read(data), "results").set_index("ddir")["bw_bytes_per_s"] for data in (TEXT, XML))
    assert text["read"] == 21.09 * MIB
    assert xml["read"] == 442368000 / 20
    assert text.to_dict() == pytest.approx(xml.to_dict(), abs=0.006 * MIB)


@BOTH
def test_a_run_says_what_it_was_asked_to_do(data):
    runs = read(data)["runs"].set_index("level")
    total, thread = runs.loc["all"], runs.loc["job"].iloc[0]
    for run in (total, thread):
        assert (run["rw"], run["rwmix_read_pct"], run["bs_bytes"]) == ("randrw", 75, 8192)
        assert (run["iodepth"], run["numjobs"], run["direct"]) == (4, 2, True)
        assert (run["working_set_bytes"], run["host"]) == (2 * GIB, "BENCH01")
        assert (run["ramp_s"], run["runtime_limit_s"]) == (5, 20)
        assert run["started_at"] == "2026-03-02T09:30:00+00:00"
        assert run["target"] == r"C:\bench\test.dat"
    assert (total["queue_depth"], thread["queue_depth"]) == (8, 4)
    assert (total["usr_cpu_pct"], total["sys_cpu_pct"]) == (1.5, 3.5)
    assert pd.isna(thread["usr_cpu_pct"])


def asked(text: str, xml: str) -> list[tuple[float, float, float]]:
    """Limits of the rate and pause of a thread, by the text and the XML of one command."""
    told = ["rate_iops", "rate_bytes_per_s", "thinktime_us"]
    limited = TEXT.replace(b"\t\tthink time: 0ms\n\t\tburst size: 0\n", text.encode())
    assert limited != TEXT
    profile = XML.replace(b"</RequestCount>", f"</RequestCount>{xml}".encode())
    runs = [read(data)["runs"].set_index("level") for data in (limited, profile)]
    assert all(one.loc["all", told].equals(one.loc["job", told].iloc[0]) for one in runs)
    return [tuple(one.loc["all", told]) for one in runs]


def test_a_limit_of_the_rate_and_a_pause_are_told():
    """-g is each thread's, in bytes a millisecond or in IOPS; -j is a pause behind each burst of -i I/Os."""
    paused = "\t\tthink time: 5ms\n\t\tburst size: 10\n"
    pause = "<ThinkTime>5</ThinkTime><BurstSize>10</BurstSize>"
    in_bytes = asked(
        f"{paused}\t\tthroughput rate-limited to 4096 B/ms\n", f"{pause}<Throughput>4096</Throughput>"
    )
    assert in_bytes == [(500.0, 4_096_000.0, 5_000.0)] * 2
    in_iops = asked(
        f"{paused}\t\tthroughput rate-limited to 300 IOPS\n",
        f'{pause}<Throughput unit="IOPS">300</Throughput>',
    )
    assert [row[0] for row in in_iops] == [300.0] * 2 and all(pd.isna(row[1]) for row in in_iops)


def test_no_limit_is_none_of_zero():
    runs = read(TEXT)["runs"]
    assert runs["rate_iops"].isna().all() and (runs["thinktime_us"] == 0).all()
    unlimited = read(XML.replace(b"</RequestCount>", b"</RequestCount><Throughput>0</Throughput>"))["runs"]
    assert unlimited[["rate_iops", "rate_bytes_per_s", "thinktime_us"]].isna().all(axis=None)


@BOTH
def test_latencies_are_in_microseconds(data):
    tables = read(data)
    total = of_level(tables, "latency").set_index("ddir").loc["read"]
    names = ["n", "lat_min_us", "lat_mean_us", "lat_stddev_us", "lat_max_us"]
    assert total[names].tolist() == [54000, 101, 1160, 550, 6030]
    percentiles = tables["percentiles"]
    assert set(percentiles["run_id"]) == set(of_level(tables, "results")["run_id"])
    assert len(percentiles) == 3 * 15
    write = {round(row.percentile, 9): row.lat_us for row in percentiles.itertuples() if row.ddir == "write"}
    assert [write[p] for p in (0, 50, 99, 99.9, 99.9999999, 100)] == [902, 2107, 4119, 5122, 7131, 7131]


def test_a_direction_without_io_has_no_row():
    zeros = TEXT.decode().replace(
        "         54000 |      21.09 |    2700.00 |    1.160",
        "             0 |       0.00 |       0.00 |    0.000",
    )
    zeros = zeros.replace("total:   442368000 |", "total:   0 |").replace("|      1.006 |", "|        N/A |")
    zeros = zeros.replace(
        "|        54000 |      21.09 |    2700.00 |", "|            0 |       0.00 |       0.00 |"
    )
    tables = read(zeros)
    assert of_level(tables, "results")["ddir"].tolist() == ["mixed", "write"]
    p50 = tables["percentiles"][tables["percentiles"]["percentile"] == 50]
    assert p50["ddir"].tolist() == ["write", "mixed"]


def test_old_versions_call_mib_mb():
    assert (
        of_level(read(TEXT.replace(b"MiB/s", b" MB/s")), "results")["bw_bytes_per_s"].iloc[0] == 28.12 * MIB
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig", "gbk"])
def test_a_redirected_file_is_read_in_its_encoding(encoding):
    text = TEXT.decode().replace(r"C:\bench", "C:\\测试")
    run = read(text.encode(encoding))["runs"].set_index("level").loc["all"]
    assert run["target"] == "C:\\测试\\test.dat"
    assert run["iodepth"] == 4


def test_every_time_span_is_a_document():
    text = TEXT.decode()
    asked = text[text.index("\ttimespan:") : text.index("System information")]
    given_back = text[text.index("Results for timespan 1:") :]
    both = text.replace(
        "System information", asked.replace("timespan:   1", "timespan:   2") + "System information"
    )
    runs = read(both + given_back.replace("timespan 1:", "timespan 2:"))["runs"]
    assert runs["source_doc"].value_counts().to_dict() == {0: 3, 1: 3}
    assert runs["iodepth"].tolist() == [4] * 6


def test_several_targets_share_only_what_they_have_alike():
    text = TEXT.decode()
    asked = text[text.index("\tpath:") : text.index("System information")]
    other = asked.replace("test.dat", "other.dat").replace("8KiB", "64KiB")
    runs = read(text.replace("System information", other + "System information"))["runs"].set_index("level")
    total = runs.loc["all"]
    assert total[["target", "bs_bytes", "iodepth", "queue_depth", "numjobs"]].isna().all()
    assert (total["rw"], total["direct"]) == ("randrw", True)
    assert runs.loc["job", "bs_bytes"].tolist() == [8192, 8192]


def test_a_damaged_row_is_left_out_and_told():
    tables = read(TEXT.replace(b"30000", b"3x000"))
    assert len(of_level(tables, "results", "job")) == 5
    assert codes(tables) == ["row_not_read"]


def test_text_that_breaks_off_has_no_total():
    cut = TEXT[: TEXT.index(b"total:")]
    tables = read(cut)
    assert set(tables["runs"]["level"]) == {"job"}
    assert codes(tables) == ["not_complete"]


def test_what_diskspd_says_of_failure_is_a_finding():
    tables = read(
        b"Input parameters:\n\n\ttimespan:   1\nResults for timespan 1:\nError opening file: x [5]\n"
    )
    assert codes(tables) == ["diskspd_message", "not_complete", "no_figures"]


def test_xml_that_breaks_off_keeps_the_whole_time_spans():
    span = XML[XML.index(b"<TimeSpan><TestTime") : XML.index(b"</Results>")]
    double = XML.replace(b"</Results>", span + b"</Results>")
    tables = read(double[: -len(span)])
    assert tables["runs"]["source_doc"].unique().tolist() == [0]
    assert codes(tables) == ["broken_xml"]
    assert codes(read(XML[: XML.index(b"</TimeSpan>\n</Results>")])) == ["broken_xml", "no_figures"]


@pytest.mark.parametrize(
    "head",
    [
        b'<!DOCTYPE Results [<!ENTITY a "x"><!ENTITY b "&a;&a;&a;">]>',
        b'<!DOCTYPE Results SYSTEM "file:///etc/passwd">',
    ],
)
def test_xml_with_a_document_type_is_refused(head):
    tables = read(head + XML)
    assert tables["runs"].empty
    assert codes(tables) == ["broken_xml", "no_figures"]
    assert "document type" in tables["findings"]["message"].iloc[0]


def test_xml_nested_very_deep_is_refused():
    tables = read(b"<Results><Profile>" + b"<a>" * 200_000)
    assert codes(tables) == ["broken_xml", "no_figures"]
    assert "in each other" in tables["findings"]["message"].iloc[0]


def test_a_counter_that_is_missing_leaves_the_sum_missing():
    tables = read(XML.replace(b"<ReadCount>30000</ReadCount>", b""))
    total = of_level(tables, "results").set_index("ddir")
    assert pd.isna(total.loc["read", "ios"])
    assert total.loc["read", "io_bytes"] == 442368000


@pytest.mark.parametrize("size", ["9" * 4300, "9" * 5000, "9" * 20_000, "1" * 30 + "T", "-1", "1e999"])
def test_a_size_of_thousands_of_digits_is_left_out(size):
    tables = read(TEXT.replace(b"(2GiB)", f"({size})".encode()).replace(b"8KiB", size.encode()))
    assert len(of_level(tables, "results")) == 3
    assert tables["runs"][["working_set_bytes", "bs_bytes"]].isna().all(axis=None)


@pytest.mark.parametrize("time", ["1e-320", "0", "-1", "nan", "1e999", ""])
def test_a_time_span_without_a_time_has_no_rates_and_says_so(time):
    tables = read(XML.replace(b"<TestTimeSeconds>20.00", f"<TestTimeSeconds>{time}".encode()))
    assert tables["results"][["iops", "bw_bytes_per_s"]].isna().all(axis=None)
    assert len(tables["results"]) == 9
    assert codes(tables) == ["no_runtime"]


def test_figures_without_the_heading_of_their_time_span_are_kept_and_told():
    headless = TEXT.replace(b"Results for timespan 1:\n", b"")
    tables, whole = read(headless), read(TEXT)
    for name in ("results", "latency", "percentiles"):
        pd.testing.assert_frame_equal(tables[name].drop(columns="run_id"), whole[name].drop(columns="run_id"))
    assert codes(tables) == ["heading_missing"]


def test_a_time_span_without_results_is_told():
    text = TEXT.decode()
    asked = text[text.index("\ttimespan:") : text.index("System information")]
    both = text.replace("System information", asked.replace("   1", "   2") + "System information")
    tables = read(both)
    assert tables["runs"]["source_doc"].unique().tolist() == [0]
    assert codes(tables) == ["not_complete"]
    assert "time span 2 was requested" in tables["findings"]["message"].iloc[0]


def several_targets(head: str, second_of_first: bool) -> str:
    """An output with two targets, each with a table of percentiles below `head` and its path."""
    text = TEXT.decode().replace("     1 |       262144000", "     1 |       262144000")
    for old, new in (("262144000", 1), ("196608000", 1), ("65536000", 1)):
        line = next(line for line in text.splitlines() if f" {old} |" in line and line.startswith("     1"))
        text = text.replace(line, line.replace("test.dat", "other.dat") * new)
    if second_of_first:
        for line in [one for one in text.splitlines() if one.startswith("     1")]:
            text = text.replace(line, line + "\n" + line.replace("     1 |", "     2 |"))
    table = text[text.index("  %-ile") :]
    tables = "".join(
        f"\n{head}C:\\bench\\{name}.dat\n" + table.replace("1.006", f"{place}.777")
        for place, name in ((3, "test"), (4, "other"))
    )
    return text.replace("Total latency distribution:", tables + "\nTotal latency distribution:")


@pytest.mark.parametrize("head", ["", "Latency distribution: "])
@pytest.mark.parametrize("several", [False, True], ids=["one thread a target", "two threads of a target"])
def test_the_percentiles_of_each_target_are_its_own(head, several):
    tables = read(several_targets(head, several))
    rows = tables["percentiles"].merge(tables["runs"], on="run_id")
    p50 = rows[(rows["percentile"] == 50) & (rows["ddir"] == "read")]
    found = sorted(zip(p50["level"], p50["target"].fillna(""), p50["lat_us"], strict=True))
    path = "C:\\bench\\"
    assert found == [
        ("all", path + "test.dat", 1006),
        *([("group", path + "other.dat", 4777)] if several else []),
        *([] if several else [("job", path + "other.dat", 4777)]),
        ("job", path + "test.dat", 3777),
    ]
    assert codes(tables) == []


def test_a_table_that_cannot_be_kept_is_named():
    waits = (
        "\nWait Statistics - Completion Wait\nthread |         wait | 0 - 7+ complete per wait\n"
        "------------------------------------------------\n     0 |           12 | 1 2 3 4 5 6 7 8\n"
    )
    ring = (
        "\n\nIoRing Statistics\nthread |  Submits/s \n-----\n     0 |       11.00\n-----\ntotal: |   11.00\n"
    )
    unknown = "\nC:\\elsewhere.dat\n" + TEXT.decode()[TEXT.decode().index("  %-ile") :]
    tables = read(TEXT.decode() + ring + unknown + waits)
    assert codes(tables) == ["table_left_out"]
    for title in ("IoRing Statistics", "Wait Statistics", "elsewhere.dat"):
        assert title in tables["findings"]["message"].iloc[0]
    whole = read(TEXT)
    for name in ("results", "percentiles"):
        pd.testing.assert_frame_equal(tables[name].drop(columns="run_id"), whole[name].drop(columns="run_id"))


def test_the_sum_of_all_time_spans_is_no_run_and_no_damage():
    totals = (
        "\n\nTotals:\n****\n\ntype   |       bytes     |     I/Os     |    MiB/s   |  I/O per s\n-----\n"
        "write  |        147456000 |        18000 |       7.03 |     900.00\n"
        "total  |        589824000 |        72000 |      28.12 |    3600.00\n\ntotal test time:\t20.00s\n"
    )
    tables = read(TEXT.decode() + totals)
    assert len(tables["runs"]) == 3
    assert codes(tables) == []


@given(data=st.data())
def test_damage_gives_tables_and_no_traceback(data):
    whole = data.draw(st.sampled_from([TEXT, XML]))
    raw = bytearray(whole[: data.draw(st.one_of(st.just(len(whole)), st.integers(0, len(whole))))])
    for _ in range(data.draw(st.integers(0, 8))):
        if raw:
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    reader = diskspd_text.read_diskspd_text if whole is TEXT else diskspd_xml.read_diskspd_xml
    tables = reader(Source("x", bytes(raw))).frames()
    for name, table in tables.items():
        schema.check(name, table)


# ---- rates over time ------------------------------------------------------------------------------------


def intervals(*rates: tuple[int, int, int]) -> str:
    buckets = "".join(
        f'<Bucket SampleMillisecond="{ms}" Read="{r}" Write="{w}" Total="{r + w}" ReadLatencyStdDev="0"/>'
        for ms, r, w in rates
    )
    return f"{buckets}</Iops>"


def with_intervals(*rates: tuple[int, int, int]) -> str:
    text = XML.decode()
    assert text.count("</Iops>") == 3  # two threads, and the time span
    return text.replace("</Iops>", intervals(*rates))


def test_the_rates_of_each_interval_are_samples():
    tables = read(with_intervals((1000, 2700, 900), (2000, 2600, 0), (3000, 2800, 950)))
    samples = of_level(tables, "samples")
    told = samples[["ddir", "metric", "seq", "t_s", "value"]].values.tolist()
    assert told[:3] == [["read", "iops", i, i + 1, rate] for i, rate in enumerate((2700, 2600, 2800))]
    assert [row[-1] for row in told[3:]] == [900, 0, 950]
    assert len(of_level(tables, "samples", "job")) == 12
    assert tables["results"]["ios"].tolist() == read(XML)["results"]["ios"].tolist()
    assert codes(tables) == []


def test_a_direction_without_io_and_the_rest_of_an_interval_are_no_samples():
    tables = read(with_intervals((10_000, 2700, 0), (20_000, 2600, 0), (30_000, 3, 0)))  # of 20 s
    samples = of_level(tables, "samples")
    assert samples["ddir"].unique().tolist() == ["read"] and samples["value"].tolist() == [2700, 2600]


def test_intervals_that_are_broken_or_too_many_are_left_out(monkeypatch):
    broken = with_intervals((1000, 2700, 900)).replace('Write="900"', 'Write="many"')
    assert read(broken)["samples"].empty
    monkeypatch.setattr(diskspd_xml, "_MOST_INTERVALS", 2)
    tables = read(with_intervals((1000, 2700, 900)))
    assert tables["samples"].empty and codes(tables) == ["intervals_left_out"]
