"""Several VMs at a time: how a measurement file is divided, reckoned, handed out and joined again."""

import os
import signal
import subprocess
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner
from waiting import PATIENCE_S, wait_for

from azbenchlib import campaign
from azbenchlib.azure.az_errors import AzError
from azbenchlib.azure.quota import NoQuotaError
from azbenchlib.campaign import experiment as experiment_module
from azbenchlib.campaign.experiment import Todo
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.interrupts import SAME_S, Interrupts
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.campaign.planning import plan, plan_text
from azbenchlib.campaign.progress import quiet
from azbenchlib.campaign.targets.azure import money
from azbenchlib.campaign.targets.azure.ending import teardown
from azbenchlib.campaign.targets.azure.manifest import AzureRun, CloudPlan, measures_of
from azbenchlib.campaign.targets.azure.money import (
    CostShares,
    HourlyPrices,
    RunEstimate,
    TogetherEstimate,
)
from azbenchlib.campaign.targets.azure.side_by_side import folders, processes
from azbenchlib.campaign.targets.azure.side_by_side.processes import (
    MessageKind,
    VmMessage,
    VmProcesses,
    VmRequest,
    is_without_room,
)
from azbenchlib.campaign.targets.azure.side_by_side.target import VmsTarget, parts
from azbenchlib.campaign.targets.azure.target import AzureTarget
from azbenchlib.campaign.targets.lab.target import LabTarget
from azbenchlib.cli import app
from azbenchlib.core.errors import AzbenchError, InputError, OutputError
from azbenchlib.core.units import MIB

ROOT = Path(__file__).parents[2]
FILE = """
title: Three VMs
region: westeurope
disks: {data: {sku: Premium_LRS, size: 32GiB}}
workloads: {first: {rw: randread, bs: 4k, size: 4m, runtime: 1}}
setups:
  - {name: a, vm: Standard_D2s_v3}
  - {name: b, vm: Standard_D2s_v3, disks: {data: {caching: ReadOnly}}}
  - {name: c, vm: Standard_D4as_v4}
  - {name: d, vm: Standard_D2s_v3}
"""


@pytest.fixture
def experiment(tmp_path: Path) -> Experiment:
    """Setups on three VMs, two of them on the first."""
    (tmp_path / "file.yaml").write_text(FILE)
    return measurement_file.load(tmp_path / "file.yaml")


def test_setups_that_follow_each_other_on_a_vm_stay_together(experiment: Experiment) -> None:
    found = {name: [setup.name for setup in part.setups] for name, part in parts(experiment).items()}
    assert found == {"a": ["a", "b"], "c": ["c"], "d": ["d"]}


def test_a_disk_that_is_refused_is_created_in_the_zone_of_the_vm_before() -> None:
    shipped = measurement_file.load(ROOT / "campaigns" / "zone-redundant-disks.yaml")
    disks = parts(shipped)["zone-2"].setups[0].disks
    assert (disks["lrs"].attach, disks["lrs"].zone) == ("refused", "1")
    assert disks["zrs"].zone is None


def estimate(hours: int, price: str | None, why: str = "") -> RunEstimate:
    """Of a VM that takes so many hours, of which each costs so much."""
    vm = None if price is None else Decimal(price)
    prices = HourlyPrices(vm=vm, disks=Decimal(1), currency="USD", notes=(why,) if why else ())
    return RunEstimate(seconds=3600.0 * hours, prices=prices)


def test_what_vms_take_at_a_time_is_added_up_by_hand() -> None:
    """Two at a time: 3 h beside 1 h and then 4 h, so 5 h; 3 · (2+1) + 1 · (4+1) + 4 · (1+1) = 22 USD."""
    each = [estimate(3, "2", "one; two"), estimate(1, "4", "two"), estimate(4, "1")]
    found = TogetherEstimate(parts=each, at_once=2)
    assert found.seconds == 5 * 3600
    assert found.most == 22
    assert found.why == "one; two"
    assert found.text == (
        "about 5.0 hours and at most 22.00 USD; left over, it would cost 192 USD a day, and 48.00 when the "
        "VMs have stopped themselves (one; two); that is with 2 VMs at a time, for which the quota has to "
        "suffice"
    )
    assert TogetherEstimate(parts=each, at_once=1).seconds == 8 * 3600
    assert TogetherEstimate(parts=each, at_once=3).seconds == 4 * 3600
    assert TogetherEstimate(parts=[*each, estimate(1, None)], at_once=2).most is None


