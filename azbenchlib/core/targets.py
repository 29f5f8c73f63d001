"""The names of what can be measured on, so that a wrong one is told before anything is loaded."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath

from azbenchlib.core import privacy
from azbenchlib.core.errors import InputError

TARGET_NAMES = ("lab", "local", "azure", "ssh:USER@HOST", "exec:COMMAND")
SSH, EXEC = "ssh", "exec"
HOSTS = (SSH, EXEC)  # kinds of targets that scripts reach

# What ssh is given as a host is never taken for an option, and nothing in it means anything to a shell.
_ADDRESS = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})@)?"
    r"(?P<host>[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::(?P<port>[0-9]{1,5}))?"
)


@dataclass(frozen=True)
class SshAddress:
    """A host to log in to; the user and the port are those of ssh's own configuration where none is given."""

    host: str
    user: str = ""
    port: int | None = None

    def __str__(self) -> str:
        return f"{self.user}@{self.host}" if self.user else self.host

    @property
    def way(self) -> str:
        """How the host is reached, in words that name neither it nor its users."""
        return "by ssh"

    @property
    def identity(self) -> str:
        """What tells the host from others."""
        return f"{self.user}@{self.host}:{self.port or ''}"


@dataclass(frozen=True)
class CommandPrefix:
    """Words behind which a command is run on a host, such as ``docker exec -i NAME``."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        return shlex.join(privacy.masked_words(self.words))

    @property
    def way(self) -> str:
        """How the host is reached: by which program, without what says where it leads."""
        first, *others = self.words
        return privacy.masked(" ".join(["through", PurePath(first).name, *({EXEC} & {*others})]))

    @property
    def identity(self) -> str:
        """What tells the host from others."""
        return shlex.join(self.words)


HostAddress = SshAddress | CommandPrefix


def kind_of(target: str) -> str:
    """The kind of a target: its name without an address."""
    return target.partition(":")[0]


def ssh_address(target: str) -> SshAddress:
    """The address in a target ``ssh:USER@HOST:PORT``.

    Raises
    ------
    InputError
        When it is none.
    """
    match = _ADDRESS.fullmatch(target.removeprefix(f"{SSH}:"))
    port = int(match["port"]) if match and match["port"] else None
    if match is None or not (port is None or 0 < port < 65536):
        raise InputError(f"target '{target}': is no address; write ssh:USER@HOST or ssh:USER@HOST:PORT")
    return SshAddress(match["host"].strip("[]"), match["user"] or "", port)


def host_addresses(target: str) -> Sequence[HostAddress]:
    """The addresses in a target ``ssh:USER@HOST,USER@HOST``, or ``exec:COMMAND , COMMAND``, each there once.

    Commands are split into words as a shell does; the comma between two is a word of its own.

    Raises
    ------
    InputError
        When one is none, or is there twice.
    """
    kind, _, named = target.partition(":")
    found: Sequence[HostAddress]
    if kind == SSH:
        found = [ssh_address(one) for one in named.split(",")]
    else:
        try:
            words = shlex.split(named)
        except ValueError as error:
            raise InputError(f"target '{target}': cannot be split into words: {error}") from error
        commas = [place for place, word in enumerate(words) if word == ","]
        bounds = pairwise([-1, *commas, len(words)])
        found = [CommandPrefix(tuple(words[after + 1 : end])) for after, end in bounds]
        if CommandPrefix(()) in found:
            raise InputError(
                f"target '{target}': names no command; write one behind which another is run, such as "
                f"'{EXEC}:docker exec -i NAME'"
            )
    if twice := next((one for one in found if found.count(one) > 1), None):
        raise InputError(f"target '{target}': {twice} is there twice; name each host once")
    return found


def check_target_name(name: str) -> None:
    """Refuse what is no target.

    Raises
    ------
    InputError
        With the choices.
    """
    if kind_of(name) in HOSTS and ":" in name:
        host_addresses(name)
    elif name not in TARGET_NAMES:
        raise InputError(f"target '{name}' is unknown; the choices are: {', '.join(TARGET_NAMES)}")


def check_cost_limit(target: str, max_cost: float) -> None:
    """Refuse a limit of costs where no price is known.

    Raises
    ------
    InputError
        When there is one and the target is not Azure.
    """
    if max_cost and target != "azure":
        raise InputError(
            f"max_cost {max_cost:g}: a price is known for the target azure alone, and this is {target}; "
            "leave it out, or limit the time with max_hours"
        )


def check_at_once(target: str, at_once: int, vm_id: str = "") -> None:
    """Refuse several VMs at a time where azbench creates none.

    Raises
    ------
    InputError
        With the target that it is.
    """
    if at_once < 0:
        raise InputError(f"at_once {at_once}: must be 1 or more, or 0 for what the measurement file says")
    if at_once > 1 and (target != "azure" or vm_id):
        where = "a VM that is there already" if vm_id else f"the target {target}"
        raise InputError(f"at_once {at_once}: it is for VMs that azbench creates in Azure, not for {where}")
