"""Phases of a run: what is a level of the disk and what is fio's end, a stall, a lost line or noise."""

import re
from html import unescape
from pathlib import Path

import drained
import numpy as np
import pytest

from azbenchlib import Report
from azbenchlib.advisor.demands.achieved import achieved
from azbenchlib.analysis.over_time import phases, steady, token_bucket_fit, trace
from azbenchlib.analysis.runs import runs
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.verdict.run_verdicts import judge_runs

BURST, BASE = 3500.0, 120.0


def times(n: int, step: float) -> np.ndarray:
    return np.arange(1, n + 1) * step


def drain(
    step: float, cv: float, burst_s: float = 1800, base_s: float = 900
) -> tuple[np.ndarray, np.ndarray]:
    """A disk whose credits last for a while: times and rates."""
    rng = np.random.default_rng(7)
    rates = np.r_[np.full(round(burst_s / step), BURST), np.full(round(base_s / step), BASE)]
    return times(rates.size, step), rates * rng.normal(1, cv, rates.size) if cv else rates


def told(t_s: np.ndarray, rates: np.ndarray) -> str:
    return phases.in_words(phases.phases(t_s, rates)).replace("\u00a0", " ")


@pytest.mark.parametrize("step", [0.5, 1.0, 45.0])
@pytest.mark.parametrize("cv", [0.0, 0.01])
@pytest.mark.parametrize(
    ("later_s", "rates"),
    [
        pytest.param([0.3], [80.0], id="a partial interval, slower"),
        pytest.param([0.05], [0.0], id="a partial interval, without an I/O"),
        pytest.param([0.6], [400.0], id="a partial interval, faster"),
        pytest.param([0.3, 0.31], [80.0, 3500.0], id="two partial intervals"),
        pytest.param([1, 2, 3], [80.0, 95.0, 60.0], id="whole intervals that are noise"),
        pytest.param([1, 2, 3, 3.4], [80.0, 140.0, 60.0, 9.0], id="noise, then a partial interval"),
    ],
)
def test_the_last_lines_of_a_log_are_not_the_base(
    step: float, cv: float, later_s: list[float], rates: list[float]
) -> None:
    t_s, before = drain(step, cv)
    t_s, before = np.r_[t_s, t_s[-1] + step * np.array(later_s)], np.r_[before, rates]
    got = token_bucket_fit.fit(t_s, before)
    assert got is not None
    assert (got.base, got.burst) == pytest.approx((BASE, BURST), rel=0.01)
    assert got.empty_s == pytest.approx(1800, abs=2 * step)
    assert got.filled == pytest.approx(1, abs=0.05)
    assert re.fullmatch(
        r"3,(4[89]|50)\d IOPS for 30 min, then 1(19|20) IOPS for 1[5-9] min", told(t_s, before)
    )


@pytest.mark.parametrize("n", [3, 4, 6, 8])
@pytest.mark.parametrize("end", [(), (40.0,)])
def test_a_base_of_a_few_samples_is_found(n: int, end: tuple[float, ...]) -> None:
    t_s, rates = drain(0.5, 0.01, 120, n / 2)
    t_s, rates = np.r_[t_s, [t_s[-1] + 0.1 for _ in end]], np.r_[rates, end]
    got = token_bucket_fit.fit(t_s, rates)
    assert got is not None
    assert (got.base, got.burst, got.empty_s) == pytest.approx((BASE, BURST, 120), rel=0.02)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_slow_samples_are_no_base(n: int) -> None:
    t_s, rates = drain(0.5, 0.01, 120, n / 2)
    assert token_bucket_fit.fit(t_s, rates) is None and told(t_s, rates) == ""
    assert token_bucket_fit.fit(times(243, 0.5), np.r_[rates[:240], 2000, 1500, 2500]) is None


