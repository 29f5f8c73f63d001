"""Storage accounts: the resource, and its blobs, which VMs put and az reads."""

import base64
import re
from email.utils import formatdate
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

from .faults import PAGE
from .identity import PRINCIPAL, TENANT
from .operations import now
from .routing import GROUP, Answer, ArmError, Json, Request, route

if TYPE_CHECKING:
    from .arm import Arm

ACCOUNT = GROUP + "/providers/Microsoft.Storage/storageAccounts/{name}"
KEY = base64.b64encode(b"the key of every account here, as long as one has to be, 64 byte").decode()
# test_create_storage_account, 2022: what Azure adds.
ADDED: Json = {
    "privateEndpointConnections": [],
    "networkAcls": {
        "bypass": "AzureServices",
        "virtualNetworkRules": [],
        "ipRules": [],
        "defaultAction": "Allow",
    },
    "accessTier": "Hot",
    "statusOfPrimary": "available",
}
NO_KEYS = "KeyBasedAuthenticationNotPermitted"


@route("PUT", ACCOUNT)
def put_account(arm: "Arm", request: Request, group: str, name: str) -> Answer:
    is_new = arm.find(request.path) is None
    made = arm.put(request.path, request.body)
    made["sku"] = made["sku"] | {"tier": "Standard"}
    made["tags"] = made.get("tags") or {}
    made["properties"] |= {**ADDED, "creationTime": now(), "primaryLocation": made["location"]}
    made["properties"]["primaryEndpoints"] = {"blob": f"{arm.base}/{name}/"}
    arm.blobs.setdefault(name, {})
    if not is_new:
        return Answer(made)
    return Answer(None, 202, operation=arm.start(lambda: made))  # of a new one, nothing until it is there


@route("DELETE", ACCOUNT)
def delete_account(arm: "Arm", request: Request, group: str, name: str) -> Answer:
    arm.blobs.pop(name, None)
    found = arm.resources.pop(request.path.lower(), None)
    return Answer(None, 200 if found else 204)


@route("GET", ACCOUNT)
def show_account(arm: "Arm", request: Request, group: str, name: str) -> Answer:
    return Answer(arm.get(request.path))


@route("POST", ACCOUNT + "/listKeys")
def list_keys(arm: "Arm", request: Request, group: str, name: str) -> Answer:
    account = arm.get(request.path.rpartition("/")[0])
    if account["properties"].get("allowSharedKeyAccess") is False:
        raise ArmError(NO_KEYS, "Key based authentication is not permitted on this storage account.", 403)
    made = account["properties"]["creationTime"]
    told = {"creationTime": made, "value": KEY, "permissions": "FULL"}
    return Answer({"keys": [{**told, "keyName": name} for name in ("key1", "key2")]})


@route("POST", "/subscriptions/{subscription}/providers/Microsoft.Storage/checkNameAvailability")
def name_is_free(arm: "Arm", request: Request) -> Answer:
    return Answer({"nameAvailable": True})


Raw = tuple[int, dict[str, str], bytes]


def is_blob(arm: "Arm", target: str) -> bool:
    """Whether an address is one of an account."""
    return _account(target) in arm.blobs or _is_of_disk(target)


def _is_of_disk(target: str) -> bool:
    return _account(target).startswith("md-")


def _account(target: str) -> str:
    return unquote(urlsplit(target).path).lstrip("/").partition("/")[0]


def blob_answer(arm: "Arm", method: str, target: str, headers: Json, body: bytes) -> Raw:
    """What an account's own address answers."""
    parts = urlsplit(target)
    account, _, rest = unquote(parts.path).lstrip("/").partition("/")
    if fault := _struck(arm, method, parts.path):
        return fault
    if _is_of_disk(target):
        return _disk_answer(arm, account, method, parts.query, headers)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    if refusal := _refused(arm, account, headers):
        return 403, {"x-ms-error-code": refusal, "Content-Type": "application/xml"}, _fault(refusal)
    if query.get("comp") == "userdelegationkey":
        return 200, {"Content-Type": "application/xml"}, _delegation_key(body)
    if not any(account == key.rpartition("/")[2] for key in arm.resources):
        return 404, {"x-ms-error-code": "ResourceNotFound"}, b""
    blobs, (container, _, name) = arm.blobs[account], rest.partition("/")
    if query.get("restype") == "container":
        if method == "GET":
            return 200, {"Content-Type": "application/xml"}, _listed(blobs, arm.base, account, container)
        return 201, {"Last-Modified": formatdate(usegmt=True), "ETag": '"1"'}, b""
    if method == "PUT":
        return _put(blobs, name, query, body)
    if name not in blobs:
        return 404, {"x-ms-error-code": "BlobNotFound"}, b""
    return _got(blobs[name], headers)


def _struck(arm: "Arm", method: str, path: str) -> Raw | None:
    """What goes wrong on purpose: an error of the storage service, or a page in its place."""
    if page := arm.faults.strike("page", method, path):
        return page.limit, {"Content-Type": "text/html"}, PAGE.encode()
    refusal = arm.faults.strike("refuse", method, path)
    if refusal is None or refusal.error is None:
        return None
    code, status = refusal.error.error["code"], refusal.error.status
    return status, {"x-ms-error-code": code, "Content-Type": "application/xml"}, _fault(code)


