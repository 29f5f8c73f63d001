"""Sides compared: which workloads are the same, what the runs show, and what nobody can say from them."""

import json
import math
import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from compare_error_rates import KINDS, alarms
from compare_error_rates import side as simulated
from compared_runs import bins_of, rates, side
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from azbenchlib.analysis.compare import (
    ComparedPair,
    ComparedSide,
    CompareTerms,
    ComparisonResult,
    Shift,
    compare,
    words,
)
from azbenchlib.analysis.compare.by_workload import by_workload
from azbenchlib.analysis.compare.cells import Scope
from azbenchlib.analysis.compare.figures import quantiles, within_run
from azbenchlib.analysis.compare.headline import result_sentence
from azbenchlib.analysis.compare.metrics import parse_metric
from azbenchlib.analysis.compare.ratio import holm, least_runs, two_states, welch
from azbenchlib.analysis.compare.rules import parse_rule, parse_share
from azbenchlib.analysis.compare.to_json import record
from azbenchlib.analysis.compare.to_junit import junit
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError

STEADY = [1000, 1004, 998, 1001, 997]
LOWER = [800, 803, 799, 801, 797]


def answers(found: ComparisonResult) -> list[Shift]:
    return [one.answer for pair in found.pairs for one in pair.figures]


def rows_of(pair: ComparedPair) -> list[words.ComparedRow]:
    return [row for workload in by_workload(pair) for row in words.rows(pair, workload)]


# ---- the four answers -----------------------------------------------------------------------------------


def test_a_lower_rate_is_worse_and_a_higher_one_is_better() -> None:
    old, new = rates("old", STEADY), rates("new", LOWER)
    assert answers(compare([old, new])) == [Shift.WORSE]
    assert answers(compare([new, old])) == [Shift.BETTER]
    assert answers(compare([new, old], CompareTerms(margin=0.3))) == [Shift.NOT_WORSE]
    (figure,) = compare([old, new]).pairs[0].figures
    assert figure.ratio == pytest.approx(0.8, abs=1e-3) and figure.interval is not None
    assert figure.interval[0] < 0.8 < figure.interval[1] < 0.82
    assert figure.medians == (1000, 800)


@pytest.mark.parametrize(
    ("column", "plain", "other", "words"),
    [
        ("fsync", 0, 1, "fsync after each write"),
        ("fdatasync", 0, 32, "fdatasync every 32 writes"),
        ("thinktime_us", 0.0, 200.0, "200.µs of think time"),
        ("random_distribution", "random", "zipf:1.2", "zipf:1.2"),
        ("verify", "none", "crc32c", "verified by crc32c"),
    ],
)
@pytest.mark.sampled(1)
def test_what_slows_a_job_down_is_part_of_its_workload(column, plain, other, words) -> None:
    old, new = rates("old", STEADY, **{column: plain}), rates("new", LOWER, **{column: other})
    with pytest.raises(InputError, match=f"no workload in common: old has .*QD.8[.] new has .*QD.8, {words}"):
        compare([old, new])
    assert answers(compare([rates("old", STEADY), rates("new", LOWER, **{column: plain})])) == [Shift.WORSE]
    both = [
        side(name, [{"iops": one, column: value} for value in (plain, other) for one in values])
        for name, values in (("old", STEADY), ("new", LOWER))
    ]
    (pair,) = compare(both).pairs
    names = [figure.evidence.workload.name for figure in pair.figures]
    assert re.fullmatch(re.escape(sorted(names)[0]) + f", {words}", sorted(names)[1])


def test_a_higher_latency_is_worse() -> None:
    rng = np.random.default_rng(1)

    def runs(scale: float) -> list[dict]:
        return [{"samples_us": scale * 100 * rng.lognormal(0, 0.2, 4000)} for _ in range(6)]

    found = compare([side("old", runs(1)), side("new", runs(1.3))])
    by_name = {one.evidence.metric.name: one for one in found.pairs[0].figures}
    assert {*by_name} == {"p50", "p95", "p99", "p99.9"}
    assert by_name["p50"].answer is Shift.WORSE and by_name["p50"].ratio == pytest.approx(1.3, rel=0.02)
    back = compare([side("old", runs(1.3)), side("new", runs(1))])
    (p50,) = (one for one in back.pairs[0].figures if one.evidence.metric.name == "p50")
    assert p50.answer is Shift.BETTER and p50.p_better == pytest.approx(0, abs=1e-4) and p50.p_value == 1


