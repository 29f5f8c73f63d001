"""What each pattern drives: the one table that tells.

Source: fio HOWTO, "readwrite", fio-3.41.
"""

DIRECTIONS = {
    "read": {"read"},
    "write": {"write"},
    "trim": {"trim"},
    "randread": {"read"},
    "randwrite": {"write"},
    "randtrim": {"trim"},
    "rw": {"read", "write"},
    "randrw": {"read", "write"},
    "trimwrite": {"trim", "write"},
    "randtrimwrite": {"trim", "write"},
}
MIXED = ("rw", "readwrite", "randrw")  # "readwrite" is fio's other word for "rw"; other tools' readers use it


def direction_of(rw: str) -> str | None:
    """Return the direction of a pattern of fio or a test of iozone; None where its name does not tell one."""
    if rw in MIXED:
        return "mixed"
    if len(DIRECTIONS.get(rw, ())) > 1:
        return None
    return next((way for way in ("write", "read", "trim") if rw.endswith(way)), None)


# Tests of iozone through stdio, whose streams -I does not open with O_DIRECT: what they measure is buffered.
# Source: iozone.c 3.414, fwrite_perf_test and fread_perf_test.
OVER_STDIO = frozenset(("fwrite", "frewrite", "fread", "freread"))
