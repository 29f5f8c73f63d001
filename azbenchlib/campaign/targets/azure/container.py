"""Where the VM of a run puts what it measured: a container of blobs, or a small disk.

The VM gets a signature that can add and create, nothing else, for as long as the run may last. It is handed
over as a protected parameter, and az reads it from its standard input: it is in no file, log or argument
list. The account's key stays in the environment of the calls of az. Where keys are forbidden, az reaches the
container as the user who is logged in, and so signs for the VM.

Where Azure has no storage account for us, a small disk is made and attached, the VM writes the packed outputs
onto it, and it is detached and read through an address of Azure's, which takes rights on disks alone. az gets
what gives the right to read it in its environment, as a connection string, which goes before everything that
its own configuration says of storage.
"""

import hashlib
import re
import tarfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import NOT_LOGGED_IN, AzError, Passing
from azbenchlib.azure.retries import Patience
from azbenchlib.campaign.files.disk_spec import DiskSpec
from azbenchlib.campaign.outputs import LARGEST_OUTPUT
from azbenchlib.campaign.targets.azure import commands, guest
from azbenchlib.campaign.targets.azure.commands import PLAIN, Naming
from azbenchlib.campaign.targets.azure.vm import Vm
from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.temporary import temporary_folder
from azbenchlib.core.units import GIB

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


RESULTS_DISK_NAME = "azbench_results"  # no disk of a measurement file has _ in its name
RESULTS_DISK = DiskSpec.model_validate({"sku": "StandardSSD_LRS", "size": "4GiB"})  # the smallest
FEWEST_FOR_DISK = 3  # workloads; the outputs of fewer are sooner fetched in pieces
# Of the workloads of one script: what they bring is on the VM alone until it has ended.
LONGEST_UNFETCHED_S = 3600.0
# That the disk can be read. Meanwhile Azure does not delete it, whatever becomes of the run.
ACCESS_S = 1800
_WRITE_S = 900
_HEAD_BYTES = 4096  # before the archive
_HEAD = re.compile(rb"azbench-results ([0-9]{1,10}) ([0-9a-f]{64})\n\0*")


@dataclass(kw_only=True)
class ResultsDisk:
    """How to have a results disk in the group of a run, and what it brings."""

    az: Az
    group: str
    naming: Naming = PLAIN  # how the disk is called
    # Takes a line where Azure has no such disk for us either; then it is not tried again
    tell: Callable[[str], None]
    refused: bool = False

    @property
    def name(self) -> str:
        """What it is called in Azure."""
        return self.naming.called(RESULTS_DISK_NAME)

    def at_once(self) -> "ResultsDisk":
        """The same, which waits for nothing that is in the way."""
        return replace(self, az=self.az.patiently(Patience()))

    def brought(self, vm: Vm, places: Sequence[str]) -> dict[str, bytes]:
        """The files with the packed outputs that a VM has, by name; none where that cannot be."""
        if self.refused:
            return {}
        self.tell(f"the results of {vm.name} come by a disk …")
        try:
            return self._brought(vm, places)
        except AzbenchError as error:
            if isinstance(error, AzError) and error.code == NOT_LOGGED_IN:
                raise
            self.refused = True
            self.tell(f"no disk for the results, so they come in pieces, which takes longer: {error}")
            return {}

    def _brought(self, vm: Vm, places: Sequence[str]) -> dict[str, bytes]:
        """Have a new disk written, detached and read; it is deleted, come what may."""
        zone, luns = self._looked_at(vm)
        self._remove(vm, attached=self.name in luns)  # what a killed run left
        luns.pop(self.name, None)
        lun = next((lun for lun in range(commands.MOST_LUNS) if lun not in luns.values()), 0)
        attached = False
        try:
            self.az.json(*commands.disk_create(self.group, self.name, RESULTS_DISK, zone, self.naming))
            attached = True
            self.az.json(*commands.disk_attach(self.group, vm.name, self.name, lun, RESULTS_DISK))
            script = guest.hand_over(lun, places)
            replace(vm, az=self.az).run("write the results onto a disk", script, _WRITE_S)
            self.az.json(*commands.disk_detach(self.group, vm.name, self.name))
            attached = False
            return self._read()
        finally:
            self._remove(vm, attached)

    def _looked_at(self, vm: Vm) -> tuple[str | None, dict[str, int]]:
        """The zone of a VM, and its data disks with their LUNs."""
        shown = self.az.json(*commands.vm_show(self.group, vm.name))
        try:
            disks: list[dict[str, Any]] = shown["storageProfile"]["dataDisks"] or []
            zones: list[str] = shown.get("zones") or []
            return next(iter(zones), None), {str(disk["name"]): int(disk["lun"]) for disk in disks}
        except (TypeError, KeyError, AttributeError, ValueError):
            raise AzError("az vm show: its answer describes no VM") from None

    def _remove(self, vm: Vm, attached: bool) -> None:
        """Delete the disk, where there is one; what is left of it goes with all that the run made."""
        limits = {why: s for why, s in self.az.patience.limits_s.items() if why != Passing.not_there_yet}
        az = self.az.patiently(replace(self.az.patience, limits_s=limits))
        detach = commands.disk_detach(self.group, vm.name, self.name)
        revoke = commands.disk_revoke(self.group, self.name)
        for argv in (detach, revoke, commands.disk_delete(self.group, self.name))[0 if attached else 1 :]:
            with suppress(AzError):
                az.json(*argv)

    def _read(self) -> dict[str, bytes]:
        """What is in the archive on the disk."""
        granted = self.az.json(*commands.disk_grant(self.group, self.name, ACCESS_S))
        url, _, signature = str(granted.get("accessSAS") if isinstance(granted, dict) else "").partition("?")
        if not url.startswith("https://") or not signature:
            raise AzError("az disk grant-access: its answer tells no address")
        ours = self.az.environment.items()
        kept = {name: value for name, value in ours if not name.startswith("AZURE_STORAGE_")}
        reach = {
            "AZURE_STORAGE_CONNECTION_STRING": f"SharedAccessSignature={signature}",
            "AZURE_STORAGE_AUTH_MODE": "key",
        }
        az = replace(self.az, environment={**kept, **reach})
        with temporary_folder() as folder:
            file = folder / "part"
            az.json(*commands.range_download(url, str(file), 0, _HEAD_BYTES - 1))
            head = _HEAD.fullmatch(file.read_bytes())
            if head is None or not 0 < (n_bytes := int(head[1])) <= RESULTS_DISK.size_gib * GIB - _HEAD_BYTES:
                raise AzbenchError("what is on the disk is not what the VM writes")
            az.json(*commands.range_download(url, str(file), _HEAD_BYTES, _HEAD_BYTES + n_bytes - 1))
            with file.open("rb") as read:
                if hashlib.file_digest(read, "sha256").hexdigest() != head[2].decode():
                    raise AzbenchError("what is on the disk is not what the VM wrote")
            return _unpacked(file)


def _unpacked(file: Path) -> dict[str, bytes]:
    """The plain files of an archive, by name; not those that are larger than outputs may be."""
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(file, mode="r:") as archive:
            for one in archive:
                content = archive.extractfile(one) if one.isfile() else None
                if content is not None and one.size <= LARGEST_OUTPUT:
                    found[one.name] = content.read()
    except tarfile.TarError as error:
        raise AzbenchError(f"what is on the disk is no archive: {error}") from error
    return found
