"""What is left of the subscription's quota for a size, beside an answer."""

from __future__ import annotations

from azbenchlib.azure import quota
from azbenchlib.azure.az import Az
from azbenchlib.azure.prices.rows import SPOT
from azbenchlib.campaign.targets.azure import commands
from azbenchlib.cli.printing.console import notes


def tell(region: str, vm: str, pay: str) -> None:
    """Ask az what of a region's quota is in use, and say whether a VM of this size fits in.

    Raises
    ------
    AzError
        When az fails, for instance because nobody is logged in.
    """
    az = Az.find()
    usage = quota.listed(az.json(*commands.list_usage(region)))
    offered = az.json(*commands.list_sizes(region, vm))
    entry = next((one for one in offered if one["name"].lower() == vm.lower()), None)
    if entry is None:
        notes.print(f"Quota: {region} does not offer {vm} to this subscription")
        return
    n_cores = next(int(one["value"]) for one in entry["capabilities"] if one["name"] == "vCPUs")
    found = quota.of_size(usage, str(entry.get("family") or ""), pay == SPOT)
    left = ", ".join(f"of {one.name} {one.left} of {one.limit}" for one in found) or "no quota is told"
    short = any(one.left < n_cores for one in found)
    advice = f": too few; {quota.MORE_QUOTA}" if short else ""
    notes.print(
        f"Quota: {vm} takes {n_cores} vCPUs; left in {region}: {left}{advice}", markup=False, soft_wrap=True
    )
