"""Outputs as they come from a VM: packed, named by their hashes, and refused where they are damaged."""

import io
import tarfile
import time
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import pytest
from az_program import arm, given, program
from fake_azure.campaigns import TINY

from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import AzError
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.targets.azure import guest, outcome, vm
from azbenchlib.campaign.targets.azure.container import Container
from azbenchlib.campaign.targets.azure.manifest import measures_of
from azbenchlib.campaign.targets.azure.outcome import Batch
from azbenchlib.campaign.targets.azure.steps import Measure
from azbenchlib.campaign.targets.azure.vm import MOST_SCRIPTS, Script, Vm
from azbenchlib.core.errors import AzbenchError


def packed(**files: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:xz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"./{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


@dataclass(frozen=True, kw_only=True)
class Shelf(Container):
    """A container on this machine."""

    blobs: dict[str, bytes] = field(default_factory=dict)
    waits_s: list[float] = field(default_factory=list)

    def names(self) -> list[str]:
        return list(self.blobs)

    def download(self, name: str, patience_s: float, pause_s: float) -> bytes:
        self.waits_s.append(patience_s)
        if name not in self.blobs:
            raise AzError("az storage blob download: BlobNotFound", "BlobNotFound")
        return self.blobs[name]


@pytest.fixture
def step(tmp_path: Path) -> Measure:
    (tmp_path / "file.yaml").write_text(TINY)
    return measures_of(measurement_file.load(tmp_path / "file.yaml"))[0]


def batch(step: Measure, **blobs: bytes) -> Batch:
    az = Az(path="no-such-az")
    container = Shelf(az=az, url="https://x/results", secret="azbench_sas=sig", blobs=blobs)  # noqa: S106
    return Batch(vm=Vm(az, "g", "vm-1"), steps=[step], container=container, between=lambda: None)


def shelved(step: Measure, status: int, figures: bytes, logs: bytes = b"") -> dict[str, bytes]:
    digests = [sha256(data).hexdigest() if data else "-" for data in (figures, logs)]
    names = [
        f"{guest.place(step)}/{status}-{digests[0]}-{digests[1]}.figures",
        f"{guest.place(step)}/{digests[1]}.logs",
    ]
    return {name: data for name, data in zip(names, (figures, logs), strict=True) if data}


@pytest.mark.parametrize("bring", [Batch.fetch, Batch.rescued])
def test_figures_and_logs_come_from_the_container(step: Measure, tmp_path: Path, bring: Callable) -> None:
    found = batch(
        step, **shelved(step, 0, packed(**{"first.json": b"{}"}), packed(**{"first_lat.1.log": b"1, 2"}))
    )
    folder = tmp_path / "part"
    folder.mkdir()
    assert bring(found, step, folder) in (0, (0, ""))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        "first.json": b"{}",
        "first_lat.1.log": b"1, 2",
    }


def test_a_workload_that_failed_tells_its_last_words(step: Measure, tmp_path: Path) -> None:
    found = batch(step, **shelved(step, 3, packed(**{"azbench.txt": b"iozone is not here\nat all\n"})))
    assert found.fetch(step, tmp_path / "part") == (3, "at all")


def test_of_what_ran_twice_the_better_counts_and_what_is_not_there_is_not_rescued(
    step: Measure, tmp_path: Path
) -> None:
    bad, good = packed(**{"azbench.txt": b"no"}), packed(**{"first.json": b"{}"})
    found = batch(step, **shelved(step, 0, good), **shelved(step, 1, bad))
    assert found.fetch(step, tmp_path / "part") == (0, "")
    assert batch(step).rescued(step, tmp_path) is None


def test_what_could_not_be_uploaded_is_not_waited_for_when_the_script_has_ended(
    step: Measure, tmp_path: Path
) -> None:
    """It comes in pieces at once; logs that follow the figures are waited for."""
    data = packed(**{"first.json": b"{}"})
    digest, sent = sha256(data).hexdigest(), b64encode(data).decode()
    line = f"azbench-output {guest.place(step)} 0 {len(data)} {digest} 0 -"
    view = {"instanceView": {"executionState": "Succeeded", "output": line}}
    piece = {"value": [{"message": f"azbench-chunk {digest} {sent}"}]}
    found = batch(step)
    found.vm.az = program(tmp_path, view, piece)
    found._script = Script(name="x", timeout_s=60, deadline=time.monotonic() + 60, wait_s=0.0)
    assert found.fetch(step, tmp_path / "part") == (0, "")
    assert isinstance(found.container, Shelf)
    assert found.container.waits_s == [0]
    soon = batch(step, **shelved(step, 0, data, packed(**{"first_lat.1.log": b"1, 2"})))
    soon.fetch(step, tmp_path / "part")
    assert isinstance(soon.container, Shelf)
    assert soon.container.waits_s == [outcome.LOGS_S] * 2


