"""A resource group of the user's: a run makes its things in it, and deletes exactly those."""

import os
import shutil
import signal
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fake_azure.campaigns import SMALL, azbench, measured, refused, started, until
from fake_azure.identity import SUBSCRIPTION
from fake_azure.login import Azure
from fake_azure.login import refused as login_refused
from fake_azure.roles import documented
from waiting import PATIENCE_S

from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.targets.azure import commands
from azbenchlib.campaign.targets.azure import steps as cloud_steps
from azbenchlib.campaign.targets.azure.commands import RUN
from azbenchlib.campaign.targets.azure.ending import orphans, things
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]

THEIRS = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/theirs"
OTHERS = "azb0123456789"  # the prefix of a colleague's run
SECOND = "  second: {rw: randwrite, bs: 4k, size: 4m, runtime: 1}\n"
THIRD = "  third: {rw: randread, bs: 8k, size: 4m, runtime: 1}\n"


@pytest.fixture
def given(signed_in: Azure, small: Path) -> tuple[Path, dict[str, Any]]:
    """A file that names a group of the user's, in which are others' things of the same names; all of them."""
    arm = signed_in.arm
    arm.put(THEIRS, {"location": "westeurope", "tags": {"team": "storage"}})
    others = {"location": "westeurope", "tags": {RUN: OTHERS, "owner": "joe", "expires": "2020-01-01"}}
    for kind, name, told in (
        ("Compute/disks", "data", {}),
        ("Network/virtualNetworks", "azbench-network", {}),
        ("Network/networkInterfaces", "vm-1VMNic", {}),
        ("Compute/disks", f"{OTHERS}-data", others),
    ):
        arm.put(f"{THEIRS}/providers/Microsoft.{kind}/{name}", {"location": "westeurope", **told})
    small.write_text(SMALL.replace("zone: 1", "zone: 1\ngroup: theirs"))
    # no right to make, change or delete a group is needed
    role, _, _, within = documented()
    groups = {one for one in role if "resourceGroups/" in one and not one.endswith("/read")}
    arm.actions = (role - groups) | within
    return small, {key: dict(value) for key, value in arm.resources.items()}


def left(azure: Azure) -> dict[str, Any]:
    """All that is there, but for the history of deployments, which goes with a group alone."""
    found = azure.arm.resources.items()
    return {key: value for key, value in found if "/deployments/" not in key}


