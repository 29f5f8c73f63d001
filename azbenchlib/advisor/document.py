"""An advice as one document: what JSON prints, with everything that the text says of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from azbenchlib.advisor.advise import Advice, Sensitivity
from azbenchlib.advisor.demands.demand import Demand
from azbenchlib.advisor.reasons.savings import Saving


def document(answer: Advice) -> dict[str, Any]:
    """The configurations, and what the answer assumes, leaves out and depends on, with exact decimals."""
    market = answer.market
    return {
        "configurations": answer.records(),
        "demand": demand_record(answer.demand),
        "region": market.region,
        "as_of": market.as_of,
        "offer_asked_on": market.asked_on,
        "assumptions": list(answer.assumptions),
        "notes": list(answer.notes),
        "savings": [_saving(one) for one in answer.savings],
        "not_ranked": [asdict(one) for one in answer.unpriced],
        "not_modelled": list(answer.not_modelled),
        "sensitivity": [_change(one) for one in answer.sensitivity],
    }


def demand_record(demand: Demand) -> dict[str, Any]:
    """A demand's fields, with what follows from those that are not given."""
    iops, rate = demand.steady
    return asdict(demand) | {"iops": iops, "bytes_per_s": rate, "bs_bytes": demand.block}


def _saving(one: Saving) -> dict[str, Any]:
    disk = one.candidate.option.disk
    return {
        "option": one.option,
        "what": one.what,
        "share": one.share,
        "vm": one.candidate.vm_size.size,
        "disks": disk.name,
        "price_per_month": one.candidate.price,
    }


def _change(one: Sensitivity) -> dict[str, Any]:
    """What is recommended then; without a VM where nothing is."""
    found = one.configuration
    told = {"vm": found.vm, "disks": found.disks, "price_per_month": found.price} if found else {}
    return {"change": one.change, "same": one.same, **told}
