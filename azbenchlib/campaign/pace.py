"""How long a campaign still lasts: what is left, at the pace of what was done."""

import time
from dataclasses import dataclass, field

from azbenchlib.core.units import format_span


@dataclass
class Pace:
    """The time that runs took, against what they were expected to take; all in seconds."""

    left_s: float  # of what is still to be measured
    _expected_s: float = field(default=0.0, init=False)
    _took_s: float = field(default=0.0, init=False)
    _latest: float = field(default_factory=time.monotonic, init=False)

    def done(self, expected_s: float) -> None:
        """Note that a run has ended, with all that had to be done before it."""
        now = time.monotonic()
        self._took_s, self._latest = self._took_s + now - self._latest, now
        self._expected_s += expected_s
        self.left_s = max(0.0, self.left_s - expected_s)

    @property
    def text(self) -> str:
        """What is left, in words."""
        ratio = self._took_s / self._expected_s if self._expected_s else 1.0
        return f"about {format_span(self.left_s * ratio)} left"