def test_a_plan_of_several_vms_tells_what_each_has_of_its_own(experiment: Experiment) -> None:
    """Three VMs at a time lay the data out three times, of 4 MiB; one after the other, once."""
    todo = Todo(experiment.workloads(), experiment)
    in_turn, together = plan_text.figures(todo), plan_text.figures(todo, 3)
    assert (in_turn["laid_out_bytes"], together["laid_out_bytes"]) == (4 * MIB, 12 * MIB)
    assert together["azure"]["seconds"] < in_turn["azure"]["seconds"]
    lines = [*plan_text.lines(todo, 3)]
    assert [line for line in lines if line.startswith("# In a resource group of its own")] == [
        f"# In a resource group of its own: {name}" for name in "acd"
    ]
    assert sum(line.startswith("az group create") for line in lines) == 3
    assert not [line for line in lines if line.startswith("az vm delete")]
    assert lines[-1].endswith("# each of them")


def test_a_file_says_how_many_vms_are_measured_at_a_time(tmp_path: Path) -> None:
    """What is asked for beside it counts more; of three VMs, no more than three can be there."""
    (tmp_path / "file.yaml").write_text(f"{FILE}at_once: 2\n")
    todo = campaign.load(tmp_path / "file.yaml")
    assert [todo.vms_at_once(asked) for asked in (0, 1, 2, 9)] == [2, 1, 2, 3]
    assert [*plan_text.lines(todo)] == [*plan_text.lines(todo, 2)] != [*plan_text.lines(todo, 1)]
    assert plan_text.figures(todo) == plan_text.figures(todo, 2) != plan_text.figures(todo, 1)
    (tmp_path / "file.yaml").write_text(f"{FILE}at_once: 0\n")
    with pytest.raises(InputError, match=r"file\.yaml:11: at_once '0': .*greater than or equal to 1"):
        campaign.load(tmp_path / "file.yaml")


@pytest.mark.parametrize(
    ("in_file", "asked", "hours_asked", "refused"),
    [
        (2, 0, 0, False),
        (1, 2, 0, False),
        (1, 0, 0, True),
        (2, 1, 0, True),
        (1, 0, 9, False),
        (9, 9, 0, False),
    ],
)
def test_vms_at_a_time_divide_the_hours_of_a_file(
    tmp_path: Path, in_file: int, asked: int, hours_asked: float, refused: bool
) -> None:
    """Four workloads of half an hour on three VMs take an hour at least, two at a time."""
    text = FILE.replace("runtime: 1}", "runtime: 1800}")
    (tmp_path / "file.yaml").write_text(f"{text}max_hours: 1\nat_once: {in_file}\n")
    todo = campaign.load(tmp_path / "file.yaml")
    if not refused:
        todo.check_hours(asked, hours_asked)
        return
    said = r"file\.yaml:11: max_hours 1: the runs and rests alone last 2\sh"
    options = ["--at-once", str(asked), "--target", "azure", "-o", str(tmp_path / "out")]
    for refusing in (
        lambda: todo.check_hours(asked, hours_asked),
        lambda: campaign.run(todo, tmp_path / "out", target="azure", at_once=asked),
        lambda: CliRunner().invoke(
            app, ["run", str(tmp_path / "file.yaml"), *options], catch_exceptions=False
        ),
    ):
        with pytest.raises(InputError, match=said):
            refusing()
    (tmp_path / "file.yaml").write_text(f"{text}max_hours: 0.6\nat_once: 9\n")
    with pytest.raises(InputError, match=r"last 40\smin"):  # there are three VMs
        campaign.load(tmp_path / "file.yaml").check_hours(0, 0)


@pytest.mark.parametrize(("at_once", "kind"), [(0, VmsTarget), (1, AzureTarget), (2, VmsTarget)])
def test_a_run_takes_the_number_of_the_file_in_azure_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int, kind: type[AzureTarget]
) -> None:
    (tmp_path / "file.yaml").write_text(f"{FILE}at_once: 2\n")
    todo, chosen = campaign.load(tmp_path / "file.yaml"), []
    monkeypatch.setattr(experiment_module, "measure", lambda target, *_, **__: chosen.append(target))
    campaign.run(todo, tmp_path / "out", target="azure", at_once=at_once)
    campaign.run(todo, tmp_path / "out", target="lab")
    assert [type(one) for one in chosen] == [kind, LabTarget]


