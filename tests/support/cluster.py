"""A small API server of Kubernetes on this machine, which the real kubectl asks: a stand-in for a cluster.

It has the objects that a test gives it, in one namespace, and runs what ``kubectl exec`` asks for here, with
a home of its own. Source: Kubernetes API reference 1.32; the streams of exec, by WebSocket, are those of
k8s.io/apimachinery pkg/util/remotecommand, protocol v5.channel.k8s.io.
"""

import base64
import hashlib
import json
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Any
from urllib.parse import parse_qs, urlsplit

import pytest

STDIN, STDOUT, STDERR, STATUS, CLOSE = 0, 1, 2, 3, 255  # channels: the first byte of a message
_MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # source: RFC 6455, section 1.3
KINDS = {  # names in paths
    "pods": ("Pod", True),
    "persistentvolumeclaims": ("PersistentVolumeClaim", True),
    "persistentvolumes": ("PersistentVolume", False),
    "nodes": ("Node", False),
    "storageclasses": ("StorageClass", False),
    "volumeattributesclasses": ("VolumeAttributesClass", False),
}
SHORT = {"pods": "po", "persistentvolumeclaims": "pvc", "persistentvolumes": "pv", "nodes": "no"}
SHORT |= {"storageclasses": "sc", "volumeattributesclasses": "vac"}


class Cluster(ThreadingHTTPServer):
    """`objects` by kind and name; a number in the place of one is the status that is answered."""

    def __init__(self, objects: Mapping[tuple[str, str], Any], home: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects, self.home = dict(objects), home
        self.asked: list[str] = []  # paths of objects

    @property
    def kubectl(self) -> tuple[str, ...]:
        """The words before a verb."""
        cache = str(self.home.parent / "cache")
        server = f"http://127.0.0.1:{self.server_address[1]}"
        return ("kubectl", "--server", server, "--cache-dir", cache, "-n", "lab")


@contextmanager
def cluster(objects: Mapping[tuple[str, str], Any], folder: Path) -> Iterator[Cluster]:
    """A cluster that runs; kubectl keeps what it caches in the folder."""
    if shutil.which("kubectl") is None:
        pytest.skip("no kubectl is installed")
    (folder / "home").mkdir(parents=True)
    service = Cluster(objects, folder / "home")
    thread = Thread(target=service.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        service.shutdown()
        service.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Cluster
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        """Say nothing on stderr."""

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        parts = url.path.strip("/").split("/")
        if parts[-1] == "exec":
            return self._exec(parse_qs(url.query))
        core, group = parts[0] == "api", parts[1:2] == ["storage.k8s.io"]
        rest = parts[2:] if core else parts[3:]
        if parts == ["api"]:
            return self._send(200, {"kind": "APIVersions", "versions": ["v1"]})
        if parts == ["apis"]:
            version = {"groupVersion": "storage.k8s.io/v1", "version": "v1"}
            one = {"name": "storage.k8s.io", "versions": [version], "preferredVersion": version}
            return self._send(200, {"kind": "APIGroupList", "apiVersion": "v1", "groups": [one]})
        if not rest and (core or group):
            return self._send(200, self._resources(core))
        if len(rest) > 1 and rest[-2] in KINDS:
            return self._object(*rest[-2:])
        return self._send(404, {})

    @staticmethod
    def _resources(core: bool) -> Any:
        listed = [
            {"name": name, "kind": kind, "namespaced": inside, "shortNames": [SHORT[name]], "verbs": ["get"]}
            | {"singularName": kind.lower()}
            for name, (kind, inside) in KINDS.items()
            if core != name.endswith("classes")
        ]
        version = "v1" if core else "storage.k8s.io/v1"
        return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": listed}

    def _object(self, plural: str, name: str) -> None:
        kind, _ = KINDS[plural]
        self.server.asked.append(self.path)
        found = self.server.objects.get((kind, name), 404)
        if isinstance(found, bytes):
            return self._send(200, found)
        if not isinstance(found, int):
            return self._send(200, found)
        reason = {403: "Forbidden", 404: "NotFound"}[found]
        said = f'{plural} "{name}" is not for jane@example.org'
        status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": said}
        return self._send(found, status | {"reason": reason, "code": found})

    def _send(self, status: int, content: Any) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body)

    def _exec(self, query: Mapping[str, list[str]]) -> None:
        key = f"{self.headers['Sec-WebSocket-Key']}{_MAGIC}".encode()
        accept = base64.b64encode(hashlib.sha1(key, usedforsecurity=False).digest())
        self.send_response(101)
        for name, value in (
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Accept", accept.decode()),
            ("Sec-WebSocket-Protocol", "v5.channel.k8s.io"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.flush()
        self.close_connection = True
        pipe = subprocess.PIPE
        env = {**os.environ, "HOME": str(self.server.home)}
        lock = Lock()

        def hand_on(channel: int, stream: IO[bytes]) -> None:
            while piece := stream.read1(65536):  # type: ignore[attr-defined]
                self._tell(lock, channel, piece)

        with subprocess.Popen(query["command"], stdin=pipe, stdout=pipe, stderr=pipe, env=env) as process:
            assert process.stdin and process.stdout and process.stderr
            Thread(target=self._hear, args=(process.stdin,), daemon=True).start()
            streams = ((STDOUT, process.stdout), (STDERR, process.stderr))
            pumps = [Thread(target=hand_on, args=one) for one in streams]
            for pump in pumps:
                pump.start()
            for pump in pumps:
                pump.join()
            status = process.wait()
        said: dict[str, Any] = {"metadata": {}, "status": "Success"}
        if status:
            cause = {"reason": "ExitCode", "message": str(status)}
            said = {"status": "Failure", "reason": "NonZeroExitCode", "details": {"causes": [cause]}}
        self._tell(lock, STATUS, json.dumps(said).encode())
        with suppress(OSError):
            self.wfile.write(b"\x88\x02\x03\xe8")  # closed, as it should be

    def _tell(self, lock: Any, channel: int, piece: bytes) -> None:
        """A binary message."""
        message = bytes([channel]) + piece
        with lock, suppress(OSError):
            self.wfile.write(b"\x82\x7f" + struct.pack(">Q", len(message)) + message)
            self.wfile.flush()

    def _hear(self, stdin: IO[bytes]) -> None:
        """Hand on what comes for the command, until that is all."""
        with suppress(OSError, struct.error, ValueError), stdin:
            while True:
                kind, length = self.rfile.read(2)
                length &= 127
                if length > 125:
                    form = ">H" if length == 126 else ">Q"
                    (length,) = struct.unpack(form, self.rfile.read(struct.calcsize(form)))
                mask, data = self.rfile.read(4), self.rfile.read(length)
                plain = bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
                if kind & 15 == 8 or plain[:1] == bytes([CLOSE]):
                    return
                if kind & 15 == 2 and plain[:1] == bytes([STDIN]):
                    stdin.write(plain[1:])
                    stdin.flush()
