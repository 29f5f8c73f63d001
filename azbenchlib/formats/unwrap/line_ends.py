"""Marks that programs put behind each line: the right side of a box or a table, `cat -A`, continuations."""

import re
from collections.abc import Sequence

from azbenchlib.formats.unwrap.components import NEARLY_ALL

_MARKS = "|*#$+\\\u2502\u2503\u2551\u21b5"
_EDGE = re.compile(r"[ \t]{0,99}[+|*#\u2500-\u257f][-=:+|*#\u2500-\u257f]{3,}$")  # a box's, a table's
_TAB, _RETURN = "^I", "^M"  # as `cat -A` shows them


def without_line_ends(text: str, signs: Sequence[str]) -> str | None:
    """Return the text without a mark that ends its lines, and without edges of boxes; None where none does.

    Parameters
    ----------
    text : str
        The text; its lines stay the same.
    signs : sequence of str
        Lines of it that have the signs of outputs.
    """
    mark = signs[0][-1:] if signs else ""
    if not mark or mark not in _MARKS or not all(line.endswith(mark) for line in signs):
        return None
    lines = ["" if _EDGE.match(line) else line for line in text.splitlines()]
    ended = [line.endswith(mark) for line in lines]
    if not any(ended):  # a form feed, at which lines are divided here, stood before an edge
        return None
    within = lines[ended.index(True) : len(ended) - ended[::-1].index(True)]
    if sum(line.endswith(mark) for line in within) < NEARLY_ALL * sum(map(bool, within)):
        return None
    return "".join(f"{_without(line, mark)}\n" for line in lines)


def _without(line: str, mark: str) -> str:
    if not line.endswith(mark):
        return line
    bare = line[: -len(mark)].rstrip(" \t")
    return bare.removesuffix(_RETURN).replace(_TAB, "\t") if mark == "$" else bare