def test_limits_hold_for_all_vms_together() -> None:
    both = TogetherEstimate(parts=[estimate(3, "2"), estimate(1, "4")], at_once=2)
    money.check(both, 14, 3)
    with pytest.raises(
        InputError, match=r"max_cost 13.9: the run takes about 3.0 hours and at most 14.00 USD"
    ):
        money.check(both, 13.9, 0)
    with pytest.raises(InputError, match=r"max_hours 2.9: the run takes about 3.0 hours"):
        money.check(both, 0, 2.9)


def test_what_a_vm_did_not_spend_goes_to_those_that_are_not_begun() -> None:
    """30 USD for VMs that cost 3, 5 and 2 USD an hour and take 1, 1 and 6 h: 3 + 5 + 12 = 20 are likely."""
    likely = {"a": estimate(1, "2"), "b": estimate(1, "4"), "c": estimate(6, "1")}
    shares = CostShares(most=30, likely=likely)
    assert shares.begin("a") == pytest.approx(4.5)
    assert shares.begin("b") == pytest.approx(7.5)
    shares.end("a", 1800, again=False)  # 1.5 USD
    assert shares.begin("c") == pytest.approx(30 - 1.5 - 7.5)
    assert CostShares(most=0, likely=likely).begin("a") == 0


def test_what_vms_were_given_and_spent_never_exceeds_the_limit() -> None:
    """Nobody had room for b, which is tried again; and a spent more than its share, so nothing is left."""
    likely = {"a": estimate(1, "2"), "b": estimate(1, "4"), "c": estimate(6, "1")}
    shares = CostShares(most=20, likely=likely)
    assert (shares.begin("a"), shares.begin("b")) == (pytest.approx(3), pytest.approx(5))
    shares.end("b", 360, again=True)  # 0.5 USD
    assert shares.begin("b") == pytest.approx((20 - 3 - 0.5) * 5 / 17)
    shares.end("b", 3600, again=False)
    shares.end("a", 5 * 3600, again=False)  # 15 USD
    assert 0 < shares.begin("c") < 0.01  # 0 would be no limit


@pytest.mark.parametrize(
    ("target", "vm_id", "at_once"), [("lab", "", 2), ("azure", "ID", 2), ("azure", "", -1)]
)
def test_several_vms_at_a_time_are_refused_where_none_is_created(
    experiment: Experiment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    target: str,
    vm_id: str,
    at_once: int,
) -> None:
    monkeypatch.setenv("AZBENCH_VM_ID", vm_id)
    todo = campaign.load(tmp_path / "file.yaml")
    with pytest.raises(InputError, match=f"at_once {at_once}: "):
        campaign.run(todo, tmp_path / "out", target=target, at_once=at_once)


def test_no_room_is_seen_behind_what_is_said_of_the_deletion() -> None:
    def ended(cause: Exception) -> AzbenchError:
        error = AzbenchError("it ended. Nothing is left in Azure")
        error.__cause__ = cause
        return error

    assert is_without_room(ended(AzError("no", "SkuNotAvailable")))
    assert is_without_room(NoQuotaError("none left"))
    assert not is_without_room(ended(AzError("no", "RequestDisallowedByPolicy")))
    assert not is_without_room(ended(InputError("no such size")))


# --- handed out and joined ----------------------------------------------------------------------------------


