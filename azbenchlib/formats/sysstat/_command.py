"""What the command line above an output of iostat tells of it: the interval, and whether ``-y`` was there.

The output itself says neither. A line counts as a command line where nothing but a prompt or a word such as
``sudo`` stands before ``iostat``, and nothing but options, numbers and devices behind it.
"""

import re
from dataclasses import dataclass

_PROMPT = r"(?:[^\s$#%>]{0,80}(?: [^\s$#%>]{1,80})?[$#%>+]{1,2}[ \t]{0,9})?"
_BEFORE = r"(?:(?:sudo|time|nohup|stdbuf|env|timeout|[A-Z_]{2,20}=\S{1,20}|-\w{1,4}|\d{1,6}s?) ){0,5}"
_DEVICE = r"/dev/\S{1,80}|(?:sd|hd|vd|xvd)[a-z]{1,3}\d{0,3}|nvme\d\S{0,20}|dm-\d{1,4}|md\d{1,4}|[A-Z]{2,8}"
_WORD = rf"[ \t]{{1,9}}(?:-\S{{1,60}}|\d{{1,7}}|{_DEVICE})"
_COMMAND = re.compile(
    rf"{_PROMPT}{_BEFORE}(?:/\S{{0,40}}/)?iostat(?P<rest>(?:{_WORD}){{0,30}})"
    r"(?:[ \t]{0,9}(?:[|>&;]|2>).{0,300})?"
)
_WITH_VALUE = frozenset("fgjo")  # options whose next word is no interval; that of -p is none either


@dataclass(frozen=True)
class IostatCommand:
    """Options of iostat that its output does not show.

    Attributes
    ----------
    omits_first : bool
        Whether the report of the time since boot is left out (``-y``).
    interval_s : float or None
        Seconds between reports; None: one report alone, of the time since boot.
    """

    omits_first: bool
    interval_s: float | None


def command(line: str) -> IostatCommand | None:
    """What a line tells if it is a command line of iostat; None where it is none."""
    found = _COMMAND.fullmatch(line.strip()) if "iostat" in line else None
    if found is None:
        return None
    omits_first, interval, previous = False, None, ""
    for word in found["rest"].split():
        if word.startswith("-") and not word.startswith("--"):
            omits_first = omits_first or "y" in word
        elif word.isdecimal() and interval is None and previous[-1:] not in _WITH_VALUE:
            interval = float(word) or None
        previous = word if word.startswith("-") and not word.startswith("--") else ""
    return IostatCommand(omits_first and interval is not None, interval)


def last_command(text: str) -> IostatCommand | None:
    """What the last command line in a text tells."""
    lines = text.splitlines() if "iostat" in text else []
    return next(filter(None, map(command, reversed(lines))), None)
