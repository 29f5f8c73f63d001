"""One dataset of a report: what its sections share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import pandas as pd

from azbenchlib import plots
from azbenchlib.analysis import grouping, matched_runs, setup_names, summary
from azbenchlib.analysis.lone_logs import with_rates_of_logs
from azbenchlib.analysis.over_time.monitored import Monitor
from azbenchlib.analysis.over_time.phases import in_words
from azbenchlib.analysis.over_time.rate_courses import courses
from azbenchlib.analysis.over_time.sustained import phases_of
from azbenchlib.analysis.runs import Run
from azbenchlib.analysis.surfaces import off_surfaces
from azbenchlib.answers.curve_verdict import CurveVerdict, curve_verdicts
from azbenchlib.answers.next_step import NextSteps
from azbenchlib.answers.surface_verdict import SurfaceVerdict, surface_verdicts
from azbenchlib.azure.prices.book import USD
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Finding, Severity, without_label
from azbenchlib.core.palette import COLOURS, HOLLOW_CHARS, MARKER_CHARS, shape_of
from azbenchlib.cost.priced_setups import Priced, Terms, measured_setups
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.probed import ProbeRecord, read_probe
from azbenchlib.model.setup import Setup
from azbenchlib.verdict import text
from azbenchlib.verdict.judgement import Judgement
from azbenchlib.verdict.run_verdicts import Judged, judge_runs


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A series as it appears on the page.

    Attributes
    ----------
    key, name, short, detail : str
    slot : int
        The number of its setup on the page, from 0 on; it gives colour and marker.
    twin : bool
        Whether it is the published twin of an emulated setup, which has the same slot and is filled.
    """

    key: str
    name: str
    short: str
    detail: str
    slot: int
    twin: bool = False

    def begun(self, text: str) -> str:
        """A text that begins a sentence: with a capital, unless it begins with the name of a folder."""
        if self.detail and self.key.endswith(self.name) and text.startswith(self.name):
            return text
        return f"{text[:1].upper()}{text[1:]}"

    @property
    def colour(self) -> int:
        """Which of the colours of the style sheet."""
        return self.slot % len(COLOURS)

    @property
    def char(self) -> str:
        """Its marker in text."""
        chars = HOLLOW_CHARS if self.twin else MARKER_CHARS
        return chars[shape_of(self.slot)]

    @property
    def drawn(self) -> plots.Series:
        """The series as figures take it."""
        kind = plots.TwinSeries if self.twin else plots.Series
        return kind(self.key, self.name, self.short, self.slot)


@dataclass(frozen=True, kw_only=True)
class RunVerdict:
    """One run as it stands on the page: what binds it, its setup with limits, its series and workload."""

    run: Run
    judged: Judgement
    setup: Setup
    entry: Entry
    workload: str

    @property
    def load(self) -> float:
        """The largest use of a limit; 0 where none is documented."""
        return self.judged.peak_use

    @property
    def at_limit(self) -> bool:
        """Whether a documented limit probably binds."""
        return self.judged.probably_at_limit

    @property
    def rates(self) -> str:
        """What the run got; the phases of its rate, where it had several."""
        return in_words(phases_of(self.run)) or text.rates(self.judged)

    @property
    def notes(self) -> list[Finding]:
        """What judging found doubtful and bears on this verdict; the table of doubts has it all."""
        known = {finding.code for finding in self.run.findings}
        return [finding for finding in self.judged.doubts if finding.code not in known]


