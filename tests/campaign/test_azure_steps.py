"""What would be done in Azure: the order of the steps, and every command against az's own parser."""

import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fake_azure.login import refused

from azbenchlib.campaign import experiment
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.planning import plan_text
from azbenchlib.campaign.targets.azure import commands as azure
from azbenchlib.campaign.targets.azure import steps as cloud_plan
from azbenchlib.campaign.targets.azure.ending import orphans
from azbenchlib.campaign.targets.azure.steps import Call, Measure, Prepare, Release, Rest

pytest_plugins = ("fake_azure.fixtures",)

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "campaigns").glob("*.yaml"))
TAGS = {"tool": "azbench", "owner": "me"}
MANY = """
title: Everything that a file can ask for
region: westeurope
vm: Standard_E8ds_v5
zone: 2
outbound: nat
priority: spot
controller: SCSI
image: Debian:debian-12:12-gen2:latest
security_type: Standard
features: [Microsoft.Compute/Something]
disks:
  os: {role: os, sku: StandardSSD_LRS, size: 64GiB, caching: None}
  temp: {role: temp}
  tiered: {sku: Premium_LRS, size: 128GiB, tier: P30, caching: ReadOnly}
  stripe: {sku: StandardSSD_ZRS, size: 256GiB, count: 4, stripe: 128k}
  v2: {sku: PremiumV2_LRS, size: 100GiB, iops: 5000, mbps: 200, raw: true}
  hdd: {sku: Standard_LRS, size: 32GiB, caching: ReadWrite}
workloads:
  read: {rw: read, bs: 1m, size: 1g, runtime: 5}
setups:
  - {name: first}
  - {name: second, disks: {os: {}, tiered: {tier: P40, caching: None}, v2: {iops: 6000}}}
  - {name: third, zone: 1, disks: {stripe: {}, hdd: {}}}
"""


def _steps(path: Path):
    return cloud_plan.steps(measurement_file.load(path), "g", TAGS, "0700")


@pytest.fixture
def many(tmp_path: Path) -> Path:
    path = tmp_path / "many.yaml"
    path.write_text(MANY)
    return path


def _commands(path: Path) -> list[list[str]]:
    found = measurement_file.load(path)
    calls = [step.argv for step in cloud_plan.steps(found, "g", TAGS, "0700") if isinstance(step, Call)]
    return [*cloud_plan.checks(found), *calls]


def test_azs_own_parser_accepts_every_command_of_the_shipped_files(az_path, many):
    commands = [argv for path in [*SHIPPED, many] for argv in _commands(path)]
    commands += [
        azure.provider_register("Microsoft.Compute"),
        azure.feature_register("Microsoft.Compute/Something"),
        azure.script_start("g", "vm-1", "azbench-1", "#!/bin/sh\necho 1\n", 60),
        azure.script_show("g", "vm-1", "azbench-1"),
        azure.script_invoke("g", "vm-1", "#!/bin/sh\necho 1\n"),
        [*azure.script_start("g", "vm-1", "azbench-1", "echo 1", 60), "--protected-parameters", "sas=x"],
        azure.script_delete("g", "vm-1", "azbench-1"),
        azure.disk_grant("g", "azbench_results", 60),
        azure.disk_revoke("g", "azbench_results"),
        azure.disk_delete("g", "azbench_results"),
        azure.range_download("https://x/y/z", "part", 0, 4095),
        azure.network_create("g", "none"),
        azure.vm_show("g", "vm-1"),
        azure.disk_show("g", "data"),
        azure.vm_state("g", "vm-1"),
        azure.role_assign("33333333-3333-3333-3333-333333333333", "/subscriptions/1/resourceGroups/g"),
        azure.resource_manager(),
        azure.metrics("/subscriptions/1/x", azure.DISK_METRICS, *[datetime.now(UTC)] * 2, by_lun=True),
        azure.metrics("/subscriptions/1/x", azure.VM_METRICS, *[datetime.now(UTC)] * 2, by_lun=False),
        azure.group_tag("g", "lease", "2026-11-22T09:00:00+00:00"),
        azure.group_show("g"),
        azure.group_delete("g"),
        azure.group_list(orphans.TAG),
        shlex.split(orphans.command("g", "sub"))[1:],
        ["version"],
    ]
    about = ["--subscription", "11111111-1111-1111-1111-111111111111"]  # goes with every one
    commands = [
        argv if "--subscription" in argv or argv[0] == "cloud" else [*argv, *about] for argv in commands
    ]
    wrong = {" ".join(a): why for a, why in zip(commands, refused(az_path, commands), strict=True) if why}
    assert wrong == {}


