"""The measurement file: what it says, what is refused, and the files that are shipped."""

import os
import re
from pathlib import Path

import pytest

from azbenchlib import campaign
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.files.spec import IMAGE
from azbenchlib.campaign.targets.azure import steps
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB, MIB
from azbenchlib.formats.fio.jobfile import read_fio_jobfile
from azbenchlib.formats.source import Source

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "campaigns").glob("*.yaml"))
CORPUS = os.environ.get("AZBENCH_CORPUS", "")

GOOD = """
title: A disk
region: westeurope
vm: Standard_D4as_v5
zone: 1
disks:
  data: {sku: Premium_LRS, size: 1024GiB, caching: ReadOnly}
workloads:
  read: {rw: randread, bs: 4k, iodepth: 32, size: 1g, runtime: 30}
"""
ULTRA = GOOD.replace("Premium_LRS", "UltraSSD_LRS").replace(", caching: ReadOnly", ", iops: 10000, mbps: 50")


def _load(folder: Path, text: str):
    path = folder / "file.yaml"
    path.write_text(text)
    return measurement_file.load(path)


def test_what_is_not_said_has_a_default(tmp_path):
    found = _load(tmp_path, GOOD)
    (setup,) = found.setups
    assert (setup.image, setup.security_type, setup.zone) == (IMAGE, "TrustedLaunch", "1")
    disk = setup.disks["data"]
    assert (disk.size, disk.caching, disk.count, setup.mount("data")) == (
        1024 * GIB,
        "ReadOnly",
        1,
        "/azbench/data",
    )
    (task,) = setup.tasks
    assert setup.driven(task) == ["data"]
    assert (task.workload.bs_bytes, task.workload.numjobs, task.workload.direct) == (4096, 1, True)


def test_none_is_a_caching_and_not_nothing(tmp_path):
    found = _load(tmp_path, GOOD.replace("ReadOnly", "None"))
    assert found.setups[0].disks["data"].caching == "None"


def test_other_options_go_to_fio_as_they_are(tmp_path):
    found = _load(tmp_path, GOOD.replace("runtime: 30", "runtime: 30, rwmixread: 70, norandommap: true"))
    (workload,) = found.workloads()
    argv = campaign.fio_arguments(workload, Path("/d"), Path())
    assert {"--rwmixread=70", "--norandommap=1"} <= set(argv)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("title: A disk\n", ""), "title"),
        (("westeurope", "West Europ"), "region 'West Europ'"),
        (("Premium_LRS", "Premium"), "sku 'Premium': is not one of: Premium_LRS, "),
        (("1024GiB", "a lot"), "'a lot' is not a size"),
        (("1024GiB", "1000MB"), "size must be whole GiB"),
        (("ReadOnly", "Readonly"), "caching 'Readonly': is not one of: None, ReadOnly, ReadWrite"),
        (
            ("caching: ReadOnly", "iops: 5"),
            "iops and mbps can be provisioned for PremiumV2_LRS and UltraSSD_LRS only",
        ),
        (("sku: Premium_LRS, size: 1024GiB", "role: data"), "a data disk needs sku and size"),
        (("sku: Premium_LRS", "role: temp, sku: Premium_LRS"), "a temp disk comes with the VM"),
        (("  data:", "  Data disk:"), "lower-case letters"),
        (("caching: ReadOnly", "mount: ../etc"), "must be an absolute path"),
        (("caching: ReadOnly", "speed: 5"), "speed"),
        (("zone: 1", "zoned: 1"), "no key 'zoned'; the keys are: title, about, "),
        (("rw: randread, ", ""), "workload 'read': rw is missing; a workload needs rw, bs, size and runtime"),
        (("randread", "randomread"), "pattern 'randomread' is unknown; the choices are: read, "),
        (("runtime: 30", "runtime: soon"), "runtime_s 'soon' must be a number of seconds"),
        (("runtime: 30", "runtime: 30, filename: /dev/sda"), "option 'filename' may not be set"),
        (("runtime: 30", "runtime: 30, exec_prerun: reboot"), "option 'exec_prerun' may not be set"),
        (("runtime: 30", "runtime: 30, disks: [other]"), "has no disk to drive|names the disk 'other'"),
        (("  read:", "  layout:"), "workload name 'layout' is taken"),
        (("workloads:", "workloads: 5\nwork:"), "must be names with what each is|no key"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_value(tmp_path, change, said):
    assert change[0] in GOOD
    with pytest.raises(InputError, match=said) as caught:
        _load(tmp_path, GOOD.replace(*change))
    assert re.match(rf"{re.escape(str(tmp_path))}/file\.yaml:\d+: ", str(caught.value))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("zone: 1\n", ""), r"disk 'data' \(UltraSSD_LRS\) needs a zone"),
        (("mbps: 50", "caching: ReadOnly"), "UltraSSD_LRS has no host caching"),
    ],
)
def test_what_azure_has_not_for_ultra_disks(tmp_path, change, said):
    with pytest.raises(InputError, match=said):
        _load(tmp_path, ULTRA.replace(*change))


