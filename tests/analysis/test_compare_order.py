"""Runs in their order over time, runs that stall, single runs, and numbers of runs that are promised."""

import re

import numpy as np
import pytest
from compare_error_rates import (
    DRIFT,
    DRIFTS,
    alarms_of_kind,
    in_order,
    in_turns,
    log_normal,
    promises,
    stalls,
    straight,
    t2,
)
from compared_runs import rates, side
from scipy import stats

import azbenchlib as az
from azbenchlib.analysis.compare import ComparedFigure, ComparedSide, Shift, compare, words
from azbenchlib.analysis.compare.by_workload import by_workload
from azbenchlib.analysis.compare.headline import result_sentence
from azbenchlib.analysis.compare.more_runs import Question, runs_settling
from azbenchlib.analysis.compare.published_repeats import LARGEST, PAIRS, SOURCE
from azbenchlib.analysis.compare.ranks import by_ranks, least_p
from azbenchlib.analysis.compare.ratio import Estimate, Method
from azbenchlib.analysis.compare.run_order import RunOrder, run_order, without_trend

STEADY = [1000, 1030, 975]
NOISE = [0.004, -0.003, 0.001, -0.005, 0.003, 0.002, -0.002, 0.0]


def at(name: str, values: list[float], minutes: list[int], **columns: object) -> ComparedSide:
    return side(
        name,
        [
            {"iops": value, "started_at": f"2026-11-01T10:{minute:02}:00Z"} | columns
            for value, minute in zip(values, minutes, strict=True)
        ],
    )


def drifting(places: list[int], slope: float, level: float = 1000.0) -> list[float]:
    return [level * (1 + NOISE[place % 8]) * (1 + slope) ** place for place in places]


def only(*sides: ComparedSide) -> ComparedFigure:
    (figure,) = compare(sides).pairs[0].figures
    return figure


# ---- the order over time --------------------------------------------------------------------------------


def test_the_order_of_the_runs_is_that_of_their_starts() -> None:
    assert run_order(in_order(5, in_turns=True)) is RunOrder.IN_TURNS
    assert run_order(([1, 4, 5], [2, 3, 6])) is RunOrder.IN_TURNS  # A B B A A B
    assert run_order(in_order(5, in_turns=False)) is RunOrder.ONE_AFTER_OTHER
    assert run_order(([1, 2, 5], [3, 4, 6])) is RunOrder.OTHER  # A A B B A B
    assert run_order(([1, 3], [2, 4, 5])) is RunOrder.OTHER
    assert run_order(None) is RunOrder.OTHER


def test_a_drift_is_taken_out_of_runs_in_turns() -> None:
    old, new = [0, 2, 4, 6, 8], [1, 3, 5, 7, 9]
    same = at("old", drifting(old, -0.03), old), at("new", drifting(new, -0.03), new)
    found = only(*same)
    assert found.answer is Shift.NOT_WORSE and found.estimate.method is Method.TREND_REMOVED
    assert found.ratio == pytest.approx(1, abs=0.01)
    (pair,) = compare(same).pairs
    assert "Judged with the trend over time taken out (1): the sides ran in turns." in words.remarks(
        compare(same), pair
    )
    bare = only(rates("old", drifting(old, -0.03)), rates("new", drifting(new, -0.03)))
    assert bare.answer is Shift.UNDECIDED  # the starts make the difference
    lower = at("new", drifting(new, -0.03, 800), new)
    assert only(same[0], lower).answer is Shift.WORSE


def test_a_straight_drift_moves_no_estimate() -> None:
    starts = in_order(5, in_turns=True)
    a, b = (np.array([0.1 + DRIFT * place for place in own]) for own in starts)
    assert without_trend(a, b + 0.2, starts, 0.0).log_ratio == pytest.approx(0.2)


@pytest.mark.parametrize("way", [-1, 1])
def test_a_drift_is_no_change_of_sides_that_ran_one_after_the_other(way: int) -> None:
    old, new = list(range(8)), list(range(8, 16))
    found = compare([at("old", drifting(old, 0.02 * way), old), at("new", drifting(new, 0.02 * way), new)])
    (figure,) = found.pairs[0].figures
    assert figure.answer is Shift.UNDECIDED and "interleave them: A B A B" in figure.why
    assert words.answer_text(figure) == "undecided, interleave them: A B A B"
    assert figure.runs_at_least is None  # more of the same would not settle it
    bare = only(*(rates(name, drifting(own, 0.02 * way)) for name, own in (("old", old), ("new", new))))
    assert bare.answer is (Shift.WORSE if way < 0 else Shift.BETTER)


