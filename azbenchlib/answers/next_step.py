"""What to change where a limit binds: the next disk or VM, what it gives and costs, and what binds then."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from typing import Any

import pandas as pd

from azbenchlib.advisor.reasons.next_step import (
    BoundLoad,
    NextStep,
    NoStep,
    SetupPart,
    Shop,
    StepObstacle,
    next_step,
)
from azbenchlib.analysis.flow import Flow, rates
from azbenchlib.analysis.runs import Run
from azbenchlib.analysis.setup_names import CACHE_WORDS, ROLE_WORDS
from azbenchlib.answers.document import Sentence
from azbenchlib.answers.figures import AS_BYTES_PER_S, AS_IOPS, Figure, money
from azbenchlib.azure.prices.book import USD, book
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import NBSP, format_count, format_mbps, format_money, format_size
from azbenchlib.cost.priced_setups import regions
from azbenchlib.model.ceilings import Path
from azbenchlib.model.descriptions import stated_setup
from azbenchlib.model.io_path import Load
from azbenchlib.model.labels import Label
from azbenchlib.model.setup import NO_CAP, VM, Disk, Setup
from azbenchlib.verdict import limit_sources
from azbenchlib.verdict.judgement import Judgement

Step = NextStep | NoStep | None
_MOST_NAMED = 3
_VOWELS = "AEIOU"
_SPOKEN_VOWELS = "AEFHILMNORSX"  # letters whose names begin with a vowel: an E16ds_v4


class NextSteps:
    """What to change on the setups of a dataset; each question is answered once.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of setups that are not Azure's there is no next step.
    currency : str
        Of the prices.
    """

    def __init__(self, tables: Mapping[str, pd.DataFrame], currency: str = USD) -> None:
        self._regions = regions(tables)
        self._stated = cache(lambda name: stated_setup(tables, name))
        self._shop = cache(lambda region: _shop(region, currency))
        self._asked = cache(lambda name, bound: _answer(bound, self._shop(self._regions[name])))

    def of(self, run: Run, judged: Judgement) -> Step:
        """What to change for one run; None where no limit is likely to bind it, or too little is known."""
        if run.setup_id not in self._regions or not judged.probably_at_limit:
            return None
        bound = _bound_load(run, judged, self._stated(run.setup_id))
        return None if bound is None else self._asked(run.setup_id, bound)


def _shop(region: str, currency: str) -> Shop:
    day = date.today().isoformat()
    try:
        there = book(region, currency=currency)
    except InputError:
        return Shop(region=region, prices={}, day=day)
    return Shop(region=there.region, prices=there.prices, day=day)


def _answer(bound: BoundLoad, shop: Shop) -> Step:
    try:
        return next_step(bound, shop)
    except InputError:
        return None  # the catalogue does not know a part of it


def _bound_load(run: Run, judged: Judgement, stated: Setup) -> BoundLoad | None:
    """The load of all that ran at once: what is bound takes what it gets, the rest what it got."""
    loads: list[Load] = []
    for flow, part in zip(run.flows, judged.flows, strict=True):
        bound = any(label in judged.binding for label in part.binding)
        try:
            loads += _loads(flow, part.path, stated, bound)
        except InputError:
            return None
    bases = {label.base for label in judged.binding} if judged.phases else set()
    rows = [row for row in judged.limits if row.label in judged.binding or row.label.base in bases]
    on_credits = any(row.on_credits for row in rows)
    labels = tuple(row.label for row in rows) if bases else judged.binding
    return BoundLoad(stated=stated, loads=tuple(loads), labels=labels, on_credits=on_credits)


def _loads(flow: Flow, path: Path, stated: Setup, bound: bool) -> list[Load]:
    got, volumes = rates(flow.observation), flow.driven(stated)
    share = flow.observation.read_share
    if share is None:
        if any(volume.disk.local or volume.disk.caching != "None" for volume in volumes):
            raise InputError("reads and writes have limits of their own there: which of them binds is open")
        share = 1.0  # reads and writes of managed disks without a cache share every limit
    known = "bytes_per_s" if got.iops is None else "iops"
    asked: dict[str, Any] = {known: (getattr(got, known) or 0.0) / len(volumes)}
    if bound:
        asked = {} if got.bs_bytes else {known: math.inf}
    return [
        Load(
            volume=volume.name,
            read_share=share,
            bs_bytes=got.bs_bytes,
            cache_hit=volume.disk.cache_hit if path.cache_hit is None else path.cache_hit,
            destaged=path.destaged,
            **asked,
        )
        for volume in volumes
    ]


def what_to_change(steps: Sequence[tuple[str, Step]]) -> list[Sentence]:
    """Each change once; behind the names of those that it is for, unless it is for all.

    Parameters
    ----------
    steps : sequence of (str, Step)
        What each is called, and what to change there.
    """
    groups: list[tuple[list[str], list[NextStep | NoStep]]] = []
    for name, step in steps:
        if step is None:
            continue
        names, alike = next((group for group in groups if _is_alike(group[1][0], step)), ([], []))
        if not names:
            groups.append((names, alike))
        names.append(name)
        alike.append(step)
    whole = len(groups) == 1 and len(groups[0][0]) == len(steps)
    return [_behind("" if whole else _listed(names), alike) for names, alike in groups]


def _is_alike(step: NextStep | NoStep, other: NextStep | NoStep) -> bool:
    if isinstance(step, NextStep) and isinstance(other, NextStep):
        return is_same_change(step, other)
    return step == other


def _behind(names: str, alike: Sequence[NextStep | NoStep]) -> Sentence:
    """One change behind names; of several loads in short."""
    changes = [step for step in alike if isinstance(step, NextStep)]
    words = in_short(changes) if len(changes) > 1 else sentence(alike[0])
    return Sentence(f"{{names}}: {words.template}", {"names": names, **words.figures}) if names else words


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def sentence(step: NextStep | NoStep) -> Sentence:
    """What to change, what the load may get then, what binds it there, and what that costs."""
    if isinstance(step, NoStep):
        return Sentence(_NONE[step.obstacle, step.part])
    figures: dict[str, Figure | str] = {"what": _what(step), "rate": _rate(step)}
    figures |= {f"limit{i}": _limit(step, *pair) for i, pair in enumerate(step.binding)}
    words = f"{{what}} up to {{rate}}{' without credits' if step.on_credits else ''}, {_then(step)}"
    return Sentence(f"{words}{_price(step, figures)}.{_instead(step, figures)}", figures)


def in_short(steps: Sequence[NextStep]) -> Sentence:
    """One change for several loads: the most that they may get, and what it costs."""
    first = steps[0]
    most: dict[str, Figure | str] = {}
    for step in sorted(steps, key=lambda step: float(_rate(step).value or 0)):
        most[step.labels[0].quantity or ""] = _rate(step)
    rates_ = " or ".join(f"{{{name}}}" for name in most)
    figures = {**most, "what": _what(first)}
    if not first.more:
        return Sentence(f"{{what}} up to {rates_}.", figures)
    figures["more"] = _money(first, abs(first.more))
    return Sentence(f"{{what}} up to {rates_}, for {{more}} {_more(first)} a month.", figures)


def is_same_change(step: NextStep, other: NextStep) -> bool:
    """Whether two steps buy the same part in place of the same, whatever load each is for."""
    return (_what(step), step.more, step.region) == (_what(other), other.more, other.region)


_NONE = {
    (
        StepObstacle.BOTH_BIND,
        SetupPart.DISK,
    ): "Disk and VM bind at the same rate, and no larger ones are known that give more.",
    (
        StepObstacle.BOTH_BIND,
        SetupPart.VM,
    ): "A larger VM gives no more: its disks bind there too, and no others are known that give more.",
    (StepObstacle.NONE_LARGER, SetupPart.DISK): "No single disk of Azure that may replace it gives more.",
    (StepObstacle.NONE_LARGER, SetupPart.VM): "No VM size of its series is known to give more.",
}


def _what(step: NextStep) -> str:
    """``A P40 gives``, ``2 × P40 give``, ``Provisioned with 40,000 IOPS and 500 MB/s the disk gives``, ``An
    E16ds_v5 with a P40 gives``.
    """
    if step.part is not SetupPart.DISK:
        disks = disk_words(step.disk) if step.part is SetupPart.BOTH else ""
        if disks and step.disk.count == 1:
            disks = _with_article(disks).replace("A", "a", 1)
        return f"{_with_article(vm_words(step.after))}{' with ' if disks else ''}{disks} gives"
    before, disk = step.before.disks[step.place], step.disk
    if disk.provisioned and disk.kind is before.kind:
        grown = f"{format_size(disk.size_bytes or 0)}, " if disk.size_bytes != before.size_bytes else ""
        with_ = f"With {grown}{_provisioned(disk, ' and ')} provisioned"
        return f"{with_} on each disk they give" if disk.count > 1 else f"{with_} the disk gives"
    return f"{disk_words(disk)} give" if disk.count > 1 else f"{_with_article(disk_words(disk))} gives"


def _rate(step: NextStep) -> Figure:
    """In the unit of the limit that is lifted; its source is that of the limits that bind then."""
    source = "; ".join(dict.fromkeys(_source(step, label) for label, _ in step.binding))
    if step.labels[0].quantity == "mbps":
        return Figure(step.then.bytes_per_s, AS_BYTES_PER_S, source)
    return Figure(step.then.iops, AS_IOPS, source)


def _limit(step: NextStep, label: Label, value: float) -> Figure:
    return Figure(value, AS_BYTES_PER_S if label.quantity == "mbps" else AS_IOPS, _source(step, label))


def _source(step: NextStep, label: Label) -> str:
    """The row of the catalogue that a limit is in; provisioned figures are stated."""
    disks = tuple(replace(disk, cap=NO_CAP) if disk.tier else disk for disk in step.after.disks)
    stated = replace(step.after, vm=VM(size=step.after.vm.size), disks=disks)
    return limit_sources.rows(step.after, stated).get(label, limit_sources.AS_STATED)


def _then(step: NextStep) -> str:
    """What binds then: a limit of the part itself, or others."""
    lifted = {label.scope for label in step.labels}
    if step.part is not SetupPart.BOTH and all(label.scope in lifted for label, _ in step.binding):
        many = step.part is SetupPart.DISK and step.disk.count > 1
        return f"{'their' if many else 'its'} own limit"
    shown = step.labels[0].quantity  # of this its rate says how much it is
    named = [
        label.phrase("" if label.quantity == shown else f"{{limit{i}}}")
        for i, (label, _) in enumerate(step.binding)
    ]
    return f"then {' and '.join(named)} {'bind' if len(named) > 1 else 'binds'}"


def _price(step: NextStep, figures: dict[str, Figure | str]) -> str:
    if step.price is None:
        figures["region"] = step.region
        return "; its price in {region} is not known"
    if step.more is None:
        figures["price"] = _money(step, step.price)
        return ": {price} a month"
    figures["more"] = _money(step, abs(step.more))
    figures["price"] = _money(step, step.price, bare=True)
    figures["before"] = _money(step, step.price - step.more, bare=True)
    return f": {{more}} {_more(step)} a month ({{price}} instead of {{before}})"


def _more(step: NextStep) -> str:
    return "less" if step.more is not None and step.more < 0 else "more"


def _money(step: NextStep, amount: Any, bare: bool = False) -> Figure:
    unit = money(step.currency, "month")
    shown = format_money(float(amount))
    text = shown if bare else f"{step.currency}{NBSP}{shown}"
    lines = step.bill_after.lines if step.bill_after else ()
    source = "; ".join(dict.fromkeys(f"{line.price.source_id} of {line.price.as_of}" for line in lines))
    return Figure(amount, unit, source, text=text)


def _instead(step: NextStep, figures: dict[str, Figure | str]) -> str:
    other = step.instead
    if other is None or other.price is None:
        return ""
    words, many = disk_words(other.disk), other.disk.count > 1
    figures["other"] = words if many else _with_article(words)
    figures["other_price"] = _money(other, other.price)
    return f" {{other}} {'give' if many else 'gives'} as much for {{other_price}} a month."


def _with_article(name: str) -> str:
    """``A P40``, ``An E16ds_v4``, ``An Ultra Disk``: names of tiers and sizes are spelled."""
    is_spelled = any(letter.isdigit() for letter in name.partition(" ")[0])
    return f"A{'n' if name[:1] in (_SPOKEN_VOWELS if is_spelled else _VOWELS) else ''} {name}"


def vm_words(setup: Setup) -> str:
    """The VM size without its prefix."""
    return (setup.vm.size or "").removeprefix("Standard_")


def disk_words(disk: Disk) -> str:
    """``5 × P15``, ``2 × Premium SSD v2 (16 GiB, 3,000 IOPS, 125 MB/s each)``, ``its temp disk``."""
    if disk.local:
        return f"its {ROLE_WORDS[disk.role][0]}"
    count = f"{disk.count}{NBSP}×{NBSP}" if disk.count > 1 else ""
    if disk.tier:
        caching = "" if disk.caching == "None" else f" with {CACHE_WORDS[disk.caching]}"
        zones = " ZRS" if (disk.sku or "").endswith("_ZRS") else ""
        return f"{count}{disk.tier}{zones}{caching}"
    kind = disk.kind.label if disk.kind else disk.name
    figures = f"{format_size(disk.size_bytes or 0)}, {_provisioned(disk, ', ')}"
    return f"{count}{kind} ({figures}{' each' if disk.count > 1 else ''})"


def _provisioned(disk: Disk, between: str) -> str:
    return f"{format_count(disk.cap.iops or 0)} IOPS{between}{format_mbps(disk.cap.bytes_per_s or 0)} MB/s"