@pytest.mark.long
def test_a_run_leaves_a_given_group_as_it_was(
    signed_in: Azure, given: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a NAT gateway and a storage account, and a lease that is renewed meanwhile."""
    file, before = given
    monkeypatch.setattr(orphans, "RENEW_S", 0.5)
    text = file.read_text().replace("group: theirs", "group: theirs\noutbound: nat")
    file.write_text(text + SECOND + THIRD)
    folder = measured(file)
    assert set(Dataset.load(folder).runs["job"]) == {"first", "second", "third"}
    assert left(signed_in) == before
    arm = signed_in.arm
    made = arm.bodies(
        "PUT", r"/(disks|natGateways|publicIPAddresses|virtualNetworks|storageAccounts)/azb[^/]+$"
    )
    made += arm.bodies("PUT", "/deployments/")[0]["properties"]["template"]["resources"]
    assert len(made) >= 7
    (run,) = {one["tags"][RUN] for one in made}
    assert all({*orphans.TAGS, orphans.LEASE} <= {*one["tags"]} for one in made)
    names = [
        one.path.rpartition("/")[2]
        for one in arm.log
        if one.method == "DELETE" and "/runCommands/" not in one.path
    ]
    assert names and all(run in name for name in names)
    assert arm.bodies("PATCH", f"/virtualMachines/{run}-vm-1/providers/Microsoft.Resources/tags/default")
    assert not arm.bodies("PUT", r"/resourceGroups/[^/]+$") + arm.bodies("PUT", "/roleAssignments/")
    assert '"theirs"' not in (folder / "manifest.json").read_text()


@pytest.mark.long
def test_a_run_that_was_killed_goes_on_in_the_group_and_one_that_ends_early_leaves_nothing(
    signed_in: Azure, given: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    file, before = given
    file.write_text(file.read_text() + SECOND)
    with started(file) as process:
        until(process, "randwrite")
        process.kill()
    there = set(left(signed_in)) - set(before)
    assert any("/virtualmachines/azb" in key for key in there)
    said = azbench("cleanup", "--yes", environment=signed_in.environment, folder=tmp_path)
    assert said.returncode == 0, said.stderr
    assert there <= set(left(signed_in)), "its time is not over"
    measured(file)
    assert left(signed_in) == before
    assert len(signed_in.arm.bodies("PUT", "/deployments/")) == 1  # of one VM

    file.write_text(file.read_text().replace("title: Small", "title: Other").replace("4k", "16k"))
    file.with_name("out").rename(tmp_path / "first")
    with started(file) as process:
        until(process, "prepare data")
        process.send_signal(signal.SIGTERM)
        text, _ = process.communicate(timeout=PATIENCE_S)
    assert "Nothing is left in Azure" in text
    assert left(signed_in) == before


@pytest.mark.long
def test_two_users_in_one_group_do_each_other_no_harm(
    signed_in: Azure, given: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    """While both VMs measure, both clean up, and a copy of one's folder is measured into."""
    file, before = given
    expired = f"{THEIRS}/providers/Microsoft.Compute/disks/{OTHERS}-data".lower()
    del before[expired], signed_in.arm.resources[expired]
    file.write_text(file.read_text() + SECOND)
    signed_in.faults.hold("PUT", "/runCommands/", "--name=first", times=2)  # the scripts that measure
    users = {name: {**os.environ, "LOGNAME": name} for name in ("jane", "joe")}
    with ExitStack() as stack:
        runs = {}
        for name, environment in users.items():
            (own := tmp_path / name).mkdir()
            (own / file.name).write_text(file.read_text())
            runs[name] = started(own / file.name, env=environment)
            stack.callback(runs[name].kill)
        for run in runs.values():
            until(run, "data: randread")
        there = set(left(signed_in))
        for environment in users.values():
            done = azbench("cleanup", "--yes", "--all-owners", environment=environment, folder=tmp_path)
            assert done.stdout.count("its run is alive: it renews its lease") == 2, done.stdout + done.stderr
        shutil.copytree(tmp_path / "jane" / "out", file.with_name("out"))
        assert "is held by another run of this measurement, which renews its lease" in refused(file)
        assert set(left(signed_in)) == there
        signed_in.arm.let_go.set()
        for name, run in runs.items():
            said, _ = run.communicate(timeout=PATIENCE_S)
            assert run.returncode == 0, said
            assert set(Dataset.load(tmp_path / name / "out").runs["job"]) == {"first", "second"}
    assert left(signed_in) == before


@pytest.mark.long
def test_what_cannot_be_deleted_is_named_and_cleanup_deletes_it(
    signed_in: Azure, given: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file, before = given
    monkeypatch.setattr(orphans, "FIRST_PAUSE_S", 0.1)
    fault = signed_in.faults.refuse("DELETE", "/disks/azb", "ScopeLocked", times=99)
    said = refused(file)
    assert fault.hits == orphans.DELETE_TRIES
    assert "WHAT THE RUN MADE IN THE RESOURCE GROUP theirs IS STILL IN AZURE AND COSTS MONEY" in said
    where = said.partition("--group ")[2].partition(" ")[0]
    assert where.startswith("theirs/azb") and "ScopeLocked" in said
    signed_in.faults.planned.clear()
    listed = azbench("cleanup", environment=signed_in.environment, folder=tmp_path)
    assert where in listed.stdout and f"theirs/{OTHERS}" in listed.stdout
    done = azbench("cleanup", "--group", where, "--yes", environment=signed_in.environment, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert left(signed_in) == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"group": None}, "small.yaml:6: group 'theirs': the subscription has no such resource group"),
        ({"tags": dict.fromkeys(orphans.TAGS, "x") | {"tool": "azbench"}}, "was made by a run of azbench"),
        (
            {"not": "*/virtualMachines/delete"},
            "lacks rights in it: Microsoft.Compute/virtualMachines/delete;",
        ),
    ],
)
def test_a_group_that_is_of_no_use_is_refused_before_anything_is_made(
    signed_in: Azure, given: tuple[Path, dict[str, Any]], change: Mapping[str, Any], said: str
) -> None:
    file, _ = given
    if "group" in change:
        signed_in.arm.resources.clear()
    if "tags" in change:
        signed_in.arm.get(THEIRS)["tags"] = change["tags"]
    signed_in.arm.not_actions = [change["not"]] if "not" in change else []
    before = set(left(signed_in))
    assert said in refused(file)
    assert set(left(signed_in)) == before


