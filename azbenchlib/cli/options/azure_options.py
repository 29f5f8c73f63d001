"""How a VM of Azure that is there already is named on the command line, the same for every verb."""

from typing import Annotated

import typer

from azbenchlib.core.errors import InputError

VmIdOption = Annotated[
    str,
    typer.Option("--vm-id", help="In Azure: resource id of a VM that is there already; nothing is created."),
]
ResultsGroupOption = Annotated[
    bool,
    typer.Option(
        help="With --vm-id: results come through a storage account, in a resource group that is made "
        "for it and deleted at the end."
    ),
]


def check_vm_id(vm_id: str, target: str, results_group: bool) -> None:
    """Refuse what is for a VM that is there already where there is none."""
    if vm_id and target != "azure":
        raise InputError(f"--vm-id is for the target azure, not {target}")
    if results_group and not vm_id:
        raise InputError("--results-group is for --vm-id; other runs in Azure have a resource group anyway")
