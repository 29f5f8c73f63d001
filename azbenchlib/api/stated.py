"""What people state in Python: a VM with its disks, and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from azbenchlib.model import Setup

Stated = int | float | Decimal | str  # a number, or a text as the command line takes it


def described(
    vm: str | None, disks: Sequence[str] | str, as_of: str | None = None, *, open_sizes: bool = False
) -> Setup:
    """Return the setup that is stated; a single disk may be a text."""
    from azbenchlib.model import notation

    return notation.stated_setup(vm, disks, as_of, open_sizes=open_sizes)
