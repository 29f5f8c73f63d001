"""The live measurement, with the real fio on a temporary directory."""

import dataclasses
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import nbformat
import papermill
import pytest
from hypothesis import given
from hypothesis import strategies as st
from process_list import fio_in, pending
from waiting import PATIENCE_S, wait_for

from azbenchlib import campaign
from azbenchlib.campaign import host
from azbenchlib.campaign.interrupts import SAME_S
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.campaign.targets.local import data as local
from azbenchlib.campaign.workloads import program
from azbenchlib.core.errors import AzbenchError, InputError, MissingToolError, UnsafeTargetError
from azbenchlib.core.units import MIB, fio_size
from azbenchlib.dataset import manifest
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.report import execute

fio = pytest.mark.fio
NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "01_measure.ipynb"
LOGS = ("bw", "iops", "lat", "clat", "slat")


def grid(patterns: tuple[str, ...] = ("randread", "randwrite"), **options: object) -> list[campaign.Workload]:
    tiny = {"size": "16m", "runtime_s": 0.3, "ramp_s": 0.1} | options
    return campaign.matrix(["4k"], [2], list(patterns), **tiny)  # type: ignore[arg-type]


def option(argv: list[str], name: str) -> str:
    return next(text.split("=", 1)[1] for text in argv if text.startswith(f"--{name}="))


# --- what to run ---------------------------------------------------------------------------------


@given(
    blocks=st.lists(st.integers(1, 2048), min_size=1, max_size=4, unique=True),
    depths=st.lists(st.integers(1, 1024), min_size=1, max_size=4, unique=True),
    patterns=st.lists(st.sampled_from(campaign.PATTERNS), min_size=1, unique=True),
)
def test_the_matrix_is_the_whole_grid(blocks: list[int], depths: list[int], patterns: list[str]) -> None:
    sizes = [block * 512 for block in blocks]
    workloads = campaign.matrix([str(size) for size in sizes], depths, patterns)
    got = {(workload.rw, workload.bs_bytes, workload.iodepth) for workload in workloads}
    assert got == {(rw, size, depth) for rw in patterns for size in sizes for depth in depths}
    assert len({workload.name for workload in workloads}) == len(workloads) == len(got)
    for workload in workloads:
        argv = campaign.fio_arguments(workload, Path("/d"), Path("raw"))
        assert fio_size(option(argv, "bs")) == workload.bs_bytes
        assert fio_size(option(argv, "size")) == workload.size_bytes


