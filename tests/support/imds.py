"""A local instance metadata service: it answers, and refuses, as Azure's is documented to.

Source: MicrosoftDocs/azure-compute-docs articles/virtual-machines/instance-metadata-service.md@1dc6d3b8.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

VERSIONS = ["2025-04-07", "2024-07-17", "2024-03-15", "2023-11-15", "2021-12-13", "2021-02-01", "2019-06-01"]
PER_SECOND = 5
# Fields of a data disk and the version that brought them.
SINCE_2021_05_01 = (
    "bytesPerSecondThrottle",
    "diskCapacityBytes",
    "isSharedDisk",
    "isUltraDisk",
    "opsPerSecondThrottle",
)

# What must not leave detection: every one of these has this in it.
PRIVATE = "do-not-tell"
GROUP_ID = f"/subscriptions/{PRIVATE}/resourceGroups/{PRIVATE}-group/providers/Microsoft.Compute"


def managed(sku: str, gib: int, caching: str, **more: Any) -> dict[str, Any]:
    """What is told of an OS disk and of a data disk alike."""
    return {
        "caching": caching,
        "createOption": "Attach",
        "diskSizeGB": str(gib),
        "image": {"uri": ""},
        "managedDisk": {"id": f"{GROUP_ID}/disks/{PRIVATE}-disk", "storageAccountType": sku},
        "name": f"{PRIVATE}-disk",
        "vhd": {"uri": ""},
        "writeAcceleratorEnabled": "false",
        **more,
    }


def os_disk(sku: str, gib: int, caching: str, ephemeral: bool = False) -> dict[str, Any]:
    option = "Local" if ephemeral else ""
    return managed(sku, gib, caching, diffDiskSettings={"option": option}, osType="Linux")


def data_disk(lun: int, sku: str, gib: int, caching: str = "None", *, iops: str = "", rate: str = "") -> Any:
    """The throttles are told of Ultra Disks alone; of others they are empty."""
    ultra = sku == "UltraSSD_LRS"
    return managed(
        sku,
        gib,
        caching,
        lun=str(lun),
        opsPerSecondThrottle=iops,
        bytesPerSecondThrottle=rate,
        diskCapacityBytes=str(gib * 2**30) if ultra else "",
        isSharedDisk="false" if ultra else "",
        isUltraDisk="true" if ultra else "false",
    )


def compute(size: str, os: dict[str, Any], data: list[Any], resource: str = "0", zone: str = "1") -> Any:
    """What is told of a VM; every value is a text, and empty where there is none."""
    return {
        "azEnvironment": "AzurePublicCloud",
        "customData": "",
        "licenseType": "",
        "location": "northeurope",
        "name": f"{PRIVATE}-vm",
        "osProfile": {"adminUsername": f"{PRIVATE}-admin", "computerName": f"{PRIVATE}-vm"},
        "osType": "Linux",
        "publicKeys": [{"keyData": f"ssh-rsa {PRIVATE}", "path": f"/home/{PRIVATE}/.ssh/authorized_keys"}],
        "resourceGroupName": f"{PRIVATE}-group",
        "resourceId": f"{GROUP_ID}/virtualMachines/{PRIVATE}-vm",
        "storageProfile": {
            "dataDisks": data,
            "imageReference": {"id": "", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"},
            "osDisk": os,
            "resourceDisk": {"size": resource},
        },
        "subscriptionId": PRIVATE,
        "tags": f"owner:{PRIVATE}",
        "tagsList": [{"name": "owner", "value": PRIVATE}],
        "userData": PRIVATE,
        "vmId": PRIVATE,
        "vmScaleSetName": "",
        "vmSize": size,
        "zone": zone,
    }


class Service(ThreadingHTTPServer):
    """The service of one VM. `passing`: statuses that it answers first; `raw`: bytes in place of JSON."""

    def __init__(self, told: Any) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.document = {"compute": told, "network": {"interface": []}}
        self.passing: list[int] = []
        self.raw: bytes | None = None
        self.delay_s = 0.0
        self.asked: list[float] = []
        self.paths: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def serving(told: Any) -> Iterator[Service]:
    """A service that runs."""
    service = Service(told)
    thread = Thread(target=service.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.shutdown()
        service.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Service

    def log_message(self, *_: Any) -> None:
        """Say nothing on stderr."""

    def do_GET(self) -> None:
        service = self.server
        service.paths.append(self.path)
        now = time.monotonic()
        recent = [at for at in service.asked if now - at < 1]
        service.asked.append(now)
        time.sleep(service.delay_s)
        if len(recent) >= PER_SECOND:
            return self._send(429, {"error": "Too many requests"})
        if service.passing:
            status = service.passing.pop(0)
            where = {"Location": f"{service.address}/metadata/elsewhere"} if status == 302 else {}
            return self._send(status, {"error": "for now"}, where)
        if service.raw is not None:
            return self._send(200, service.raw)
        return self._send(*self._answer())

    def do_POST(self) -> None:
        self._send(405, {"error": "Method not allowed"})

    def _answer(self) -> tuple[int, Any]:
        url = urlsplit(self.path)
        query = parse_qs(url.query, keep_blank_values=True)
        if self.headers.get("Metadata", "").lower() != "true":
            return 400, {"error": "Bad request. Required metadata header not specified"}
        if "X-Forwarded-For" in self.headers or any(len(values) > 1 for values in query.values()):
            return 400, {"error": "Bad request"}
        parts = url.path.strip("/").split("/")
        if parts == ["metadata", "versions"]:
            return 200, {"apiVersions": sorted(VERSIONS)}
        version = query.get("api-version", [""])[0]
        if version not in VERSIONS:
            said = "api-version is invalid or was not specified in the request."
            more = "For more information refer to aka.ms/azureimds"
            return 400, {"error": f"Bad request. {said} {more}", "newest-versions": VERSIONS[:3]}
        if parts[:2] != ["metadata", "instance"]:
            return 404, {"error": "Not found"}
        return self._filtered(
            _as_of(self.server.document, version), parts[2:], query.get("format", ["json"])[0]
        )

    @staticmethod
    def _filtered(document: Any, route: list[str], form: str) -> tuple[int, Any]:
        """Route parameters walk down the document; a leaf is there as text only."""
        for key in route:
            try:
                document = document[int(key)] if isinstance(document, list) else document[key]
            except (KeyError, IndexError, ValueError, TypeError):
                return 404, {"error": "Not found"}
        if isinstance(document, str):
            return (200, document.encode()) if form == "text" else (400, {"error": "Bad request"})
        return 200, document

    def _send(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(data)
        except BrokenPipeError:
            self.close_connection = True  # the client has not waited


def _as_of(document: Any, version: str) -> Any:
    """The document without the fields that a version did not have yet."""
    told = json.loads(json.dumps(document))
    storage = told["compute"]["storageProfile"]
    if version < "2021-05-01":
        for disk in storage["dataDisks"]:
            for name in SINCE_2021_05_01:
                disk.pop(name, None)
    if version < "2021-02-01":
        storage.pop("resourceDisk")
    return told