def apart(dataset: Path, experiment: Experiment, group: str = "") -> AzureRun:
    """A run of which setup a was measured before, and which two VMs took up and were killed."""
    run = AzureRun(
        folder=dataset,
        plan=CloudPlan(experiment=experiment, started="2026-11-20T16:03:00+00:00", subscription="s"),
        measurements=measures_of(experiment),
        progress=quiet,
        interrupts=Interrupts(),
    )
    run.save()
    run.journal.add(JournalEvent.PLANNED, runs=[])
    write(dataset / "raw/a/data/first.json", "of a")
    run.journal.add(JournalEvent.KEPT, run="a/data/first", files={"first.json": "hash"})
    for name, part in list(parts(experiment).items())[:2]:
        own = folders.hand_out(run, name, part)
        measured = Journal(own)
        measured.add(JournalEvent.PLANNED, runs=[])
        last = part.setups[-1].name
        write(own / f"raw/{last}/data/first.json", f"of {last}")
        write(own / f"raw/.part-{last}/first.json", "half")
        write(own / f"failed/{last}-first/first.txt", "why")
        write(own / "az.log.jsonl", f'{{"of": "{name}"}}\n')
        measured.add(JournalEvent.KEPT, run=f"{last}/data/first", files={"first.json": "hash"})
        told = plan.load(own, CloudPlan)
        assert told is not None
        told.facts, told.notes = {last: {"os": "Linux"}}, ["vm-1 was made."]
        told.groups = [group] if group and name == "c" else []
        plan.save(own, told)
    return run


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def state(dataset: Path) -> dict[str, Any]:
    """All that is in a dataset folder, but when what happened."""
    files = {
        str(path.relative_to(dataset)): path.read_text()
        for path in dataset.rglob("*")
        if path.is_file() and path.name not in ("journal.jsonl", "plan.json", "az.log.jsonl")
    }
    events = [{**event, "at": ""} for event in Journal(dataset).events()]
    told = plan.load(dataset, CloudPlan)
    log = set((dataset / "az.log.jsonl").read_text().splitlines())
    return {
        "files": files,
        "events": events,
        "facts": told and told.facts,
        "notes": told and told.notes,
        "log": log,
    }


def test_what_vms_measured_is_joined(tmp_path: Path, experiment: Experiment) -> None:
    run = apart(tmp_path / "out", experiment)
    assert not (tmp_path / "out/raw/a").exists()  # with the VM
    folders.take_back(run.folder, run.plan)
    found = state(run.folder)
    assert found["files"] == {
        **{f"raw/{name}/data/first.json": f"of {name}" for name in "abc"},
        **{f"failed/{name}-first/first.txt": "why" for name in "bc"},
    }
    assert [(one["event"], one.get("run")) for one in found["events"]] == [
        ("planned", None),
        *(("kept", f"{name}/data/first") for name in "abc"),
    ]
    assert found["facts"] == {"b": {"os": "Linux"}, "c": {"os": "Linux"}}
    assert found["notes"] == ["Setup a: vm-1 was made.", "Setup c: vm-1 was made."]
    assert found["log"] == {'{"of": "a"}', '{"of": "c"}'}


def test_joining_can_be_killed_at_any_step(tmp_path: Path, experiment: Experiment) -> None:
    whole = apart(tmp_path / "whole", experiment)
    folders.take_back(whole.folder, whole.plan)
    expected, steps = state(whole.folder), 0
    calls = ("rename", "unlink", "rmdir")

    class KilledError(Exception):
        pass

    for number in range(1, 200):
        run, left = apart(tmp_path / str(number), experiment), number
        with pytest.MonkeyPatch.context() as patched:

            def killed(self: Any, *given: Any, before: Any, **named: Any) -> Any:
                nonlocal left
                left -= 1
                if not left:
                    raise KilledError
                return before(self, *given, **named)

            for place, name in [(Path, one) for one in calls] + [(Journal, "add")]:
                before = getattr(place, name)
                patched.setattr(
                    place,
                    name,
                    lambda self, *given, before=before, **named: killed(self, *given, before=before, **named),
                )
            try:
                folders.take_back(run.folder, run.plan)
                break
            except KilledError:
                steps += 1
        folders.join(run.folder, fresh=False)
        found = state(run.folder)
        assert found["files"].items() ^ expected["files"].items() == set()
        assert found == expected, number
    assert steps > 8


def test_a_vm_whose_group_is_noted_keeps_its_plan_and_is_named(
    tmp_path: Path, experiment: Experiment
) -> None:
    run = apart(tmp_path / "out", experiment, group="azbench-three-vms")
    folders.take_back(run.folder, run.plan)
    assert [path.name for path in folders.there(run.folder)] == ["c"]
    (told,) = teardown.noted(run.folder).values()
    assert "RESOURCE GROUP azbench-three-vms IS STILL IN AZURE AND COSTS MONEY" in told
    assert teardown.left_by_vms(run.folder) == {"azbench-three-vms": told}
    again = folders.hand_out(run, "c", parts(experiment)["c"])
    assert (again / "raw/c/data/first.json").read_text() == "of c"
    kept = plan.load(again, CloudPlan)
    assert kept is not None
    assert kept.groups == ["azbench-three-vms"]


