"""What a setup delivers: every limit on every path at once, shared fairly, with the one that binds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import sum_known
from azbenchlib.model.io_path import QUANTITIES, Leg, Load, legs
from azbenchlib.model.labels import Label
from azbenchlib.model.setup import Cap, Setup, Volume

# Azure's own figures for one limit differ by up to this much: the page of D8s_v3 prints 128 MB/s, the
# resource-SKU API has 131,072,000 B/s. Limits that are closer than that cannot be told apart.
TIE_REL = 0.024
_EXACT = 1e-9  # rounding of floating-point sums


@dataclass(frozen=True, kw_only=True)
class LimitUse:
    """One limit and how much of it is used.

    `owner` is ``vm`` or a volume, `cap` and `used` are IOPS or bytes per second (`quantity`), and
    `utilisation` counts all that share the limit. `state` is ``bursting`` above the base limit,
    ``accruing`` below it where there are credits to gain, else ``steady``.
    """

    owner: str
    label: Label
    quantity: str
    cap: float
    base: float | None
    used: float
    utilisation: float
    state: str


@dataclass(frozen=True, kw_only=True)
class VolumeUse:
    """What one volume gets. `iops` or `bytes_per_s` is None where it is not known; `binding` says why no
    more: labels, the tightest first, or ``workload_demand`` where it gets all that it asks for.
    """

    volume: str
    iops: float | None
    bytes_per_s: float | None
    binding: tuple[Label, ...]
    state: str


@dataclass(frozen=True, kw_only=True)
class Delivered:
    """What the setup delivers under a load; sums are None where no limit is documented."""

    iops: float | None
    bytes_per_s: float | None
    binding: tuple[Label, ...]
    volumes: tuple[VolumeUse, ...]
    limits: tuple[LimitUse, ...]
    vm_state: str

    def through(self, scope: str, quantity: str = "iops") -> float:
        """IOPS or bytes per second through one kind of limit, such as ``vm_cached``."""
        return sum(use.used for use in self.limits if use.label.scope == scope and use.quantity == quantity)


class _Claim(NamedTuple):
    """One load's hold on one limit; `share` is of the whole limit, per unit of the load."""

    load: int
    leg: Leg
    quantity: str
    label: Label
    share: float


def deliver(
    setup: Setup,
    loads: Sequence[Load],
    *,
    bursting: bool = True,
    queue_depth: float | None = None,
    latency_s: float | None = None,
) -> Delivered:
    """What each volume and the VM deliver when these loads run at once.

    Parameters
    ----------
    setup : Setup
    loads : sequence of Load
        All with a block size (or IOPS and bytes per second), or all without.
    bursting : bool
        Whether there are credits: burst limits instead of base limits.
    queue_depth, latency_s : float, optional
        Outstanding I/Os over all loads, and the unloaded latency of one. Together they allow
        ``queue_depth / latency_s`` I/Os per second (Little's law).

    Returns
    -------
    Delivered

    Raises
    ------
    InputError
        For a volume that the setup does not have, or loads with and without a block size.

    Notes
    -----
    Max-min fair by progressive filling (Bertsekas and Gallager, Data Networks, 1992, 6.5.2): all loads
    grow by the same number of I/Os until a limit is full or a load has what it asks for; what is stopped
    keeps its rate, the others go on. Valid for averages over some seconds: the throttle's ticks and the
    latency that it adds are not part of this.
    """
    known = {volume.name: volume for volume in setup.volumes()}
    for load in loads:
        if load.volume not in known:
            raise InputError(f"no volume '{load.volume}' in the setup; there are: {', '.join(known)}")
    if len({all(load.step) for load in loads}) > 1:
        raise InputError("give every load a block size, or none of them")
    claims: list[_Claim] = []
    for i, load in enumerate(loads):
        for leg in legs(setup.vm, known[load.volume], load):
            claims += _claims(i, leg, load, bursting)
        if queue_depth and latency_s:
            waiting = Leg(pool=("queue", ""), scope="queue", cap=Cap(), reads=1, writes=0)
            share = load.step[0] * latency_s / queue_depth
            claims.append(_Claim(load=i, leg=waiting, quantity="iops", label=Label.LATENCY_QD, share=share))
    rates = _fill([load.asked for load in loads], claims)
    return _report(known, loads, rates, claims)


def _claims(i: int, leg: Leg, load: Load, bursting: bool) -> list[_Claim]:
    found = []
    for quantity in QUANTITIES:
        share = leg.share_per_step(quantity, load.step, bursting)
        if share:
            found.append(
                _Claim(load=i, leg=leg, quantity=quantity, label=leg.label(quantity, bursting), share=share)
            )
    return found


