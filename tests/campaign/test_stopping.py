"""Repeats until a figure is known closely enough: the intervals, the rules, a campaign that stops by them."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
import sequential_intervals
from measuring import Measurement
from scipy import stats

from azbenchlib.campaign import experiment
from azbenchlib.campaign.design import figures
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.core.errors import InputError
from azbenchlib.dataset import manifest

OUTPUT = Path(__file__).parents[1] / "data" / "fio" / "group_jsonplus.json"
FILE = """\
title: Until it is known
region: westeurope
vm: Standard_D4as_v5
zone: 1
until: {iops: 100%, p50: 100%}
disks:
  data: {sku: Premium_LRS, size: 128GiB}
workloads:
  tiny: {rw: [randread, randwrite], bs: 4k, size: 256k, runtime: 0.1, ioengine: psync, direct: false}
"""


def test_intervals_hold_at_every_look_and_save_runs() -> None:
    found = sequential_intervals.simulate(2000, seed=20)
    assert abs(found.at_every_look - 0.95) < 0.02
    assert found.at_the_stop > 0.95
    assert found.saved >= 0.3


def test_students_interval_would_not_hold_at_every_look() -> None:
    """What the intervals are for."""
    logs = np.random.default_rng(3).normal(0, 1, (2000, 20))
    missed = np.zeros(2000, dtype=bool)
    for n in range(3, 21):
        half = stats.t.ppf(0.975, n - 1) * logs[:, :n].std(axis=1, ddof=1) / math.sqrt(n)
        missed |= abs(logs[:, :n].mean(axis=1)) > half
    assert missed.mean() > 0.15


def test_an_interval_is_wider_than_students_and_narrows() -> None:
    values = np.random.default_rng(5).normal(10, 1, 20).tolist()
    widths = [figures.half_width(values[:n], 20) for n in range(1, 21)]
    assert widths[:2] == [math.inf, math.inf] and all(math.isfinite(width) for width in widths[2:])
    for n in range(3, 21):
        student = stats.t.ppf(0.975, n - 1) * np.std(values[:n], ddof=1) / math.sqrt(n)
        assert student < widths[n - 1] < 6 * student
    assert figures.half_width([1.0] * 5, 20) == 0
    assert figures.half_width(values, 100) > figures.half_width(values, 20)


def test_a_relative_interval_is_one_of_ratios() -> None:
    values = [100.0, 110.0, 95.0, 105.0]
    typical, width = figures.relative(values, 20)
    assert typical == pytest.approx(math.prod(values) ** 0.25)
    doubled = figures.relative([2 * value for value in values], 20)
    assert doubled == (pytest.approx(2 * typical), pytest.approx(width))


def test_figures_of_an_output() -> None:
    rates = {figure: figures.read(OUTPUT, figure) for figure in ("iops", "bw", "p50", "p99", "p99.9")}
    assert all(rates.values()) and rates["p50"] < rates["p99"] <= rates["p99.9"]
    assert figures.read(OUTPUT.with_name("absent.json"), "iops") is None


def load(folder: Path, text: str = FILE):
    (folder / "file.yaml").write_text(text)
    return measurement_file.load(folder / "file.yaml")


def test_until_has_twenty_repeats_where_none_are_said(tmp_path: Path) -> None:
    (setup,) = load(tmp_path).setups
    assert setup.repeats == 20 and setup.until == {"iops": 1.0, "p50": 1.0} and len(setup.tasks) == 40
    assert load(tmp_path, FILE.replace("until:", "repeats: 7\nuntil:")).setups[0].repeats == 7


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (
            "{p99x: 5%}",
            r"file.yaml:5: until.p99x.*'p99x' is no figure of a run; write iops, bw, or a percentile",
        ),
        ("{p99: 5}", r"file.yaml:5: until.p99 '5': must be a share from 0.1% to 100%, such as 5%"),
        ("{p99: 0%}", r"file.yaml:5: until.p99 '0%': must be a share"),
        ("{p0: 5%}", r"'p0' is no figure of a run"),
        ("5%", r"file.yaml:5: until '5%'"),
        ("{p99: 5%}\nrepeats: 3", r"until needs more repeats than 3"),
    ],
)
def test_rules_that_cannot_be_are_refused(tmp_path: Path, new: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path, FILE.replace("{iops: 100%, p50: 100%}", new))
    assert re.search(said, str(caught.value)), str(caught.value)


@pytest.mark.fio
@pytest.mark.alone
@pytest.mark.usefixtures("own_disk")
def test_a_campaign_stops_when_it_knows_enough(tmp_path: Path) -> None:
    (tmp_path / "file.yaml").write_text(FILE)
    asked, folder = experiment.load(tmp_path / "file.yaml"), tmp_path / "ds"

    def measure() -> list[str]:
        experiment.run(asked, folder, target="local", directory=tmp_path, fresh=True)
        events = Journal(folder).events()
        return [event["run"] for event in events if event["event"] == JournalEvent.LEFT_OUT]

    def holds(out: list[str]) -> None:
        assert out
        notes = manifest.load(folder).notes
        assert any(
            re.search(r"tiny-randread: iops is [\d,]+ IOPS ± .*after \d+ runs", note) for note in notes
        )

    out = Measurement(measure).check(holds)
    events = Journal(folder).events()
    kept = [event["run"] for event in events if event["event"] == JournalEvent.KEPT]
    assert kept[:6] == [work.name for work in asked.workloads[:6]]  # three of each in any case
    assert sorted(kept + out) == sorted(work.name for work in asked.workloads)
    for name in ("tiny-randread", "tiny-randwrite"):
        count = sum(run.startswith(name) for run in kept)
        values = [
            [figures.read(folder / "raw" / f"{name}-r{n}.json", figure) for n in range(1, count + 1)]
            for figure in ("iops", "p50")
        ]
        known = all(figures.relative(found, 20)[1] <= 1 for found in values)
        most = sum(work.name.startswith(name) for work in asked.workloads)
        assert known or count == most  # closely enough, or on a busy machine as often as may be …
        if known and count > 3:
            assert any(figures.relative(found[:-1], 20)[1] > 1 for found in values)  # … and not before
    lines: list[str] = []
    experiment.run(
        asked, folder, target="local", directory=tmp_path, progress=lambda *line: lines.append(line[2])
    )
    assert lines == ["already measured; fresh=True measures anew"]
