"""The container of blobs in the resource group of a run, into which its VM puts what it measured.

The VM gets a signature that can add and create, nothing else, for as long as the run may last. It is handed
over as a protected parameter, and az reads it from its standard input: it is in no file, log or argument
list. The account's key stays in the environment of the calls of az. Where keys are forbidden, az reaches the
container as the user who is logged in, and so signs for the VM.
"""

import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import AzError
from azbenchlib.campaign.targets.azure import commands
from azbenchlib.campaign.targets.azure.naming import PLAIN, Naming
from azbenchlib.core.temporary import temporary_folder

FEWEST_FOR_CONTAINER = 3  # workloads; the outputs of fewer are sooner fetched in pieces than an account made
# How Azure, or a policy, forbids the keys of accounts. Then the user may be allowed to write blobs.
_NO_KEYS = (
    *("KeyBasedAuthenticationNotPermitted", "RequestDisallowedByPolicy", "AuthorizationFailed"),
    *("AuthorizationPermissionMismatch", "AuthenticationFailed"),
)
HOLD_S = 26 * 3600  # that the signature holds: no VM of a run lives longer


@dataclass(frozen=True, kw_only=True)
class Container:
    """A container of blobs; `secret` lets a VM add to it."""

    az: Az = field(repr=False)
    url: str
    where: tuple[str, ...] = ()  # options by which az finds the account, beside its environment
    secret: str = field(repr=False)

    def names(self) -> list[str]:
        """What is in it."""
        found = self.az.json(*commands.blob_list(), *self.where)
        if not isinstance(found, list):
            raise AzError("az storage blob list: its answer is no list")
        return [str(name) for name in found]

    def download(self, name: str, patience_s: float, pause_s: float) -> bytes:
        """A blob, which may still be on its way into the container.

        Raises an AzError when it is not there in time.
        """
        deadline = time.monotonic() + patience_s
        with temporary_folder() as folder:
            file = folder / "blob"
            while True:
                try:
                    self.az.json(*commands.blob_download(name, str(file)), *self.where)
                    return file.read_bytes()
                except AzError:
                    if time.monotonic() + pause_s > deadline:
                        raise
                time.sleep(pause_s)


def account_name(group: str, prefix: str = "") -> str:
    """What the account of a group is called, in all of Azure by nothing else; its name has no hyphens."""
    return f"{prefix or 'azb'}{sha256(group.encode()).hexdigest()[: 10 if prefix else 20]}"


def make(az: Az, group: str, region: str, naming: Naming = PLAIN) -> Container:
    """Have the account and its container; both may be there already.

    Raises an AzError when Azure refuses, as where accounts or their keys are forbidden.
    """
    try:
        return _made(az, group, region, naming, by_login=False)
    except AzError as error:
        if error.code not in _NO_KEYS:
            raise
        return _made(az, group, region, naming, by_login=True)


def _made(az: Az, group: str, region: str, naming: Naming, by_login: bool) -> Container:
    """The container, reached with a key of the account, or as the user who is logged in."""
    name = account_name(group, naming.prefix)
    made = az.json(*commands.storage_account(group, name, region, by_login, naming))
    try:
        endpoint = made["primaryEndpoints"]["blob"].rstrip("/")
        key = "" if by_login else az.json(*commands.storage_keys(group, name))[0]["value"]
    except (TypeError, KeyError, IndexError, AttributeError):
        raise AzError("az storage account create: its answer tells no endpoint and key") from None
    inside = replace(az, environment={**az.environment, **_reach(name, endpoint, key)})
    where = ("--blob-endpoint", endpoint) if by_login else ()
    inside.json(*commands.container_create(), *where)
    expiry = datetime.now(UTC) + timedelta(seconds=HOLD_S)
    asked = commands.container_signature(f"{expiry:%Y-%m-%dT%H:%MZ}", by_login)
    secret = f"azbench_sas={inside.json(*asked, *where)}"
    return Container(az=inside, url=f"{endpoint}/{commands.CONTAINER}", where=where, secret=secret)


def _reach(name: str, endpoint: str, key: str) -> dict[str, str]:
    """The variables by which az knows the account, and who it is; without a key, the user."""
    if not key:
        return {"AZURE_STORAGE_ACCOUNT": name, "AZURE_STORAGE_AUTH_MODE": "login"}
    whose = f"AccountName={name};AccountKey={key}"
    protocol = endpoint.partition(":")[0]
    connection = f"DefaultEndpointsProtocol={protocol};BlobEndpoint={endpoint};{whose}"
    return {"AZURE_STORAGE_CONNECTION_STRING": connection}