class _Answers:
    """An az with an answer for each command, which notes what it was asked."""

    subscription = ""

    def __init__(self, listed: list[dict[str, Any]]) -> None:
        self.listed, self.asked = listed, list[list[str]]()

    def json(self, *argv: str) -> Any:
        self.asked.append(list(argv))
        return self.listed


def test_only_what_has_the_tag_or_begins_with_the_prefix_is_a_runs_own() -> None:
    mine, at = "azbaaaaaaaaaa", "/subscriptions/s/resourceGroups/g/providers"
    named = {
        f"{mine}-data": ("Microsoft.Compute/disks", {RUN: mine}),
        f"{mine}-vm-1_OsDisk_1": ("Microsoft.Compute/disks", {}),
        f"shutdown-computevm-{mine}-vm-1": ("Microsoft.DevTestLab/schedules", {}),
        f"{mine}-vm-1": ("Microsoft.Compute/virtualMachines", {}),
        "data": ("Microsoft.Compute/disks", {"tool": "azbench"}),
        f"backup-of-{mine}-data": ("Microsoft.Compute/disks", {}),
        "theirs": ("Microsoft.Compute/disks", {RUN: OTHERS}),
    }
    listed = [{"id": f"{at}/{k}/{n}", "name": n, "type": k, "tags": t} for n, (k, t) in named.items()]
    found = things.own(_Answers(listed), "g", mine)
    assert [one.name for one in found] == [
        f"{mine}-vm-1",
        f"shutdown-computevm-{mine}-vm-1",
        f"{mine}-data",
        f"{mine}-vm-1_OsDisk_1",
    ]
    assert found[1].deletion == [
        "vm",
        "auto-shutdown",
        "--name",
        f"{mine}-vm-1",
        "--resource-group",
        "g",
        "--off",
    ]
    for hostile in ("a", "", "azb", f"{mine}x", ".*"):
        with pytest.raises(AzbenchError, match="is noted as what the names of a run's things begin with"):
            things.own(_Answers(listed), "g", hostile)


@pytest.mark.long  # loads all of az
def test_azs_own_parser_accepts_every_command_in_a_given_group(az_path: Path, tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text(SMALL.replace("zone: 1", "zone: 1\ngroup: theirs\noutbound: nat"))
    todo = measurement_file.load(tmp_path / "f.yaml")
    planned = cloud_steps.steps(todo, "theirs", {"tool": "azbench"}, "0700", OTHERS)
    asked = [step.argv for step in planned if isinstance(step, cloud_steps.Call)]
    assert not [argv for argv in asked if argv[0] == "group"]
    at = "/subscriptions/s/resourceGroups/g"
    kinds = [things.Thing(group="g", name="n", kind=kind, region="", tags={}) for kind in things.DELETED_BY]
    asked += [one.deletion for one in kinds]
    asked += [commands.things_in("g"), commands.things_with(RUN), commands.deployments("g")]
    asked += [commands.permissions(at), commands.thing_tag(f"{at}/providers/a/b/c", {"lease": "x"})]
    about = ["--subscription", SUBSCRIPTION]
    asked = [[*argv, *about] for argv in asked]
    wrong = {" ".join(a): why for a, why in zip(asked, login_refused(az_path, asked), strict=True) if why}
    assert wrong == {}


def test_a_group_name_that_is_none_is_refused(tmp_path: Path) -> None:
    for name in ("-rf", "a b", "ends.", "@file", "x" * 91, "a/b"):
        (tmp_path / "f.yaml").write_text(SMALL.replace("zone: 1", f'zone: 1\ngroup: "{name}"'))
        with pytest.raises(InputError, match="group"):
            measurement_file.load(tmp_path / "f.yaml")
