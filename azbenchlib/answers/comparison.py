"""The answer of a comparison: worse, not worse or undecided, with the figures that make it so."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.analysis.compare import words
from azbenchlib.analysis.compare.cells import ComparedFigure, Shift
from azbenchlib.analysis.compare.to_json import record
from azbenchlib.answers import terminal
from azbenchlib.answers.answer import Answer
from azbenchlib.answers.document import (
    Document,
    Facts,
    FigureTable,
    Listing,
    Part,
    Sentence,
    TableColumn,
    TableRow,
    Tone,
)
from azbenchlib.answers.figures import AS_BYTES_PER_S, AS_IOPS, AS_MICROSECONDS, Figure, FigureUnit
from azbenchlib.answers.markdown import markdown
from azbenchlib.core import schema

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from azbenchlib.analysis.compare import ComparisonResult
    from azbenchlib.analysis.compare.comparison import ComparedPair

EXIT_CODES = {Shift.WORSE: 1, Shift.UNDECIDED: 3, Shift.NOT_WORSE: 0}  # of `azbench compare`
_WIDTH = 160  # characters, where no terminal tells: the rows of the table need them
_MOST_OF_COMMENT = 300  # rows of a table; a comment takes 65,536 characters, what is worse stands first
_MOST_OF_CELL = 50  # rows of a table in a notebook
_MOST_DRAWN = 40
_RATIO = FigureUnit("ratio", words.times)
_UNITS = {"iops": AS_IOPS, "bw": AS_BYTES_PER_S}
_TONES = {Shift.WORSE: Tone.BAD, Shift.UNDECIDED: Tone.OPEN, Shift.NOT_WORSE: Tone.SURE}
_MARKS = {Shift.WORSE: "❌ ", Shift.NOT_WORSE: "✅ ", Shift.UNDECIDED: "❔ "}  # where no colour shows
_COLUMNS = (
    TableColumn("metric", "Metric"),
    TableColumn("old", "Old", AS_IOPS),
    TableColumn("new", "New", AS_IOPS),
    TableColumn("ratio", "Ratio", _RATIO),
    TableColumn("interval", "Interval"),
    TableColumn("answer", "Answer"),
)
_WORKLOAD = TableColumn("workload", "Workload")
_NUMBERS = ("old", "new", "ratio", "low", "high")
_COUNTS = ("old_runs", "new_runs")


class Compared(Answer):
    """Whether runs are worse than those of a baseline.

    Parameters
    ----------
    result : ComparisonResult
        Its ``result`` is worse, not worse or undecided.
    exit_code : int, optional
        Of the command line that asked; default: that of the answer.
    """

    result: ComparisonResult

    def __init__(self, result: ComparisonResult, exit_code: int | None = None) -> None:
        self.result = result
        self.exit_code = EXIT_CODES[result.result] if exit_code is None else exit_code

    @property
    def answer(self) -> Shift:
        """Worse, not worse or undecided."""
        return self.result.result

    @cached_property
    def document(self) -> Document:
        """The answer in a sentence, then for each pair its figures and what to know about them."""
        return _document(self.result)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``azbench compare --format json`` prints."""
        return record(self.result, self.exit_code)

    def to_text(self, width: int = _WIDTH) -> str:
        """Return the answer as the terminal shows it."""
        return terminal.text(self.document, width)

    def to_markdown(self) -> str:
        """Return the answer as Markdown for a comment, whose workloads are a column of the table."""
        return f"### Disk benchmark\n\n{markdown(_document(self.result, _MOST_OF_COMMENT, marked=True))}"

    def _for_cell(self) -> Document:
        return _document(self.result, _MOST_OF_CELL)

    def to_frame(self) -> pd.DataFrame:
        """Return a row a figure.

        Returns
        -------
        DataFrame
            baseline and side (their names), workload, metric, unit, old and new (medians of the runs, in the
            unit), old_runs, new_runs, ratio (new ÷ old), low and high (its interval), answer, why.
        """
        rows = [_record(pair, one) for pair in self.result.pairs for one in pair.figures]
        made = pd.DataFrame(rows)
        texts = {name: schema.TEXT for name in made if name not in (*_NUMBERS, *_COUNTS)}
        return made.astype(texts | dict.fromkeys(_NUMBERS, schema.FLOAT) | dict.fromkeys(_COUNTS, schema.INT))

    def draw(self, axes: Axes) -> None:
        """Draw the interval of each ratio, what is worse first, and where the margin ends."""
        several = len(self.result.pairs) > 1
        known = [
            (f"{pair.b}: {words.figure_name(one)}" if several else words.figure_name(one), one, one.ratio)
            for pair in self.result.pairs
            for one in _ordered(pair)
        ]
        drawn = [(name, one, ratio) for name, one, ratio in known if ratio][:_MOST_DRAWN]
        margin = self.result.terms.margin
        places = list(range(len(drawn)))
        for place, (_, one, ratio) in zip(places, drawn, strict=True):
            low, high = one.interval or (ratio, ratio)
            axes.plot([low, high], [place, place], color="0.4", solid_capstyle="butt")
            axes.plot([1 + one.evidence.metric.sign * margin], [place], "|", color="C3", markersize=12)
        axes.plot([ratio for *_, ratio in drawn], places, "o", color="C0", label="ratio new ÷ old")
        axes.plot([], [], "|", color="C3", label=f"margin {words.percent(margin)}")
        axes.axvline(1, color="0.7", zorder=0)
        axes.set_yticks(places, [name for name, *_ in drawn])
        axes.set_ylim(len(drawn) - 0.5, -0.5)
        axes.set(xlabel="ratio new ÷ old, with interval", xscale="log")
        axes.legend()


