"""How long a call of az may take: an operation of Azure may never end, and az waits for it without end.

az itself waits as long as Azure says (``Retry-After``), and for an operation until that tells an end. So each
kind of command has a time that is longer than what Azure takes for it at its slowest, and a run has an end
of its own. Sources, 2026-11: Microsoft Learn, "Troubleshoot allocation failures" and "OS provisioning
timeout" (Azure gives a VM up after 40 minutes at most), "Run scripts in your VM with action Run Commands"
(90 minutes at most), "Async operations"; the rest by judgement.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from azbenchlib.core.units import S_PER_MIN

# First words of a command to seconds; the longest that fits counts.
CALL_LIMITS_S: dict[str, float] = {
    "": 60 * S_PER_MIN,  # whatever is not named
    "account": 5 * S_PER_MIN,  # one question, and az itself takes up to a minute to start on a busy machine
    "cloud": 5 * S_PER_MIN,
    "version": 5 * S_PER_MIN,
    "feature": 5 * S_PER_MIN,
    "group": 5 * S_PER_MIN,  # a deletion is asked for and not waited for
    "resource list": 10 * S_PER_MIN,
    "tag": 5 * S_PER_MIN,
    "deployment": 5 * S_PER_MIN,
    "rest": 5 * S_PER_MIN,
    "role": 10 * S_PER_MIN,
    "monitor": 10 * S_PER_MIN,
    "provider show": 5 * S_PER_MIN,
    "provider register": 60 * S_PER_MIN,  # in all regions, one after the other
    "network": 30 * S_PER_MIN,
    "disk": 30 * S_PER_MIN,
    "vm": 30 * S_PER_MIN,  # to attach, to detach, to delete
    "vm create": 60 * S_PER_MIN,
    "vm show": 5 * S_PER_MIN,
    "vm get-instance-view": 5 * S_PER_MIN,
    "vm list-usage": 5 * S_PER_MIN,
    "vm list-skus": 15 * S_PER_MIN,  # tens of MB
    "vm run-command show": 5 * S_PER_MIN,
    "vm run-command invoke": 100 * S_PER_MIN,
    "storage": 10 * S_PER_MIN,
    "storage account": 30 * S_PER_MIN,
    "storage blob download": 60 * S_PER_MIN,
}


@dataclass
class EndOfRun:
    """When a run is over, whatever it waits for: as `time.monotonic` counts, with the words that say why."""

    at: float = float("inf")
    why: str = ""

    def forget(self) -> None:
        """Have no end any more, as when only what was made is deleted."""
        self.at = float("inf")


def longest_s(words: Sequence[str]) -> float:
    """Return how long a call may take, in seconds; `words`: its arguments."""
    fits = (
        (len(prefix), seconds)
        for prefix, seconds in CALL_LIMITS_S.items()
        if list(words[: len(prefix.split())]) == prefix.split()
    )
    return max(fits)[1]


def left_s(words: Sequence[str], end: EndOfRun) -> tuple[float, bool]:
    """Return how long a call may take now, in seconds, and whether it is the end of the run that says so."""
    longest, left = longest_s(words), max(0.0, end.at - time.monotonic())
    return min(longest, left), left < longest
