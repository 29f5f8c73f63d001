"""VM sizes with fewer vCPUs than their parent, whose memory and limits are those of the parent.

Used by make_catalog.py. Source: azure-compute-docs articles/virtual-machines/constrained-vcpu.md: "sizes with
a lowered vCPU count …, while maintaining the same memory, storage, and I/O bandwidth".
"""

import csv
import gzip
import io
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

Row = dict[str, str]
SOURCE_ID = "constrained-vcpu@4efd854f"
SOURCE = (
    SOURCE_ID,
    "documentation page",
    "MicrosoftDocs/azure-compute-docs",
    "articles/virtual-machines/constrained-vcpu.md",
    "4efd854f2e171f3e668e769fe21b572592c59aeb",
    "2025-10-16",
)
_NAME = re.compile(r"(Standard_[A-Z]+\d+[a-z]*)-(\d+)(.*)")
_PRICES = ("prices_vm.csv.gz", "prices_vm_linux_ondemand_all_regions.csv.gz")
_ONLY_PRICED = "the resource-SKU API does not list it, a price list does"
# Columns of a collected page row that tell of the row itself.
_OWN = ("name", "valid_note")


def parent(size: str) -> str | None:
    """The name of the size that it would be with all its vCPUs; None where the name has no lowered count."""
    match = _NAME.fullmatch(size)
    return match[1] + match[3] if match else None


def rows(api: Collection[str], known: Collection[str], facts: Path) -> Iterator[Row]:
    """A row for each size of the API, or of a price list, whose parent is known.

    Parameters
    ----------
    api : collection of str
        Sizes that the API lists.
    known : collection of str
        Sizes of which it, or a page, states something.
    facts : Path
    """
    for size in sorted({*api, *known, *_priced(facts)}):
        match, whole = _NAME.fullmatch(size), parent(size)
        if match and whole in known:
            note = "" if size in api else _ONLY_PRICED
            head = {"size": size, "source_id": SOURCE_ID, "note": note}
            yield head | {"parent": whole, "vcpus_available": match[2]}


def without_copies(collected: Sequence[Row]) -> list[Row]:
    """The page rows but for those that repeat the parent's, which the catalogue reads there.

    Raises
    ------
    SystemExit
        When a size with a lowered vCPU count has rows that its parent has not.
    """
    by_size: dict[str, list[Row]] = {}
    for row in collected:
        by_size.setdefault(row["name"], []).append(row)
    copies = {size for size in by_size if parent(size) in by_size}
    for size in copies:
        if _figures(by_size[size]) - _figures(by_size[str(parent(size))]):
            raise SystemExit(f"{size} has page rows that {parent(size)} has not")
    return [row for row in collected if row["name"] not in copies]


def _figures(rows: Sequence[Row]) -> set[tuple[str, ...]]:
    return {tuple(value for name, value in row.items() if name not in _OWN) for row in rows}


def _priced(facts: Path) -> set[str]:
    names: set[str] = set()
    for name in _PRICES:
        with gzip.open(facts / name, "rb") as packed:
            names.update(row["arm_sku"] for row in csv.DictReader(io.TextIOWrapper(packed, encoding="utf-8")))
    return names
