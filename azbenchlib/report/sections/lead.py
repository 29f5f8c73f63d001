"""The lead of a report: which limit binds which setups, in a few sentences made from the verdicts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from azbenchlib.advisor.reasons.next_step import NextStep
from azbenchlib.answers import sayings
from azbenchlib.answers.next_step import in_short, is_same_change
from azbenchlib.answers.surface_verdict import page_cache
from azbenchlib.core.units import NBSP, format_range, format_size
from azbenchlib.model.labels import Label
from azbenchlib.report import formatting
from azbenchlib.report.sections import file_sets, highest
from azbenchlib.report.sections.lead_sentence import LeadSentence, is_plural, linked
from azbenchlib.report.setup_answer import FAR, SetupAnswer, setups_and_files
from azbenchlib.verdict import LimitRow
from azbenchlib.verdict import text as verdict_words

if TYPE_CHECKING:
    from azbenchlib.report.part import Part, RunVerdict

_MOST = 3  # sentences on limits
_MOST_NAMED = 3  # setups in a sentence on what answered in place of the disk
_MOST_ALIKE = 4  # setups at one limit that are all named; of more the first, and how many others
_MOST_SETS = 2  # of files, in the lead
_MOST_VMS = 4  # in a title


@dataclass(frozen=True)
class _Bound:
    """A setup at a limit."""

    answer: SetupAnswer
    row: LimitRow


def title(parts: Sequence[Part], found: Sequence[SetupAnswer]) -> str:
    """Of one dataset its own; of several how many setups there are, and on which VMs."""
    if len(parts) == 1:
        return parts[0].manifest.title
    vms = [
        answer.verdict.setup.vm.size for answer in found if answer.verdict and answer.verdict.setup.vm.size
    ]
    sizes = [size.removeprefix("Standard_") for size in dict.fromkeys(vms)]
    counts = zip(setups_and_files(found), ("setup", "file"), strict=True)
    setups = " and ".join(formatting.count(n, noun) for n, noun in counts if n)
    if not sizes or len(sizes) > _MOST_VMS:
        return f"{setups} of {formatting.count(len(parts), 'dataset')}"
    return f"Disks of {' and '.join([*filter(None, [', '.join(sizes[:-1])]), sizes[-1]])}: {setups}"


def lead(found: Sequence[SetupAnswer]) -> list[LeadSentence]:
    """What was found: several setups at one limit together, then others at a limit, else what is known.

    Parameters
    ----------
    found : sequence of SetupAnswer
        One a card.
    """
    served, others = _by_page_cache(found)
    return [*served, *(_of_limits(others) if others else [])]


def _by_page_cache(found: Sequence[SetupAnswer]) -> tuple[list[LeadSentence], list[SetupAnswer]]:
    """What the page cache served of iozone's sizes, and the setups of which more is to be said."""
    words = page_cache([surface for answer in found for surface in answer.surfaces])
    if words is None:
        return [], list(found)
    first = next(answer for answer in found if page_cache(answer.surfaces))
    others = [
        answer
        for answer in found
        if not (answer.surfaces and answer.verdict and sayings.is_not_the_disk(answer.verdict.judged))
    ]
    unknown = [] if _sized(found) else [LeadSentence("", ((_no_limit(found), ""),))]
    return [LeadSentence(first.place, ((f"{words.text}.", ""),)), *([] if others else unknown)], others


def _of_limits(found: Sequence[SetupAnswer]) -> list[LeadSentence]:
    """Which limits bind which setups, else what is known."""
    bound = [_Bound(answer, row) for answer in found if (row := _at_limit(answer)) is not None]
    groups: dict[Hashable, list[_Bound]] = defaultdict(list)
    for one in bound:
        groups[_limit(one)].append(one)
    ranked = sorted(groups.values(), key=lambda some: (-len(some), not some[0].answer.phases))
    told = [_together(some) for some in ranked[:_MOST]]
    if len(ranked) > _MOST:
        n, of = _bound_of_all([one.answer for one in bound], found)
        told.append(LeadSentence("", ((f"{n} of {of} run into a documented limit.", ""),)))
    if told:
        return [*told, *_to_change([one.answer for one in bound]), *_above(found), *_beyond(found)]
    measured, answered = _of_sets(found), _not_the_disk(found)
    if answered is None:
        return [*(measured or _beyond(found) or highest.rates(found)), _unbound(found)]
    return [*measured, answered, *([] if _sized(found) else [LeadSentence("", ((_no_limit(found), ""),))])]


def _to_change(bound: Sequence[SetupAnswer]) -> list[LeadSentence]:
    """What to change, where the same change lifts the limits of more than half of those at one."""
    steps = [(answer.place, step) for answer in bound if isinstance(step := answer.next_step, NextStep)]
    for place, step in steps:
        alike = [other for there, other in steps if there == place and is_same_change(step, other)]
        if len(alike) > len(bound) / 2:
            return [LeadSentence(place, ((in_short(alike).text, ""),))]
    return []