@pytest.mark.parametrize(
    "text", ["", "- a\n- b\n", "a: [", "a: !!python/object/apply:os.system [id]", "\x00"]
)
def test_what_is_no_measurement_file(tmp_path, text):
    with pytest.raises(InputError, match=r"file\.yaml"):
        _load(tmp_path, text)


def test_no_such_file(tmp_path):
    with pytest.raises(InputError, match=r"none\.yaml: cannot be read: No such file"):
        measurement_file.load(tmp_path / "none.yaml")


def test_a_setup_says_what_is_different(tmp_path):
    setups = """
setups:
  - {name: slow, disks: {data: {iops: 1000}}}
  - {name: fast, rest: 60, disks: {data: {mbps: 100}}}
"""
    found = _load(tmp_path, ULTRA + setups)
    disks = [setup.disks["data"] for setup in found.setups]
    assert [(disk.iops, disk.mbps, disk.size) for disk in disks] == [
        (1000, 50, 1024 * GIB),
        (10_000, 100, 1024 * GIB),
    ]
    assert [setup.rest for setup in found.setups] == [0, 60]
    assert found.setups[0].machine() == found.setups[1].machine()


def test_a_disk_of_one_name_is_one_disk(tmp_path):
    setups = "\nsetups: [{name: a}, {name: b, disks: {data: {size: 5GiB}}}]\n"
    with pytest.raises(InputError, match="disk 'data' is one disk in all setups"):
        _load(tmp_path, GOOD + setups)


def test_a_workload_of_one_name_is_one_workload(tmp_path):
    other = "{rw: read, bs: 4k, size: 1g, runtime: 1}"
    setups = f"\nsetups: [{{name: a}}, {{name: b, workloads: {{read: {other}}}}}]\n"
    with pytest.raises(InputError, match="workload 'read' differs between setups"):
        _load(tmp_path, GOOD + setups)


def test_a_rehearsal_is_short_and_small(tmp_path):
    path = tmp_path / "file.yaml"
    path.write_text(GOOD)
    (workload,) = campaign.load(path, quick=True).workloads
    assert (workload.runtime_s, workload.size_bytes) == (3, 256 * MIB)
    (whole,) = campaign.load(path).workloads
    assert (whole.runtime_s, whole.size_bytes) == (30, GIB)


# --- job files ------------------------------------------------------------------------------------------

JOB = """; a comment with size=1
[global]
size=30g
direct=1
[a]
rw = randread
directory=/data
numjobs=2
[b]
stonewall
rw=randwrite
directory=/data/b
"""


def test_a_job_file_is_kept_as_it_is():
    job = JobFile("j", JOB)
    assert job.text == JOB
    assert job.places() == ["/data", "/data/b"]
    assert job.own_bytes == 3 * 30 * GIB
    assert job.within("/data") is job


def test_a_job_file_that_writes_elsewhere_is_refused():
    with pytest.raises(InputError, match="the job file's data lies in /data, and the disk's mount is /other"):
        JobFile("j", JOB).within("/other")
    for place in ("/data/../etc", "/data:/etc", "/datastore"):
        with pytest.raises(InputError, match="set mount of the disk"):
            JobFile("j", JOB.replace("/data/b", place)).within("/data")


