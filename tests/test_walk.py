"""The way of one figure through the library, as CONTRIBUTING.md has it, is the way that it really goes."""

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from azbenchlib.cli import verdict
from azbenchlib.cli.printing.answer_output import OutputFormat

ROOT = Path(__file__).parents[1]
FIO = ROOT / "tests" / "data" / "fio" / "randrw.json"
MOST_STOPS = 15


def stops() -> list[str]:
    """The functions of the table, without the name of the library."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    walk = text.partition("## One figure's way through the house")[2].partition("\n## ")[0]
    return re.findall(r"^\| \d+ \| `([\w.]+)`", walk, re.MULTILINE)


def test_each_stop_is_called_after_the_one_before(capsys: pytest.CaptureFixture[str]) -> None:
    assert 10 <= len(stops()) <= MOST_STOPS
    called: dict[str, int] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        name = f"{frame.f_globals.get('__name__', '')}.{frame.f_code.co_qualname}".removeprefix("azbenchlib.")
        called.setdefault(name, len(called))

    sys.setprofile(note)
    try:
        verdict.verdict([str(FIO)], vm="Standard_E8ds_v5", disk=["P30"], format_=OutputFormat.json)
    finally:
        sys.setprofile(None)
    assert '"probability"' in capsys.readouterr().out
    assert [stop for stop in stops() if stop not in called] == []
    order = [called[stop] for stop in stops()]
    assert order == sorted(order)