def test_runs_that_differ_much_are_undecided_and_more_would_settle_it() -> None:
    found = compare([rates("old", [1000, 1060, 950]), rates("new", [1010, 940, 1055])])
    (figure,) = found.pairs[0].figures
    assert figure.answer is Shift.UNDECIDED and found.result is Shift.UNDECIDED
    assert figure.runs_needed is None and figure.runs_at_least is not None and figure.runs_at_least > 3
    assert figure.more_at_least == (figure.runs_at_least - 3, figure.runs_at_least - 3)
    assert re.fullmatch(r"undecided, at least \d+ more of each", words.answer_text(figure))


def test_what_is_the_same_of_all_undecided_figures_is_said_once() -> None:
    rng = np.random.default_rng(4)
    binned = [{"iops": 1000.0, "samples_us": rng.lognormal(5, 0.1, 4000)}]
    found = compare([side("old", binned), side("new", binned)])
    (pair,) = found.pairs
    rows = rows_of(pair)
    assert len(rows) > 2 and {row.answer for row in rows} == {"undecided"}
    told = [one for one in words.remarks(found, pair) if "more runs" in one]
    assert told == [f"Undecided ({len(rows)}): 3 more runs of each side are the least that can answer."]
    assert all("at least 3 more of each" in words.answer_text(one) for one in pair.figures)


def test_what_differs_among_undecided_figures_is_said_of_each() -> None:
    few, many = [(4096, 1.0, 1)], [(65536, 0.95, 80), (131072, 0.95, 80)]  # a change that is the margin

    def both(*of: tuple[int, float, int]) -> list[ComparedSide]:
        return [
            side(
                name,
                [
                    {"iops": 1000 * (1 + 0.03 * d) * (factor if name == "new" else 1), "bs_bytes": bs}
                    for bs, factor, times in of
                    for d in (-1, 0, 1) * times
                ],
            )
            for name in ("old", "new")
        ]

    found = compare(both(*few, many[0]))
    (pair,) = found.pairs
    assert {row.answer for row in rows_of(pair)} == {
        "undecided, at least 2 more of each",
        "undecided, over 500 runs",
    }
    assert not any("more runs of each side" in one for one in words.remarks(found, pair))
    close = compare(both(*many))
    (pair,) = close.pairs
    assert {row.answer for row in rows_of(pair)} == {"undecided"}
    assert "Undecided (2): over 500 runs of each side would be needed." in words.remarks(close, pair)


def test_one_run_a_side_is_never_an_answer_and_says_why() -> None:
    found = compare([rates("old", [1000]), rates("new", [100])])
    (figure,) = found.pairs[0].figures
    assert figure.answer is Shift.UNDECIDED and figure.ratio == pytest.approx(0.1)
    assert "one run" in figure.why and figure.runs_at_least == 4 and figure.interval is None


def test_within_a_run_the_interval_is_shown_and_judged_only_when_wanted() -> None:
    rng = np.random.default_rng(1)
    old = side("old", [{"samples_us": 100 * rng.lognormal(0, 0.2, 20000)}])
    new = side("new", [{"samples_us": 130 * rng.lognormal(0, 0.2, 20000)}])
    by_default = compare([old, new]).pairs[0].figures[0]
    assert by_default.answer is Shift.UNDECIDED and by_default.evidence.scope is Scope.ONE_RUN
    assert by_default.interval and by_default.interval[0] < 1.3 < by_default.interval[1] < 1.33
    wanted = compare([old, new], CompareTerms(within_run=True)).pairs[0].figures[0]
    assert wanted.answer is Shift.WORSE
    assert words.ONE_RUN_NOTE in words.remarks(compare([old, new]), compare([old, new]).pairs[0])


