"""Which documented setup a disk is taken for."""

import math
from dataclasses import replace

import numpy as np
import pytest
from test_probe_model import disk

from azbenchlib.core.units import GIB, KIB, MB, TIB
from azbenchlib.model.documented_setups import Places, documented_places
from azbenchlib.probing.explanations import WHERE, Explanation
from azbenchlib.probing.hypotheses import IO_UNITS, SAME_FOR_BOTH, Hypotheses, Sharing, draw
from azbenchlib.probing.naming import CAP_KEYS, Believed, Named, _Fits, names
from azbenchlib.probing.portrait import DiskFigure, Knowledge, Portrait
from azbenchlib.probing.text import name_of, sentences

DAY = "2026-11-01"
CHAINS = 300
STRAYS = 0.001  # of the logarithms of caps among the chains


@pytest.fixture(scope="module")
def places() -> Places:
    return documented_places(DAY)


def believed(
    reads: tuple[float, float],
    writes: tuple[float, float] | None = None,
    us: tuple[float, float] = (2_400.0, 2_400.0),
    seen: tuple[bool, ...] = (True,) * 4,
    is_steady: bool = True,
    sharing: Sharing = Sharing.TOGETHER,
) -> Believed:
    """Chains around some caps; where one is not seen, it may be anywhere above."""
    rng = np.random.default_rng(1)
    same, writes = writes is None, writes or reads
    one = disk(same=same, sharing=sharing, read_lat_us=us[0], write_lat_us=us[1])
    disks = one[np.zeros(CHAINS, dtype=int)]
    disks.unit[:] = draw(rng, CHAINS).unit  # of the caps of bytes hides it
    caps = np.log([*reads, *writes])
    logs = caps + rng.normal(0, STRAYS, (CHAINS, 4))
    return Believed(
        logs=logs,
        seen=np.tile(seen, (CHAINS, 1)),
        bounds=np.tile(caps, (CHAINS, 1)),
        disks=disks,
        is_steady=is_steady,
    )


def figure(key: str, value: float) -> DiskFigure:
    low, high = 0.995 * value, 1.005 * value
    return DiskFigure(key=key, state=Knowledge.KNOWN, value=value, low=low, high=high, runs=())


def portrait(
    iops: float, rate: float, read_us: float = 2_400.0, write_us: float = 2_400.0, rate_cap: bool = True
) -> Portrait:
    """A disk whose reads and writes share their caps."""
    caps = dict(zip(CAP_KEYS, (iops, rate) * 2, strict=True))
    medians = {"read_p50_us_4k": read_us, "write_p50_us_4k": write_us}
    figures = [figure(key, value) for key, value in (caps | medians).items()]
    if not rate_cap:
        figures = [
            replace(one, state=Knowledge.ABOVE, value=None, low=rate, high=math.inf)
            if "bytes" in one.key
            else one
            for one in figures
        ]
    return Portrait(
        figures=tuple(figures),
        units=dict.fromkeys(IO_UNITS, 1 / len(IO_UNITS)),
        largest_single_bytes=128.0 * KIB,
        same=1.0,
        sharing={Sharing.TOGETHER: 1.0, Sharing.APART: 0.0, Sharing.BEHIND: 0.0},
        deviation=figure("deviation", 0.001),
        contradictions=(),
    )


def portrait_of(of: Believed) -> Portrait:
    return portrait(*np.exp(np.median(of.logs[:, :2], axis=0)).tolist())


def named(of: Believed, places: Places, size_bytes: float | None = None) -> list[Named]:
    return names(of, portrait_of(of), places, size_bytes)


def first(of: Believed, places: Places) -> str:
    return name_of(named(of, places)[0])


@pytest.mark.parametrize(
    ("tier", "iops", "rate"), [("P30", 5_000, 200 * MB), ("P60", 16_000, 500 * MB), ("P80", 20_000, 900 * MB)]
)
def test_a_tier_is_first(tier: str, iops: float, rate: float, places: Places) -> None:
    """Azure's disks were measured at 1.6 % above their limits."""
    for use in (1.0, 1.016, 1.02):
        best, *_ = named(believed((use * iops, use * rate), us=(2_200, 1_300)), places)
        assert best.disks == (tier,) and best.probability > 0.5
        assert best.iops_ratio == pytest.approx(use, rel=1e-3)
        assert best.bytes_ratio == pytest.approx(use, rel=1e-3)


