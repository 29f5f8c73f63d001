"""What a measurement calls finished is on the disk: a power cut after that takes nothing of it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import PATIENCE_S

from azbenchlib import campaign
from azbenchlib.campaign import journal, outputs
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.targets.local.target import make
from azbenchlib.campaign.workloads import program
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MIB
from azbenchlib.dataset.dataset import Dataset

pytestmark = pytest.mark.fio


def grid() -> list[campaign.Workload]:
    tiny = {"size": "16m", "runtime_s": 0.3, "ramp_s": 0}
    return campaign.matrix(["4k"], [2], ["randread", "randwrite"], **tiny)


class Recorder:
    """Every flush, rename and line of progress in order; each is really done."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[tuple[str, Path, Path | None]] = []
        fsync = os.fsync

        def flushed(descriptor: int) -> None:
            self.events.append(("flush", Path(f"/proc/self/fd/{descriptor}").readlink(), None))
            fsync(descriptor)

        monkeypatch.setattr(os, "fsync", flushed)
        for name in ("replace", "rename"):
            monkeypatch.setattr(os, name, self._renaming(getattr(os, name)))

    def _renaming(self, rename: object):
        def renamed(old: Path, new: Path) -> None:
            self.events.append(("rename", Path(old), Path(new)))
            rename(old, new)

        return renamed

    def tell(self, done: int, total: int, text: str) -> None:
        self.events.append(("told", Path(text), None))

    def flushes(self, path: Path, begin: int, end: int) -> int:
        return sum(event[:2] == ("flush", path) for event in self.events[begin:end])

    def next_told(self, place: int) -> int:
        after = (i for i, event in enumerate(self.events) if i > place and event[0] == "told")
        return next(after, len(self.events))


def test_every_file_is_flushed_before_its_rename_and_its_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = Recorder(monkeypatch)
    folder = campaign.measure(
        campaign.LocalTarget(directory=tmp_path, workloads=grid()), tmp_path / "ds", progress=recorder.tell
    )
    renames = [(i, *event[1:]) for i, event in enumerate(recorder.events) if event[0] == "rename"]
    into = [(i, old, new) for i, old, new in renames if new and new.is_relative_to(folder)]
    for i, old, new in into:
        assert recorder.flushes(old, 0, i) == 1, f"{old} is not flushed before it is renamed"
        end = recorder.next_told(i)
        assert recorder.flushes(new.parent, i, end), f"{new.parent} is not flushed before the next step"
    placed = {new for _, _, new in into}
    made = {path for path in folder.rglob("*") if path.is_file()}
    grown = folder / journal.JOURNAL_FILE
    assert placed | {grown} == made  # nothing comes into a dataset but by a rename, and what is only added to
    assert recorder.flushes(grown, 0, len(recorder.events)) == len(journal.Journal(folder).events())
    for path in [folder, *(path for path in folder.rglob("*") if path.is_dir())]:
        assert recorder.flushes(path.parent, 0, len(recorder.events)), f"{path.parent} does not keep {path}"


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """The image of a disk, and where its ext4 is mounted."""
    if os.geteuid():
        pytest.skip("only root can mount a file system")
    image, mounted = tmp_path / "disk.img", tmp_path / "mounted"
    _make(image)
    with _mounted(image, mounted):
        yield image, mounted


def _make(image: Path) -> None:
    with image.open("wb") as file:
        file.truncate(192 * MIB)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)


class _mounted:  # noqa: N801
    def __init__(self, image: Path, place: Path) -> None:
        self.image, self.place = image, place

    def __enter__(self) -> Path:
        self.place.mkdir()
        # what is not flushed stays in memory as long as it may
        command = ["mount", "-o", "loop,commit=300", self.image, self.place]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"no loop device can be mounted here: {done.stderr.strip()}")
        return self.place

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", self.place], check=True)