@pytest.mark.parametrize("cv", [0.0, 0.01, 0.1])
@pytest.mark.parametrize("place", ["burst", "base"])
def test_a_stall_is_no_level_and_changes_none(cv: float, place: str) -> None:
    t_s, rates = drain(1.0, cv, 240, 240)
    begin = {"burst": 60, "base": 300}[place]
    rates[begin : begin + 20] = 0
    got = token_bucket_fit.fit(t_s, rates)
    assert got is not None
    assert (got.base, got.burst) == pytest.approx((BASE, BURST), rel=0.03)
    assert got.empty_s == pytest.approx(240, abs=2)


def test_two_falls_are_two_buckets_and_three_phases() -> None:
    rates = np.r_[np.full(120, 5000.0), np.full(120, 2000.0), np.full(240, BASE)]
    rates *= np.random.default_rng(3).normal(1, 0.01, 480)
    assert token_bucket_fit.fit(times(480, 5.0), rates) is None
    assert re.fullmatch(
        r"(4,99|5,00)\d IOPS for 10 min, then (1,99|2,00)\d IOPS for 10 min, then 120 IOPS for 20 min",
        told(times(480, 5.0), rates),
    )


@pytest.mark.parametrize("back", [4, 120])
@pytest.mark.parametrize("after", [BURST, 1000.0])
def test_a_rate_that_recovers_tells_no_bucket(back: int, after: float) -> None:
    _, rates = drain(0.5, 0.01, 120, 60)
    rates = np.r_[rates, np.full(back, after)]
    assert token_bucket_fit.fit(times(rates.size, 0.5), rates) is None
    assert told(times(rates.size, 0.5), rates)
    assert "120 IOPS" not in told(times(rates.size, 0.5), rates).rpartition(", then ")[2]


def test_a_rate_that_goes_up_and_down_has_neither_bucket_nor_phases() -> None:
    rates = np.tile(np.r_[np.full(10, BURST), np.full(10, BASE)], 20)
    assert token_bucket_fit.fit(times(400, 1.0), rates) is None and told(times(400, 1.0), rates) == ""
    slope = np.linspace(3500, 120, 360)
    assert token_bucket_fit.fit(times(360, 1.0), slope) is None and told(times(360, 1.0), slope) == ""


def test_levels_that_are_alike_when_their_neighbours_joined_are_no_phases() -> None:
    """A disk that others use too: none of these is 1.25 times the mean of what is beside it."""
    parts = [(16, 8259.0), (18, 11229.0), (76, 8999.0), (10, 12513.0), (38, 10500.0)]
    rates = np.concatenate([np.full(n, rate) for n, rate in parts])
    rates *= np.random.default_rng(1).normal(1, 0.005, rates.size)
    assert len(phases.levels(times(rates.size, 0.05), rates)) == len(parts)
    assert told(times(rates.size, 0.05), rates) == ""


def test_credits_that_were_not_full_count_as_they_were() -> None:
    t_s, rates = drain(1.0, 0.01, 600, 900)
    got = token_bucket_fit.fit(np.r_[t_s, t_s[-1] + 0.4], np.r_[rates, 60])
    assert got is not None and got.filled == pytest.approx(600 / 1800, rel=0.02)


def test_lost_lines_of_a_fast_log_are_not_taken_for_a_stall() -> None:
    t_s, rates = drain(1.0, 0.01, 600, 600)
    kept = np.random.default_rng(5).random(t_s.size) > 0.15
    got = token_bucket_fit.fit(t_s[kept], rates[kept])
    assert got is not None
    assert (got.base, got.burst, got.filled) == pytest.approx((BASE, BURST, 1 / 3), rel=0.03)


def test_intervals_without_an_io_count_as_zero() -> None:
    """fio writes no line for them: with every fourth of them lacking, 10 I/Os a second are 7.5."""
    t_s, rates = times(600, 0.1), np.full(600, 10.0)
    kept = np.arange(600) % 4 > 0
    (only,) = phases.levels(t_s[kept], rates[kept])
    assert only.mean == pytest.approx(7.5, rel=0.02)
    np.testing.assert_allclose(trace.whole(t_s[kept], rates[kept])[0], t_s[1:], rtol=1e-9)


