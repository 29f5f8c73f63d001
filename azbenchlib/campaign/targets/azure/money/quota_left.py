"""What is left of a subscription's quota for one VM of a size."""

from collections.abc import Sequence
from dataclasses import dataclass

from azbenchlib.azure import quota
from azbenchlib.azure.az import Az
from azbenchlib.azure.documents import skus
from azbenchlib.azure.quota import Quota
from azbenchlib.campaign.targets.azure import commands
from azbenchlib.campaign.targets.azure.preflight import whole


@dataclass(frozen=True, kw_only=True)
class QuotaLeft:
    """The vCPUs that a VM takes, and the quotas that it counts for; None: the region does not offer it."""

    region: str
    vm: str
    n_cores: int | None
    quotas: Sequence[Quota] = ()

    @property
    def sentence(self) -> str:
        """What a user reads."""
        if self.n_cores is None:
            return f"Quota: {self.region} does not offer {self.vm} to this subscription"
        left = ", ".join(f"of {one.name} {one.left} of {one.limit}" for one in self.quotas)
        too_few = any(one.left < self.n_cores for one in self.quotas)
        return (
            f"Quota: {self.vm} takes {self.n_cores} vCPUs; left in {self.region}: "
            f"{left or 'no quota is told'}{f': too few; {quota.MORE_QUOTA}' if too_few else ''}"
        )


def quota_left(region: str, vm: str, spot: bool) -> QuotaLeft:
    """Ask az what of a region's quota is in use, and which of it a size counts for.

    Raises an AzError when az fails, for instance because nobody is logged in.
    """
    az = Az.find()
    usage = quota.listed(az.json(*commands.list_usage(region)))
    offered = skus(az.json(*commands.list_sizes(region, vm)))
    entry = next((one for one in offered if one.name.lower() == vm.lower()), None)
    if entry is None:
        return QuotaLeft(region=region, vm=vm, n_cores=None)
    quotas = quota.of_size(usage, entry.family, spot)
    return QuotaLeft(region=region, vm=vm, n_cores=whole(entry.capabilities, "vCPUs", 0), quotas=quotas)
