"""How scripts reach a host, by ssh or behind a command: they go in, and what they print comes back.

With ssh, a master connection on a private socket carries all scripts. It is made anew where it broke, and
nobody is ever asked for a password: a key, or an agent, lets us in.
"""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

from azbenchlib.core.errors import AzbenchError, InputError, MissingToolError
from azbenchlib.core.targets import CommandPrefix, HostAddress, SshAddress

PATIENCE_S = 600.0  # how long a host may be away before a campaign is given up
_LONGEST_S = 3600.0  # that a script may last: none reads or sends for so long, so what led there hangs
_LONGEST_PAUSE_S = 15.0
# A script ends by printing how it ended. Where that does not come, what came may be cut off: the connection
# broke, or nobody is there. All of it is read before any of it is run.
_SCRIPT = """{{
trap 'status=$?; printf "\\nazbench-end %s\\n" "$status"; exit 0' EXIT
{}
}}
"""
_END = re.compile(rb"\nazbench-end (\d+)\n\Z")


@dataclass(kw_only=True)
class Transport(ABC):
    """A way to one host; `tell` is told that the connection broke."""

    address: HostAddress
    tell: Callable[[str], None] = lambda text: None
    _been_there: bool = field(default=False, init=False)

    @abstractmethod
    def command(self) -> list[str]:
        """The words behind which a command is run on the host.

        Raises a MissingToolError when this machine has no program for it.
        """

    @abstractmethod
    def check_refusal(self, said: str) -> None:
        """Refuse a host that will not be reached by asking again, by what the program said that leads there.

        Raises an error that says so.
        """

    @abstractmethod
    def bring(self, remote: str, local: Path) -> None:
        """Have a socket of the host here, until :meth:`close`.

        Raises an AzbenchError when that cannot be done.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of what was held open."""

    def ask(self, script: str, patience_s: float = PATIENCE_S, longest_s: float = _LONGEST_S) -> bytes:
        """Have a script run by ``sh`` on the host: what it prints.

        It may be run twice, when a connection breaks. What lasts longer than `longest_s` counts as broken.

        Raises an InputError when the host is not known, its key is not the known one, or it does not let us
        in; a MissingToolError when it has no shell; an AzbenchError when it cannot be reached, or the script
        fails.
        """
        deadline = time.monotonic() + patience_s
        pause, told = 0.5, False
        while True:
            answer = run([*self.command(), "sh", "-s"], _SCRIPT.format(script).encode(), longest_s)
            said = answer.stderr.decode(errors="replace").strip()
            if end := _END.search(answer.stdout):
                break
            self.check_refusal(said)
            if not self._been_there or time.monotonic() > deadline:
                words = "; ".join(said.splitlines()[-3:]) or "the connection broke"
                raise AzbenchError(f"{self.address}: cannot be reached {self.address.way}: {words}")
            if not told:
                self.tell(
                    f"{self.address}: the connection broke; what runs there goes on; connecting again …"
                )
                told = True
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)
        self._been_there = True
        if int(end[1]):
            last = said.splitlines()[-1].strip() if said else f"status {int(end[1])}"
            raise AzbenchError(f"{self.address}: {last}")
        return answer.stdout[: end.start()]


def run(argv: Sequence[str], given: bytes, longest_s: float) -> "subprocess.CompletedProcess[bytes]":
    """Run a program that leads to a host; what lasts too long is ended, and said nothing."""
    try:
        # in a session of its own: Ctrl-C in the terminal is for us to deal with, and nobody is asked there
        return subprocess.run(  # noqa: S603
            argv, input=given, capture_output=True, check=False, start_new_session=True, timeout=longest_s
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(argv, -1, b"", b"")


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


# What env, chroot, nsenter, a shell and the runtimes of containers say where the host has no sh.
_NO_SHELL = re.compile(
    r"(?:^|[\s'\"‘])sh['\"’]?: (?:executable file )?(?:not found|no such file)", re.I | re.M
)
# On the host: hands a socket on to standard input and output.
_CAN_RELAY = """command -v perl >/dev/null || command -v socat >/dev/null || {
echo "has neither perl nor socat, of which several hosts at once need one" >&2; exit 3; }"""
_RELAY = """command -v perl >/dev/null || exec socat - "UNIX-CONNECT:$1"
exec perl -MSocket -e '
socket(S, PF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un($ARGV[0])) or die;
sub copy { my ($from, $to) = @_; while (sysread $from, $_, 65536) { syswrite $to, $_ } }
if (fork) { copy(*STDIN, *S); shutdown S, 1; wait } else { copy(*S, *STDOUT); kill TERM => getppid }' "$1"
"""


@dataclass(kw_only=True)
class PrefixTransport(Transport):
    """The way to a host by a command, which hands standard input on to what it runs there."""

    address: CommandPrefix
    _listener: socket.socket | None = field(default=None, init=False)
    _relays: list["subprocess.Popen[bytes]"] = field(default_factory=list, init=False)

    def command(self) -> list[str]:
        """The words, the first as the program that the search path leads to."""
        name, *words = self.address.words
        if (program := shutil.which(name)) is None:
            raise MissingToolError(f"{self.address}: there is no program {name} on this machine")
        return [program, *words]

    def check_refusal(self, said: str) -> None:
        """Refuse a host without a shell, and a command that hands nothing on."""
        if _NO_SHELL.search(said):
            raise MissingToolError(f"{self.address}: has no sh; a POSIX shell is needed there")
        if not said and not self._been_there:
            raise MissingToolError(
                f"{self.address}: nothing came back; let it run the command behind it and hand standard "
                "input on, as `docker exec -i` and `kubectl exec -i` do"
            )

    def bring(self, remote: str, local: Path) -> None:
        """Have a socket of the host here: a program there hands each connection on."""
        self.ask(_CAN_RELAY)
        self.close()
        local.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(local))
        self._listener.listen()
        Thread(target=self._relay, args=(self._listener, remote), daemon=True).start()

    def close(self) -> None:
        """Hand no socket on any more."""
        if self._listener:
            self._listener.shutdown(socket.SHUT_RDWR)  # or who waits for a connection would go on waiting
            self._listener.close()
            self._listener = None
        while self._relays:
            with self._relays.pop() as relay:
                relay.kill()

    def _relay(self, listener: socket.socket, remote: str) -> None:
        argv = [*self.command(), "sh", "-c", _RELAY, "sh", remote]
        with suppress(OSError):  # it was closed
            while True:
                with listener.accept()[0] as taken:
                    relay = subprocess.Popen(  # noqa: S603
                        argv,
                        stdin=taken.fileno(),
                        stdout=taken.fileno(),
                        stderr=subprocess.DEVNULL,
                        start_new_session=True,
                    )
                self._relays.append(relay)