@pytest.mark.long  # draws 200 runs
def test_an_interval_of_order_statistics_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    unit, p90 = pd.Series({"run_ids": ("a",), "ddir": "read"}), parse_metric("p90")
    truth = 1000 * math.exp(0.3 * stats.norm.ppf(0.9))
    inside = 0
    for _ in range(200):
        samples = 1000 * rng.lognormal(0, 0.3, 1500)
        bins = schema.frame("bins", bins_of(samples, run_id="a", ddir="read", lat_kind="clat"))
        low, high = within_run(unit, p90, "clat", {"bins": bins}, 0.1) or (math.nan, math.nan)
        inside += low <= truth <= high
    assert 0.84 * 200 <= inside <= 0.97 * 200


def test_the_log_of_a_run_gives_an_interval_that_knows_of_its_correlation() -> None:
    rng = np.random.default_rng(2)

    def log(run_id: str, step: float) -> list[dict]:
        level = np.cumsum(step * rng.standard_normal(200))
        values = 1000 + level - level.mean()
        row = {"run_id": run_id, "ddir": "read", "metric": "iops"}
        return [row | {"seq": i, "t_s": i + 1.0, "value": float(v)} for i, v in enumerate(values)]

    def width(step: float) -> float:
        sides = [side(name, [{"iops": 1000.0}], samples=log(f"{name}-0", step)) for name in ("a", "b")]
        low, high = compare(sides).pairs[0].figures[0].interval or (0, 0)
        return high - low

    assert 0 < width(0.1) < width(5.0)


def test_what_is_logged_after_the_run_was_to_end_widens_no_interval() -> None:
    def width(late: float, limit_s: float | None) -> float:
        row = {"run_id": "a-0", "ddir": "read", "metric": "iops"}
        values = [1000.0 + i % 3 for i in range(60)] + [late]
        log = [row | {"seq": i, "t_s": i + 1.0, "value": value} for i, value in enumerate(values)]
        tables = {"samples": schema.frame("samples", log)}
        tables["runs"] = schema.frame("runs", [{"run_id": "a-0", "runtime_limit_s": limit_s}])
        unit = pd.Series({"run_ids": ("a-0",), "ddir": "read"})
        low, high = within_run(unit, parse_metric("iops"), "", tables, 0.1) or (math.nan, math.nan)
        return high - low

    assert width(9.0, 60.0) == width(1000.0, 60.0) < 0.1 * width(9.0, None)


def test_too_few_runs_may_have_met_two_states_of_a_disk() -> None:
    found = compare([rates("old", [1000, 1000.5, 1001]), rates("new", [300, 300.2, 300.1])])
    (figure,) = found.pairs[0].figures
    assert figure.answer is Shift.UNDECIDED and "two states" in figure.why and figure.runs_at_least == 4
    assert two_states(3, 3) == 1 / 32 and two_states(4, 4) == 1 / 128
    assert [least_runs(n, 0.01) for n in (1, 9, 54)] == [4, 6, 7]


def test_each_further_side_is_compared_with_the_first_as_one_family() -> None:
    old, same, low = rates("old", STEADY), rates("same", [1001, 999, 1003, 996, 1000]), rates("low", LOWER)
    found = compare([old, same, low])
    assert [(pair.a, pair.b) for pair in found.pairs] == [("old", "same"), ("old", "low")]
    assert answers(found) == [Shift.NOT_WORSE, Shift.WORSE] and found.result is Shift.WORSE
    alone = compare([old, low]).pairs[0].figures[0].p_value
    assert found.pairs[1].figures[0].p_value == pytest.approx(2 * alone)


# ---- the statistics -------------------------------------------------------------------------------------


