"""A history on a design as lines to draw: rates, the tightest limits, and what is left of the credits."""

from __future__ import annotations

import numpy as np
import pandas as pd

from azbenchlib.model.io_path import QUANTITIES
from azbenchlib.model.labels import Label
from azbenchlib.model.passed_limits import legs_of
from azbenchlib.sizing.design import Design

POINTS_OF_A_LINE = 600  # of a line: more than a screen is wide are not seen


def trace(design: Design, quantity: str) -> pd.DataFrame:
    """One quantity over time: in each of at most 600 stretches the largest rate and the least credits.

    Parameters
    ----------
    design : Design
    quantity : {"iops", "bytes_per_s"}

    Returns
    -------
    DataFrame
        Columns t_s (since the begin, gaps left out), that of the quantity and, where there are credits for
        it, credits: of the bucket that was emptiest, in I/Os or bytes.
    """
    history = design.history
    rates = history.iops if quantity == "iops" else history.bytes_per_s
    ends = np.cumsum(history.interval_s)
    places = np.linspace(0, len(ends), min(POINTS_OF_A_LINE, len(ends)) + 1).astype(int)[:-1]
    rows = {"t_s": (ends - history.interval_s)[places], quantity: np.maximum.reduceat(rates, places)}
    buckets = [
        (shares, label) for label, shares in design.replayed.credits if label.quantity == QUANTITIES[quantity]
    ]
    if buckets:
        shares, label = min(buckets, key=lambda bucket: float(bucket[0].min()))
        rows["credits"] = np.minimum.reduceat(shares, places) * _full(design, label, quantity)
    return pd.DataFrame(rows)


def caps(design: Design, quantity: str) -> list[tuple[str, float]]:
    """The tightest limits of a quantity, by what they are called: the burst limit, and the base limit."""
    found: dict[float, str] = {}
    for name, bursting in (("burst limit of the", True), ("limit of the", False)):
        limits = [
            (limit, leg.scope)
            for leg, _ in legs_of(design.setup)
            if (limit := leg.cap.limit(quantity, bursting)) is not None
        ]
        if limits:
            value, scope = min(limits)
            found.setdefault(value, f"{name} {'disks' if scope == 'disk' else 'VM'}")
    return [(name, value) for value, name in found.items()]


def _full(design: Design, label: Label, quantity: str) -> float:
    """A full bucket, in I/Os or bytes."""
    base = (
        next(leg.cap.limit(quantity) for leg, _ in legs_of(design.setup) if leg.scope == label.scope) or 0.0
    )
    credit_s = next(limit.credit_s for limit in design.limits if limit.label == label)
    return credit_s * base
