"""What is compared: rates and percentiles of latency, and which direction of change is worse."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import log, log1p

from azbenchlib.core.errors import InputError
from azbenchlib.core.histogram import format_percentile
from azbenchlib.core.units import format_count, format_mbps

RATES = {"iops": "iops", "bw": "bw_bytes_per_s"}  # and the column of each
DEFAULT_METRICS = ("iops", "bw", "p50", "p95", "p99", "p99.9")
CHOICES = "iops, bw or a percentile of latency such as p50, p99 or p99.9"
_PERCENTILE = re.compile(r"^p(\d{1,2}(?:\.\d{1,6})?)$", re.ASCII)
_LONGEST = 40  # characters of a text that a sentence repeats


@dataclass(frozen=True)
class Metric:
    """One statistic of a run.

    Attributes
    ----------
    name : str
        ``iops``, ``bw`` or ``p99``.
    percentile : float or None
        Above 0, below 100; None for a rate.
    """

    name: str
    percentile: float | None = None

    @property
    def sign(self) -> int:
        """1 where a higher value is worse (latency), -1 where a lower one is (rates)."""
        return -1 if self.percentile is None else 1

    @property
    def unit(self) -> str:
        """Of its values: 1/s, B/s or µs."""
        return {"iops": "1/s", "bw": "B/s"}.get(self.name, "µs")

    @property
    def title(self) -> str:
        """As a table names it."""
        return {"iops": "IOPS", "bw": "MB/s"}.get(self.name, self.name)

    def shown(self, value: float) -> str:
        """A value as a table shows it; that of a percentile has its unit."""
        form = {"iops": format_count, "bw": format_mbps}.get(self.name, format_percentile)
        return form(value)

    def log_margin(self, margin: float) -> float:
        """How far the logarithm of the ratio may move to the worse by a relative change of `margin`."""
        return log1p(margin) if self.sign > 0 else -log1p(-margin)

    def worsening(self, ratio: float) -> float:
        """The logarithm of a ratio, positive where it is worse."""
        return self.sign * log(ratio)


def parse_metric(text: str) -> Metric:
    """A metric by its name.

    Raises
    ------
    InputError
        When there is none of that name.
    """
    name = text.strip().lower()
    if name in RATES:
        return Metric(name)
    found = _PERCENTILE.match(name)
    if found and float(found[1]) > 0:
        return Metric(f"p{float(found[1]):.10g}", float(found[1]))
    raise InputError(f"metric '{text[:_LONGEST]}' is not {CHOICES}")


def parse_metrics(texts: Iterable[str]) -> tuple[Metric, ...]:
    """Metrics by their names, each once; all of :data:`DEFAULT_METRICS` where there is none."""
    return tuple(dict.fromkeys(map(parse_metric, texts))) or tuple(map(parse_metric, DEFAULT_METRICS))
