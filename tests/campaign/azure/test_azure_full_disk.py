"""The local disk fills up while `azbench run` measures in Azure: nothing is left there, the file is named."""

import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from fake_azure.campaigns import AZBENCH, until
from fake_azure.login import Azure
from waiting import PATIENCE_S

from azbenchlib import campaign
from azbenchlib.dataset.dataset import Dataset

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system."""
    place = tmp_path / "disk"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", place], check=True)
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.parametrize(
    "moment",
    [
        "network …",
        pytest.param("setup, data: randread", marks=pytest.mark.long),
        pytest.param("deleting azbench-", marks=pytest.mark.long),
    ],
)
@pytest.mark.long
def test_a_disk_that_fills_up_during_the_notebook_is_named_and_the_run_goes_on_when_there_is_room(
    signed_in: Azure, small: Path, disk: Path, moment: str
) -> None:
    command = [str(AZBENCH), "run", str(small), "--target", "azure", "-o", str(disk / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        until(process, moment)
        with suppress(OSError), (disk / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        said = process.communicate(timeout=PATIENCE_S)[0]
    last = said.splitlines()[-1]
    assert process.returncode == 2, said
    assert f"{disk}/out/" in last
    assert "No space left on device" in last
    assert "STILL IN AZURE" not in said
    assert "Traceback" not in said
    assert not signed_in.arm.resources
    (disk / "filler").unlink()
    done = campaign.run(campaign.load(small), disk / "out", target="azure")
    assert (Dataset.load(done).results["iops"] > 0).all()
    assert not signed_in.arm.resources
