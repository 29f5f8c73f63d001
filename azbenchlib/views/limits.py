"""What `03_limits.ipynb` shows: each method of :class:`Limits` is one of its cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import pandas as pd

from azbenchlib.answers import sayings
from azbenchlib.answers.blocks import Block, render
from azbenchlib.answers.document import Document, Section
from azbenchlib.answers.html import block
from azbenchlib.answers.judged_entries import JudgedEntry
from azbenchlib.answers.verdict import VerdictAnswer
from azbenchlib.answers.verdict_overview import certainty
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import format_probability
from azbenchlib.model import notation
from azbenchlib.report.part import Part, RunVerdict, verdicts_of
from azbenchlib.report.sections import method, rates_over_time, rooflines
from azbenchlib.views.view import MOST_ROWS, NotebookView

_LOG_NEEDED = ["--write_iops_log=NAME --write_bw_log=NAME --log_avg_msec=500"]


class Limits(NotebookView):
    """The limits that bind the runs of datasets, as cards, figures and tables.

    Parameters
    ----------
    datasets : sequence of str
        Folders, or names of datasets in ``datasets/`` or among those shipped.
    vm : str
        VM size; empty: as the dataset says.
    disks : sequence of str
        What was driven, in the notation of ``azbench limits``; empty: as the dataset says.
    as_of : str
        ISO day whose limits apply; empty: that of the measurement.
    nvme : bool
        Whether remote disks hang on the NVMe interface of the VM; else on SCSI.
    region : str
        Azure region of setups that state none.
    group_by : str
        Which runs whose setup is not stated were made on one: path, folder, host, job or setup.

    Raises
    ------
    InputError
        When a dataset cannot be read, or a disk is not in the notation.
    """

    def __init__(
        self,
        datasets: str | Sequence[str],
        *,
        vm: str = "",
        disks: Sequence[str] = (),
        as_of: str = "",
        nvme: bool = False,
        region: str = "",
        group_by: str = "",
    ) -> None:
        if vm and not disks:
            raise InputError(f"disks: say what was driven on the {vm}, such as P30 or temp")
        setup = notation.stated_setup(vm, disks, open_sizes=True) if disks else None
        super().__init__(datasets, "limits need at least one dataset", region=region, group_by=group_by)
        self._verdicts = {
            f"d{i}": verdicts_of(part, setup, as_of or None, nvme) for i, part in enumerate(self.parts)
        }

    def cards(self) -> Block:
        """A card for all runs of which the same is said."""
        return self._with_verdicts(self._cards_of)

    def roofline(self) -> Block:
        """The most that is documented at each block size, and what was measured."""
        return self._with_verdicts(
            lambda part, place, verdict: rooflines.roofline(part, place, verdict, self._group(part)),
            "has no run with a documented limit: nothing to draw",
        )

    def over_time(self) -> Block:
        """Rates over time, below the limits that are known; with burst credits where the rate shows them."""
        return self._with_verdicts(
            lambda part, place, verdict: rates_over_time.figures_over_time(
                part, place, verdict, self._group(part)
            ),
            "has no rates over time. To have them next time, run fio with",
            _LOG_NEEDED,
            rows=lambda part, _: part.rate_courses,
        )

    def next_runs(self) -> Block:
        """The runs that would settle what is open, as fio jobs."""
        return self._with_verdicts(self._next_of, "has no uncertain verdict that another run would settle")

    def table(self) -> Block:
        """Every verdict in a row, with the second most likely label."""
        return self._with_verdicts(self._table_of, rows=self._rows_of)

    def warnings(self) -> Block:
        """What makes the verdicts doubtful, and what reading found doubtful."""
        return self._with_verdicts(
            lambda part, place, verdict: method.trust(part, place, self._group(part), verdict)
        )

    def _with_verdicts(
        self,
        make: Callable[[Part, str, Sequence[RunVerdict]], Block | None],
        lacks: str = "",
        options: Sequence[str] = (),
        rows: Callable[[Part, str], pd.DataFrame] | None = None,
    ) -> Block:
        return self._blocks(
            lambda part, place: make(part, place, self._verdicts[place]), lacks, options, rows
        )

    def _rows_of(self, _: Part, place: str) -> pd.DataFrame:
        """Every run with its most likely labels, and the limit that it used most."""
        return pd.DataFrame([_row(verdict) for verdict in self._verdicts[place]])

    @cached_property
    def _answers(self) -> dict[str, VerdictAnswer]:
        """By place: the verdicts as an answer, whose documents the cells show."""
        return {
            place: VerdictAnswer(
                [
                    JudgedEntry.of(one.run, one.judged, one.entry.name, one.workload, part.next_steps)
                    for one in verdicts
                ],
                part.curves_of(verdicts),
                part.surfaces_of(verdicts),
            )
            for part, (place, verdicts) in zip(self.parts, self._verdicts.items(), strict=True)
        }

    def _cards_of(self, part: Part, place: str, verdict: Sequence[RunVerdict]) -> Block:
        if not _is_silent(part, verdict):
            return self._shown(part, self._answers[place].overview)
        whose = f"of “{part.manifest.title}” " if len(self.parts) > 1 else ""
        likely = next((one.judged.likely_setup for one in verdict if one.judged.likely_setup), "")
        looks = f"The rates look like {likely}. " if likely else ""
        advice = "Add vm and disks to learn which limit binds"
        text = f"No documented limits: the VM size {whose}is unknown. {looks}{advice}"
        return render("note", text=text, options=[])

    def _next_of(self, part: Part, place: str, verdict: Sequence[RunVerdict]) -> Block | None:
        """One job for all runs that ask for the same."""
        jobs = self._answers[place].next_runs
        return None if _is_silent(part, verdict) or not jobs.parts else self._shown(part, jobs)

    def _shown(self, part: Part, document: Document) -> Block:
        """A document, below the title of its dataset where there are several."""
        titled = Document(None, [Section(part.manifest.title, document.parts)])
        return block(titled if len(self.parts) > 1 else document)

    def _table_of(self, part: Part, place: str, verdict: Sequence[RunVerdict]) -> Block:
        columns = ["Series and workload", "Verdict", "Certain", "Second", "Most used limit"]
        rows = [
            {"entry": one.entry, "name": one.entry.name, "sub": one.workload, "cells": _cells(one)}
            for one in verdict[:MOST_ROWS]
        ]
        note = f"{self._prefix(part)}Every run with its verdict, and the second most likely cause."
        if len(verdict) > MOST_ROWS:
            note += f" The first {MOST_ROWS} of {len(verdict)}; azbench verdict tells of each."
        return render("table", id=f"{place}-verdicts", note=note, columns=columns, rows=rows, left=[1, 3])


def _is_silent(part: Part, found: Sequence[RunVerdict]) -> bool:
    """Whether no limit can be named: nothing is documented of what was measured."""
    used = part.dataset.setups["setup_id"].isin([verdict.run.setup_id for verdict in found])
    return not any(verdict.judged.limits for verdict in found) and bool(
        part.dataset.setups.loc[used, "vm_size"].isna().all()
    )


def _row(verdict: RunVerdict) -> dict[str, Any]:
    judged = verdict.judged
    top = max(judged.limits, key=lambda row: row.utilisation, default=None)
    return {
        "series": verdict.entry.name,
        "workload": verdict.workload,
        "iops": judged.iops,
        "bw_bytes_per_s": judged.bytes_per_s,
        "binding_limit": "+".join(judged.binding),
        "probability": judged.probability,
        "second": judged.runner_up,
        "most_used_limit": top.label if top else None,
        "limit": top.value if top else None,
        "utilisation": top.utilisation if top else None,
    }


def _cells(verdict: RunVerdict) -> list[str]:
    judged = verdict.judged
    top = max(judged.limits, key=lambda row: row.utilisation, default=None)
    second = ""
    if judged.runner_up:
        share = format_probability(judged.posterior.get(judged.runner_up, 0.0))
        second = f"{judged.runner_up.display_name} ({share})"
    used = f"{100 * top.utilisation:.0f} % of {sayings.counted_limit(top)}" if top else "none documented"
    sure = certainty(judged)
    return [judged.words, sure.text.removesuffix(" certain") if sure else "", second, used]
