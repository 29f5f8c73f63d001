"""A probe of disks whose settings are known: what it finds, what it says of what cannot be found, and why."""

import math
from copy import deepcopy
from dataclasses import replace

import numpy as np
import probe_blind_disks as blind
import pytest
from test_probe_model import disk

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import KIB, MB
from azbenchlib.dataset.probed import ProbeRecord
from azbenchlib.model.documented_setups import documented_places
from azbenchlib.model.setup import Cap
from azbenchlib.probing.hypotheses import Sharing
from azbenchlib.probing.likelihood import ProbeEvidence
from azbenchlib.probing.naming import Believed, names
from azbenchlib.probing.portrait import Knowledge, portrait
from azbenchlib.probing.runs import ProbeRun, Shown
from azbenchlib.probing.session import MOST_PROBE_RUNS, Probe
from azbenchlib.probing.simulate import SimulatedDisk
from azbenchlib.probing.text import sentences, unlearnt
from azbenchlib.probing.to_json import document

# How right it is does not matter: as few chains as show what is asked.
ROUGHLY = {"chains": 50, "sweeps": 1, "most_runs": 2}
P30_LIKE = {"read_skew": 1.1, "write_skew": 1.05, "read_stream": 1e10, "write_stream": 1e10}


def finished(simulated: SimulatedDisk, **limits: float) -> Probe:
    session = Probe(**limits)
    while chosen := session.next():
        session.tell(simulated.measure(chosen.run))
    return session


@pytest.fixture(scope="module")
def small_unit() -> Probe:
    return finished(SimulatedDisk(disk(64.0 * KIB, **P30_LIKE), seed=1))


def test_caps_latencies_and_the_unit_are_found(small_unit: Probe) -> None:
    found = small_unit.portrait()
    for key, true in (("read_iops", 5_000), ("write_iops", 5_000), ("read_bytes_per_s", 200 * MB)):
        figure = found[key]
        assert figure.state is Knowledge.KNOWN and figure.value == pytest.approx(true, rel=0.01)
        assert figure.low < figure.value < figure.high and figure.runs
    assert found["read_p50_us_4k"].value == pytest.approx(2_000, rel=0.05)
    assert found.unit_bytes == 64 * KIB
    assert len(small_unit.shown) <= MOST_PROBE_RUNS and found.contradictions == ()
    assert "Reads and writes share one cap of IOPS and one cap of MB/s." in list(sentences(found))


@pytest.mark.long
def test_the_same_runs_lead_to_the_same_portrait() -> None:
    first, again = finished(SimulatedDisk(disk(), seed=1), **ROUGHLY), Probe(**ROUGHLY)
    for shown in first.shown:
        again.tell(shown)
    assert again.portrait() == first.portrait()


def test_each_run_is_worth_something_and_the_first_ones_most(small_unit: Probe) -> None:
    nats = [worth.nats for worth in small_unit.worth]
    assert min(nats) > 0 and nats[0] > 3 * nats[-1]


@pytest.mark.long
def test_a_cap_that_nothing_reaches_is_not_stated() -> None:
    """256 I/Os outstanding at 10 ms are 25,600 a second, and no cap is below that."""
    huge = {"read_iops": 2e6, "read_bytes_per_s": 1e11, "read_lat_us": 10_000.0, "write_lat_us": 10_000.0}
    found = finished(SimulatedDisk(disk(**huge), seed=1)).portrait()
    assert found["read_iops"].state is Knowledge.ABOVE
    assert 5_000 < found["read_iops"].low <= 25_600 * 1.01 and math.isinf(found["read_iops"].high)
    assert any("No cap found" in what for what, _ in unlearnt(found, 60))


@pytest.mark.long
def test_a_disk_that_is_held_at_any_depth_shows_its_latency_to_a_paced_run() -> None:
    """120 IOPS at 2 ms: even one I/O after the other is held."""
    session = finished(SimulatedDisk(disk(read_iops=120.0, read_bytes_per_s=25.0 * MB), seed=2))
    assert any(shown.run.rate_iops for shown in session.shown)
    assert session.portrait()["read_p50_us_4k"].value == pytest.approx(2_000, rel=0.05)


