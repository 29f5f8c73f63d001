"""One connection to a host, by the OpenSSH client: scripts go in, what they print comes back.

A master connection on a private socket carries all of them. It is made anew where it broke, and nobody is
ever asked for a password: a key, or an agent, lets us in.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from azbenchlib.core.errors import AzbenchError, InputError, MissingToolError
from azbenchlib.core.targets import SshAddress

CONFIG = "AZBENCH_SSH_CONFIG"  # a configuration file of ssh in the place of one's own
PATIENCE_S = 600.0  # how long a host may be away before a campaign is given up
CONNECT_S, ALIVE_S, ALIVE_TRIES = 15, 5, 3
PERSIST_S = 60  # how long the master outlives the last script, also when we were killed
_FAILED = 255  # of ssh itself. Source: ssh(1), EXIT STATUS
_LONGEST_PAUSE_S = 15.0
# What ssh says, and what that means in words; a host that says so is not asked again.
_REFUSALS = {
    "REMOTE HOST IDENTIFICATION HAS CHANGED": (
        "its host key is another one than the one that is known: either the host was set up anew, or "
        "somebody stands in between. Ask whoever runs it; if the new key is right, remove the old one with "
        "`ssh-keygen -R` and log in once with ssh"
    ),
    "Host key verification failed": (
        "its host key is not known yet: log in once with ssh, and compare the fingerprint that it shows"
    ),
    "Permission denied": (
        "it lets nobody in with the keys that ssh has here, and azbench never asks for a password; put a key "
        "there with `ssh-copy-id`"
    ),
    "Could not resolve hostname": "nobody knows a host of this name",
    "Bad configuration option": "ssh's configuration file is at fault",
}


@dataclass(kw_only=True)
class SshConnection:
    """Scripts on one host.

    `tell`: is told that the connection broke.
    """

    address: SshAddress
    tell: Callable[[str], None]
    patience_s: float = PATIENCE_S
    _folder: Path | None = field(default=None, init=False)
    _been_there: bool = field(default=False, init=False)

    def ask(self, script: str, patience_s: float | None = None) -> bytes:
        """Have a script run by ``sh`` on the host: what it prints.

        It may be run twice, when a connection breaks.

        Raises an InputError when the host is not known, its key is not the known one, or it does not let us
        in; an AzbenchError when it cannot be reached, or the script fails.
        """
        deadline = time.monotonic() + (self.patience_s if patience_s is None else patience_s)
        pause, told = 0.5, False
        while True:
            answer = self._run([*self._command(), "sh", "-s"], script.encode())
            said = answer.stderr.decode(errors="replace").strip()
            if answer.returncode != _FAILED:
                break
            self._check_refusal(said)
            if not self._been_there or time.monotonic() > deadline:
                last = said.splitlines()[-1].strip() if said else "the connection broke"
                raise AzbenchError(f"{self.address}: cannot be reached by ssh: {last}")
            if not told:
                self.tell(
                    f"{self.address}: the connection broke; what runs there goes on; connecting again …"
                )
                told = True
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        self._been_there = True
        if answer.returncode:
            last = said.splitlines()[-1].strip() if said else f"status {answer.returncode}"
            raise AzbenchError(f"{self.address}: {last}")
        return answer.stdout

    def bring(self, remote: str, local: Path) -> None:
        """Have a socket of the host here, for as long as the master connection lasts.

        Raises an AzbenchError when ssh does not do so, such as where the host forbids it.
        """
        self._run(self._command("-O", "cancel", "-L", f"{local}:{remote}"), b"")
        local.unlink(missing_ok=True)
        answer = self._run(self._command("-O", "forward", "-L", f"{local}:{remote}"), b"")
        if answer.returncode:
            said = answer.stderr.decode(errors="replace").strip()
            raise AzbenchError(f"{self.address}: a socket cannot be forwarded by ssh: {said}")

    def close(self) -> None:
        """End the master connection."""
        if self._folder:
            self._run([*self._command("-O", "exit")], b"")
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _command(self, *more: str) -> list[str]:
        ssh = shutil.which("ssh")
        if ssh is None:
            raise MissingToolError("a host is reached with the OpenSSH client; `apt install openssh-client`")
        if self._folder is None:  # only this user may enter it; short, for sockets have short names
            self._folder = Path(tempfile.mkdtemp(prefix="azbench-ssh-"))
        settings = {
            "BatchMode": "yes",
            "ControlMaster": "auto",
            "ControlPath": str(self._folder / "master"),
            "ControlPersist": str(PERSIST_S),
            "ConnectTimeout": str(CONNECT_S),
            "ServerAliveInterval": str(ALIVE_S),
            "ServerAliveCountMax": str(ALIVE_TRIES),
            "StreamLocalBindUnlink": "yes",
            "ForwardAgent": "no",
            "ForwardX11": "no",
            "RequestTTY": "no",
        }
        config = os.environ.get(CONFIG)
        return [
            ssh,
            *(["-F", config] if config else []),
            *(word for key, value in settings.items() for word in ("-o", f"{key}={value}")),
            *(["-p", str(self.address.port)] if self.address.port else []),
            *(["-l", self.address.user] if self.address.user else []),
            *more,
            "--",
            self.address.host,
        ]

    def _run(self, argv: list[str], given: bytes) -> "subprocess.CompletedProcess[bytes]":
        # in a process group of its own: Ctrl-C in the terminal is for us to deal with
        return subprocess.run(argv, input=given, capture_output=True, check=False, process_group=0)  # noqa: S603

    def _check_refusal(self, said: str) -> None:
        for words, meaning in _REFUSALS.items():
            if words in said:
                raise InputError(f"{self.address}: {meaning}")
