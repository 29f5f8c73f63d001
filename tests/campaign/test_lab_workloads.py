"""Workloads under time dilation: what becomes longer, what smaller, and what stays."""

import subprocess
from pathlib import Path

import pytest

from azbenchlib.campaign.files.measurement_file import load
from azbenchlib.campaign.targets.lab import plan
from azbenchlib.campaign.targets.lab import target as emulation
from azbenchlib.campaign.targets.lab.plan import EmulatedTask, emulated, in_words
from azbenchlib.campaign.workloads.grid import Workload
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB
from azbenchlib.model import VM, Setup, notation

ROOT = Path(__file__).parents[2]
URI = "nbd+unix:///data?socket=/run/lab.sock"
JOBS = """; rate_iops=7 stays in a comment
[global]
directory=/mnt
ioengine=libaio
size=30g
runtime=60
ramp_time=5
rate_iops=1000,500
thinktime=10ms
[a]
rw=randread
ioengine=libaio
time_based
[b]
rw=randwrite
rate=64k
"""


def place(k: int = 16, longest_s: float = 8.0) -> plan.Place:
    return plan.Place(URI, 4 * GIB, k, longest_s)


def workload(**changes: object) -> Workload:
    given = {"rw": "randread", "bs": "8k", "size": "30g", "runtime": 60, "iodepth": 32, **changes}
    return Workload.of("w", given)


def options(argv: list[str]) -> dict[str, str]:
    return dict(text.lstrip("-").split("=", 1) for text in argv if "=" in text)


def test_a_workload_drives_the_emulated_disk_for_the_time_there_is() -> None:
    given = options(plan.command(workload(rate_iops="100"), place()))
    assert (given["ioengine"], given["uri"], given["size"]) == ("nbd", URI, "4g")
    assert "filename" not in given
    assert given["runtime"] == "8"  # real seconds: half a second of the disk's
    assert given["rate_iops"] == "6"
    assert given["iodepth"] == "32"
    argv = plan.command(workload(), place())
    assert argv.index("--ioengine=nbd") < argv.index(f"--uri={URI}")  # fio knows it only then


def test_a_short_workload_is_stretched() -> None:
    given = options(plan.command(workload(runtime=0.25), place()))
    assert given["runtime"] == "4"


def test_a_ramp_is_cut_as_the_time_after_it_is() -> None:
    assert options(plan.command(workload(), place()))["ramp_time"] == "0"
    given = options(plan.command(workload(ramp_time=30), place()))
    assert (given["ramp_time"], given["runtime"]) == ("4", "8")


def test_a_job_file_keeps_its_jobs() -> None:
    text = plan.job_text(JOBS, place())
    assert text.count(f"uri={URI}") == text.count("ioengine=nbd") == 3
    for gone in ("directory", "libaio", "runtime", "ramp_time", "time_based"):
        assert gone not in text
    assert "rate_iops=62,31" in text or "rate_iops=62,32" in text
    assert "thinktime=160ms" in text
    assert "rate=4096" in text
    assert "size=4g" in text
    assert "; rate_iops=7 stays in a comment" in text
    argv = options(plan.command(JobFile("j", JOBS), place()))
    assert (argv["runtime"], argv["time_based"]) == ("8000ms", "1")
    short = JobFile("j", JOBS.replace("runtime=60", "runtime=250ms"))
    assert options(plan.command(short, place()))["runtime"] == "4000ms"


def test_credits_are_cut_as_the_job_file_is() -> None:
    whole = JobFile("j", JOBS.replace("runtime=60", "runtime=45m"))
    assert whole.max_duration_s == 2700
    assert emulation._credit_s([EmulatedTask(disk="d", workload=whole)], 6.0) == pytest.approx(
        1800 * 6 / 2700
    )
    assert JobFile("j", JOBS, 30).max_duration_s == 30


@pytest.mark.fio
def test_fio_takes_both(tmp_path: Path) -> None:
    work, job = workload(), JobFile("j", JOBS)
    plan.write_job_file(job, place(), tmp_path)
    plan.write_job_file(work, place(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["j.fio"]
    for each in (work, job):
        argv = [*plan.command(each, place())]
        argv.insert(1, "--parse-only")
        done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_what_cannot_be_slowed_down_is_refused() -> None:
    with pytest.raises(InputError, match="option thinktime: 'soon' is no number"):
        plan.job_text("[a]\nthinktime=soon\n", place())
    with pytest.raises(InputError, match="larger than the emulated disk"):
        plan.command(workload(bs="8g"), place())


def test_every_shipped_measurement_file_can_be_emulated() -> None:
    for path in sorted((ROOT / "campaigns").glob("*.yaml")):
        for one in emulated(load(path)):
            assert one.tasks
            found = one.resolved("2026-11-20")
            assert {task.disk for task in one.tasks} <= {volume.name for volume in found.volumes()}


def test_a_setup_in_words_has_names_for_files_and_the_same_limits() -> None:
    disks = notation.parse_disks(
        ["ultra:128GiB/10000iops/50MBps", "P4:None", "P4:None", "temp", "P30x4:ReadOnly", "ephemeral:cache"]
    )
    one = in_words(Setup(VM(size="Standard_E8ds_v4"), disks), [JobFile("j", JOBS)])
    names = [task.disk for task in one.tasks]
    assert names[0] == "ultra-128gib-10000iops-50mbps"
    assert names[1:4] == ["p4-none-1", "p4-none-2", "temp"]
    found = {disk.name: disk for disk in one.resolved("2026-11-20").disks}
    assert found[names[0]].cap.bytes_per_s == 50e6
    assert (found["p4-none-1"].cap.iops, found["p4-none-1"].cap.burst_iops) == (120, 3500)
    assert (found["p30x4-readonly"].count, found["p30x4-readonly"].caching) == (4, "ReadOnly")
    assert found["ephemeral-cache"].role == "ephemeral_os"
