"""What a report of a run in Azure tells of whoever measured: the whole way from az to the page."""

from pathlib import Path

import pytest
from fake_azure.campaigns import SMALL, azbench, measured
from fake_azure.identity import PRINCIPAL, SUBSCRIPTION, TENANT
from fake_azure.login import Azure

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = [pytest.mark.slow, pytest.mark.fio]

WHO = "jane.doe@contoso.com"
MASKED = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
NETWORK = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/theirs/providers/Microsoft.Network/virtualNetworks/v"


@pytest.mark.long
def test_a_report_page_tells_neither_subscription_nor_tenant_nor_user(signed_in: Azure, small: Path) -> None:
    """The commands name a subnet by its id, and a note repeats what Azure said of the user."""
    for path in (NETWORK.partition("/providers/")[0], NETWORK, f"{NETWORK}/subnets/s"):
        signed_in.arm.put(path, {"location": "westeurope", "tags": {}})
    said = (
        f"The zone is another one. The client '{WHO}' with id '{PRINCIPAL}' of the tenant '{TENANT}' asked."
    )
    signed_in.faults.refuse(
        "PUT", "/virtualMachines/vm-1$", "BadRequest", said, status=400, command="vm disk attach", nth=2
    )
    other = "  other: {sku: Premium_LRS, size: 32GiB, zone: '2', attach: refused}\nworkloads:"
    small.write_text(
        SMALL.replace("zone: 1", f"zone: 1\nsubnet: {NETWORK}/subnets/s").replace("workloads:", other)
    )
    folder = measured(small)
    done = azbench("report", folder, "-o", "report", environment=signed_in.environment, folder=small.parent)
    assert done.returncode == 0, done.stderr
    (page,) = (small.parent / "report").rglob("*.html")
    text = page.read_text()
    assert f"--subnet /subscriptions/{MASKED}/resourceGroups/theirs" in text  # so it would be told
    assert "The zone is another one" in text
    told = [*small.parent.glob("report/**/*"), *folder.rglob("*")]
    secrets = (SUBSCRIPTION, TENANT, PRINCIPAL, WHO)
    found = {path for path in told if path.is_file() for one in secrets if one.encode() in path.read_bytes()}
    assert found == set()
