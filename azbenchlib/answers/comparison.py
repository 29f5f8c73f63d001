"""The answer of a comparison: worse, better, not worse or undecided, with the figures that make it so."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.analysis.compare import words
from azbenchlib.analysis.compare.by_workload import WorkloadFigures, by_workload, metrics_shown
from azbenchlib.analysis.compare.cells import ComparedFigure, Shift
from azbenchlib.analysis.compare.headline import headline
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
    from azbenchlib.analysis.compare.metrics import Metric

_WIDTH = 160  # characters, where no terminal tells: the rows of the table need them
_MOST_OF_COMMENT = 300  # rows of a table; a comment takes 65,536 characters, what is worse stands first
_MOST_OF_CELL = 50  # rows of a table in a notebook
_MOST_DRAWN = 40
_MOST_WORKLOADS = 24  # rows of the table of workloads, so that a screen has it
_RATIO = FigureUnit("ratio", words.times)
_AS_NUMBER = FigureUnit("count", lambda value: f"{value:,}")
_UNITS = {"iops": AS_IOPS, "bw": AS_BYTES_PER_S}
_TONES = {
    Shift.WORSE: Tone.BAD,
    Shift.BETTER: Tone.SURE,
    Shift.UNDECIDED: Tone.OPEN,
    Shift.NOT_WORSE: Tone.SURE,
}
# where no colour shows
_MARKS = {Shift.WORSE: "❌ ", Shift.BETTER: "🟢 ", Shift.NOT_WORSE: "✅ ", Shift.UNDECIDED: "❔ "}
_COLUMNS = (
    TableColumn("metric", "Metric"),
    TableColumn("old", "Old", AS_IOPS),
    TableColumn("new", "New", AS_IOPS),
    TableColumn("ratio", "Ratio", _RATIO),
    TableColumn("interval", "Interval"),
    TableColumn("answer", "Answer"),
)
_NONE = "–"
_NO_FIGURE = Figure(None, _RATIO, text=_NONE)
_WORKLOAD = TableColumn("workload", "Workload")
_NUMBERS = ("old", "new", "ratio", "low", "high")
_COUNTS = ("old_runs", "new_runs")


class Compared(Answer):
    """Whether runs are worse, or better, than those of a baseline.

    Parameters
    ----------
    result : ComparisonResult
        Its ``result`` is worse, better, not worse or undecided.
    exit_code : int, optional
        Of the command line that asked; default: 1 where anything is worse, else 3 where anything is
        undecided, else 0.
    """

    result: ComparisonResult

    def __init__(self, result: ComparisonResult, exit_code: int | None = None) -> None:
        self.result = result
        usual = 1 if result.result is Shift.WORSE else 3 if result.is_undecided else 0
        self.exit_code = usual if exit_code is None else exit_code

    @property
    def answer(self) -> Shift:
        """Worse, better, not worse or undecided."""
        return self.result.result

    @cached_property
    def document(self) -> Document:
        """The answer in a sentence, then for each pair its workloads, what to know, and all figures."""
        return _document(self)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``azbench compare --format json`` prints."""
        return record(self.result, self.exit_code)

    def to_text(self, width: int = _WIDTH) -> str:
        """Return the answer as the terminal shows it."""
        return terminal.text(self.document, width)

    def to_markdown(self) -> str:
        """Return the answer as Markdown for a comment, whose workloads are a column of the table."""
        return f"### Disk benchmark\n\n{markdown(_document(self, _MOST_OF_COMMENT, marked=True))}"

    def _for_cell(self) -> Document:
        return _document(self, _MOST_OF_CELL)

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
        """Draw the interval of each ratio, what changed first, and where the margin ends."""
        several = len(self.result.pairs) > 1
        known = [
            (f"{pair.b}: {words.figure_name(one)}" if several else words.figure_name(one), one, one.ratio)
            for pair in self.result.pairs
            for workload in by_workload(pair)
            for one in workload.figures
        ]
        drawn = [(name, one, ratio) for name, one, ratio in known if ratio][:_MOST_DRAWN]
        margin = self.result.terms.margin
        places = list(range(len(drawn)))
        for place, (_, one, ratio) in zip(places, drawn, strict=True):
            low, high = one.interval or (ratio, ratio)
            axes.plot([low, high], [place, place], color="0.4", solid_capstyle="butt")
            axes.plot([1 + one.evidence.metric.sign * margin], [place], "|", color="C3", markersize=12)
            axes.plot([1 - one.evidence.metric.sign * margin], [place], "|", color="C2", markersize=12)
        axes.plot([ratio for *_, ratio in drawn], places, "o", color="C0", label="ratio new ÷ old")
        for color, kind in (("C3", Shift.WORSE), ("C2", Shift.BETTER)):
            axes.plot([], [], "|", color=color, label=f"{kind} by {words.percent(margin)}")
        axes.axvline(1, color="0.7", zorder=0)
        axes.set_yticks(places, [name for name, *_ in drawn])
        axes.set_ylim(len(drawn) - 0.5, -0.5)
        axes.set(xlabel="ratio new ÷ old, with interval", xscale="log")
        axes.legend()


