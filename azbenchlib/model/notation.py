"""The short notation of disks: ``P30x4:ReadOnly``, ``ultra:128GiB/10000iops/50MBps``, ``temp``.

``[ROLE:]KIND[xN][/SIZE][:SIZE/IOPSiops/MBPSMBps][:ZRS][:CACHING][:hit=SHARE][:burst|noburst]``

- ROLE: ``data`` (default), ``os``, or ``ephemeral`` followed by where it lies: ``cache``, ``temp``, ``nvme``.
- KIND: a tier such as ``P30``, ``E10``, ``S30``; ``ultra`` or ``pv2``; ``temp`` or ``nvme``: the words of
  :mod:`azbenchlib.azure.disk_kinds`.
- SIZE: where it is not the tier's own (``P50/4095GiB``); whole GiB. IOPS and MBps may end in k: ``10kiops``.
- xN: N disks striped into one volume. Disks of their own are written one by one. ``4xP30`` is the same.
- ZRS: zone-redundant storage, where the kind has it; ``LRS`` is the default.
- CACHING: ``None`` (default), ``ReadOnly``, ``ReadWrite``; hit: share of reads that the cache serves.
- burst: on-demand bursting is on; noburst: the disk does not burst.

What people write is understood too: ``Premium SSD 1TiB``, ``PremiumV2_LRS/512GiB``, ``4 x std ssd 512GB``. A
kind of disk that is sold in tiers takes the tier that holds the size, and that is said.

Numbers that are not given come from the catalogue (:mod:`azbenchlib.model.fill_from_catalogue`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from azbenchlib.azure import catalog, disk_kinds
from azbenchlib.azure.disk_kinds import DiskKind
from azbenchlib.core.choices import HOST_CACHING
from azbenchlib.core.errors import InputError
from azbenchlib.core.name_forms import QUOTED_CHARS, plain, squeezed, taken_for
from azbenchlib.core.nearest import nearest
from azbenchlib.core.units import GIB, MB, format_size, stated_rate, stated_size
from azbenchlib.model.setup import PLACEMENTS, VM, Cap, Disk, Setup

_RATE = re.compile(r"^(?P<value>\d{1,30}(?:\.\d{1,30})?k?)(?P<unit>iops|mbps|mb/s)$", re.I)
_REDUNDANCIES = ("LRS", "ZRS")
_MOST, _DIGITS = 1000, 4  # disks in a volume: far more than any VM takes
_COUNTED = (
    re.compile(r"(?P<n>\d+) ?[x*] ?(?P<name>\D.*)", re.I),
    re.compile(r"(?P<name>.+?) ?[x*] ?(?P<n>\d+)", re.I),
)
_TIERED = (
    re.compile(r"(?P<name>[a-z0-9]*?)(?P<tier>[a-z]\d{1,3})"),
    re.compile(r"(?P<tier>[a-z]\d{1,3})(?P<name>[a-z]*)"),
)
_SIZED = re.compile(r"(?P<name>.*?[a-z\d])[ _-]*\b(?P<size>\d+(?:\.\d+)? ?[kmgtp]i?b?)", re.I)
_EXAMPLES = "P30, P30x4:ReadOnly, os:P4:ReadWrite, ultra:128GiB/10000iops/50MBps, temp, nvme, ephemeral:cache"


@dataclass(kw_only=True)
class _Words:
    """What the parts of one text say, as far as they are read."""

    sizes: dict[str, float] = field(default_factory=dict)
    caching: str = "None"
    cache_hit: float | None = None
    bursting: bool | None = None
    redundancy: str | None = None
    held_by_a_tier: bool = False  # whether the size only has to fit into one
    said: dict[str, str] = field(default_factory=dict)  # what was stated, in the word that did

    def state(self, text: str, what: str, word: str) -> None:
        """Note that a word states something; a second word for the same is refused."""
        if what in self.said:
            raise InputError(
                f"--disk '{text}': '{self.said[what]}' and '{word}' both state the {what}; keep one of them"
            )
        self.said[what] = word


def stated_setup(
    vm: str | None, disks: str | Sequence[str] = (), as_of: str | None = None, *, open_sizes: bool = False
) -> Setup:
    """The setup that somebody states by hand: a VM size and disks that exist, as Azure writes them.

    Parameters
    ----------
    vm : str, optional
        In any spelling of :func:`azbenchlib.azure.catalog.vm`.
    disks : str or sequence of str
        In the short notation.
    as_of : str, optional
        ISO day whose limits apply.
    open_sizes : bool
        Whether a kind that is sold in tiers may be named without its size, which then stays open.

    Raises
    ------
    InputError
        For a size, a tier or a kind of disk that there is not, with the nearest names.
    """
    size = catalog.vm(vm).size if vm else None
    several = [disks] if isinstance(disks, str) else disks
    return Setup(VM(size=size), parse_disks(several, open_sizes=open_sizes), as_of)


def parse_disks(texts: Sequence[str], *, open_sizes: bool = False) -> tuple[Disk, ...]:
    """Disks in the short notation, with the numbers that they state; named so that names differ.

    Parameters
    ----------
    texts : sequence of str
    open_sizes : bool
        Whether a kind that is sold in tiers may be named without its size.

    Raises
    ------
    InputError
        For a text that is not in the notation; the sentence shows it and examples.
    """
    return with_names(parse_disk(text, open_sizes=open_sizes) for text in texts)


def parse_disk(text: str, *, open_sizes: bool = False) -> Disk:
    """One disk in the short notation."""
    parts = plain(text).split(":")
    role = parts.pop(0).strip().lower() if parts[0].strip().lower() in ("os", "data", "ephemeral") else "data"
    if role == "ephemeral":
        return _ephemeral(text, parts)
    words = _Words()
    head, *sizes = parts[0].split("/") if parts else [""]
    named = _named(text, head, words)
    for part in (*sizes, *parts[1:]):
        _read(text, part.strip(), words)
    kind = named.kind
    _check_words(text, kind, role, words)
    count = _count(text, named.count or "1")
    return Disk(
        name=text.strip(),
        role=kind.key if kind.local else role,
        sku=f"{kind.sku}_{words.redundancy or named.redundancy}" if kind.sku else None,
        tier=named.tier or _tier_by_size(text, named, words, open_sizes),
        size_bytes=words.sizes.get("size"),
        caching=words.caching,
        cap=Cap(iops=words.sizes.get("iops"), bytes_per_s=words.sizes.get("bytes_per_s")),
        count=count,
        striped=count > 1,
        cache_hit=words.cache_hit,
        bursting=words.bursting,
        unstated=("count",) if kind.key == "nvme" and not named.count else (),
    )


def leaves_caching_open(name: str) -> bool:
    """Return whether a disk that has its short notation as its name says nothing of its host caching."""
    text = _NUMBERED.sub("", name)
    try:
        parse_disk(text, open_sizes=True)
    except InputError:
        return False
    return not {mode.lower() for mode in HOST_CACHING} & {part.strip().lower() for part in text.split(":")}


@dataclass(frozen=True, kw_only=True)
class _Named:
    """What the first part of a text names: a kind, and a tier where it is one; and how many."""

    kind: DiskKind
    tier: str | None = None
    redundancy: str = "LRS"
    count: str = ""


def _named(text: str, head: str, words: _Words) -> _Named:
    """The tier or the kind that is named, whatever the spelling; a size behind the name goes to the words."""
    head, count = head.strip(), ""
    for pattern in _COUNTED:
        if match := pattern.fullmatch(head):
            head, count = match["name"], match["n"]
            break
    names, letters, size = _kind_names(), squeezed(head), ""
    for tier, kind in _tier_named(letters, names):
        return _Named(kind=kind, tier=catalog.disk_tier(tier).name, count=count)
    if letters not in names and (match := _SIZED.fullmatch(head)) and squeezed(match["name"]) in names:
        letters, size = squeezed(match["name"]), match["size"].replace(" ", "")
    if letters not in names:
        near = dict.fromkeys(names[name][0].label for name in nearest(letters, names))
        which = f"; nearest: {', '.join(near)}" if near else ""
        raise InputError(
            f"--disk '{text[:QUOTED_CHARS]}' is not a disk{which}; write one such as {_EXAMPLES}"
        )
    kind, redundancy = names[letters]
    if letters == squeezed(f"{kind.sku}{redundancy}"):
        words.state(text, "redundancy", head)
    words.held_by_a_tier = kind.tiered
    if size:
        _read_size(text, size, words)
    return _Named(kind=kind, redundancy=redundancy, count=count)


def _tier_named(letters: str, names: Mapping[str, tuple[DiskKind, str]]) -> Iterator[tuple[str, DiskKind]]:
    """The tier that letters and digits name, alone or beside its kind: ``premiumssdp30``; and the kind."""
    for match in filter(None, (pattern.fullmatch(letters) for pattern in _TIERED)):
        kind = disk_kinds.of_tier(match["tier"])
        if kind and (not match["name"] or names.get(match["name"], (None,))[0] is kind):
            yield match["tier"].upper(), kind


def _kind_names() -> dict[str, tuple[DiskKind, str]]:
    """The kinds and redundancies by what they are called, in letters and digits."""
    found: dict[str, tuple[DiskKind, str]] = {}
    for kind in disk_kinds.kinds():
        names = [kind.label, *kind.other_names, *([] if kind.tiered else [kind.word])]
        found |= {squeezed(name): (kind, "LRS") for name in names}
        for redundancy in kind.redundancies if kind.sku else ():
            found[squeezed(f"{kind.sku}{redundancy}")] = (kind, redundancy)
    return found


def _tier_by_size(text: str, named: _Named, words: _Words, is_open: bool) -> str | None:
    """The tier that holds the stated size, of a kind that is sold in tiers; that is said. None: open."""
    kind = named.kind
    if not kind.tiered or kind.sku is None:
        return None
    n_bytes = words.sizes.get("size")
    if n_bytes is None and is_open:
        return None
    if n_bytes is None:
        raise InputError(
            f"--disk '{text[:QUOTED_CHARS]}': state the size of the {kind.label}, such as {kind.label} 1TiB, "
            "or its tier"
        )
    row = catalog.tier_for(kind.sku, int(n_bytes))
    taken_for("disk", text, row.name, f"{kind.label}, {format_size(row.size_bytes)}")
    words.sizes["size"] = row.size_bytes
    return row.name


def _count(text: str, number: str) -> int:
    count = int(number[:_DIGITS])
    if len(number) > _DIGITS or not 0 < count <= _MOST:
        raise InputError(f"--disk '{text[:QUOTED_CHARS]}': a volume has 1 to {_MOST:,} disks, such as P30x4")
    return count


_NUMBERED = re.compile(r" \(\d+\)$")  # as with_names numbers those of one name


def with_names(disks: Iterable[Disk]) -> tuple[Disk, ...]:
    """The disks with a number behind each name that several have: ``P30 (1)``, ``P30 (2)``."""
    given = list(disks)
    names = [disk.name for disk in given]
    return tuple(
        replace(disk, name=f"{disk.name} ({names[: i + 1].count(disk.name)})")
        if names.count(disk.name) > 1
        else disk
        for i, disk in enumerate(given)
    )


def _ephemeral(text: str, parts: list[str]) -> Disk:
    placement = parts[0].lower() if parts else "cache"
    if placement not in PLACEMENTS or len(parts) > 1:
        choices = ", ".join(f"ephemeral:{name}" for name in PLACEMENTS)
        raise InputError(f"--disk '{text}': an ephemeral OS disk is one of: {choices}")
    return Disk(name=text.strip(), role="ephemeral_os", placement=placement)


def _check_words(text: str, kind: DiskKind, role: str, words: _Words) -> None:
    """Refuse what disks of a kind cannot have."""
    cached = words.said.get("hit") or (words.said.get("host caching") if words.caching != "None" else None)
    if cached and not kind.cacheable:
        source = f" ({kind.no_caching_source})" if kind.no_caching_source else ""
        raise InputError(
            f"--disk '{text}': {kind.label} has no host caching{source}: leave '{cached}' out, or name a "
            "disk such as P30"
        )
    if words.bursting and not kind.on_demand_bursting:
        able = ", ".join(other.label for other in disk_kinds.kinds() if other.on_demand_bursting)
        raise InputError(
            f"--disk '{text}': 'burst' is on-demand bursting, which {able} alone has, not {kind.label}; "
            "leave it out"
        )
    there = () if kind.local else kind.redundancies
    if words.redundancy and words.redundancy not in there:
        which = f"; it has: {', '.join(there)}" if there else ": it is in the VM's host; leave it out"
        raise InputError(f"--disk '{text}': {kind.label} has no {words.redundancy}{which}")
    if words.bursting is False and not kind.tiered:
        raise InputError(
            f"--disk '{text}': {kind.label} has no bursting that 'noburst' could switch off; leave it out"
        )
    if role == "os" and kind.local:
        raise InputError(
            f"--disk '{text}': {kind.label} is no OS disk; write {kind.word}, or an OS disk such as os:P4"
        )


def _read(text: str, part: str, words: _Words) -> None:
    """Take in one part between colons."""
    modes = {mode.lower(): mode for mode in HOST_CACHING}
    if part.lower() in modes:
        words.state(text, "host caching", part)
        words.caching = modes[part.lower()]
    elif part.upper() in _REDUNDANCIES:
        words.state(text, "redundancy", part)
        words.redundancy = part.upper()
    elif part.lower() in ("burst", "noburst"):
        words.state(text, "bursting", part)
        words.bursting = part.lower() == "burst"
    elif part.lower().startswith("hit="):
        words.state(text, "hit", part)
        words.cache_hit = _number(text, part[4:])
    else:
        for piece in part.split("/"):
            _read_size(text, piece, words)


def _read_size(text: str, piece: str, words: _Words) -> None:
    if rate := _RATE.match(piece):
        name, unit = ("iops", 1) if rate["unit"].lower() == "iops" else ("bytes_per_s", MB)
        words.state(text, "IOPS" if name == "iops" else "MBps", piece)
        words.sizes[name] = stated_rate(rate["value"]) * unit
        return
    if not piece[:1].isdigit():
        modes = ", ".join(HOST_CACHING)
        raise InputError(
            f"--disk '{text}': '{piece}' is not a size, IOPS, MBps, {', '.join(_REDUNDANCIES)}, {modes}, "
            "hit=SHARE, burst or noburst"
        )
    try:
        n_bytes = stated_size(piece)
    except InputError as error:
        raise InputError(f"--disk '{text}': {error}") from error
    if (n_bytes % GIB and not words.held_by_a_tier) or not n_bytes:
        whole = max(1, round(n_bytes / GIB))
        raise InputError(
            f"--disk '{text}': a disk of Azure has whole GiB, and '{piece}' are {n_bytes / GIB:,.4g}; "
            f"write one such as {whole}GiB"
        )
    words.state(text, "size", piece)
    words.sizes["size"] = n_bytes


def _number(text: str, value: str) -> float:
    try:
        return float(value)
    except ValueError as error:
        raise InputError(f"--disk '{text}': hit '{value}' is not a number between 0 and 1") from error
