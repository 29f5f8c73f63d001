"""A comparison as Markdown, for a pull request; no name in it becomes a link, an image or a row."""

from __future__ import annotations

import re

from azbenchlib.analysis.compare import words
from azbenchlib.analysis.compare.cells import Shift
from azbenchlib.analysis.compare.comparison import ComparedPair, ComparisonResult
from azbenchlib.core.printable import one_line

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~@&])")  # those that begin something in GitHub's Markdown
_MARKS = {Shift.WORSE: "❌ ", Shift.NOT_WORSE: "✅ ", Shift.UNDECIDED: "❔ "}
_HEAD = ("Workload", "Metric", "Old", "New", "Ratio", "Interval", "Answer")
_MOST_ROWS = 300  # a comment takes 65,536 characters; what is worse stands first


def markdown(comparison: ComparisonResult) -> str:
    """A heading, the result, a table a pair, and folded: what differs and how it was judged."""
    parts = ["### Disk benchmark", f"{_MARKS[comparison.result]}{_text(words.result_sentence(comparison))}"]
    for pair in comparison.pairs:
        parts.append(f"**{_text(pair.b)}** against **{_text(pair.a)}**")
        parts.append(_table(pair, comparison.terms.judges_margin))
        notes = [*words.remarks(comparison, pair), words.method(comparison)]
        lines = "\n".join(f"- {_text(one)}" for one in notes)
        parts.append(f"<details><summary>What to know</summary>\n\n{lines}\n\n</details>")
    return "\n\n".join(parts) + "\n"


def _table(pair: ComparedPair, judged: bool) -> str:
    every = [row for rows in words.by_workload(pair).values() for row in rows]
    lines = [f"| {' | '.join(_HEAD)} |", "|---|---|--:|--:|--:|---|---|"]
    for row in every[:_MOST_ROWS]:
        cells = (row.workload, row.metric, row.a, row.b, row.ratio, row.interval)
        mark = _MARKS[row.kind] if judged else ""
        lines.append(f"| {' | '.join(map(_text, cells))} | {mark}{_text(row.answer)} |")
    if len(every) > _MOST_ROWS:
        lines.append(f"\n{len(every) - _MOST_ROWS} further rows are left out; --format json has all.")
    return "\n".join(lines)


def _text(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", one_line(text)).replace("://", r":\//")
