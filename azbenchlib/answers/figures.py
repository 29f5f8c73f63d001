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
    format_size,
    format_span,
    format_us,
)

NOT_KNOWN = "not known"


@dataclass(frozen=True)
class Unit:
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


IOPS = Unit("iops", format_count, "IOPS")
BYTES_PER_S = Unit("bytes_per_s", format_mbps, "MB/s")
BYTES = Unit("bytes", format_size)
SECONDS = Unit("s", format_span)
MICROSECONDS = Unit("us", format_us)
SHARE = Unit("share", _share)
COUNT = Unit("count", _plain)


def money(currency: str, per: str = "") -> Unit:
    """Return the unit of amounts in a currency, ``per`` a period such as ``month``."""
    return Unit(currency, format_money, f"{currency} a {per}" if per else currency)


@dataclass(frozen=True)
class Figure:
    """A value with its unit and where it is from.

    Parameters
    ----------
    value : number or None
        In the base unit; None: it is not known.
    unit : Unit
    source : str
        A row of the catalogue, a price list or an output; empty: it follows from others of the document.
    as_of : str
        ISO day of the source.
    name : str
        What it is the figure of, for tables of figures.
    text : str
        How it is printed where that differs from what the unit says.
    """

    value: float | Decimal | None
    unit: Unit
    source: str = ""
    as_of: str = ""
    name: str = ""
    text: str = ""

    @property
    def is_known(self) -> bool:
        """Whether there is a value."""
        return self.value is not None and not math.isnan(self.value)

    def __str__(self) -> str:
        """Return the text that every surface shows."""
        return self.text or (self.unit.text(self.value) if self.is_known else NOT_KNOWN)
