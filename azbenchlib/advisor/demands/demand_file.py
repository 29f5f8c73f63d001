"""Demands as people write them: options of `azbench advise`, and rows of a CSV file of workloads.

The help of `azbench` shows the columns, so the physics behind a demand is imported when one is made.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from azbenchlib.core.errors import InputError
from azbenchlib.core.stated_values import as_text, block, number, share, size
from azbenchlib.core.units import MB, format_count, format_mbps

if TYPE_CHECKING:
    from azbenchlib.advisor.demands.demand import Demand, Peak

YES, NO = ("yes", "true", "1"), ("no", "false", "0")


def yes(name: str, text: str) -> bool:
    """Yes or no."""
    if text.lower() not in (*YES, *NO):
        raise InputError(f"{name} '{text}' is not one of: {', '.join((*YES, *NO))}")
    return text.lower() in YES


def peak(name: str, text: str) -> Peak:
    """A peak: ``SECONDS/PERIOD:IOPS`` or ``SECONDS/PERIOD:IOPS:MBPS``."""
    from azbenchlib.advisor.demands.demand import Peak

    try:
        times, iops, *rest = text.split(":")
        seconds, period = (float(part) for part in times.split("/"))
        (mbps,) = rest or [""]
    except ValueError:
        raise InputError(
            f"{name} '{text}': write SECONDS/PERIOD:IOPS[:MBPS], such as 600/3600:20000"
        ) from None
    return Peak(
        seconds=seconds,
        period_s=period,
        iops=number(f"IOPS of {name}", iops) if iops else None,
        bytes_per_s=number(f"MB/s of {name}", mbps) * MB if mbps else None,
    )


def families(_name: str, text: str) -> tuple[str, ...]:
    """Letters of VM families with commas between them."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def disks(name: str, text: str) -> int:
    """A number of disks that a VM can have."""
    from azbenchlib.advisor.demands.demand import MOST_DISKS

    value = number(name, text)
    if value != int(value):
        raise InputError(f"{name} '{text}' is not a whole number")
    if not 1 <= value <= MOST_DISKS:
        raise InputError(f"{name} '{text}' is not between 1 and {MOST_DISKS}")
    return int(value)


# Column (and option, with dashes) -> field of the demand, how it is read.
DEMAND_COLUMNS: dict[str, tuple[str, Any]] = {
    "iops": ("iops", number),
    "mbps": ("bytes_per_s", number),
    "size": ("size_bytes", size),
    "bs": ("bs_bytes", block),
    "read_share": ("read_share", share),
    "latency": ("latency", None),
    "zrs": ("redundancy", yes),
    "not_persistent": ("persistent", yes),
    "hit": ("cache_hit", share),
    "headroom": ("headroom", number),
    "vcpus": ("vcpus", number),
    "ram": ("memory_bytes", size),
    "ram_per_vcpu": ("memory_per_vcpu_bytes", size),
    "vm": ("vm", None),
    "arch": ("architecture", None),
    "peak": ("peak", peak),
    "arm": ("arm", yes),
    "burstable": ("burstable", yes),
    "any_family": ("any_family", yes),
    "family": ("families", families),
    "max_disks": ("most_disks", disks),
    "strictly_cheapest": ("strictly_cheapest", yes),
    "zone": ("zone", None),
    "os_disk": ("os_disk", None),
}
_OLD_COLUMNS = {"burst": "peak"}  # of files that are there
PRESET = "preset"  # column, and option, of a workload by name
VOLUME_COLUMNS = (
    PRESET, "iops", "mbps", "size", "bs", "read_share", "latency", "zrs", "hit", "headroom", "max_disks",
)  # fmt: skip
# What holds of every disk of a VM, and of the VM: of the OS disk too.
SHARED_COLUMNS = (
    "zrs", "headroom", "vcpus", "ram", "ram_per_vcpu", "vm", "arch", "arm", "burstable", "any_family",
    "family", "zone", "strictly_cheapest",
)  # fmt: skip
OS_DISK = "os"  # the volume of the OS disk
_OS_DISK_COLUMNS = (
    "size", "iops", "mbps", "bs", "read_share", "latency", "zrs", "not_persistent", "hit", "headroom",
)  # fmt: skip
_VOLUME_NAME = re.compile(r"[A-Za-z0-9_-]+")


