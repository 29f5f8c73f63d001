"""The model of a disk that a probe looks for: against the documented limits' own model, and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core.units import KIB, MB
from azbenchlib.model.io_path import Load
from azbenchlib.model.limits import deliver
from azbenchlib.model.setup import VM, Cap, Disk, Setup
from azbenchlib.probing.forward import Loads, predict
from azbenchlib.probing.hypotheses import (
    BELIEFS,
    IO_UNITS,
    SAME_FOR_BOTH,
    Hypotheses,
    Setting,
    Sharing,
    draw,
    log_prior,
)
from azbenchlib.probing.inference import Sampler, _Moves
from azbenchlib.probing.likelihood import P50_ERROR, ProbeEvidence, p50_variance
from azbenchlib.probing.median import median_error
from azbenchlib.probing.proposals import Proposals, log_near
from azbenchlib.probing.runs import PROBED_SIZES, QUEUE_DEPTHS, ProbeRun, Shown, candidates
from azbenchlib.probing.simulate import SimulatedDisk

PREMIUM_UNIT = 256 * KIB


def disk(
    unit_bytes: float = math.inf,
    same: bool = True,
    sharing: Sharing = Sharing.TOGETHER,
    **values: float,
) -> Hypotheses:
    """One disk: 5,000 IOPS, 200 MB/s, 2 ms, unless said otherwise."""
    found = draw(np.random.default_rng(1), 1)
    known = {
        "read_iops": 5_000.0,
        "write_iops": 5_000.0,
        "read_bytes_per_s": 200.0 * MB,
        "write_bytes_per_s": 200.0 * MB,
        "read_lat_us": 2_000.0,
        "write_lat_us": 2_000.0,
        "read_stream": 1e15,
        "write_stream": 1e15,
        "read_skew": 1.0,
        "write_skew": 1.0,
        "deviation": 0.001,
        "latency_deviation": 0.001,
    }
    for name, value in (known | values).items():
        found.logs[0, Setting[name.upper()]] = math.log(value)
    found.unit[:], found.same[:], found.sharing[:] = IO_UNITS.index(unit_bytes), same, sharing
    return found


def rate(one: Hypotheses, run: ProbeRun) -> float:
    return float(predict(one, Loads.of([run])).iops[0, 0])


def test_a_queue_does_depth_by_latency_until_a_cap_holds_it() -> None:
    assert rate(disk(), ProbeRun(read_share=1.0, bs_bytes=4 * KIB, depth=4)) == pytest.approx(2_000)
    assert rate(disk(), ProbeRun(read_share=1.0, bs_bytes=4 * KIB, depth=64)) == pytest.approx(5_000)
    large = ProbeRun(read_share=1.0, bs_bytes=1028 * KIB, depth=64)
    assert rate(disk(), large) == pytest.approx(200 * MB / (1028 * KIB))


def test_an_io_above_the_unit_counts_as_several() -> None:
    run = ProbeRun(read_share=1.0, bs_bytes=36 * KIB, depth=256)
    assert rate(disk(unit_bytes=16.0 * KIB), run) == pytest.approx(5_000 / 3)


def test_mixes_share_caps_or_have_them_apart() -> None:
    run = ProbeRun(read_share=0.5, bs_bytes=4 * KIB, depth=256)
    own = {"same": False, "read_iops": 6_000.0, "write_iops": 2_000.0}
    assert rate(disk(**own), run) == pytest.approx(3_000)  # 1 / (0.5/6000 + 0.5/2000)
    apart, behind = Sharing.APART, Sharing.BEHIND
    # writes end at 2,000, reads keep pace
    assert rate(disk(sharing=apart, **own), run) == pytest.approx(4_000)
    assert rate(disk(sharing=apart), run) == pytest.approx(10_000)
    assert rate(disk(sharing=behind, **own), run) == pytest.approx(4_000)
    own["write_iops"] = 5_000.0  # now all of them end at 6,000
    assert rate(disk(sharing=behind, **own), run) == pytest.approx(6_000)


@given(
    share=st.sampled_from([0.0, 0.5, 1.0]),
    bs_bytes=st.sampled_from(PROBED_SIZES),
    depth=st.sampled_from(QUEUE_DEPTHS),
    write_iops=st.floats(100, 50_000),
)
def test_it_is_the_model_of_documented_limits(
    share: float, bs_bytes: int, depth: int, write_iops: float
) -> None:
    """Where that knows what a probe looks for: caps of reads and writes on one disk, 256 KiB I/Os."""
    cap = Cap(iops=5_000, bytes_per_s=200 * MB, write_iops=write_iops, write_bytes_per_s=150 * MB)
    setup = Setup(VM(), (Disk(name="data", sku="Premium_LRS", cap=cap),))
    load = Load(volume="data", read_share=share, bs_bytes=bs_bytes)
    expected = deliver(setup, [load], queue_depth=depth, latency_s=0.002).iops
    same = disk(PREMIUM_UNIT, same=False, write_iops=write_iops, write_bytes_per_s=150 * MB)
    assert rate(same, ProbeRun(read_share=share, bs_bytes=bs_bytes, depth=depth)) == pytest.approx(expected)


@given(st.sampled_from(candidates()), st.floats(1.01, 10))
def test_a_higher_cap_never_lowers_a_rate(run: ProbeRun, factor: float) -> None:
    low, high = disk(same=False), disk(same=False, read_iops=5_000 * factor)
    assert rate(high, run) >= rate(low, run)


def test_what_was_measured_is_likelier_if_the_disk_does_it() -> None:
    run = ProbeRun(read_share=1.0, bs_bytes=4 * KIB, depth=64)
    evidence = ProbeEvidence([Shown(run=run, iops=5_004.0, read_p50_us=12_700.0)])
    right, wrong = (float(evidence.log_likelihoods(disk(read_iops=cap))[0, 0]) for cap in (5_000, 5_600))
    assert right > wrong + 10


def test_the_median_of_few_ios_is_less_certain_than_that_of_many() -> None:
    """Of 80 log-normal latencies with a spread of 0.39 it strays by 1.25 × 0.39 / √80 = 5.4 %."""
    few = ProbeRun(read_share=1.0, bs_bytes=4 * KIB, depth=1, rate_iops=8)
    many = ProbeRun(read_share=1.0, bs_bytes=4 * KIB, depth=1, rate_iops=16_384)
    one, loads = disk(read_skew=math.exp(0.39**2 / 2), read_iops=1e6, read_lat_us=10.0), Loads.of([few, many])
    strays = np.sqrt(p50_variance(one, loads, predict(one, loads), write=False)[0])
    assert strays[0] == pytest.approx(math.hypot(0.0546, P50_ERROR), rel=0.02)
    assert strays[1] < 1.1 * math.hypot(P50_ERROR, 0.001)


@pytest.mark.long  # another start of the chains
def test_chains_that_settled_on_one_cap_for_both_are_doubted() -> None:
    """Two mixed runs say nothing of whether reads and writes have the same caps."""
    mixed = [ProbeRun(read_share=0.5, bs_bytes=size, depth=256) for size in (4 * KIB, 1028 * KIB)]
    true = disk(
        same=False, read_iops=28_700.0, write_iops=7_600.0, read_bytes_per_s=8e8, write_bytes_per_s=4e8
    )
    evidence = ProbeEvidence([Shown(run=run, iops=rate(true, run)) for run in mixed])
    sampler = Sampler(seed=1, chains=200)
    for some in (evidence.shown[:1], evidence.shown):
        sampler.learn(ProbeEvidence(some))
    settled = np.resize(np.flatnonzero(sampler.disks.same), len(sampler.disks))
    sampler.disks = sampler.disks[settled]
    assert sampler.disks.same.all()
    sampler.doubt(evidence)
    assert 0.55 < sampler.disks.same.mean() < 0.95


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.sampled(1)
def test_explanations_that_the_runs_leave_open_are_all_found(seed: int) -> None:
    """Only a mixed run says what cap of MB/s reads have: 148 MB/s where writes use it up, else 77 MB/s.

    Whichever chains settle on first, those that begin anew must not lose the other one.
    """
    true = disk(
        unit_bytes=16.0 * KIB,
        same=False,
        read_iops=11_900.0,
        write_iops=13_500.0,
        read_bytes_per_s=148.0 * MB,
        write_bytes_per_s=160.0 * MB,
        read_lat_us=88.4,
        write_lat_us=88.4,
    )
    loads = (
        *((1.0, 4, 4), (0.0, 4, 4), (0.0, 20, 4), (0.0, 1028, 1)),
        *((1.0, 4, 1), (0.0, 4, 1), (0.5, 4, 1), (0.5, 260, 1)),
    )
    runs = [ProbeRun(read_share=share, bs_bytes=kib * KIB, depth=depth) for share, kib, depth in loads]
    runs.append(ProbeRun(read_share=0.5, bs_bytes=1028 * KIB, depth=1, rate_iops=64))
    answers = SimulatedDisk(true, seed)
    evidence = ProbeEvidence([answers.measure(run) for run in runs])
    sampler = Sampler(seed)
    sampler.doubt(evidence)
    caps = sampler.disks.values(Setting.READ_BYTES_PER_S)
    assert np.quantile(caps, [0.001, 0.6]) == pytest.approx([77 * MB, 148 * MB], rel=0.03)
    assert np.median(sampler.disks.values(Setting.WRITE_IOPS)) == pytest.approx(13_500, rel=0.01)


def test_a_median_of_ios_that_wait_for_a_cap_tells_nothing_of_the_unloaded_latency() -> None:
    run = ProbeRun(read_share=1.0, bs_bytes=64 * KIB, depth=64)
    evidence = ProbeEvidence([Shown(run=run, iops=3_051.0, read_p50_us=20_900.0)])
    fits = [float(evidence.log_likelihoods(disk(read_lat_us=us))[0, 0]) for us in (100.0, 1_000.0, 10_000.0)]
    assert fits == pytest.approx([fits[0]] * 3, abs=0.01)
    too_slow = disk(read_lat_us=40_000.0, read_bytes_per_s=300.0 * MB)
    assert float(evidence.log_likelihoods(too_slow)[0, 0]) < fits[0] - 20


def test_small_disks_are_thought_of_too() -> None:
    """10 IOPS and half a MB/s, as a share of a disk may have."""
    small = {
        "read_iops": 12.0,
        "write_iops": 12.0,
        "read_bytes_per_s": 0.5 * MB,
        "write_bytes_per_s": 0.5 * MB,
        "read_stream": 1e9,
        "write_stream": 1e9,
    }
    assert np.isfinite(log_prior(disk(**small))[0])


def test_runs_have_names_of_their_own() -> None:
    names = [run.name for run in candidates()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("seed", [1, 2])
def test_moves_alone_do_not_change_what_is_thought_before_any_run(seed: int) -> None:
    """Proposals near what runs imply are paid for: where runs count for nothing, the belief stays."""
    runs = [
        ProbeRun(read_share=share, bs_bytes=size, depth=256)
        for share, size in ((1.0, 4 * KIB), (0.0, 4 * KIB), (0.5, 4 * KIB), (0.5, 1028 * KIB))
    ]
    evidence = ProbeEvidence([Shown(run=run, iops=3_000.0) for run in runs])
    rng = np.random.default_rng(seed)
    moves = _Moves(rng, draw(rng, 4_000), evidence, np.zeros(len(runs)), math.inf)
    for _ in range(6):
        moves.sweep()
    found = moves.disks
    assert found.same.mean() == pytest.approx(SAME_FOR_BOTH, abs=0.03)
    for way in Sharing:
        before = (draw(rng, 20_000).sharing == way).mean()
        assert (found.sharing == way).mean() == pytest.approx(before, abs=0.03)
    assert np.bincount(found.unit, minlength=len(IO_UNITS)) / 4_000 == pytest.approx(
        1 / len(IO_UNITS), abs=0.03
    )
    for setting in (
        Setting.READ_IOPS,
        Setting.WRITE_IOPS,
        Setting.READ_BYTES_PER_S,
        Setting.WRITE_BYTES_PER_S,
    ):
        belief = BELIEFS[setting]
        for some in (found.same, ~found.same):
            places = (found.logs[some, setting] - belief.low) / (belief.high - belief.low)
            assert np.quantile(places, [0.1, 0.5, 0.9]) == pytest.approx([0.1, 0.5, 0.9], abs=0.05)


@pytest.mark.parametrize("setting", [Setting.READ_IOPS, Setting.READ_LAT_US])
def test_proposals_are_as_dense_as_they_are_said_to_be(setting: Setting) -> None:
    """Near what each of two runs implies, one of which is the bound; a third run tells nothing."""
    n, centres = 200_000, np.array([math.log(1_000.0), math.log(3_000.0), math.nan])
    evidence = ProbeEvidence([Shown(run=ProbeRun(read_share=1.0, bs_bytes=4 * KIB, depth=4), iops=1_000.0)])
    drawn = Proposals(np.random.default_rng(1), evidence).near(setting, np.tile(centres, (n, 1)))
    for centre in centres[:2]:
        grid = np.linspace(centre - 0.03, centre + 0.03, 2_001)
        dense = np.exp(log_near(setting, np.tile(centres, (grid.size, 1)), grid))
        share = float(np.mean(np.abs(drawn - centre) < 0.03))
        assert share == pytest.approx(float(np.trapezoid(dense, grid)), rel=0.03)


@pytest.mark.parametrize("n", [40, 400, 20_000])
def test_latencies_tell_how_far_their_median_may_stray(n: int) -> None:
    """Of log-normal ones with a spread of 0.5 by 1.2533 × 0.5 ÷ √n, on average over many samples; of few by
    more, as values far from the median lie less densely.
    """
    rng = np.random.default_rng(n)
    told = [median_error(np.exp(rng.normal(0, 0.5, n))) for _ in range(200)]
    assert np.mean([one for one in told if one is not None]) == pytest.approx(
        1.2533 * 0.5 / n**0.5, rel=0.15 if n < 100 else 0.06
    )
    assert None not in told


def test_a_histogram_tells_the_same_as_its_latencies_and_few_tell_nothing() -> None:
    values, counts = [300.0, 100.0, 200.0], [5, 20, 15]
    assert median_error(values, counts) == median_error(np.repeat(values, counts)) is not None
    assert median_error(values, [1, 2, 3]) is None
    assert median_error([], []) is None


def test_what_latencies_tell_of_a_median_goes_before_the_skew_of_a_disk() -> None:
    """Two medians that are 10 % apart contradict each other only where either is known better than that."""
    run = ProbeRun(read_share=1.0, bs_bytes=4 * KIB, depth=1, rate_iops=8)

    def fit(error: float | None) -> float:
        shown = Shown(run=run, iops=8.0, read_p50_us=2_200.0, read_p50_error=error)
        return float(ProbeEvidence([shown]).log_likelihoods(disk(read_skew=1.01))[0, 0])

    assert fit(0.1) > fit(None) + 1
