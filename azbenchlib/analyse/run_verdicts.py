"""Verdicts of the runs of a dataset, each on the setup that the dataset names or on one that is given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import date

from azbenchlib import catalog
from azbenchlib.analyse.case_verdicts import nothing
from azbenchlib.analyse.runs import Run, Tables, runs
from azbenchlib.analyse.verdict import ratios
from azbenchlib.analyse.verdict.gates import Finding
from azbenchlib.analyse.verdict.judgement import Judgement, judge_flows
from azbenchlib.analyse.verdict.rows import other_rows, resolved, rows
from azbenchlib.analyse.verdict.sweep import with_unloaded
from azbenchlib.errors import InputError
from azbenchlib.model import described
from azbenchlib.model.setup import Cap, Setup

Judged = tuple[Run, Judgement]


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
    found = runs(tables)
    ids = {run.setup_id for run in found}
    stated = {name: setup or stated_setup(tables, name) for name in ids}
    known = {name: resolved_setup(one, as_of, nvme) for name, one in stated.items()}
    judged: list[Judged] = []
    for name, group in _by_setup(found).items():
        full, findings = known[name]
        where, others = rows(full, stated[name]), other_rows(full)
        for run in _lit(group):
            try:
                got = judge_flows(run.flows, full, rows=where, other_rows=others)
            except InputError as error:
                got = nothing([Finding("warning", "not_decidable", str(error))], ("unknown",))
            told = {finding.code: finding for finding in (*got.findings, *findings, *run.findings)}
            judged.append((run, replace(got, findings=tuple(reversed(told.values())))))
    place = {run.run_ids: i for i, run in enumerate(found)}
    return ratios.with_ratios(
        sorted(judged, key=lambda pair: place[pair[0].run_ids]), {name: one[0] for name, one in known.items()}
    )


def _by_setup(found: Iterable[Run]) -> dict[str | None, list[Run]]:
    groups: dict[str | None, list[Run]] = defaultdict(list)
    for run in found:
        groups[run.setup_id].append(run)
    return groups


def _lit(group: list[Run]) -> list[Run]:
    """The runs of one setup, each with the unloaded latency that the lightest of its kind show."""
    flows = with_unloaded([flow for run in group for flow in run.flows])
    lit = []
    for run in group:
        mine, flows = flows[: len(run.flows)], flows[len(run.flows) :]
        lit.append(replace(run, flows=tuple(mine)))
    return lit


def stated_setup(tables: Tables, name: str | None) -> Setup:
    """The setup as the dataset describes it; an empty one where it does not."""
    setups = tables["setups"]
    mine = setups[setups["setup_id"] == name] if name is not None else setups[:0]
    if mine.empty:
        return Setup()
    disks = tables["disks"]
    return described.from_rows(mine.iloc[0].to_dict(), disks[disks["setup_id"] == name])


def resolved_setup(stated: Setup, as_of: str | None, nvme: bool) -> tuple[Setup, tuple[Finding, ...]]:
    """The setup with the catalogue's figures; as it is stated, with a finding, where it has none."""
    day = as_of or stated.as_of or date.today().isoformat()
    dated = replace(stated, as_of=day)
    if not stated.disks and not stated.vm.size:
        what = "the setup is not known, so no limit is"
        return dated, (Finding("warning", "setup_not_known", what, "Add --vm and --disk"),)
    full, findings = resolved(dated, day)
    return (_over_nvme(full) if nvme else full), findings


def _over_nvme(setup: Setup) -> Setup:
    """The VM with the uncached limits of its NVMe interface, as far as they are documented apart."""
    if not setup.vm.size:
        return setup
    row = catalog.vm(setup.vm.size, setup.as_of)

    def cap(path: str, scsi: Cap) -> Cap:
        kinds = [f"{kind}{quantity}" for kind in ("", "burst_") for quantity in ("iops", "bytes_per_s")]
        found = {name: row.best(f"{path}_{name}{catalog.OVER_NVME}") for name in kinds}
        return replace(scsi, **{name: limit.value for name, limit in found.items() if limit is not None})

    vm = setup.vm
    v2 = cap("uncached_v2", vm.uncached_v2)
    return replace(setup, vm=replace(vm, uncached=cap("uncached", vm.uncached), uncached_v2=v2))
