"""How scripts reach a host, whatever leads there: they go in, and what they print comes back."""

import re
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from azbenchlib.core.errors import AzbenchError
from azbenchlib.core.targets import HostAddress

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