def test_the_arguments_of_a_workload() -> None:
    (workload,) = grid(("randread",), runtime_s=2, ramp_s=0.5)
    argv = campaign.fio_arguments(workload, Path("/data/a b:c"), Path("raw"))
    assert argv[:3] == ["fio", "--name=randread-4k-qd2", r"--filename=/data/a b\:c"]
    assert {"--direct=1", "--time_based=1", "--runtime=2", "--ramp_time=500ms"} < set(argv)
    assert {"--output-format=json+", "--output=raw/randread-4k-qd2.json"} < set(argv)
    assert {option(argv, f"write_{log}_log") for log in ("bw", "iops", "lat")} == {"raw/randread-4k-qd2"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"block_sizes": ["4q"]}, "'4q' is not a size"),
        ({"block_sizes": "4k"}, "block_sizes '4k' must be a list"),
        ({"block_sizes": []}, "block_sizes '\\[\\]' must be a list"),
        ({"block_sizes": ["100"]}, "block size 100 B cannot be read directly; use a multiple of 512 B"),
        ({"block_sizes": ["2m"], "size": "1m"}, "2097152 B is larger than the data"),
        ({"block_sizes": ["4k", "4096"]}, "'randread-4k-qd1' is there twice"),
        ({"iodepths": [0]}, "iodepth '0' must be a whole number from 1"),
        ({"iodepths": ["8"]}, "iodepth '8' must be a whole number"),
        ({"patterns": ["randwalk"]}, "'randwalk' is unknown; the choices are: read, write, randread"),
        ({"runtime_s": -3}, "runtime_s '-3' must be a number of seconds"),
        ({"runtime_s": 0}, "runtime_s '0'"),
        ({"runtime_s": float("nan")}, "runtime_s 'nan'"),
        ({"ramp_s": -1}, "ramp_s '-1' must be a number of seconds, at least 0"),
        ({"size": "0"}, "size_bytes '0'"),
        ({"numjobs": 0}, "numjobs '0'"),
    ],
)
def test_parameters_that_cannot_be_run(changes: dict[str, object], says: str) -> None:
    good: dict[str, object] = {"block_sizes": ["4k"], "iodepths": [1], "patterns": ["randread"]}
    with pytest.raises(InputError, match=says):
        campaign.matrix(**(good | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["", "a/b", "../a", "layout", "a b"])
def test_names_that_are_no_file_names(name: str) -> None:
    with pytest.raises(InputError, match="workload name"):
        dataclasses.replace(grid()[0], name=name)


def test_the_plan_as_a_table() -> None:
    plan = campaign.table(grid(runtime_s=2, ramp_s=1))
    assert plan["workload"].tolist() == ["randread-4k-qd2", "randwrite-4k-qd2"]
    assert plan["seconds"].sum() == 6


# --- this machine --------------------------------------------------------------------------------


def test_describe_tells_the_machine_without_names(tmp_path: Path) -> None:
    setup = campaign.describe(tmp_path)
    (disk,) = setup.disks
    stats = os.statvfs(tmp_path)
    assert setup.environment == "local"
    assert disk.size_bytes == stats.f_blocks * stats.f_frsize
    known = subprocess.run(["stat", "-f", "-c", "%T", tmp_path], capture_output=True, text=True, check=True)
    kind = host.mount_of(tmp_path).fstype
    if any(mount.point == Path("/") for mount in host.mounts()):  # not so in a chroot
        assert kind[:3] == known.stdout[:3]  # stat calls ext4 "ext2/ext3"
    assert setup.label == f"This machine, {kind}"
    assert disk.sku.startswith(kind)
    assert setup.ram_bytes == int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    values = f"{setup.label} {setup.os} {setup.kernel} {disk}"
    assert os.uname().nodename not in re.findall(r"[\w-]+", values)


def test_mounts_with_odd_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(
        "22 27 8:1 / / rw - ext4 /dev/sda1 rw\n"
        r"23 22 8:2 / /a\040b rw,relatime shared:1 master:2 - xfs /dev/sdb rw" + "\n"
        r"24 22 0:9 / /a\040b rw - tmpfs none rw" + "\n"
    )
    monkeypatch.setattr(host, "MOUNTINFO", table)
    assert host.mount_of(Path("/a b/c")) == host.Mount(Path("/a b"), "tmpfs", "none")
    assert host.mount_of(Path("/a")).source == "/dev/sda1"


def test_a_chroot_whose_root_is_no_mount_can_be_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mountinfo"
    table.write_text("")
    monkeypatch.setattr(host, "MOUNTINFO", table)
    described = host.describe(tmp_path)
    assert described.label == "This machine, unknown file system"
    assert described.disks[0].size_bytes > 0


# --- measuring -----------------------------------------------------------------------------------


@fio
def test_a_measurement_is_a_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[str] = []
    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda old, new: moved.append(old.name) or replace(old, new))
    directory = tmp_path / "a disk:1"
    directory.mkdir()
    lines: list[tuple[int, int, str]] = []
    workloads = grid(("randread", "randrw"), numjobs=2)
    folder = campaign.measure(
        campaign.LocalTarget(directory=directory, workloads=workloads, title="Two"),
        tmp_path / "ds",
        progress=lambda *line: lines.append(line),
    )
    assert folder == tmp_path / "ds"
    assert not list(directory.iterdir())  # the data file is gone
    expected = {f"{workload.name}.json" for workload in workloads}
    expected |= {
        f"{workload.name}_{log}.{job}.log" for workload in workloads for log in LOGS for job in (1, 2)
    }
    assert {path.name for path in (folder / "raw").iterdir()} == expected
    assert [moved.index(f"{workload.name}.json") for workload in workloads] == [
        max(place for place, name in enumerate(moved) if name.startswith(workload.name))
        for workload in workloads
    ]  # the JSON comes last: where it is, all of it is
    for workload in workloads:
        job = json.loads((folder / "raw" / f"{workload.name}.json").read_text())["jobs"][0]
        assert job["job options"]["direct"] == "1"
        assert job["job options"]["filename"] == str(directory / local.DATA_FILE).replace(":", "\\:")
        assert job["read"]["clat_ns"]["bins"]
    assert [line[0] for line in lines] == [0, 0, 1, 1, 2]
    assert lines[-1][1] == 2
    assert lines[-1][2].startswith("randrw 4\u00a0KiB, QD 2, 2 jobs: ")

    found = manifest.load(folder)
    assert (found.title, found.name, found.notes) == ("Two", "ds", [])
    assert found.tools == {"fio": program.find().version}
    assert set(found.raw) == {f"raw/{name}" for name in expected}
    assert [shlex.split(command.text)[1] for command in found.commands] == [
        "--name=layout",
        "--name=randread-4k-qd2-j2",
        "--name=randrw-4k-qd2-j2",
    ]
    data = Dataset.read(folder)
    assert len(data.runs) == 4
    assert set(data.runs["setup_id"]) == {host.SETUP_ID}
    assert (data.runs["runtime_limit_s"] == 0.3).all()
    assert set(data.samples["run_id"]) == set(data.runs["run_id"])  # every job's logs found their JSON


