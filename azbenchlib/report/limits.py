"""What `03_limits.ipynb` shows: each method of :class:`Limits` is one of its cells."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from azbenchlib import dataset
from azbenchlib.analyse.verdict import words as verdict_words
from azbenchlib.dataset import Dataset
from azbenchlib.errors import InputError
from azbenchlib.model import VM, Setup, notation
from azbenchlib.report import method, roofs, verdicts
from azbenchlib.report.blocks import Block, render
from azbenchlib.report.content import MOST_ROWS, Part, homes
from azbenchlib.report.verdicts import Told

LOG_NEEDED = ["--write_iops_log=NAME --log_avg_msec=500"]
MOST_JOBS = 12


class Limits:
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

    Raises
    ------
    InputError
        When a dataset cannot be read, or a disk is not in the notation.
    """

    def __init__(
        self,
        datasets: Sequence[str],
        *,
        vm: str = "",
        disks: Sequence[str] = (),
        as_of: str = "",
        nvme: bool = False,
    ) -> None:
        if not datasets:
            raise InputError("limits need at least one dataset")
        if vm and not disks:
            raise InputError(f"disks: say what was driven on the {vm}, such as P30 or temp")
        setup = Setup(VM(size=vm or None), notation.parse_disks(disks)) if disks else None
        folders = [dataset.resolve(name, homes()) for name in datasets]
        self.parts = [Part(Dataset.load(folder), folder) for folder in folders]
        self._told = [verdicts.tell(part, setup, as_of or None, nvme) for part in self.parts]

    def cards(self) -> Block:
        """A card for all runs that tell the same."""
        return self._each(lambda part, _, told: verdicts.cards(part, told, self._group(part)))

    def roofline(self) -> Block:
        """The most that is documented at each block size, and what was measured."""
        return self._each(
            lambda part, place, told: roofs.roofline(part, place, told, self._group(part)),
            "has no run with a documented limit: nothing to draw",
        )

    def over_time(self) -> Block:
        """Rates over time below their limits, with burst credits where they can be told."""
        return self._each(
            lambda part, place, told: roofs.over_time(part, place, told, self._group(part)),
            "has no log of IOPS of a run with a documented limit. To have it next time, run fio with",
            LOG_NEEDED,
        )

    def next_runs(self) -> Block:
        """The runs that would settle what is open, as fio jobs."""
        return self._each(self._next_of, "leaves no doubt that another run would settle")

    def table(self) -> Block:
        """Every verdict in a row, with the second most likely label."""
        return self._each(self._table_of)

    def doubts(self) -> Block:
        """What makes the verdicts doubtful, and what reading found doubtful."""

        def both(part: Part, place: str, told: Sequence[Told]) -> Block:
            read = method.trust(part, place, self._group(part))
            more = verdicts.doubts(part, place, told, self._group(part))
            return read + more if more else read

        return self._each(both)

    def _each(
        self,
        make: Callable[[Part, str, Sequence[Told]], Block | None],
        lacks: str = "",
        options: Sequence[str] = (),
    ) -> Block:
        """The block of every dataset, or a sentence that says what it lacks."""
        made = []
        for i, (part, told) in enumerate(zip(self.parts, self._told, strict=True)):
            block = make(part, f"d{i}", told)
            if block is None:
                block = render("note", text=f"“{part.manifest.title}” {lacks}", options=options)
            made.append(block.html)
        return Block("\n".join(made))

    def _group(self, part: Part) -> dict[str, str] | None:
        """Title of a dataset's share, where there are several."""
        return {"title": part.manifest.title} if len(self.parts) > 1 else None

    def _next_of(self, part: Part, _: str, told: Sequence[Told]) -> Block | None:
        """One job for all runs that ask for the same."""
        if verdicts.silent(part, told):
            return None
        asked: dict[str, list[Told]] = {}
        for one in told:
            if one.judged.next_run:
                asked.setdefault(one.judged.next_run.advice, []).append(one)
        jobs = [
            {
                "advice": advice[:1].upper() + advice[1:],
                "whose": f"{some[0].entry.name}, {some[0].workload}",
                "others": len(some) - 1,
                "job": some[0].judged.next_run.job,
            }
            for advice, some in list(asked.items())[:MOST_JOBS]
            if some[0].judged.next_run
        ]
        return render("verdict_next", jobs=jobs, group=self._group(part)) if jobs else None

    def _table_of(self, part: Part, place: str, told: Sequence[Told]) -> Block:
        columns = ["Series and workload", "Verdict", "Certain", "Second", "Most used limit"]
        rows = [
            {"entry": one.entry, "name": one.entry.name, "sub": one.workload, "cells": _cells(one)}
            for one in told[:MOST_ROWS]
        ]
        note = f"{part.manifest.title}: " if self._group(part) else ""
        note += "Every run with its verdict, and the second most likely cause."
        if len(told) > MOST_ROWS:
            note += f" The first {MOST_ROWS} of {len(told)}; azbench verdict tells of each."
        return render("table", id=f"{place}-verdicts", note=note, columns=columns, rows=rows, left=[1, 3])


def _cells(told: Told) -> list[str]:
    judged = told.judged
    top = max(judged.limits, key=lambda row: row.utilisation, default=None)
    second = ""
    if judged.runner_up:
        share = verdicts.percent(judged.posterior.get(judged.runner_up, 0.0))
        second = f"{verdict_words.name(judged.runner_up)} ({share})"
    used = f"{100 * top.utilisation:.0f} % of {verdicts.limit_text(top)}" if top else "none documented"
    return [judged.words, verdicts.certainty(judged).removesuffix(" certain"), second, used]