def test_the_parser_would_tell(az_path):
    no = refused(
        az_path, [["disk", "create", "-g", "g", "-n", "d", "--size", "5"], ["vm", "create", "-g", "g"]]
    )
    assert all(no)


def test_one_vm_serves_setups_that_differ_in_data_disks_only(many):
    titles = [step.title for step in _steps(many) if isinstance(step, Call)]
    assert sum(title.startswith("vm-1: ") for title in titles) == 1
    assert sum(title.startswith("vm-2: ") for title in titles) == 1
    assert not any("vm-3" in title for title in titles)


def test_disks_are_changed_moved_and_let_go_in_order(many):
    found = [(type(step), step.title) for step in _steps(many) if not isinstance(step, Measure)]
    names = [title for _, title in found]
    # the caching changes by attaching anew, the tier and the IOPS in place
    assert names.index("unmount tiered on vm-1") < names.index("detach tiered from vm-1")
    assert names.index("detach tiered from vm-1") < names.index("disk tiered: change it")
    assert "disk v2: change it" in names
    assert "detach v2 from vm-1" in names  # only when the VM goes
    assert names.index("detach v2 from vm-1") < names.index("delete vm-1")
    # a stripe is four disks, prepared once a VM
    assert sum(name.startswith("disk stripe-") for name in names) == 4
    assert names.count("prepare stripe on vm-1") == 1
    assert names.count("prepare stripe on vm-2") == 1
    # every disk that is detached was unmounted before
    for kind, title in found:
        if kind is Release:
            disk = title.split()[1]
            members = [i for i, name in enumerate(names) if name.startswith(f"detach {disk}")]
            assert any(i > names.index(title) for i in members)


def _there(steps):
    """What is attached after steps, at which LUN, and which disks are ready."""
    luns, ready = {}, set()
    for step in steps:
        if isinstance(step, Prepare):
            ready.add((step.disk, step.luns))
        elif isinstance(step, Release):
            ready = {one for one in ready if one[0] != step.disk}
        elif isinstance(step, Call) and step.argv[:3] == ["vm", "disk", "attach"]:
            luns[cloud_plan.name_of(step)] = step.argv[step.argv.index("--lun") + 1 :]
        elif isinstance(step, Call) and step.argv[:3] == ["vm", "disk", "detach"]:
            del luns[cloud_plan.name_of(step)]
        elif isinstance(step, Call) and step.argv[:2] == ["vm", "create"]:
            luns, ready = {}, set()
    return luns, ready


def test_a_vm_in_the_place_of_an_evicted_one_has_what_that_one_had(many):
    steps = _steps(many)
    seen = 0
    for at in range(len(steps)):
        made = cloud_plan.place_of_vm(steps, at)
        if made is None:
            continue
        again = cloud_plan.steps_again(steps, made, at)
        assert cloud_plan.is_spot(again[0]) and again[0] == steps[made]
        assert _there(again) == _there(steps[:at])
        assert len([one for one in again if isinstance(one, Call) and "auto-shutdown" in one.argv]) == (
            at > made + 1
        )
        assert not [one for one in again if isinstance(one, Measure | Release)]
        assert not [one for one in again if isinstance(one, Call) and one.argv[0] == "disk"]
        seen += 1
    assert seen > 30
    deleted = next(n for n, one in enumerate(steps) if isinstance(one, Call) and "delete" in one.argv)
    assert cloud_plan.place_of_vm(steps, deleted) is not None
    assert cloud_plan.place_of_vm(steps, deleted + 1) is None


