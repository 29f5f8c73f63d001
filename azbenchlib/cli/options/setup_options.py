"""How a VM with its disks is told on the command line, the same for every verb."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from azbenchlib.core.documents import decoded
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import read_regular
from azbenchlib.core.grouping import GroupBy
from azbenchlib.core.units import MIB

if TYPE_CHECKING:
    from azbenchlib.dataset.dataset import Dataset
    from azbenchlib.model import Setup


_LARGEST_JSON = 64 * MIB  # of a VM with all that az tells, some kilobytes; of a cluster, 30 KiB a node


class PrintFormat(StrEnum):
    """What a verb prints that has no other form."""

    text = "text"
    json = "json"


SetupArgument = Annotated[
    str | None,
    typer.Argument(help="A dataset or a measurement file; with /SETUP behind it where there are several."),
]
VmOption = Annotated[
    str | None,
    typer.Option(
        help="VM size; `azbench advise` and `size` take a pattern such as Standard_E* too, other verbs a "
        "file with the JSON of az vm show, or of kubectl get pod,pvc,pv,sc,node (FILE.json/POD).",
    ),
]
DiskOption = Annotated[
    list[str] | None,
    typer.Option(
        help="P30, P30x4:ReadOnly (striped), os:P4:ReadWrite, P30:burst (on demand), "
        "ultra:128GiB/10000iops/50MBps, temp, nvme, ephemeral:cache, or a file with the JSON of az disk "
        "show, or of kubectl get pod,pvc,pv,sc,node (FILE.json/POD); repeatable.",
    ),
]
OutputsArgument = Annotated[
    list[str],
    typer.Argument(
        help="Outputs of benchmarks, folders or trees of them, - for standard input, or datasets by name or "
        "folder; DATASET/SETUP for one setup of it."
    ),
]
GroupByOption = Annotated[
    GroupBy | None,
    typer.Option(
        help="Which runs whose setup is not stated share one setup, and so may be repeats: those of a file "
        "(path, each run for itself), folder, host or job, or all (setup). With --vm or --disk all do; where "
        "several folders are named that measured the same, those of a folder.",
        show_default=False,
    ),
]
PrintOption = Annotated[
    PrintFormat, typer.Option("--format", help="What to print: text for people, or one JSON object.")
]
DayOption = Annotated[
    str | None,
    typer.Option(
        help="Day whose limits and prices count, such as 2026-11-20. Default: that of the setup, else today.",
    ),
]


def described_setup(
    setup: str | None,
    vm: str | None,
    disks: list[str],
    as_of: str | None,
    vm_is_enough: bool = False,
    open_sizes: bool = False,
) -> Setup:
    """The setup that the arguments describe, before the catalogue fills it in."""
    from dataclasses import replace

    from azbenchlib.model import Setup, notation

    if setup is not None:
        if vm is not None or disks:
            raise InputError("give either a dataset or --vm and --disk, not both")
        found = _from_dataset(setup)
        return replace(found, as_of=as_of) if as_of else found
    if not disks and not (vm and vm_is_enough) and not _is_json(vm or ""):
        raise InputError("no disk is given; add --disk, such as --disk P30 or --disk temp")
    written = notation.stated_setup(
        None if vm is None or _is_json(vm) else vm,
        [text for text in disks if not _is_json(text)],
        open_sizes=open_sizes,
    )
    shown = _shown_by_az(vm if vm and _is_json(vm) else None, [text for text in disks if _is_json(text)])
    machine = shown.vm if vm is None or _is_json(vm) else written.vm
    if shown.vm.size and shown.vm.size != machine.size:
        from azbenchlib.cli.printing.console import notes

        notes.print(f"--vm {machine.size} counts, though the node is a {shown.vm.size}.")
    return Setup(machine, notation.with_names((*shown.disks, *written.disks)), as_of)


def _shown_by_az(vm: str | None, disks: Sequence[str]) -> Setup:
    """The setup that files describe: with the JSON of ``az vm show`` and ``az disk show``, or of kubectl."""
    from azbenchlib.model import Setup

    if vm is None and not disks:
        return Setup()
    from azbenchlib.azure.documents import AzDisk, AzVm
    from azbenchlib.model.from_azure import from_az

    contents = {text: _json(text) for text in (*([vm] if vm else []), *disks)}
    if any("apiVersion" in content for content in contents.values()):  # every object of Kubernetes has it
        return _shown_by_kubectl(contents)
    shown = [AzDisk.parse(contents[text], text) for text in disks]
    machine = None if vm is None else AzVm.parse(contents[vm], vm)
    try:
        return from_az(machine, shown)
    except InputError as error:
        raise InputError(f"{vm or disks[0]}: {error}") from error


def _shown_by_kubectl(contents: Mapping[str, Any]) -> Setup:
    """The setup of a pod; what is open, and what is taken because nothing says otherwise, is told."""
    from azbenchlib.campaign.detect import pod
    from azbenchlib.cli.printing.console import notes
    from azbenchlib.model import VM, Setup

    if len(contents) > 1:
        raise InputError(f"{', '.join(contents)}: a file of kubectl tells all of a pod; name it alone")
    ((text, content),) = contents.items()
    facts = pod.saved(content, _file_of(text)[1], text)
    for note in facts.notes:
        notes.print(note)
    if not facts.setup.disks:
        raise InputError(f"{text}: tells no disk of Azure that the pod has")
    return Setup(VM(size=facts.setup.vm_size), tuple(row.to_disk() for row in facts.setup.disks))


def opened(
    names: Sequence[str],
    vm: str | None = None,
    disks: Sequence[str] = (),
    region: str | None = None,
    group_by: GroupBy | None = None,
    as_of: str | None = None,
) -> list[Dataset]:
    """What the user named, each with a manifest; what is said of setups holds where nothing states them."""
    from azbenchlib.cli.printing.console import working
    from azbenchlib.dataset.names import check_names

    check_names(names)  # a wrong name is told before anything is loaded
    from azbenchlib.dataset.dataset import Dataset
    from azbenchlib.dataset.setups import Assumed

    setup = None
    if vm or disks:
        setup = described_setup(None, vm, list(disks), as_of, vm_is_enough=True, open_sizes=True)
    assumed = Assumed(setup, None if region is None else known_region(region))
    with working("Reading"):
        return Dataset.load_each(names, assumed=assumed, group_by=group_by)


def known_region(text: str) -> str:
    """The name of a region, as Azure writes it; refused where no price is known for it."""
    from azbenchlib.azure.prices.book import check_region

    return check_region(text)


def _from_dataset(text: str) -> Setup:
    name, setup_id = checked_setup(text)
    from azbenchlib.model import descriptions as described

    if _is_yaml(name):
        from azbenchlib.campaign.files import measurement_file
        from azbenchlib.campaign.files.spec import planned

        # whatever its job files say: none of them is run here
        tables = planned(measurement_file.load(name, trust_job_files=True))
    else:
        from azbenchlib.dataset.inputs import setups_of

        tables = setups_of(name)
    setups, disks = tables["setups"].set_index("setup_id"), tables["disks"]
    if setups.empty:
        raise InputError(f"{text}: its setup is not stated; give --vm and --disk")
    wanted = setup_id or (str(setups.index[0]) if len(setups) == 1 else "")
    if wanted not in setups.index:
        raise InputError(f"{text}: say which setup, as {name}/SETUP; there are: {', '.join(setups.index)}")
    return described.from_rows(setups.loc[wanted].to_dict(), disks[disks["setup_id"] == wanted])


def checked_setup(text: str) -> tuple[str, str]:
    """The name of a dataset or measurement file, and that of a setup in it where one is named.

    A dataset that is not there is told before anything is loaded.
    """
    from azbenchlib.dataset.names import check_names, parted

    place, setup_id = parted(text, lambda place: True)  # a file of outputs is none of its meanings
    if not _is_yaml(str(place)):
        check_names([place])
    return str(place), setup_id or ""


def _is_yaml(name: str) -> bool:
    return Path(name).suffix in (".yaml", ".yml")


def _is_json(text: str) -> bool:
    return _file_of(text)[0].lower().endswith(".json")


def _file_of(text: str) -> tuple[str, str]:
    """A file, and the pod that is named behind it."""
    path = Path(text)
    return (str(path.parent), path.name) if path.parent.suffix.lower() == ".json" else (text, "")


def _json(text: str) -> dict[str, Any]:
    try:
        shown = decoded(read_regular(Path(_file_of(text)[0]), _LARGEST_JSON))
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{text}: no JSON of az vm show, az disk show or kubectl get: {why}") from error
    if not isinstance(shown, dict):
        raise InputError(f"{text}: one VM or disk is needed, not {type(shown).__name__}")
    return shown
