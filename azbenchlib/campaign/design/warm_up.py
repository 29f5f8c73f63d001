"""Warm-up: a workload is run until two runs one after the other agree, and counts from then on.

What is cold in the first runs, a host cache above all, then is in no figure. The runs before are kept, but
are no part of the dataset. Whether the runs that count are steady in themselves is judged elsewhere, by
:mod:`azbenchlib.analysis.over_time.steady`.
"""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from azbenchlib.campaign.design import figures
from azbenchlib.campaign.workloads import names

LEAST_WARM_UPS, MOST_WARM_UPS = 2, 8  # runs before those that count


def agreed(output: Path, wanted: Mapping[str, float], dilation: float = 1) -> str:
    """Which runs before a warm-up agree, so that it need not be run; empty where none do.

    `output` is the file that the warm-up would write; those of the warm-ups before it lie beside it. `wanted`
    has figures, and the share of their mean by which two runs may differ. `dilation`: by which the lab ran
    more slowly than the disk.
    """
    name, number = names.warm_up_of(output.stem)
    before = [output.with_name(f"{names.of_warm_up(name, n)}{output.suffix}") for n in range(1, number)]
    for last, (one, other) in enumerate(pairwise(before), LEAST_WARM_UPS):
        said = [_close(one, other, figure, share, dilation) for figure, share in wanted.items()]
        if all(said):
            return f"warm after {last} runs: the last two differ by {' and '.join(said)}"
    return ""


def waits(output: Path) -> bool:
    """Whether the result of another run decides about a warm-up."""
    name, number = names.warm_up_of(output.stem)
    before = output.with_name(f"{names.of_warm_up(name, number - 1)}{output.suffix}")
    return number > LEAST_WARM_UPS and not before.is_file()


def _close(one: Path, other: Path, figure: str, share: float, dilation: float) -> str:
    """By how much a figure of two runs differs, where that is little enough; else empty."""
    first, second = (figures.read(path, figure, dilation) for path in (one, other))
    if not first or not second:
        return ""
    apart = abs(first - second) / ((first + second) / 2)
    return f"{apart:.1%} ({figure})" if apart <= share else ""