def test_a_quantised_base_is_one_level() -> None:
    rng = np.random.default_rng(9)
    for burst in (np.full(240, 220.0), 220 * rng.normal(1, 0.03, 240)):
        rates = np.r_[burst, rng.choice([0.0, 9, 10, 10], 160)]
        (first, last) = phases.phases(times(400, 0.1), rates)
        assert (first.mean, last.mean) == pytest.approx((220, rates[240:].mean()), rel=0.02)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_rate_that_wavers_by_the_same_steps_has_its_levels(n: int) -> None:
    """Most differences of such a trace are one and the same, so that their spread is none."""
    rates = np.r_[np.full(1200, 3500.0), np.full(1800, 500.0)] + np.arange(3000) % n
    (first, last) = phases.phases(times(3000, 1.0), rates)
    assert (first.end_s, first.mean, last.mean) == pytest.approx((1200, 3500, 500), rel=0.01)


@pytest.mark.parametrize("n", [5, 7, 9])
def test_a_short_base_of_one_or_two_ios_an_interval_is_a_level(n: int) -> None:
    """As an emulated disk in slow motion logs it: far below the burst, but uneven."""
    rates = np.r_[np.full(20, 3500.0), np.tile([80.0, 160.0], n)[:n]]
    (first, last) = phases.phases(times(20 + n, 0.0125), rates)
    assert (first.mean, last.mean) == pytest.approx((3500, 120), rel=0.2)
    assert phases.phases(times(20 + n, 0.0125), np.r_[rates[:20], np.tile([3000.0, 2000.0], n)[:n]]) == []


def test_a_gap_as_long_as_the_log_makes_no_zeros_without_end() -> None:
    t_s = np.r_[times(100, 1.0), 1e12 + times(100, 1.0)]
    assert trace.whole(t_s, np.ones(200))[0].size == 200


def test_a_partial_interval_is_out_of_levels_and_spread() -> None:
    t_s, rates = times(300, 1.0), 1000 * np.random.default_rng(1).normal(1, 0.01, 300)
    late, partial = np.r_[t_s, 300.2], np.r_[rates, 20_000]
    assert steady.variation(late, partial) == steady.variation(t_s, rates)
    assert steady.segments(late, partial) == steady.segments(t_s, rates)


def test_an_interval_counts_by_its_part_before_the_end_of_the_run() -> None:
    """The last line of each is as long as the others, but fio stopped asking for I/O within it."""
    t_s, rates = drain(45.0, 0.01)
    for end in ([2745.0], [2745.0, 2790.0], [2745.0, 2750.0], list(2700 + times(10, 45.0))):
        late = np.r_[t_s, end]
        slow = np.r_[rates, np.full(len(end), 9.0)]
        np.testing.assert_array_equal(trace.whole(late, slow, limit_s=2710.0)[0], t_s)
        assert trace.whole(late, slow, limit_s=2700.0)[0].size == t_s.size
        assert trace.whole(late, slow, limit_s=2742.0)[0].size == t_s.size + 1
    assert trace.whole(t_s, rates, limit_s=2699.0)[0].size == t_s.size


def test_the_clock_of_a_log_may_begin_before_the_run() -> None:
    t_s, rates = drain(1.0, 0.01, 60, 60)
    np.testing.assert_array_equal(trace.whole(30 + t_s, rates, limit_s=120.0)[0], 30 + t_s)
    assert trace.whole(30 + t_s, rates, limit_s=119.5)[0].size == t_s.size - 1


def test_a_short_first_interval_is_left_out_and_a_long_one_is_not() -> None:
    t_s = times(30, 1.0)
    for first, kept in ((0.4, False), (0.95, True), (1.0, True), (2.0, True), (0.0, True)):
        found, _ = trace.whole(np.r_[first, first + t_s], np.full(31, 5.0), zeros=False)
        assert (float(found[0]) == first) is kept


