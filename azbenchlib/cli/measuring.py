"""The verbs that measure: `azbench run`, `plan`, `status`, `schema` and `cleanup`."""

from __future__ import annotations

import getpass
import json
import os
import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azbenchlib.cli.options.azure_options import ResultsGroupOption, VmIdOption, check_vm_id
from azbenchlib.cli.options.measuring_options import AtOnceOption, QuickOption, RepeatsOption, TrustOption
from azbenchlib.cli.options.setup_options import PrintFormat, PrintOption
from azbenchlib.cli.printing.console import notes, print_json, say, working
from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.targets import check_at_once, check_cost_limit, check_target_name

if TYPE_CHECKING:
    from azbenchlib.azure.az import Az
    from azbenchlib.campaign.targets.azure.ending.orphans import OrphanedGroup

_FILE = Annotated[
    Path | None,
    typer.Argument(
        help="Measurement file (YAML), such as campaigns/ultra-disk.yaml. Default: a few emulated disks; "
        "with --target local, a small grid of workloads."
    ),
]


def run(
    file: _FILE = None,
    target: Annotated[
        str,
        typer.Option(
            help="Where to measure: lab (emulated disks), local (this machine), ssh:USER@HOST[:PORT] "
            "(a host with fio), exec:COMMAND (one behind a command: 'exec:kubectl exec -i POD --') or azure."
        ),
    ] = "lab",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Dataset folder to write; an unfinished one is resumed."),
    ] = None,
    quick: QuickOption = False,
    repeats: RepeatsOption = 0,
    trust_job_files: TrustOption = False,
    max_cost: Annotated[
        float, typer.Option(min=0, help="In Azure: what the run may cost (USD); 0: as the file says.")
    ] = 0.0,
    max_hours: Annotated[
        float, typer.Option(min=0, help="How long the run may last; 0: as the file says.")
    ] = 0.0,
    at_once: AtOnceOption = 0,
    vm_id: VmIdOption = "",
    results_group: ResultsGroupOption = False,
    show_identity: Annotated[
        bool,
        typer.Option(help="In Azure: dataset and report tell the subscription, the tenant and the user."),
    ] = False,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--parameter", "-p", help="name=value for 01_measure.ipynb; repeatable."),
    ] = None,
) -> None:
    """Measure through the notebook 01_measure.ipynb: emulated disks, this machine, or Azure.

    In Azure everything is created in one resource group, with --at-once in one for each VM, which is deleted
    at the end, also after an error or an interrupt.
    """
    check_target_name(target)
    check_cost_limit(target, max_cost)
    check_at_once(target, at_once, vm_id)
    check_vm_id(vm_id, target, results_group)
    from azbenchlib.campaign import experiment
    from azbenchlib.campaign.targets.azure.existing import VM_ID_VARIABLE
    from azbenchlib.report import execute

    unnamed = "emulated-disks" if target == "lab" else "this-machine"
    folder = output or Path("datasets") / (file.stem if file else unnamed)
    given = execute.parse_parameters(parameter or [])
    parameters = {"dataset": str(folder), "target": target, "quick": quick, "repeats": repeats, **given}
    asked = {"max_cost": max_cost, "max_hours": max_hours, "show_identity": show_identity}
    asked |= {"results_group": results_group, "at_once": at_once}
    parameters |= {name: value for name, value in asked.items() if value}
    if file:
        parameters["file"] = str(file)
        # what is refused is told before a kernel is started
        experiment.load(file, quick, trust_job_files, repeats).check_hours(at_once, max_hours)
    os.environ[experiment.TRUST_JOB_FILES] = str(int(trust_job_files))
    if vm_id:
        os.environ[VM_ID_VARIABLE] = vm_id
    for name in ("SIGTERM", "SIGHUP"):  # a polite end and a closed terminal are interrupts
        number = getattr(signal, name, None)
        if number and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    try:
        notebook = execute.find_notebook("01_measure")
        execute.run_notebook(notebook, parameters, folder / "measure.ipynb", progress=True)
    except KeyboardInterrupt as error:
        words = str(error) or "interrupted; what is finished is kept, the same command goes on from there"
        notes.print(f"azbench: {'. '.join([words, *_untold(parameters['dataset'], words)])}")
        raise
    except AzbenchError as error:
        if left := _untold(parameters["dataset"], str(error)):
            raise AzbenchError(". ".join([str(error), *left])) from error
        raise
    notes.print(f"Dataset: {folder}")


def _untold(dataset: str, words: str) -> list[str]:
    """What is noted as left in Azure and not told in the last words, as after a kernel that was killed."""
    from azbenchlib.campaign.targets.azure.ending import teardown

    noted = teardown.noted(Path(dataset), notes.print)
    return [said for group, said in noted.items() if group not in words]


