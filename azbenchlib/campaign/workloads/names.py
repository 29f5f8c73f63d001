"""What repeats of a workload are called: ``NAME-r1``, ``NAME-r2`` and so on."""

import re

_REPEAT = re.compile(r"(.+)-r([1-9][0-9]{0,5})")


def of_repeat(name: str, number: int) -> str:
    """The name of a repeat of a workload; they count from 1."""
    return f"{name}-r{number}"


def repeat_of(name: str) -> tuple[str, int]:
    """The workload that a name is a repeat of, and which; the name itself and 0 where it is none."""
    match = _REPEAT.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, 0)


def which(name: str) -> str:
    """What a title adds for a repeat: ``, repeat 2``; empty for what is none."""
    _, number = repeat_of(name)
    return f", repeat {number}" if number else ""