def test_a_change_that_no_trend_explains_is_decided() -> None:
    old, new = list(range(8)), list(range(8, 16))
    small = at("old", drifting(old, 0.001), old), at("new", drifting(new, 0.001, 1500), new)
    assert only(*small).answer is Shift.BETTER
    flat = at("old", drifting(old, 0), old), at("new", drifting(new, 0, 800), new)
    assert only(*flat).answer is Shift.WORSE


def test_drift_gives_no_alarm_and_in_turns_it_is_decided() -> None:
    """A part of benchmarks/compare_error_rates.py."""
    assert sum(alarms_of_kind(40, 0.05, log_normal, straight)) == 0
    assert sum(alarms_of_kind(10, 0.0, t2, drift, in_turns=True)[0] for drift in DRIFTS) <= 1
    decided, wrong = in_turns(30, 5, 0.02)
    assert decided >= 0.85 * 30 * 9 and wrong == 0


# ---- runs that stall ------------------------------------------------------------------------------------


def test_ranks_are_those_of_scipy_and_their_interval_turns_round() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.lognormal(0, 0.2, 7), rng.lognormal(0.4, 0.2, 9)
    ranks = by_ranks(a, b)
    for bound in (0.0, 0.3):
        theirs = stats.mannwhitneyu(np.log(b) - bound, np.log(a), alternative="greater", method="exact")
        assert ranks.p_beyond(bound, 1) == pytest.approx(theirs.pvalue)
    low, high = ranks.interval(0.01)
    back = by_ranks(b, a).interval(0.01)
    assert (low, high) == pytest.approx((1 / back[1], 1 / back[0])) and low < np.exp(ranks.log_ratio) < high
    assert ranks.p_beyond(np.log(low) - 1e-9, 1) <= 0.005 < ranks.p_beyond(np.log(low) + 1e-9, 1)
    assert least_p(5, 5) == pytest.approx(1 / 252)
    many = range(1, 100)
    assert by_ranks(many, many).p_beyond(0.0, 1) == pytest.approx(0.5, abs=0.06)  # ties count against it


def test_a_run_that_stalls_hides_no_change() -> None:
    old = [1000 * (1 + x) for x in NOISE] + [200, 1003]
    new = [800 * (1 + x) for x in NOISE] + [160, 801]
    found = compare([rates("old", old), rates("new", new)])
    (figure,) = found.pairs[0].figures
    assert figure.answer is Shift.WORSE and figure.estimate.method is Method.RANKS
    assert figure.ratio == pytest.approx(0.8, abs=0.01) and figure.interval[1] < 0.85
    assert figure.evidence.estimate.interval(0.01)[1] > 1  # Welch's cannot tell
    assert any(one.startswith("Judged by ranks (1)") for one in words.remarks(found, found.pairs[0]))
    assert only(rates("old", new), rates("new", old)).answer is Shift.BETTER
    assert only(rates("old", old), rates("new", old)).answer is Shift.UNDECIDED  # how often it stalls counts
    assert sum(alarms_of_kind(40, 0.0, stalls)) == 0


# ---- what is promised -----------------------------------------------------------------------------------


def asked(log_ratio: float, runs: int, method: Method = Method.WELCH) -> tuple[int | None, int | None]:
    estimate = Estimate(log_ratio=log_ratio, se=0.02 * (2 / runs) ** 0.5, df=2 * runs - 2, method=method)
    return runs_settling(
        Question(runs=(runs, runs), estimate=estimate, sign=-1, margin=0.05, alpha=0.005, family=9, least=6)
    )


def test_before_a_rare_state_would_have_shown_only_what_ranks_can_show_is_promised() -> None:
    even, needed = asked(-0.2, 5)
    assert even == 6 and needed is not None and needed > 2 * even
    assert asked(-0.2, 5, Method.TREND_REMOVED)[1] is None  # a trend over time disturbs ranks
    assert asked(-0.03, 10)[1] is None  # not worse, unless runs stall
    even, needed = asked(-0.03, 15)
    assert even is not None and needed is not None and needed >= even
    assert asked(-0.052, 15)[1] is None  # the change is as large as the margin


def test_not_worse_is_asked_for_with_fewer_runs_than_worse() -> None:
    assert asked(0.0, 3)[0] == 4