@pytest.mark.parametrize(
    "line", ["exec_prerun=reboot", "exec_postrun = x", "include other.fio", "WRITE_IOLOG=x"]
)
def test_a_job_file_that_starts_programs_or_leads_elsewhere_is_refused(line):
    with pytest.raises(InputError, match="may not be set"):
        JobFile("j", JOB + line + "\n")


def test_a_job_file_moved_and_shortened_is_else_the_same():
    job = JobFile("j", JOB, 60)
    assert job.rebased("/data", ".").places() == [".", "./b"]
    short = job.shortened(3, MIB)
    assert short.runtime_s == 3
    assert "size=1m\n" in short.text
    assert short.text.splitlines()[0] == "; a comment with size=1"
    assert job.arguments("j.fio", "j.json") == [
        "fio",
        "--runtime=60",
        "--output-format=json+",
        "--output=j.json",
        "j.fio",
    ]


def test_a_job_file_lies_with_the_measurement_file(tmp_path):
    text = GOOD.partition("workloads:")[0] + "workloads:\n  j: {job: jobs/j.fio, runtime: 5}\n"
    with pytest.raises(InputError, match=r"job file jobs/j\.fio: cannot be read"):
        _load(tmp_path, text)
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "j.fio").write_text("[a]\nsize=1m\n")
    (workload,) = _load(tmp_path, text).workloads()
    assert (workload.name, workload.runtime_s, workload.text) == ("j", 5, "[a]\nsize=1m\n")
    with pytest.raises(InputError, match="must lie in the measurement file's folder"):
        _load(tmp_path, text.replace("jobs/j.fio", "../../etc/passwd"))


# --- the shipped files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_file_can_be_planned(path):
    found = measurement_file.load(path)
    made = steps.steps(found, "g", {"tool": "azbench"}, "0000")
    measures = [step for step in made if isinstance(step, steps.Measure)]
    assert {step.setup.name for step in measures} == {setup.name for setup in found.setups}
    assert found.about


@pytest.mark.skipif(not CORPUS, reason="AZBENCH_CORPUS names no folder of real outputs")
def test_the_zone_redundant_workloads_are_those_of_the_publication():
    found = measurement_file.load(ROOT / "campaigns" / "zone-redundant-disks.yaml")
    jobs = Path(CORPUS) / "fio/jobfile/tkubica12_cloud-storage-tests"
    for workload in found.workloads():
        kind = "sync" if workload.iodepth == 1 else "async"
        direction = workload.rw.removeprefix("rand")
        path = jobs / f"tkubica12__zone-redundant-disks__zrs{kind}{direction}.ini"
        (asked,) = read_fio_jobfile(Source.of(path)).frames()["runs"].to_dict("records")
        ours = (workload.rw, workload.bs_bytes, workload.iodepth, workload.size_bytes, workload.direct)
        theirs = [asked[name] for name in ("rw", "bs_bytes", "iodepth", "working_set_bytes", "direct")]
        assert list(ours) == theirs
        assert workload.ioengine == asked["ioengine"]
        assert found.setups[0].mount("zrs") == asked["target"]


def test_a_shipped_file_is_found_by_its_name_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("ultra-disk", "ultra-disk.yaml"):
        assert measurement_file.find(name).name == "ultra-disk.yaml"
        assert measurement_file.load(name).setups
    with pytest.raises(InputError, match=r"no measurement file 'ultradisk': .* ultra-disk,"):
        measurement_file.load("ultradisk")
    (tmp_path / "ultra-disk.yaml").write_text(GOOD)  # what lies here comes first
    assert measurement_file.load("ultra-disk.yaml").title == "A disk"
    (tmp_path / "campaigns").mkdir()
    (tmp_path / "campaigns" / "ultra-disk.yaml").write_text(GOOD.replace("A disk", "Mine"))
    assert measurement_file.load("ultra-disk").title == "Mine"
