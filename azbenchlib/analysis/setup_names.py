"""Names for people: what a setup and a workload are called in tables, cards and figures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath

import pandas as pd

from azbenchlib.core.units import format_count, format_depth, format_mbps, format_size

ROLE_WORDS = {
    "os": ("OS disk", "OS"),
    "data": ("data disk", "data"),
    "temp": ("temp disk", "temp"),
    "nvme": ("local NVMe", "NVMe"),
    "ephemeral_os": ("ephemeral OS disk", "ephemeral OS"),
}
NO_SETUP = "setup not stated"
_LONGEST = 30  # characters of a name beside a line in a figure
CACHE_WORDS = {"None": "no cache", "ReadOnly": "ReadOnly cache", "ReadWrite": "ReadWrite cache"}
PATTERN_WORDS = {
    "read": "sequential reads",
    "write": "sequential writes",
    "randread": "random reads",
    "randwrite": "random writes",
    "rw": "mixed sequential I/O",
    "randrw": "mixed random I/O",
    "trim": "sequential trims",
    "randtrim": "random trims",
}


def setup_labels(setups: pd.DataFrame, disks: pd.DataFrame, wanted: Sequence[str]) -> pd.DataFrame:
    """How to call setups so that no two are called the same.

    Parameters
    ----------
    setups, disks : DataFrame
        The tables of that name.
    wanted : sequence of str
        The setup_ids to be told apart; what they all share is left out of the label.

    Returns
    -------
    DataFrame
        Columns key (setup_id), label (“E8ds_v4, OS disk, no cache”), short (for figures), detail.
    """
    first_disks = disks.drop_duplicates("setup_id")
    known = setups.merge(first_disks, on="setup_id", how="left", suffixes=("", "_disk")).set_index("setup_id")
    rows = [_facts(str(key), known.loc[key] if key in known.index else None) for key in wanted]
    several_vms = len({row["vm"] for row in rows}) > 1
    for row in rows:
        twins = [other for other in rows if (other["vm"], other["role"]) == (row["vm"], row["role"])]
        differing = [i for i, part in enumerate(row["parts"]) if any(t["parts"][i] != part for t in twins)]
        extra = [row["parts"][i] for i in differing if row["parts"][i]]
        row["label"] = row["given"] or ", ".join(filter(None, [row["vm"], row["role"], *extra]))
        short = [row["vm"] if several_vms or not (row["role_short"] or extra) else "", row["role_short"]]
        if not several_vms and extra and len(twins) == len(rows):
            short = []
        row["short"] = row["given"] or ", ".join(filter(None, [" ".join(filter(None, short)), *extra]))
        row["detail"] = ", ".join(part for i, part in enumerate(row["parts"]) if part and i not in differing)
    for name in ("label", "short"):  # what still has a namesake is told apart by its key
        names = [row[name] for row in rows]
        for row in rows:
            if names.count(row[name]) > 1:
                row[name] = f"{row[name]} ({row['key']})"
    return pd.DataFrame(rows, columns=["key", "label", "short", "detail"])


def file_labels(paths: Mapping[str, str]) -> pd.DataFrame:
    """How to call files: by the end of their path, as much of it as tells them apart.

    Parameters
    ----------
    paths : mapping of str to str
        Path by key.

    Returns
    -------
    DataFrame
        Columns as of :func:`setup_labels`.
    """
    parts = {key: PurePath(path).parts for key, path in paths.items()}
    ends = Counter(own[-n:] for own in set(parts.values()) for n in range(1, len(own) + 1))
    names = {}
    for key, own in parts.items():
        n = next((n for n in range(1, len(own)) if ends[own[-n:]] == 1), len(own))
        names[key] = str(PurePath(*own[-n:])) if own else "file not stated"
    tails = {
        key: name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}" for key, name in names.items()
    }
    seen = Counter(tails.values())
    rows = [
        (key, name, name if seen[tails[key]] > 1 else tails[key], NO_SETUP) for key, name in names.items()
    ]
    return pd.DataFrame(rows, columns=["key", "label", "short", "detail"])


def set_labels(sets: Mapping[str, tuple[str, int, str]]) -> pd.DataFrame:
    """How to call sets of files of one workload: ``500 files of 4 KiB random reads, QD 1``.

    Parameters
    ----------
    sets : mapping of str to (str, int, str)
        By key, the workload in words, how many files they are, and their folder; empty where it is none.

    Returns
    -------
    DataFrame
        Columns as of :func:`setup_labels`.
    """
    folders = {folder: folder for _, _, folder in sets.values() if folder}
    names = file_labels(folders).set_index("key")["short"]
    seen = Counter((n, folder) for _, n, folder in sets.values())
    rows = []
    for key, (workload, n, folder) in sets.items():
        of = f"{names[folder]}: " if folder else ""
        short = f"{of}{format_count(n)} {'file' if n == 1 else 'files'}"
        label = f"{short} of {workload}"
        rows.append((key, label, label if seen[n, folder] > 1 else short, NO_SETUP))
    return pd.DataFrame(rows, columns=["key", "label", "short", "detail"])


def _facts(key: str, row: pd.Series | None) -> dict:
    """What is known of a setup, in words; `parts` are those that may tell setups apart."""
    get = {} if row is None else {name: value for name, value in row.items() if not pd.isna(value)}
    role, role_short = ROLE_WORDS.get(get.get("role", ""), ("", ""))
    speed = [
        f"{format_count(get['provisioned_iops'])} IOPS" if "provisioned_iops" in get else "",
        f"{format_mbps(get['provisioned_bytes_per_s'])} MB/s" if "provisioned_bytes_per_s" in get else "",
    ]
    parts = [
        str(get.get("sku", "")).replace("_", " "),
        str(get.get("tier", "")),
        format_size(get["size_bytes"]) if "size_bytes" in get else "",
        *speed,
        CACHE_WORDS.get(get.get("host_caching", ""), ""),
        str(get.get("region", "")),
        f"zone {get['zone']}" if "zone" in get else "",
    ]
    vm = str(get.get("vm_size", "")).removeprefix("Standard_")
    given = get.get("label", "" if vm or role else key)
    return {"key": key, "given": given, "vm": vm, "role": role, "role_short": role_short, "parts": parts}


def pattern_text(rw: object) -> str:
    """A pattern or iozone test in words; what is not stated says so."""
    if pd.isna(rw):
        return "pattern not stated"
    return PATTERN_WORDS.get(str(rw), str(rw).replace("_", " "))


def load_text(bs_bytes: object, queue_depth: object) -> str:
    """Block size and load in words: ``8 KiB, QD 1,024``."""
    size = "block size not stated" if pd.isna(bs_bytes) else format_size(bs_bytes)  # type: ignore[arg-type]
    if pd.isna(queue_depth):
        return size
    return f"{size}, {format_depth(queue_depth)}"  # type: ignore[arg-type]


def workload_text(rw: object, bs_bytes: object, queue_depth: object) -> str:
    """A workload in words: ``8 KiB random writes, QD 1,024``."""
    size = "" if pd.isna(bs_bytes) else f"{format_size(bs_bytes)} "  # type: ignore[arg-type]
    depth = "" if pd.isna(queue_depth) else f", {format_depth(queue_depth)}"  # type: ignore[arg-type]
    return f"{size}{pattern_text(rw)}{depth}"
