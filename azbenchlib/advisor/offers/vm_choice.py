"""Which VM sizes suit a server: what the name of a size tells, and which sizes are left out by default.

Source of the names: azure-compute-docs articles/virtual-machines/vm-naming-conventions.md (family, vCPUs,
constrained vCPUs, features, version).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from azbenchlib.core.errors import InputError

# An a among the features is an AMD CPU, a p an Arm CPU.
_NAME = re.compile(
    r"(?:standard|basic)_(?P<family>[a-z]+?)\d+(?:-\d+)?(?:(?P<features>[a-z]+)\d*)?(?:-\d+)?(?:_|$)",
    re.IGNORECASE,
)
_VERSION = re.compile(r"_v(\d{1,3})(?:_|$)", re.IGNORECASE)
_FAMILY = re.compile(r"[A-Za-z]{1,3}")
# The families for servers, each with its first generation that is not a previous one: general purpose,
# memory, compute, storage, the largest memory. Confidential (DC, EC), GPU (N), HPC (H) and entry-level (A)
# families are for what needs them. Source of the previous generations: azure-compute-docs
# sizes/previous-gen-sizes-list.md@d16938c1 (2025-06-17). It does not list Dv4, which is as old as the Ev4
# that it does list.
SERVER_FAMILIES = {"D": 5, "E": 5, "F": 6, "FX": 1, "L": 3, "M": 2}
_BURSTABLE = "B"  # family


@dataclass(frozen=True)
class SizeName:
    """What the name of a VM size tells."""

    family: str
    features: str
    version: int

    @classmethod
    def of(cls, size: str) -> SizeName:
        """The parts of a name; empty and 1 where it has none."""
        match, version = _NAME.match(size), _VERSION.search(size)
        family, features = (match["family"].upper(), (match["features"] or "").lower()) if match else ("", "")
        # Of old the s of premium storage stood before the vCPUs: DS1_v2, GS5.
        bare = family.removesuffix("S") if family in ("DS", "GS") else family
        return cls(bare, features, int(version[1]) if version else 1)

    @property
    def arm(self) -> bool:
        """Whether its CPU is an Arm."""
        return "p" in self.features

    @property
    def burstable(self) -> bool:
        """Whether its CPU lives on credits."""
        return self.family == _BURSTABLE

    @property
    def current(self) -> bool:
        """Whether it is of a family for servers, and not of a previous generation. Burstable sizes count by
        their generation alone: the first is a previous one.
        """
        least = 2 if self.burstable else SERVER_FAMILIES.get(self.family)
        return least is not None and self.version >= least


@dataclass(frozen=True, kw_only=True)
class VmChoice:
    """Which VM sizes may be recommended, beside what they have to carry.

    Parameters
    ----------
    arm, burstable : bool
        Whether sizes with an Arm CPU, and those whose CPU lives on credits, may be.
    any_family : bool
        Whether sizes of previous generations, those with a day of retirement, and families for special
        purposes (GPU, HPC, confidential) may be.
    families : tuple of str
        If there are any, only these, such as E or DC, of whatever kind they are.

    Raises
    ------
    InputError
        When a family cannot be one.
    """

    arm: bool = True
    burstable: bool = True
    any_family: bool = True
    families: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for family in self.families:
            if not _FAMILY.fullmatch(family):
                raise InputError(f"family '{family}' is no VM family; write its letters, such as D, E or DC")

    def conditions(self) -> Sequence[str]:
        """The names of the conditions that hold, in the order in which they are asked for."""
        wanted = {
            "families": bool(self.families),
            "not_arm": not self.arm,
            "not_burstable": not self.burstable and not self.families,
            "current": not self.any_family and not self.families,
        }
        return [name for name, holds in wanted.items() if holds]


ANYTHING = VmChoice()
SERVER_CHOICE = VmChoice(arm=False, burstable=False, any_family=False)
FOR_SERVERS = (
    "VM sizes for servers: x64, not burstable, no GPU, of a current generation"  # SERVER_CHOICE in words
)
SERVER_DISKS = 8  # of one volume at most: our judgement of what one wants to stripe, attach and replace