def test_a_short_phase_at_the_end_is_told_but_its_rate_is_not_taken(tmp_path: Path) -> None:
    t_s, rates = drain(0.5, 0.01, 120, 5)
    found = phases.phases(t_s, rates)
    assert phases.lasting(found) == found[0] and len(found) == 2
    assert phases.lasting(phases.phases(*drain(0.5, 0.01, 120, 7))).mean == pytest.approx(BASE, rel=0.02)
    lines = [(t, round(rate)) for t, rate in zip(t_s, rates, strict=True)]
    folder = drained.dataset(tmp_path / "ds", lines)
    asked = achieved(Dataset.read(folder).tables)
    assert asked.iops == pytest.approx(BURST, rel=0.01)
    (said,) = [text for text in asked.caveats if "its rate" in text]
    assert said.replace("\u00a0", " ").endswith(
        "IOPS for 120 s, then 120 IOPS for 5 s; the last that took at least 5 % of the time is taken"
    )
    assert re.search(
        r"3,(49|50)\d IOPS for 120 s, then 120 IOPS for 5 s", words(Report([str(folder)]).cards().html)
    )


def test_short_and_empty_traces_have_no_phases() -> None:
    for n in range(8):
        assert phases.phases(times(n, 1.0), np.full(n, 5.0)) == []
    for zeros in (True, False):
        assert phases.phases([0.0], [5.0], zeros) == []
    with pytest.raises(InputError, match="do not rise"):
        phases.phases([1.0, 1.0, 2.0], [1.0, 1.0, 1.0])


def test_long_logs_are_thinned_and_told_alike() -> None:
    t_s, rates = drain(0.1, 0.05)
    assert re.fullmatch(r"3,(49|50)\d IOPS for 30 min, then 1(19|20) IOPS for 1[5-9] min", told(t_s, rates))


def words(html: str) -> str:
    text = unescape(re.sub(r"<[^>]*>", " ", re.sub(r"<(style|svg).*?</\1>", "", html, flags=re.DOTALL)))
    return " ".join(text.split())


LAB = [(0.1 * i, 1750) for i in range(1, 41)] + [(0.1 * i, 60) for i in range(41, 61)]


@pytest.mark.parametrize("last", [[], [(6.047, 40)], [(6.003, 0)], [(6.09, 900)]])
@pytest.mark.sampled(1)
def test_a_run_of_the_lab_tells_when_its_credits_were_spent(
    tmp_path: Path, last: list[tuple[float, float]]
) -> None:
    """At half speed, so that 6 s are 3 s, and credits that last 2 s, not 30 min: the times are Azure's."""
    folder = drained.dataset(tmp_path / "ds", LAB + last, time_scale=2, credit_s=2.0, runtime_s=6)
    page = words(Report([str(folder)]).over_time().html)
    assert "Credits were spent after 30 min: from 3,500 IOPS to 120; burst credits started at 100 %" in page
    (run,) = runs(Dataset.read(folder).tables)
    assert run.flows[0].observation.samples is not None
    assert run.flows[0].observation.samples[0][-1] == pytest.approx(3)
    judged = judge_runs(Dataset.read(folder).tables)[0].judgement
    assert judged.binding == ("disk_burst_iops",)
    report = Report([str(folder)])
    assert "for 30 min, then 120 IOPS for 15 min." in words(report.header().html)
    assert "burst times as on azure: 900 times those measured" in words(report.method().html).lower()


def test_credits_that_last_less_than_a_second_are_not_rounded_to_one(tmp_path: Path) -> None:
    """A slow machine runs an emulated disk at a quarter of its speed: 2 s of the log are half a second, and
    half an hour on Azure.
    """
    log = [(t_s / 2, iops / 2) for t_s, iops in LAB]
    folder = drained.dataset(tmp_path / "ds", log, time_scale=4, credit_s=0.5, runtime_s=3)
    assert "Credits were spent after 30 min: from 3,500 IOPS to 120" in words(
        Report([str(folder)]).over_time().html
    )


