"""Figures: values on their way to a reader, which keep unit, source and day until they are printed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from azbenchlib.core.units import (
    NBSP,
    format_count,
    format_mbps,
    format_money,
    format_probability,
    format_size,
    format_span,
    format_us,
)

NOT_KNOWN = "not known"


@dataclass(frozen=True)
class FigureUnit:
    """A base unit, and how its values are printed.

    Parameters
    ----------
    name : str
        As columns and records name it, such as ``bytes_per_s``.
    form : callable
        Makes the text of a value.
    suffix : str
        What stands behind that text; empty where the text has it.
    """

    name: str
    form: Callable[[Any], str] = field(compare=False)
    suffix: str = ""

    def text(self, value: Any) -> str:
        """Return the value as a reader sees it, with the unit."""
        return f"{self.form(value)}{NBSP if self.suffix else ''}{self.suffix}"


def _plain(value: float) -> str:
    return f"{value:,}"


def _share(value: float) -> str:
    return f"{value:.0%}"


AS_IOPS = FigureUnit("iops", format_count, "IOPS")
AS_BYTES_PER_S = FigureUnit("bytes_per_s", format_mbps, "MB/s")
AS_BYTES = FigureUnit("bytes", format_size)
AS_SECONDS = FigureUnit("s", format_span)
AS_MICROSECONDS = FigureUnit("us", format_us)
AS_SHARE = FigureUnit("share", _share)
AS_PROBABILITY = FigureUnit("share", format_probability)
AS_COUNT = FigureUnit("count", _plain)


def money(currency: str, per: str = "") -> FigureUnit:
    """Return the unit of amounts in a currency, ``per`` a period such as ``month``."""
    return FigureUnit(currency, format_money, f"{currency} a {per}" if per else currency)


@dataclass(frozen=True)
class Figure:
    """A value with its unit and where it is from.

    Parameters
    ----------
    value : number or None
        In the base unit; None: it is not known.
    unit : FigureUnit
    source : str
        A row of the catalogue, a price list or an output, with its day; empty: it follows from others of the
        document.
    text : str
        How it is printed where that differs from what the unit says.
    """

    value: float | Decimal | None
    unit: FigureUnit
    source: str = ""
    text: str = ""

    @property
    def is_known(self) -> bool:
        """Whether there is a value."""
        return self.value is not None and not math.isnan(self.value)

    def __str__(self) -> str:
        """Return the text that every surface shows."""
        return self.text or (self.unit.text(self.value) if self.is_known else NOT_KNOWN)
