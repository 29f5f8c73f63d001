"""Which documented disk a portrait is taken for."""

import math
from dataclasses import replace

import pytest

from azbenchlib.core.units import GIB, KIB, MB, TIB
from azbenchlib.model.documented_limits import DocumentedLimits, documented
from azbenchlib.probing.hypotheses import IO_UNITS
from azbenchlib.probing.naming import names
from azbenchlib.probing.portrait import DiskFigure, Knowledge, Portrait
from azbenchlib.probing.text import name_of, sentences

DAY = "2026-01-01"


@pytest.fixture(scope="module")
def everything() -> list[DocumentedLimits]:
    return documented(DAY)


def figure(key: str, value: float) -> DiskFigure:
    low, high = 0.995 * value, 1.005 * value
    return DiskFigure(key=key, state=Knowledge.KNOWN, value=value, low=low, high=high, runs=())


def portrait(
    iops: float, rate: float, read_us: float = 2_400.0, write_us: float = 2_400.0, rate_cap: bool = True
) -> Portrait:
    """A disk whose reads and writes share their caps."""
    bytes_figures = [figure(f"{way}_bytes_per_s", rate) for way in ("read", "write")]
    if not rate_cap:
        bytes_figures = [
            DiskFigure(key=one.key, state=Knowledge.ABOVE, value=None, low=rate, high=math.inf, runs=())
            for one in bytes_figures
        ]
    figures = [
        *(figure(f"{way}_iops", iops) for way in ("read", "write")),
        *bytes_figures,
        figure("read_p50_us_4k", read_us),
        figure("write_p50_us_4k", write_us),
    ]
    return Portrait(
        figures=tuple(figures),
        units=dict.fromkeys(IO_UNITS, 1 / len(IO_UNITS)),
        largest_single_bytes=128.0 * KIB,
        same=1.0,
        apart=0.0,
        deviation=figure("deviation", 0.001),
        contradictions=(),
    )


@pytest.mark.parametrize(
    ("tier", "iops", "rate"), [("P30", 5_000, 200 * MB), ("P60", 16_000, 500 * MB), ("P80", 20_000, 900 * MB)]
)
def test_a_tier_is_first(tier: str, iops: float, rate: float, everything: list[DocumentedLimits]) -> None:
    for use in (1.0, 1.016, 1.02):
        first, *_ = names(portrait(use * iops, use * rate), everything)
        assert first.limits is not None and first.limits.name == tier and first.probability > 0.5
        assert first.iops_ratio == pytest.approx(use) and first.bytes_ratio == pytest.approx(use)


def test_probabilities_add_up_and_ties_stay_ties(everything: list[DocumentedLimits]) -> None:
    """P40 and P50 have the same limits; the size of the disk tells which."""
    found = names(portrait(7_500, 250 * MB), everything)
    assert 0.9 < sum(one.probability for one in found) <= 1 + 1e-9
    tied = {one.limits.name: one.probability for one in found if one.limits and one.limits.kind == "disk"}
    assert tied["P40"] == pytest.approx(tied["P50"])
    first, *_ = names(portrait(7_500, 250 * MB), everything, size_bytes=4 * TIB)
    assert first.limits is not None and first.limits.name == "P50"


def test_a_burst_is_told_from_a_base(everything: list[DocumentedLimits]) -> None:
    bursting = names(portrait(3_500, 170 * MB), everything, size_bytes=128 * GIB)
    assert bursting[0].limits is not None
    assert (bursting[0].limits.name, bursting[0].limits.kind) == ("P10", "burst")
    assert "while it bursts" in name_of(bursting[0])


def test_what_fits_nothing_is_called_nothing(everything: list[DocumentedLimits]) -> None:
    first, *_ = names(portrait(777_777, 123 * MB, read_us=40_000), everything)
    assert first.limits is None and name_of(first) == "nothing that is documented"


def test_a_cap_that_was_not_found_speaks_against_what_is_below_it(everything: list[DocumentedLimits]) -> None:
    found = names(portrait(5_000, 400 * MB, rate_cap=False), everything)
    by_name = {one.limits.name if one.limits else "": one.probability for one in found}
    assert by_name.get("P30", 0.0) < 0.1 < by_name["PremiumV2"]


def test_a_busy_machine_is_told_and_small_differences_name_nothing(
    everything: list[DocumentedLimits],
) -> None:
    """Rates that scatter within their runs lead to any way of sharing and counting."""
    units = {unit: float(unit == 32 * KIB) for unit in IO_UNITS}
    odd = replace(portrait(5_000, 200 * MB), units=units, same=0.05, apart=0.97)
    assert names(odd, everything)[0].limits is None and odd.steady
    busy = replace(odd, run_error=0.078)
    assert not busy.steady and busy.unit_bytes is None
    (said,) = sentences(busy)
    assert said.startswith("Rates stray by 8 % within a run: this machine or the disk was busy")
    assert (named := names(busy, everything)[0].limits) and named.name == "P30"