def _above(found: Sequence[SetupAnswer]) -> list[LeadSentence]:
    """Which setup got more than is documented of it, and how much; one of several."""
    for answer in found:
        judged = answer.verdict.judged if answer.verdict else None
        if judged and judged.binding[:1] == (Label.ABOVE_DOCUMENTED_LIMIT,) and judged.limits:
            row = max(judged.limits, key=lambda row: row.utilisation)
            text = f" got {_share(row)}: what is stated of the setup may be wrong."
            return [LeadSentence(answer.place, (linked(answer, begins=True), (text, "")))]
    return []


def _beyond(found: Sequence[SetupAnswer]) -> list[LeadSentence]:
    """Where a curve is best, and what lies beyond: of the one that it costs most."""
    level = [answer for answer in found if answer.curve and answer.curve.slower > 1]
    if not level:
        return []
    most = max(level, key=lambda answer: answer.curve.slower if answer.curve else 0)
    assert most.curve is not None  # noqa: S101  (those at hand have one)
    text = most.curve.beyond.text
    name = most.curve.curve.name
    pieces = ((f"{name[:1].upper()}{name[1:]}", most.id), (f": {text[:1].lower()}{text[1:]}.", ""))
    return [LeadSentence(most.place, pieces)]


def _of_sets(found: Sequence[SetupAnswer]) -> list[LeadSentence]:
    """What files of one workload gave, the largest sets first."""
    sets = [(answer.card.files, answer) for answer in found if answer.card.files is not None]
    largest = sorted(sets, key=lambda one: -one[0].n_files)[:_MOST_SETS]
    return [
        LeadSentence(answer.place, ((answer.name, answer.id), (f" {file_sets.finding(files)}", "")))
        for files, answer in largest
    ]


def _bound_of_all(bound: Sequence[SetupAnswer], found: Sequence[SetupAnswer]) -> tuple[int, str]:
    """How many setups have a card at a limit, of how many; workloads, where all cards are of one setup."""
    setups, _ = setups_and_files(found)
    if setups == 1:
        return len(bound), formatting.count(len(found), "workload")
    return setups_and_files(bound)[0], formatting.count(setups, "setup")


def _at_limit(answer: SetupAnswer) -> LimitRow | None:
    verdict = answer.verdict
    if verdict is None or not verdict.at_limit:
        return None
    rows = sayings.binding_rows(verdict.judged)
    return rows[0] if rows else None


def _limit(one: _Bound) -> Hashable:
    """What setups share that stop at the same limit: VM size, value, and whether they burst."""
    verdict = one.answer.verdict
    assert verdict is not None  # noqa: S101  (a bound setup has one)
    several = len(sayings.binding_rows(verdict.judged)) > 1
    vm = verdict.setup.vm.size or one.answer.place
    alone = one.answer.name if one.answer.phases else ""
    return vm, one.row.label.quantity, one.row.label.burst, round(one.row.value), several, alone


def _together(some: Sequence[_Bound]) -> LeadSentence:
    first = some[0]
    verdict = first.answer.verdict
    assert verdict is not None  # noqa: S101  (a bound setup has one)
    rows = sayings.binding_rows(verdict.judged)
    at = _near(some) + " and ".join(sayings.limit_text(row) for row in rows)
    other = sayings.beside(verdict.judged, first.row) if len(rows) == 1 else None
    lacking = f", not at {sayings.limit_text(other)}" if other else ""
    if first.row.on_credits:
        is_one = len(some) == 1 and not is_plural(first.answer)
        lacking = f" while {'its' if is_one else 'their'} burst credits last"
    if len(some) > 1:
        return _of_several([one.answer for one in some], verdict, f"stop at {at}{lacking}.")
    one = "" if is_plural(first.answer) else "s"
    does = f"give{one} {first.answer.phases}." if first.answer.phases else f"stop{one} at {at}{lacking}."
    return LeadSentence(first.answer.place, (linked(first.answer, begins=True), (f" {does}", "")))


def _near(some: Sequence[_Bound]) -> str:
    """``90 % of `` or ``90 to 97 % of ``, where not all rates are at the limit that binds."""
    used = sorted(round(100 * one.row.utilisation) for one in some)
    if used[0] >= 100 * sayings.REACHED:
        return ""
    ends = " to ".join(str(end) for end in dict.fromkeys((used[0], used[-1])))
    return f"{ends}{NBSP}% of "


def _of_several(some: Sequence[SetupAnswer], verdict: RunVerdict, does: str) -> LeadSentence:
    """``On E8ds_v4 the temp disk and the OS disk (no cache) both stop at 484 MB/s``."""
    vm = (verdict.setup.vm.size or "").removeprefix("Standard_")
    shared = bool(vm) and all(answer.name.startswith(f"{vm}, ") for answer in some)
    pieces: list[tuple[str, str]] = [(f"On {vm} ", "")] if shared else []
    named = some if len(some) <= _MOST_ALIKE else some[:_MOST_NAMED]
    others = len(some) - len(named)
    for i, answer in enumerate(named):
        before = "" if not i else " and " if i == len(some) - 1 else ", "
        name = linked(answer, f"{vm}, " if shared else "", begins=not i and not shared)
        pieces += [(f"{before}{'the ' if shared else ''}", ""), name]
    pieces += [(f" and {others} more{_sizes_of(some)}", "")] if others else []
    return LeadSentence(some[0].place, (*pieces, (f" {'both' if len(some) == 2 else 'all'} {does}", "")))