def demand(texts: Mapping[str, str], where: str = "--", measured: Mapping[str, Any] | None = None) -> Demand:
    """The demand that texts state, by column; an empty one is not there.

    What suits a server is wanted where they do not say otherwise: its choice of VM sizes, at most eight disks
    (:mod:`azbenchlib.advisor.offers.vm_choice`), and SSDs for I/Os below 256 KiB.

    Parameters
    ----------
    texts : mapping of str to str
    measured : mapping of str to Any, optional
        Fields of the demand that hold where no text states another value.
    where : str
        What stands before a column's name in a message.

    Raises
    ------
    InputError
        For a value that cannot be read, or a demand that is none.
    """
    if name := texts.get(PRESET):
        from azbenchlib.advisor.demands.presets import preset

        own = {column: text for column, text in texts.items() if column != PRESET and text.strip()}
        texts = {**preset(name).filling(own), **own}
    stated: dict[str, Any] = {}
    for column, text in texts.items():
        field, read = DEMAND_COLUMNS[column]
        name = f"{where}{column.replace('_', '-') if where == '--' else column}"
        if text.strip():
            stated[field] = read(name, text.strip()) if read else text.strip()
    of_os = stated.pop("os_disk", None)
    if "size_bytes" not in {**(measured or {}), **stated}:
        raise InputError(f"{where}size is missing: how much data, such as 2TiB")
    if "redundancy" in stated:
        stated["redundancy"] = "ZRS" if stated["redundancy"] else "LRS"
    if "persistent" in stated:
        stated["persistent"] = not stated["persistent"]
    if "bytes_per_s" in stated:
        stated["bytes_per_s"] *= MB
    if of_os is not None:
        stated["os_disk"] = os_disk(of_os, texts)
    found = _for_a_server({**(measured or {}), **stated})
    if found.peak and found.highest == found.steady:
        iops, rate = found.steady
        raise InputError(
            f"{where}peak '{texts['peak'].strip()}' is no more than the steady load, "
            f"{format_count(iops)} IOPS and {format_mbps(rate)} MB/s: write those of the peak"
        )
    return found


_SIZES = ("size", "ram", "ram_per_vcpu")  # whose numbers are bytes


def stated_demand(values: Mapping[str, object]) -> Demand:
    """Return the demand that a program states, by column: numbers as numbers, and what is None is not there.

    Parameters
    ----------
    values : mapping of str to int, float, Decimal, str or None
        Where yes or no is meant, a bool.

    Raises
    ------
    InputError
        As :func:`demand`, and for a value of another type.
    """
    texts: dict[str, str] = {}
    for column, value in values.items():
        if column in DEMAND_COLUMNS and DEMAND_COLUMNS[column][1] is yes and isinstance(value, bool):
            texts |= {column: YES[0]} if value else {}
        elif value is not None:
            texts[column] = as_text(column, value, "B" if column in _SIZES else "")
    if texts.get("arch") == "x64" and yes("arm", texts.get("arm", NO[0])):
        raise InputError("arm allows Arm CPUs too, and arch 'x64' none: leave one of them out")
    return demand(texts, where="")


def _for_a_server(stated: dict[str, Any]) -> Demand:
    """The demand with the choice of VMs, the number of disks and the latency that suit a server."""
    from azbenchlib.advisor.demands.demand import Demand
    from azbenchlib.advisor.offers.vm_choice import SERVER_CHOICE, SERVER_DISKS

    of_choice = {
        name: stated.pop(name) for name in ("arm", "burstable", "any_family", "families") if name in stated
    }
    if stated.get("architecture") in ("any", "arm64"):
        of_choice["arm"] = True
    choice = replace(SERVER_CHOICE, **of_choice)
    found = Demand(**{"choice": choice, "most_disks": SERVER_DISKS, **stated})
    return found if "latency" in stated else replace(found, latency="ssd" if found.small else "any")


