"""What passes by itself is tried again: one policy for every call of az and every page of the price service.

The mechanics are tenacity's; what passes, how long it is waited for and what is told stand here.
"""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import tenacity

from azbenchlib.azure.az_errors import AzError, Passing

FIRST_TRY_PAUSE_S, LONGEST_TRY_PAUSE_S = 2.0, 60.0
# How long each kind of fault is waited for, in seconds that this machine was awake.
AT_START: Mapping[str, float] = {
    Passing.sign_in: 180,
    Passing.token: 180,
    Passing.busy: 300,
    Passing.network: 120,
}
WHILE_MEASURING: Mapping[str, float] = {
    Passing.sign_in: 1800,
    Passing.token: 600,
    Passing.busy: 1800,
    Passing.network: 7200,
    Passing.not_there_yet: 180,
}
SIGN_IN_ONLY: Mapping[str, float] = {Passing.sign_in: 180}

Answer = TypeVar("Answer")


def unheard(text: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long faults that pass by themselves are waited for."""

    # Kind of a fault, as `AzError.passes` tells it, to the seconds after which it is given up. A kind that is
    # not named is not waited for
    limits_s: Mapping[str, float] = field(default_factory=lambda: SIGN_IN_ONLY)
    tell: Callable[[str], None] = unheard  # is told, in one line a reason, what is waited for

    def call(self, ask: Callable[[], Answer]) -> Answer:
        """What a call answers, made again while its fault is one that passes.

        Raises
        ------
        AzError
            The last fault, when it is none that passes, or its time is over.
        """
        told: set[str] = set()

        def say(state: tenacity.RetryCallState) -> None:
            error = _fault(state)
            if error is not None and str(error) not in told:
                told.add(str(error))
                minutes = max(1, round((self._limit_s(error) - _waited_s(state)) / 60))
                self.tell(f"waiting, for {minutes} minutes at most: {error}")

        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception(self._passes),
            stop=lambda state: _waited_s(state) >= self._limit_s(_fault(state)),
            wait=_pause_s,
            before_sleep=say,
            sleep=time.sleep,
            reraise=True,
        )
        return retrying(ask)

    def _passes(self, error: BaseException) -> bool:
        return isinstance(error, AzError) and error.passes in self.limits_s

    def _limit_s(self, error: AzError | None) -> float:
        return self.limits_s.get(error.passes, 0.0) if error else 0.0


def _pause_s(state: tenacity.RetryCallState) -> float:
    """Twice as long each time, up to a minute, and a little different for each run."""
    longest = min(LONGEST_TRY_PAUSE_S, FIRST_TRY_PAUSE_S * 2.0 ** min(20, state.attempt_number - 1))
    return longest * random.uniform(0.8, 1.0)  # noqa: S311  not for secrets


def _fault(state: tenacity.RetryCallState) -> AzError | None:
    error = state.outcome.exception() if state.outcome else None
    return error if isinstance(error, AzError) else None


def _waited_s(state: tenacity.RetryCallState) -> float:
    return state.seconds_since_start or 0.0
