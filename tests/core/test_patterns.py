"""No text, however it is made, keeps a regular expression of the package busy without end."""

import os
import re
import resource
import time
from collections.abc import Iterator

import pumped
import pytest
from pumped import Used

CPU_S = 5  # of all texts for a pattern: the slowest takes a tenth of it
LONG_LINE = 64 * 1024  # characters; a line of a file has no more
# These read what matplotlib writes, and nothing from outside.
OF_OUR_OWN = ("azbenchlib.plots.drawing.svg",)


def endless(patterns: dict[str, Used], length: int, cpu_s: int = CPU_S) -> Iterator[str]:
    """Return the patterns that some text of a length keeps busy: they are tried in a child that is ended."""
    names = [*patterns]
    while names:
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                _try_all({name: patterns[name] for name in names}, length, writer, cpu_s)
            finally:
                os._exit(1)
        os.close(writer)
        with os.fdopen(reader) as file:
            begun = file.read().splitlines()
        _, status = os.waitpid(child, 0)
        if not status:
            return
        assert begun, "the child did not begin"
        yield f"{begun[-1]}: {patterns[begun[-1]].pattern.pattern[:200]!r}"
        names = names[names.index(begun[-1]) + 1 :]


def _try_all(patterns: dict[str, Used], length: int, writer: int, cpu_s: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, used in patterns.items():
        os.write(writer, f"{name}\n".encode())
        limit = int(time.process_time()) + cpu_s
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        for text in pumped.texts(used.pattern, length):
            used.pattern.match(text)
            used.pattern.fullmatch(text)
            if used.searched:
                used.pattern.search(text)
    os._exit(0)


def test_no_pattern_tries_exponentially_many_ways() -> None:
    patterns = pumped.patterns()
    assert len(patterns) > 250
    assert [*endless(patterns, 400)] == []


@pytest.mark.slow
@pytest.mark.long
def test_no_pattern_tries_as_many_ways_as_the_square_of_a_long_line() -> None:
    patterns = {name: used for name, used in pumped.patterns().items() if not name.startswith(OF_OUR_OWN)}
    assert [*endless(patterns, LONG_LINE)] == []


def test_what_tries_too_many_ways_is_found() -> None:
    nested = {"nested": Used(re.compile(r"(?:0x[0-9a-f]{1,900}|-?[0-9]{1,20}|%o)+"), False)}
    nested["units"] = Used(re.compile(r"(?:0x[0-9a-f]{1,16}b?,)+"), False)
    assert [line.partition(":")[0] for line in endless(nested, 400, 1)] == ["nested", "units"]
    beside = {"beside": Used(re.compile(r" *\d+ +\d+"), True), "plain": Used(re.compile(r"a+b"), False)}
    assert [line.partition(":")[0] for line in endless(beside, LONG_LINE, 1)] == ["beside"]
