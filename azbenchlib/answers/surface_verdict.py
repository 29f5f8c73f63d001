"""What gave the rates of iozone over the sizes of records and files: the page cache, up to where, or a limit.

The card of a report, its lead, its figures, `azbench verdict` and a cell of a notebook say it by these
sentences.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.analysis.grouping import Arrangement
from azbenchlib.analysis.summary import Card
from azbenchlib.analysis.surfaces import FILE_BYTES, RECORD_BYTES, Surface, surfaces
from azbenchlib.answers import sayings
from azbenchlib.answers.curve_verdict import vote
from azbenchlib.answers.document import Listing, Part, Section, Sentence, Tone
from azbenchlib.answers.figures import AS_BYTES, AS_BYTES_PER_S, AS_COUNT, AS_PROBABILITY, Figure
from azbenchlib.answers.judged_entries import doubts
from azbenchlib.core.findings import Code
from azbenchlib.core.patterns import OVER_STDIO
from azbenchlib.core.units import MB, format_range, format_size
from azbenchlib.model.labels import Label
from azbenchlib.verdict import text
from azbenchlib.verdict.judgement import Judgement, LimitRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 0.8  # of the cells that a split must account for; by judgement: fewer is no rule
_WORTH = 0.05  # of the cells that a split accounts for beyond what no split does
_CAUSES = 3  # that are named where no split tells them apart
_AXES = {FILE_BYTES: "file", RECORD_BYTES: "record"}
_OPEN = "no cause is certain enough"
_SERVED = "the page cache served them"
_OUTGROWN = "the files outgrow the page cache"
_SLOW = "too slow for the page cache alone, and no limit of the storage is known"
# What the sentence on the page cache says of the cells that it served.
SAID = frozenset((Code.ABOVE_DOCUMENTED_LIMIT, Code.PAGE_CACHE_SUSPECTED))
_NOTES = 2  # kinds of doubts about the surfaces of a setup
_FALL = 2.0  # times: from there on rates that all fall beyond a file size show where a cache ends


@dataclass(frozen=True, kw_only=True)
class CauseStretch:
    """Cells of one cause.

    Attributes
    ----------
    cause : str
        In words, as the end of a sentence.
    places : tuple of int
        Of the cells.
    axis : str
        The column that tells the stretch apart; empty: it is no stretch of sizes.
    begins, ends : float or None
        Its first and last size on that; None: it is open at that end.
    """

    cause: str
    places: tuple[int, ...]
    axis: str = ""
    begins: float | None = None
    ends: float | None = None


@dataclass(frozen=True, kw_only=True)
class SurfaceVerdict:
    """A surface with the judgement of each of its cells.

    Attributes
    ----------
    surface : Surface
    judged : tuple of Judgement or None
        One a cell; None: it was not judged.
    run_ids : frozenset of str
    whose : str
        Setup or file, where there are several.
    ram_bytes : float or None
        Memory of the machine; None: it is not stated.
    """

    surface: Surface
    judged: tuple[Judgement | None, ...]
    run_ids: frozenset[str]
    whose: str = ""
    ram_bytes: float | None = None

    @property
    def name(self) -> str:
        """The test in words, as a sentence begins."""
        return f"{self.surface.name[:1].upper()}{self.surface.name[1:]}"

    @property
    def at(self) -> str:
        """Where the cell is that a card shows: ``4 GiB of data, records of 16 MiB``."""
        cell = self.surface.cells.iloc[self.surface.place]
        return f"{format_size(cell[FILE_BYTES])} of data, records of {format_size(cell[RECORD_BYTES])}"

    @property
    def point(self) -> Card:
        """The cell that a card shows."""
        return self.surface.point

    @property
    def judgement(self) -> Judgement | None:
        """Of that cell."""
        return self.judged[self.surface.place]

    @property
    def shows_memory(self) -> bool:
        """Whether the page cache served that cell."""
        return self.causes[self.surface.place] == _SERVED

    @cached_property
    def limits(self) -> pd.Series:
        """By cell the least documented limit without bursts, in bytes per second; NA where none is known."""
        rows = zip(self.judged, self.surface.cells[RECORD_BYTES], strict=True)
        return pd.Series([_least(judged, float(size)) for judged, size in rows], dtype="Float64")

    @cached_property
    def limit_words(self) -> str:
        """Those in words: ``the disk limits of 5,000 IOPS and 200 MB/s``; empty where none is known."""
        known = next((judged for judged in self.judged if judged and judged.limits), None)
        rows = [row for name in ("iops", "mbps") if known and (row := _row(known, name))]
        if len({row.label.scope for row in rows}) == 1:
            return rows[0].label.phrase(" and ".join(map(sayings.limit_text, rows)))
        return " and ".join(row.label.phrase(sayings.limit_text(row)) for row in rows)

    @cached_property
    def causes(self) -> list[str]:
        """What gave the rate of each cell: its verdict in words, and where files outgrow the page cache."""
        cells = self.surface.cells.assign(cause=[_cause(judged) for judged in self.judged])
        buffered = [judged is not None and Label.PAGE_CACHE in judged.posterior for judged in self.judged]
        may_be_cached = cells["cause"].isin([_SERVED, _SLOW, _OPEN]) & pd.Series(buffered, index=cells.index)
        cached = cells[may_be_cached]
        shares = cached["bw_bytes_per_s"] / cached.groupby(RECORD_BYTES)["bw_bytes_per_s"].transform("max")
        by_file = shares.groupby(cached[FILE_BYTES]).median()  # of the most at each record size
        falls = [
            size
            for size in by_file.index[1:]
            if by_file[by_file.index < size].min() >= _FALL * by_file[by_file.index >= size].max()
        ]
        is_beyond = cells[FILE_BYTES] >= (falls[0] if falls else math.inf)
        return cells["cause"].mask(is_beyond & may_be_cached, _OUTGROWN).tolist()

    @property
    def served(self) -> list[Judgement]:
        """The judgements of the cells that the page cache served."""
        pairs = zip(self.judged, self.causes, strict=True)
        return [judged for judged, cause in pairs if judged and cause == _SERVED]

    @cached_property
    def stretches(self) -> list[CauseStretch]:
        """What gave the rates: a stretch or two of sizes, or the cells by cause, most first."""
        causes = pd.Series(self.causes)
        n = len(causes)
        (first, count), *_ = Counter(causes).most_common(1)
        kept, whole = count, [CauseStretch(cause=first, places=_places(causes == first))]
        for axis in _AXES:
            for size in sorted(self.surface.cells[axis].unique())[:-1]:
                split = _split(self.surface.cells[axis], causes, axis, float(size))
                fits = sum(len(stretch.places) for stretch in split)
                if fits > kept and fits >= count + _WORTH * n:
                    kept, whole = fits, split
        if kept >= _MOST * n:
            return whole
        ranked = Counter(causes).most_common(_CAUSES)
        return [CauseStretch(cause=cause, places=_places(causes == cause)) for cause, _ in ranked]

    @cached_property
    def sentence(self) -> Sentence:
        """From which rate to which, over which sizes, and what gave it."""
        figures: dict[str, Figure | str] = {"all": Figure(len(self.judged), AS_COUNT)}
        templates = [self._said(i, stretch, figures) for i, stretch in enumerate(self.stretches)]
        rest = len(self.judged) - sum(len(stretch.places) for stretch in self.stretches)
        if rest:
            figures["rest"] = Figure(rest, AS_COUNT)
            templates.append(f"{{rest}} of {{all}} runs {'differs' if rest == 1 else 'differ'}")
        return Sentence("; ".join(templates), figures)

    def _said(self, i: int, stretch: CauseStretch, figures: dict[str, Figure | str]) -> str:
        """A stretch in words, whose figures are added to the others."""
        cells = self.surface.cells.iloc[list(stretch.places)]
        rates = cells["bw_bytes_per_s"]
        low, high = (Figure(float(rate), AS_BYTES_PER_S) for rate in (rates.min(), rates.max()))
        figures |= {f"low{i}": low, f"high{i}": high, f"n{i}": Figure(len(cells), AS_COUNT)}
        ends = format_range(str(low), str(high)).split(" to ")
        figures[f"low{i}"] = Figure(low.value, low.unit, text=ends[0])
        between = f"{{low{i}}} to {{high{i}}}" if len(ends) > 1 else f"{{high{i}}}"
        where = _where(i, stretch, figures)
        if not where and len(stretch.places) < len(self.judged) and len(self.stretches) > 1:
            where = f" in {{n{i}}} of {{all}} runs"
        above = self._above(stretch, float(rates.min())) if stretch.cause == _SERVED else ""
        return f"{between}{where}{above}: {stretch.cause}"

    def _above(self, stretch: CauseStretch, low: float) -> str:
        """Which limit all rates of a stretch are above."""
        rows = [row for i in stretch.places if (judged := self.judged[i]) and (row := _row(judged, "mbps"))]
        if rows and low > rows[0].value:
            return f", above {rows[0].label.phrase(sayings.limit_text(rows[0]))}"
        return ""

    def record(self) -> dict[str, Any]:
        """Return the surface as plain data: sizes in bytes, rates in bytes per second."""
        return {
            "test": self.surface.test,
            "setup": self.whose or None,
            "sentence": self.sentence.text,
            "runs": len(self.judged),
            "page_cache_runs": len(self.served),
            "ram_bytes": self.ram_bytes,
            "cells": [
                {
                    "record_bytes": float(cell[RECORD_BYTES]),
                    "file_bytes": float(cell[FILE_BYTES]),
                    "bw_bytes_per_s": float(cell["bw_bytes_per_s"]),
                    "binding": [str(label) for label in judged.binding] if judged else [],
                    "probability": judged.probability if judged else None,
                }
                for cell, judged in zip(
                    self.surface.cells.to_dict(orient="records"), self.judged, strict=True
                )
            ],
        }


def surface_verdicts(
    arrangement: Arrangement, tables: Mapping[str, pd.DataFrame], judged: Mapping[str, Judgement]
) -> list[SurfaceVerdict]:
    """Return the surfaces of a dataset with the judgements of their cells, which are given by run_id."""
    runs = arrangement.runs.drop_duplicates("run_id")
    by_cell = runs.groupby(["series", "whole"], sort=False)["run_id"].agg(list)
    names = arrangement.series.set_index("key")["label"] if arrangement.by == "setup" else {}
    ram = tables["setups"].set_index("setup_id")["ram_bytes"].dropna()
    made = []
    for surface in surfaces(arrangement, tables):
        ids = [by_cell[surface.series, facet] for facet in surface.cells["facet"]]
        made.append(
            SurfaceVerdict(
                surface=surface,
                judged=tuple(vote([judged[one] for one in some if one in judged])[0] for some in ids),
                run_ids=frozenset(one for some in ids for one in some),
                whose=str(names.get(surface.series, "")),
                ram_bytes=float(ram[surface.setup_id]) if surface.setup_id in ram else None,
            )
        )
    return made


def page_cache(verdicts: Sequence[SurfaceVerdict]) -> Sentence | None:
    """Say how many runs the page cache served, and which run would measure the disk; None where none.

    Parameters
    ----------
    verdicts : sequence of SurfaceVerdict
        The surfaces that are spoken of.
    """
    every = [judged for verdict in verdicts for judged in verdict.served]
    if not every:
        return None
    sure = [Figure(pick(judged.probability for judged in every), AS_PROBABILITY) for pick in (min, max)]
    figures: dict[str, Figure | str] = {
        "served": Figure(len(every), AS_COUNT),
        "runs": Figure(sum(len(verdict.judged) for verdict in verdicts), AS_COUNT),
        **dict(zip(("least", "most"), sure, strict=True)),
    }
    certain = "{most}" if str(sure[0]) == str(sure[1]) else "{least} to {most}"
    known = {verdict.ram_bytes for verdict in verdicts}
    ram = ", whose size is not stated"
    if None not in known and len(known) == 1:
        figures["ram"], ram = Figure(max(filter(None, known)), AS_BYTES), " of {ram}"
    action = next((judged.next_run.action for judged in every if judged.next_run), "")
    how = f"{action} (iozone -I), or use" if action else "use"
    advice = f"To measure the disk, {how} files larger than the RAM{ram}"
    if all(verdict.surface.test in OVER_STDIO for verdict in verdicts if verdict.served):
        advice = "iozone's tests through stdio are buffered, even with -I: the other tests measure the disk"
    what = "it shows" if len(every) == 1 else "they show"
    return Sentence(
        f"The page cache served {{served}} of {{runs}} runs ({certain} certain): {what} the memory of the "
        f"machine, not the disk. {advice}",
        figures,
    )


def chip(verdicts: Sequence[SurfaceVerdict]) -> str:
    """How many runs the page cache served, in short."""
    served = sum(len(verdict.served) for verdict in verdicts)
    return f"Page cache: {served:,} of {sum(len(verdict.judged) for verdict in verdicts):,} runs"


def sections(verdicts: Sequence[SurfaceVerdict]) -> Iterator[Section]:
    """Yield what is said of the surfaces of each setup: a sentence a test."""
    for whose in dict.fromkeys(verdict.whose for verdict in verdicts):
        mine = [verdict for verdict in verdicts if verdict.whose == whose]
        parts: list[Part] = [Listing("", [_of_test(verdict) for verdict in mine])]
        if served := page_cache(mine):
            parts.insert(0, Sentence(served.template, served.figures, Tone.OPEN))
        yield Section(": ".join(filter(None, [whose, span(mine)])), [*parts, *_doubts(mine)])


def draw_highest(axes: Axes, verdicts: Sequence[SurfaceVerdict]) -> None:
    """Draw the highest rate of each test over the size of the file; of one file over that of the record."""
    every = pd.concat([verdict.surface.cells for verdict in verdicts])
    axis = FILE_BYTES if every[FILE_BYTES].nunique() > 1 else RECORD_BYTES
    for verdict in verdicts:
        highest = verdict.surface.cells.groupby(axis)["bw_bytes_per_s"].max() / MB
        label = ", ".join(filter(None, [verdict.whose, verdict.name]))
        axes.plot(highest.index, highest.to_numpy(), marker="o", label=label)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _: format_size(value))
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"Size of the {_AXES[axis]}")
    axes.set_ylabel("MB/s")
    axes.legend()


def span(verdicts: Sequence[SurfaceVerdict]) -> str:
    """Over which sizes surfaces are: ``records of 4 KiB to 16 MiB, files of 64 KiB to 512 MiB``."""
    cells = pd.concat([verdict.surface.cells for verdict in verdicts])
    ends = {axis: (format_size(cells[axis].min()), format_size(cells[axis].max())) for axis in _AXES}
    return f"records of {format_range(*ends[RECORD_BYTES])}, files of {format_range(*ends[FILE_BYTES])}"


def in_short(verdicts: Sequence[SurfaceVerdict]) -> list[tuple[str, str]]:
    """Several tests, each with its name and its sentence; of those of one cause throughout reads and writes
    are one sentence each.
    """
    by_cause: dict[tuple[str, str], list[SurfaceVerdict]] = defaultdict(list)
    for verdict in verdicts:
        alike = set(verdict.causes)
        way = "writes" if "write" in verdict.surface.test else "reads"
        by_cause[(alike.pop(), way) if len(alike) == 1 else (verdict.name, "")].append(verdict)
    told = []
    for (cause, way), some in by_cause.items():
        rates = pd.concat([verdict.surface.cells["bw_bytes_per_s"] for verdict in some])
        ends = (Figure(float(end), AS_BYTES_PER_S) for end in (rates.min(), rates.max()))
        between = format_range(*map(str, ends))
        is_alone = len(some) == 1
        name = some[0].name if is_alone else f"{len(some)} tests of {way}"
        told.append((name, some[0].sentence.text if is_alone else f"{between}: {cause}"))
    return told


def _doubts(verdicts: Sequence[SurfaceVerdict]) -> Iterator[Sentence]:
    """One sentence a kind of doubt."""
    by_code: dict[str, list[str]] = defaultdict(list)
    for verdict in verdicts:
        for judged in filter(None, verdict.judged):
            for finding in doubts(judged):
                by_code[finding.code].append(finding.message)
    for messages in [by_code[code] for code in by_code if code not in SAID][:_NOTES]:
        more = len(set(messages)) - 1
        similar = f"; {more:,} similar finding{'s' if more > 1 else ''}" if more else ""
        yield Sentence(f"{messages[0]}{similar}", tone=Tone.DOUBT)


def _of_test(verdict: SurfaceVerdict) -> Sentence:
    return Sentence(
        f"{{test}}: {verdict.sentence.template}", {"test": verdict.name, **verdict.sentence.figures}
    )


def _sure(judged: Judgement | None) -> tuple[Label, ...]:
    """What binds a cell, where that is likely enough."""
    return judged.binding if judged and judged.probability >= text.PROBABLY else ()


def _cause(judged: Judgement | None) -> str:
    """What gave the rate of a cell, as the end of a sentence."""
    binding = _sure(judged)
    if judged is None or not binding:
        if judged and judged.limits:
            return _OPEN
        return _SLOW if judged and Label.PAGE_CACHE in judged.posterior else "no limit is known"
    if binding == (Label.PAGE_CACHE,):
        return _SERVED
    rows = [row for row in sayings.binding_rows(judged) if judged.at_limit]
    if rows:
        return f"at {' and '.join(row.label.phrase(sayings.limit_text(row)) for row in rows)}"
    words = text.words(binding, 1.0, None, None)
    return f"{words[:1].lower()}{words[1:]}"


def _places(mask: pd.Series) -> tuple[int, ...]:
    return tuple(int(place) for place in mask.index[mask])


def _split(sizes: pd.Series, causes: pd.Series, axis: str, at: float) -> list[CauseStretch]:
    """The commonest cause up to a size and beyond it; one stretch where that is the same."""
    below = (sizes <= at).astype(bool)
    first, later = (causes[side].mode()[0] for side in (below, ~below))
    if first == later:
        return []
    begins = float(sizes[~below].min())
    return [
        CauseStretch(cause=first, places=_places(below & (causes == first)), axis=axis, ends=at),
        CauseStretch(cause=later, places=_places(~below & (causes == later)), axis=axis, begins=begins),
    ]


def _where(i: int, stretch: CauseStretch, figures: dict[str, Figure | str]) -> str:
    """``up to files of 512 MiB``, ``from records of 64 KiB on``."""
    noun = f"{_AXES.get(stretch.axis)}s of {{size{i}}}"
    if stretch.ends is not None:
        figures[f"size{i}"] = Figure(stretch.ends, AS_BYTES)
        return f" up to {noun}"
    if stretch.begins is not None:
        figures[f"size{i}"] = Figure(stretch.begins, AS_BYTES)
        return f" from {noun} on"
    return ""


def _row(judged: Judgement, quantity: str) -> LimitRow | None:
    """The least limit of a quantity that lasts."""
    rows = [row for row in judged.limits if row.label.quantity == quantity and not row.label.burst]
    return min(rows, key=lambda row: row.value, default=None)


def _least(judged: Judgement | None, record: float) -> float | None:
    """The least limit of a cell, in bytes per second at this record size."""
    rows = [(name, _row(judged, name)) for name in ("iops", "mbps")] if judged else []
    known = [row.value * (record if name == "iops" else 1) for name, row in rows if row]
    return min(known, default=None)
