"""`azbench advise --quota`: what the real az tells of the subscription's quota in the fake Azure."""

import subprocess
import sys

import pytest
from fake_azure.login import Azure
from fake_azure.skus import family

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = pytest.mark.slow

SIZE = "Standard_E8ds_v5"
ASKED = ("advise", "--iops", "3000", "--size", "1TiB", "--region", "westeurope", "--vm", SIZE, "--quota")


def told(azure: Azure, *more: str) -> str:
    """The line about the quota."""
    program = [sys.executable, "-c", "from azbenchlib.cli import main; main()"]
    done = subprocess.run(
        [*program, *ASKED, *more], env=azure.environment, capture_output=True, text=True, check=True
    )
    return next(line for line in done.stderr.splitlines() if line.startswith("Quota: "))


@pytest.mark.long
def test_what_is_left_is_told_beside_the_answer(azure: Azure) -> None:
    own = family(SIZE)
    azure.arm.quotas |= {own: (97, 100), "cores": (20, 350), "lowPriorityCores": (0, 8)}
    left = f"Quota: {SIZE} takes 8 vCPUs; left in westeurope: of {own} 3 of 100, of cores 330 of 350"
    assert (
        told(azure) == f"{left}: too few; ask for more quota (Azure portal, Quotas), or take a smaller size"
    )
    azure.arm.quotas[own] = (92, 100)
    assert told(azure) == left.replace(" 3 of", " 8 of")
    spot = f"Quota: {SIZE} takes 8 vCPUs; left in westeurope: of lowPriorityCores 8 of 8"
    assert told(azure, "--pay", "spot", "--format", "json") == spot
