"""The guard of block devices: who uses one, what it holds, and the mark of the campaign that goes on with it.

It is one script, ``device_guard.sh`` beside this file, which runs on this machine, on hosts that scripts
reach, and on VMs of Azure.
"""

import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path, PurePath

from azbenchlib.campaign import safety
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.campaign.safety import TargetFacts
from azbenchlib.core.errors import UnsafeTargetError

_LONGEST_S = (
    1200.0  # that the script may last: it reads for five minutes at most, and asks for little besides
)
_UNKNOWN = "cannot be looked at, so it may hold data"  # where the script broke off
_FACT = re.compile(rb"^azbench-fact (\w+) ?(.*)$", re.MULTILINE)
_GUARD = ("PATH=$PATH:/usr/local/bin:/usr/sbin:/sbin", "LC_ALL=C", "export LC_ALL")


@cache
def functions() -> str:
    """The shell functions that look at devices."""
    return resources.files("azbenchlib.campaign").joinpath("device_guard.sh").read_text(encoding="utf-8")


def facts(said: bytes) -> dict[str, list[str]]:
    """What a script told, each as often as it was told."""
    known: dict[str, list[str]] = {}
    for name, value in _FACT.findall(said):
        if text := value.decode(errors="replace").strip():
            known.setdefault(name.decode(), []).append(text)
    return known


def check_target(target: Path, needed_bytes: int, allow: str = "") -> None:
    """Refuse a target on this machine that could lose data or run out of space.

    Parameters
    ----------
    target : Path
        A directory to make a file in, or a block device to overwrite. Links are followed.
    needed_bytes : int
        How much will be written.
    allow : str
        The words that permit what is otherwise refused; each refusal names them.

    Raises
    ------
    UnsafeTargetError
        What, why, and the words that permit it.
    """
    safety.judge(look(target, allow), needed_bytes, allow)


def look(target: Path, allow: str = "", token: str = "") -> TargetFacts:
    """What is known of a target on this machine; all of a device was looked at, as far as that was needed."""
    known = safety.look(target)
    if known.kind != "device":
        return known
    told = _run("device_facts", known.real, token, how(known, allow), "").stdout
    return with_facts(known, facts(told))


def how(device: TargetFacts, allow: str) -> str:
    """How the script looks at a device: nobody asks what it holds where the words were given."""
    return "unread" if allow == safety.words_for_device(PurePath(device.real), in_use=False) else "whole"


def with_facts(device: TargetFacts, told: Mapping[str, Sequence[str]]) -> TargetFacts:
    """What is known of a device with what the script told of it."""
    in_use, holds = (" ".join(told.get(name, ())) or _UNKNOWN for name in ("in_use", "holds"))
    return replace(
        device,
        in_use="" if in_use == "free" else in_use,
        holds="" if holds in ("blank", "ours", "unread") else holds,
        ours=holds == "ours",
    )


def check_mark(device: TargetFacts, allow: str, journal: Journal) -> None:
    """Refuse to go on with a device whose mark is gone: it is another one, or others have written to it.

    Raises an UnsafeTargetError with the words that permit it.
    """
    if _is_noted(journal) and not device.ours and not safety.is_permitted(device, allow):
        words = safety.words_for_device(PurePath(device.real), in_use=False)
        raise UnsafeTargetError(
            f"{device.path}: the mark that this campaign wrote to its device is not on it, so it is another "
            "device, or others have written to it; go on with the device on which the campaign was begun, "
            f"measure anew with --fresh, or permit it with the words '{words}'"
        )


def note_mark(journal: Journal) -> None:
    """Note that the device has the mark of the campaign."""
    if not _is_noted(journal):
        journal.add(JournalEvent.MARKED)


def _is_noted(journal: Journal) -> bool:
    return any(event["event"] == JournalEvent.MARKED for event in journal.events())


def mark(device: Path, token: str, journal: Journal) -> None:
    """Leave the mark of a campaign on a device of this machine that was found blank, and note it.

    Raises an UnsafeTargetError when another campaign marked it meanwhile, or it cannot be written.
    """
    done = _run("device_mark", str(device), token, "whole")
    if done.returncode:
        raise UnsafeTargetError(done.stderr.decode(errors="replace").strip() or f"{device}: cannot be marked")
    note_mark(journal)


def _run(*call: str) -> "subprocess.CompletedProcess[bytes]":
    """Have a function of the script run here, with its arguments."""
    text = "\n".join([*_GUARD, functions(), '"$@"'])
    argv = ["/bin/sh", "-c", text, "azbench", *call]
    try:
        return subprocess.run(  # noqa: S603  an argument list; the text is ours
            argv, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_LONGEST_S
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(argv, 1, b"", b"")
