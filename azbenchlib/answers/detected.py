"""Which Azure VM this machine is, with its disks, their caching and their devices."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.answers.answer import Answer
from azbenchlib.answers.document import Document, FigureTable, Sentence, TableColumn, TableRow
from azbenchlib.answers.figures import AS_BYTES, AS_BYTES_PER_S, AS_IOPS, Figure
from azbenchlib.azure import disk_kinds
from azbenchlib.core import schema

if TYPE_CHECKING:
    from azbenchlib.campaign.detect.detect import Detected

_FROM = "metadata service"
_COLUMNS = (
    TableColumn("disk", "Disk"),
    TableColumn("sku", "SKU"),
    TableColumn("tier", "Tier"),
    TableColumn("size_bytes", "Size", AS_BYTES),
    TableColumn("host_caching", "Caching"),
    TableColumn("provisioned_iops", "IOPS", AS_IOPS),
    TableColumn("provisioned_bytes_per_s", "MB/s", AS_BYTES_PER_S),
    TableColumn("devices", "Device"),
)
_NONE = Sentence("")


class DetectedAnswer(Answer):
    """An Azure VM, as its metadata service and its devices tell of it.

    Parameters
    ----------
    result : Detected
        With ``setup`` and ``devices``; the answer has these names, too.
    """

    result: Detected

    def __init__(self, result: Detected) -> None:
        self.result = result

    @cached_property
    def document(self) -> Document:
        """The VM, then a row a disk."""
        machine = self.result.setup
        zone = f", zone {machine.zone}" if machine.zone else ""
        headline = Sentence(f"{machine.vm_size} in {machine.region}{zone}; {machine.os}")
        return Document(
            headline, [FigureTable(columns=_COLUMNS, rows=[self._row(row) for row in self._disks])]
        )

    @cached_property
    def _disks(self) -> list[dict[str, Any]]:
        """Every column of the table disks, checked, with the devices of each disk."""
        table = schema.frame("disks", [disk.to_row() for disk in self.result.setup.disks])
        rows = schema.records(table.drop(columns="setup_id"))
        return [row | {"devices": [str(path) for path in self.result.devices[row["disk"]]]} for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the row of the table setups, with those of the table disks; None: not told."""
        return self.result.setup.model_dump(exclude={"disks", "folder"}) | {"disks": self._disks}

    def to_frame(self) -> pd.DataFrame:
        """Return a row a disk: the columns of the table disks, and its devices."""
        table = schema.frame("disks", [disk.to_row() for disk in self.result.setup.disks])
        devices = [", ".join(row["devices"]) or None for row in self._disks]
        return table.drop(columns="setup_id").assign(devices=pd.array(devices, dtype=schema.TEXT))

    def _row(self, row: Mapping[str, Any]) -> TableRow:
        kind = disk_kinds.of_sku(row["sku"]) if row["sku"] else None
        is_provisioned = kind is not None and kind.provisioned
        rates = (
            Figure(row[column.name], column.unit, _FROM, text=column.text(row[column.name]))
            if is_provisioned and column.unit
            else _NONE
            for column in _COLUMNS[5:7]
        )
        return TableRow(
            (
                row["disk"] if row["role"] != "ephemeral_os" else f"{row['disk']} (ephemeral)",
                row["sku"],
                row["tier"],
                Figure(row["size_bytes"], AS_BYTES, _FROM),
                row["host_caching"],
                *rates,
                ", ".join(row["devices"]) or "not found",
            )
        )
