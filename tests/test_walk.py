"""The ways through the library, as CONTRIBUTING.md has them, are the ways that data really go."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import azbenchlib as az
from azbenchlib.cli import verdict
from azbenchlib.cli.printing.answer_output import OutputFormat

ROOT = Path(__file__).parents[1]
FIO = ROOT / "tests" / "data" / "fio" / "randrw.json"


def judge_file() -> None:
    verdict.verdict([str(FIO)], vm="Standard_E8ds_v5", disk=["P30"], format_=OutputFormat.json)


def advise() -> None:
    assert az.advise(iops=24_000, size="2TiB", region="westeurope").to_dict()["configurations"]


def show_cards() -> None:
    from azbenchlib.views.report import Report

    assert "59,200" in Report(["azure-local-disks-2020"]).cards().html


WAYS: dict[str, tuple[Callable[[], None], int]] = {  # with the most stops of each
    "The `iops` of a job in fio's JSON": (judge_file, 15),
    "The demand of `azbench advise": (advise, 20),
    "A dataset on its way to a card": (show_cards, 12),
}


def stops(way: str) -> list[str]:
    """The functions of the table behind these words, without the name of the library."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition(way)[2].partition("\n|")[2].partition("\n\n")[0]
    return re.findall(r"^\| \d+ \| `([\w.]+)`", table, re.MULTILINE)


@pytest.mark.parametrize("way", WAYS)
def test_each_stop_is_called_after_the_one_before(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    walk, most = WAYS[way]
    assert 8 <= len(stops(way)) <= most
    called: dict[str, int] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        name = f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_qualname}".removeprefix("azbenchlib.")
        called.setdefault(name, len(called))

    sys.setprofile(note)
    try:
        walk()
    finally:
        sys.setprofile(None)
    if walk is judge_file:
        assert '"probability"' in capsys.readouterr().out
    assert [stop for stop in stops(way) if stop not in called] == []
    order = [called[stop] for stop in stops(way)]
    assert order == sorted(order)
