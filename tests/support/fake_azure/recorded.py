"""What others recorded and specified of Azure's answers, and whether an answer is like that.

The facts are from the recordings of azure-cli's own tests against Azure, below
src/azure-cli/azure/cli/command_modules/MODULE/tests/latest/recordings, read on 2026-11-28; their dates are
with each. What az itself knows of an answer is asked of az (`model_check`).
"""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .arm import Logged

# By the end of a path: the type as the service spells it, and what it always tells of what is there.
COMMON = ("id", "name", "location", "properties.provisioningState")
NETWORK = (*COMMON, "etag", "properties.resourceGuid")
ALWAYS: dict[str, tuple[str, tuple[str, ...]]] = {
    # resource: test_resource_group, 2020
    r"/resourcegroups/[^/]+": ("Microsoft.Resources/resourceGroups", (*COMMON, "tags")),
    # network: test_natgateway_basic, 2025-04; test_network_vnet, 2023-12; vm: test_run_command_v2, 2022-05
    r"/publicipaddresses/[^/]+": ("Microsoft.Network/publicIPAddresses", (*NETWORK, "sku.tier")),
    r"/natgateways/[^/]+": ("Microsoft.Network/natGateways", (*NETWORK, "sku.tier")),
    r"/virtualnetworks/[^/]+": ("Microsoft.Network/virtualNetworks", (*NETWORK, "properties.subnets")),
    r"/subnets/[^/]+": ("Microsoft.Network/virtualNetworks/subnets", ("id", "name", "etag")),
    r"/networkinterfaces/[^/]+": ("Microsoft.Network/networkInterfaces", (*NETWORK, "properties.macAddress")),
    # vm: test_vm_disk_attach_detach, 2026-02
    r"/virtualmachines/[^/]+": (
        "Microsoft.Compute/virtualMachines",
        (*COMMON, "etag", "properties.vmId", "properties.timeCreated", "properties.storageProfile.dataDisks"),
    ),
    # vm: test_run_command_v2, 2022-05
    r"/runcommands/[^/]+": (
        "Microsoft.Compute/virtualMachines/runCommands",
        (*COMMON, "properties.source", "properties.asyncExecution"),
    ),
    # vm: test_disk_bursting, 2023-11
    r"/disks/[^/]+": (
        "Microsoft.Compute/disks",
        (*COMMON, "sku.tier", *(f"properties.{name}" for name in ("diskState", "timeCreated", "uniqueId"))),
    ),
    # vm: test_vm_auto_shutdown, 2022-05
    r"/schedules/[^/]+": ("microsoft.devtestlab/schedules", (*COMMON, "properties.uniqueIdentifier")),
    # storage: test_create_storage_account, 2022-05
    r"/storageaccounts/[^/]+": (
        "Microsoft.Storage/storageAccounts",
        (*COMMON, "kind", "sku.tier", "properties.creationTime", "properties.primaryEndpoints"),
    ),
    r"/deployments/[^/]+": (
        "Microsoft.Resources/deployments",
        (
            "id",
            "name",
            *(f"properties.{name}" for name in ("provisioningState", "correlationId", "timestamp")),
        ),
    ),
}
ASYNC, LOCATION = "Azure-AsyncOperation", "Location"
# How an operation begins: the status, where to ask, and what the thing is said to be until it is there.
BEGINNINGS: dict[tuple[str, str], tuple[int, set[str], str | None]] = {
    ("PUT", "/publicipaddresses/[^/]+"): (201, {ASYNC}, "Updating"),
    ("PUT", "/natgateways/[^/]+"): (201, {ASYNC}, "Updating"),
    ("PUT", "/virtualnetworks/[^/]+"): (201, {ASYNC}, "Updating"),
    ("PUT", "/runcommands/[^/]+"): (201, {ASYNC}, "Creating"),
    ("PUT", "/virtualmachines/[^/]+"): (200, {ASYNC}, "Updating"),  # a disk attached or detached
    ("PUT", "/deployments/[^/]+"): (201, {ASYNC}, "Accepted"),
    ("PUT", "/disks/[^/]+"): (202, {ASYNC, LOCATION}, "Updating"),
    ("PUT", "/storageaccounts/[^/]+"): (202, {LOCATION}, None),
    ("DELETE", "/runcommands/[^/]+"): (202, {ASYNC, LOCATION}, None),
    ("POST", "/disks/[^/]+/begingetaccess"): (202, {ASYNC, LOCATION}, None),
    ("DELETE", "/resourcegroups/[^/]+"): (202, {LOCATION}, None),
}
OPERATION = "/(operations|DiskOperations|operationStatuses|asyncoperations|operationresults)/"
# What Azure tells although az 2.91 does not know it, or knows it otherwise.
KNOWN = (
    # as people query it: MicrosoftDocs/azure-docs#60237, 2020-08
    r"zoneDetails\.\d+\.Name: ",
    r"keys\.\d+\.permissions: 'FULL'",  # storage: test_renew_account_key, 2022-08
    r"\.sku\.tier: az does not know it",  # network: test_natgateway_basic, 2025-04
    r"osDiskImage\.sizeInBytes: ",  # vm: test_vm_disk_attach_detach, 2026-02
    r"hardwareProfile\.vmSize: '",  # of the sizes since 2018 the library's list has none; any is allowed
    # a value of az's own `vm create`, which the library of 2025 has not
    r"securityProfile\.securityType: 'Standard'",
)