def test_outputs_that_are_too_large_or_damaged_are_refused(
    step: Measure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = shelved(step, 0, packed(**{"first.json": bytes(1000)}))
    damaged = {name: data[:-1] + b"?" for name, data in whole.items()}
    assert batch(step, **damaged).rescued(step, tmp_path) is None
    monkeypatch.setattr(outcome, "LARGEST_OUTPUT", 999)
    with pytest.raises(AzbenchError, match="unpack to more than 999 B"):
        batch(step, **whole).fetch(step, tmp_path / "part")


def test_a_vm_that_is_gone_is_noticed_though_its_script_is_said_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vm, "STATE_S", 0.0)
    running = {"instanceView": {"executionState": "Running"}}
    stopped = ["ProvisioningState/succeeded", "PowerState/deallocated"]
    found = Vm(program(tmp_path, running, ["PowerState/running"], running, stopped), "g", "vm-1")
    script = Script(name="x", timeout_s=60, deadline=time.monotonic() + 60, wait_s=0.0)
    assert found.ended(script) is None
    with pytest.raises(AzError, match="vm-1: Azure says PowerState/deallocated, so its script never ends"):
        found.ended(script)


TIMES = {"startTime": "2026-11-28T10:00:00+00:00", "endTime": "2026-11-28T10:01:00+00:00"}


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (
            {
                "executionState": "Running",
                "exitCode": 0,
                "executionMessage": "Execution failed: no disk space",
            },
            "Execution failed: no disk space",
        ),
        ({"executionState": "Failed", "exitCode": -1, **TIMES}, "it was stopped after 60 s"),
        (
            {
                "executionState": "Failed",
                "exitCode": 7,
                "executionMessage": "Execution failed: command terminated with exit status=7",
                **TIMES,
            },
            "it ended as Failed, with exit code 7, and wrote nothing",
        ),
        (
            {"executionState": "Failed", "exitCode": -1, **TIMES, "endTime": TIMES["startTime"]},
            "it ended as Failed, with exit code -1, and wrote nothing",
        ),
    ],
)
def test_a_script_ended_as_the_agent_on_a_linux_vm_tells_it(
    tmp_path: Path, view: dict[str, object], said: str
) -> None:
    """Its time was over, or none ran at all: the agent does not say so by the state that is meant for it."""
    found = Vm(program(tmp_path, {"instanceView": {"output": "", "error": "", **view}}), "g", "vm-1")
    script = Script(name="x", timeout_s=60, deadline=time.monotonic() + 60, wait_s=0.0)
    ended = found.ended(script)
    assert ended and ended.state != "Succeeded"
    assert ended.last_words == said


def answered(step: Measure) -> tuple[dict, dict, dict]:
    """What Azure says of a script that runs, and of one that ended; and the outputs in a piece."""
    data = packed(**{"first.json": b"{}"})
    digest, sent = sha256(data).hexdigest(), b64encode(data).decode()
    line = f"azbench-output {guest.place(step)} 0 {len(data)} {digest} 0 -"
    running, ended = (
        {"instanceView": {"executionState": state, "output": output}}
        for state, output in (("Running", ""), ("Succeeded", line))
    )
    return running, ended, {"value": [{"message": f"azbench-chunk {digest} {sent}"}]}


def fetched(step: Measure, folder: Path, *answers: object) -> list[str]:
    """The verbs of the commands with which the outputs of a script that was started came."""
    found = batch(step)
    found.vm.az = program(folder, *answers)
    found._script = Script(name="x", timeout_s=60, deadline=time.monotonic() + 60, wait_s=0.0)
    assert found.fetch(step, folder / "part") == (0, "")
    return [line.split()[2] for line in given(folder)]


def test_a_restart_is_noticed_though_the_script_is_said_to_run(
    step: Measure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The VM is asked once all is quiet, and again where it does not answer; the script is started anew."""
    monkeypatch.setattr(outcome, "QUIET_S", -step.workload.max_duration_s)
    monkeypatch.setattr(vm, "FIRST_WAIT_S", 0.0)
    running, ended, piece = answered(step)
    alive, gone = ({"value": [{"message": f"azbench-fact worker {state}"}]} for state in ("alive", "gone"))
    starting = arm("Conflict", "The VM is being updated.")
    asked = [(starting, "invoke"), (running, "show"), (alive, "invoke"), (running, "show"), (gone, "invoke")]
    anew = [
        ({"value": []}, "invoke"),
        (None, "create"),
        (alive, "invoke"),
        (ended, "show"),
        (piece, "invoke"),
    ]
    answers, verbs = zip(*asked, *anew, strict=True)
    assert fetched(step, tmp_path, *answers) == list(verbs)


def test_nobody_is_asked_while_a_workload_may_take_as_long(step: Measure, tmp_path: Path) -> None:
    running, ended, piece = answered(step)
    assert fetched(step, tmp_path, running, running, ended, piece) == ["show", "show", "show", "invoke"]


def test_azure_never_keeps_more_scripts_of_a_vm_than_it_takes(tmp_path: Path) -> None:
    program = tmp_path / "az"
    program.write_text(f'#!/bin/sh\nprintf "%s %s\\n" "$3" "$9" >>{tmp_path}/given\n')
    program.chmod(0o755)
    vm = Vm(Az(path=str(program)), "g", "vm-1")
    for _ in range(MOST_SCRIPTS + 5):
        vm.start("true", 60)
    verbs = [line.split() for line in (tmp_path / "given").read_text().splitlines()]
    made, gone = ([name for verb, name in verbs if verb == wanted] for wanted in ("create", "delete"))
    assert (len(made), gone) == (MOST_SCRIPTS + 5, made[:5])
