"""Matrices and repeats of a measurement file: what they stand for, in which order, and what is refused."""

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.campaign.design import blocks
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.targets.azure import steps
from azbenchlib.campaign.targets.lab.plan import emulated
from azbenchlib.campaign.workloads import base, kinds
from azbenchlib.core.errors import InputError

FILE = """\
title: A matrix
region: westeurope
vm: Standard_D4as_v5
zone: 1
repeats: 3
disks:
  data: {sku: Premium_LRS, size: 128GiB}
  log: {sku: Premium_LRS, size: 64GiB}
workloads:
  read:
    rw: [randread, randwrite]
    bs: [4k, 64k]
    iodepth: [1, 8]
    size: 1g
    runtime: 2
    exclude: [{bs: 64k, iodepth: 8}]
    disks: data
  log: {rw: write, bs: 4k, size: 1g, runtime: 2, disks: log}
"""
WORKLOADS = {
    *(f"read-{rw}-{load}" for rw in ("randread", "randwrite") for load in ("4k-qd1", "4k-qd8", "64k-qd1")),
    "log",
}


def load(folder: Path, text: str = FILE) -> Experiment:
    path = folder / "file.yaml"
    path.write_text(text)
    return measurement_file.load(path)


def runs(experiment: Experiment) -> list[str]:
    return [task.workload.name for setup in experiment.setups for task in setup.tasks]


def test_every_block_has_every_combination_once(tmp_path: Path) -> None:
    order = runs(load(tmp_path))
    assert Counter(order) == Counter(base.of_repeat(one, n) for one in WORKLOADS for n in (1, 2, 3))
    parts = [order[n : n + len(WORKLOADS)] for n in range(0, len(order), len(WORKLOADS))]
    for number, block in enumerate(parts, 1):
        assert {base.repeat_of(one) for one in block} == {(one, number) for one in WORKLOADS}
    bare = [[base.repeat_of(one)[0] for one in block] for block in parts]
    assert bare[0] != bare[1] != bare[2]


def test_the_order_is_that_of_the_seed_and_of_nothing_else(tmp_path: Path) -> None:
    first, again = load(tmp_path), load(tmp_path)
    assert first == again and first.seed is not None
    stated = load(tmp_path, f"seed: {first.seed}\n{FILE}")
    assert runs(stated) == runs(first)
    assert runs(load(tmp_path, f"seed: {(first.seed + 1) % 2**32}\n{FILE}")) != runs(first)
    assert str(first.seed) in blocks.described(first)


def test_every_target_has_the_same_order(tmp_path: Path) -> None:
    experiment = load(tmp_path)
    measured = [step for step in steps.steps(experiment, "G", {}, "0000") if isinstance(step, steps.Measure)]
    assert [step.workload.name for step in measured] == runs(experiment)
    (one,) = emulated(experiment)
    assert [task.workload.name for task in one.tasks] == runs(experiment)
    assert [work.name for work in experiment.workloads()] == runs(experiment)


def test_without_repeats_the_order_is_that_of_the_file(tmp_path: Path) -> None:
    experiment = load(tmp_path, FILE.replace("repeats: 3\n", ""))
    assert experiment.seed is None and blocks.described(experiment) == ""
    assert runs(experiment)[0] == "read-randread-4k-qd1" and set(runs(experiment)) == WORKLOADS


def test_orders_are_uniform() -> None:
    """Every workload comes first about as often as every other one, over many seeds."""
    first = Counter()
    setup = measurement_file.load(Path(__file__).parents[2] / "campaigns" / "ultra-disk.yaml").setups[0]
    four = tuple(
        setup.tasks[0].model_copy(update={"workload": _named(setup.tasks[0].workload, name)})
        for name in "abcd"
    )
    experiment = Experiment(
        title="t", region="westeurope", setups=(setup.model_copy(update={"tasks": four, "repeats": 2}),)
    )
    for seed in range(400):
        found = blocks.repeated(experiment.model_copy(update={"seed": seed}))
        first[base.repeat_of(found.setups[0].tasks[4].workload.name)[0]] += 1
    assert set(first) == set("abcd") and all(60 < count < 140 for count in first.values())


