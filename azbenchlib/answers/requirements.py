"""Whether stated requirements are met: a block of a report, and what verbs print beside their answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any

import pandas as pd

from azbenchlib.analysis.grouping import arrange
from azbenchlib.analysis.requirements import (
    Checked,
    RequiredBound,
    RequirementState,
    check,
    parse_requirement,
)
from azbenchlib.answers.answer import Answer
from azbenchlib.answers.document import Document, FigureTable, Section, Sentence, TableColumn, TableRow, Tone
from azbenchlib.answers.figures import AS_BYTES_PER_S, AS_IOPS, AS_MICROSECONDS, Figure, FigureUnit
from azbenchlib.core import schema

Tables = Mapping[str, pd.DataFrame]
_EXIT_CODES = {RequirementState.NOT_MET: 1, RequirementState.NOT_MEASURED: 3, RequirementState.MET: 0}
_TONES = {
    RequirementState.NOT_MET: Tone.BAD,
    RequirementState.NOT_MEASURED: Tone.OPEN,
    RequirementState.MET: Tone.SURE,
}
_UNITS = {"iops": AS_IOPS, "bw": AS_BYTES_PER_S}
_MOST = 4  # rows of a requirement with one answer, and half as many where all is well
_COLUMNS = (
    TableColumn("workload", "Workload"),
    TableColumn("measured", "Measured"),
    TableColumn("answer", "Answer"),
)
_NOTE = (
    "Of repeats the worst run counts. Latency is that of each direction by itself: completion latency, where "
    "the tool gave it."
)


class RequirementsAnswer(Answer):
    """Which requirements are met, workload by workload.

    Parameters
    ----------
    result : sequence of Checked
        In the order of the requirements.
    """

    result: tuple[Checked, ...]

    def __init__(self, result: Sequence[Checked]) -> None:
        self.result = tuple(result)

    @classmethod
    def of(cls, datasets: Sequence[Tables], texts: Sequence[str] | str) -> RequirementsAnswer:
        """Return the answer for the tables of datasets.

        Raises
        ------
        InputError
            When a requirement cannot be understood.
        """
        wanted = parsed(texts)
        arranged = [(arrange(tables), tables) for tables in datasets] if wanted else []
        return cls(
            [
                checked
                for each in wanted
                for checked in _known([one for share in arranged for one in check([each], *share)], each)
            ]
        )

    @property
    def exit_code(self) -> int:
        """0 where all are met, 1 where one is not, else 3 where something was not measured."""
        return _EXIT_CODES[_worst(self.result)]

    @cached_property
    def outcomes(self) -> dict[str, RequirementState]:
        """The answer to each requirement, by its text: that of the workload that is worst off."""
        return {text: _worst(rows) for text, rows in self._by_requirement}

    @property
    def words(self) -> str:
        """How many are met, as a heading."""
        n = list(self.outcomes.values()).count(RequirementState.MET)
        return f"Requirements: {n} of {len(self.outcomes)} met"

    @cached_property
    def document(self) -> Document:
        """How many are met, then a row a requirement and workload, what is not met first."""
        return Document(Sentence(self.words, tone=_TONES[_worst(self.result)]), [self.table])

    @property
    def table(self) -> FigureTable:
        """The workloads of each requirement, the worst first; many of one answer share a row."""
        rows = [row for text, checked in self._by_requirement for row in _rows(text, checked)]
        return FigureTable(columns=_COLUMNS, rows=rows, note=_NOTE, name="requirements")

    def to_dict(self) -> dict[str, Any]:
        """Return the requirements with their workloads; µs, I/Os per second, bytes per second."""
        return {
            "requirements": [
                {
                    "requirement": text,
                    "metric": rows[0].requirement.metric.name,
                    "operator": rows[0].requirement.sign,
                    "bound": rows[0].requirement.bound,
                    "unit": rows[0].requirement.metric.unit,
                    "answer": str(self.outcomes[text]),
                    "workloads": [
                        {
                            "setup": one.setup or None,
                            "workload": one.workload,
                            "measured": one.value,
                            "repeats": one.runs,
                            "answer": str(one.outcome),
                        }
                        for one in rows
                    ],
                }
                for text, rows in self._by_requirement
            ]
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a row a requirement and workload.

        Returns
        -------
        DataFrame
            requirement, setup, workload, measured (of the worst repeat), bound, unit, repeats, answer.
        """
        rows = [
            (
                one.requirement.text,
                one.setup or None,
                one.workload,
                one.value,
                one.requirement.bound,
                one.requirement.metric.unit,
                one.runs,
                str(one.outcome),
            )
            for one in self.result
        ]
        return pd.DataFrame(rows, columns=list(_TYPES)).astype(_TYPES)

    @property
    def _by_requirement(self) -> Iterator[tuple[str, list[Checked]]]:
        for text, rows in groupby(self.result, key=lambda one: one.requirement.text):
            yield text, list(rows)


