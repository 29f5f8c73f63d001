"""The curves that the searches of a campaign walked, for its manifest."""

from collections.abc import Iterator
from typing import Any

from azbenchlib.campaign.design import figures
from azbenchlib.campaign.design.search import Ladder
from azbenchlib.campaign.targets.base import MeasurementRun
from azbenchlib.campaign.workloads import base
from azbenchlib.dataset.manifest import SearchCurve, SearchPoint


def walked(run: MeasurementRun[Any, Any]) -> list[SearchCurve]:
    """What each search of a run measured, and what it found."""
    members: dict[tuple[str, Ladder], list[Any]] = {}
    for one in run.measurements:
        if ladder := run.stopping.searches.ladder(run.output(one), one.folder):
            members.setdefault((one.folder, ladder), []).append(one)
    return [_curve(run, folder, ladder, some) for (folder, ladder), some in members.items()]


def _curve(run: MeasurementRun[Any, Any], folder: str, ladder: Ladder, some: list[Any]) -> SearchCurve:
    condition, first = ladder.condition, some[0]
    return SearchCurve(
        where=folder,
        percentile=figures.percentile_of(condition.figure),
        limit_us=condition.limit_us,
        answer=ladder.answer(run.output(first), run.dilation(first)),
        points=sorted(_points(run, ladder, some), key=lambda point: point.queue_depth),
    )


def _points(run: MeasurementRun[Any, Any], ladder: Ladder, some: list[Any]) -> Iterator[SearchPoint]:
    for one in some:
        output, dilation = run.output(one), run.dilation(one)
        iops = figures.read(output, "iops", dilation)
        lat_us = figures.read(output, ladder.condition.figure, dilation)
        if iops and lat_us:
            name, _ = base.repeat_of(one.workload.name)
            depth = one.workload.iodepth * one.workload.numjobs
            yield SearchPoint(workload=name, queue_depth=depth, iops=iops, lat_us=lat_us)
