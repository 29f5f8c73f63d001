"""Search: the deepest queue at which a latency stays below a limit."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab_tools import busy
from measuring import Measurement

from azbenchlib.campaign import experiment
from azbenchlib.campaign.design import search
from azbenchlib.campaign.design.search import Condition
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.journal import Journal
from azbenchlib.core.errors import InputError
from azbenchlib.dataset import manifest
from azbenchlib.dataset.dataset import Dataset

FILE = """\
title: A search
region: westeurope
vm: Standard_D4as_v5
zone: 1
disks:
  data: {sku: Premium_LRS, size: 128GiB}
workloads:
  deep:
    rw: randread
    bs: 4k
    size: 1g
    runtime: 1
    find: max_iops where p50 < 12ms
"""


@given(count=st.integers(1, 40), answer=st.integers(-1, 39))
def test_the_order_serves_every_way(count: int, answer: int) -> None:
    """Whatever the answer, the places that the bisection comes to follow one another in the order."""
    answer = min(answer, count - 1)
    walked = list(search.path(count, lambda place: place <= answer))
    order = search.in_order(count)
    assert sorted(order) == list(range(count))
    places = [order.index(place) for place, _ in walked]
    assert places == sorted(places) and len(walked) <= count.bit_length()
    assert max((place for place, held in walked if held), default=-1) == answer


@pytest.mark.parametrize(
    ("text", "limit_us"),
    [
        ("max_iops where p99 < 2ms", 2000),
        ("max_iops where p99.9<500us", 500),
        ("max_iops where p50 < 1.5 s", 1.5e6),
    ],
)
def test_conditions(text: str, limit_us: float) -> None:
    assert Condition.of(text).limit_us == limit_us


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "max_iops where p50 < 12ms",
            "the best",
            r"file.yaml:13: .*find 'the best' is no search; write it as",
        ),
        ("p50 < 12ms", "p0 < 12ms", r"file.yaml:13: .*is no search"),
        ("p50 < 12ms", "p99 < 12", r"file.yaml:13: .*is no search"),
        ("bs: 4k", "bs: 4k\n    iodepth: [8, 4]", r"file.yaml:11: .*find: searches a list that grows"),
        ("bs: 4k", "bs: 4k\n    iodepth: 8", r"file.yaml:11: .*of iodepth or of numjobs, such as"),
        ("bs: 4k", "bs: 4k\n    iodepth: 8\n    numjobs: [4, 2]", r"file.yaml:12: .*searches a list that"),
    ],
)
def test_what_cannot_be_searched_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    (tmp_path / "file.yaml").write_text(FILE.replace(old, new))
    with pytest.raises(InputError) as caught:
        measurement_file.load(tmp_path / "file.yaml")
    assert re.search(said, str(caught.value)), str(caught.value)


def test_other_lists_make_a_search_each(tmp_path: Path) -> None:
    text = FILE.replace("bs: 4k", "bs: [4k, 8k]\n    iodepth: [1, 4]\n    numjobs: [1, 2]")
    (tmp_path / "file.yaml").write_text(text)
    (setup,) = measurement_file.load(tmp_path / "file.yaml").setups
    ladders = {task.ladder for task in setup.tasks}
    assert ladders == {
        tuple(f"deep-{bs}-qd{depth}-j{jobs}" for depth in (1, 4)) for bs in ("4k", "8k") for jobs in (1, 2)
    }


def test_a_search_over_the_number_of_jobs(tmp_path: Path) -> None:
    (tmp_path / "file.yaml").write_text(
        FILE.replace("bs: 4k", "bs: 4k\n    iodepth: 8\n    numjobs: [1, 2, 4]")
    )
    (setup,) = measurement_file.load(tmp_path / "file.yaml").setups
    assert {task.ladder for task in setup.tasks} == {("deep-j1", "deep-j2", "deep-j4")}
    assert [task.workload.name for task in setup.tasks[:3]] == ["deep-j2-r1", "deep-j1-r1", "deep-j4-r1"]


@pytest.mark.fio
@pytest.mark.slow
@pytest.mark.alone
def test_a_search_on_an_emulated_disk(tmp_path: Path) -> None:
    """A P10 gives 500 IOPS, or 3,500 in a burst: deep queues wait, shallow ones do not."""
    (tmp_path / "file.yaml").write_text(FILE)
    asked, folder = experiment.load(tmp_path / "file.yaml"), tmp_path / "ds"

    def measure() -> Dataset:
        return Dataset.load(experiment.run(asked, folder, target="lab", longest_s=1, fresh=True))

    def holds(found: Dataset) -> None:
        assert found.manifest and found.manifest.searches[0].answer  # also where a busy one made all wait

    Measurement(measure, busy).check(holds)
    kept = [run.rpartition("/")[2] for run in Journal(folder).kept()]
    first = [name.removesuffix("-r1") for name in kept if name.endswith("-r1")]
    assert first[0] == "deep-qd16" and len(first) in (2, 3, 4)  # of nine depths
    latencies = Dataset.load(folder).runs.merge(Dataset.load(folder).percentiles, on="run_id")
    medians = latencies[(latencies["percentile"] == 50) & (latencies["lat_kind"] == "clat")]
    held = {  # as the dataset has it, at full speed
        int(name.rpartition("qd")[2]): (medians.loc[medians["job"] == f"{name}-r1", "lat_us"] < 12_000).all()
        for name in first
    }
    walked = [search.DEPTHS[place] for place, _ in search.path(9, lambda one: held[search.DEPTHS[one]])]
    assert walked == list(held)
    answer = f"deep-qd{max(depth for depth in held if held[depth])}"
    assert [name for name in kept if not name.endswith("-r1")] == [f"{answer}-r2", f"{answer}-r3"]
    notes = manifest.load(folder).notes
    assert any(f"most IOPS where p50 < 12\u00a0ms: {answer} (" in note for note in notes)
    (curve,) = manifest.load(folder).searches
    assert (curve.where, curve.percentile, curve.limit_us, curve.answer) == ("setup/data", 50, 12_000, answer)
    assert [point.workload for point in curve.points].count(answer) == 3
    depths = [point.queue_depth for point in curve.points]
    assert depths == sorted(depths) and set(depths) == set(held)
    measured = set(medians.loc[medians["job"].str.rpartition("-")[0] == answer, "lat_us"].round(3))
    assert {round(point.lat_us, 3) for point in curve.points if point.workload == answer} == measured
