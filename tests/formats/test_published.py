"""Published measurements: every printed figure is kept, and only what is beyond doubt becomes a result."""

import csv
import io

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from azbenchlib.core import schema
from azbenchlib.formats import published, registry
from azbenchlib.formats.source import Source

ROW = {
    "source_file": "blog.txt",
    "source_line": "7",
    "experiment": "e1",
    "quantity": "iops",
    "stat": "mean",
    "value": "100",
    "unit": "IOPS",
    "rw": "randwrite",
}


def source(*rows: dict[str, str], encoding: str = "utf-8", **form) -> Source:
    """The rows as a CSV with the columns of all of them."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, restval="", **({"lineterminator": "\n"} | form))
    writer.writeheader()
    writer.writerows(rows)
    return Source("p.csv", text.getvalue().encode(encoding))


def read(*rows: dict[str, str]) -> dict:
    return registry.read(source(*rows))


def codes(tables: dict) -> list[str]:
    return tables["findings"]["code"].tolist()


def test_every_column_arrives():
    tables = read(
        ROW
        | {
            "setup": "vm-disk",
            "tool": "FIO",
            "rw": "randrw",
            "rwmix_read_pct": "70",
            "bs_kib": "0.5",
            "iodepth": "32",
            "numjobs": "4",
            "queue_depth": "128",
            "direct": "1",
            "working_set_bytes": "21474836480",
            "runtime_limit_s": "60",
            "bound": "~",
            "precision": "rounded",
            "claim": "it is fast",
            "note": "ignored",
            "id": "x-1",
        }
    )
    run = tables["runs"].iloc[0].dropna().to_dict()
    assert run | {"run_id": "", "source_sha256": ""} == {
        "run_id": "",
        "setup_id": "vm-disk",
        "level": "job",
        "tool": "fio",
        "job": "e1",
        "job_index": 0,
        "rw": "randrw",
        "rwmix_read_pct": 70.0,
        "bs_bytes": 512,
        "iodepth": 32,
        "numjobs": 4,
        "queue_depth": 128,
        "direct": True,
        "working_set_bytes": 20 * 2**30,
        "runtime_limit_s": 60.0,
        "source_path": "p.csv",
        "source_sha256": "",
        "source_doc": 0,
    }
    printed = tables["published"].iloc[0].to_dict()
    assert printed | {"run_id": ""} == {
        "run_id": "",
        "quantity": "iops",
        "stat": "mean",
        "value": 100.0,
        "bound": "~",
        "unit": "IOPS",
        "measured": True,
        "precision": "rounded",
        "claim": "it is fast",
        "source_file": "blog.txt",
        "source_line": 7,
    }
    assert tables["results"].dropna(axis=1)[["ddir", "iops"]].values.tolist() == [["mixed", 100.0]]
    assert codes(tables) == ["approximate"]


def test_other_spellings_of_the_columns():
    other = source(
        {
            "seed_file": "blog.txt",
            "line": "7",
            "experiment_id": "e1",
            "metric": "iops",
            "iodepth_per_job": "3",
            "outstanding_total": "3",
            "runtime_cap_s": "3",
            "stat": "mean",
            "value": "100",
            "unit": "IOPS",
            "rw": "randwrite",
        }
    )
    mine = source(ROW | {"iodepth": "3", "queue_depth": "3", "runtime_limit_s": "3"})
    assert published.sniff(other.text)
    told, expected = registry.read(other), registry.read(mine)
    for table, private in (("runs", ["run_id", "source_sha256"]), ("published", ["run_id"])):
        assert told[table].drop(columns=private).equals(expected[table].drop(columns=private))


@pytest.mark.parametrize(
    ("unit", "value", "us"),
    [
        ("ns", "1234", 1.234),
        ("us", "147", 147),
        ("usec", "30802", 30802),
        ("µs", "0.5", 0.5),
        ("ms", "2.2", 2200),
        ("msec", "4.3", 4300),
        ("s", "0.0432", 43200),
    ],
)
def test_latencies_come_out_in_microseconds(unit, value, us):
    rows = [
        ROW | {"quantity": "clat", "stat": stat, "unit": unit, "value": value} for stat in ("p99.9", "mean")
    ]
    tables = read(*rows)
    assert tables["percentiles"]["percentile"].tolist() == [99.9]
    assert tables["percentiles"]["lat_us"].tolist() == [pytest.approx(us, rel=1e-12)]
    assert tables["latency"]["lat_mean_us"].tolist() == [pytest.approx(us, rel=1e-12)]
    assert tables["latency"]["lat_kind"].tolist() == ["clat"]


@pytest.mark.parametrize(
    ("row", "column", "expected"),
    [
        ({"quantity": "bandwidth", "unit": "MB/s", "value": "785"}, "bw_bytes_per_s", 785e6),
        ({"quantity": "bandwidth", "unit": "MiB/s", "value": "462"}, "bw_bytes_per_s", 462 * 2**20),
        ({"quantity": "bandwidth", "unit": "KiB/s", "value": "3"}, "bw_bytes_per_s", 3072),
        ({"quantity": "bandwidth", "unit": "B/s", "value": "3"}, "bw_bytes_per_s", 3),
        ({"quantity": "iops", "unit": "IOPS", "value": "3499"}, "iops", 3499),
        (
            {"unit": "k IOPS", "value": "16.3", "value_si": "16300", "si_unit": "1/s"},
            "iops",
            16300,
        ),
        (
            {"quantity": "bandwidth", "unit": "KB/s", "value": "2", "value_si": "2048", "si_unit": "B/s"},
            "bw_bytes_per_s",
            2048,
        ),
    ],
)
def test_rates_come_out_in_base_units(row, column, expected):
    tables = read(ROW | row)
    assert tables["results"][column].tolist() == [expected]
    assert codes(tables) == []


@pytest.mark.parametrize(
    "row",
    [
        {"unit": "k IOPS"},
        {"quantity": "bandwidth", "unit": "KB/s"},
        {"quantity": "bandwidth", "unit": "MB/s", "value_si": "1", "si_unit": "MB/s"},
        {"quantity": "bandwidth", "unit": "MB/s", "value_si": "one"},
        {"quantity": "clat", "unit": "jiffies"},
    ],
)
def test_a_unit_that_needs_interpretation_is_not_guessed(row):
    tables = read(ROW | row, ROW | {"experiment": "good"})
    assert codes(tables) == ["unit_not_read"]
    message = tables["findings"]["message"][0]
    assert message.startswith(
        f"p.csv: e1, {row.get('quantity', 'iops')} mean: unit '{row['unit']}' is not one of"
    )
    assert len(tables["published"]) == 2
    assert len(tables["results"]) == 1


@pytest.mark.parametrize(
    ("row", "code", "told"),
    [
        ({"value": "fast"}, "value_not_read", "'fast'"),
        ({"value": "nan"}, "value_not_read", "'nan'"),
        ({"value": "1e999"}, "value_not_read", "'1e999'"),
        ({"value": "-5"}, "value_not_read", "'-5' is below zero"),
        ({"bound": "≥"}, "bound_not_read", "bound '≥' is not one of: =, >, <, ~"),
        ({"queue_depth": "many"}, "cell_not_read", "queue_depth 'many'"),
        ({"queue_depth": "1e300"}, "cell_not_read", "queue_depth '1e300'"),
        ({"bs_kib": "-4"}, "cell_not_read", "bs_kib '-4'"),
        ({"rwmix_read_pct": "150"}, "cell_not_read", "rwmix_read_pct '150'"),
        ({"runtime_limit_s": "inf"}, "cell_not_read", "runtime_limit_s 'inf'"),
    ],
)
def test_a_bad_cell_costs_no_other_row(row, code, told):
    tables = read(ROW | row, ROW | {"experiment": "good", "value": "7"})
    assert codes(tables) == [code]
    assert told in tables["findings"]["message"][0]
    assert tables["findings"]["message"][0].startswith("p.csv: e1")
    assert 7.0 in tables["results"]["iops"].tolist()
    assert tables["runs"]["job"].tolist() == ["e1", "good"]
    assert len(tables["published"]) == 2


@pytest.mark.parametrize("line", ["", "0", "-1", "seven", "nan", "1.5"])
def test_a_line_that_is_none_is_missing(line):
    assert read(ROW | {"source_line": line})["published"]["source_line"].isna().all()


def test_a_missing_value_is_missing():
    tables = read(ROW | {"value": ""})
    assert tables["published"]["value"].isna().tolist() == [True]
    assert tables["results"].empty
    assert codes(tables) == []


def test_rows_of_the_wrong_length_are_told_with_their_line():
    text = source(ROW | {"claim": "two\nlines"}, ROW | {"experiment": "e2"}).data.decode()
    text = text.replace("blog.txt,7,e2,", "blog.txt,7,e2,more,")
    tables = registry.read(Source("p.csv", text.encode()))
    assert codes(tables) == ["row_not_read"]
    assert "p.csv, line 4: 10 cells where the header has 9" in tables["findings"]["message"][0]
    assert tables["runs"]["job"].tolist() == ["e1"]
    assert tables["published"]["claim"].tolist() == ["two\nlines"]


def test_blank_lines_are_no_rows():
    tables = registry.read(Source("p.csv", source(ROW).data + b"\n\n"))
    assert codes(tables) == []
    assert len(tables["runs"]) == 1


def test_what_cannot_be_a_cell_ends_the_reading_and_keeps_the_rest():
    data = source(ROW).data + b'"' + b"x" * 200_000
    tables = registry.read(Source("p.csv", data))
    assert codes(tables) == ["row_not_read"]
    assert tables["results"]["iops"].tolist() == [100.0]


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"lineterminator": "\r\n"},
        {"quoting": csv.QUOTE_ALL},
        {"quoting": csv.QUOTE_ALL, "lineterminator": "\r\n"},
        {"encoding": "utf-8-sig"},
        {"encoding": "utf-16"},
    ],
)
def test_forms_of_the_file(form):
    row = ROW | {"experiment": "größe, „4 KiB“", "claim": 'he said "200 MB/s", twice', "precision": "取整"}
    given_source = source(row, **form)
    assert published.sniff(given_source.text)
    tables = registry.read(given_source)
    assert codes(tables) == []
    assert tables["runs"]["job"].tolist() == [row["experiment"]]
    assert tables["published"][["claim", "precision"]].values.tolist() == [[row["claim"], row["precision"]]]


@pytest.mark.parametrize("bound", ["<", ">"])
@pytest.mark.parametrize("quantity", ["iops", "clat"])
def test_a_bound_is_no_result(bound, quantity):
    tables = read(
        ROW | {"bound": bound, "quantity": quantity, "unit": "IOPS" if quantity == "iops" else "ms"}
    )
    assert tables["published"]["bound"].tolist() == [bound]
    assert tables["results"].empty
    assert tables["latency"].empty


@pytest.mark.parametrize("row", [{"measured": "no"}, {"rw": ""}, {"rw": "unspecified"}, {"stat": "limit"}])
def test_what_was_not_measured_or_has_no_direction_is_no_result(row):
    tables = read(ROW | row)
    assert len(tables["published"]) == 1
    assert tables["published"]["measured"].tolist() == [row.get("measured") != "no"]
    assert tables["results"].empty


@pytest.mark.parametrize(
    ("rw", "ddir"),
    [
        ("read", "read"),
        ("randread", "read"),
        ("random_read", "read"),
        ("backward_read", "read"),
        ("reread", "read"),
        ("write", "write"),
        ("randwrite", "write"),
        ("rewrite", "write"),
        ("record_rewrite", "write"),
        ("rw", "mixed"),
        ("readwrite", "mixed"),
        ("randrw", "mixed"),
    ],
)
def test_direction_follows_from_the_pattern(rw, ddir):
    assert read(ROW | {"rw": rw})["results"]["ddir"].tolist() == [ddir]


def test_directions_of_one_experiment_stay_apart():
    rows = [ROW | {"rw": "randread", "stat": "measured"}, ROW | {"rw": "randwrite", "value": "50"}]
    tables = read(*rows)
    assert tables["results"][["ddir", "iops"]].values.tolist() == [["read", 100.0], ["write", 50.0]]


def test_a_figure_that_is_there_twice_counts_once():
    rows = [ROW | {"quantity": "clat", "stat": "p99", "unit": "ms", "value": value} for value in "12"]
    tables = read(*rows)
    assert tables["percentiles"]["lat_us"].tolist() == [1000.0]
    assert tables["published"]["value"].tolist() == [1.0, 2.0]
    assert codes(tables) == ["figure_twice"]


@pytest.mark.parametrize(
    ("stat", "code"),
    [("eta_instant", "rate_from_status_line"), ("unspecified (from a chart)", "statistic_not_stated")],
)
def test_a_doubtful_statistic_is_told_once(stat, code):
    row = ROW | {"stat": stat}
    tables = read(row, row | {"quantity": "bandwidth", "unit": "MB/s"})
    assert tables["results"][["iops", "bw_bytes_per_s"]].values.tolist() == [[100.0, 100e6]]
    assert codes(tables) == [code]
    assert tables["findings"]["run_id"].tolist() == tables["runs"]["run_id"].tolist()
    alone = read(row | {"quantity": "bandwidth", "unit": "MB/s"})
    assert codes(alone) == [code]


def test_a_header_alone_is_told_to_hold_no_figure():
    text = ",".join(ROW)
    for data in (text.encode(), text.encode() + b"\r\n"):
        assert published.sniff(data.decode())
        tables = registry.read(Source("p.csv", data))
        assert tables.pop("findings")["code"].tolist() == ["no_figures"]
        assert all(table.empty for table in tables.values())


def test_the_same_content_gives_the_same_runs():
    again = Source("elsewhere.csv", source(ROW).data)
    assert registry.read(again)["runs"]["run_id"].equals(read(ROW)["runs"]["run_id"])
    other = read(ROW | {"value": "101"})["runs"]["run_id"]
    assert not other.isin(read(ROW)["runs"]["run_id"]).any()


def claims(text: str) -> list[str]:
    return [entry.name for entry in registry.FORMATS if entry.sniff(text)]


def test_exactly_one_format_claims_a_file():
    assert claims(source(ROW).text) == ["published measurements"]
    for nobodys in ("", "\n", "source_file,value\n1,2\n", "hello"):
        assert claims(nobodys) == []


def test_a_file_that_nobody_knows_is_told():
    tables = registry.read(Source("notes.txt", b"hello"))
    assert tables["findings"][["severity", "code"]].values.tolist() == [["warning", "not_recognised"]]
    assert "published measurements" in tables["findings"]["advice"][0]


cell = st.text(max_size=8) | st.sampled_from(
    ["-1", "0", "1e400", "nan", "4", "yes", "~", "p99", "ms", "\x00"]
)


@example([{**ROW, "source_file": "Host:", "experiment": "e"}])
@given(st.lists(st.fixed_dictionaries(dict.fromkeys([*ROW, "bound", "bs_kib", "value_si", "direct"], cell))))
def test_no_cell_stops_the_reading(rows):
    tables = registry.read(source(ROW, *rows, quoting=csv.QUOTE_ALL))
    rejected = tables["findings"]["code"].tolist().count("row_not_read")
    assert len(tables["published"]) + rejected == len(rows) + 1
    assert 100.0 in tables["results"]["iops"].tolist()


@pytest.mark.parametrize(
    "header",
    [
        'source_file,source_line,experiment,quantity,stat,value,unit,no"te',
        '"source_file","source_line","experiment","quantity","stat","value","unit"',
        'source_file,source_line,experiment,"quant""ity",stat,value,unit',
        'source_file,"source_line,experiment",quantity,stat,value,unit',
        '"source_file,source_line,experiment,quantity,stat,value,unit',
        'source_file,source_line,experi"ment,quantity,stat,value,unit',
    ],
)
def test_a_header_is_claimed_and_read_in_the_same_way(header):
    data = (header + "\ntext,1,e,iops,mean,5,IOPS,x\ntext,1,e,iops,mean,5,IOPS\n").encode()
    tables = registry.read(Source("p.csv", data))
    assert len(tables["findings"])
    assert published.sniff(data.decode()) == (len(tables["published"]) > 0)


@pytest.mark.parametrize(("quantity", "unit"), [("iops", "IOPS"), ("bandwidth", "GB/s"), ("clat", "s")])
@pytest.mark.parametrize("value", ["1e308", "1e306", "9" * 400, "inf"])
def test_a_figure_beyond_all_measure_is_left_out_with_a_finding(quantity, unit, value):
    row = ROW | {"quantity": quantity, "unit": unit, "value": value, "stat": "mean", "rw": "read"}
    text = ",".join(row) + "\n" + ",".join(row.values()) + "\n"
    tables = registry.read(Source("p.csv", text.encode()))
    assert len(tables["findings"]) or quantity == "iops"
    for name, table in tables.items():
        schema.check(name, table)