class WithRequirements(Answer):
    """An answer to something else, and whether requirements are met below it.

    Parameters
    ----------
    answer : Answer
    required : RequirementsAnswer
    """

    def __init__(self, answer: Answer, required: RequirementsAnswer) -> None:
        self.answer, self.required, self.result = answer, required, answer.result

    @cached_property
    def document(self) -> Document:
        """That of the answer, and a section on the requirements."""
        both = self.answer.document
        return Document(both.headline, [*both.parts, Section(self.required.words, [self.required.table])])

    def to_text(self, width: int | None = None) -> str:
        """Return the answer as the terminal shows it, as wide as it is by itself."""
        both = (self.answer, self.required)
        return "\n".join(one.to_text() if width is None else one.to_text(width) for one in both)

    def to_markdown(self) -> str:
        """Return the answer as Markdown."""
        return f"{self.answer.to_markdown()}\n{self.required.to_markdown()}"

    def to_dict(self) -> dict[str, Any]:
        """Return the answer with ``requirements``."""
        return self.answer.to_dict() | self.required.to_dict()

    def to_frame(self) -> pd.DataFrame:
        """Return the table of the answer."""
        return self.answer.to_frame()


_TYPES: dict[str, Any] = {
    **dict.fromkeys(("requirement", "setup", "workload"), schema.TEXT),
    **dict.fromkeys(("measured", "bound"), schema.FLOAT),
    "unit": schema.TEXT,
    "repeats": schema.INT,
    "answer": schema.TEXT,
}


def parsed(texts: Sequence[str] | str) -> list[RequiredBound]:
    """Return requirements from their texts, each once.

    Raises
    ------
    InputError
        When one cannot be understood.
    """
    given = [texts] if isinstance(texts, str) else texts
    return list({one.text: one for one in map(parse_requirement, given)}.values())


def _known(rows: Sequence[Checked], requirement: RequiredBound) -> Sequence[Checked]:
    """What there is of a workload in any dataset; that there is none, where it is in none of them."""
    known = [one for one in rows if one.runs]
    return known or rows[:1] or [Checked(requirement=requirement, workload="no workload")]


def _worst(rows: Sequence[Checked]) -> RequirementState:
    outcomes = {one.outcome for one in rows}
    return next((one for one in RequirementState if one in outcomes), RequirementState.MET)


def _rows(text: str, checked: Sequence[Checked]) -> Iterator[TableRow]:
    """The rows of a requirement, below how many workloads meet it."""
    n = sum(one.outcome is RequirementState.MET for one in checked)
    group = f"{text}: met by {n} of {len(checked)}"
    for outcome in RequirementState:
        upper = checked[0].requirement.is_upper
        ranked = sorted(
            (one for one in checked if one.outcome is outcome),
            key=lambda one: (one.value is None, -(one.value or 0.0) if upper else one.value or 0.0),
        )
        most = _MOST // 2 if outcome is RequirementState.MET else _MOST
        shown = ranked if len(ranked) == most + 1 else ranked[:most]
        for one in shown:
            yield TableRow([_place(one), _measured(one), str(outcome)], group, _TONES[outcome])
        if more := len(ranked) - len(shown):
            yield TableRow([f"{more:,} more workloads", "", str(outcome)], group, _TONES[outcome])


def _place(one: Checked) -> str:
    return f"{one.setup}: {one.workload}" if one.setup else one.workload


def _measured(one: Checked) -> Figure | str:
    """The figure; with all its digits, where rounded it would look like the bound."""
    unit = _UNITS.get(one.requirement.metric.name, AS_MICROSECONDS)
    if one.value is None:
        return ""
    alike = unit.text(one.value) == unit.text(one.requirement.bound) and one.value != one.requirement.bound
    exact = f"{one.value:,.10g} {_base(unit)}" if alike else ""
    of = f" (worst of {one.runs} runs)" if one.runs > 1 else ""
    return Figure(one.value, unit, text=f"{exact or unit.text(one.value)}{of}" if exact or of else "")


def _base(unit: FigureUnit) -> str:
    return {"us": "µs", "iops": "IOPS", "bytes_per_s": "B/s"}[unit.name]
