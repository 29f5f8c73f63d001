"""A disk of known settings that answers at once: what a probe is tested on, and what a lesson can show."""

from __future__ import annotations

import numpy as np

from azbenchlib.probing.forward import Loads, predict
from azbenchlib.probing.hypotheses import Hypotheses, Setting
from azbenchlib.probing.likelihood import LEAST_LOG_SKEW, P50_ERROR
from azbenchlib.probing.median import median_error
from azbenchlib.probing.runs import ProbeRun, Shown

KNEE_LOSS = 0.02  # of the rate, where the queue just reaches the cap
MOST_DRAWN = 2_000  # latencies of a run: the median of more strays less, in proportion to the square root


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
        held, free = np.exp(self.settings.logs[0, [Setting.DEVIATION, Setting.LATENCY_DEVIATION]])
        ratio = np.log(unheld / cap)
        iops *= 1 - KNEE_LOSS * np.exp(-0.5 * (ratio / 0.1) ** 2)
        noise = held if unheld >= cap else np.hypot(free, 0.3 / np.sqrt(iops * run.seconds))
        measured = iops * np.exp(self._rng.normal(0, noise))
        measured = max(1, round(measured * run.seconds)) / run.seconds
        waiting_us = run.depth / measured * 1e6
        told: list[tuple[float | None, float | None]] = []
        for write, share in ((False, run.read_share), (True, 1 - run.read_share)):
            free_us = float((found.write_p50_us if write else found.read_p50_us)[0, 0])
            held_us = free_us if unheld < 0.9 * cap else waiting_us * self._rng.uniform(0.7, 1.0)
            ios = round(measured * run.seconds * share)
            told.append(self._median(max(free_us, held_us), ios, write) if ios else (None, None))
        (read_p50_us, read_error), (write_p50_us, write_error) = told
        return Shown(
            run=run,
            iops=measured,
            read_p50_us=read_p50_us,
            write_p50_us=write_p50_us,
            read_p50_error=read_error,
            write_p50_error=write_error,
        )

    def _median(self, true_us: float, ios: int, write: bool) -> tuple[float, float | None]:
        """The median of so many log-normal latencies, and its error as the run tells it."""
        logs = self.settings.logs[0]
        log_skew = max(LEAST_LOG_SKEW, float(logs[Setting.WRITE_SKEW if write else Setting.READ_SKEW]))
        drawn = np.exp(self._rng.normal(0, np.sqrt(2 * log_skew), min(ios, MOST_DRAWN)))
        error, less = median_error(drawn), np.sqrt(drawn.size / ios)
        strays = less * np.log(np.median(drawn))
        strays += self._rng.normal(0, np.hypot(P50_ERROR, np.exp(logs[Setting.LATENCY_DEVIATION])))
        return float(true_us * np.exp(strays)), None if error is None else float(error * less)
