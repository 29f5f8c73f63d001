"""What a deletion takes for gone, for passing and for lasting; what an interrupt stops; one run at a time."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from az_program import GONE, PAGE, arm, given, program
from fake_azure.campaigns import TINY

from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import AzError
from azbenchlib.campaign import lock
from azbenchlib.campaign import status as campaign_status
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.interrupts import Interrupts
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.progress import quiet, unheard
from azbenchlib.campaign.run_loop import carry_out
from azbenchlib.campaign.targets.azure import cloud
from azbenchlib.campaign.targets.azure.cloud import Cloud
from azbenchlib.campaign.targets.azure.ending import orphans, teardown
from azbenchlib.campaign.targets.azure.ending.orphans import OrphanedGroup
from azbenchlib.campaign.targets.azure.manifest import AzureRun, CloudPlan, measures_of, noted_run
from azbenchlib.campaign.targets.azure.side_by_side import folders
from azbenchlib.campaign.targets.azure.steps import Call
from azbenchlib.campaign.targets.azure.vm import Ended
from azbenchlib.core.errors import AzbenchError, InputError, OutputError

OUTPUT = Path(__file__).parents[2] / "data" / "fio" / "group_jsonplus.json"
DELETING = {"properties": {"provisioningState": "Deleting"}}
STANDING = {"properties": {"provisioningState": "Succeeded"}}
OWN = {**STANDING, "tags": dict.fromkeys(orphans.TAGS, "x") | {"tool": "azbench"}}
NETWORK = "ERROR: HTTPSConnectionPool(host='management.azure.com', port=443): Max retries exceeded\n"


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIRST_PAUSE_S", "LONGEST_PAUSE_S", "FIRST_LOOK_S", "LONGEST_LOOK_S", "SURE_S"):
        monkeypatch.setattr(orphans, name, 0.01)
    monkeypatch.setattr(lock, "WAIT_S", 0.2)


def delete(az: Az, patience_s: float = 0.0) -> str:
    deleted = orphans.Deletion(az=az, group="g", tell=lambda text: None, patience_s=patience_s).carry_out()
    assert not deleted.interrupted
    return deleted.left


# --- what is gone


@pytest.mark.parametrize(
    "answers",
    [
        (None, GONE),
        (None, DELETING, DELETING, GONE),
        (GONE, GONE),
        (arm("ResourceGroupBeingDeleted", "x"), GONE),
    ],
)
def test_a_group_is_gone_when_azure_says_so(tmp_path, answers):
    assert delete(program(tmp_path, *answers), 60) == ""
    assert len(given(tmp_path)) == len(answers)


@pytest.mark.parametrize(
    "answer",
    [
        PAGE,
        NETWORK,
        arm("SubscriptionNotFound", "The subscription '1' could not be found."),
        arm("ResourceNotFound", "The Resource 'x' was not found."),
        arm("NotFound", "No such thing."),
        arm("InvalidAuthenticationToken", "The access token is invalid."),
        "ERROR: Subscription '1' not found. Check the spelling and casing and try again.\n",
        "ERROR: Please run 'az login' to setup account.\n",
        [],
        {"properties": None},
        {"properties": {"provisioningState": "Succeeded"}},
        "",
    ],
)
def test_nothing_else_is_taken_for_gone(tmp_path, answer):
    """Neither as the answer to the deletion, nor as that to a look at the group."""
    assert "RESOURCE GROUP g IS STILL IN AZURE AND COSTS MONEY" in delete(program(tmp_path, answer))
    assert "RESOURCE GROUP g IS STILL IN AZURE AND COSTS MONEY" in delete(program(tmp_path, None, answer))


def test_a_group_that_could_not_be_found_once_is_looked_for_again(tmp_path):
    assert delete(program(tmp_path, GONE, STANDING, None, GONE), 60) == ""
    assert [line.split()[1] for line in given(tmp_path)] == ["delete", "show", "delete", "show"]


def test_what_passes_is_waited_for_and_told_in_one_line(tmp_path):
    told: list[str] = []
    az = program(tmp_path, *[NETWORK] * 7, None, PAGE, None, DELETING, GONE)
    assert not orphans.Deletion(az=az, group="g", tell=told.append, patience_s=3600).carry_out().left
    network, page = told
    assert "Max retries exceeded" in network
    assert network.endswith("Trying again for another 60 minutes; Ctrl-C ends the waiting")
    assert "invalid status" in page


@pytest.mark.parametrize("code", ["ScopeLocked", "AuthorizationFailed"])
def test_what_lasts_is_tried_a_few_times(tmp_path, code):
    assert code in delete(program(tmp_path, arm(code, "No.")), 3600)
    assert len(given(tmp_path)) == orphans.DELETE_TRIES


def test_the_last_words_tell_the_command_with_the_subscription(tmp_path):
    said = delete(program(tmp_path, NETWORK).within("1-2-3"))
    assert "`az group delete --name g --yes --subscription 1-2-3`" in said
    assert "`azbench cleanup --group g --yes --subscription 1-2-3`" in said


THINGS = [{"name": f"d{n}", "type": "Microsoft.Compute/disks"} for n in range(7)]


@pytest.mark.parametrize("state", [DELETING, STANDING])
def test_what_is_still_in_a_group_is_named_with_a_disk_that_can_be_read(tmp_path, state):
    """Its deletion lasts longer than it is waited for, or ended without success."""
    said = delete(program(tmp_path, None, state, THINGS, ["d3"]))
    named = ", ".join(f"d{n} (Microsoft.Compute/disks)" for n in range(5))
    why = (
        "is still being deleted after 1 minute"
        if state is DELETING
        else "deletion ended, and it is Succeeded"
    )
    assert f"{why}, with {named}, 2 more in it; a disk with an active SAS cannot be deleted: d3" in said
    assert "RESOURCE GROUP g IS STILL IN AZURE" in said


def test_what_is_in_a_group_that_is_deleted_slowly_is_told_once_meanwhile(tmp_path, monkeypatch):
    monkeypatch.setattr(orphans, "SLOW_S", -1.0)
    told: list[str] = []
    az = program(tmp_path, None, DELETING, THINGS[:1], [], DELETING, GONE)
    assert not orphans.Deletion(az=az, group="g", tell=told.append, patience_s=3600).carry_out().left
    assert told == [
        "g: it is still being deleted after 1 minute, with d0 (Microsoft.Compute/disks) in it; Ctrl-C ends "
        "the waiting, not the deletion"
    ]


# --- interrupts

GOING = (
    "Azure has accepted the deletion of resource group g and carries it out by itself; `azbench cleanup` "
    "looks whether it is gone"
)


def interrupted_at(tmp_path: Path, *numbers: int) -> orphans.Deleted:
    """A deletion whose n-th call of az sends a signal to this process, as a terminal or a parent would."""
    script = (tmp_path / "az").read_text()
    send = "".join(f"[ $number = {n} ] && kill -INT {os.getpid()} && sleep 0.5\n" for n in numbers)
    (tmp_path / "az").write_text(script.replace("[ -e", f"{send}[ -e", 1))
    with Interrupts() as interrupts:
        interrupts.end()
        az = Az(path=str(tmp_path / "az"))
        return orphans.Deletion(az=az, group="g", tell=lambda text: None, interrupts=interrupts).carry_out()


def test_an_interrupt_while_the_deletion_is_asked_for_does_not_stop_that(tmp_path):
    program(tmp_path, None, DELETING)
    deleted = interrupted_at(tmp_path, 1)
    assert deleted.interrupted
    assert deleted.left == GOING
    assert len(given(tmp_path)) == 1


def test_an_interrupt_while_it_is_waited_for_ends_the_waiting(tmp_path):
    program(tmp_path, None, DELETING)
    deleted = interrupted_at(tmp_path, 3)
    assert deleted.interrupted
    assert deleted.left == GOING


def test_an_interrupt_while_azure_cannot_be_reached_ends_the_trying(tmp_path):
    program(tmp_path, NETWORK)
    deleted = interrupted_at(tmp_path, 2)
    assert deleted.interrupted
    assert "before Azure had accepted it" in deleted.left
    assert len(given(tmp_path)) == 2


def test_a_signal_that_comes_twice_at_once_is_one(tmp_path):
    with Interrupts():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)  # the parent's, just after the terminal's
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_every_polite_end_interrupts(number):
    before = signal.signal(number, signal.SIG_DFL)  # the tests may have been started by nohup
    try:
        with Interrupts(), pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)


def test_a_signal_that_is_ignored_stays_so(tmp_path):
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with Interrupts():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


# --- a run


@pytest.fixture
def small(tmp_path: Path) -> Cloud:
    """A run that is noted to have made the group g."""
    (tmp_path / "small.yaml").write_text(TINY)
    found = measurement_file.load(tmp_path / "small.yaml")
    todo = CloudPlan(experiment=found, started=plan.now(), subscription="1-2-3", groups=["g"])
    plan.save(tmp_path / "out", todo)
    run = AzureRun(
        folder=tmp_path / "out",
        plan=todo,
        measurements=measures_of(found),
        progress=quiet,
        interrupts=Interrupts(),
    )
    return Cloud(run=run, az=program(tmp_path, None, GONE), group="g")


def test_a_run_that_lasts_puts_the_end_of_its_vm_off_and_keeps_its_lease(small, tmp_path):
    small.az = program(tmp_path, None)
    small.vm("vm-1")
    small.run.plan.expires = (datetime.now(UTC) + timedelta(hours=5)).isoformat()
    small.renew()  # it was just taken
    assert given(tmp_path) == []
    small.hold()
    assert [line.split()[:2] for line in given(tmp_path)] == [["group", "update"]] * 2
    small.run.plan.expires = (datetime.now(UTC) + timedelta(minutes=30)).isoformat()
    small.hold()
    later = datetime.fromisoformat(small.run.plan.expires)
    assert later > datetime.now(UTC) + timedelta(minutes=110)
    shutdown, expires = given(tmp_path)[-2:]
    assert f"auto-shutdown --resource-group g --name vm-1 --time {later:%H%M}" in shutdown
    assert f"tags.expires={small.run.plan.expires}" in expires
    small.az = program(tmp_path, arm("AuthorizationFailed", "No."))
    small.hold()  # ends nothing


def ended(small: Cloud, work: Callable[[], object]) -> None:
    carry_out(small.run, work, lambda fault: teardown.release(small, fault))


def test_the_deletion_outlives_a_progress_that_nobody_reads(small, tmp_path):
    def broken(done: int, total: int, text: str) -> None:
        raise BrokenPipeError

    def fail() -> None:
        raise AzbenchError("no")

    small.run.progress = unheard(broken)
    with pytest.raises(AzbenchError, match=r"^no\. Nothing is left in Azure"):
        ended(small, fail)
    assert [line.split()[1] for line in given(tmp_path)] == ["delete", "show"]
    assert plan.load(small.run.folder, CloudPlan).groups == []


def test_a_group_that_is_left_stays_noted(small, tmp_path, monkeypatch):
    monkeypatch.setattr(orphans, "DELETION_PATIENCE_S", 0)
    small.az = program(tmp_path, NETWORK)
    with pytest.raises(AzbenchError, match="RESOURCE GROUP g IS STILL IN AZURE"):
        ended(small, lambda: None)
    assert plan.load(small.run.folder, CloudPlan).groups == ["g"]
    assert list(teardown.noted(small.run.folder)) == ["g"]


@pytest.mark.parametrize("ends", [False, True])
def test_a_deletion_that_azure_has_accepted_is_noted_until_it_fails(small, tmp_path, monkeypatch, ends):
    """So that it is told of it also where the process was killed while it waited."""
    small.az = program(tmp_path, None, DELETING, *([STANDING, [], [], NETWORK] if ends else [PAGE]))
    monkeypatch.setattr(orphans, "DELETION_PATIENCE_S", 0.5)
    with pytest.raises(AzbenchError, match="RESOURCE GROUP g IS STILL IN AZURE"):
        ended(small, lambda: None)
    (said,) = teardown.noted(small.run.folder).values()
    going = orphans.going(small.az.within("1-2-3"), "g")
    assert said != going if ends else said == going


@pytest.mark.parametrize("code", ["AuthorizationFailed", "RequestDisallowedByPolicy"])
def test_a_group_that_may_not_be_made_is_not_told_as_left(small, tmp_path, code):
    small.az = program(tmp_path, arm(code, "No."))
    step = Call("resource group", ["group", "create", "--name", "g"])
    with pytest.raises(AzbenchError, match="Nothing is left in Azure") as caught:
        ended(small, lambda: small.make(step))
    assert code in str(caught.value)
    assert len(given(tmp_path)) == 1
    assert plan.load(small.run.folder, CloudPlan).groups == []


@pytest.mark.parametrize("fresh", [False, True])
def test_groups_of_an_earlier_run_are_deleted_first_in_its_subscription(small, tmp_path, fresh, monkeypatch):
    program(tmp_path, {"id": "1-2-3"}, OWN, None, GONE)
    monkeypatch.setenv("AZBENCH_AZ", str(tmp_path / "az"))
    other = small.run.plan.model_copy(update={"groups": [], "started": plan.now()})
    teardown.delete_earlier(other, small.run.folder, fresh, quiet)
    assert [line.partition(" --subscription ")[2][:5] for line in given(tmp_path)] == ["1-2-3"] * 4
    assert plan.load(small.run.folder, CloudPlan).groups == []


def test_a_vm_on_which_nothing_is_left_but_needless_repeats_is_deleted(small, tmp_path, monkeypatch):
    """Killed after the third repeat, after which its figures are known closely enough: it is not taken up."""
    file = tmp_path / "until.yaml"
    file.write_text(f"{TINY}until: {{iops: 100%}}\n")
    found = measurement_file.load(file)
    named = {"experiment": found, "made_for": [found.setups[0].name], "steps_done": 99}
    run = noted_run(small.run.folder, small.run.plan.model_copy(update=named))
    run.save()
    for one in run.measurements[:3]:
        run.output(one).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(OUTPUT, run.output(one))
    assert len(run.measurements) > 3
    assert all(map(run.done, run.measurements))
    program(tmp_path, {"id": "1-2-3"}, OWN, None, GONE)
    monkeypatch.setenv("AZBENCH_AZ", str(tmp_path / "az"))
    asked = run.plan.model_copy(update={"groups": [], "started": plan.now()})
    teardown.delete_earlier(asked, run.folder, False, quiet)
    assert [line.split()[:2] for line in given(tmp_path)[1:]] == [
        ["group", "show"],
        ["group", "delete"],
        ["group", "show"],
    ]


def test_a_finished_dataset_whose_groups_are_gone_tells_no_subscription(small, tmp_path, monkeypatch):
    program(tmp_path, {"id": "1-2-3"}, OWN, None, GONE)
    monkeypatch.setenv("AZBENCH_AZ", str(tmp_path / "az"))
    (small.run.folder / "manifest.json").write_text("{}")
    teardown.delete_earlier(small.run.plan, small.run.folder, False, quiet)
    assert "1-2-3" not in (small.run.folder / "plan.json").read_text()


def test_a_run_is_not_taken_up_on_a_vm_that_is_being_deleted(small, tmp_path, monkeypatch):
    """As after an interrupt and a kill: the deletion goes on, and the VM still runs."""
    steps_done = {"made_for": [small.run.plan.experiment.setups[0].name], "steps_done": 99}
    plan.save(small.run.folder, small.run.plan.model_copy(update=steps_done))
    program(tmp_path, {"id": "1-2-3"}, {**OWN, **DELETING}, {**OWN, **DELETING}, None, GONE)
    monkeypatch.setenv("AZBENCH_AZ", str(tmp_path / "az"))
    teardown.delete_earlier(small.run.plan.model_copy(), small.run.folder, False, quiet)
    assert [line.split()[1] for line in given(tmp_path)] == ["show", "show", "show", "delete", "show"]


def test_a_run_whose_plan_is_gone_is_refused_with_the_way_to_what_it_left(small):
    (small.run.folder / "az.log.jsonl").write_text("")
    (small.run.folder / "plan.json").unlink()
    with pytest.raises(InputError, match=r"plan\.json is gone.* `azbench cleanup` lists what it may"):
        teardown.delete_earlier(small.run.plan, small.run.folder, False, quiet)


def test_the_status_of_a_run_that_was_killed_names_its_group(small):
    Journal(small.run.folder).add(JournalEvent.PLANNED, runs=[], design="")
    assert "RESOURCE GROUP g IS STILL IN AZURE" in [*campaign_status.of(small.run.folder).lines()][-1]
    with lock.held(small.run.folder):
        assert campaign_status.of(small.run.folder).in_azure == ()


def test_metrics_are_waited_for_as_long_whatever_the_clock_says(small, tmp_path, monkeypatch):
    """It was 30 hours ahead while it was measured, and is right again."""
    for name in ("LAG_S", "MONITOR_PAUSE_S"):
        monkeypatch.setattr(cloud, name, 0.01)
    small.az = program(tmp_path, {"id": "vm"}, {"value": []})
    later = (datetime.now(UTC) + timedelta(hours=30)).isoformat()
    small.run.plan.windows = {"s": ["vm-1", later, later]}
    small.collect_metrics()
    assert small.run.plan.windows == {}


def test_a_subscription_that_the_account_does_not_have_is_named(small, tmp_path, monkeypatch):
    program(tmp_path, "ERROR: Subscription '1-2-3' not found. Check the spelling and casing and try again.\n")
    monkeypatch.setenv("AZBENCH_AZ", str(tmp_path / "az"))
    with pytest.raises(InputError, match=r"plan\.json: the run was begun in the subscription 1-2-3, which"):
        teardown.delete_earlier(small.run.plan, small.run.folder, False, quiet)


@pytest.mark.parametrize(
    ("said", "taken"),
    [
        (arm("BadRequest", "Disk d cannot be attached: not in the same zone as the VM. VM zone: '2'."), True),
        (arm("OperationPreempted", "The operation was preempted by another in zone 2."), False),
        (arm("Conflict", "The request failed due to conflict; the zone is busy."), False),
        (arm("BadRequest", "The LUN 0 is in use."), False),
        (arm("AllocationFailed", "No capacity in the zone."), False),
        (NETWORK, False),
        ("ERROR: Please run 'az login' to setup account.\n", False),
    ],
)
def test_only_a_refusal_because_of_zones_is_the_one_that_was_expected(small, tmp_path, said, taken):
    small.az = program(tmp_path, said)
    step = Call("attach", ["vm", "disk", "attach", "--name", "d"], ("zone-2", "lrs"))
    if taken:
        small.do(step)
        assert "Azure refused to attach lrs, as expected" in small.run.plan.notes[0]
    else:
        with pytest.raises(AzError):
            small.do(step)
        assert not small.run.plan.notes


def test_a_script_whose_time_was_over_is_told_so():
    assert (
        Ended(state="TimedOut", exit_code=0, output="", error="", timeout_s=90).last_words
        == "it was stopped after 90 s"
    )
    assert Ended(
        state="TimedOut", exit_code=0, output="laying out\n", error="", timeout_s=90
    ).last_words.endswith("; its last line: laying out")
    assert (
        Ended(state="Failed", exit_code=7, output="", error="", timeout_s=90).last_words
        == "it ended as Failed, with exit code 7, and wrote nothing"
    )


# --- what cleanup takes


@pytest.mark.parametrize(
    ("owner", "expires", "why"),
    [
        ("jane", "2026-01-01T00:00:00+00:00", ""),
        ("jane", "2026-01-01T00:00:00", ""),
        ("jane", "2026-12-01T00:00:00+00:00", "has not expired"),
        ("jane", "", "has not expired"),
        ("jane", "tomorrow", "has not expired"),
        ("Jane", "2026-01-01T00:00:00+00:00", "it is not jane's"),
        ("joe", "2026-01-01T00:00:00+00:00", "it is not jane's"),
        ("", "2026-01-01T00:00:00+00:00", "it is not jane's"),
        ("joe", "2026-12-01T00:00:00Z", "it is not jane's, and its run may go on: it has not expired"),
    ],
)
def test_only_ones_own_that_have_expired_are_taken_unasked(owner, expires, why):
    left = OrphanedGroup(
        group="g", region="westeurope", owner=owner, campaign="c", expires=expires, state="Succeeded"
    )
    found = left.kept_because("jane", datetime(2026, 11, 22, tzinfo=UTC))
    assert found.endswith(why) and bool(found) == bool(why)


def test_a_group_without_all_of_azbenchs_tags_is_not_its_own(tmp_path):
    tags = {"tool": "azbench", "owner": "jane", "campaign": "c", "expires": "2026-01-01T00:00:00+00:00"}
    groups = [{"name": "whole", "tags": tags}, {"name": "bare", "tags": None}, {"name": "none"}]
    groups += [{"name": f"no-{name}", "tags": {**tags, name: None}} for name in ("tool",)]
    groups += [{"name": f"un-{name}", "tags": {k: v for k, v in tags.items() if k != name}} for name in tags]
    assert [left.group for left in orphans.find(program(tmp_path, groups))] == ["whole"]


@pytest.mark.parametrize("answer", [None, {}, "", [1], {"value": []}])
def test_an_answer_that_is_no_list_of_groups_is_not_taken_for_an_empty_one(tmp_path, answer):
    with pytest.raises(AzbenchError):
        orphans.find(program(tmp_path, answer))


# --- one at a time

HOLD = """
import sys
from pathlib import Path
from azbenchlib.campaign import lock
from azbenchlib.campaign import status as campaign_status
with lock.held(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path):
    """Another process that measures into a folder."""
    command = [sys.executable, "-c", HOLD, str(tmp_path / "ds")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_two_processes_do_not_measure_into_one_folder(holder, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "ds")
    for name in ("ds", "link", "../" + tmp_path.name + "/ds"):
        with pytest.raises(InputError) as caught, lock.held(tmp_path / name):
            pass
        assert f"process {holder.pid} on {socket.gethostname()}" in str(caught.value)
        assert f"kill {holder.pid}" in str(caught.value)
    with lock.held(tmp_path / "other"):
        pass


def test_a_lock_ends_with_its_process_however_that_ends(holder, tmp_path):
    holder.kill()
    holder.wait()
    assert (tmp_path / ".ds.lock").exists()
    with lock.held(tmp_path / "ds"):
        assert json.loads((tmp_path / ".ds.lock").read_text())["pid"] == os.getpid()
    assert list(tmp_path.iterdir()) == []


LEAVE = """
import os, subprocess, sys
code, folder, gate = sys.argv[1:]
subprocess.Popen([sys.executable, "-c", code, folder], stdin=open(gate)).wait()
"""


@contextmanager
def left_alone(folder: Path) -> Iterator[Callable[[], None]]:
    """A process that measures into a folder and whose parent was killed; it ends when it is told to."""
    gate = folder.with_name("gate")
    gate.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(gate)
    command = [sys.executable, "-c", LEAVE, HOLD, str(folder), str(gate)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, gate.open("w") as opened:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it stays listed
        yield opened.close


def test_a_process_whose_parent_was_killed_is_waited_for_until_it_ends(tmp_path, monkeypatch):
    """It ends when its waiting is told: with the wait of others, the folder would be refused."""
    monkeypatch.setattr(lock, "WAIT_S", 0.0)
    told: list[str] = []
    with left_alone(tmp_path / "ds") as end:

        def tell(text: str) -> None:
            told.append(text)
            end()

        with lock.held(tmp_path / "ds", tell):
            pass
    (line,) = told
    assert re.match(rf"process \d+ on {socket.gethostname()} .* still measures into ds, and what", line)


def test_a_process_whose_parent_was_killed_and_that_does_not_end_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(lock, "WAIT_S", 0.0)
    monkeypatch.setattr(lock, "ENDING_S", 0.3)
    told: list[str] = []
    with (
        left_alone(tmp_path / "ds"),
        pytest.raises(InputError, match="measures into it; wait for it"),
        lock.held(tmp_path / "ds", told.append),
    ):
        pass
    assert len(told) == 1


def test_no_group_of_a_vm_is_told_as_left_while_its_process_lives(small, monkeypatch):
    """Of several VMs at a time: the process of one goes on and is waited for; that of the other is gone."""
    dataset = small.run.folder
    one, other = (dataset / folders.VMS / name for name in ("one", "other"))
    for own in (one, other):
        plan.save(own, small.run.plan.model_copy(update={"groups": [f"g-{own.name}"]}))
    (dataset / plan.PLAN_FILE).unlink()
    with left_alone(one) as end:
        with monkeypatch.context() as patched:
            patched.setattr(lock, "ENDING_S", 0.3)
            assert [*teardown.noted(dataset)] == ["g-other"]
            with pytest.raises(InputError, match=r"one: process .* measures into it"):
                folders.take_back(dataset, small.run.plan)
        assert [*teardown.noted(dataset, lambda text: end())] == ["g-one", "g-other"]


def test_a_lock_of_another_host_is_told_with_the_way_out(tmp_path):
    told = {"pid": 7, "host": "elsewhere", "since": "2026-11-22T09:00:00+00:00"}
    (tmp_path / ".ds.lock").write_text(json.dumps(told))
    with (
        pytest.raises(InputError, match=r"process 7 on elsewhere .* delete .*\.ds\.lock"),
        lock.held(tmp_path / "ds"),
    ):
        pass
    (tmp_path / ".ds.lock").unlink()
    with lock.held(tmp_path / "ds"):
        pass


@pytest.mark.parametrize("content", ["", "{", "[]", "7", "\x00"])
def test_a_lock_file_that_says_nothing_is_taken_over(tmp_path, content):
    (tmp_path / ".ds.lock").write_text(content)
    with lock.held(tmp_path / "ds"):
        pass


def test_a_run_that_goes_on_elsewhere_is_not_told_as_left(small, holder, tmp_path):
    assert list(teardown.noted(small.run.folder)) == ["g"]
    small.run.folder.rename(tmp_path / "ds")
    assert teardown.noted(tmp_path / "ds") == {}
    assert teardown.noted(tmp_path / "nowhere") == {}


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"file/.*\.ds\.lock"), lock.held(tmp_path / "file" / "ds"):
        pass