def volume(text: str, common: Mapping[str, str]) -> tuple[str, Demand]:
    """A volume by its name, and its demand: ``log:iops=4000,size=256GiB``.

    Parameters
    ----------
    text : str
        Columns of a volume, with commas between them.
    common : mapping of str to str
        What holds where it says nothing, and what is wanted of the VM.

    Raises
    ------
    InputError
        For a text of another form, and as :func:`demand`.
    """
    name, _, rest = text.partition(":")
    stated = _stated(rest)
    if not _VOLUME_NAME.fullmatch(name) or stated is None:
        raise InputError(f"--volume '{text}': write NAME:iops=4000,size=256GiB; a name is letters and digits")
    _check_columns(f"--volume '{text}'", stated, VOLUME_COLUMNS)
    try:
        return name, demand({**common, **stated}, "")
    except InputError as error:
        raise InputError(f"--volume '{name}': {error}") from None


def os_disk(text: str, common: Mapping[str, str]) -> Demand:
    """The demand of an OS disk: ``64GiB``, or ``64GiB,iops=2000,not-persistent=yes``.

    It is Premium SSD where no latency is stated: its price does not depend on how much is read and written.

    Parameters
    ----------
    text : str
        Its size, then columns with commas between them.
    common : mapping of str to str
        What is stated of the data and the VM; of it, `SHARED_COLUMNS` hold where `text` says nothing.

    Raises
    ------
    InputError
        For a text of another form, and as :func:`demand`.
    """
    shared = {column: value for column, value in common.items() if column in SHARED_COLUMNS}
    of_size, _, rest = text.partition(",")
    stated = _stated(f"size={of_size},{rest}" if rest else f"size={of_size}")
    if stated is None or "=" in of_size:
        raise InputError(f"--os-disk '{text}': write a size, such as 64GiB, or 64GiB,iops=2000")
    _check_columns(f"--os-disk '{text}'", stated, _OS_DISK_COLUMNS)
    try:
        return demand({"latency": "premium", "max_disks": "1", **shared, **stated}, "", {"is_os_disk": True})
    except InputError as error:
        raise InputError(f"--os-disk '{text}': {error}") from None


def _stated(text: str) -> dict[str, str] | None:
    """The values of ``column=value`` with commas between them; None: it has another form."""
    parts = [part.partition("=") for part in text.split(",")]
    if any(not value for _, _, value in parts):
        return None
    return {column.strip().replace("-", "_"): value for column, _, value in parts}


def _check_columns(what: str, stated: Iterable[str], wanted: Sequence[str]) -> None:
    if unknown := [column for column in stated if column not in wanted]:
        raise InputError(f"{what}: '{unknown[0]}' is not one of: {', '.join(wanted)}")


def workloads(path: Path, lines: Iterable[str], common: Mapping[str, str]) -> list[tuple[str, Demand]]:
    """The workloads of a CSV file, by name.

    Parameters
    ----------
    path : Path
        Of the file, for messages.
    lines : iterable of str
        Of the file: a header of `DEMAND_COLUMNS` and ``name``, in any order, as many as are needed; then
        a line a workload.
    common : mapping of str to str
        What holds for every row that does not say otherwise.

    Raises
    ------
    InputError
        With file, line and value.
    """
    try:
        rows = csv.DictReader(lines)
        named = [name.strip() for name in rows.fieldnames or ()]
        header = [_OLD_COLUMNS.get(name, name) for name in named]
        rows.fieldnames = header
        found = list(rows)
    except csv.Error as error:
        raise InputError(f"{path}: cannot be read as workloads: {error}") from error
    if not header:
        raise InputError(
            f"{path}: an empty file; it begins with the names of its columns, such as name,iops,size"
        )
    unknown = [name for name in header if name not in ("name", PRESET, *DEMAND_COLUMNS)]
    if unknown:
        wanted = ", ".join(("name", PRESET, *DEMAND_COLUMNS))
        raise InputError(f"{path}: column '{', '.join(unknown)}' is not one of: {wanted}")
    if not found:
        raise InputError(f"{path}: no workload; write one a line below the header")
    return [_row(path, line, row, common) for line, row in enumerate(found, 2)]


def _row(path: Path, line: int, row: Mapping[Any, Any], common: Mapping[str, str]) -> tuple[str, Demand]:
    place = f"{path}, line {line}"
    if None in row or None in row.values():
        raise InputError(f"{place}: not as many cells as the header has")
    own = {column: text for column, text in row.items() if column != "name" and text.strip()}
    try:
        return row.get("name") or f"line {line}", demand({**common, **own}, "")
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
