"""What can befall a VM while it measures: somebody stops it, or a disk of it is full."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_azure.campaigns import SMALL, measured
from fake_azure.login import Azure
from fake_azure.routing import Request

from azbenchlib import campaign
from azbenchlib.core.errors import AzbenchError
from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.fio]

SECOND = "  second: {rw: randwrite, bs: 4k, size: 64m, runtime: 1}\n"
THIRD = "  third: {rw: randread, bs: 8k, size: 4m, runtime: 8}\n"


def run(file: Path, moment: str, act: Callable[[], object]) -> Path:
    """Measure, and do something when the run tells this for the first time."""
    acts = [act]

    def progress(done: int, total: int, text: str) -> None:
        if moment in text and acts:
            acts.pop()()

    return campaign.run(campaign.load(file), file.with_name("out"), target="azure", progress=progress)


def vm_of(azure: Azure) -> str:
    """The path of the only VM."""
    (path,) = azure.arm.machines
    return path


def on_the_vm(azure: Azure, script: str) -> None:
    """Run a script on it."""
    body = {"commandId": "RunShellScript", "script": [script]}
    azure.arm.answer(Request("POST", f"{vm_of(azure)}/runCommand", {}, body, ""))


def fill(folder: str) -> str:
    """The script that leaves no room on a file system, for root as well."""
    took = f"$(($(stat -f -c '%f * %S' {folder}) - 8000000))"
    return f"fallocate -l {took} {folder}/filler\ncat /dev/zero >{folder}/rest 2>/dev/null || true"


def kept(file: Path) -> dict[Path, int]:
    """The results that are in their place, and when each was written."""
    return {path: path.stat().st_mtime_ns for path in file.parent.glob("out/raw/*/*/*.json")}


def taken_up(azure: Azure, file: Path, before: dict[Path, int], jobs: set[str]) -> None:
    """The same command measures what is missing, and nothing else."""
    folder = measured(file)
    assert set(Dataset.load(folder).runs["job"]) == jobs
    assert before.items() <= kept(file).items()
    assert not azure.arm.resources


@pytest.mark.parametrize("n_workloads", [2, 3])
def test_a_vm_that_somebody_stops_is_told_as_such_and_not_as_a_quota(
    signed_in: Azure, small: Path, n_workloads: int
) -> None:
    """While its script is looked at; the results of two workloads come in pieces."""
    more = SECOND + THIRD * (n_workloads == 3)
    small.write_text(SMALL.replace("workloads:", "rest: 1\nworkloads:") + more)
    arm = signed_in.arm

    def stop() -> None:
        with arm.lock:
            arm.machines.pop(vm_of(signed_in)).stop()

    with pytest.raises(AzbenchError) as caught:
        run(small, "data: randwrite", stop)
    said = str(caught.value)
    assert "the VM was stopped, by its automatic shutdown or by somebody; start the run again" in said
    assert "quota" not in said
    assert re.search(rf"Nothing is left in Azure; [12] of {n_workloads} workloads are kept", said)
    assert not arm.resources
    taken_up(signed_in, small, kept(small), {"first", "second", *(["third"] * (n_workloads == 3))})


@pytest.mark.parametrize("folder", ["/azbench/data", "/var/lib/azbench"])
def test_a_disk_that_is_full_on_the_vm_ends_the_run_with_the_reason(
    signed_in: Azure, small: Path, folder: str
) -> None:
    """The data disk, on which all workloads need the room of the largest; or the OS disk."""
    small.write_text(SMALL + SECOND + THIRD)
    with pytest.raises(AzbenchError, match=r"No space left on device") as caught:
        run(small, "data: randread", lambda: on_the_vm(signed_in, fill(folder)))
    assert "is still in azure" not in str(caught.value).lower()
    assert not signed_in.arm.resources
    taken_up(signed_in, small, kept(small), {"first", "second", "third"})