def test_a_group_of_which_a_vm_said_that_it_is_gone_is_not_told_as_left(
    tmp_path: Path, experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process could not note it, on a full disk; of another group, nothing is known."""
    run = apart(tmp_path / "out", experiment, group="azbench-three-vms")
    full = OutputError("plan.json: No space left on device")
    target = VmsTarget(experiment=experiment, at_once=2)

    def ends_so(said: str) -> str:
        ended = {"c": VmMessage(kind=MessageKind.FAILED, text=said)}
        monkeypatch.setattr(target, "_ended", ended)
        with pytest.raises(AzbenchError) as caught:
            target.release(run, full)
        return str(caught.value)

    words = "Nothing is left in Azure (azbench-three-vms is deleted, which could not be noted)"
    gone = ends_so(f"it ended. {words}")
    assert "IS STILL IN AZURE" not in gone
    assert words in gone
    assert "RESOURCE GROUP azbench-three-vms IS STILL IN AZURE" in ends_so("it ended")


# --- processes ----------------------------------------------------------------------------------------------

CHILD = """
import json, os, signal, sys, threading, time
asked = json.loads(sys.stdin.readline())
name = os.path.basename(asked["folder"])
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(1)), daemon=True).start()
def tell(said, **more): os.write(1, (json.dumps(dict(kind=said, **more)) + "\\n").encode())
def ended(*_):
    if os.path.exists(asked["folder"] + ".waits"):
        os.unlink(asked["folder"] + ".waits")
        tell("progress", text="deleting")
        return
    tell("interrupted", text=f"{name} ended")
    sys.exit()
signal.signal(signal.SIGTERM, ended)
tell("progress", done=1, total=1, text="begun")
print("what a library prints")
if os.path.exists(asked["folder"] + ".full"):
    os.unlink(asked["folder"] + ".full")
    tell("no room", text="no room")
    sys.exit()
if os.path.exists(asked["folder"] + ".dies"):
    os._exit(3)