@pytest.mark.slow
def test_a_power_cut_loses_no_finished_workload(disk: tuple[Path, Path], tmp_path: Path) -> None:
    """What has reached the disk is copied at each step, as a power cut would leave it."""
    image, mounted = disk
    cuts: list[tuple[Path, list[str]]] = []
    finished: list[str] = []
    names = {workload.title: workload.name for workload in grid()}

    def cut(done: int, total: int, text: str) -> None:
        title = text.partition(": ")[0]
        if title in names:
            finished.append(names[title])
            copy = tmp_path / f"cut-{len(cuts)}.img"
            subprocess.run(["cp", "--sparse=always", image, copy], check=True)
            cuts.append((copy, list(finished)))

    campaign.measure(campaign.LocalTarget(directory=mounted, workloads=grid()), mounted / "ds", progress=cut)
    assert [len(kept) for _, kept in cuts] == [1, 2]
    whole = tmp_path / "whole.img"
    shutil.copy(image, whole)
    for copy, kept in [*cuts, (whole, finished)]:
        with _mounted(copy, tmp_path / f"{copy.stem}-mounted") as place:
            for name in kept:
                for path in (mounted / "ds" / "raw").glob(f"{name}[._]*"):
                    same = place / "ds" / "raw" / path.name
                    assert same.read_bytes() == path.read_bytes(), f"{path.name} is lost"
                assert outputs.came_to(place / "ds" / "raw" / f"{name}.json")
            assert (place / "ds" / "plan.json").stat().st_size
            if copy is whole:
                assert len(Dataset.load(place / "ds").runs) == 2


@pytest.mark.long  # as above, of emulated disks
def test_the_lab_keeps_what_it_calls_finished(tmp_path: Path) -> None:
    """As above, of emulated disks: each workload has files of its own in a folder of its own."""
    code = (
        "import os, sys; from pathlib import Path; from azbenchlib.campaign import experiment\n"
        "todo = experiment.load(sys.argv[1], quick=True)\n"
        "experiment.run(todo, sys.argv[2], target='lab', longest_s=1.0)"
    )
    file = tmp_path / "m.yaml"
    file.write_text(
        "title: t\nregion: westeurope\nvm: Standard_D2s_v3\ndisks: {d: {sku: Premium_LRS, size: 32GiB}}\n"
        "workloads:\n  a: {rw: randread, bs: 4k, iodepth: 4, size: 64m, runtime: 1, disks: [d]}\n"
    )
    calls = tmp_path / "calls"
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("needs strace, which records what the system is asked for")
    command = [strace, "-y", "-s", "300", "-e", "trace=fsync,rename", "-o", str(calls)]
    subprocess.run(
        [*command, sys.executable, "-c", code, file, tmp_path / "ds"], check=True, timeout=PATIENCE_S
    )
    lines = calls.read_text().splitlines()
    raw = tmp_path / "ds" / "raw"
    renames = [i for i, line in enumerate(lines) if line.startswith("rename(") and f'"{raw}/' in line]
    assert len(renames) > 3
    for i in renames:
        old, new = (Path(text) for text in lines[i].split('"')[1:4:2])
        assert any(line.startswith("fsync(") and f"<{old}>" in line for line in lines[:i]), lines[i]
        after = [line for line in lines[i:] if line.startswith("fsync(")]
        assert any(f"<{new.parent}>" in line for line in after), lines[i]
    for made in (raw, *raw.rglob("*")):
        if made.is_dir():
            assert any(line.startswith("fsync(") and f"<{made.parent}>" in line for line in lines), made


@pytest.mark.parametrize("part", ["raw", "tables", "failed", "raw/deep"])
def test_a_run_is_not_taken_up_through_a_link_to_another_place(tmp_path: Path, part: str) -> None:
    folder, elsewhere = tmp_path / "ds", tmp_path / "elsewhere"
    asked = make(tmp_path, grid(), program.find())
    elsewhere.mkdir()
    plan.save(folder, asked)
    (folder / part).parent.mkdir(exist_ok=True)
    (folder / part).symlink_to(elsewhere)
    with pytest.raises(InputError, match=f"{part}: is a link that leads out of the dataset"):
        campaign.measure(campaign.LocalTarget(directory=tmp_path, workloads=grid()), folder)
    assert not list(elsewhere.iterdir())


@pytest.mark.parametrize("what", ["pipe", "link"])
def test_a_plan_that_is_no_plain_file_is_refused(tmp_path: Path, what: str) -> None:
    (tmp_path / "ds").mkdir()
    path = tmp_path / "ds" / "plan.json"
    if what == "pipe":
        os.mkfifo(path)
    else:
        plan.save(tmp_path / "other", make(tmp_path, grid(), program.find()))
        path.symlink_to(tmp_path / "other" / "plan.json")
    with pytest.raises(InputError, match=r"plan\.json: cannot be read: is "):
        campaign.measure(campaign.LocalTarget(directory=tmp_path, workloads=grid()), tmp_path / "ds")
