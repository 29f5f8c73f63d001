"""The resource manager's face: HTTPS on loopback."""

import json
import socket
import ssl
import threading
import uuid
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import trustme

from .arm import Arm
from .network import pass_on
from .rights import TOKEN
from .routing import Request
from .storage import blob_answer, is_blob
from .vm import Network


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    arm: Arm

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        is_json = "json" in (self.headers.get("Content-Type") or "")
        if is_blob(self.arm, self.path):
            self._answer_blob(raw)
            return
        request = Request(
            self.command,
            unquote(parts.path).replace("//", "/"),
            dict(parse_qsl(parts.query)),
            json.loads(raw) if raw and is_json else None,
            self.headers.get("CommandName") or "",
            caller if (caller := self.headers.get("Authorization") or "").startswith(TOKEN) else "",
        )
        if self.arm.faults.strike("away", request.method, request.path, request.command):
            self.close_connection = True
            return
        answer = self.arm.answer(request)
        if self.arm.faults.strike("lose", request.method, request.path, request.command):
            self.close_connection = True
            return
        page = isinstance(answer.body, str)
        empty = answer.body is None or answer.status == 204 or self.command == "HEAD"
        content = b"" if empty else (answer.body if page else json.dumps(answer.body)).encode()
        if self.arm.faults.strike("broken", request.method, request.path, request.command):
            content = content[: len(content) // 2]
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{'text/html' if page else 'application/json'}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("x-ms-request-id", str(uuid.uuid4()))
        self.end_headers()
        self.wfile.write(content)

    def _answer_blob(self, raw: bytes) -> None:
        faults, path = self.arm.faults, urlsplit(self.path).path
        if faults.strike("away", self.command, path):
            self.close_connection = True
            return
        status, headers, content = blob_answer(self.arm, self.command, self.path, dict(self.headers), raw)
        if faults.strike("lose", self.command, path):
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("x-ms-request-id", str(uuid.uuid4()))
        self.send_header("x-ms-version", "2023-11-03")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_POST = do_DELETE = _handle  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Keep quiet: `Arm.log` has it all."""


class _Gate:
    """A socket in the file system that leads to the server: VMs have networks of their own."""

    def __init__(self, path: Path, port: int) -> None:
        self._port, self._socket = port, socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                inside, _ = self._socket.accept()
                threading.Thread(target=self._serve, args=(inside,), daemon=True).start()

    def _serve(self, inside: socket.socket) -> None:
        with inside, socket.create_connection(("127.0.0.1", self._port)) as outside:
            back = threading.Thread(target=pass_on, args=(outside, inside), daemon=True)
            back.start()
            pass_on(inside, outside)
            back.join()

    def close(self) -> None:
        self._socket.close()


class Server:
    """Serves a new `Arm`, from `with` to its end."""

    def __init__(self, folder: Path) -> None:
        authority = trustme.CA()
        self.certificate = folder / "ca.pem"
        authority.cert_pem.write_to_path(str(self.certificate))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("localhost", "127.0.0.1").configure_cert(context)
        images = folder / "images"
        images.mkdir()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self.base = f"https://localhost:{self._server.server_address[1]}"
        self.arm = Arm(self.base, images)
        port = self._server.server_address[1]
        self.arm.network = Network(images.parent.name, port, str(self.certificate))
        self._gate = _Gate(images / "network", port)
        self._server.RequestHandlerClass = type("Handler", (_Handler,), {"arm": self.arm})
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)

    def __enter__(self) -> "Server":
        threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        ).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self.arm.reset()
        self._gate.close()