@given(
    st.lists(st.floats(1, 1e6), min_size=3, max_size=8), st.lists(st.floats(1, 1e6), min_size=3, max_size=8)
)
def test_the_interval_is_scipy_s_and_turns_round_with_the_sides(a: list[float], b: list[float]) -> None:
    logs = [np.log(values) for values in (a, b)]
    if min(one.std(ddof=1) for one in logs) < 0.001:
        return
    there = welch(a, b).interval(0.01)
    theirs = stats.ttest_ind(logs[1], logs[0], equal_var=False).confidence_interval(0.99)
    assert np.log(there) == pytest.approx([theirs.low, theirs.high], rel=1e-6, abs=1e-9)
    back = welch(b, a).interval(0.01)
    assert there[0] == pytest.approx(1 / back[1]) and there[1] == pytest.approx(1 / back[0])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_is_never_below_the_raw_value_nor_above_bonferroni_s(p: list[float]) -> None:
    adjusted = holm(p)
    assert all(raw <= new <= min(1, raw * len(p)) + 1e-12 for raw, new in zip(p, adjusted, strict=True))
    assert np.argsort(p, kind="stable").tolist() == sorted(
        range(len(p)), key=lambda i: (p[i], adjusted[i], i)
    )
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


@given(st.integers(100, 10**7), st.integers(2, 3000), st.integers(0, 5))
def test_a_percentile_within_its_bin_is_that_of_the_samples(middle: int, n: int, seed: int) -> None:
    samples = np.random.default_rng(seed).uniform(middle, 1.5 * middle, n).astype(int)
    bins = pd.DataFrame(bins_of(samples / 1000))
    (value,), rounding = quantiles(bins, [0.5])
    exact = float(np.percentile(samples, 50, method="inverted_cdf"))
    assert rounding == 0 and value == pytest.approx(exact, rel=1 / 64 + 2 / middle)


def test_equals_are_hardly_ever_called_worse_or_better() -> None:
    """A tenth of benchmarks/compare_error_rates.py."""
    assert alarms(60, 0.0) + alarms(60, 0.05, seed=5) <= 1
    assert simulated(np.random.default_rng(1), 4, KINDS).shape == (9, 5, 4)


# ---- which workloads are the same -----------------------------------------------------------------------


def test_workloads_match_whatever_they_ran_on_and_what_differs_is_told() -> None:
    old = side("old", [{"iops": value} for value in STEADY], {"kernel": "5.15", "vm_size": "Standard_D4s_v5"})
    new = side(
        "new",
        [{"iops": value, "ioengine": "io_uring", "tool_version": "fio-3.41"} for value in STEADY],
        {"kernel": "6.1", "vm_size": "Standard_D4s_v5"},
    )
    (pair,) = compare([old, new]).pairs
    assert [one.sentence for one in pair.differences] == [
        "kernel: 5.15 and 6.1",
        "tool version: fio-3.36 and fio-3.41",
        "I/O engine: libaio and io_uring",
    ]


def test_what_one_side_tells_apart_is_told_apart() -> None:
    """Two engines on both sides are two workloads, never one with more runs."""
    runs = [{"iops": value, "ioengine": engine} for engine in ("libaio", "psync") for value in STEADY]
    (pair,) = compare([side("old", runs), side("new", runs)]).pairs
    assert [one.evidence.workload.name.split(", ")[-1] for one in pair.figures] == ["libaio", "psync"]
    assert all(len(one.evidence.a) == 5 for one in pair.figures)


def test_workloads_without_a_partner_are_listed_and_a_lost_one_is_undecided() -> None:
    reads = [{"iops": value} for value in STEADY]
    writes = [{"iops": value, "rw": "randwrite", "ddir": "write"} for value in STEADY]
    lost = compare([side("old", reads + writes), side("new", reads)])
    assert lost.pairs[0].lost == ("4\u00a0KiB random writes, QD\u00a08",)
    assert lost.result is Shift.UNDECIDED and "without a partner" in result_sentence(lost, 3)
    added = compare([side("old", reads), side("new", reads + writes)])
    assert added.pairs[0].added == ("4\u00a0KiB random writes, QD\u00a08",)
    assert added.result is Shift.NOT_WORSE


def test_sides_without_a_common_workload_are_refused_with_what_they_have() -> None:
    other = rates("new", STEADY, rw="randwrite", ddir="write")
    with pytest.raises(InputError, match=r"no workload in common.*random reads.*random writes"):
        compare([rates("old", STEADY), other])


