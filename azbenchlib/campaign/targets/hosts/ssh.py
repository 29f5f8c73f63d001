"""A host that the OpenSSH client reaches.

A master connection on a private socket carries all scripts. It is made anew where it broke, and nobody is
ever asked for a password: a key, or an agent, lets us in.
"""

import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from azbenchlib.campaign.targets.hosts.transport import Transport, run
from azbenchlib.core.errors import AzbenchError, InputError, MissingToolError
from azbenchlib.core.targets import SshAddress

CONFIG = "AZBENCH_SSH_CONFIG"  # a configuration file of ssh in the place of one's own
CONNECT_S, ALIVE_S, ALIVE_TRIES = 15, 5, 3
PERSIST_S = 60  # how long the master outlives the last script, also when we were killed
_MASTER_S = 60.0  # that a word to the master may take: it is on this machine
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
class SshTransport(Transport):
    """The way to a host by ssh."""

    address: SshAddress
    _folder: Path | None = field(default=None, init=False)

    def command(self, *more: str) -> list[str]:
        """A call of ssh that reaches the host through the master connection; `more`: options."""
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

    def check_refusal(self, said: str) -> None:
        """Refuse a host whose key is not the known one, that lets us not in, or that nobody knows."""
        for words, meaning in _REFUSALS.items():
            if words in said:
                raise InputError(f"{self.address}: {meaning}")

    def bring(self, remote: str, local: Path) -> None:
        """Have a socket of the host here, for as long as the master connection lasts.

        Raises an AzbenchError when ssh does not do so, such as where the host forbids it.
        """
        run(self.command("-O", "cancel", "-L", f"{local}:{remote}"), b"", _MASTER_S)
        local.unlink(missing_ok=True)
        answer = run(self.command("-O", "forward", "-L", f"{local}:{remote}"), b"", _MASTER_S)
        if answer.returncode:
            said = answer.stderr.decode(errors="replace").strip()
            raise AzbenchError(f"{self.address}: a socket cannot be forwarded by ssh: {said}")

    def close(self) -> None:
        """End the master connection."""
        if self._folder:
            run(self.command("-O", "exit"), b"", _MASTER_S)
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
