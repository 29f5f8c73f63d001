"""What repeats of a workload are called, ``NAME-r1``, ``NAME-r2``, and its warm-ups, ``NAME-warm1``."""

import re

_REPEAT = re.compile(r"(.+)-r([1-9][0-9]{0,5})")
_WARM_UP = re.compile(r"(.+)-warm([1-9][0-9]{0,5})")


def of_repeat(name: str, number: int) -> str:
    """The name of a repeat of a workload; they count from 1."""
    return f"{name}-r{number}"


def of_warm_up(name: str, number: int) -> str:
    """The name of a run of a workload before those that count; they count from 1."""
    return f"{name}-warm{number}"


def repeat_of(name: str) -> tuple[str, int]:
    """The workload that a name is a repeat of, and which; the name itself and 0 where it is none."""
    return _parted(_REPEAT, name)


def warm_up_of(name: str) -> tuple[str, int]:
    """The workload that a name is a warm-up of, and which; the name itself and 0 where it is none."""
    return _parted(_WARM_UP, name)


def workload_of(name: str) -> str:
    """The workload that a run is one of."""
    return repeat_of(warm_up_of(name)[0])[0]


def which(name: str) -> str:
    """What a title adds for a repeat or a warm-up: ``, repeat 2``; empty for what is neither."""
    if warm_up := warm_up_of(name)[1]:
        return f", warm-up {warm_up}"
    number = repeat_of(name)[1]
    return f", repeat {number}" if number else ""


def _parted(form: re.Pattern[str], name: str) -> tuple[str, int]:
    match = form.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, 0)
