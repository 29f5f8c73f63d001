"""The real az from a process that has loaded it already: each call is a fork, so it is loaded only once.

Run by az's own Python with a folder; needs only the standard library and az. What a call had to load is
loaded here before the next one. The folder has the program ``az``, which hands its arguments, environment,
current folder and streams over; where that cannot be, it starts az as it is.
"""

import gc
import importlib
import json
import os
import runpy
import signal
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path

CLIENT = """#!{python} -IS
import json, os, socket, sys
if os.environ.get("AZURE_CONFIG_DIR") == {config!r}:
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.connect({address!r})
        except OSError:
            os.execv({az!r}, ["az", *sys.argv[1:]])
        said = json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]).encode() + b"\\n"
        socket.send_fds(server, [said[:1]], [0, 1, 2])
        server.sendall(said[1:])
        code = server.recv(16)
    sys.exit(int(code or 1))
os.execv({az!r}, ["az", *sys.argv[1:]])
"""
NEVER = ("azure.cli.__main__",)  # what is run, not loaded


def carry_out(connection: socket.socket, folder: Path) -> None:
    """One call, in a process of its own."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    first, streams, *_ = socket.recv_fds(connection, 1, 3)
    with connection.makefile("rb") as told:
        arguments, environment, here = json.loads(first + told.readline())
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(here)
    threading.Thread(target=lambda: connection.recv(1) or os._exit(1), daemon=True).start()
    code, sys.argv, before = 0, ["az", *arguments], {*sys.modules}
    try:
        runpy.run_module("azure.cli", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(bool(ended.code))
    sys.stdout.flush()
    sys.stderr.flush()
    loaded = [name for name in sys.modules if name not in before and name not in NEVER]
    part = folder / f"{os.getpid()}.part"
    part.write_text(json.dumps(loaded))
    part.rename(part.with_suffix(".json"))
    connection.sendall(str(code).encode())
    os._exit(0)


def learn(folder: Path) -> None:
    """Load what earlier calls had to load."""
    for file in folder.glob("*.json"):
        for name in json.loads(file.read_text()):
            with suppress(Exception):
                importlib.import_module(name)
        file.unlink()
        gc.freeze()  # or each fork goes through all of it again, and copies it


def main(folder: Path, az: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "socket"))
    listener.listen(16)
    given = {"python": sys.executable, "config": os.environ["AZURE_CONFIG_DIR"], "az": az}
    client = folder / "az"
    client.with_suffix(".part").write_text(CLIENT.format(address=str(folder / "socket"), **given))
    client.with_suffix(".part").chmod(0o755)
    importlib.import_module("azure.cli.core")
    client.with_suffix(".part").rename(client)
    parent = os.getppid()
    listener.settimeout(1)
    while os.getppid() == parent:
        with suppress(TimeoutError):
            connection, _ = listener.accept()
            learn(folder)
            if os.fork() == 0:
                listener.close()
                carry_out(connection, folder)
            connection.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
