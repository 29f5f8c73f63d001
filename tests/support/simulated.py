"""The simulator of benchmarks/, for tests: its folder is no package, so that the wheel has none of it."""

from dataclasses import dataclass

import calibrate_verdict as calibrate
import judge_cases
import numpy as np
import simulator
from simulator.hidden import UNLIMITED


def limits(**caps: float) -> np.ndarray:
    """Six limits in the simulator's order; those that are not named limit nothing."""
    return np.array([caps.get(name, UNLIMITED) for name in simulator.RESOURCES])


def bursting(
    base: float | np.ndarray, burst: float | np.ndarray, filled: float | np.ndarray, **more: object
) -> simulator.Hidden:
    """Disks with this base and burst in IOPS and credits, driven far above both."""
    bases, bursts, credits = (np.atleast_1d(np.asarray(part, float)) for part in (base, burst, filled))
    return simulator.fixed(
        bases.size,
        base=np.stack([limits(disk_iops=iops) for iops in bases]),
        burst=np.stack([limits(disk_iops=iops) for iops in bursts]),
        credits=credits[:, None],
        queue_depth=256.0,
        **more,
    )


__all__ = ["Logged", "bursting", "calibrate", "judge_cases", "limits", "logs", "simulator", "trace"]


@dataclass(frozen=True)
class Logged:
    """The log of one run: times, IOPS, and when the disk's credits were spent."""

    t_s: np.ndarray
    iops: np.ndarray
    empty_s: float


def logs(setups: simulator.Hidden, seed: int = 1) -> list[Logged]:
    """What the logs of such runs would hold."""
    rng = np.random.default_rng(seed)
    course = simulator.run(setups, rng)
    got = simulator.report(setups, course, rng)
    bursts = course.time_by_cause[:, len(simulator.RESOURCES)]
    return [Logged(*got.samples(i), float(bursts[i])) for i in range(len(setups))]


def trace(setup: simulator.Hidden, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Times and IOPS of one run."""
    (only,) = logs(setup, seed)
    return only.t_s, only.iops
