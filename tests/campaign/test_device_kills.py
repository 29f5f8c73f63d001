"""Campaigns on a device that are killed in each of their states: the same command goes on to the end."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from loop_devices import content, loop_device, put

from azbenchlib.campaign import LocalTarget, Workload, device_guard, measure
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.campaign.planning import plan
from azbenchlib.campaign.targets.local import target as local
from azbenchlib.campaign.targets.local.target import LocalPlan
from azbenchlib.campaign.workloads import program
from azbenchlib.core.errors import UnsafeTargetError
from azbenchlib.core.units import MIB

pytestmark = pytest.mark.fio

SIZE, WRITTEN = 32 * MIB, 8 * MIB


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Path]:
    with loop_device(tmp_path / "image", SIZE) as made:
        yield made


def target(device: Path, runtime_s: float = 0.3, allow: str = "") -> LocalTarget:
    names = ("first", "second")
    workloads = [
        Workload(name=name, rw="randwrite", bs_bytes=4096, iodepth=1, size_bytes=WRITTEN, runtime_s=runtime_s)
        for name in names
    ]
    return LocalTarget(directory=device, workloads=workloads, allow_unsafe=allow)


def die(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def before(module: object, name: str, times: int = 1) -> Callable[[], None]:
    """Die instead of a call."""

    def arm() -> None:
        real, calls = getattr(module, name), iter(range(times - 1))

        def call(*words: object, **named: object) -> object:
            return die() if next(calls, None) is None else real(*words, **named)

        setattr(module, name, call)

    return arm


def while_fio_runs(times: int) -> Callable[[], None]:
    """Die while the fio of that number does I/O."""

    def arm() -> None:
        real, calls = program._watched, iter(range(times - 1))

        def watched(*words: Any) -> tuple[int, str]:
            if next(calls, None) is None:
                threading.Timer(0.05, die).start()
            return real(*words)

        program._watched = watched

    return arm


def at_event(event: JournalEvent, times: int = 1) -> Callable[[], None]:
    """Die when that was written into the journal so often."""

    def arm() -> None:
        real, seen = Journal.add, []

        def add(self: Journal, name: str, **facts: object) -> None:
            real(self, name, **facts)
            seen.extend([name] if name == event else [])
            if len(seen) == times:
                die()

        Journal.add = add  # type: ignore[assignment]

    return arm


STATES = {
    "before it looked": before(local.device_guard, "look"),
    "before the mark": before(local.device_guard, "mark"),
    "after the mark, before the journal tells of it": before(device_guard, "note_mark"),
    "after the mark": at_event(JournalEvent.MARKED),
    "in the layout": while_fio_runs(1),
    "before the first run": at_event(JournalEvent.BEGUN),
    "in a run": while_fio_runs(2),
    "between two runs": at_event(JournalEvent.KEPT),
    "after the last run": at_event(JournalEvent.KEPT, 2),
    "when it was finished, before the dataset is there": at_event(JournalEvent.FINISHED),
}


def killed(arm: Callable[[], None], device: Path, dataset: Path) -> None:
    """A campaign in a process of its own, to the moment that it dies at."""
    child = os.fork()
    if not child:
        try:
            arm()
            measure(target(device), dataset)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "it was not killed"


@pytest.mark.parametrize("state", STATES)
@pytest.mark.sampled(3)
def test_a_campaign_that_was_killed_goes_on_with_the_same_command(
    state: str, device: Path, tmp_path: Path
) -> None:
    killed(STATES[state], device, tmp_path / "ds")
    was_marked = device_guard.look(device, "", token(tmp_path / "ds")).ours if journal(tmp_path) else False
    measure(target(device), tmp_path / "ds")
    events = journal(tmp_path)
    kept = [event["run"] for event in events if event["event"] == JournalEvent.KEPT]
    assert kept == ["first", "second"]
    assert [event["event"] for event in events].count(JournalEvent.MARKED) == 1
    assert was_marked or state.startswith("before")
    before_ = content(device)
    with pytest.raises(UnsafeTargetError, match="holds the data of another campaign of azbench"):
        measure(target(device), tmp_path / "other")
    assert content(device) == before_


def journal(folder: Path) -> list[dict[str, object]]:
    return Journal(folder / "ds").events()


def token(dataset: Path) -> str:
    found = plan.load(dataset, LocalPlan)
    return found.token if found else ""


def test_nothing_is_written_behind_what_a_workload_touches_but_the_mark(device: Path, tmp_path: Path) -> None:
    measure(target(device), tmp_path / "ds")
    with device.open("rb") as file:
        assert any(file.read(WRITTEN))
        behind = file.read()
    assert len(behind) == SIZE - WRITTEN and not any(behind[:-4096])
    assert behind[-4096:].startswith(b"azbench-mark 1 ")


def test_a_campaign_does_not_go_on_with_another_device(device: Path, tmp_path: Path) -> None:
    killed(at_event(JournalEvent.KEPT), device, tmp_path / "ds")
    put(device, 0, bytes(SIZE))  # as of a new disk that has its name
    with pytest.raises(UnsafeTargetError, match="the mark that this campaign wrote to its device is not on"):
        measure(target(device), tmp_path / "ds")
    assert not any(device.read_bytes())
    put(device, 100 * 4096, b"of others")
    with pytest.raises(UnsafeTargetError, match="holds data of a kind"):
        measure(target(device), tmp_path / "ds")


def test_with_the_words_there_is_no_mark_and_all_of_the_device_may_be_written(
    device: Path, tmp_path: Path
) -> None:
    put(device, -4096, b"data")
    measure(target(device, allow=f"overwrite {device}"), tmp_path / "ds")
    with device.open("rb") as file:
        file.seek(SIZE - 4096)
        assert file.read(4) == b"data"
    assert JournalEvent.MARKED not in [event["event"] for event in journal(tmp_path)]


def test_a_finished_campaign_is_returned_as_it_is(device: Path, tmp_path: Path) -> None:
    measure(target(device), tmp_path / "ds")
    events = journal(tmp_path)
    measure(target(device), tmp_path / "ds")
    assert journal(tmp_path) == events
