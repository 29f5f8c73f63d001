"""The ceilings of a setup that is described: by the catalogue's limits, with what is doubtful of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from azbenchlib.model import host_caching, size_remarks
from azbenchlib.model.ceilings import Ceiling, ceilings
from azbenchlib.model.fill_from_catalogue import resolve, unknown_figures
from azbenchlib.model.setup import Setup

_DRAWN_SIZES = [2**power for power in range(9, 31)]  # 512 B to 1 GiB


@dataclass(frozen=True, kw_only=True)
class SetupCeilings:
    """What a setup delivers at most.

    Parameters
    ----------
    stated : Setup
        As it is described.
    setup : Setup
        With the limits of its VM size and its disks.
    read_share : float
        0 to 1; writes are the rest.
    ceilings : tuple of Ceiling
    remarks : tuple of str
        What makes them doubtful, and when Azure retires the VM size.
    """

    stated: Setup
    setup: Setup
    read_share: float
    ceilings: tuple[Ceiling, ...]
    remarks: tuple[str, ...]

    def curves(self) -> list[Ceiling]:
        """Return the ceilings at the block sizes of a figure, in which the corners are sharp."""
        stated = {row.bs_bytes for row in self.ceilings}
        corners = {round(row.crossover_bytes) for row in self.ceilings if row.crossover_bytes}
        between = (size for size in {*_DRAWN_SIZES, *corners} if min(stated) <= size <= max(stated))
        return ceilings(self.setup, sorted({*stated, *between}), self.read_share)


def setup_ceilings(
    stated: Setup, day: str, block_sizes: Sequence[int], read_share: float = 1.0
) -> SetupCeilings:
    """Find the ceilings of a setup that is described.

    Parameters
    ----------
    stated : Setup
    day : str
        ISO day whose limits apply, where the setup has none.
    block_sizes : sequence of int
        Bytes.
    read_share : float

    Raises
    ------
    InputError
        For a size or tier that the catalogue does not know, what Azure refuses, or a setup without a disk.
    """
    full, caching = resolve(stated, day, open_figures=True), host_caching.remark(stated, day)
    remarks = [caching] if caching else []
    remarks += [f"{text}, so its own limits are not among these" for text in unknown_figures(full)]
    remarks += [finding.message for finding in size_remarks.findings(stated, day)]
    return SetupCeilings(
        stated=stated,
        setup=full,
        read_share=read_share,
        ceilings=tuple(ceilings(full, sorted(set(block_sizes)), read_share)),
        remarks=tuple(remarks),
    )