def test_a_run_on_both_sides_is_refused() -> None:
    old = rates("old", STEADY)
    with pytest.raises(InputError, match="5 of 5 runs are on both sides"):
        compare([old, replace(old, name="new")])


def test_jobs_that_ran_at_once_are_one_run() -> None:
    def runs(name: str) -> list[dict]:
        return [
            {
                "iops": 500.0 + i,
                "source_sha256": f"{name}{i}",
                "run_id": f"{name}{i}{j}",
                "source_path": f"{i}",
                "samples_us": [(100.0, 900.0)[j]] * 50,  # the slow half of the I/Os is the second job's
            }
            for i in range(4)
            for j in range(2)
        ]

    (pair,) = compare([side("old", runs("a")), side("new", runs("b"))]).pairs
    by_name = {one.evidence.metric.name: one.evidence.a for one in pair.figures}
    assert by_name["iops"] == (1000.0, 1002.0, 1004.0, 1006.0)
    assert by_name["p95"] == pytest.approx([900] * 4, rel=0.02)


# ---- figures that are not there -------------------------------------------------------------------------


def test_a_percentile_that_one_side_lacks_is_undecided() -> None:
    rng = np.random.default_rng(1)
    binned = [{"iops": v, "samples_us": rng.lognormal(5, 0.1, 500)} for v in STEADY]
    bare = [{"iops": v} for v in STEADY]
    found = compare([side("old", binned), side("new", bare)])
    by_name = {one.evidence.metric.name: one for one in found.pairs[0].figures}
    assert by_name["p99"].answer is Shift.UNDECIDED and by_name["p99"].why == "the new side does not have it"
    assert found.result is Shift.UNDECIDED


def test_reported_percentiles_are_taken_with_their_rounding() -> None:
    runs = [{"percentiles": {99.0: 200.0}} for _ in range(6)]
    found = compare([side("old", runs), side("new", runs)], CompareTerms(metrics=(parse_metric("p99"),)))
    low, high = found.pairs[0].figures[0].interval or (0, 0)
    assert low < 1 - 2 * 0.0078 and high > 1 + 2 * 0.0078
    assert answers(found) == [Shift.NOT_WORSE]


@pytest.mark.parametrize("bad", [0.0, None])
def test_zero_and_missing_rates_are_no_ratio(bad: float | None) -> None:
    found = compare([rates("old", STEADY), rates("new", [bad, 1000, 1000, 1000])], CompareTerms())
    (figure,) = found.pairs[0].figures
    assert figure.answer is (Shift.UNDECIDED if bad == 0 else Shift.NOT_WORSE)
    assert "zero" in figure.why if bad == 0 else len(figure.evidence.b) == 3
    assert json.dumps(record(found, 3), allow_nan=False)


def test_two_runs_against_thirty_are_no_evidence() -> None:
    many = [1000 + i for i in range(30)]
    (figure,) = compare([rates("old", many), rates("new", [500, 501])]).pairs[0].figures
    assert figure.answer is Shift.UNDECIDED and "fewer than 3 runs" in figure.why


def test_a_rate_in_bytes_beside_iops_of_one_block_size_is_no_second_figure() -> None:
    runs = [{"iops": v, "bw_bytes_per_s": 4096 * v} for v in STEADY]
    both = [side("old", runs), side("new", runs)]
    assert len(compare(both).pairs[0].figures) == 1
    wanted = CompareTerms(metrics=(parse_metric("iops"), parse_metric("bw")))
    assert len(compare(both, wanted).pairs[0].figures) == 2


# ---- conditions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("p99 > +10%", "p99 > +10%"),
        ("iops<-5%", "iops < -5%"),
        (" P99.90 > + 2.50 % ", "p99.9 > +2.5%"),
        ("bw < -0%", "bw < +0%"),
    ],
)
def test_conditions_are_read(text: str, told: str) -> None:
    assert parse_rule(text).text == told