def test_time_and_runs_are_kept_to() -> None:
    few = finished(SimulatedDisk(disk(), seed=1), **ROUGHLY)
    assert len(few.shown) == 2 and few.portrait().open_figures
    short = finished(SimulatedDisk(disk(), seed=1), chains=50, sweeps=1, most_s=30.0)
    assert 0 < short.spent_s <= 30
    with pytest.raises(InputError, match="no run"):
        Probe().portrait()


@pytest.mark.long
def test_a_run_that_contradicts_the_others_is_told(small_unit: Probe) -> None:
    session = deepcopy(small_unit)
    # reads alone at their cap, lest another cap of reads than of writes explains what follows
    plain = ProbeRun(read_share=1.0, bs_bytes=4 * KIB, depth=128)
    session.tell(SimulatedDisk(disk(64.0 * KIB, **P30_LIKE), seed=2).measure(plain))
    odd = ProbeRun(read_share=1.0, bs_bytes=4 * KIB, depth=256)
    session.tell(Shown(run=odd, iops=3_000.0, read_p50_us=85_000.0))
    found = session.portrait()
    said = " ".join(sentences(found))
    assert odd.name in found.contradictions or not found.steady
    assert "contradiction" in said or "stray" in said


def test_a_figure_that_a_run_contradicts_is_open_and_holds_what_the_run_implies() -> None:
    """5,000 IOPS by two runs, of which one is another 20 % lower and one lets 6,500 pass."""
    runs = [ProbeRun(read_share=1.0, bs_bytes=4 * KIB, depth=depth) for depth in (64, 128, 256)]
    disks = disk(deviation=0.001)[np.zeros(50, dtype=int)]
    for rate, low, high in ((4_000.0, 4_000, 5_000), (6_500.0, 5_000, 6_500)):
        shown = [Shown(run=run, iops=iops) for run, iops in zip(runs, (5_000.0, 5_005.0, rate), strict=True)]
        figures = portrait(disks, ProbeEvidence(shown))
        found = figures["read_iops"]
        assert figures.contradictions == (runs[-1].name,)
        assert found.state is Knowledge.OPEN
        assert (found.low, found.high) == pytest.approx((low, high), rel=0.01)


def test_counting_single_ios_is_no_contradiction() -> None:
    """Four I/Os of 1 MiB a second: of 20 in all, one more or less is 5 %."""
    run = ProbeRun(read_share=1.0, bs_bytes=1028 * KIB, depth=16, seconds=5.0)
    slow = disk(read_bytes_per_s=4.0 * 1028 * KIB)[np.zeros(50, dtype=int)]
    found = portrait(slow, ProbeEvidence([Shown(run=run, iops=4.2)]))
    assert found.contradictions == ()


def test_where_writes_alone_wait_their_median_may_be_far_above_the_mean() -> None:
    """Reads that a cache answers in 51 µs leave all waiting to the writes: 5.5 ms where the mean is 2.8."""
    run = ProbeRun(read_share=0.5, bs_bytes=68 * KIB, depth=16)
    cached = disk(
        *(math.inf, False, Sharing.BEHIND),
        **{
            "read_iops": 36_000.0,
            "read_bytes_per_s": 500.0 * MB,
            "read_lat_us": 51.0,
            "write_lat_us": 1_300.0,
        },
    )
    shown = Shown(run=run, iops=5_744.0, read_p50_us=51.0, write_p50_us=5_482.0)
    told = float(ProbeEvidence([shown]).log_likelihoods(cached)[0, 0])
    mean = replace(shown, write_p50_us=2_800.0)
    assert told == pytest.approx(float(ProbeEvidence([mean]).log_likelihoods(cached)[0, 0]), abs=0.1)