def test_promised_runs_are_kept_though_runs_stall_and_the_sentence_tells_so() -> None:
    """A part of benchmarks/compare_error_rates.py."""
    undecided, numbers, kept = promises(12, log_normal, -0.2, 3)
    assert undecided == len(numbers) == kept == 12
    undecided, numbers, kept = promises(12, stalls, 0.0, 4)
    assert undecided > 5 and not numbers
    (large, small) = (
        compare([rates("old", STEADY[:3]), rates("new", [factor * one for one in STEADY[:3]])])
        for factor in (0.8, 0.97)
    )
    (figure,) = large.pairs[0].figures
    assert re.fullmatch(r"undecided, 1 to \d+ more of each", words.answer_text(figure))
    told = words.remarks(large, large.pairs[0])
    assert any("with 95 % probability, even if one run in ten stalls" in one for one in told)
    told = words.remarks(small, small.pairs[0])
    assert any(one.startswith('Of "at least", no number is promised') for one in told)


# ---- single runs ----------------------------------------------------------------------------------------


def test_the_largest_difference_of_repeats_is_that_of_the_dataset() -> None:
    tables = az.read(SOURCE).tables
    runs = tables["runs"].merge(tables["results"], on="run_id")
    by_test = runs.pivot_table(index=["setup_id", "bs_bytes"], columns="rw", values="bw_bytes_per_s")
    pairs = [
        np.log(by_test[again] / by_test[one]) for one, again in (("read", "reread"), ("fread", "freread"))
    ]
    logs = np.abs(np.concatenate(pairs))
    assert logs.size == PAIRS and np.exp(logs.max()) == pytest.approx(LARGEST, abs=5e-4)


def test_a_large_difference_of_single_runs_is_not_repeated_and_a_small_one_is_not_known() -> None:
    large = compare([rates("old", [1000]), rates("new", [17000])])
    (figure,) = large.pairs[0].figures
    assert figure.answer is Shift.UNDECIDED and figure.is_unrepeated and SOURCE in figure.why
    assert "IOPS ×17.0 is different, but not repeated; 1 of 1 figures undecided" in result_sentence(large, 3)
    assert by_workload(large.pairs[0])[0].answer == "different, not repeated"
    small = compare([rates("old", [1000]), rates("new", [1600])]).pairs[0].figures[0]
    assert not small.is_unrepeated and "is not known" in small.why


# ---- one row a workload ---------------------------------------------------------------------------------


def test_what_changed_stands_first_by_how_much_and_the_undecided_is_told() -> None:
    sizes = {4096: 1.0, 8192: 1.5, 16384: 2.0, 32768: 1.0}
    spread = {32768: 30}

    def runs(shift: bool) -> list[dict]:
        return [
            {"iops": 1000 * (1 + spread.get(bs, 1) * x) * (factor if shift else 1), "bs_bytes": bs}
            for bs, factor in sizes.items()
            for x in NOISE
        ]

    found = compare([side("old", runs(False)), side("new", runs(True))])
    (pair,) = found.pairs
    assert [one.kind.value for one in by_workload(pair)] == ["better", "better", "undecided", "not worse"]
    assert found.result is Shift.BETTER and found.is_undecided
    assert result_sentence(found, 3) == (
        "Better: 16\u00a0KiB random reads, QD\u00a08: IOPS ×2.000 (1.993 to 2.007); 2 of 4 figures better by "
        "more than 5\u00a0%, none worse, 1 not worse, 1 undecided (exit code 3)."
    )
    back = compare([side("old", runs(True)), side("new", runs(False))])
    assert back.result is Shift.WORSE and not back.is_undecided
    assert result_sentence(back, 1).startswith("Worse: 16\u00a0KiB random reads, QD\u00a08: IOPS ×0.500 (")


def test_a_rate_is_named_before_a_latency_that_changed_as_much() -> None:
    rng = np.random.default_rng(1)

    def runs(factor: float) -> list[dict]:
        return [
            {"iops": 1000 * factor * (1 + x), "samples_us": 100 / factor**1.02 * rng.lognormal(0, 0.1, 4000)}
            for x in NOISE
        ]

    sentence = result_sentence(compare([side("old", runs(1)), side("new", runs(1.5))]), 0)
    assert "QD\u00a08: IOPS ×1.500 (" in sentence


def test_a_rate_that_the_jobs_limit_is_told() -> None:
    limited = {"rate_iops": 1000}
    found = compare([rates("old", [999, 1000, 1000, 999], **limited), rates("new", [1000] * 4, **limited)])
    assert (
        "4\u00a0KiB random reads, QD\u00a08: the jobs limit their rate to 1,000 IOPS, so it does not tell "
        "what the disk could do."
    ) in words.remarks(found, found.pairs[0])
