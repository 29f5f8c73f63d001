"""A lease on the resource group of a run, in its tags: while it is renewed, nobody else takes the group."""

import getpass
import os
import socket
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from azbenchlib.core import processes

LEASE_S, RENEW_S = 1800, 600
LEASE, HOLDER = "lease", "holder"  # tags: until when, and which process on which machine


def tags(now: datetime) -> dict[str, str]:
    """The tags that this process holds a group with."""
    return {LEASE: until(now), HOLDER: holder(os.getpid())}


def group_tags(campaign: str, owner: str, expires: str) -> dict[str, str]:
    """All tags of a group that this process makes; `owner`: empty for the user of this machine."""
    told = {"tool": "azbench", "owner": owner or getpass.getuser(), "campaign": campaign, "expires": expires}
    return told | tags(datetime.now(UTC))


def until(now: datetime) -> str:
    """The end of a lease that begins now."""
    return (now + timedelta(seconds=LEASE_S)).isoformat(timespec="seconds")


def holder(pid: int) -> str:
    """A process on this machine, without the machine's name."""
    return f"{_machine()}-{pid}-{processes.began(pid)}"


def is_held(found: Mapping[str, str], now: datetime) -> bool:
    """Whether another process that may be alive holds a group with these tags."""
    try:
        ends = datetime.fromisoformat(found.get(LEASE, ""))
    except ValueError:
        return False
    if (ends if ends.tzinfo else ends.replace(tzinfo=UTC)) <= now:
        return False
    machine, _, process = found.get(HOLDER, "").partition("-")
    pid, _, began = process.partition("-")
    if machine != _machine() or not pid.isdigit():
        return True
    return int(pid) != os.getpid() and bool(began) and processes.began(int(pid)) == began


def _machine() -> str:
    return sha256(socket.gethostname().encode()).hexdigest()[:8]
