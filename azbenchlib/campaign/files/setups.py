"""The setups of a measurement file as datasets describe them."""

import pandas as pd

from azbenchlib.azure import catalog
from azbenchlib.campaign.files import spec
from azbenchlib.campaign.files.disk_spec import DiskSpec
from azbenchlib.campaign.files.spec import Experiment
from azbenchlib.core.units import MB
from azbenchlib.dataset.manifest import RAW, ManifestSetup, tables
from azbenchlib.model.disk_row import DiskRow, stripe_text


def planned(experiment: Experiment) -> dict[str, pd.DataFrame]:
    """The tables setups and disks of what a measurement file asks for, each setup with all its disks."""
    return tables([whole_setup(experiment, setup) for setup in experiment.setups])


def whole_setup(experiment: Experiment, setup: spec.SetupSpec) -> ManifestSetup:
    """A setup of a measurement file with all the disks that are to be attached."""
    return ManifestSetup(
        setup_id=setup.name,
        label=setup.label,
        environment="azure",
        region=experiment.region,
        zone=setup.zone,
        vm_size=setup.vm,
        os=setup.image,
        disks=[
            _disk_row(name, disk, setup.as_of)
            for name, disk in setup.disks.items()
            if disk.attach == "granted"
        ],
    )


def with_one_disk(setup: ManifestSetup, disk: str, several: bool) -> ManifestSetup:
    """The part of a setup whose outputs are those of one disk; `several`: its name is needed to tell."""
    name = f"{setup.setup_id}-{disk}" if several else setup.setup_id
    label = f"{setup.label}, {disk}" if several and setup.label else setup.label
    mine = [row for row in setup.disks if row.disk == disk]
    folder = f"{RAW}/{setup.setup_id}/{disk}"
    return setup.model_copy(update={"setup_id": name, "label": label, "disks": mine, "folder": folder})


def _disk_row(name: str, disk: DiskSpec, as_of: str | None) -> DiskRow:
    off = "None" if disk.role == "data" else None
    plus = catalog.tier_for(disk.sku or "", disk.size or 0, as_of) if disk.performance_plus else None
    return DiskRow(
        disk=name,
        role=disk.role,
        sku=disk.sku,
        tier=disk.tier,
        size_bytes=disk.size,
        host_caching=disk.caching or off,
        provisioned_iops=plus.plus_iops if plus else disk.iops,
        provisioned_bytes_per_s=plus.plus_bytes_per_s if plus else disk.mbps and disk.mbps * MB,
        count=disk.count,
        stripe=stripe_text(disk.stripe) if disk.count > 1 else None,
        zone=disk.zone,
        bursting=True if disk.bursting else None,
    )
