"""Outputs of iozone over sizes of records and files, made here with figures that are known."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from azbenchlib.core.units import GIB, KIB

RECORDS = [4 * KIB << n for n in range(9)]  # to 1 MiB
FILES = [512 * KIB << n for n in range(13)]  # to 2 GiB
_COLUMNS = (
    *("write", "rewrite", "read", "reread", "random_read", "random_write", "backward_read"),
    *("record_rewrite", "stride_read", "fwrite", "frewrite", "fread", "freread"),
)
_WIDTHS = (9, 9, 9, 9, 9, 9, 9, 10, 10, 9, 9, 9, 9)
_TITLES = ("write", "rewrite", "read", "reread", "read", "write", "read", "rewrite", "read")

Rate = Callable[[str, int, int], float]


def cached(test: str, file: int, record: int) -> float:
    """Rates of a page cache of less than 1 GiB on a disk of 200 MB/s; no two of them alike."""
    place = RECORDS.index(record) + 10 * FILES.index(file)
    if file >= GIB:
        return (195 if test == "write" else 190) * 1e6 + 1e4 * place
    return (1500 if test == "write" else 2500) * 1e6 + 1e6 * place


def matrix(rate: Rate, tests: tuple[str, ...] = ("write", "read"), options: str = "-a") -> str:
    """iozone's text: a row for each file and each record that is no larger; in KiB/s, with -O in I/Os."""
    columns = dict(zip(_COLUMNS, _WIDTHS, strict=True))
    titles = zip((*_TITLES, *_COLUMNS[len(_TITLES) :]), _WIDTHS, strict=True)
    head = [
        "\tIozone: Performance Test of File I/O",
        "\t        Version $Revision: 3.489 $",
        *(["\tO_DIRECT feature enabled"] if "-I" in options else []),
        f"\tCommand line used: iozone {options} -f /mnt/data/iozone.tmp",
        "\tOPS Mode. Output is in operations per second." if "-O" in options else "\tOutput is in kBytes/sec",
        " " * 14 + "kB  reclen" + "".join(f"{title:>{width}}" for title, width in titles),
    ]
    rows = []
    for file in FILES:
        for record in [size for size in RECORDS if size <= file]:
            unit = record if "-O" in options else KIB
            known = {test: rate(test, file, record) for test in tests}
            cells = (
                f"{round(known[test] / unit) if test in known else '':>{width}}"
                for test, width in columns.items()
            )
            rows.append(f"{file // KIB:>16}{record // KIB:>8}{''.join(cells).rstrip()}")
    return "\n".join([*head, *rows, "", "iozone test complete.", ""])


def dataset(folder: Path, texts: dict[str, str], setup: dict[str, Any] | None = None) -> Path:
    """A dataset of such texts on a D8s_v5 with a P30, or as another setup says; {}: none is stated."""
    disk = {"disk": "data", "role": "data", "sku": "Premium_LRS", "tier": "P30", "host_caching": "None"}
    stated = {
        "setup_id": "m",
        "environment": "azure",
        "vm_size": "Standard_D8s_v5",
        "region": "westeurope",
        "disks": [{**disk, "size_bytes": 1024 * GIB}],
        **(setup or {}),
    }
    about = {"name": "m", "title": "M", "about": "", "measured": "today", "tools": {}, "setups": [stated]}
    (folder / "raw").mkdir(parents=True)
    for name, text in texts.items():
        (folder / "raw" / name).write_text(text)
    (folder / "manifest.json").write_text(json.dumps(about))
    return folder