def plan(
    file: Annotated[Path, typer.Argument(help="Measurement file (YAML).")],
    quick: QuickOption = False,
    repeats: RepeatsOption = 0,
    trust_job_files: TrustOption = False,
    at_once: AtOnceOption = 0,
    format_: PrintOption = PrintFormat.text,
) -> None:
    """Print the runs of a measurement file, and what it would create in Azure, command by command.

    For each workload: how long, the most IOPS that the documented limits allow, and which of them binds.
    Nothing is done, and nobody is asked.
    """
    from azbenchlib.campaign import experiment
    from azbenchlib.campaign.planning import plan_text

    todo = experiment.load(file, quick, trust_job_files, repeats)
    todo.check_hours(at_once, 0)
    if format_ is PrintFormat.json:
        print_json({**plan_text.figures(todo, at_once), "lines": list(plan_text.lines(todo, at_once))})
        return
    for line in plan_text.lines(todo, at_once):
        say(line)


def status(
    folder: Annotated[Path, typer.Argument(help="Dataset folder of a campaign.")],
    format_: PrintOption = PrintFormat.text,
) -> None:
    """Print how far a campaign is: runs that are kept, the one in hand, the next, the time left."""
    from azbenchlib.campaign import status as campaign_status

    found = campaign_status.of(folder)
    if format_ is PrintFormat.json:
        print_json(found.to_json())
        return
    for line in found.lines():
        say(line)


def schema(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; default: standard output.")
    ] = None,
) -> None:
    """Print the JSON Schema of the measurement file, by which editors complete and check it."""
    from azbenchlib.campaign.files import file_schema
    from azbenchlib.core.files import write_atomically

    text = json.dumps(file_schema.document(), indent=1, ensure_ascii=False)
    if output is None:
        say(text)
        return
    write_atomically(output, f"{text}\n".encode())
    notes.print(f"Schema: {output}")


def cleanup(
    yes: Annotated[
        bool, typer.Option("--yes", help="Delete your expired groups, or the named group.")
    ] = False,
    all_owners: Annotated[
        bool,
        typer.Option("--all-owners", help="With --yes: also delete expired groups of other owners."),
    ] = False,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="With --yes: also delete groups of other owners, and of runs that may still go on."
        ),
    ] = False,
    group: Annotated[str, typer.Option(help="Only this one of the list, whoever its owner is.")] = "",
    subscription: Annotated[
        str, typer.Option(help="Id or name of the subscription; default: the one that az is set to.")
    ] = "",
    format_: PrintOption = PrintFormat.text,
) -> None:
    """List what runs of azbench left in an Azure subscription, and delete it with --yes.

    Without --all or --group, only expired groups of runs that are no longer alive are deleted, and only yours
    without --all-owners. Of a group that azbench did not make, only the things that a run made are deleted.
    """
    from azbenchlib.azure.az import Az
    from azbenchlib.campaign.targets.azure.ending import orphans, things

    az = Az.find().within(subscription)
    with working("Asking Azure"):
        az = az.within(orphans.subscription(az)[0])
        found = [left for left in things.find(az) if group in ("", left.group, left.where)]
    owner, now = getpass.getuser(), datetime.now(UTC)
    whose = {left.where: left.owner if all_owners else owner for left in found}
    kept_because = {left.where: left.kept_because(whose[left.where], now) for left in found}
    taken = [left for left in found if everything or group == left.where or not kept_because[left.where]]
    left_of: dict[str, str] = {}
    if format_ is PrintFormat.json:
        try:
            if yes:
                _delete(az, taken, left_of)
        finally:  # what became of each is told whatever happened
            told = [
                vars(left)
                | {"kept": "" if left in taken else kept_because[left.where]}
                | {"deleted": left_of.get(left.where) == "", "left": left_of.get(left.where) or None}
                for left in found
            ]
            print_json({"subscription": az.subscription, "groups": told})
        return
    if not found:
        what = f"No resource group {group}" if group else "Nothing"
        notes.print(f"{what} of azbench is in this subscription ({az.subscription}).")
        return
    for left in found:
        kept = kept_because[left.where]
        about = [left.region, f"owner {left.owner}", f"expires {left.expires}", left.state]
        fate = f"to be deleted{kept and f', although {kept}'}" if left in taken else f"kept: {kept}"
        say(f"{left.where}  ({', '.join(about)})  {fate}")
    if yes:
        _delete(az, taken, left_of)
    else:
        ways = "`azbench cleanup --yes` deletes yours that have expired; --all-owners others' too."
        notes.print(ways)


def _delete(az: Az, taken: list[OrphanedGroup], left_of: dict[str, str]) -> None:
    """Delete what runs left, one after the other; an interrupt ends it with the names of what is left.

    `left_of` takes what is left of each, in words; empty: nothing.
    """
    from azbenchlib.campaign.targets.azure.ending import things

    for number, one in enumerate(taken):
        deleted = things.delete(az, one.group, one.prefix, lambda text: notes.print(text))
        left_of[one.where] = deleted.left
        if deleted.interrupted:
            left_of |= {
                other.where: things.warning(az, other.group, other.prefix, "not begun")
                for other in taken[number + 1 :]
            }
            notes.print(f"azbench: interrupted. {'; '.join(filter(None, left_of.values()))}")
            raise KeyboardInterrupt
    if left := "; ".join(filter(None, left_of.values())):
        raise AzbenchError(left)
    notes.print(f"Deleted: {len(taken)}.")