def test_a_filling_host_cache_takes_as_long_as_it_was_measured(tmp_path: Path) -> None:
    """Short credits say nothing of a cache: the reads of an emulated disk are told in their own time."""
    filling = [(0.1 * i, 120 if i <= 11 else 4000) for i in range(1, 61)]
    folder = drained.dataset(tmp_path / "ds", filling, time_scale=1, credit_s=120.0, runtime_s=6)
    assert "120 IOPS for 1.1 s, then 4,000 IOPS for 4.9 s" in words(Report([str(folder)]).cards().html)


def test_credits_that_are_cut_short_are_spent_as_early_in_the_run(tmp_path: Path) -> None:
    """Of runs whose mean alone is known: whether one outlasted the credits is asked of this disk's own."""
    told = {}
    for credit_s, lasted_s in ((4.0, 2), (4.0, 6), (1800.0, 6)):
        burst = [(0.1 * i, 3500) for i in range(1, 10 * lasted_s + 1)]
        folder = drained.dataset(
            tmp_path / f"{credit_s:g}-{lasted_s}", burst, time_scale=1, credit_s=credit_s
        )
        (folder / "raw" / "drain_iops.1.log").unlink()
        (judged,) = judge_runs(Dataset.read(folder).tables)
        by_code = {finding.code: finding.message for finding in judged.judgement.findings}
        told[credit_s, lasted_s] = by_code.get(Code.BASE_NOT_SEEN, "")
    assert "full credits of the disk last 4 s at this rate, so this run of 2 s cannot show" in told[4.0, 2]
    assert not told[4.0, 6]
    assert (
        "full credits of the disk last 30 min at this rate, so this run of 6 s cannot show" in told[1800.0, 6]
    )


LATENCIES = [(0.1 * i, 18e6) for i in range(1, 41)] + [(0.1 * i, 520e6) for i in range(41, 61)]


def titles(folder: Path) -> str:
    return words(Report([str(folder)]).over_time().html)


@pytest.mark.parametrize(
    "end", [[], [(6.001, 4e9)], [(8.4, 8.5e9)], [(8.4, 8.5e9), (8.401, 9e9)], [(6.1, 6e6), (14.4, 9e9)]]
)
@pytest.mark.sampled(1)
def test_what_fio_logs_at_its_end_is_no_slowest_interval(
    tmp_path: Path, end: list[tuple[float, float]]
) -> None:
    """It waits for all that is outstanding; its NBD engine takes the end of the wait for that of each I/O."""
    flat = [(0.1 * i, 18e6 + 1e6 * (i % 3)) for i in range(1, 61)]
    page = titles(
        drained.dataset(
            tmp_path / "flat", [(0.1 * i, 1750) for i in range(1, 61)], flat + end, 2, runtime_s=6
        )
    )
    assert "Latency over time" in page and "slowest" not in page
    stepped = drained.dataset(tmp_path / "step", LAB, LATENCIES + end, time_scale=2, credit_s=2, runtime_s=6)
    assert "Mean latency goes from 9 ms to 260 ms during the run" in titles(stepped)


def test_a_slow_interval_is_told_and_a_slow_start_is_not_a_change(tmp_path: Path) -> None:
    once = [(0.1 * i, 180e6 if i == 30 else 18e6) for i in range(1, 61)]
    folder = drained.dataset(tmp_path / "once", [(0.1 * i, 1750) for i in range(1, 61)], once)
    assert "The slowest interval takes 10 times the median" in titles(folder)
    filling = [(0.1 * i, min(18e6, 4e6 * i)) for i in range(1, 61)]
    folder = drained.dataset(tmp_path / "start", [(0.1 * i, 1750) for i in range(1, 61)], filling)
    assert "Latency over time" in titles(folder)


