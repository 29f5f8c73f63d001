"""How much a published measurement differs from its repeat: what a single run a side is held against."""

from math import log

SOURCE = "iozone-host-cache-2012"
LARGEST = 1.692  # ratio of a rate to its repeat (read and reread, fread and freread of 1 GiB on four setups)
PAIRS = 104
REPEATS = f"of {PAIRS} repeated reads in {SOURCE} none differed by more than ×{LARGEST:.2f}"


def is_beyond_repeats(ratio: float) -> bool:
    """Return whether a ratio of two single runs is larger, either way, than those of published repeats."""
    return abs(log(ratio)) > log(LARGEST)