class Part:
    """One dataset of a report: its arrangement and the entries that stand for its series; `currency` is that
    of its prices.
    """

    def __init__(self, dataset: Dataset, folder: Path, currency: str = USD) -> None:
        if dataset.manifest is None:
            raise InputError(f"{folder}: a report needs a dataset folder with a manifest.json")
        self.folder, self.manifest = folder, dataset.manifest
        tables = with_rates_of_logs(dataset.tables)
        self.dataset = dataset if tables is dataset.tables else replace(dataset, tables=dict(tables))
        self.arrangement = grouping.arrange(tables)
        if self.arrangement.runs.empty:
            raise InputError(f"{folder}: no run with a rate or a percentile; there is nothing to report")
        self.slots = {str(key): (i, False) for i, key in enumerate(self.arrangement.series["key"])}
        self.currency = currency
        self.is_alone = True  # in its report, until `number` says otherwise

    @property
    def emulated(self) -> bool:
        """Whether its disks are those of the lab."""
        return bool((self.dataset.setups["environment"] == "lab").any())

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """By series key, with the slots that the page has given; see :func:`number`."""
        rows = self.arrangement.series.itertuples()
        whose = f"{self._setup_name}, " if not self.is_alone and self._setup_name else ""
        return {
            str(row.key): Entry(
                key=str(row.key),
                name=f"{whose}{row.label}",
                short=str(row.short),
                detail=str(row.detail),
                slot=self.slots[str(row.key)][0],
                twin=self.slots[str(row.key)][1],
            )
            for row in rows
        }

    @property
    def _setup_name(self) -> str:
        """What the only setup is called; empty where there are several, or it is not stated."""
        tables, first = self.dataset.tables, self.arrangement.runs.iloc[0]
        if self.arrangement.by == "setup" or not first["stated"]:
            return ""
        named = setup_names.setup_labels(tables["setups"], tables["disks"], [first["setup_id"]])
        return str(named["label"].iloc[0])

    def is_comparable(self, series: str) -> bool:
        """Whether a series may be compared with others: its setup is stated, or all are of one."""
        return self.arrangement.by != "setup" or series in self._stated

    @cached_property
    def _stated(self) -> set[str]:
        runs = self.arrangement.runs
        return set(runs.loc[runs["stated"], "series"])

    @property
    def setup_ids(self) -> set[str]:
        """The setups that were measured."""
        return set(self.arrangement.runs["setup_id"])

    @cached_property
    def priced(self) -> dict[str, Priced]:
        """The measured setups of Azure with their bills: where each was measured, at the newest prices."""
        return measured_setups(self.dataset.tables, self.setup_ids, Terms(currency=self.currency))

    @cached_property
    def next_steps(self) -> NextSteps:
        """What to change where a limit binds, at the prices of where each setup was measured."""
        return NextSteps(self.dataset.tables, self.currency)

    @cached_property
    def cards(self) -> list[summary.Card]:
        """The figures of each series, unformatted; what is on surfaces is left out."""
        return summary.cards(self._off_surfaces, self.dataset.tables, self.curves)

    @cached_property
    def _off_surfaces(self) -> grouping.Arrangement:
        return off_surfaces(self.arrangement)

    @cached_property
    def surfaces(self) -> list[SurfaceVerdict]:
        """The tests of iozone over the sizes of records and files, with the verdicts of their figures."""
        return self.surfaces_of(self.verdicts)

    def surfaces_of(self, verdicts: Sequence[RunVerdict]) -> list[SurfaceVerdict]:
        """The surfaces with these verdicts of their figures."""
        judged = {run_id: one.judged for one in verdicts for run_id in one.run.run_ids}
        return surface_verdicts(self.arrangement, self.dataset.tables, judged)

    @cached_property
    def curves(self) -> pd.DataFrame:
        """The percentile curve of each series and workload; see :func:`.grouping.curves`."""
        return grouping.curves(self.arrangement, self.dataset.tables)

    @cached_property
    def rate_courses(self) -> pd.DataFrame:
        """The rates over time of what logged them; see :func:`.rate_courses.courses`."""
        return courses(self.arrangement, self.dataset.tables)

    @cached_property
    def workloads(self) -> dict[str, tuple[str, str]]:
        """Series key of each run, and the workload of all that ran at once with it."""
        rows = self.arrangement.runs
        return {
            str(row.run_id): (str(row.series), str(row.whole))
            for row in rows.drop_duplicates("run_id").itertuples()
        }

    @cached_property
    def doubts(self) -> dict[str, list[tuple[str, str]]]:
        """By run: code and text of each finding that makes it doubtful, without the names of file and job."""
        jobs = self.dataset.runs.dropna(subset=["job"]).set_index("run_id")["job"].to_dict()
        found = self.dataset.findings
        severe = found[found["run_id"].notna() & (found["severity"] != Severity.INFO)].fillna("")
        told: dict[str, list[tuple[str, str]]] = {}
        for row in severe.itertuples():
            message = without_label(str(row.message), str(row.source_path), jobs.get(row.run_id))
            told.setdefault(str(row.run_id), []).append((str(row.code), message))
        return told

    @cached_property
    def verdicts(self) -> list[RunVerdict]:
        """Which limit binds each run, on the setup that the dataset states."""
        return verdicts_of(self)

    @cached_property
    def curve_verdicts(self) -> list[CurveVerdict]:
        """The curves over the queue depth and other axes, with the verdicts of their points."""
        return self.curves_of(self.verdicts)

    def curves_of(self, verdicts: Sequence[RunVerdict]) -> list[CurveVerdict]:
        """The curves over the queue depth and other axes, with these verdicts of their points."""
        judged = {run_id: one.judged for one in verdicts for run_id in one.run.run_ids}
        return curve_verdicts(self._off_surfaces, self.dataset.tables, judged, self.curves)

    @cached_property
    def points_of_curves(self) -> set[tuple[str, str]]:
        """Series and facet of what the figures over load show, where no other setup is compared with it."""
        points = {(point.series, point.facet) for one in self.curve_verdicts for point in one.curve.points}
        rows = self.arrangement.runs[["series", "facet", "whole"]].drop_duplicates()
        if self.arrangement.by == "setup":
            rows = rows[~rows["series"].isin(self._stated)]
        return {(row.series, row.facet) for row in rows.itertuples() if (row.series, row.whole) in points}

    @cached_property
    def probe(self) -> ProbeRecord | None:
        """What a probe found, where the dataset is one."""
        return read_probe(self.folder)

    @cached_property
    def monitor(self) -> Monitor:
        """What Azure Monitor says of the runs."""
        return Monitor(self.dataset.tables)

    @cached_property
    def groups(self) -> list[list[plots.Series]]:
        """The series in groups of six at the most, as the figures take them: as many as are needed, of
        much the same size.
        """
        every = [entry.drawn for entry in self.entries.values()]
        n = -(-len(every) // len(COLOURS))
        edges = [i * len(every) // n for i in range(n + 1)]
        return [every[begin:end] for begin, end in pairwise(edges)]


def number(parts: Sequence[Part]) -> None:
    """Give every setup of a page a slot of its own; a published twin of an emulated setup has the same.

    Beside other datasets, one that compares loads of one setup says which setup that is.
    """
    following = 0
    for part in parts:
        part.is_alone = len(parts) == 1
    emulated = [part for part in parts if part.emulated]
    for part in parts:
        twins: dict[str, int] = {}
        for other in emulated if not part.emulated else []:
            found = matched_runs.twins(other.dataset.tables, part.dataset.tables)
            known = {key: other.slots[mine][0] for key, mine in found.items() if mine in other.slots}
            twins = {**known, **twins}
        for key in part.slots:
            part.slots[key] = (twins.get(key, following), key in twins)
            following += key not in twins


def verdicts_of(
    part: Part, setup: Setup | None = None, as_of: str | None = None, nvme: bool = False
) -> list[RunVerdict]:
    """Every run of a dataset's share with its verdict; the arguments are those of ``judge_runs``."""
    judged = judge_runs(part.dataset.tables, setup, as_of, nvme)
    return [verdict for one in judged if (verdict := _run_verdict(part, one))]


def _run_verdict(part: Part, judged: Judged) -> RunVerdict | None:
    """None for a run that the report leaves out, such as an interim state."""
    rows = next((part.workloads[name] for name in judged.run.run_ids if name in part.workloads), None)
    if rows is None:
        return None
    series, workload = rows
    return RunVerdict(
        run=judged.run,
        judged=judged.judgement,
        setup=judged.setup,
        entry=part.entries[series],
        workload=workload,
    )
