"""Which cards a dataset has: one a setup or workload, one a curve, one a test of iozone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from azbenchlib.analysis.summary import Card
    from azbenchlib.answers.curve_verdict import CurveVerdict
    from azbenchlib.answers.surface_verdict import SurfaceVerdict
    from azbenchlib.report.part import Part

_Swept = tuple["Card", "CurveVerdict | None", Sequence["SurfaceVerdict"]]


def cards_of(part: Part) -> Iterator[_Swept]:
    """Yield the cards of a dataset; those of iozone are one a test, or one a setup among several."""
    is_compared = part.arrangement.by == "setup"
    of_series: dict[str, list[SurfaceVerdict]] = defaultdict(list)
    for surface in part.surfaces:
        of_series[surface.surface.series].append(surface)
    own: dict[str, list[_Swept]] = defaultdict(list)
    for card, curve in _with_curves(part):
        own[card.series].append((card, curve, of_series.pop(card.series, ()) if is_compared else ()))
    for series in part.entries:
        mine = of_series.get(series, [])
        for surfaces in [mine] if is_compared and mine else [[surface] for surface in mine]:
            yield replace(surfaces[0].point, facet=None), None, surfaces
        yield from own[series]


def _with_curves(part: Part) -> Iterator[tuple[Card, CurveVerdict | None]]:
    """The cards of a dataset; one for all points of a curve, and the curve of each."""
    curves = {
        (point.series, point.facet): curve for curve in part.curve_verdicts for point in curve.curve.points
    }
    shown: set[int] = set()
    for card in part.cards:
        curve = None if card.rate is None else curves.get((card.series, str(card.rate["facet"])))
        several = part.arrangement.by == "setup" and part.is_comparable(card.series)
        if curve is None or (several and curve.curve.axis.turns):  # their best points are no like workloads
            yield card, None
        elif several:
            yield replace(curve.point, facet=None), curve
        elif id(curve) not in shown:
            shown.add(id(curve))
            yield curve.point, curve
