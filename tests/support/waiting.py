"""Waiting for what another process does: until it has, however busy this machine is."""

import time
from collections.abc import Callable

PATIENCE_S = 900.0  # nothing takes so long on a machine that has much else to do: what lasts longer hangs
_PAUSE_S = 0.02


def wait_for(what: Callable[[], object], goes_on: Callable[[], object] = lambda: True) -> None:
    """Return when something has happened.

    Parameters
    ----------
    what : callable
        Returns something true when it has.
    goes_on : callable, optional
        Returns something false when it cannot happen any more.

    Raises
    ------
    AssertionError
        When it cannot, or has not happened for so long that it will not.
    """
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert goes_on() or what(), "what was waited for cannot happen any more"
        assert time.monotonic() < deadline, f"waited {PATIENCE_S:.0f} s in vain"
        time.sleep(_PAUSE_S)