def test_probabilities_add_up_and_ties_are_told_together(places: Places) -> None:
    """P40 and P50 have the same limits; the size of the disk tells which."""
    of = believed((7_500, 250 * MB), us=(2_200, 1_300))
    found = named(of, places)
    assert 0.9 < sum(one.probability for one in found) <= 1 + 1e-9
    assert name_of(found[0]).startswith("P40 or P50 (")
    assert named(of, places, size_bytes=4 * TIB)[0].disks == ("P50",)
    small = named(of, places, size_bytes=64 * GIB)  # as a performance tier has
    of_tier = (one.probability for one in small if one.setup and one.setup.kind == "disk")
    assert sum(of_tier) < 0.7 < found[0].probability


def test_a_burst_is_told_from_a_base(places: Places) -> None:
    best = named(believed((3_500, 170 * MB)), places, size_bytes=128 * GIB)[0]
    assert best.setup is not None and (best.disks, best.setup.kind) == (("P10",), "burst")
    assert name_of(best) == "P10 while it bursts (3,500 IOPS, 170 MB/s)"
    on_demand = named(believed((30_000, 1_000 * MB), us=(2_200, 1_300)), places, size_bytes=TIB)[0]
    assert name_of(on_demand) == "P30 while it bursts on demand (30,000 IOPS, 1,000 MB/s)"


def test_a_stripe_is_named_and_never_surely_where_a_provisioned_disk_may_show_the_same(
    places: Places,
) -> None:
    found = named(believed((15_000, 600 * MB), us=(2_200, 1_300)), places)
    assert name_of(found[0]) == "3 × P30 (15,000 IOPS, 600 MB/s)"
    alike = [name_of(one) for one in found if one.alike]
    assert "PremiumV2, provisioned so" in alike
    # of the latency of Premium SSD v2, the disk is rather that
    found = named(believed((15_000, 600 * MB), us=(850, 850)), places)
    assert max(one.probability for one in found) < 0.6


def test_limits_of_disk_and_vm_at_once_are_one_name(places: Places) -> None:
    """Three P30 do 15,000 IOPS and 600 MB/s; of the latter a D8s_v3 lets 400 pass while it bursts."""
    found = named(believed((15_000, 400 * MB), us=(2_200, 1_300)), places)
    right = [
        one
        for one in found
        if one.setup and one.setup.disk and one.disks == ("P30",) and one.setup.disk.count == 3
    ]
    assert "Standard_D8s_v3" in right[0].sizes
    assert right[0] is found[0] or right[0].alike
    assert found[0].probability < 0.6


@pytest.mark.parametrize(
    ("iops", "rate", "kind", "size"),
    [
        (6_400, 96 * MB, "vm", "Standard_D4s_v3"),
        (38_000, 500 * MB, "temp", "Standard_E8ds_v4"),
        (4_000, 32_768_000, "read_write", "Standard_E2s_v3"),
    ],
)
def test_limits_of_a_vm_are_named_by_their_path(
    iops: float, rate: float, kind: str, size: str, places: Places
) -> None:
    us = (2_400, 2_400) if kind == "vm" else (100, 100)
    found = named(believed((iops, rate), us=us), places)
    assert size in (found[0].sizes if kind == "read_write" else (*found[0].sizes, *found[0].disks))
    said = name_of(found[0])
    assert ("or a disk with ReadWrite caching on" in said) is (kind != "vm")
    assert ("the temp disk of" in said) is (kind != "vm")


def test_a_read_only_cache_answers_reads_and_leaves_writes_to_the_disk(places: Places) -> None:
    of = believed((77_000, 484.44 * MB), (3_500, 170 * MB), us=(51, 2_474), sharing=Sharing.BEHIND)
    best = named(of, places)[0]
    assert best.setup is not None and best.setup.kind == "read_only"
    assert "P20" in best.disks and "Standard_E8ds_v4" in best.sizes and best.probability > 0.9
    assert "; writes 3,500 IOPS, 170 MB/s)" in name_of(best)
    fit = _Fits(of, None).likelihood(best.setup)
    of.disks.sharing[:] = Sharing.TOGETHER  # reads would use up what writes may do
    assert _Fits(of, None).likelihood(best.setup) < fit / 100


def test_nvme_of_which_only_reads_are_documented(places: Places) -> None:
    of = believed((400_000, 2_000 * MB), (1.7e6, 35_000 * MB), us=(43, 43), seen=(True, True, False, False))
    assert is_l8s(named(of, places)[0])
    # nor do any caps of writes that were found speak against it
    assert is_l8s(named(replace(of, seen=np.ones_like(of.seen)), places)[0])
    # rates that stray by percents leave chains far between, and chance must not choose among alike setups
    scattered = of.logs + np.random.default_rng(3).normal(0, 0.3, of.logs.shape)
    found = named(replace(of, logs=scattered, bounds=scattered, is_steady=False), places)
    assert is_l8s(found[0]) and found[1].alike
    # and what contradicts itself only in writes contradicts nothing that is documented
    told = portrait_of(of)
    figures = [replace(one, runs=("randwrite",)) if "write" in one.key else one for one in told.figures]
    odd = replace(told, figures=tuple(figures), contradictions=("randwrite",))
    assert is_l8s(names(of, odd, places)[0])


