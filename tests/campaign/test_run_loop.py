"""The one loop that measures, driven by a target that is made up here: a target is one class."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import pytest

from azbenchlib.campaign import Workload, measure, outputs
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.planning.plan import StoredPlan
from azbenchlib.campaign.targets.base import MeasurementRun, Request, Target
from azbenchlib.core.errors import AzbenchError, InputError, OutputError
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.manifest import Manifest, ManifestSetup
from azbenchlib.model.disk_row import DiskRow

OUTPUT = Path(__file__).parents[1] / "data" / "fio" / "randrw.json"


class ShelfPlan(StoredPlan):
    """What is taken from the shelf."""

    names: list[str]

    @property
    def brief(self) -> str:
        return ", ".join(self.names)

    def same_as(self, other: Self) -> bool:
        return self.names == other.names


@dataclass(frozen=True)
class Taken:
    """An output on the shelf."""

    workload: Workload
    folder: str = "shelf"

    @property
    def title(self) -> str:
        return self.workload.name


def _workload(name: str) -> Workload:
    return Workload(name=name, rw="randread", bs_bytes=4096, iodepth=1, size_bytes=2**20, runtime_s=1)


@dataclass
class Shelf(Target[ShelfPlan, Taken]):
    """Outputs that fio wrote long ago, taken from a shelf one by one."""

    names: Sequence[str]
    fails: str = ""  # the workload that fails
    events: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, request: Request) -> Self:
        return cls([work.name for work in request.workloads])

    def make_plan(self, dataset: Path) -> ShelfPlan:
        return ShelfPlan(names=list(self.names))

    def measurements(self, plan: ShelfPlan) -> list[Taken]:
        return [Taken(_workload(name)) for name in plan.names]

    def begin(self, run: MeasurementRun[ShelfPlan, Taken]) -> None:
        assert (run.folder / plan.PLAN_FILE).is_file()  # the plan is there before anything is done
        self.events.append("begin")

    def prepare(self, run: MeasurementRun[ShelfPlan, Taken], one: Taken) -> None:
        self.events.append(f"prepare {one.title}")

    def measure(self, run: MeasurementRun[ShelfPlan, Taken], one: Taken, part: Path) -> tuple[int, str]:
        assert not list(part.iterdir())
        (part / f"{one.title}.log").write_text("")
        if one.title == self.fails == "interrupted":
            raise KeyboardInterrupt
        if one.title == self.fails == "disk":
            raise OSError(28, "No space left on device", str(part))
        if one.title == self.fails:
            return 1, "first line\nno such thing\n"
        shutil.copy(OUTPUT, part / one.workload.output)
        return 0, ""

    def release(self, run: MeasurementRun[ShelfPlan, Taken], fault: BaseException | None) -> None:
        self.events.append(f"release {type(fault).__name__}")
        if fault:
            raise fault

    def last_words(self, run: MeasurementRun[ShelfPlan, Taken]) -> str:
        return "the shelf is as it was"

    def manifest(self, run: MeasurementRun[ShelfPlan, Taken], name: str) -> Manifest:
        here = ManifestSetup(setup_id="shelf", environment="other", disks=[DiskRow(disk="d")])
        return Manifest(
            name=name, title="t", about="", measured="long ago", setups=[here], notes=run.plan.notes
        )


def test_every_workload_in_order_between_begin_and_release(tmp_path: Path) -> None:
    target, lines = Shelf(["a", "b"]), []
    folder = measure(target, tmp_path / "ds", progress=lambda *line: lines.append(line))
    assert target.events == ["begin", "prepare a", "prepare b", "release NoneType"]
    assert [line[:2] for line in lines] == [(0, 2), (1, 2), (1, 2), (2, 2)]
    assert [line[2] for line in lines][::2] == ["a …", "b …"]
    assert sorted(path.name for path in (folder / "raw" / "shelf").iterdir()) == [
        "a.json",
        "a.log",
        "b.json",
        "b.log",
    ]
    assert len(Dataset.load(folder).runs) == 1  # both are the same bytes, and so one run


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    with pytest.raises(AzbenchError):
        measure(Shelf(["a", "b"], fails="b"), tmp_path / "ds")
    again = Shelf(["a", "b"])
    folder = measure(again, tmp_path / "ds")
    assert again.events == ["begin", "prepare b", "release NoneType"]
    (note,) = Dataset.load(folder).manifest.notes
    assert note.endswith("workload shelf-b: fio ended with status 1: no such thing; it was run again.")
    finished = Shelf(["a", "b"])
    measure(finished, tmp_path / "ds")
    assert not finished.events


def test_what_failed_is_put_aside_and_the_target_released(tmp_path: Path) -> None:
    target = Shelf(["a", "b"], fails="b")
    with pytest.raises(AzbenchError, match=r"fio ended with status 1: no such thing; .*failed/shelf-b-"):
        measure(target, tmp_path / "ds")
    assert target.events[-1] == "release AzbenchError"
    (kept,) = (tmp_path / "ds" / outputs.FAILED).iterdir()
    assert sorted(path.name for path in kept.iterdir()) == ["b.log", "b.txt"]
    assert [path.name for path in (tmp_path / "ds" / "raw").iterdir()] == ["shelf"]


def test_an_interrupt_says_what_the_target_says_of_it(tmp_path: Path) -> None:
    target = Shelf(["interrupted"], fails="interrupted")
    with pytest.raises(KeyboardInterrupt, match="the shelf is as it was"):
        measure(target, tmp_path / "ds")
    assert target.events[-1] == "release KeyboardInterrupt"
    assert not list((tmp_path / "ds" / "raw").iterdir())


def test_a_fault_of_this_machines_disk_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"\.part-shelf-disk: No space left on device"):
        measure(Shelf(["disk"], fails="disk"), tmp_path / "ds")


def test_a_folder_of_another_plan_is_not_touched(tmp_path: Path) -> None:
    measure(Shelf(["a"]), tmp_path / "ds")
    with pytest.raises(InputError, match=r"measurements of another plan \(a\)"):
        measure(Shelf(["b"]), tmp_path / "ds")
    measure(Shelf(["b"]), tmp_path / "ds", fresh=True)
    assert (tmp_path / "ds" / "raw" / "shelf" / "b.json").is_file()


def test_a_run_that_was_killed_while_it_wrote_its_first_plan_is_begun_anew(tmp_path: Path) -> None:
    folder = tmp_path / "ds"
    folder.mkdir()
    left = folder / f".{plan.PLAN_FILE}.0123abcd.part"
    left.write_text("{")
    assert measure(Shelf(["a"]), folder) == folder and not left.exists()


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "ds"
    folder.mkdir()
    for name in (".other.0123abcd.part", "precious"):
        (folder / name).write_text("data")
        with pytest.raises(InputError, match="holds other files"):
            measure(Shelf(["a"]), folder)
        (folder / name).unlink()