def test_writes_behind_a_cache_are_seen_alone_before_a_probe_ends() -> None:
    """Reads reach 18,000 IOPS, writes 12,000 behind the same limit: mixes show the limit of both alone."""
    mixes = [ProbeRun(read_share=0.5, bs_bytes=size, depth=256) for size in (4 * KIB, 1028 * KIB)]
    reads = [replace(run, read_share=1.0) for run in mixes]
    caps = {"read_iops": 18_000.0, "write_iops": 12_000.0, "write_bytes_per_s": 150.0 * MB}
    answers = SimulatedDisk(disk(same=False, sharing=Sharing.BEHIND, **caps), seed=1)
    session = Probe(chains=100, sweeps=2, most_runs=7)
    for run in (*mixes, *reads):
        session.tell(answers.measure(run))
    while chosen := session.next():
        session.tell(answers.measure(chosen.run))
    found = session.portrait()
    assert found.sharing[Sharing.BEHIND] > 0.9
    assert found["write_iops"].value == pytest.approx(12_000, rel=0.02)


def test_a_cap_of_writes_right_below_that_of_all_ios_is_seen_with_it() -> None:
    run = ProbeRun(read_share=0.0, bs_bytes=4 * KIB, depth=256)
    disks = disk(same=False, sharing=Sharing.BEHIND, write_iops=4_995.0)[np.zeros(50, dtype=int)]
    found = portrait(disks, ProbeEvidence([Shown(run=run, iops=4_995.0)]))
    assert found["write_iops"].state is Knowledge.KNOWN


def test_the_page_cache_is_not_taken_for_a_disk(small_unit: Probe) -> None:
    session = Probe(chains=50, sweeps=1)
    session.tell(replace(small_unit.shown[0], direct=False))
    found = session.portrait()
    believed = Believed.of(session.disks, ProbeEvidence(session.shown), found.steady)
    assert found.buffered and names(believed, found, documented_places("2026-11-01")) == []
    (said,) = sentences(found)  # what rates of memory stray by is not worth a sentence
    assert "page cache" in said
    assert list(unlearnt(found, 60)) == [("Anything of the disk: memory answered the runs.", None)]


def test_json_has_the_figures_the_runs_and_what_is_missing(small_unit: Probe) -> None:
    told = document(small_unit, small_unit.portrait(), [])
    kept = ProbeRecord.model_validate({"measured": "2026-11-25", **told})  # what a report takes
    assert [one.figure for one in kept.figures] == list(small_unit.portrait().figures)
    assert [one.what for one in kept.not_learnt] == [entry["what"] for entry in told["not_learnt"]]
    by_key = {figure["key"]: figure for figure in told["figures"]}
    assert by_key["read_iops"]["state"] == "known"
    assert [run["run"] for run in told["runs"]] == [shown.run.name for shown in small_unit.shown]
    assert any(entry["minutes"] == 30 for entry in told["not_learnt"])


@pytest.mark.long
def test_emulated_disks_of_hidden_settings_are_found_out() -> None:
    """Each I/O through token buckets in emulated time, which share nothing with the probe's own model."""
    rng = np.random.default_rng(3)
    found = []
    for number in range(2):
        hidden = blind.Blind.drawn(rng)
        session, portrait = blind.probed(hidden, number)
        found += blind.outcomes(hidden, portrait)
        assert len(session.shown) <= MOST_PROBE_RUNS
        assert portrait.units[float(hidden.unit_bytes or math.inf)] > 0.01
    known = [one for one in found if one.state is Knowledge.KNOWN]
    assert len(known) >= 0.6 * len(found)
    assert all(one.error <= (0.05 if "p50" in one.key else 0.01) for one in known)
    assert all(one.held for one in found if one.state is Knowledge.ABOVE)


def test_a_blind_disk_says_what_is_true_of_it() -> None:
    hidden = blind.Blind(
        cap=Cap(iops=500, write_iops=300, bytes_per_s=30 * MB), unit_bytes=None, table="premium"
    )
    assert (hidden.true("read_iops"), hidden.true("write_iops")) == (500, 300)
    assert hidden.true("write_bytes_per_s") == 30 * MB and hidden.true("read_depth_of_95_pct") is None
