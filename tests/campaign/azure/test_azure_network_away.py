"""A network that is away for many calls, and what answers in its place: nothing is lost, and nothing left."""

from pathlib import Path

import pytest
from fake_azure.campaigns import SMALL, measured_and_told
from fake_azure.login import Azure

from azbenchlib.azure import retries
from azbenchlib.campaign.targets.azure.ending import orphans
from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.fio]

MORE = "".join(f"  w{n}: {{rw: randread, bs: {4 << n}k, size: 4m, runtime: 1}}\n" for n in range(2))
GROUP = r"resourceGroups/[^/]+$"
UPLOADS = 3  # that the VM tries
FOUR_TRIES = 4  # that az makes by itself of a call whose connection is closed


def test_a_network_that_is_away_at_polls_fetches_and_the_teardown_ends_nothing(
    signed_in: Azure, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three calls long each time; at the container, pages come, for the machine and for the VM.

    What one workload measured cannot be uploaded, so that it comes in pieces.
    """
    monkeypatch.setattr(retries, "FIRST_TRY_PAUSE_S", 0.1)
    monkeypatch.setattr(retries, "LONGEST_TRY_PAUSE_S", 0.5)
    monkeypatch.setattr(orphans, "FIRST_PAUSE_S", 0.1)
    small.write_text(SMALL + MORE)
    faults, long = signed_in.faults, 3 * FOUR_TRIES
    faults.away("GET", "/runCommands/", nth=3, times=long)
    for status in (200, 403, 404):
        faults.page("GET", "/results$", status)  # the list of what is there
    faults.page("PUT", "/results/", 502)
    faults.away("PUT", "/results/.*first")  # the VM tries once more
    faults.away("PUT", "/results/.*w1", times=UPLOADS)
    faults.away("POST", "/runCommand$", times=3)  # which az tries once a call
    faults.away("DELETE", GROUP, times=long)
    faults.away("GET", GROUP, command="group show", times=long)
    folder, told = measured_and_told(small)
    assert [fault for fault in faults.planned if fault.hits != fault.times] == []
    found = Dataset.load(folder)
    assert set(found.runs["job"]) == {"first", "w0", "w1"}
    assert (found.results["iops"] > 0).all()
    assert not (folder / "failed").exists()
    assert any(text.startswith("waiting, for 120 minutes at most: az vm run-command show") for text in told)
    assert any(text.startswith("waiting, for 120 minutes at most: az storage blob list") for text in told)
    assert any("is still there" in text and "for another 60 minutes" in text for text in told)
    assert len(signed_in.arm.bodies("PUT", "/deployments/")) == 1
    assert not signed_in.arm.resources