def _document(comparison: ComparisonResult, most: int | None = None, *, marked: bool = False) -> Document:
    """Return the answer for readers.

    Parameters
    ----------
    comparison : ComparisonResult
    most : int, optional
        At most so many rows a table.
    marked : bool
        Marks stand in the place of colours, and a column in the place of headings.
    """
    mark = _MARKS[comparison.result] if marked else ""
    headline = Sentence(f"{mark}{words.result_sentence(comparison)}", tone=_TONES[comparison.result])
    parts: list[Part] = []
    several = len(comparison.pairs) > 1
    for number, pair in enumerate(comparison.pairs, 1):
        table = _table(pair, comparison.terms.judges_margin, most, marked)
        if several:
            table = replace(table, title=f"{pair.b} against {pair.a}", name=f"{table.name}-{number}")
        parts += [Facts((("old", pair.a), ("new", pair.b))), table]
        if remarks := words.remarks(comparison, pair):
            parts.append(Listing("What to know", tuple(map(Sentence, remarks))))
    return Document(headline, [*parts, Sentence(words.method(comparison), tone=Tone.FAINT)])


def _ordered(pair: ComparedPair) -> list[ComparedFigure]:
    """The figures by workload, in the order of the words."""
    workloads = list(words.by_workload(pair))
    return sorted(pair.figures, key=lambda one: workloads.index(one.evidence.workload.name))


def _table(pair: ComparedPair, judged: bool, most: int | None, marked: bool) -> FigureTable:
    """The figures of a pair below their workloads."""
    said = [row for rows in words.by_workload(pair).values() for row in rows]
    rows = []
    for one, row in list(zip(_ordered(pair), said, strict=True))[:most]:
        unit = _UNITS.get(one.evidence.metric.name, AS_MICROSECONDS)
        old, new = (
            Figure(value, unit, name, text=text)
            for name, value, text in zip((pair.a, pair.b), one.medians, (row.a, row.b), strict=True)
        )
        mark = _MARKS[one.answer] if marked and judged else ""
        cells = [row.metric, old, new, Figure(one.ratio, _RATIO), row.interval, f"{mark}{row.answer}"]
        tone = Tone.PLAIN if one.answer is Shift.NOT_WORSE or not judged else _TONES[one.answer]
        rows.append(
            TableRow([row.workload, *cells]) if marked else TableRow(cells, group=row.workload, tone=tone)
        )
    more = len(said) - len(rows)
    note = f"{more:,} further rows are left out; --format json and to_frame() have all." if more else ""
    columns = [_WORKLOAD, *_COLUMNS] if marked else _COLUMNS
    return FigureTable(columns=columns, rows=rows, note=note, name="figures")


def _record(pair: ComparedPair, one: ComparedFigure) -> dict[str, Any]:
    evidence, interval = one.evidence, one.interval or (None, None)
    return {
        "baseline": pair.a,
        "side": pair.b,
        "workload": evidence.workload.name,
        "metric": evidence.metric.name,
        "unit": _UNITS.get(evidence.metric.name, AS_MICROSECONDS).name,
        "old": one.medians[0],
        "new": one.medians[1],
        "old_runs": len(evidence.a),
        "new_runs": len(evidence.b),
        "ratio": one.ratio,
        "low": interval[0],
        "high": interval[1],
        "answer": one.answer.value,
        "why": one.why or None,
    }