@pytest.mark.parametrize(
    "text",
    ["", "p99", "p99 > 10%", "p99 > +10", "p99 >= +10%", "p100 > +1%", "latency > +1%", "iops < -100%",
     "p99 > +10% or p50 > +1%", "p99 > +1e9%", "p99 > +9999999%", "\x1b[2J > +1%", "p٩٩ > +1%"],
)  # fmt: skip
def test_other_conditions_are_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match=r"\S"):
        parse_rule(text)


@pytest.mark.parametrize("text", ["", "5%%", "-5", "100", "nan", "1e1", "5 percent"])
def test_other_percentages_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="percentage"):
        parse_share(text, "--margin")


def test_conditions_count_alone_unless_the_margin_is_wanted_too() -> None:
    sides = [rates("old", STEADY), rates("new", LOWER)]
    rule = {"rules": (parse_rule("iops < -30%"),)}
    assert compare(sides, CompareTerms(**rule, judges_margin=False)).result is Shift.NOT_WORSE
    assert compare(sides, CompareTerms(**rule)).result is Shift.WORSE
    strict = CompareTerms(rules=(parse_rule("iops < -10%"),), judges_margin=False)
    assert compare(sides, strict).result is Shift.WORSE
    uneven = [rates("old", [1000, 1060, 950, 1010]), rates("new", [930, 1000, 890, 1020])]
    assert compare(uneven, strict).result is Shift.UNDECIDED
    unknown = CompareTerms(rules=(parse_rule("p99 > +10%"),), judges_margin=False)
    assert compare(sides, unknown).result is Shift.UNDECIDED


# ---- what is handed over --------------------------------------------------------------------------------

# Attributes of junit-10.xsd of jenkinsci/xunit-plugin.
JUNIT = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "time", "tests", "failures", "errors", "skipped"},
    "testcase": {"name", "time", "classname"},
    "failure": {"type", "message"},
    "skipped": {"type", "message"},
}
EVIL = "a|b <script>&[x](http://y) \x1b[31m\n@team `c`"


def hostile() -> ComparisonResult:
    runs = [{"iops": v, "ioengine": engine} for engine in (EVIL, "psync") for v in STEADY]
    return compare([side(EVIL, runs), side("new\ufffe]]>", runs)])


def test_junit_is_read_by_a_parser_and_its_counts_are_right() -> None:
    old = side("old", [{"iops": v} for v in STEADY] + [{"iops": v, "rw": "randwrite"} for v in STEADY])
    new = side("new", [{"iops": v} for v in LOWER] + [{"iops": v, "rw": "randwrite"} for v in (1, 9, 99)])
    for found in (hostile(), compare([old, new])):
        root = ET.fromstring(junit(found))  # noqa: S314  our own
        assert root.tag == "testsuites"
        cases = root.findall("testsuite/testcase")
        assert int(root.get("tests", "")) == len(cases)
        for name, tag in (("failures", "failure"), ("skipped", "skipped")):
            n = len(root.findall(f"testsuite/testcase/{tag}"))
            assert name == "skipped" or int(root.get(name, "")) == n
            assert sum(int(suite.get(name, "")) for suite in root.findall("testsuite")) == n
        assert len({(case.get("classname"), case.get("name")) for case in cases}) == len(cases)
        assert {one.tag: {*one.keys()} - JUNIT[one.tag] for one in root.iter()} == {
            key: set() for key in {one.tag for one in root.iter()}
        }
    (suite,) = root.findall("testsuite")
    assert (suite.get("failures"), suite.get("skipped")) == ("1", "1")


def test_json_has_every_figure() -> None:
    document = record(compare([rates("old", STEADY), rates("new", LOWER)]), 1)
    assert document["exit_code"] == 1
    (figure,) = document["pairs"][0]["figures"]
    assert figure["old"] == {"median": 1000, "runs": STEADY} and figure["answer"] == "worse"
    assert document["sentence"] == (
        "Worse: 4\u00a0KiB random reads, QD\u00a08: IOPS ×0.800 (0.797 to 0.803); "
        "1 of 1 figures worse by more than 5\u00a0%."
    )
    name = figure["workload"]
    assert document["pairs"][0]["workloads"] == [
        {"workload": name, "answer": "worse", "ratios": {"iops": pytest.approx(0.8, abs=1e-3)}}
    ]