while not os.path.exists(asked["folder"] + ".ends"): time.sleep(0.05)
tell("done")
"""


def of_children(
    tmp_path: Path,
    experiment: Experiment,
    monkeypatch: pytest.MonkeyPatch,
    told: list[str],
    names: str = "abc",
) -> VmProcesses:
    """VmProcesses of a program that does as files tell it."""
    monkeypatch.setattr(processes, "_CHILD", CHILD)

    def asked(name: str) -> VmRequest:
        return VmRequest(experiment=experiment, folder=tmp_path / name, max_cost=0, max_hours=0)

    return VmProcesses(
        asked={name: (lambda name=name: asked(name)) for name in names},
        done=dict.fromkeys(names, 0),
        total=len(names),
        at_once=2,
        progress=lambda done, total, text: told.append(f"{done}/{total} {text}"),
        interrupts=Interrupts(),
    )


def test_processes_follow_each_other_two_at_a_time(
    tmp_path: Path, experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    for name in ("a.ends", "b.dies", "c.ends"):
        (tmp_path / name).touch()
    found = of_children(tmp_path, experiment, monkeypatch, told)
    there: list[int] = []
    tell = found.progress

    def progress(done: int, total: int, text: str) -> None:
        there.append(len(found._there))
        tell(done, total, text)

    found.progress = progress
    found.carry_out()
    assert max(there) == 2
    assert {name: (one.kind, one.text) for name, one in found.ended.items()} == {
        "a": (MessageKind.DONE, ""),
        "b": (MessageKind.FAILED, "its process ended with status 3 and told nothing"),
        "c": (MessageKind.DONE, ""),
    }
    assert sorted(text.partition(" ")[2] for text in told) == ["[a] begun", "[b] begun", "[c] begun"]
    assert not told[0].endswith("[c] begun")  # it is begun when one of the others has ended
    assert told[-1].startswith("3/3 ")


def test_what_there_is_no_room_for_is_begun_again_when_another_has_ended(
    tmp_path: Path, experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    (tmp_path / "b.full").touch()
    found = of_children(tmp_path, experiment, monkeypatch, told, names="ab")
    over: list[tuple[str, bool]] = []
    found.over = lambda name, seconds, again: over.append((name, again))

    def progress(done: int, total: int, text: str) -> None:
        told.append(text)
        if "tried again" in text:
            assert [one for one in told if one == "[b] begun"] == ["[b] begun"]
            (tmp_path / "a.ends").touch()
            (tmp_path / "b.ends").touch()

    found.progress = progress
    found.carry_out()
    assert [one for one in told if "begun" in one].count("[b] begun") == 2
    assert found.at_once == 1
    assert over == [("b", True), ("a", False), ("b", False)]
    assert {one.kind for one in found.ended.values()} == {MessageKind.DONE}


def test_a_run_hands_on_what_a_vm_did_not_spend(
    tmp_path: Path, experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of a is measured. Of 10 USD, c gets a part and ends at once, so that d may spend nearly all."""
    asks = "open(asked['folder'] + '.asked', 'w').write(str(asked['max_cost']))"
    monkeypatch.setattr(processes, "_CHILD", CHILD.replace("def tell", f"{asks}\ndef tell", 1))
    run = apart(tmp_path / "out", experiment)
    folders.take_back(run.folder, run.plan)
    target = VmsTarget(experiment=experiment, at_once=1, max_cost=10)
    monkeypatch.setattr(target, "_left", ["c", "d"])
    for name in "cd":
        write(run.folder / folders.VMS / f"{name}.ends", "")
    kept = [run.folder / folders.VMS / f"{name}.asked" for name in "cd"]
    said: list[float] = []

    def progress(done: int, total: int, text: str) -> None:
        said.append(float(kept[len(said)].read_text()))

    run.progress = progress
    target.begin(run)
    each = [float(money.estimate(parts(experiment)[name]).most or 0) for name in "cd"]
    assert said == [pytest.approx(10 * each[0] / sum(each)), pytest.approx(10, rel=0.05)]


def test_an_interrupt_ends_all_processes_and_their_last_words_are_heard(
    tmp_path: Path, experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    found = of_children(tmp_path, experiment, monkeypatch, told, names="ab")

    def progress(done: int, total: int, text: str) -> None:
        if done == 2:
            os.kill(os.getpid(), signal.SIGINT)

    found.progress = progress
    with found.interrupts, pytest.raises(KeyboardInterrupt):
        found.carry_out()
    assert {name: one.text for name, one in found.ended.items()} == {"a": "a ended", "b": "b ended"}


def test_a_second_interrupt_is_passed_on_too(
    tmp_path: Path, experiment: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.waits").touch()
    found = of_children(tmp_path, experiment, monkeypatch, [], names="a")

    def progress(done: int, total: int, text: str) -> None:
        if text == "[a] begun":
            os.kill(os.getpid(), signal.SIGINT)
        if text == "[a] deleting":
            time.sleep(SAME_S)
            os.kill(os.getpid(), signal.SIGINT)

    found.progress = progress
    with found.interrupts, pytest.raises(KeyboardInterrupt):
        found.carry_out()
    assert found.ended["a"].text == "a ended"


def test_a_process_ends_when_whoever_started_it_is_gone(tmp_path: Path, experiment: Experiment) -> None:
    """The real one: it has read what to do, and waits for az."""
    az = tmp_path / "az"
    az.write_text("#!/bin/sh\ntouch $0.asked\nexec sleep 900\n")
    az.chmod(0o755)
    asked = VmRequest(experiment=experiment, folder=tmp_path / "out", max_cost=0, max_hours=0)
    command = [
        sys.executable,
        "-c",
        "from azbenchlib.campaign.targets.azure.side_by_side.processes import main; main()",
    ]
    environment = {**os.environ, "AZBENCH_AZ": str(az)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdin is not None
        print(asked.model_dump_json(), file=process.stdin, flush=True)
        wait_for((tmp_path / "az.asked").exists, lambda: process.poll() is None)
        process.stdin.close()
        assert process.wait(PATIENCE_S) == 1
