"""A host that a command leads to, behind whose words another command is run there: a pod, a container."""

import re
import shutil
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

from azbenchlib.campaign.targets.hosts.transport import Transport
from azbenchlib.core.errors import MissingToolError
from azbenchlib.core.targets import CommandPrefix

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