def is_l8s(best: Named) -> bool:
    return best.setup is not None and best.setup.kind == "nvme" and "Standard_L8s_v3" in best.disks


def test_what_fits_nothing_is_called_nothing(places: Places) -> None:
    assert first(believed((2_777_777, 12.3 * MB), us=(40_000, 40_000)), places) == (
        "nothing that is documented"
    )


def test_a_cap_that_was_not_found_speaks_against_what_is_below_it(places: Places) -> None:
    found = named(believed((5_000, 220 * MB), seen=(True, False, True, False)), places)
    by_name = {name_of(one): one.probability for one in found}
    p30 = next((share for name, share in by_name.items() if name.startswith("P30 (")), 0.0)
    assert p30 < 0.1 < sum(share for name, share in by_name.items() if name.startswith("PremiumV2"))


def test_runs_that_contradict_each_other_leave_half_of_the_probability_to_something_else(
    places: Places,
) -> None:
    of, run = believed((5_000, 200 * MB), us=(2_200, 1_300)), "randread-4k-qd64-5s"
    found = portrait_of(of)
    of_cap = replace(found.figures[0], runs=(run,))
    doubtful = replace(found, figures=(of_cap, *found.figures[1:]), contradictions=(run,))
    assert all(one.probability < 0.55 for one in names(of, doubtful, places))
    of_latency = replace(found, contradictions=(run,))  # no cap rests on it
    assert names(of, of_latency, places)[0].probability > 0.8


def test_a_busy_machine_is_told_and_small_differences_name_nothing(places: Places) -> None:
    """Rates that scatter within their runs lead to any way of sharing and counting."""
    caps, us = (5_000, 200 * MB), (2_200, 1_300)
    odd = believed(caps, (4_000, 200 * MB), us=us)
    assert "P30" not in named(odd, places)[0].disks
    told = replace(portrait_of(odd), run_error=0.078)
    assert not told.steady and told.unit_bytes is None
    (said,) = sentences(told)
    assert said.startswith("Rates stray by 8 % within a run: this machine or the disk was busy")
    busy = believed(caps, (4_900, 198 * MB), us=us, sharing=Sharing.APART, is_steady=False)
    assert names(replace(busy, is_steady=True), told, places)[0].setup is None
    best = names(busy, told, places)[0]
    assert best.setup is not None and best.disks == ("P30",)
    fit = _Fits(busy, None).likelihood(best.setup)
    busy.disks.sharing[:] = Sharing.TOGETHER
    assert _Fits(busy, None).likelihood(best.setup) == pytest.approx(fit)


def test_setups_that_differ_in_more_than_their_names_are_weighed_apart() -> None:
    fits = _Fits(believed((5_000.0, 200.0 * MB)), None)
    plain = Explanation(kind="disk", caps=(5_000.0, 200.0 * MB) * 2, read_us=(2_400.0, 0.3), share=1.0)
    assert fits.likelihood(replace(plain, kind="vm", share=0.5)) == fits.likelihood(plain) > 0
    for other in (
        {"read_us": (100.0, 0.3)},
        {"write_us": (100.0, 0.3)},
        {"caps": (4_900.0, 200.0 * MB) * 2},
        {"soft": True},
        {"same": False},
        {"unit_bytes": 256.0 * KIB},
        {"free": (0.2, 0.2)},
        {"sharing": Sharing.APART},
    ):
        assert fits.likelihood(replace(plain, **other)) != fits.likelihood(plain), other  # type: ignore[arg-type]


def test_disks_of_which_nothing_is_thought_weigh_one(places: Places) -> None:
    """What is drawn from the beliefs themselves is nothing that is documented."""
    drawn: Hypotheses = draw(np.random.default_rng(3), 1_000)
    assert drawn.same.mean() == pytest.approx(SAME_FOR_BOTH, abs=0.04)
    logs = np.log(np.stack([drawn.values(setting) for setting in (0, 2, 1, 3)], axis=1))
    nothing = np.full(logs.shape, math.log(10.0))
    of = Believed(
        logs=logs, seen=np.zeros(logs.shape, dtype=bool), bounds=nothing, disks=drawn, is_steady=True
    )
    (undocumented,) = (one for one in named(of, places) if one.setup is None)
    assert undocumented.probability == pytest.approx(WHERE["nothing"], rel=0.3)
