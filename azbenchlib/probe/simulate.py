"""A disk of known settings that answers at once: what a probe is tested on, and what a lesson can show."""

from __future__ import annotations

import numpy as np

from azbenchlib.probe.forward import Loads, predict
from azbenchlib.probe.hypotheses import Hypotheses, Setting
from azbenchlib.probe.likelihood import p50_variance
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
        medians = []
        for write in (False, True):
            free_us = float((found.write_p50_us if write else found.read_p50_us)[0, 0])
            held_us = free_us if unheld < 0.9 * cap else waiting_us * self._rng.uniform(0.7, 1.0)
            noise = float(np.sqrt(p50_variance(self.settings, loads, found, write)[0, 0]))
            medians.append(max(free_us, held_us) * float(np.exp(self._rng.normal(0, noise))))
        reads, writes = run.read_share > 0, run.read_share < 1
        return Shown(
            run=run,
            iops=measured,
            read_p50_us=medians[0] if reads else None,
            write_p50_us=medians[1] if writes else None,
        )