def _document(answer: Compared, most: int | None = None, *, marked: bool = False) -> Document:
    """Return the answer for readers.

    Parameters
    ----------
    answer : Compared
    most : int, optional
        At most so many rows in a table of figures.
    marked : bool
        Marks stand in the place of colours, and a column in the place of headings.
    """
    comparison, parts = answer.result, list[Part]()
    several = len(comparison.pairs) > 1
    for number, pair in enumerate(comparison.pairs, 1):
        title, place = (f"{pair.b} against {pair.a}", f"-{number}") if several else ("", "")
        judged = comparison.terms.judges_margin
        parts += [Facts((("old", pair.a), ("new", pair.b))), _summary(pair, judged, title, place, marked)]
        if remarks := words.remarks(comparison, pair):
            parts.append(Listing("What to know", tuple(map(Sentence, remarks))))
        parts.append(_figures(pair, judged, most, place, marked))
    return Document(_headline(answer, marked), [*parts, Sentence(words.method(comparison), tone=Tone.FAINT)])


def _headline(answer: Compared, marked: bool) -> Sentence:
    pieces = headline(answer.result, answer.exit_code)
    figures = {
        piece.name: Figure(
            piece.value, _AS_NUMBER if isinstance(piece.value, int) else _RATIO, text=piece.text
        )
        for piece in pieces
        if not isinstance(piece, str)
    }
    # a brace in a name of a workload stays one
    said = [one.replace("{", "{{").replace("}", "}}") if isinstance(one, str) else f"{{{one.name}}}"
            for one in pieces]  # fmt: skip
    template = "".join(said if figures else map(str, pieces))
    return Sentence(f"{_MARKS[answer.answer] if marked else ''}{template}", figures, _TONES[answer.answer])


def _summary(pair: ComparedPair, judged: bool, title: str, place: str, marked: bool) -> FigureTable:
    """A row a workload: the first metric on both sides, and ratios."""
    first, beside = metrics_shown(pair)
    columns = (
        TableColumn("workload", "Workload"),
        TableColumn("old", f"{first.title} old", _UNITS.get(first.name, AS_MICROSECONDS)),
        TableColumn("new", "new", _UNITS.get(first.name, AS_MICROSECONDS)),
        TableColumn("ratio", "ratio", _RATIO),
        *(TableColumn(metric.name, metric.title, _RATIO) for metric in beside),
        TableColumn("answer", "Answer"),
    )
    workloads = by_workload(pair)
    rows = []
    for one in workloads[:_MOST_WORKLOADS]:
        ratios = [Figure(figure.ratio, _RATIO) if figure else _NO_FIGURE for figure in map(one.of, beside)]
        mark = _MARKS[one.kind] if marked and judged else ""
        cells = [one.name, *_both_sides(one, first), *ratios, f"{mark}{one.answer}"]
        rows.append(TableRow(cells, tone=_tone(one.kind, judged)))
    others = Counter(one.kind.value for one in workloads[_MOST_WORKLOADS:])
    note = f"Further workloads: {', '.join(f'{n:,} {kind}' for kind, n in others.items())}." if others else ""
    return FigureTable(columns=columns, rows=rows, title=title, note=note, name=f"workloads{place}")


def _both_sides(workload: WorkloadFigures, metric: Metric) -> list[Figure]:
    one, unit = workload.of(metric), _UNITS.get(metric.name, AS_MICROSECONDS)
    if one is None:
        return [_NO_FIGURE] * 3
    texts = [_NONE if value is None else metric.shown(value) for value in one.medians]
    old, new = (Figure(value, unit, text=text) for value, text in zip(one.medians, texts, strict=True))
    return [old, new, Figure(one.ratio, _RATIO, text="" if one.ratio else _NONE)]


def _tone(kind: Shift, judged: bool) -> Tone:
    return _TONES[kind] if judged and kind is not Shift.NOT_WORSE else Tone.PLAIN


def _figures(pair: ComparedPair, judged: bool, most: int | None, place: str, marked: bool) -> FigureTable:
    """All figures of a pair below their workloads."""
    said = [
        (one, row)
        for workload in by_workload(pair)
        for one, row in zip(workload.figures, words.rows(pair, workload), strict=True)
    ]
    rows = []
    for one, row in said[:most]:
        unit = _UNITS.get(one.evidence.metric.name, AS_MICROSECONDS)
        old, new = (
            Figure(value, unit, name, text=text)
            for name, value, text in zip((pair.a, pair.b), one.medians, (row.a, row.b), strict=True)
        )
        mark = _MARKS[one.answer] if marked and judged else ""
        cells = [row.metric, old, new, Figure(one.ratio, _RATIO), row.interval, f"{mark}{row.answer}"]
        rows.append(
            TableRow([row.workload, *cells])
            if marked
            else TableRow(cells, group=row.workload, tone=_tone(one.answer, judged))
        )
    more = len(said) - len(rows)
    note = f"{more:,} further rows are left out; --format json and to_frame() have all." if more else ""
    columns = [_WORKLOAD, *_COLUMNS] if marked else _COLUMNS
    return FigureTable(columns=columns, rows=rows, title="Every figure", note=note, name=f"figures{place}")


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