@fio
def test_the_data_is_written_before_it_is_read_and_locked_meanwhile(tmp_path: Path) -> None:
    data = tmp_path / local.DATA_FILE
    seen = []

    def look(done: int, total: int, text: str) -> None:
        if text.startswith("randread") and text.endswith("…"):
            with data.open("rb") as file:
                seen.append((file.read(MIB).count(0) < MIB // 2, os.fstat(file.fileno()).st_size))
            with (
                pytest.raises(UnsafeTargetError, match="another measurement is using it"),
                local.held(tmp_path, MIB, wait_s=0),
            ):
                pass

    campaign.measure(
        campaign.LocalTarget(directory=None, workloads=grid(("randread",))), tmp_path / "ds", progress=look
    )
    assert seen == [(True, 16 * MIB)]


@fio
def test_a_finished_run_is_kept_and_fresh_replaces_it(tmp_path: Path) -> None:
    folder = campaign.measure(
        campaign.LocalTarget(directory=None, workloads=grid(("randread",))), tmp_path / "ds"
    )
    before = (folder / manifest.MANIFEST_FILE).read_bytes()
    lines: list[str] = []
    say = lambda done, total, text: lines.append(text)  # noqa: E731
    campaign.measure(
        campaign.LocalTarget(directory=None, workloads=grid(("randread",))), folder, progress=say
    )
    assert lines == ["already measured; fresh=True measures anew"]
    assert (folder / manifest.MANIFEST_FILE).read_bytes() == before
    with pytest.raises(InputError, match=r"holds measurements of another plan \(1 workload on.*fresh=True"):
        campaign.measure(campaign.LocalTarget(directory=None, workloads=grid(("randwrite",))), folder)
    campaign.measure(campaign.LocalTarget(directory=None, workloads=grid(("randwrite",))), folder, fresh=True)
    assert [path.name for path in (folder / "raw").glob("*.json")] == ["randwrite-4k-qd2.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["ds"]


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "text").write_text("years of work")
    for fresh in (False, True):
        with pytest.raises(InputError, match="thesis: "):
            campaign.measure(
                campaign.LocalTarget(directory=tmp_path, workloads=grid()), tmp_path / "thesis", fresh=fresh
            )
    assert (tmp_path / "thesis" / "text").read_text() == "years of work"


def test_a_data_file_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / local.DATA_FILE
    theirs.write_text("theirs")
    with pytest.raises(UnsafeTargetError, match="does not belong to this run"):
        campaign.measure(campaign.LocalTarget(directory=tmp_path, workloads=grid()), tmp_path / "ds")
    assert theirs.read_text() == "theirs"
    assert not (tmp_path / "ds").exists()


def test_too_much_data_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(UnsafeTargetError, match="'fill "):
        campaign.measure(
            campaign.LocalTarget(directory=tmp_path, workloads=grid(size="4000t")), tmp_path / "ds"
        )
    assert not list(tmp_path.iterdir())


def test_without_fio_the_error_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="apt install fio"):
        campaign.measure(campaign.LocalTarget(directory=tmp_path, workloads=grid()), tmp_path / "ds")


# --- when it goes wrong --------------------------------------------------------------------------


def start(tmp_path: Path, runtime_s: float) -> "subprocess.Popen[bytes]":
    """A measurement of two workloads in a process of its own."""
    code = (
        "import sys; from azbenchlib import campaign as c\n"
        f"w = c.matrix(['4k'], [2], ['randread', 'randwrite'], size='16m', runtime_s={runtime_s}, ramp_s=0)\n"
        "c.measure(c.LocalTarget(directory=sys.argv[1], workloads=w), sys.argv[1] + '/ds')"
    )
    return subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stderr=subprocess.DEVNULL)


