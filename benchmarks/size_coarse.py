"""Whether designs keep what they promise: loads known by the second, sized from means over longer intervals.

    .venv/bin/python benchmarks/size_coarse.py [--seeds 24] [--first 0] [--intervals 10,60,600]

Each load lasts two hours and may be throttled for 60 s. A design from means keeps that where a replay of the
seconds on it does; a design of which the answer says that it cannot know is counted apart. Beside that stands
what it costs, in prices of the design from the seconds themselves.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from azbenchlib.advisor.offers.load_market import market
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import KIB, TIB
from azbenchlib.model.load_history import LoadHistory
from azbenchlib.sizing.answer import Outcome, choose
from azbenchlib.sizing.design import Design
from azbenchlib.sizing.requirement import SizeRequirement, requirement

Series = npt.NDArray[np.float64]
SECONDS, ALLOWED_S, CONFIDENCE = 7200, 60.0, 0.95
KINDS = ("lognormal", "correlated", "cascade", "on and off", "checkpoints", "spikes", "batches", "mixed")


def load(dice: np.random.Generator, kind: str) -> Series:
    """A load by the second, shape (7200,), 1/s."""
    times = np.arange(SECONDS)
    noise = dice.lognormal(0, dice.uniform(0.2, 0.9), SECONDS)
    if kind == "lognormal":
        made = noise
    elif kind == "correlated":
        made = np.exp(dice.uniform(0.3, 0.9) * _correlated(dice, 10 ** dice.uniform(0.3, 2.3)))
    elif kind == "cascade":
        made = _cascade(dice, dice.uniform(0.55, 0.72))
    elif kind == "on and off":
        made = 0.1 + _on_and_off(dice) * dice.lognormal(0, 0.3, SECONDS)
    elif kind == "checkpoints":
        period = int(dice.choice([60, 120, 300, 600]))
        busy = (times + int(dice.integers(period))) % period < period * dice.uniform(0.05, 0.3)
        made = dice.lognormal(0, 0.3, SECONDS) * np.where(busy, dice.uniform(2, 8), 1)
    elif kind == "spikes":
        made = dice.lognormal(0, 0.3, SECONDS)
        for _ in range(int(dice.integers(20, 200))):
            begin, length = int(dice.integers(SECONDS)), int(dice.exponential(5)) + 1
            made[begin : begin + length] += 2 * dice.pareto(2.0) + 1
        made = np.minimum(made, 60)
    elif kind == "batches":
        made = 0.3 * dice.lognormal(0, 0.3, SECONDS)
        for _ in range(int(dice.integers(2, 8))):
            begin, length = int(dice.integers(SECONDS)), int(dice.uniform(60, 900))
            made[begin : begin + length] += dice.uniform(1, 4)
    else:
        made = np.exp(0.4 * _correlated(dice, 60)) * noise + (dice.random(SECONDS) < 0.02) * dice.uniform(
            2, 6
        )
    wave = 1 + dice.uniform(0, 0.6) * np.sin(times / SECONDS * 2 * np.pi + dice.uniform(0, 6))
    made = made * wave
    return np.asarray(made / made.mean() * 10 ** dice.uniform(2.7, 4.2))


def _correlated(dice: np.random.Generator, seconds: float) -> Series:
    """Normal values of which those some seconds apart are alike."""
    keeps, found = np.exp(-1 / seconds), np.empty(SECONDS)
    last = dice.normal()
    for place, step in enumerate(dice.normal(size=SECONDS) * np.sqrt(1 - keeps**2)):
        last = found[place] = keeps * last + step
    return found


def _cascade(dice: np.random.Generator, bias: float) -> Series:
    found = np.ones(1)
    while len(found) < SECONDS:
        share = np.where(dice.random(len(found)) < 0.5, bias, 1 - bias)
        found = np.stack([2 * found * share, 2 * found * (1 - share)], axis=1).ravel()
    return found[:SECONDS]


def _on_and_off(dice: np.random.Generator) -> Series:
    found, place = np.zeros(SECONDS), 0
    on = 10 ** dice.uniform(0.3, 1.8)
    off = on * dice.uniform(1, 6)
    while place < SECONDS:
        length = int(dice.exponential(on)) + 1
        found[place : place + length] = 1
        place += length + int(dice.exponential(off)) + 1
    return found


def history(seconds: Series, interval: int, bs: float) -> LoadHistory:
    """Means of a load over an interval; 70 % are reads."""
    means = seconds.reshape(-1, interval).mean(axis=1)
    ones = np.ones(len(means))
    return LoadHistory(
        t_s=np.arange(len(means)) * float(interval),
        interval_s=ones * interval,
        read_iops=means * 0.7,
        write_iops=means * 0.3,
        read_bytes_per_s=means * 0.7 * bs,
        write_bytes_per_s=means * 0.3 * bs,
    )


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What a design from means does, and its price in parts of the least. `is_sure`: what the answer says."""

    kind: str
    throttled_s: float
    is_sure: bool
    price: float


def compare(seed: int, interval: int) -> Kept | None:
    """Size a random load from its means and from its seconds; None: no design carries it."""
    dice = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    seconds, bs = load(dice, kind), float(dice.choice([4, 8, 16, 64])) * KIB
    there, fine = market("westeurope"), history(seconds, 1, bs)
    try:
        least = choose(_asked(fine), there).cheapest
        best = choose(_asked(history(seconds, interval, bs)), there).best
    except InputError:
        return None
    throttled = Design(best.design.candidate, fine, 0.0).replayed.seconds
    price = float(best.design.price / least.design.price)
    return Kept(kind=kind, throttled_s=throttled, is_sure=_is_sure(best), price=price)


def _asked(load: LoadHistory) -> SizeRequirement:
    wanted = {"size_bytes": TIB, "latency": "premium", "architecture": "x64"}
    return requirement(load, ALLOWED_S, None, 8, wanted, CONFIDENCE)


def _is_sure(best: Outcome) -> bool:
    return best.probability >= CONFIDENCE - 1e-9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=24)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--intervals", default="10,60,600", help="seconds, with commas between them")
    given = parser.parse_args()
    for interval in map(int, given.intervals.split(",")):
        found = [compare(seed, interval) for seed in range(given.first, given.first + given.seeds)]
        there = [one for one in found if one is not None]
        kept = sum(one.throttled_s <= ALLOWED_S for one in there)
        unsure = [one for one in there if not one.is_sure]
        told = sum(one.throttled_s <= ALLOWED_S or not one.is_sure for one in there)
        prices = np.array([one.price for one in there])
        doubtful = max((one.price for one in unsure), default=0)
        print(
            f"{interval} s: {kept} of {len(there)} kept, {len(unsure)} told as not known, {told} either; "
            f"price {np.median(prices):.2f} times the least, at most {prices.max():.2f}, "
            f"where not known {doubtful:.2f}"
        )
        for one in there:
            if one.throttled_s > ALLOWED_S:
                known = "" if one.is_sure else ", not known"
                print(f"  {one.kind}: {one.throttled_s:.0f} s, price {one.price:.2f}{known}")


if __name__ == "__main__":
    main()
