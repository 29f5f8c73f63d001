"""Ask Azure's instance metadata service what this VM is."""

import http.client
import time
from urllib.parse import urlsplit

from azbenchlib.azure.documents import ImdsCompute
from azbenchlib.core.documents import decoded
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MIB

IMDS_VARIABLE = "AZBENCH_IMDS"  # names another metadata service, to be asked on any machine

# Address, path, header, the fields and the statuses that pass: MicrosoftDocs/azure-compute-docs
# articles/virtual-machines/instance-metadata-service.md@1dc6d3b8, which lists versions up to 2025-04-07. The
# throttles of disks are told since version 2021-05-01; older versions stay.
ADDRESS = "http://169.254.169.254"
QUESTION = "/metadata/instance/compute?api-version=2021-12-13"
PASSING = (410, 429, 500)
_TIMEOUT_S = 1.0
_LARGEST_ANSWER = MIB
PAUSES_S = (1.0, 2.0)  # before it is asked again; five requests a second are allowed


def metadata(address: str) -> ImdsCompute | None:
    """Return what a service tells of this VM; None where nothing answers in time.

    Raises an InputError when the address is none, or what answers is not the metadata service of a VM.
    """
    host, port = _place(address)
    try:
        for pause_s in (*PAUSES_S, None):
            status, body = _ask(host, port)
            if status not in PASSING or pause_s is None:
                break
            time.sleep(pause_s)
    except (OSError, http.client.HTTPException):
        return None
    if status != http.HTTPStatus.OK:
        raise InputError(f"{address}: the metadata service answered {status}, not 200; try again later")
    return described(body, address)


def described(body: bytes, address: str) -> ImdsCompute:
    """Return what an answer tells.

    Raises an InputError when it is not that of the metadata service of a VM.
    """
    try:
        told = decoded(body)
    except ValueError:
        told = None
    compute = ImdsCompute.parse(
        told if isinstance(told, dict) else {}, f"{address}: what it tells of this VM"
    )
    if not compute.size:
        raise InputError(f"{address}: answered without a vmSize, so it is not the metadata service of a VM")
    return compute


def _place(address: str) -> tuple[str, int]:
    parts = urlsplit(address)
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if parts.scheme != "http" or not host:
        raise InputError(f"{IMDS_VARIABLE} '{address}': must be an address such as {ADDRESS}")
    return host, port or http.client.HTTP_PORT


def _ask(host: str, port: int) -> tuple[int, bytes]:
    """Status and body. http.client knows no proxies and follows no redirects, as the service demands."""
    connection = http.client.HTTPConnection(host, port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", QUESTION, headers={"Metadata": "true"})
        answer = connection.getresponse()
        return answer.status, answer.read(_LARGEST_ANSWER)
    finally:
        connection.close()
