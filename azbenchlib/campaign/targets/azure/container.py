"""The container of blobs in the resource group of a run, into which its VM puts what it measured.

The VM gets a signature that can add and create, nothing else, for as long as the run may last. It is handed
over as a protected parameter, and az reads it from its standard input: it is in no file, log or argument
list. The account's key stays in the environment of the calls of az.
"""

import tempfile
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import AzError
from azbenchlib.campaign.targets.azure import commands

FEWEST_FOR_CONTAINER = 3  # workloads; the outputs of fewer are sooner fetched in pieces than an account made
HOLD_S = 26 * 3600  # that the signature holds: no VM of a run lives longer


@dataclass(frozen=True, kw_only=True)
class Container:
    """A container of blobs; `secret` lets a VM add to it."""

    az: Az = field(repr=False)
    url: str
    secret: str = field(repr=False)

    def names(self) -> list[str]:
        """What is in it."""
        found = self.az.json(*commands.blob_list())
        if not isinstance(found, list):
            raise AzError("az storage blob list: its answer is no list")
        return [str(name) for name in found]

    def download(self, name: str, patience_s: float, pause_s: float) -> bytes:
        """A blob, which may still be on its way into the container.

        Raises
        ------
        AzError
            When it is not there in time.
        """
        deadline = time.monotonic() + patience_s
        with tempfile.TemporaryDirectory(prefix="azbench-") as folder:
            file = Path(folder) / "blob"
            while True:
                try:
                    self.az.json(*commands.blob_download(name, str(file)))
                    return file.read_bytes()
                except AzError:
                    if time.monotonic() + pause_s > deadline:
                        raise
                time.sleep(pause_s)


def account_name(group: str) -> str:
    """What the account of a group is called, in all of Azure by nothing else."""
    return f"azb{sha256(group.encode()).hexdigest()[:20]}"


def make(az: Az, group: str, region: str) -> Container:
    """Have the account and its container; both may be there already.

    Raises
    ------
    AzError
        When Azure refuses, as where accounts or their keys are forbidden.
    """
    name = account_name(group)
    made = az.json(*commands.storage_account(group, name, region))
    keys = az.json(*commands.storage_keys(group, name))
    try:
        endpoint, key = made["primaryEndpoints"]["blob"].rstrip("/"), keys[0]["value"]
    except (TypeError, KeyError, IndexError):
        raise AzError("az storage account create: its answer tells no endpoint and key") from None
    protocol = endpoint.partition(":")[0]
    whose = f"AccountName={name};AccountKey={key}"
    connection = f"DefaultEndpointsProtocol={protocol};BlobEndpoint={endpoint};{whose}"
    inside = replace(az, environment={**az.environment, "AZURE_STORAGE_CONNECTION_STRING": connection})
    inside.json(*commands.container_create())
    expiry = datetime.now(UTC) + timedelta(seconds=HOLD_S)
    signature = inside.json(*commands.container_signature(f"{expiry:%Y-%m-%dT%H:%MZ}"))
    return Container(az=inside, url=f"{endpoint}/{commands.CONTAINER}", secret=f"azbench_sas={signature}")
