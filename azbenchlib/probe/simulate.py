"""A disk of known settings that answers at once: what a probe is tested on, and what a lesson can show."""

from __future__ import annotations

import numpy as np

from azbenchlib.probe.forward import Loads, predict
from azbenchlib.probe.hypotheses import Hypotheses, Setting
from azbenchlib.probe.runs import ProbeRun, Shown

KNEE_LOSS = 0.02  # of the rate, where the queue just reaches the cap


class SimulatedDisk:
    """One disk.

    Parameters
    ----------
    settings : Hypotheses
        One.
    seed : int
        Of the noise.
    """

    def __init__(self, settings: Hypotheses, seed: int) -> None:
        self.settings, self._rng = settings, np.random.default_rng(seed)

    def measure(self, run: ProbeRun) -> Shown:
        """What a run shows, with noise."""
        loads = Loads.of([run])
        found = predict(self.settings, loads)
        iops, unheld, cap = (float(values[0, 0]) for values in (found.iops, found.unheld, found.cap))
        deviation = float(np.exp(self.settings.logs[0, Setting.DEVIATION]))
        ratio = np.log(unheld / cap)
        iops *= 1 - KNEE_LOSS * np.exp(-0.5 * (ratio / 0.1) ** 2)
        noise = deviation if unheld >= cap else np.hypot(deviation, 0.3 / np.sqrt(iops * run.seconds))
        measured = iops * np.exp(self._rng.normal(0, noise))
        measured = max(1, round(measured * run.seconds)) / run.seconds
        waiting_us = run.depth / measured * 1e6
        medians = [
            self._median(float(free[0, 0]), waiting_us, unheld < 0.9 * cap, deviation) if share else None
            for free, share in ((found.read_p50_us, run.read_share), (found.write_p50_us, 1 - run.read_share))
        ]
        return Shown(run=run, iops=measured, read_p50_us=medians[0], write_p50_us=medians[1])

    def _median(self, free_us: float, waiting_us: float, free: bool, deviation: float) -> float:
        median = free_us if free else max(free_us, waiting_us * self._rng.uniform(0.7, 1.0))
        return float(median * np.exp(self._rng.normal(0, np.hypot(deviation, 0.005))))