def _refused(arm: "Arm", account: str, headers: Json) -> str:
    """Why somebody may not: keys that are forbidden, or a user without a role for blobs."""
    who = headers.get("Authorization") or ""
    found = next(
        (one for key, one in arm.resources.items() if key.endswith(f"/storageaccounts/{account}")), {}
    )
    keyless = found.get("properties", {}).get("allowSharedKeyAccess") is False
    if who.startswith("SharedKey") and keyless:
        return NO_KEYS
    return "AuthorizationPermissionMismatch" if who.startswith("Bearer") and not arm.blob_role else ""


def _fault(code: str) -> bytes:
    told = f"<Error><Code>{code}</Code><Message>No.</Message></Error>"
    return f'<?xml version="1.0" encoding="utf-8"?>{told}'.encode()


def _delegation_key(body: bytes) -> bytes:
    """A key with which a user signs, for the time that was asked for."""
    expiry = re.search(rb"<Expiry>([^<]*)</Expiry>", body)
    told = {
        "SignedOid": PRINCIPAL,
        "SignedTid": TENANT,
        "SignedStart": "2026-01-01T00:00:00Z",
        "SignedExpiry": expiry[1].decode() if expiry else "",
        "SignedService": "b",
        "SignedVersion": "2023-11-03",
        "Value": KEY,
    }
    inner = "".join(f"<{name}>{value}</{name}>" for name, value in told.items())
    return f'<?xml version="1.0" encoding="utf-8"?><UserDelegationKey>{inner}</UserDelegationKey>'.encode()


def _put(blobs: dict[str, bytes], name: str, query: dict[str, str], body: bytes) -> Raw:
    """Only with a signature that lets add and create, and only what is not there yet."""
    if query.get("sp") != "ac" or query.get("spr") != "https" or not query.get("sig"):
        return 403, {"x-ms-error-code": "AuthorizationPermissionMismatch"}, b""
    if name in blobs:
        return 403, {"x-ms-error-code": "UnauthorizedBlobOverwrite"}, b""
    blobs[name] = body
    return 201, {"ETag": '"1"', "Last-Modified": formatdate(usegmt=True)}, b""


def _disk_answer(arm: "Arm", account: str, method: str, query: str, headers: Json) -> Raw:
    """A range of a disk, which is a page blob, for whom Azure gave its address; and which pages have data."""
    asked = {name: values[0] for name, values in parse_qs(query).items()}
    signature, image = arm.readable.get(account, ("", None))
    if image is None or any(asked.get(name) != values[0] for name, values in parse_qs(signature).items()):
        return 403, {"x-ms-error-code": "AuthenticationFailed"}, _fault("AuthenticationFailed")
    size = image.stat().st_size
    wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", headers.get("x-ms-range") or headers.get("Range") or "")
    told = {"ETag": '"1"', "Last-Modified": formatdate(usegmt=True), "x-ms-blob-type": "PageBlob"}
    if asked.get("comp") == "pagelist":
        every = f"<PageList><PageRange><Start>0</Start><End>{size - 1}</End></PageRange></PageList>"
        told |= {"Content-Type": "application/xml", "x-ms-blob-content-length": str(size)}
        return 200, told, f'<?xml version="1.0" encoding="utf-8"?>{every}'.encode()
    if method != "GET" or not wanted:
        return 501, told, b"the fake Azure gives ranges of disks alone"
    with image.open("rb") as file:
        file.seek(int(wanted[1]))
        piece = file.read(int(wanted[2]) + 1 - int(wanted[1]))
    span = f"bytes {wanted[1]}-{int(wanted[1]) + len(piece) - 1}/{size}"
    return 206, {**told, "Content-Type": "application/octet-stream", "Content-Range": span}, piece


def _got(data: bytes, headers: Json) -> Raw:
    told = {"ETag": '"1"', "Last-Modified": formatdate(usegmt=True), "x-ms-blob-type": "BlockBlob"}
    told["Content-Type"] = "application/octet-stream"
    wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", headers.get("x-ms-range") or headers.get("Range") or "")
    if not wanted:
        return 200, told, data
    start = int(wanted[1])
    piece = data[start : int(wanted[2]) + 1 if wanted[2] else None]
    told["Content-Range"] = f"bytes {start}-{start + len(piece) - 1}/{len(data)}"
    return 206, told, piece


def _listed(blobs: dict[str, bytes], base: str, account: str, container: str) -> bytes:
    found = "".join(
        f"<Blob><Name>{escape(name)}</Name><Properties><Last-Modified>{formatdate(usegmt=True)}</Last-Modified>"
        f"<Etag>1</Etag><Content-Length>{len(data)}</Content-Length><BlobType>BlockBlob</BlobType>"
        "</Properties></Blob>"
        for name, data in sorted(blobs.items())
    )
    return (
        f'<?xml version="1.0" encoding="utf-8"?><EnumerationResults ServiceEndpoint="{base}/{account}" '
        f'ContainerName="{container}"><Blobs>{found}</Blobs><NextMarker/></EnumerationResults>'
    ).encode()
