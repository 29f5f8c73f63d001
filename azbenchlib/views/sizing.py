"""What `06_size.ipynb` shows: each method of :class:`Sizing` is one of its cells."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from azbenchlib.advisor.offers.load_market import market
from azbenchlib.answers.blocks import Block, render
from azbenchlib.answers.html import block
from azbenchlib.answers.size import Sized
from azbenchlib.core.choices import DEFAULT_REGION
from azbenchlib.core.units import parse_duration
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.names import listed
from azbenchlib.report.sections import sizes
from azbenchlib.sizing import device_text
from azbenchlib.sizing.answer import Outcome, SizeAnswer
from azbenchlib.sizing.counted_devices import DeviceChoice
from azbenchlib.sizing.stated import terms
from azbenchlib.sizing.telemetry import Telemetry, telemetry

_RECORD = ("iostat -x -t -y -o JSON 60 > telemetry.json",)


class Sizing:
    """Which VM with disks a system needs.

    Parameters
    ----------
    names : sequence of str
        Outputs of iostat, sar, perfmon or Azure Monitor, folders of them, or a dataset of such by name;
        none: a note tells how to record.
    region : str
        Whose prices count.
    devices : sequence of str
        Names or patterns of devices; none: all disks.
    interval : str
        How long each report is, where none has a time; empty: not stated.
    prices, as_of : str
        As :func:`azbenchlib.size` takes them; empty: not stated.
    **stated : Any
        What is asked, by the names of :data:`~azbenchlib.sizing.stated.STATED`; an empty text, an infinite
        number and, except of `probability`, 0 are not stated.

    Raises
    ------
    InputError
        When telemetry cannot be read, or nothing does.
    """

    def __init__(
        self,
        names: Sequence[str],
        *,
        region: str = DEFAULT_REGION,
        devices: Sequence[str] = (),
        interval: str = "",
        prices: str = "",
        as_of: str = "",
        **stated: Any,
    ) -> None:
        self._names = listed(names)
        self._devices, self._interval = list(devices), parse_duration(interval) if interval else None
        self._terms = terms({name: value for name, value in stated.items() if _is_stated(name, value)})
        self._region, self._own, self._as_of = region, Path(prices) if prices else None, as_of or None

    @classmethod
    def of(cls, answer: SizeAnswer) -> Sizing:
        """What is shown of an answer that is there already."""
        made = cls(sorted(answer.telemetry.devices))
        vars(made).update(answer=answer, telemetry=answer.telemetry)  # instead of what names lead to
        return made

    @cached_property
    def telemetry(self) -> Telemetry:
        """What was recorded, as one history."""
        tables = Dataset.merge(Dataset.load_each(self._names)).tables
        return telemetry(tables, self._devices, self._interval)

    @cached_property
    def answer(self) -> SizeAnswer:
        """The designs, to go on with."""
        return self._terms.answer(self.telemetry, market(self._region, own=self._own, as_of=self._as_of))

    def load(self) -> Block:
        """What was read of each host: its devices, and how long it was recorded."""
        if not self._names:
            text = (
                "No telemetry is named: set telemetry to files of iostat, sar, perfmon or Azure Monitor, from"
            )
            return Block(render("note", text=text, options=_RECORD).html, self._rows)
        rows = [
            {"entry": None, "name": host, "sub": "", "cells": [", ".join(choice.counted), _left_out(choice)]}
            for host, choice in self.telemetry.choices.items()
        ]
        note = "; ".join(("Devices that are added up", *self.telemetry.notes))
        made = render(
            "table",
            id="size-hosts",
            note=f"{note}.",
            columns=["Host", "Devices", "Left out"],
            rows=rows,
            left=[1, 2],
        )
        return Block(made.html, self._rows)

    def _rows(self) -> pd.DataFrame:
        """A row an interval that was recorded; none without telemetry."""
        history = self.telemetry.history if self._names else None
        return pd.DataFrame(
            {name: getattr(history, name, []) for name in ("t_s", "iops", "bytes_per_s")}, dtype=float
        )

    def designs(self) -> Block:
        """The recommended design, the cheaper ones, and what a percentile leads to."""
        if not self._names:
            return Block("")
        shown = Sized(self.answer)
        return block(shown.designs, shown.to_frame())

    def over_time(self) -> Block:
        """The load on the recommended design, with its limits and credits."""
        return sizes.over_time(self.answer, self.answer.best, "best") if self._names else Block("")

    def cheaper(self) -> Block:
        """What the next cheaper design would do, and when."""
        return self._of(self.answer.next_cheaper if self._names else None, "cheaper")

    def by_percentile(self) -> Block:
        """What the design of the percentile would do, and when."""
        return self._of(self.answer.by_percentile if self._names else None, "percentile")

    def assumed(self) -> Block:
        """What all of this assumes."""
        return block(Sized(self.answer).basis) if self._names else Block("")

    def _of(self, outcome: Outcome | None, name: str) -> Block:
        if outcome is None:
            return Block("")
        return sizes.over_time(self.answer, outcome, name) + sizes.times(self.answer, outcome, name)


def _is_stated(name: str, value: Any) -> bool:
    return value not in ("", math.inf) and (bool(value) or name == "probability")


def _left_out(choice: DeviceChoice) -> str:
    """Why other devices of a host do not count."""
    doubt = device_text.unclear(choice)
    return "; ".join((*device_text.left_out(choice), *([] if doubt is None else [doubt])))
