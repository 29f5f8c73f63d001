"""Warm-up: a workload is run until two runs agree, and only what comes after is in the dataset."""

import re
import shutil
from pathlib import Path

import pytest
from lab_tools import busy
from measuring import Measurement

from azbenchlib.campaign import experiment
from azbenchlib.campaign.design import blocks, figures
from azbenchlib.campaign.design.stopping import Stopping
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.campaign.planning import forecast
from azbenchlib.campaign.workloads import base
from azbenchlib.core.errors import InputError
from azbenchlib.dataset import manifest
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.manifest import Manifest

OUTPUTS = Path(__file__).parents[1] / "data" / "fio"
FILE = """\
title: Warm first
region: westeurope
as_of: 2026-01-01
vm: Standard_D4s_v3
zone: 1
warm_up: {iops: 25%}
disks:
  data: {sku: Premium_LRS, size: 128GiB, caching: ReadOnly}
workloads:
  reads: {rw: randread, bs: 4k, iodepth: 16, size: 6m, runtime: 4}
"""


def load(folder: Path, text: str = FILE) -> Experiment:
    (folder / "file.yaml").write_text(text)
    return measurement_file.load(folder / "file.yaml")


def test_warm_ups_come_right_before_the_first_run_of_their_workload(tmp_path: Path) -> None:
    text = (
        FILE.replace("warm_up", "repeats: 2\nwarm_up")
        + "  writes: {rw: write, bs: 4k, size: 6m, runtime: 4}\n"
    )
    found = load(tmp_path, text)
    order = [task.workload.name for task in found.setups[0].tasks]
    assert len(order) == 2 * (figures.MOST_WARM_UPS + 2)
    for name in ("reads", "writes"):
        first = order.index(base.of_repeat(name, 1))
        before = [base.of_warm_up(name, n) for n in range(1, figures.MOST_WARM_UPS + 1)]
        assert order[first - figures.MOST_WARM_UPS : first] == before
    assert (
        "until two runs one after the other agree (iops to within 25 %), 8 times at most"
        in blocks.described(found)
    )
    assert found.seconds() == 2 * (2 + 2) * 4  # as many as are run in any case
    lines = "\n".join(forecast.of(found, "").lines()).replace("\N{NO-BREAK SPACE}", " ")
    assert "20 runs; workloads and rests last at most 80 s" in lines
    assert "reads: 2 × 4 s, after 2 to 8 warm-ups" in lines


def test_two_runs_one_after_the_other_agree_or_not(tmp_path: Path) -> None:
    different = [OUTPUTS / "group_jsonplus.json", OUTPUTS / "randrw.json"]
    rates = [figures.read(path, "iops") for path in different]
    assert all(rates) and abs(rates[0] - rates[1]) / max(rates) > 0.1
    for number, source in enumerate([different[0], different[1], different[1]], 1):
        assert not figures.agreed(tmp_path / f"w-warm{number}.json", {"iops": 0.1})
        shutil.copy(source, tmp_path / f"w-warm{number}.json")
    assert not figures.agreed(tmp_path / "w-warm3.json", {"iops": 0.1})
    said = "warm after 3 runs: the last two differ by 0.0% (iops) and 0.0% (bw)"
    for later in (4, 5, 8):  # and so it stays, though what comes in between is not run
        assert figures.agreed(tmp_path / f"w-warm{later}.json", {"iops": 0.1, "bw": 0.1}) == said
    assert figures.waits(tmp_path / "w-warm5.json") and not figures.waits(tmp_path / "w-warm2.json")


def test_what_never_agrees_is_measured_and_noted(tmp_path: Path) -> None:
    rules = Stopping.of(load(tmp_path))
    sources = [OUTPUTS / "group_jsonplus.json", OUTPUTS / "randrw.json"]
    for number in range(1, figures.MOST_WARM_UPS + 1):
        shutil.copy(sources[number % 2], tmp_path / f"reads-warm{number}.json")
    last = tmp_path / f"reads-warm{figures.MOST_WARM_UPS}.json"
    assert "no two of its 8 warm-ups one after the other agree (iops to within 25 %)" in rules.still_cold(
        last, ""
    )
    assert not rules.enough(tmp_path / "reads.json", "")
    shutil.copy(tmp_path / f"reads-warm{figures.MOST_WARM_UPS - 1}.json", last)
    assert not rules.still_cold(last, "")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{iops: 25%}", "{iops: 25}", r"file.yaml:6: warm_up.iops '25': must be a share from 0.1% to 100%"),
        ("reads:", "reads-warm2:", r"the name is that of warm-up 2 of 'reads'; take another, or say warm_up"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        load(tmp_path, FILE.replace(old, new))


@pytest.mark.fio
@pytest.mark.alone
def test_a_cold_host_cache_is_in_no_figure(tmp_path: Path) -> None:
    (tmp_path / "file.yaml").write_text(FILE)
    asked, folder = experiment.load(tmp_path / "file.yaml"), tmp_path / "ds"

    def measure() -> Manifest:
        experiment.run(asked, folder, target="lab", longest_s=2.0, fresh=True)
        return manifest.load(folder)

    def holds(found: Manifest) -> None:
        warm_ups = sorted((folder / "warm-up").rglob("*.json"))
        cold, warm = (figures.read(path, "iops") for path in (warm_ups[0], warm_ups[-1]))
        (counted,) = (folder / "raw").rglob("reads.json")
        assert cold < 0.6 * warm and figures.read(counted, "iops") == pytest.approx(warm, rel=0.25)
        assert any(re.search(r"reads: warm after \d runs", note) for note in found.notes)

    told = Measurement(measure, lambda _: busy(Dataset.load(folder))).check(holds)
    kept = sorted((folder / "warm-up").rglob("*.json"))
    assert len(kept) >= figures.LEAST_WARM_UPS
    (run,) = Dataset.load(folder).runs["job"]
    assert run == "reads"
    assert len(told.commands) == len(kept) + 1  # of what was run, and of nothing that was left out
    assert f"{len(kept) + 1} workloads" in told.about
    out = [event["why"] for event in Journal(folder).events() if event["event"] == JournalEvent.LEFT_OUT]
    assert len(out) == figures.MOST_WARM_UPS - len(kept)
