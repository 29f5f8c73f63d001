"""Requirements: what they mean, that nothing passes which was not measured, and who refuses what."""

from typing import Any

import pytest
from compared_runs import side
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.analysis.grouping import arrange
from azbenchlib.analysis.requirements import Checked, RequirementState, check, parse_requirement
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError

STATED = {"environment": "azure", "vm_size": "Standard_D8s_v5"}
WRITES = {"rw": "randwrite", "ddir": "write"}


def checked(text: str, runs: list[dict[str, Any]], **more: Any) -> list[Checked]:
    tables = side("s", runs, STATED).tables | more
    return check([parse_requirement(text)], arrange(tables), tables)


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("p99<2ms", 2000),
        ("p99.99 <= 250 us", 250),
        ("P50>1.5s", 1.5e6),
        ("lat_mean<1.1ms", 1100),
        ("iops>5,000", 5000),
        ("iops>=24k", 24_000),
        ("bw>200MB/s", 200e6),
        ("bw > 1 GiB/s", 2**30),
    ],
)
def test_bounds_are_in_base_units(text: str, bound: float) -> None:
    assert parse_requirement(text).bound == bound


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("p99<2", "'2' is not a latency; write a number with us, ms or s"),
        ("bw>200", "'200' is not a throughput; write a number with MB/s or MiB/s"),
        ("bw>200Mbit/s", "is not a throughput"),
        ("iops>24.000", "write 24000 or 24"),
        ("p99<24.000ms", "write 24000 or 24"),
        ("bw>24.000MB/s", "write 24000 or 24"),
        ("speed>2", "metric 'speed' is not iops, bw or a percentile"),
        ("p100<2ms", "metric 'p100' is not"),
        ("p99=2ms", "does not have the form METRIC OP VALUE"),
        ("p99<2ms for 4k randred", "'randred' is no pattern, block size or queue depth; the nearest"),
        ("", "does not have the form"),
        ("p99<" + "9" * 200 + "ms", "does not have the form"),
    ],
)
def test_what_cannot_be_understood_is_refused_in_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_requirement(text)
    assert sentence in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("sign", "outcome"),
    [
        ("<", RequirementState.NOT_MET),
        ("<=", RequirementState.MET),
        (">", RequirementState.NOT_MET),
        (">=", RequirementState.MET),
    ],
)
def test_a_figure_on_the_bound(sign: str, outcome: RequirementState) -> None:
    (one,) = checked(f"iops{sign}5000", [{"iops": 5000}])
    assert (one.outcome, one.value, one.runs) == (outcome, 5000, 1)


def test_of_repeats_the_worst_run_counts() -> None:
    runs = [{"iops": rate, "percentiles": {99: us}} for rate, us in ((900, 10), (1000, 30), (1100, 20))]
    assert [(one.value, one.runs) for one in checked("iops>950", runs)] == [(900, 3)]
    (latency,) = checked("p99<25us", runs)
    assert (latency.value, latency.outcome) == (30, RequirementState.NOT_MET)  # their mean, 20, would pass


def test_what_a_run_lacks_is_never_met() -> None:
    both, one = {"iops": 1, "percentiles": {99: 10}}, {"iops": 1, "percentiles": {50: 1}}
    assert [each.outcome for each in checked("p99<20us", [one])] == [RequirementState.NOT_MEASURED]
    assert [each.outcome for each in checked("p99<20us", [both, one])] == [RequirementState.NOT_MEASURED]
    assert [each.outcome for each in checked("p99<5us", [both, one])] == [RequirementState.NOT_MET]


@given(st.lists(st.none() | st.floats(1, 1e6), min_size=1, max_size=6), st.floats(1, 1e6))
def test_it_is_met_where_every_run_meets_it(values: list[float | None], bound: float) -> None:
    required = parse_requirement(f"p99<{bound:.10f}us")
    known = [value for value in values if value is not None]
    outcome = required.outcome(max(known, default=None), len(known) == len(values))
    assert (outcome is RequirementState.MET) == all(
        value is not None and value < required.bound for value in values
    )


def test_the_end_of_the_histogram_meets_no_upper_bound() -> None:
    last_us = 17_112_760.32
    (one,) = checked("p99<30s", [{"iops": 1, "percentiles": {99: last_us}}])
    assert one.outcome is RequirementState.NOT_MEASURED
    (one,) = checked("p99<10s", [{"iops": 1, "percentiles": {99: last_us}}])
    assert one.outcome is RequirementState.NOT_MET


def test_directions_and_workloads_are_judged_apart() -> None:
    runs = [
        {"iops": 100, "percentiles": {99: 10}},
        {"iops": 300, "percentiles": {99: 90}, **WRITES},
        {"iops": 200, "percentiles": {99: 10}, "bs_bytes": 65536},
    ]
    every = checked("p99<50us", runs)
    assert [(one.workload, one.outcome) for one in every] == [
        ("random reads, 4\u00a0KiB, QD\u00a08", RequirementState.MET),
        ("random reads, 64\u00a0KiB, QD\u00a08", RequirementState.MET),
        ("random writes, 4\u00a0KiB, QD\u00a08", RequirementState.NOT_MET),
    ]
    named = checked("iops>150 for 4k randread", runs)
    assert [(one.value, one.outcome) for one in named] == [(100, RequirementState.NOT_MET)]
    assert [one.value for one in checked("iops>150 for qd8 64k", runs)] == [200]
    (none,) = checked("iops>150 for 1m", runs)
    assert (none.workload, none.outcome) == ("1m", RequirementState.NOT_MEASURED)


def test_jobs_that_ran_at_once_are_one_workload() -> None:
    """Rates add up, and percentiles are those of all I/Os together: 1 % of them took 50 µs and more."""
    slow, fast = [50.0] * 100 + [10.0] * 100, [10.0] * 9800
    together = {"source_path": "s/0.json", "source_sha256": "s0", "group_id": 0}
    runs = [{"iops": 100, "samples_us": us, "job": f"j{i}", **together} for i, us in enumerate((slow, fast))]
    assert [one.value for one in checked("iops>150", runs)] == [200]
    assert [(one.value, one.runs) for one in checked("p98.9<40us", runs)] == [
        (pytest.approx(10, rel=0.01), 1)
    ]
    assert [one.value for one in checked("p99.5<40us", runs)] == [pytest.approx(50, rel=0.01)]


def test_means_are_weighted_by_their_ios() -> None:
    together = {"source_path": "s/0.json", "source_sha256": "s0", "group_id": 0}
    runs = [{"iops": 100, "job": f"j{i}", **together} for i in range(2)]
    rows = [
        {"run_id": f"s-{i}", "ddir": "read", "lat_kind": kind, "n": n, "lat_mean_us": us}
        for i, (n, us) in enumerate(((300, 10.0), (100, 50.0)))
        for kind, us in (("clat", us), ("lat", us + 100))
    ]
    (one,) = checked("lat_mean<20us", runs, latency=schema.frame("latency", rows))
    assert (one.value, one.outcome) == (20.0, RequirementState.NOT_MET)
    (one,) = checked("lat_mean<20us", runs, latency=schema.frame("latency", rows[:2]))
    assert one.outcome is RequirementState.NOT_MEASURED


def test_bins_give_rare_percentiles_of_jobs_at_once() -> None:
    together = {"source_path": "s/0.json", "source_sha256": "s0", "group_id": 0}
    runs = [{"iops": 1, "samples_us": [10.0] * 10, "job": f"j{i}", **together} for i in range(2)]
    assert [one.value for one in checked("p99.999<20us", runs)] == [pytest.approx(10, rel=0.01)]