def test_only_the_rest_of_the_setup_that_is_measured_is_rested_again(tmp_path):
    path = tmp_path / "rests.yaml"
    path.write_text(
        MANY.replace("{name: first}", "{name: first, rest: 5}").replace(
            "{name: second,", "{name: second, rest: 7,"
        )
    )
    steps = _steps(path)
    places = [n for n, one in enumerate(steps) if isinstance(one, Measure)]
    rests = {}
    for at in places:
        again = cloud_plan.steps_again(steps, cloud_plan.place_of_vm(steps, at), at)
        rests[steps[at].setup.name] = [one.seconds for one in again if isinstance(one, Rest)]
    assert rests == {"first": [5], "second": [7], "third": []}


def test_every_disk_gets_a_lun_of_its_own(many):
    attached: dict[str, int] = {}
    for step in _steps(many):
        if isinstance(step, Call) and step.argv[:3] == ["vm", "disk", "attach"]:
            name, lun = step.argv[step.argv.index("--name") + 1], step.argv[step.argv.index("--lun") + 1]
            assert int(lun) not in attached.values()
            attached[name] = int(lun)
        if isinstance(step, Call) and step.argv[:3] == ["vm", "disk", "detach"]:
            del attached[step.argv[step.argv.index("--name") + 1]]


def test_prepared_disks_know_their_luns(many):
    prepared = {step.disk: step.luns for step in _steps(many) if isinstance(step, Prepare)}
    assert len(prepared["stripe"]) == 4
    assert prepared["temp"] == ()


def test_rests_come_before_the_workloads():
    steps = _steps(ROOT / "campaigns" / "ultra-disk.yaml")
    rests = [i for i, step in enumerate(steps) if isinstance(step, Rest)]
    assert [steps[i].seconds for i in rests] == [3600, 3600]
    assert all(isinstance(steps[i - 1], Call) and isinstance(steps[i + 1], Measure) for i in rests)


def test_the_lrs_disk_is_asked_to_move_and_may_be_refused():
    steps = _steps(ROOT / "campaigns" / "zone-redundant-disks.yaml")
    (refusal,) = [step for step in steps if isinstance(step, Call) and step.refusal]
    assert refusal.refusal == ("zone-2", "lrs")
    assert not [
        step
        for step in steps
        if isinstance(step, Measure | Prepare) and (step.setup.name, step.disk) == ("zone-2", "lrs")
    ]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
@pytest.mark.sampled(3)
def test_the_printed_plan_is_what_is_run(path):
    lines = list(plan_text.lines(experiment.load(path)))
    found = measurement_file.load(path)
    printed = {line for line in lines if line.startswith("az ")}
    steps = cloud_plan.steps(found, "GROUP", {}, "HHMM")
    for step in steps:
        if isinstance(step, Call) and step.argv[0] != "group":
            assert any(line.startswith(azure.text(step.argv)) for line in printed)
    measuring = [line for line in lines if line.startswith(("fio ", "iozone -R ")) and "layout" not in line]
    assert len(measuring) == sum(isinstance(step, Measure) for step in steps)
    assert lines[-1] == "az group delete --name GROUP --yes"
    assert not [line for line in lines if "ssh-ed25519" in line]


def test_names_of_groups_are_what_azure_takes():
    long = "Ä title — with 100 % of everything, " * 5
    name = cloud_plan.group_name(long, "2026-11-20T16:03:31+00:00", "a1b2")
    assert name == "azbench-title-with-100-of-everything-title-with-20261120-1603-a1b2"
    assert len(name) <= 90
    assert cloud_plan.group_name("x" * 100, "2026-11-20T16:03", "n").startswith(
        "azbench-" + "x" * 40 + "-2026"
    )


def test_nobodys_key_is_a_key_that_az_takes(az_path):
    kind, _, comment = azure.nobodys_key().split()
    assert (kind, comment) == ("ssh-ed25519", "nobody@azbench")
    assert azure.nobodys_key() != azure.nobodys_key()
