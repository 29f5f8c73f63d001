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
