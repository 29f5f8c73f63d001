"""Who works for a lake: processes that are lost, Dask workers that are killed, two collectors at once."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from many_runs import write_runs

from azbenchlib import Lake
from azbenchlib.core.errors import InputError, MissingToolError
from azbenchlib.lake.workers import DaskCluster, Processes

AZBENCH = Path(sys.executable).with_name("azbench")


def killed_once(marks: Path, item: int) -> int:
    """Twice the item; the process that has item 3 is killed the first time."""
    mark = marks / "killed"
    if item == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * item


def killed_always(item: int) -> int:
    if item == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * item


def refusing(item: int) -> int:
    raise InputError(f"item {item} is not wanted")


def test_a_lost_process_changes_nothing(tmp_path: Path) -> None:
    done = dict(Processes(2).map(partial(killed_once, tmp_path), range(6)))
    assert (tmp_path / "killed").exists()
    assert done == {item: 2 * item for item in range(6)}


@pytest.mark.long
def test_an_item_that_costs_every_process_is_told_and_the_others_are_done() -> None:
    done = dict(Processes(2).map(killed_always, range(6)))
    assert done == {item: None if item == 3 else 2 * item for item in range(6)}


def test_what_a_task_refuses_is_told() -> None:
    with pytest.raises(InputError, match="is not wanted"):
        list(Processes(2).map(refusing, range(4)))


def test_two_collectors_at_once_lose_and_double_nothing(tmp_path: Path) -> None:
    outputs = write_runs(tmp_path / "outputs", 40)
    command = [AZBENCH, "collect", "outputs", "-o", "lake", "--setup", "vm", "--processes", "1"]

    def collect(_: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    with ThreadPoolExecutor(2) as threads:
        done = list(threads.map(collect, range(2)))
    assert [one.returncode for one in done] == [0, 0], done
    alone = Lake(tmp_path / "alone")
    alone.collect(*outputs, setup_id="vm")
    both = Lake(tmp_path / "lake")
    assert both.query("SELECT count(*) AS n FROM runs")["n"].tolist() == [40]
    assert both.percentiles().equals(alone.percentiles())


def test_without_dask_the_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingToolError, match=r"azbench\[dask\]"):
        list(DaskCluster("tcp://127.0.0.1:1").map(abs, [1]))


def test_an_address_without_a_scheduler_is_told() -> None:
    with pytest.raises(InputError, match="not an address"):
        list(DaskCluster("not an address").map(abs, [1]))


@pytest.mark.long
def test_dask_gives_the_same_bytes_although_a_worker_is_killed(tmp_path: Path) -> None:
    from distributed import LocalCluster

    outputs = write_runs(tmp_path / "outputs", 12)
    for place, output in enumerate(outputs):  # a folder each with a log, so that each is a batch
        home = tmp_path / "apart" / str(place)
        home.mkdir(parents=True)
        output.rename(home / output.name)
        (home / f"{output.stem}_bw.1.log").write_text(f"100, {place}, 0, 4096, 0\n")
    local = Lake(tmp_path / "local")
    local.collect(tmp_path / "apart", setup_id="vm")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        done = dict(DaskCluster(address).map(partial(killed_once, tmp_path), range(6)))
        assert (tmp_path / "killed").exists() and done == {item: 2 * item for item in range(6)}
        by_dask = Lake(tmp_path / "by-dask")
        assert by_dask.collect(tmp_path / "apart", setup_id="vm", dask=address).outputs == 24
        by = ["setup_id", "day", "ddir", "lat_kind"]
        told = by_dask.percentiles(by, dask=address)
    assert told.to_csv() == local.percentiles(by).to_csv()
    assert files(by_dask) == files(local)


def files(lake: Lake) -> set[str]:
    """The Parquet files, whose names are hashes of their content."""
    return {path.name for path in Path(lake.address).rglob("*.parquet")}
