"""What IOMeter's results and its configuration share: access specifications, and how numbers are told."""

import math
from dataclasses import dataclass, field
from typing import Any

NAME = "'Access specification name,default assignment"
LINES = "'size,% of size,% reads,% random,delay,burst,align,reply"
_MOST_LINES = 100  # of an access specification; IOMeter's own window takes no more
_MOST = 2**53  # up to here a float holds every whole number


@dataclass
class Spec:
    """An access specification.

    Attributes
    ----------
    name : str
        Its name.
    lines : list of list of float
        Size in bytes, share of that size, of reads and of random places in %, and what azbench does not keep.
    """

    name: str
    lines: list[list[float]] = field(default_factory=list)

    def columns(self) -> dict[str, Any]:
        """Columns of the table of runs; what its lines do not say alike is missing."""
        sizes, reads, random = ({line[place] for line in self.lines} for place in (0, 2, 3))
        size = sizes.pop() if len(sizes) == 1 else None
        read_pct = reads.pop() if len(reads) == 1 else None
        pattern = None
        if read_pct is not None and random in ({0}, {100}):
            word = {100.0: "read", 0.0: "write"}.get(read_pct, "rw")
            pattern = f"rand{word}" if random == {100} else "readwrite" if word == "rw" else word
        return {
            "job": self.name,
            "rw": pattern,
            "rwmix_read_pct": read_pct if read_pct not in (None, 0, 100) else None,
            "bs_bytes": None if size is None else int(size),
        }

    def add_line(self, text: str) -> bool:
        """Add a line of sizes and shares; whether it was whole."""
        values = [number(part) for part in text.rstrip(",").split(",")]
        line = [value for value in values if value is not None]
        room = len(self.lines) < _MOST_LINES
        whole = room and len(values) == len(line) >= 4 and line[0] == int(line[0]) and max(line[1:4]) <= 100
        if whole:
            self.lines.append(line)
        return whole


def spec_named(text: str) -> Spec:
    """The specification that a line such as ``4 KiB; 100% Read,1`` names; the name may hold commas."""
    name, _, _ = text.rpartition(",")
    return Spec((name or text).strip())


def number(text: str | None) -> float | None:
    """The number that a cell holds, from 0 on; None for an empty cell and for damage."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and 0 <= value <= _MOST else None


def whole(text: str | None) -> int | None:
    """The whole number that a cell holds."""
    value = number(text)
    return None if value is None or value != int(value) else int(value)