def fio_processes(tmp_path: Path) -> int:
    """How many there are; two when the job has started."""
    found = subprocess.run(["ps", "-ww", "-eo", "args"], capture_output=True, text=True, check=True)
    return sum(
        line.startswith("fio ") and f"{tmp_path}/{local.DATA_FILE}" in line
        for line in found.stdout.splitlines()
    )


@contextmanager
def halted(folder: Path, workload: str) -> Iterator[None]:
    """A run that has begun and cannot end meanwhile, however short it is."""
    wait_for(lambda: (pids := fio_in(folder, workload)) and all(map(halt, pids)))
    yield
    for pid in fio_in(folder, workload):
        os.kill(pid, signal.SIGCONT)


def halt(pid: int) -> bool:
    """Whether a process was there to be halted."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGSTOP)
        return True
    return False


@fio
def test_a_killed_run_is_taken_up_where_it_stopped(tmp_path: Path) -> None:
    raw = tmp_path / "ds" / "raw"
    process = start(tmp_path, runtime_s=2)
    begun = raw / ".part-randwrite-4k-qd2" / "randwrite-4k-qd2.json"
    wait_for(begun.exists, goes_on=lambda: process.poll() is None)
    process.kill()
    process.wait()
    wait_for(lambda: not fio_processes(tmp_path))  # it ends with who started it
    assert not (tmp_path / "ds" / manifest.MANIFEST_FILE).exists()
    assert (tmp_path / local.DATA_FILE).exists()
    first = (raw / "randread-4k-qd2.json").stat()

    lines: list[str] = []

    def look(done: int, total: int, text: str) -> None:
        if text.startswith("writing"):
            assert not fio_processes(tmp_path)
        lines.append(text.split(" 4")[0])

    workloads = grid(runtime_s=2, ramp_s=0)
    campaign.measure(
        campaign.LocalTarget(directory=tmp_path, workloads=workloads), tmp_path / "ds", progress=look
    )
    assert lines == ["randread", "writing 16\u00a0MiB of data …", "randwrite", "randwrite"]
    again = (raw / "randread-4k-qd2.json").stat()
    assert (again.st_ino, again.st_mtime_ns) == (first.st_ino, first.st_mtime_ns)
    assert len(list(raw.iterdir())) == 12  # of each workload a JSON and five logs, nothing half
    assert not (tmp_path / local.DATA_FILE).exists()
    assert len(manifest.load(tmp_path / "ds").raw) == 12


@fio
def test_an_interrupt_ends_the_campaign_after_the_run_in_hand(tmp_path: Path) -> None:
    process = start(tmp_path, runtime_s=1)
    with halted(tmp_path, "randread-4k-qd2"):
        process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE_S) != 0
    assert not (tmp_path / local.DATA_FILE).exists()
    told = [(event["event"], event.get("run")) for event in Journal(tmp_path / "ds").events()[1:]]
    assert told == [
        (JournalEvent.BEGUN, "randread-4k-qd2"),
        (JournalEvent.KEPT, "randread-4k-qd2"),
        (JournalEvent.INTERRUPTED, None),
    ]


@fio
@pytest.mark.parametrize(
    "signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)], ids=["twice", "term"]
)
@pytest.mark.sampled(1)
def test_two_interrupts_end_fio_and_clean_up(tmp_path: Path, signals: tuple[signal.Signals, ...]) -> None:
    raw = tmp_path / "ds" / "raw"
    process = start(tmp_path, runtime_s=30)
    wait_for(lambda: (raw / ".part-randread-4k-qd2").exists() and fio_processes(tmp_path) == 2)
    for number, one in enumerate(signals):
        if number:  # signals that come together are one
            wait_for(lambda: not pending(process.pid, signals[0]))
            time.sleep(SAME_S + 0.1)
        process.send_signal(one)
    assert process.wait(PATIENCE_S) != 0
    assert not fio_processes(tmp_path)
    assert not (tmp_path / local.DATA_FILE).exists()
    assert not list(raw.iterdir())


def test_a_program_that_our_interrupt_reached_before_it_began_is_started_anew(tmp_path: Path) -> None:
    """Between fork and exec it is in our group yet: here it ends itself so, at the first start or at each."""
    shell = SimpleNamespace(path="/bin/sh")
    first = "if test -e begun; then echo done >&2; else : >begun; kill -INT $$; fi"
    assert program.run(["sh", "-c", first], shell, tmp_path) == (0, "done\n")
    assert program.run(["sh", "-c", "kill -INT $$"], shell, tmp_path) == (-signal.SIGINT, "")


@fio
def test_what_a_failed_fio_left_is_kept_beside_the_results(tmp_path: Path) -> None:
    workloads = grid(("randread", "randwrite"))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def break_it(done: int, total: int, text: str) -> None:
        if text.startswith("randwrite"):  # fio may no longer write beyond the first MiB of a file
            resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, before[1]))

    try:
        with pytest.raises(
            AzbenchError, match=r"workload randwrite-4k-qd2: fio ended with status -?[1-9]"
        ) as failed:
            campaign.measure(
                campaign.LocalTarget(directory=tmp_path, workloads=workloads),
                tmp_path / "ds",
                progress=break_it,
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    raw = tmp_path / "ds" / "raw"
    (kept,) = (tmp_path / "ds" / "failed").glob("randwrite-4k-qd2-*")
    said = (kept / "randwrite-4k-qd2.txt").read_text()
    assert said.strip().splitlines()[-1].strip() in str(failed.value)
    assert (kept / "randwrite-4k-qd2.json").exists()
    assert not list(raw.glob("randwrite*"))
    assert not (tmp_path / local.DATA_FILE).exists()

    campaign.measure(campaign.LocalTarget(directory=tmp_path, workloads=workloads), tmp_path / "ds")
    assert (kept / "randwrite-4k-qd2.json").exists()
    (note,) = manifest.load(tmp_path / "ds").notes
    assert "randwrite-4k-qd2: fio ended with status" in note


@fio
def test_an_engine_that_fio_does_not_have(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ioengine 'windowsaio' is not in fio-.*it has: .*libaio"):
        campaign.measure(
            campaign.LocalTarget(directory=tmp_path, workloads=grid(ioengine="windowsaio")), tmp_path / "ds"
        )


def test_where_libaio_is_absent_the_next_engine_is_taken() -> None:
    assert program.Fio("fio", "fio-3.33", ("psync", "posixaio", "io_uring")).engine("libaio") == "io_uring"


@fio
def test_a_file_system_that_refuses_direct_io(tmp_path: Path) -> None:
    point = tmp_path / "ramfs"
    point.mkdir()
    made = subprocess.run(
        ["mount", "-t", "ramfs", "none", point], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"no ramfs can be mounted here: {made.stderr.strip()}")
    try:  # a ramfs states no free space at all
        words = f"fill {point}"
        folder = campaign.measure(
            campaign.LocalTarget(directory=point, workloads=grid(("randread",)), allow_unsafe=words),
            tmp_path / "ds",
        )
    finally:
        subprocess.run(["umount", point], check=True)
    job = json.loads((folder / "raw" / "randread-4k-qd2.json").read_text())["jobs"][0]
    assert job["job options"]["direct"] == "0"
    notes = manifest.load(folder).notes
    assert len(notes) == 2
    assert "refuses O_DIRECT" in notes[0]
    assert "lies in memory" in notes[1]


@pytest.fixture
def formatted(tmp_path: Path) -> Iterator[str]:
    """A loop device with a file system on it."""
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("no mkfs.ext4 (e2fsprogs) to put a file system on a loop device")
    image = tmp_path / "image"
    image.touch()
    os.truncate(image, 32 * MIB)
    made = subprocess.run(["losetup", "--show", "-f", image], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no loop device can be made here: {made.stderr.strip()}")
    device = made.stdout.strip()
    subprocess.run(["mkfs.ext4", "-q", device], check=True)
    yield device
    subprocess.run(["umount", device], check=False)
    subprocess.run(["losetup", "-d", device], check=True)


def mount(device: str, point: Path) -> None:
    point.mkdir()
    subprocess.run(["mount", device, point], check=True)


@fio
def test_a_mounted_device_is_measured_only_with_the_words(formatted: str, tmp_path: Path) -> None:
    mount(formatted, tmp_path / "point")
    with pytest.raises(UnsafeTargetError, match="in use"):
        campaign.measure(
            campaign.LocalTarget(directory=formatted, workloads=grid(("randread",))), tmp_path / "ds"
        )
    words = f"overwrite mounted {formatted}"
    folder = campaign.measure(
        campaign.LocalTarget(directory=formatted, workloads=grid(("randread",)), allow_unsafe=words),
        tmp_path / "ds",
    )
    found = manifest.load(folder)
    assert found.setups[0].disks[0].sku == f"loop device {formatted}"
    assert found.setups[0].disks[0].size_bytes == 32 * MIB
    assert f"--filename={formatted} " in found.commands[1].text


@fio
def test_a_device_that_is_mounted_after_the_check_stays_whole(formatted: str, tmp_path: Path) -> None:
    def mount_it(done: int, total: int, text: str) -> None:
        if text.startswith("writing "):
            mount(formatted, tmp_path / "point")

    words = f"overwrite {formatted}"  # fio refuses with exit status 0 and no output
    with pytest.raises(AzbenchError, match=r"layout: fio ended with status 0: .* appears mounted"):
        campaign.measure(
            campaign.LocalTarget(directory=formatted, workloads=grid(("randread",)), allow_unsafe=words),
            tmp_path / "ds",
            progress=mount_it,
        )
    assert (tmp_path / "point" / "lost+found").is_dir()
    assert not (tmp_path / "ds" / manifest.MANIFEST_FILE).exists()


# --- the notebook --------------------------------------------------------------------------------


def test_the_notebook_is_clean_and_states_its_parameters() -> None:
    parsed = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(parsed)
    assert (parsed.nbformat, parsed.nbformat_minor) == (4, 5)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in parsed.cells)
    parameters = papermill.inspect_notebook(NOTEBOOK)
    assert parameters["runtime_s"]["inferred_type_name"] == "int"
    assert parameters["size"]["default"] == '"256m"'
    for name, parameter in parameters.items():
        assert parameter["help"], name
        assert parameter["inferred_type_name"] != "None", name


def test_a_kernel_that_hangs_at_its_end_is_ended(tmp_path: Path) -> None:
    """Its cells are done, but a thread of it sleeps on: the executed notebook is there all the same."""
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("wanted: int = 600", metadata={"tags": ["parameters"]}),
            nbformat.v4.new_code_cell(
                "import os, threading, time\nthreading.Thread(target=time.sleep, args=(wanted,)).start()\n"
                "print(os.getpid())"
            ),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.write(notebook, tmp_path / "hangs.ipynb")
    executed = execute.run_notebook(tmp_path / "hangs.ipynb", {})
    pid = int(executed.cells[-1].outputs[0]["text"])
    assert not Path(f"/proc/{pid}").exists()