class ModelCheck:
    """azure-cli's own interpreter, which holds answers against what az takes them for (`model_check`)."""

    def __init__(self, az_path: Path) -> None:
        self._az_path = az_path
        self._process: subprocess.Popen[str] | None = None
        self._seen: set[str] = set()

    def differences(self, answers: Iterable[Logged]) -> list[str]:
        """Where answers differ from what is recorded, and from what az takes them for; each kind once."""
        return [text for answer in answers if _is_told(answer) for text in self._of(answer)]

    def _of(self, answer: Logged) -> Iterator[str]:
        version, body = answer.query.get("api-version", ""), json.loads(answer.said)
        asked = {"method": answer.method, "path": answer.path, "version": version, "body": body}
        kind = re.sub(r"[0-9a-f-]{8,}|\d+", "0", json.dumps(asked))
        if kind in self._seen:
            return
        self._seen.add(kind)
        for text in [*unlike(answer.path, body), *self.ask(asked)]:
            if not any(re.search(known, text) for known in KNOWN):
                yield f"{answer.command}: {answer.method} {answer.path}: {text}"

    def ask(self, asked: dict[str, Any]) -> list[str]:
        """What az's own schema and library say of one answer."""
        if self._process is None:
            command = [
                self._az_path.resolve().with_name("python"),
                "-I",
                Path(__file__).with_name("model_check.py"),
            ]
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            self._process = subprocess.Popen([*map(str, command)], **pipes)  # type: ignore[call-overload]
        assert self._process and self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return list(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        if self._process:
            self._process.communicate("")


def _is_told(answer: Logged) -> bool:
    """Whether an answer tells az anything; of an operation there is no model."""
    is_of_operation = re.search(OPERATION, answer.path) is not None
    is_empty = answer.status >= 300 or answer.said == "null"
    return bool(answer.command) and not is_empty and not is_of_operation


def unlike(path: str, body: Any) -> Iterator[str]:
    """What an answer about one thing does not tell, or spells otherwise."""
    found = next((fact for of, fact in ALWAYS.items() if re.search(f"{of}$", path.lower())), None)
    if not found or not isinstance(body, dict) or "value" in body:
        return
    kind, keys = found
    if body.get("type") != kind:
        yield f".type: {body.get('type')!r}, where Azure writes {kind!r}"
    for key in keys:
        value: Any = body
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value is None:
            yield f".{key}: is missing"
