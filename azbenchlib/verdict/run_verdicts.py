"""Verdicts of the runs of a dataset, each on the setup that the dataset names or on one that is given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from azbenchlib.analysis.concurrency import counted
from azbenchlib.analysis.observation import Observation
from azbenchlib.analysis.runs import Run, Tables, runs
from azbenchlib.analysis.sweeps import swept_folders
from azbenchlib.azure import catalog
from azbenchlib.core.errors import InputError
from azbenchlib.core.findings import Code, Finding
from azbenchlib.model.descriptions import stated_setup
from azbenchlib.model.fill_from_catalogue import over_nvme
from azbenchlib.model.labels import Label
from azbenchlib.model.setup import Setup
from azbenchlib.verdict.judgement import Judgement, OtherRows, Rows, judge_flows
from azbenchlib.verdict.limit_sources import other_rows, resolved, rows
from azbenchlib.verdict.ratios import with_ratios
from azbenchlib.verdict.sweep import with_unloaded
from azbenchlib.verdict.unstated import LikelySetup, likely_setup, without_setup


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A run with its judgement, and the setup with the limits that it was judged by."""

    run: Run
    judgement: Judgement
    setup: Setup


@dataclass(frozen=True, kw_only=True)
class _Limits:
    """A setup with its limits, where they are documented, and what the catalogue could not tell."""

    setup: Setup
    rows: Rows
    other_rows: OtherRows
    findings: tuple[Finding, ...]
    likely: LikelySetup | None = None

    @property
    def stated(self) -> bool:
        """Whether anything is said of the setup."""
        return not any(finding.code == Code.SETUP_NOT_KNOWN for finding in self.findings)


def judge_runs(
    tables: Tables, setup: Setup | None = None, as_of: str | None = None, nvme: bool = False
) -> list[Judged]:
    """Every run with its judgement.

    Parameters
    ----------
    tables : mapping of str to DataFrame
    setup : Setup, optional
        What all runs were made on, as it was described. None: as the dataset says.
    as_of : str, optional
        ISO day whose limits apply instead of the setup's own.
    nvme : bool
        Whether remote disks hang on the NVMe interface of the VM; else on SCSI.
    """
    known = runs(tables)
    limits = {
        name: _limits(setup or stated_setup(tables, name), as_of, nvme)
        for name in {run.setup_id for run in known}
    }
    judged = {
        run.run_ids: Judged(run=run, judgement=_judge(run, mine, others), setup=mine.setup)
        for group in _on_one_setup(tables, known, setup is not None)
        for mine in [_looked_like(limits[group[0].setup_id], group)]
        for others in [[flow.observation for run in group for flow in run.flows]]
        for run in _with_unloaded(group)
    }
    return with_ratios([judged[run.run_ids] for run in known])


def looks(tables: Tables) -> list[str] | None:
    """What the runs look like whose setup is not stated, by the documents of today; None: each is stated.

    Parameters
    ----------
    tables : mapping of str to DataFrame

    Returns
    -------
    list of str
        Such as a P30: 5,000 IOPS, within 2 %; each once. Empty where none can be named.
    """
    day, some = date.today().isoformat(), False
    found: dict[str, None] = {}
    for group in _on_one_setup(tables, runs(tables), is_given=False):
        if _is_stated(stated_setup(tables, group[0].setup_id)):
            continue
        some = True
        if likely := likely_setup((flow for run in group for flow in run.flows), day):
            found[likely.words()] = None
    return list(found) if some else None


def _is_stated(setup: Setup) -> bool:
    """Whether anything is said of the VM size or the disks."""
    return bool(setup.disks or setup.vm.size)


def _limits(stated: Setup, as_of: str | None, nvme: bool) -> _Limits:
    full, findings = resolved_setup(stated, as_of, nvme)
    return _Limits(setup=full, rows=rows(full, stated), other_rows=other_rows(full), findings=findings)


def _looked_like(limits: _Limits, group: Sequence[Run]) -> _Limits:
    """The limits, with the documented disk that the runs look like where no setup is stated."""
    if limits.stated:
        return limits
    flows = (flow for run in group for flow in run.flows)
    return replace(limits, likely=likely_setup(flows, str(limits.setup.as_of)))


def _judge(run: Run, limits: _Limits, others: Sequence[Observation]) -> Judgement:
    """The judgement of a run, with all findings about it and its setup, one a code."""
    dilated = [finding for finding in run.findings if finding.code == Code.TIME_SCALE_UNKNOWN]
    try:
        judgement = (
            Judgement.undecided(dilated, (Label.UNKNOWN,))
            if dilated
            else judge_flows(
                run.flows,
                limits.setup,
                rows=limits.rows,
                other_rows=limits.other_rows,
                other_runs=others,
            )
        )
    except InputError as error:
        judgement = Judgement.undecided([Finding.of(Code.NOT_DECIDABLE, str(error))], (Label.UNKNOWN,))
    by_code = {finding.code: finding for finding in (*judgement.findings, *limits.findings, *run.findings)}
    judgement = replace(judgement, findings=tuple(reversed(by_code.values())))
    return judgement if limits.stated else without_setup(judgement, run.flows, limits.likely)


def _on_one_setup(tables: Tables, found: Iterable[Run], is_given: bool) -> list[list[Run]]:
    """The runs of each setup; where none is stated or given for all, those of each file, or of each folder
    whose files sweep the queue depth of one target.
    """
    rows = tables["runs"][counted(tables)]
    rows = rows[rows["setup_id"].isna()]
    folders = dict(zip(rows["source_path"], swept_folders(rows).fillna(rows["source_path"]), strict=True))
    groups: dict[tuple[str | None, str], list[Run]] = defaultdict(list)
    for run in found:
        known = is_given or run.setup_id is not None
        groups[run.setup_id, "" if known else folders.get(run.source, run.source)].append(run)
    return list(groups.values())


def _with_unloaded(group: list[Run]) -> list[Run]:
    """The runs of one setup, each with the unloaded latency that the lightest of its kind show."""
    flows = with_unloaded([flow for run in group for flow in run.flows])
    changed = []
    for run in group:
        mine, flows = flows[: len(run.flows)], flows[len(run.flows) :]
        changed.append(replace(run, flows=tuple(mine)))
    return changed


def resolved_setup(stated: Setup, as_of: str | None, nvme: bool) -> tuple[Setup, tuple[Finding, ...]]:
    """The setup with the catalogue's figures; as it is stated, with a finding, where it has none."""
    day = as_of or stated.as_of or date.today().isoformat()
    dated = replace(stated, as_of=day)
    if not _is_stated(stated):
        what = "the setup is not known, so none of its limits is known"
        return dated, (Finding.of(Code.SETUP_NOT_KNOWN, what),)
    full, findings = resolved(dated, day)
    if nvme and full.vm.size:
        full = replace(full, vm=over_nvme(full.vm, catalog.vm(full.vm.size, full.as_of)))
    return full, findings
