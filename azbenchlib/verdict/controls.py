"""What else a rate above a documented limit may mean: MiB for MB, columns swapped, the row of another era."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from azbenchlib.core.findings import Code, Finding
from azbenchlib.core.units import MB, MIB
from azbenchlib.verdict.candidates import Route, Stage

FITS = (0.985, 1.045)  # measured ÷ limit of limits that bind, mean and two standard deviations of both sides
MIB_PER_MB = MIB / MB


def controls(
    route: Route, runtime_s: float | None, other_rows: Mapping[str, Sequence[tuple[float, str]]]
) -> list[Finding]:
    """Findings for each limit that was passed: which other reading of the documents would fit.

    Parameters
    ----------
    route : Route
    runtime_s : float, optional
    other_rows : mapping of str to sequence of (float, str)
        By base label, such as ``vm_cached_mbps``: other figures in print (IOPS, bytes per second) and where.

    Notes
    -----
    They are reported, and never decide.
    """
    found = []
    for stage in route.stages:
        level = stage.highest(runtime_s)
        if level.use <= FITS[1]:
            continue
        measured = level.use * level.value
        if stage.quantity == "bytes_per_s" and _fits(level.use / MIB_PER_MB):
            what = (
                f"{level.label.display_name}: it fits {level.value / MB:,.0f} MiB/s, where MB/s is documented"
            )
            found.append(Finding.of(Code.FITS_MIB, what))
        found += _swapped(stage, measured, route.stages)
        for value, where in other_rows.get(stage.base.label, ()):
            if _fits(measured / value):
                what = f"{level.label.display_name}: it fits another documented figure, {where}"
                found.append(Finding.of(Code.FITS_OTHER_ROW, what))
                break
    return found


def _swapped(stage: Stage, measured: float, stages: Sequence[Stage]) -> list[Finding]:
    twins = {"vm_cached": "vm_uncached", "vm_uncached": "vm_cached"}
    for other in stages:
        twin = other.scope == twins.get(stage.scope) and other.quantity == stage.quantity
        if twin and _fits(measured / other.base.value):
            fits = f"it fits {other.base.label.display_name}; some pages have columns swapped"
            return [Finding.of(Code.FITS_SWAPPED, f"{stage.base.label.display_name}: {fits}")]
    return []


def _fits(use: float) -> bool:
    return FITS[0] <= use <= FITS[1]
