"""A disk as datasets keep it: a row of the table disks, which is also an entry of a manifest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import format_size
from azbenchlib.model.setup import Cap, Disk

OF_SETUP = "setup_id"  # the one column that a manifest does not repeat with every disk
STRIPED = "RAID 0"


def stripe_text(chunk_bytes: int) -> str:
    """What the column stripe says of disks that are striped in chunks of so many bytes."""
    return f"{STRIPED}, chunks of {format_size(chunk_bytes)}"


@dataclass(frozen=True, kw_only=True)
class DiskRow:
    """A row of the table disks, without the setup that it belongs to; None: not known.

    The fields are the columns, with their units (``docs/tables.md``).
    """

    disk: str
    role: str | None = None
    sku: str | None = None
    tier: str | None = None
    size_bytes: int | None = None
    host_caching: str | None = None
    provisioned_iops: int | None = None
    provisioned_bytes_per_s: int | None = None
    count: int | None = None
    stripe: str | None = None
    lun: int | None = None
    zone: str | None = None
    bursting: bool | None = None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> DiskRow:
        """The disk of a row of the table, or of an entry of a manifest.

        Raises
        ------
        InputError
            When it has another column, a value that its column cannot hold, or no name.
        """
        values = schema.row("disks", row)
        if "disk" not in values:
            raise InputError("disks.disk: every disk needs a name")
        return cls(**{name: value for name, value in values.items() if name != OF_SETUP})

    def to_row(self) -> dict[str, Any]:
        """What is known of it, by column."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_disk(cls, disk: Disk, name: str) -> DiskRow:
        """The row of a disk of the model, under a name of its own."""
        return cls.from_row(
            {
                "disk": name,
                "role": disk.role,
                "sku": f"local, {disk.place}" if disk.local else disk.sku,
                "tier": disk.tier,
                "size_bytes": None if disk.size_bytes is None else int(disk.size_bytes),
                "host_caching": None if disk.local or "caching" in disk.unstated else disk.caching,
                "provisioned_iops": disk.cap.iops,
                "provisioned_bytes_per_s": disk.cap.bytes_per_s,
                "count": None if "count" in disk.unstated else disk.count,
                "stripe": STRIPED if disk.striped else None,
                "bursting": disk.bursting,
            }
        )

    def to_disk(self) -> Disk:
        """The disk of the model, with what the row states; the rest comes from the catalogue."""
        local = (self.sku or "").lower()
        return Disk(
            name=self.disk,
            role=self.role or "data",
            sku=self.sku,
            tier=self.tier,
            size_bytes=self.size_bytes,
            caching=self.host_caching or "None",
            cap=Cap(iops=self.provisioned_iops, bytes_per_s=self.provisioned_bytes_per_s),
            count=self.count or 1,
            striped=self.stripe is not None,
            bursting=self.bursting,
            unstated=self._unstated(),
            placement=next((place for place in ("temp", "nvme") if place in local), "cache"),
        )

    def _unstated(self) -> tuple[str, ...]:
        """What the row leaves open that decides which limits its I/O meets."""
        remote = self.role in (None, "data", "os")
        doubtful = {"caching": remote and self.host_caching is None}
        doubtful["count"] = self.role == "nvme" and self.count is None
        return tuple(name for name, is_open in doubtful.items() if is_open)
