"""Each check finds what it is for, is silent just short of it, and is silent on healthy runs."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.analysis import runs
from azbenchlib.analysis.observation import Observation
from azbenchlib.core import histogram, schema
from azbenchlib.core.units import GIB, KIB, NS_PER_US
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.verdict import checks
from azbenchlib.verdict.checks.run_checks import rate_mismatch

ROOT = Path(__file__).parents[2]
FIO = ROOT / "tests" / "data" / "fio"
CORPUS = Path(os.environ.get("AZBENCH_CORPUS", "/nowhere"))
collected = pytest.mark.skipif(not CORPUS.is_dir(), reason="AZBENCH_CORPUS names no folder of outputs")

SHARES = (1.0, 50.0, 90.0, 99.0, 99.9, 99.99)
LATENCIES_NS = (40_192, 95_744, 120_320, 152_576, 1_122_304, 5_013_504)  # all on fio's grid


def healthy(run_id: str = "r") -> dict[str, list[dict]]:
    """Rows of one direct run of 60 s: 40,000 I/Os at depth 4."""
    row = {"run_id": run_id, "ddir": "read"}
    run = {"run_id": run_id, "setup_id": "s", "level": "job", "tool": "fio", "tool_version": "fio-3.33"}
    run |= {"job": "j", "rw": "randread", "bs_bytes": 4096, "iodepth": 4, "numjobs": 1, "queue_depth": 4}
    run |= {"working_set_bytes": 8 * GIB, "direct": True, "ioengine": "libaio", "runtime_limit_s": 60.0}
    run |= {"time_based": True, "error": 0, "source_path": f"{run_id}.json", "source_sha256": run_id}
    iops = 40_000 / 60
    result = {"ios": 40_000, "io_bytes": 40_000 * 4096, "runtime_s": 60.0, "iops": iops}
    percentiles = [
        row | {"lat_kind": "clat", "percentile": p, "lat_us": ns / NS_PER_US}
        for p, ns in zip(SHARES, LATENCIES_NS, strict=True)
    ]
    mean = {"lat_min_us": 30.0, "lat_mean_us": 4 / iops * 1e6, "lat_stddev_us": 1.0, "lat_max_us": 1e6}
    return {
        "setups": [{"setup_id": "s", "ram_bytes": 8 * GIB}],
        "runs": [run],
        "results": [row | result | {"bw_bytes_per_s": iops * 4096}],
        "latency": [row | mean | {"lat_kind": kind, "n": 40_000} for kind in ("clat", "lat")],
        "percentiles": percentiles,
    }


def tables_of(rows: dict[str, list[dict]]) -> dict[str, pd.DataFrame]:
    return {name: schema.frame(name, rows.get(name, [])) for name in schema.TABLES}


def found(table: str = "runs", row: int | slice = 0, **values: object) -> pd.DataFrame:
    """Findings on the healthy run with these values changed in a row (or in all rows) of a table."""
    rows = healthy()
    for entry in rows[table][row] if isinstance(row, slice) else [rows[table][row]]:
        entry |= values
    return checks.check(tables_of(rows))


def one(findings: pd.DataFrame, code: str, severity: str = "warning") -> str:
    """The message of the only finding, with plain spaces."""
    assert findings["code"].tolist() == [code]
    assert findings["severity"].tolist() == [severity]
    assert findings["advice"].notna().all()
    return str(findings["message"].iloc[0]).replace("\u00a0", " ")


def codes(findings: pd.DataFrame) -> list[str]:
    return findings["code"].tolist()


EVERY = slice(None)


def test_a_healthy_run_raises_no_doubt():
    assert codes(found()) == []


def test_every_code_is_told_once_and_explained():
    assert len(checks.CHECKS) == 14
    assert all(len(code.meaning) > 60 for code in checks.CHECKS)


# ---- do the latencies fit each other?


@pytest.mark.parametrize("tool", ["fio", "diskspd", "iometer", "iozone"])
@pytest.mark.parametrize(
    ("table", "row", "values", "words"),
    [
        ("latency", 0, {"lat_min_us": 7000.0}, "read clat least 7 ms, mean 6 ms"),
        ("latency", 0, {"lat_mean_us": 2e6}, "read clat mean 2 s, largest 1 s"),
        ("latency", 0, {"lat_max_us": 20.0, "lat_mean_us": None}, "read clat least 30 µs, largest 20 µs"),
        ("percentiles", 1, {"lat_us": 5013.504}, "read clat p50 5.01 ms, p90 120 µs"),
        ("percentiles", 5, {"lat_us": 2e6}, "read clat p99.99 2 s, largest 1 s"),
        ("percentiles", 0, {"lat_us": 20.096}, "read clat p1 20.1 µs, least 30 µs"),
    ],
)
@pytest.mark.sampled(8)
def test_latencies_that_contradict_each_other_are_told(tool, table, row, values, words):
    rows = healthy()
    rows["runs"][0] |= {"tool": tool}
    rows[table][row] |= values
    findings = checks.check(tables_of(rows))
    (message,) = findings.loc[findings["code"] == "latencies_out_of_order", "message"]
    assert words in message.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("row", "values"),
    [
        (0, {"lat_min_us": 6000.0, "lat_mean_us": 5999.5}),  # fio 2 printed whole µs
        (
            0,
            {"lat_max_us": 6000.0, "lat_mean_us": 6050.0, "lat_min_us": None},
        ),  # and three digits in its text
        (0, {"lat_mean_us": None, "lat_max_us": None}),
    ],
)
def test_what_rounding_explains_is_no_contradiction(row, values):
    rows = healthy()
    rows["latency"][row] |= values
    rows["percentiles"] = []
    assert "latencies_out_of_order" not in codes(checks.check(tables_of(rows)))


# ---- could the tool have measured it?


@pytest.mark.parametrize(
    ("row", "lat_us", "ok"),
    [(4, 1122.304, True), (4, 1121.0, False), (3, 152.576, True), (3, 152.5765, False)],
)
def test_a_mistyped_percentile_is_found(row, lat_us, ok):
    findings = found("percentiles", row, lat_us=lat_us)
    if ok:
        assert codes(findings) == []
    else:
        message = one(findings, "percentile_off_grid")
        assert message.startswith("r.json: job 'j': of 6 percentile values, 1 cannot come from")
        assert f"read p{SHARES[row]:g} " in message


def printed(percentiles_ns: list[int], unit_ns: int, step_ns: int, up: bool) -> dict[str, pd.DataFrame]:
    """Percentiles as fio prints those that its bins, counted in `unit_ns`, make of these."""
    values = histogram.value_of(histogram.index_of(np.array(percentiles_ns) // unit_ns)) * unit_ns
    shown = -(-values // step_ns) * step_ns if up else values // step_ns * step_ns
    rows = healthy()
    rows["percentiles"] = [
        {"run_id": "r", "ddir": "read", "lat_kind": "clat", "percentile": float(i + 1), "lat_us": v / 1000}
        for i, v in enumerate(np.sort(shown))
    ]
    return tables_of(rows)


@given(
    st.lists(st.integers(0, 10**10), min_size=1, max_size=12),
    st.sampled_from(
        [
            *((1, 1, True), (1, 1000, True), (1, 10**6, True), (1, 1000, False)),
            *((1000, 1000, True), (1000, 10**6, True)),
        ]
    ),
)
def test_whatever_fio_prints_is_on_its_grid(percentiles_ns, way):
    """ns and µs histograms, printed as they are, rounded up to µs or ms, or cut off."""
    assert "percentile_off_grid" not in codes(checks.check(printed(percentiles_ns, *way)))


def test_all_published_percentiles_of_2020_lie_on_the_grid_and_a_typo_does_not():
    tables = Dataset.read(ROOT / "datasets" / "azure-local-disks-2020").tables
    assert len(tables["percentiles"]) == 102
    assert "percentile_off_grid" not in codes(checks.check(tables))
    slow = tables["percentiles"].index[tables["percentiles"]["lat_us"] > 4000]
    for place in slow:
        typed = tables["percentiles"].copy()
        typed.loc[place, "lat_us"] += 3
        assert "percentile_off_grid" in codes(checks.check({**tables, "percentiles": typed}))


def test_figures_that_a_publication_has_rounded_are_not_held_against_the_grid():
    rows = healthy()
    rows["percentiles"] = rows["percentiles"][:5]
    rows["percentiles"][4]["lat_us"] = 1100.0
    assert codes(checks.check(tables_of(rows))) == ["percentile_off_grid"]
    figure = {"run_id": "r", "quantity": "clat", "stat": "p99.9", "value": 1.1, "unit": "ms"}
    rows["published"] = [figure | {"measured": True, "precision": "rounded"}]
    assert codes(checks.check(tables_of(rows))) == []
    rows["published"][0]["precision"] = "exact"
    assert codes(checks.check(tables_of(rows))) == ["percentile_off_grid"]


@pytest.mark.parametrize(
    ("lat_us", "shown"),
    [
        (17_112_760.32, "17.1 s"),
        (17_112_761.0, "17.1 s"),  # as fio's text prints it
        (17_113_000.0, "17.1 s"),
        (16_711_680.0, "16.7 s"),  # of fio 2
        (16_978_542.592, None),  # the bin before
    ],
)
def test_what_took_longer_than_the_histogram_of_fio_reaches(lat_us: float, shown: str | None) -> None:
    rows = healthy()
    rows["percentiles"][3] |= {"lat_us": lat_us}
    rows["latency"][0] |= {"lat_max_us": 108e6}
    mine = checks.check(tables_of(rows))
    mine = mine[mine["code"] == "beyond_the_histogram"]
    assert mine.empty == (shown is None)
    if shown:
        message = one(mine, "beyond_the_histogram")
        assert f"from p99 on (read), {shown} means that or longer" in message
        assert "the longest took 108 s" in message


@pytest.mark.parametrize(("times", "ok"), [(1.0099, True), (1.0102, False), (0.9902, True), (1.024, False)])
def test_iops_times_block_size_is_the_throughput(times, ok):
    findings = found("results", bw_bytes_per_s=40_000 / 60 * 4096 * times)
    if ok:
        assert codes(findings) == []
    else:
        assert "667 IOPS of 4 KiB are 2.7 MB/s, but" in one(findings, "rate_mismatch")


@pytest.mark.parametrize(("ramp_s", "under_way", "ok"), [(2, 60, True), (2, 90, False), (None, 60, False)])
def test_bytes_of_what_was_under_way_when_a_ramp_ended_are_no_mismatch(ramp_s, under_way, ok):
    made = 667 * 4096
    seen = Observation(
        read_share=1.0,
        bs_bytes=4096,
        iops=667.0,
        bw_bytes_per_s=made + under_way * 4096,
        queue_depth=32,
        runtime_s=1.0,
        ramp_s=ramp_s,
    )
    assert (rate_mismatch(seen) is None) == ok


def test_the_size_of_writes_is_their_own_and_several_sizes_are_not_reckoned_with():
    size = {"bs_bytes": 4096, "bs_write_bytes": 8192}
    write = {"ddir": "write", "bw_bytes_per_s": 40_000 / 60 * 8192}
    for ddir, rate, ok in (("write", 8192, True), ("write", 4096, False), ("mixed", 5000, True)):
        rows = healthy()
        rows["runs"][0] |= size
        rows["results"][0] |= write | {"ddir": ddir, "bw_bytes_per_s": 40_000 / 60 * rate}
        for name in ("latency", "percentiles"):
            for entry in rows[name]:
                entry["ddir"] = ddir
        assert codes(checks.check(tables_of(rows))) == ([] if ok else ["rate_mismatch"])
        rows["findings"] = [{"run_id": "r", "severity": "info", "code": "block_size_varies", "message": "m"}]
        assert codes(checks.check(tables_of(rows))) == []


def test_whole_iops_and_kib_of_old_fio_are_no_mismatch():
    """21 IOPS of 4 KiB, truncated to whole ones and to 87 KiB/s by fio 2.1."""
    latency = {"lat_mean_us": 4 / 21 * 1e6}
    for rate, ok in ((87 * KIB, True), (89 * KIB, False)):
        rows = healthy()
        rows["results"][0] |= {"iops": 21.0, "bw_bytes_per_s": float(rate)}
        rows["latency"][1] |= latency
        assert codes(checks.check(tables_of(rows))) == ([] if ok else ["rate_mismatch"])


@pytest.mark.parametrize(
    ("times", "severity"),
    [(0.951, None), (0.949, "warning"), (1.049, None), (1.051, "warning"), (3.0, "warning")],
)
def test_littles_law(times, severity):
    findings = found("latency", 1, lat_mean_us=4 / (40_000 / 60) * 1e6 * times)
    if severity is None:
        assert codes(findings) == []
    else:
        message = one(findings, "load_mismatch", severity)
        assert f"queue depth 4 was requested, but IOPS × mean latency makes {4 * times:.3g}" in message


def test_a_load_of_thousands_is_a_plain_figure():
    findings = found("latency", 1, lat_mean_us=4 / (40_000 / 60) * 1e6 * 482)
    (message,) = findings.loc[findings["code"] == "load_mismatch", "message"]
    assert "IOPS × mean latency makes 1,928" in message


def test_the_directions_of_a_mix_share_the_load():
    rows = healthy()
    rows["results"].append(rows["results"][0] | {"ddir": "write"})
    rows["latency"].append(rows["latency"][1] | {"ddir": "write"})
    assert codes(checks.check(tables_of(rows))) == ["load_mismatch"]
    for entry in rows["latency"]:
        entry["lat_mean_us"] /= 2
    assert codes(checks.check(tables_of(rows))) == []
    rows["results"].append(rows["results"][0] | {"ddir": "mixed"})  # sums the two
    rows["latency"].append(rows["latency"][1] | {"ddir": "mixed"})
    assert codes(checks.check(tables_of(rows))) == []
    rows["latency"] = [entry for entry in rows["latency"] if entry["ddir"] != "write"]
    rows["latency"][1]["lat_mean_us"] *= 4
    assert codes(checks.check(tables_of(rows))) == []  # half of the load is not known


def test_a_load_held_back_by_a_limit_or_by_fio_itself_says_so():
    rows = healthy()
    rows["latency"][1]["lat_mean_us"] /= 2
    rows["runs"][0]["rate_iops"] = 667.0
    assert "limited by its own rate limit of 667 IOPS" in one(
        checks.check(tables_of(rows)), "load_mismatch", "info"
    )
    rows = healthy()
    fast = {"iops": 30_000.0, "bw_bytes_per_s": 30_000 * 4096.0}
    rows["results"][0] |= fast
    rows["runs"][0] |= {"queue_depth": 1}
    rows["latency"][1]["lat_mean_us"] = 30.0  # of 33.3 µs
    assert "3.33 µs between I/Os" in one(checks.check(tables_of(rows)), "load_mismatch", "info")


@pytest.mark.parametrize(
    ("table", "row", "values", "told"),
    [
        ("results", 0, {"iops": 0.0}, "zero stands for IOPS (read)"),
        ("results", 0, {"bw_bytes_per_s": 0.0}, "zero stands for throughput (read)"),
    ],
)
def test_a_zero_that_stands_for_a_missing_value(table, row, values, told):
    assert told in one(found(table, row, **values), "zero_for_missing")


def test_zeros_of_latency_are_true_of_old_fio_and_false_in_a_table():
    assert "zero_for_missing" not in codes(found("percentiles", 0, lat_us=0.0))
    rows = healthy()
    rows["percentiles"][0]["lat_us"] = rows["latency"][1]["lat_mean_us"] = 0.0
    rows["published"] = [{"run_id": "r", "quantity": "clat", "stat": "p1", "precision": "exact"}]
    assert "zero stands for lat (read), clat (read)" in "".join(checks.check(tables_of(rows))["message"])


def test_a_direction_without_io_is_truly_zero():
    rows = healthy()
    rows["results"].append({"run_id": "r", "ddir": "write", "ios": 0, "io_bytes": 0, "iops": 0.0})
    assert "zero_for_missing" not in codes(checks.check(tables_of(rows)))


# ---- how was it made?


@pytest.mark.parametrize(
    ("size", "ram", "severity", "told"),
    [
        (8 * GIB, 8 * GIB, "warning", "on 8 GiB with 8 GiB of RAM: the page cache may hold it all"),
        (16 * GIB - 1, 8 * GIB, "warning", "may hold most of it"),
        (16 * GIB, 8 * GIB, "info", "though on 16 GiB, 2 times the RAM"),
        (8 * GIB, None, "warning", "may have answered; its data are 8 GiB"),
        (None, 8 * GIB, "warning", "the page cache may have answered"),
    ],
)
def test_buffered_io_may_be_the_page_cache(size, ram, severity, told):
    rows = healthy()
    rows["runs"][0] |= {"direct": False, "working_set_bytes": size}
    rows["setups"][0]["ram_bytes"] = ram
    findings = checks.check(tables_of(rows))
    assert told in one(findings, "page_cache_suspected", severity)
    assert "--direct=1" in findings["advice"].iloc[0]
    rows["runs"][0]["tool"] = "iozone"
    assert "-I" in checks.check(tables_of(rows))["advice"].iloc[0]


@pytest.mark.parametrize("values", [{"direct": True}, {"direct": None}, {"direct": False, "ioengine": "rbd"}])
def test_direct_io_and_engines_without_files_never_meet_the_page_cache(values):
    assert codes(found(working_set_bytes=1024, **values)) == []


@pytest.mark.parametrize(
    ("engine", "bypassed"), [("nbd", True), ("rbd", True), ("libaio", False), (None, False)]
)
def test_verdicts_know_engines_without_files_too(engine: str | None, bypassed: bool) -> None:
    rows = healthy()
    rows["runs"][0] |= {"direct": False, "ioengine": engine}
    (run,) = runs.runs(tables_of(rows))
    assert run.flows[0].observation.direct is bypassed


@pytest.mark.parametrize(("took", "ok"), [(30.0, True), (29.9, False), (0.013, False)])
def test_a_short_run_hides_what_sets_in_later(took, ok):
    findings = found("results", runtime_s=took)
    assert codes(findings) == [] if ok else "burst credits" in one(findings, "too_short")


def test_a_short_run_time_asked_for_counts_where_the_true_one_is_not_told():
    rows = healthy()
    rows["results"][0]["runtime_s"] = None
    rows["runs"][0]["runtime_limit_s"] = 10.0
    assert "it took 10 s" in one(checks.check(tables_of(rows)), "too_short")
    rows["runs"][0]["runtime_limit_s"] = None
    assert codes(checks.check(tables_of(rows))) == []


@pytest.mark.parametrize(
    ("took", "time_based", "ok"), [(45, False, False), (60, False, True), (45, True, True)]
)
def test_a_run_that_ended_by_its_size(took, time_based, ok):
    rows = healthy()
    rows["runs"][0]["time_based"] = time_based
    rows["results"][0]["runtime_s"] = float(took)
    findings = checks.check(tables_of(rows))
    if ok:
        assert codes(findings) == []
    else:
        assert "by its size after 45 s of 60 s" in one(findings, "ended_by_size", "info")


@pytest.mark.parametrize(
    ("values", "ok"),
    [
        ({"stat": "eta_instant"}, False),
        ({"precision": "read off the ETA line"}, False),
        ({"claim": "as in fio's status line"}, False),
        ({"claim": "the theta of beta"}, True),
        ({"stat": "eta_instant", "measured": False}, True),
    ],
)
def test_rates_of_the_status_line(values, ok):
    rows = healthy()
    figure = {"run_id": "r", "quantity": "iops", "stat": "mean", "value": 16.3, "unit": "k IOPS"}
    rows["published"] = [figure | {"measured": True} | values]
    findings = checks.check(tables_of(rows))
    assert codes(findings) == [] if ok else "16.3 k IOPS" in one(findings, "rate_from_status_line")


@pytest.mark.parametrize(
    ("n", "from_", "severity"),
    [
        (36_887, None, None),
        (36_886, "p99.99 on: 36,886, where 36,887", "info"),
        (3_687, "p99.9 on: 3,687, where 3,688", "info"),
        (368, "p99.9 on", "info"),
        (367, "p99 on: 367, where 368", "warning"),
    ],
)
def test_percentiles_need_so_many_io(n, from_, severity):
    findings = found("latency", EVERY, n=n)
    if from_ is None:
        assert codes(findings) == []
    else:
        assert from_ in one(findings, "too_few_samples", severity)


def test_io_is_counted_by_bins_or_results_where_latency_does_not_tell():
    rows = healthy()
    for entry in rows["latency"]:
        entry["n"] = None
    assert codes(checks.check(tables_of(rows))) == []  # 40,000 I/Os
    rows["bins"] = [{"run_id": "r", "ddir": "read", "lat_kind": "clat", "bin_ns": 1004, "n": 400}]
    assert "400" in one(checks.check(tables_of(rows)), "too_few_samples", "info")
    rows["latency"] = []
    rows["bins"] = []
    assert "too_few_samples" not in codes(checks.check(tables_of(rows)))


def test_a_failed_job_still_has_figures():
    assert "failed with error 28" in one(found(error=28), "job_failed", "error")
    rows = healthy()
    rows["runs"][0]["error"] = 28
    rows["results"] = []
    assert codes(checks.check(tables_of(rows))) == []


# ---- all together


def test_what_is_told_already_is_not_told_again():
    rows = healthy()
    rows["runs"][0] |= {"error": 28, "direct": False}
    first = checks.check(tables_of(rows))
    assert set(codes(first)) == {"job_failed", "page_cache_suspected"}
    rows["findings"] = schema.records(first)
    assert codes(checks.check(tables_of(rows))) == []


def test_sums_and_interim_states_are_not_looked_at():
    rows = healthy()
    rows["runs"].append(rows["runs"][0] | {"run_id": "sum", "level": "all", "direct": False, "error": 1})
    assert codes(checks.check(tables_of(rows))) == []
    rows = healthy()
    rows["runs"][0]["direct"] = False
    rows["findings"] = [{"run_id": "r", "severity": "info", "code": "interim_document", "message": "m"}]
    assert codes(checks.check(tables_of(rows))) == []


ROWS = healthy() | {"bins": [{"run_id": "r", "ddir": "read", "lat_kind": "clat", "bin_ns": 1004, "n": 400}]}
CELLS = [
    (table, i, column)
    for table, rows in ROWS.items()
    for i, row in enumerate(rows)
    for column in row
    if column not in schema.TABLES[table].key
]


@given(st.sets(st.sampled_from(CELLS)), st.sets(st.sampled_from(list(ROWS))))
def test_missing_values_anywhere_never_fail(cells, empty):
    rows = {table: [dict(row) for row in some] for table, some in ROWS.items() if table not in empty}
    for table, i, column in cells:
        if table in rows:
            rows[table][i][column] = None
    findings = checks.check(tables_of(rows))
    assert not findings["message"].str.contains("nan|<NA>|None", regex=True).any()


def test_no_rows_at_all():
    assert checks.check(tables_of({})).empty


def test_a_hundred_healthy_runs_raise_no_doubt():
    rows: dict[str, list[dict]] = {}
    for i in range(100):
        for name, some in healthy(f"r{i}").items():
            rows.setdefault(name, []).extend(some)
    rows["setups"] = rows["setups"][:1]
    tables = tables_of(rows)
    assert checks.check(tables).empty


FIXTURES = {
    "clients.json": {"page_cache_suspected", "load_mismatch", "too_short", "too_few_samples"},
    "failed_job.json": {"page_cache_suspected", "load_mismatch", "too_short", "too_few_samples"},
    "group_jsonplus.json": {"page_cache_suspected", "load_mismatch", "too_short", "too_few_samples"},
    "randrw.json": {"page_cache_suspected", "load_mismatch", "too_short", "too_few_samples"},
    "status_interval.json": {"page_cache_suspected", "load_mismatch", "too_short", "too_few_samples"},
    "unified_both.json": {"page_cache_suspected", "load_mismatch", "too_short", "too_few_samples"},
}


# What a reader may have told already is not a doubt of ours.
UNLESS_TOLD = set(checks.CHECKS) - {"job_failed", "rate_from_status_line"}


@pytest.mark.parametrize("name", FIXTURES)
def test_real_runs_of_a_moment_on_a_small_buffered_file_raise_just_these_doubts(name):
    doubts = Dataset.read(FIO / name).findings
    assert set(codes(doubts[doubts["code"].isin(UNLESS_TOLD)])) == FIXTURES[name]


SHIPPED = {
    "azure-local-disks-2020": set(),
    "iozone-host-cache-2012": {"page_cache_suspected"},
    "l-series-iometer-2017": set(),
    "premium-ssd-emulated-2026": {"too_few_samples"},
    "ultra-disk-2019": set(),
    "zone-redundant-disks-2022": set(),
}


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_datasets_raise_just_these_doubts(name):
    tables = Dataset.read(ROOT / "datasets" / name).tables
    unchecked = tables["findings"][~tables["findings"]["code"].isin(checks.CHECKS)]
    known = tables["findings"]["code"].eq("rate_from_status_line")
    rest = pd.concat([unchecked, tables["findings"][known]])
    assert set(codes(checks.check({**tables, "findings": rest}))) == SHIPPED[name]


# Test data of other projects whose percentiles were altered by hand: p25 and p75 are the means of their
# neighbours; 143.654912 ms became 151.864912 ms, above the largest I/O; a whole block is 1 µs up.
ALTERED = {
    "GoogleCloudPlatform__data__fio__fio-parser-sample-result.json",
    "microsoft__VirtualClient__TestResources__Results_FIO_ReadWrite.json",
    "microsoft__VirtualClient__TestResources__Results_FIO_Write.json",
    "microsoft__VirtualClient.IntegrationTests__Resources__results-fio.json",
}


@collected
def test_thousands_of_real_percentiles_and_rates_are_what_fio_can_print():
    tables = Dataset.read(*sorted((CORPUS / "fio" / "json").glob("*.json"))).tables
    assert len(tables["percentiles"]) > 2000
    tables["findings"] = tables["findings"][~tables["findings"]["code"].isin(checks.CHECKS)]
    findings = checks.check(tables)
    off = findings[findings["code"] == "percentile_off_grid"]
    assert {Path(path).name for path in off["source_path"]} == ALTERED
    assert not findings["code"].isin(["rate_mismatch", "zero_for_missing", "page_cache_suspected"]).any()