def test_logs_of_several_jobs_lose_each_its_own_end() -> None:
    def log(n: int, end: float) -> list[tuple[float, float]]:
        return [*((float(i), 1.0) for i in range(1, n)), (n - 1 + end, 9.0)]

    lines = [*log(20, 0.2), *log(25, 1.0), *log(30, 0.5)]
    rows = [
        {"run_id": "r", "ddir": "read", "metric": "lat_us", "seq": i, "t_s": t, "value": value}
        for i, (t, value) in enumerate(lines)
    ]
    runs = schema.frame("runs", [{"run_id": "r"}])
    left = trace.without_ends(schema.frame("samples", rows), runs)
    assert (len(left), (left["value"] == 9).sum()) == (19 + 25 + 29, 1)
    bounded = trace.without_ends(schema.frame("samples", rows), runs.assign(runtime_limit_s=22.0))
    assert bounded["t_s"].max() == 22


def test_a_burst_and_the_base_are_told_and_not_their_mean(tmp_path: Path) -> None:
    """On the card, in the lead, beside the price and in what is asked for elsewhere."""
    folder = drained.dataset(tmp_path / "ds", LAB, time_scale=2, credit_s=2.0, runtime_s=6)
    report = Report([str(folder), "ultra-disk-2019"])
    told = "3,500 IOPS for 30 min, then 120 IOPS for 15 min"
    lead, cards, prices = (words(block.html) for block in (report.header(), report.cards(), report.prices()))
    assert told in lead and told in cards
    assert "2,3" not in lead + cards.split("Ultra")[0]
    assert re.search(r"8 KiB, QD 64 random writes: " + told + r" [\d,.]+ [\d,.]+ [\d,.]+ 120 0.98", prices)
    asked = achieved(Dataset.read(folder).tables)
    assert asked.iops == pytest.approx(120) and asked.bytes_per_s == pytest.approx(120 * drained.BLOCK)
    assert asked.caveats[-1].replace("\u00a0", " ") == f"its rate was {told}; the last is taken"


@pytest.mark.parametrize(
    ("credit_s", "told"), [(2.0, "; burst credits started at 100 %"), (1.95, " 100 %"), (1.5, "")]
)
def test_credits_never_start_above_a_full_bucket(tmp_path: Path, credit_s: float, told: str) -> None:
    """A burst that lasted longer than a full bucket does was held back by something else for a while."""
    folder = drained.dataset(tmp_path / "ds", LAB, time_scale=2, credit_s=credit_s, runtime_s=6)
    page = words(Report([str(folder)]).over_time().html)
    title = re.search(
        r"Credits were spent after \d+ min: from 3,500 IOPS to 120(; burst credits started at \S+ %)?", page
    )
    assert title
    assert (title[1] or "").endswith(told) and bool(title[1]) == bool(told)


def test_several_runs_with_phases_give_the_median_of_what_they_sustained(tmp_path: Path) -> None:
    folder = drained.dataset(tmp_path / "ds", LAB, time_scale=2, credit_s=2.0, runtime_s=6)
    for i in range(2):
        rate = 65 + 10 * i
        again = [(t, iops if iops > 60 else rate) for t, iops in LAB]
        other = drained.dataset(tmp_path / f"other{i}", again, time_scale=2, credit_s=2.0, runtime_s=6)
        for file in (other / "raw").iterdir():
            file.rename(folder / "raw" / file.name.replace("drain", f"drain{i}"))
    text = words(Report([str(folder)]).cards().html)
    told = "median of 3 runs, 120 to 150 IOPS: rates of the last phase of at least 5 % of each run"
    assert "130 IOPS" in text and told in text


def test_reads_and_writes_of_one_run_make_one_trace() -> None:
    t_s = times(60, 0.5)
    both = trace.together([(t_s, np.full(60, 10.0)), (t_s[2:] + 0.01, np.full(58, 5.0))])
    np.testing.assert_allclose(both[1], 15.0)
    assert both[0][0] == pytest.approx(1.5, abs=0.05) and both[0].size == 58
    assert trace.together([(t_s, t_s)])[1] is t_s
    assert trace.together([(t_s, t_s), (t_s[:1], t_s[:1])])[0].size == 0
