"""Figures of iozone over the sizes of records and files: surfaces, or lines over one of both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib import plots
from azbenchlib.analysis.surfaces import FILE_BYTES, RECORD_BYTES
from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.core.palette import COLOURS
from azbenchlib.core.units import format_range, format_size
from azbenchlib.plots.slices import FILE_SIZE, throughput_slices
from azbenchlib.plots.slices import RECORD as RECORD_SIZE
from azbenchlib.plots.surface import throughput_surface
from azbenchlib.report import formatting
from azbenchlib.report.figures import Group, Told, again

if TYPE_CHECKING:
    from azbenchlib.answers.surface_verdict import SurfaceVerdict
    from azbenchlib.report.part import Part

MOST_SURFACES = 8  # figures of a dataset
_OPEN = 2  # of them that are not folded
HIDES = "The surface shows the shape, and hides what lies behind its hills; the map beside it has the values."
EMPTY = (
    "A cell without colour was not measured: the record is larger than the file, or too small for so large a "
    "file (iozone -a)."
)
IN_MEMORY = "What fits into the memory (RAM) may be answered by the page cache, unless iozone ran with -I."
LIMIT_LEVEL = (
    "Dashed lines and the outline are at the documented limit of each record size; what the page cache "
    "serves can lie above it."
)
ONE_AXIS = "A marker is one figure of iozone; all lines share one axis."


def surface_figures(part: Part, place: str, group: Group, told: Told = None) -> Block | None:
    """The figures of a dataset: the first of writes and of reads, and the others folded."""
    surfaces = _ordered([[one] for one in part.surfaces if has_both_sizes(one)])
    lines = _by_figure(part, [one for one in part.surfaces if not has_both_sizes(one)])
    draw = [partial(surface_figure, part, one) for (one,) in surfaces]
    draw += [partial(_lines, part, some) for some in _ordered(lines)]
    made = [figure(f"{place}-surface-{i}", group, told).html for i, figure in enumerate(draw[:MOST_SURFACES])]
    further = made[_OPEN:]
    if more := len(draw) - len(made):
        text = f"{formatting.count(more, 'more figure')} not drawn: azbench read has the rates."
        further.append(render("note", text=text, options=[]).html)
    if further:
        shown = {"title": "Further tests of iozone", "content": safe("\n".join(further)), "long": True}
        made[_OPEN:] = [render("fold", id=f"{place}-more-surfaces", **shown).html]
    return Block("\n".join(made)) if made else None


def _ordered(figures: Sequence[list[SurfaceVerdict]]) -> list[list[SurfaceVerdict]]:
    """The first of writes, the first of reads, then the others."""
    first = {"write" in some[0].surface.test: i for i, some in reversed([*enumerate(figures)])}
    return [figures[i] for i in sorted(range(len(figures)), key=lambda i: i not in first.values())]


def has_both_sizes(verdict: SurfaceVerdict) -> bool:
    """Whether records and files have two sizes each."""
    cells = verdict.surface.cells
    return min(cells[RECORD_BYTES].nunique(), cells[FILE_BYTES].nunique()) > 1


def surface_figure(part: Part, verdict: SurfaceVerdict, name: str, group: Group, told: Told = None) -> Block:
    """One test on one setup as a surface and a map, with the memory and the documented limit."""
    surface, limit = verdict.surface, verdict.limit_words
    cells = surface.cells.assign(limit_bytes_per_s=verdict.limits)
    draw = partial(throughput_surface, cells, [part.entries[surface.series].drawn])
    return render(
        "figure",
        id=f"{name}-figure",
        title=": ".join(filter(None, [verdict.whose, verdict.name])),
        what=f"Throughput over record and file size. {verdict.sentence.text}.",
        svg=safe(plots.both(lambda layout: draw(layout, ram_bytes=verdict.ram_bytes, limit=limit), name)),
        how=[HIDES, EMPTY, *([LIMIT_LEVEL] if limit else []), *([IN_MEMORY] if verdict.ram_bytes else [])],
        group=group,
        kind="surface",
        folded=again("surface", told),
    )


def _by_figure(part: Part, surfaces: Sequence[SurfaceVerdict]) -> list[list[SurfaceVerdict]]:
    """What shares a figure of lines: a test on several setups, or several tests on one."""
    shared: dict[Hashable, list[SurfaceVerdict]] = defaultdict(list)
    for one in surfaces:
        axis = _axis(one)
        shared[axis, one.surface.name if part.arrangement.by == "setup" else ""].append(one)
    size = len(COLOURS)
    return [some[i : i + size] for some in shared.values() for i in range(0, len(some), size)]


def _axis(verdict: SurfaceVerdict) -> str:
    return RECORD_BYTES if verdict.surface.cells[RECORD_BYTES].nunique() > 1 else FILE_BYTES


def _lines(part: Part, some: Sequence[SurfaceVerdict], name: str, group: Group, told: Told = None) -> Block:
    """Several surfaces of one record or file size, as lines over the other."""
    axis, whole = _axis(some[0]), pd.concat([one.surface.cells for one in some])
    other = FILE_BYTES if axis == RECORD_BYTES else RECORD_BYTES
    series = [part.entries[one.surface.series].drawn for one in some]
    rows = pd.concat([one.surface.cells.assign(series=one.surface.series) for one in some])
    rows = rows.assign(size_bytes=rows[axis])
    over = RECORD_SIZE if axis == RECORD_BYTES else FILE_SIZE
    known = {one.ram_bytes for one in some}
    ram = known.pop() if len(known) == 1 else None
    sizes = format_range(format_size(whole[other].min()), format_size(whole[other].max()))
    is_compared = part.arrangement.by == "setup"
    return render(
        "figure",
        id=f"{name}-figure",
        title=some[0].name if is_compared else f"Throughput over {over.lower()}",
        what=f"Throughput over {over.lower()}, {'files' if other == FILE_BYTES else 'records'} of {sizes}.",
        svg=safe(
            plots.both(lambda layout: throughput_slices(rows, series, layout, over=over, ram_bytes=ram), name)
        ),
        how=[ONE_AXIS, *([IN_MEMORY] if ram else [])],
        group=group,
        kind="sizes",
        folded=again("sizes", told),
    )