def _named(workload, name: str):
    return workload.__class__(**{**vars(workload), "name": name})


@given(
    sizes=st.lists(st.sampled_from(["4k", "8k", "64k"]), min_size=1, max_size=3, unique=True),
    depths=st.lists(st.integers(1, 64), min_size=1, max_size=4, unique=True),
    data=st.data(),
)
def test_what_is_excluded_is_what_is_missing(
    sizes: list[str], depths: list[int], data: st.DataObject
) -> None:
    given_ = {"rw": "read", "bs": sizes, "iodepth": depths, "size": "1g", "runtime": 1}
    whole = [(one["bs"], one["iodepth"]) for _, one in kinds.combinations("w", given_)]
    assert whole == [(size, depth) for size in sizes for depth in depths]
    if len(sizes) > 1 and len(depths) > 1:
        out = data.draw(st.sampled_from(whole))
        less = kinds.combinations("w", {**given_, "exclude": [{"bs": out[0], "iodepth": [out[1]]}]})
        assert [(one["bs"], one["iodepth"]) for _, one in less] == [pair for pair in whole if pair != out]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[1, 8]", "[1, 8, 1]", r"file.yaml:13: .*iodepth: '1' is there twice; keep one"),
        ("[1, 8]", "[]", r"file.yaml:13: .*iodepth: the list is empty"),
        ("[1, 8]", "[1, [8]]", r"file.yaml:13: .*iodepth: must be a value or a list of values"),
        ("[4k, 64k]", "[4k, 64k, big]", r"file.yaml:12: .*bs: 'big' is not a size"),
        (
            "size: 1g\n",
            "size: [1g, 2g]\n",
            r"file.yaml:14: .*size: no list is taken here; lists may be: rw, bs, ",
        ),
        ("{bs: 64k,", "{bs: 8k,", r"file.yaml:16: .*exclude: bs '8k' is not in its list: 4k, 64k"),
        (
            "{bs: 64k,",
            "{size: 1g,",
            r"file.yaml:16: .*'size' has no list here; the lists are: rw, bs, iodepth",
        ),
        ("[{bs: 64k, iodepth: 8}]", "[{bs: [4k, 64k]}]", r"file.yaml:16: .*exclude: leaves no combination"),
        ("[{bs: 64k, iodepth: 8}]", "64k", r"file.yaml:16: .*exclude: must be a list of combinations"),
        ("repeats: 3", "repeats: 0", r"file.yaml:5: repeats '0': .*greater than or equal to 1"),
        ("repeats: 3", "repeats: often", r"file.yaml:5: repeats 'often': .*integer"),
        ("repeats: 3", "repeets: 3", r"file.yaml:5: the file: no key 'repeets'; the keys are: .*repeats"),
        ("  log: {rw", "  log-r2: {rw", r"file.yaml:18: .*the name is that of repeat 2 of 'log'"),
        ("repeats: 3", "seed: -1", r"file.yaml:5: '-1' begins with -" + "|" + r"file.yaml:5: seed '-1'"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert old in FILE
    with pytest.raises(InputError) as caught:
        load(tmp_path, FILE.replace(old, new))
    assert re.search(said, str(caught.value)), str(caught.value)


def test_ten_thousand_runs_are_refused_before_any_is_made(tmp_path: Path) -> None:
    depths = ", ".join(map(str, range(1, 101)))
    with pytest.raises(InputError, match=r"file.yaml:10: .*'read' makes 40,000 runs, and .* may have 5,000"):
        load(
            tmp_path,
            FILE.replace("[1, 8]", f"[{depths}]").replace(
                "[4k, 64k]", "[" + ", ".join(f"{4 * n}k" for n in range(1, 201)) + "]"
            ),
        )
    fifty = ", ".join(map(str, range(1, 51)))
    with pytest.raises(InputError, match=r"file.yaml:5: the file makes [0-9,]+ runs, and .* may have 5,000"):
        load(tmp_path, FILE.replace("repeats: 3", "repeats: 98").replace("[1, 8]", f"[{fifty}]"))
