"""What is said of datasets that are drawn at random is what their rows give; benchmarks draw hundreds."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import random_headlines
import random_mixtures
from drawn_datasets import KINDS, Drawn, Row, mixture
from drawn_runs import checked
from said_figures import Surfaces, Tally, surfaces

SEED = 20261128
LEAST = 20  # statements of a dataset: a page that is not read contradicts nothing


@pytest.fixture(autouse=True, scope="module")
def shipped_prices() -> None:
    """Only the catalogue and the prices that come with azbench, not what was read on this machine."""
    with pytest.MonkeyPatch.context() as patched, TemporaryDirectory() as folder:
        patched.setenv("XDG_DATA_HOME", folder)
        yield


@pytest.mark.parametrize("number", range(3))
@pytest.mark.sampled(1)
def test_no_figure_is_taken_over_two_disks(number: int, tmp_path: Path) -> None:
    drawn, tally = checked(mixture, random_mixtures.check, f"{SEED}-{number}", tmp_path / "drawn")
    assert not tally.contradicted, drawn
    assert sum(tally.checked.values()) >= LEAST


@pytest.mark.parametrize("number", (0, 2, 4, 5))
def test_every_headline_is_what_the_rows_give(number: int, tmp_path: Path) -> None:
    drawn, tally = checked(KINDS[number], random_headlines.check, f"{SEED}-{number}", tmp_path / "drawn")
    assert not tally.contradicted, drawn
    assert not tally.unread
    assert sum(tally.checked.values()) >= LEAST


def _depths() -> Drawn:
    """A sweep that turns at a queue depth of 8, at the limit of a P30."""
    rates = {1: 700.0, 2: 1400.0, 4: 2800.0, 8: 5060.0, 16: 5090.0, 32: 5080.0}
    rows = [
        Row(path=f"qd{depth}.json", rw="randread", bs=4096, depth=depth, iops={"read": rate})
        for depth, rate in rates.items()
    ]
    return Drawn(kind="depths", rows=rows, vm="Standard_D8s_v5", disk="P30")


def _mixed() -> Drawn:
    """Runs of two disks in one folder."""
    rates = (5000.0, 5030.0, 4980.0, 7600.0, 7640.0)
    rows = [
        Row(path=f"{i}.json", rw="randread", bs=4096, depth=32, iops={"read": rate}, side=i // 3)
        for i, rate in enumerate(rates)
    ]
    return Drawn(kind="mixed", rows=rows, vm="Standard_D8s_v5", disk="P40")


@cache
def _said(make: Callable[[], Drawn]) -> Surfaces:
    with TemporaryDirectory() as folder:
        return surfaces(make(), Path(folder) / "drawn")


Check = Callable[[Tally, Drawn, Surfaces], None]


@pytest.mark.parametrize(
    ("make", "check", "place", "text", "instead", "named"),
    [
        (_depths, random_headlines.check, "lead", "QD 8:", "QD 16:", "best depth"),
        (_depths, random_headlines.check, "lead", "from QD 8 on", "from QD 4 on", "at a limit"),
        (_depths, random_headlines.check, "lead", "5,000 IOPS", "5,500 IOPS", "documented limit"),
        (_depths, random_headlines.check, "lead", "136 more", "163 more", "price of a change"),
        (_depths, random_headlines.check, "lead", r"\(4 times", "(5 times", "times as long"),
        (_depths, random_headlines.check, "bar", "101 %", "110 %", "bar"),
        (_depths, random_headlines.check, "card", "5,060", "6,060", "rate"),
        (_depths, random_headlines.check, "facts", "6 runs", "5 runs", "runs counted"),
        (_mixed, random_mixtures.check, "card", "5,000", "5,030", "rate"),
        (_mixed, random_mixtures.check, "card", "median of 3 runs", "median of 5 runs", "median of n runs"),
        (_mixed, random_mixtures.check, "results IOPS", "median of 2 runs", "", "runs in the results"),
    ],
)
def test_an_error_is_found(
    make: Callable[[], Drawn], check: Check, place: str, text: str, instead: str, named: str
) -> None:
    """Each statement as it is said holds; with another figure in it, it is contradicted."""
    said, right = _said(make), Tally()
    check(right, make(), said)
    assert not right.contradicted
    changed = [
        replace(one, about=re.sub(text, instead, one.about), text=re.sub(text, instead, one.text))
        if one.place == place
        else one
        for one in said.texts
    ]
    assert changed != said.texts, [str(one) for one in said.texts if one.place == place]
    wrong = Tally()
    check(wrong, make(), replace(said, texts=changed))
    assert named in {one.partition(":")[0] for one in wrong.contradicted}
