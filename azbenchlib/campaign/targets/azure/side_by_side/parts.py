"""One measurement file as several, a VM each: what can be measured at the same time."""

from collections.abc import Mapping
from itertools import groupby

from azbenchlib.campaign.files.spec import Experiment, SetupSpec


def parts(experiment: Experiment) -> dict[str, Experiment]:
    """The setups that follow each other on one VM, by the name of the first of them.

    Each part has disks of its own. One that Azure should refuse to attach is created in the zone in which it
    would be if the VMs followed each other, for that is why it is refused.
    """
    zones: dict[str, str | None] = {}
    for setup in experiment.setups:
        for name, disk in setup.disks.items():
            zones.setdefault(name, disk.zone or setup.zone)
    found = {}
    for _, several in groupby(experiment.setups, key=SetupSpec.machine):
        setups = tuple(_bound(setup, zones) for setup in several)
        found[setups[0].name] = experiment.model_copy(update={"setups": setups})
    return found


def _bound(setup: SetupSpec, zones: Mapping[str, str | None]) -> SetupSpec:
    disks = {
        name: disk.model_copy(update={"zone": zones[name]}) if disk.attach == "refused" else disk
        for name, disk in setup.disks.items()
    }
    return setup.model_copy(update={"disks": disks})