def _sizes_of(some: Sequence[SetupAnswer]) -> str:
    """Which blocks curves are of: `` (blocks of 4 to 16 KiB)``; empty where they are no curves."""
    sizes = [answer.curve.curve.bs_bytes for answer in some if answer.curve]
    known = [size for size in sizes if size]
    if len(known) < len(some):
        return ""
    return f" (blocks of {format_range(*(format_size(end) for end in (min(known), max(known))))})"


def _not_the_disk(found: Sequence[SetupAnswer]) -> LeadSentence | None:
    """What answered in place of the disk, and where; None where nothing did in most setups."""
    groups: dict[str, list[SetupAnswer]] = defaultdict(list)
    for answer in found:
        if answer.verdict is None:
            continue
        if sayings.is_not_the_disk(answer.verdict.judged):
            groups[sayings.sentence(answer.verdict.judged, answer.phases)].append(answer)
    if not groups:
        return None
    words, some = max(groups.items(), key=lambda item: len(item[1]))
    if len(some) < len(found) / 2:
        return None
    if len(some) == 1 and (above := _above(some)):
        return above[0]
    begun = f"{words[:1].upper()}{words[1:]}"
    if len(some) == len(found) <= _MOST_SETS and all(answer.card.files for answer in found):
        return LeadSentence(some[0].place, ((f"{begun}.", ""),))  # all of them are named before
    pieces: list[tuple[str, str]] = [(f"{begun}: ", "")]
    for i, answer in enumerate(some[:_MOST_NAMED]):
        pieces += [(", " if i else "", ""), linked(answer)]
    more = len(some) - _MOST_NAMED
    pieces.append((f" and {more:,} more." if more > 0 else ".", ""))
    return LeadSentence(some[0].place, tuple(pieces))


def _unbound(found: Sequence[SetupAnswer]) -> LeadSentence:
    """No setup is at a limit: which is or may be above one, which came closest, or that no limit is known."""
    known = [
        (row.utilisation, answer, row)
        for answer in found
        if answer.verdict
        for row in answer.verdict.judged.limits
        if row.utilisation <= FAR
    ]
    if known:
        used, answer, row = max(known, key=lambda one: one[0])
        share = _share(row)
        if used > 1.0:
            return LeadSentence(answer.place, (linked(answer, begins=True), (f" reached {share}.", "")))
        above = next((answer for answer in found if answer.verdict and _may_be_above(answer.verdict)), None)
        if above is not None:
            text = f": {above.sentence[:1].lower()}{above.sentence[1:]}."
            return LeadSentence(above.place, (linked(above, begins=True), (text, "")))
        pieces = (linked(answer), (f" is closest, with {share}.", ""))
        return LeadSentence(answer.place, (("No setup stopped at a documented limit: ", ""), *pieces))
    if len(found) == 1 and found[0].card.rate is not None:
        rate = found[0].card.rate
        text = f"{formatting.rate_words(rate)} ({formatting.workload_of(rate)})."
        return LeadSentence(found[0].place, ((f"{text} {_no_limit(found)}", ""),))
    return LeadSentence(found[0].place if found else "", ((_no_limit(found), ""),))


def _may_be_above(verdict: RunVerdict) -> bool:
    """Whether more than is documented is one of two causes between which the run does not tell."""
    judged = verdict.judged
    causes = {*judged.binding[:1], judged.runner_up}
    return 0 < judged.probability < verdict_words.PROBABLY and Label.ABOVE_DOCUMENTED_LIMIT in causes


def _share(row: LimitRow) -> str:
    """``115 % of the disk limit of 500 IOPS``, and as how many an I/O counts."""
    share = f"{100 * row.utilisation:.0f}{NBSP}% of {row.label.phrase(sayings.limit_text(row))}"
    counted = sayings.counted_text(row)
    return f"{share} ({counted})" if counted else share


def _sized(found: Sequence[SetupAnswer]) -> bool:
    """Whether the VM size of any setup is known."""
    return any(answer.verdict and answer.verdict.setup.vm.size for answer in found)


def _no_limit(found: Sequence[SetupAnswer]) -> str:
    if _sized(found):
        return "No documented limit is known for these setups: the cards show what was measured."
    likely = next(
        (a.verdict.judged.likely_setup for a in found if a.verdict and a.verdict.judged.likely_setup), ""
    )
    looks = f" The rates look like {likely}." if likely else ""
    return (
        f"No documented limits: the VM size is unknown.{looks} Add --vm and --disk to learn which limit "
        "binds; the cards show what was measured."
    )