def _fill(asked: Sequence[float], claims: Sequence[_Claim]) -> list[float]:
    """Rates of the loads: all grow alike, each until it is satisfied or one of its limits is full."""
    rates = [0.0] * len(asked)
    growing = {i for i, most in enumerate(asked) if most > 0}
    while growing:
        used, growth = (
            _totals(claims, rates),
            _totals(claims, [float(i in growing) for i in range(len(asked))]),
        )
        rooms = {pool: (1 - used[pool]) / rate for pool, rate in growth.items() if rate > 0}
        step = max(0.0, min([*rooms.values(), *(asked[i] - rates[i] for i in growing)]))
        if math.isinf(step):
            return [math.inf if i in growing else rate for i, rate in enumerate(rates)]
        full = {pool for pool, room in rooms.items() if room <= step * (1 + _EXACT)}
        for i in growing:
            rates[i] += step
        stopped = {claim.load for claim in claims if (claim.leg.pool, claim.quantity) in full}
        growing -= stopped | {i for i in growing if rates[i] >= asked[i] * (1 - _EXACT)}
    return rates


def _totals(claims: Iterable[_Claim], rates: Sequence[float]) -> dict[tuple[tuple[str, str], str], float]:
    """How much of each limit is used at these rates; 1 is all of it."""
    totals: dict[tuple[tuple[str, str], str], float] = {}
    for claim in claims:
        key = (claim.leg.pool, claim.quantity)
        totals[key] = totals.get(key, 0.0) + claim.share * rates[claim.load]
    return totals


def _report(
    known: dict[str, Volume], loads: Sequence[Load], rates: Sequence[float], claims: Sequence[_Claim]
) -> Delivered:
    totals = _totals(claims, [rate if math.isfinite(rate) else 0.0 for rate in rates])
    limits = _limit_uses(loads, rates, claims, totals)
    volumes = []
    for i, (load, rate) in enumerate(zip(loads, rates, strict=True)):
        binding = _binding(load, rate, [claim for claim in claims if claim.load == i], totals)
        ios, size = (None if not part or math.isinf(rate) else rounded(part * rate) for part in load.step)
        mine = [use.state for use in limits if use.owner == load.volume and use.label.scope == "disk"]
        volumes.append(
            VolumeUse(volume=load.volume, iops=ios, bytes_per_s=size, binding=binding, state=_worst(mine))
        )
    binding = tuple(dict.fromkeys(label for volume in volumes for label in volume.binding))
    capped = tuple(label for label in binding if label is not Label.WORKLOAD_DEMAND)
    return Delivered(
        iops=_sum([volume.iops for volume in volumes]),
        bytes_per_s=_sum([volume.bytes_per_s for volume in volumes]),
        binding=capped or binding,
        volumes=tuple(volumes),
        limits=tuple(limits),
        vm_state=_worst([use.state for use in limits if use.owner == "vm"]),
    )


def _binding(
    load: Load, rate: float, claims: Sequence[_Claim], totals: dict[tuple[tuple[str, str], str], float]
) -> tuple[Label, ...]:
    if rate >= load.asked * (1 - _EXACT) and math.isfinite(load.asked):
        return (Label.WORKLOAD_DEMAND,)
    uses = {(claim.label, totals[claim.leg.pool, claim.quantity]) for claim in claims}
    full = sorted(
        (use for use in uses if use[1] * (1 + TIE_REL) >= 1 - _EXACT),
        key=lambda use: (-round(use[1], 9), use[0]),
    )
    return tuple(dict.fromkeys(label for label, _ in full)) or (Label.UNKNOWN,)


def _limit_uses(
    loads: Sequence[Load],
    rates: Sequence[float],
    claims: Sequence[_Claim],
    totals: dict[tuple[tuple[str, str], str], float],
) -> list[LimitUse]:
    """One row a limit; loads that share it are summed, unless it is another figure for each of them."""
    rows: dict[tuple[str, Label, float], LimitUse] = {}
    for claim in claims:
        if claim.label is Label.LATENCY_QD:
            continue
        owner = "vm" if claim.leg.pool[0] == "vm" else claim.leg.pool[1]
        step = loads[claim.load].step
        amount = claim.leg.per_step(claim.quantity, step)
        cap = rounded(amount / claim.share)  # for this load's mix of reads and writes
        credits = claim.leg.cap.spends_credits(claim.quantity)
        base_share = (
            claim.leg.share_per_step(claim.quantity, step, bursting=False) if credits else claim.share
        )
        base = amount / base_share if base_share else None
        before = rows.get((owner, claim.label, cap))
        used = amount * rates[claim.load] + (before.used if before else 0.0)
        utilisation = rounded(totals[claim.leg.pool, claim.quantity])
        state = "steady"
        if base is not None and credits:
            over = utilisation * cap / base - 1
            state = "bursting" if over > _EXACT else "accruing" if over < -_EXACT else "steady"
        rows[owner, claim.label, cap] = LimitUse(
            owner=owner,
            label=claim.label,
            quantity=claim.quantity,
            cap=cap,
            base=base,
            used=used,
            utilisation=utilisation,
            state=state,
        )
    return list(rows.values())


def _worst(states: Sequence[str]) -> str:
    """The state of several limits in one word: one that bursts spends credits, whatever the others do."""
    return next((state for state in ("bursting", "accruing") if state in states), "steady")


def _sum(parts: Sequence[float | None]) -> float | None:
    total = sum_known(parts)
    return None if total is None else rounded(total)


def rounded(rate: float) -> float:
    """A figure without the rounding errors of the arithmetic: 12800, not 12799.999999999998."""
    return float(f"{rate:.11g}")
