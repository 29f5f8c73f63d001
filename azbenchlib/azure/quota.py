"""Quotas of vCPUs: how many VMs of a size a subscription may have in a region, and how many it has."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from azbenchlib.core.errors import InputError

MORE_QUOTA = "ask for more quota (Azure portal, Quotas), or take a smaller size"


class NoQuotaError(InputError):
    """A VM for which a subscription has too few vCPUs left."""


@dataclass(frozen=True)
class Quota:
    """A quota by its name, with how many vCPUs of it are in use, and how many may be."""

    name: str
    used: int
    limit: int

    @property
    def left(self) -> int:
        """How many vCPUs more there may be."""
        return max(0, self.limit - self.used)


def listed(answer: Any) -> dict[str, Quota]:
    """Quotas, by their names in lower case, as `az vm list-usage` lists them.

    What is none of them is passed over.
    """
    found = {}
    for entry in answer if isinstance(answer, list) else ():
        with suppress(TypeError, KeyError, ValueError, OverflowError):
            name = str(entry["name"]["value"])
            found[name.lower()] = Quota(name, int(entry["currentValue"]), int(entry["limit"]))
    return found


def of_size(quotas: Mapping[str, Quota], family: str, spot: bool) -> list[Quota]:
    """Those that a size counts for: that of spot VMs, or that of its family and that of all."""
    names = ("lowPriorityCores",) if spot else (family, "cores")
    return [quotas[name.lower()] for name in names if name.lower() in quotas]
