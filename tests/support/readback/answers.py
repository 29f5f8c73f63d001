"""The answer of a report: its lead, and of each card what binds, the bars, the price and the next step."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from bs4 import Tag

from readback import figures, file_sets, money, surfaces
from readback.changes import IS_CHANGE, Change
from readback.check import Checker
from readback.figures import Figure, spaced, text_of
from readback.known import documented, limit_stands
from readback.naming import Topic
from readback.priced import Priced

if TYPE_CHECKING:
    from readback.page import Page

RATES = ("iops", "bytes_per_s")
NEAR = (0.9, 1.12)  # measured ÷ limit of what is said to stop there
BELOW = 0.97  # and of what it is said not to have reached
NOT = re.compile(r"not (?:at|by that of) ?$")
# (latency at this queue depth: 51,000 IOPS; an unknown cause: 25,500 IOPS)
PREDICTIONS = re.compile(r"\((?:[^():;]+: [\d.,]+ (?:IOPS|MB/s)(?:; )?){2,}\)")
EXPECTED = re.compile(r"\(then [\d.,]+ (?:IOPS|MB/s) are expected\)")
LIKENESS = re.compile(r"The rates look like .*?, within \d+ %\.?")
APART = 1.09  # of predicted rates, rounded to three digits
REACHED_OF = re.compile(r"(?:closest, with|reached|got) \d+ % of \D+ limit (?:of )?[\d,.]+ (?:IOPS|MB/s)")
# A limit that holds after a burst, or with another block size.
LATER = re.compile(r"(?:then by that of|then by|up to) ?$")


def lead(checker: Page, tag: Tag) -> None:
    """``On E8ds_v4 the temp disk and the OS disk both stop at 484 MB/s``: of each of them.

    A setup is named by a link to its card.
    """
    text, place = without_likeness(checker, spaced(tag.get_text(""))), "headline"
    rest, named = text, []
    for link in tag.find_all("a"):
        name = spaced(link.get_text(""))
        card = checker.titles.get(str(link["href"]).removeprefix("#"), "")
        words, known = (set(re.findall(r"[\w.-]+", told.casefold())) for told in (name, card))
        if not card or not words <= known:
            checker.fault(place, f"'{name}' links to the card '{card}'")
        named.append(checker.part.names.read(card)[0])
        rest = rest.replace(name, " " * len(name))
    if counted := re.match(r"(\d+) of (\d+) setups? run into", text):
        right = int(counted[1]) <= int(counted[2]) >= len(checker.titles) > 0
        checker.accept(right, next(figures.find(text)), place, text, [len(checker.titles)], "count")
    elif used := REACHED_OF.search(text):
        (share, limit) = list(figures.find(used[0]))[:2]
        _share(checker, share, limit, named[0], place, text)
    elif IS_CHANGE.search(text):
        Change(checker, Topic(), place).read(text)
    elif re.search(r"\bstops? at", rest):
        for topic, figure in ((topic, figure) for topic in named for figure in figures.find(rest)):
            _limit(checker, figure, rest, topic, place)
    elif "at the median" in rest:
        (topic,) = named or [checker.part.names.read(text)[0]]  # without a link where it has no card
        rest = text if not named else rest
        file_sets.lead(checker, rest[rest.index(" give ") :], topic, place)
    elif named:
        checker.explain(rest, named[0], place, None)
    else:
        checker.explain(text, Topic(), place, True)


def without_likeness(checker: Checker, text: str) -> str:
    """The text without the documented disks that its rates look like: their figures are those of a tier."""
    for match in LIKENESS.finditer(text):
        for rate in (figure for figure in figures.find(match[0]) if figure.kind in RATES):
            cells = [
                row[name]
                for row in money.tiers(checker.part.root)
                for name in (rate.kind, f"burst_{rate.kind}")
            ]
            sold = [float(cell) for cell in cells if cell]
            right = "VM" in match[0] or any(rate.shows(value) for value in sold)
            checker.accept(right, rate, "headline", match[0], sold, "limit")
    return LIKENESS.sub("", text)


def answer(checker: Page, tag: Tag, topic: Topic, place: str) -> None:
    """Everything of a card but its rates and latencies."""
    bound = spaced(text_of(tag, "sentence"))
    if surfaces.is_sentence(bound):
        surfaces.sentence(checker, bound, topic, place)
        bound = ""
    for figure in figures.find(checker.part.names.read(bound)[1]):
        _limit(checker, figure, bound, topic, place)
    _why(checker, bound, spaced(text_of(tag, "why")), place)
    shares = [figure.value for figure in figures.find(text_of(tag, "chip")) if figure.unit == "%"]
    if any(not 0 < share <= 99 for share in shares):
        checker.fault(place, f"'{text_of(tag, 'chip')}' is no probability that can be told")
    for bar in tag.select("li.bar"):
        _bar(checker, bar, topic, place)
    _price(checker, spaced(text_of(tag, "price")), topic, place)
    for step in tag.find_all("p", "step"):
        _step(checker, step, topic, place)
    for doubt in tag.find_all("p", "doubt"):
        sentence(checker, doubt.get_text(" "), place)
    if twin := tag.find("p", "twin"):
        mine = checker.part
        checker.of_part(twin)
        checker.explain(twin.get_text(" "), Topic(), place, True)
        checker.part = mine


def _measured(checker: Checker, kind: str, topic: Topic) -> list[float]:
    facts = checker.part.facts
    return [f.value for f in facts if f.kind == kind and not f.mean and f.is_of(replace(topic, ddir=None))]


def _limit(checker: Checker, figure: Figure, text: str, topic: Topic, place: str) -> None:
    """A limit that is told to bind, or not to: it is documented of the setup, and that is so."""
    if figure.kind not in RATES:
        return
    values = documented(checker.part, topic.setups)[figure.kind]
    known = [value for value in values if figure.shows(value)]
    told = _measured(checker, figure.kind, topic)
    before = text[: text.find(figure.text)]
    if known and told and NOT.search(before):
        known = known if max(told) < BELOW * min(known) else []
    elif known and told and not LATER.search(before) and "Cannot tell between" not in text:
        known = known if any(NEAR[0] <= value / one <= NEAR[1] for value in told for one in known) else []
    checker.accept(bool(known), figure, place, text, sorted(values), "limit")


def _why(checker: Checker, bound: str, text: str, place: str) -> None:
    """``At 8 KiB that is 59,136 IOPS``: the limit of the sentence above in the other unit."""
    found = [figure for figure in figures.find(text) if figure.kind in RATES]
    sizes = [figure.base for figure in figures.find(text) if figure.kind == "bytes"]
    limits = [figure for figure in figures.find(bound) if figure.kind in RATES]
    for figure in found:
        (size,) = sizes
        values = [
            (one.base * size if one.kind == "iops" else one.base / size, one.half / one.base)
            for one in limits[:1]
            if one.kind != figure.kind
        ]
        right = any(abs(figure.base - value) <= figure.half + off * value for value, off in values)
        checker.accept(right, figure, place, text, [value for value, _ in values], "limit")


def _bar(checker: Page, bar: Tag, topic: Topic, place: str) -> None:
    """``Temp disk MB/s 484 MB/s, 100 %``: the share of a limit that the run used; the limit's source."""
    text = spaced(bar.get_text(" "))
    named = spaced(text_of(bar, "of"))
    link = bar.find("a")
    source = checker.notes.get(str(link["href"]).removeprefix("#"), "") if link else ""
    (limit,), (share,) = figures.find(named), figures.find(spaced(text_of(bar, "pct")))
    if not limit_stands(checker.part, source, limit, topic.setups):
        checker.fault(place, f"'{text}': the limit is not what '{source}' has")
    if "burst" in text and re.search(r"\(\w", source) and "burst" not in source:
        checker.astray.append(f"{place}: '{text}': the limit is not what '{source}' has")
    _share(checker, share, limit, topic, place, text)
    fill = bar.find("div", "fill")
    width = float(re.sub(r"[^\d.]", "", str(fill["style"]))) if fill else 0.0
    if abs(width * 1.1 - min(share.value, 110)) > 1:
        checker.fault(place, f"'{text}': the bar is {width * 1.1:.0f} % long")


def _share(checker: Checker, share: Figure, limit: Figure, topic: Topic, place: str, text: str) -> None:
    known = [
        fact
        for fact in checker.part.facts
        if not (fact.pooled or fact.mean)
        and fact.kind == limit.kind
        and fact.is_of(replace(topic, ddir=None))
    ]
    if limit.kind == "bytes_per_s" and topic.bs:  # by the IOPS, where the tool rounds its MB/s
        others = [f for f in checker.part.facts if f.kind == "iops" and not (f.pooled or f.mean)]
        mine = [f for f in others if f.is_of(replace(topic, ddir=None))]
        known += [replace(f, value=f.value * topic.bs) for f in mine]
    used = [100 * fact.value / limit.base for fact in known]
    rounded = 0.5 + 100 * limit.half / limit.base
    right = any(
        abs(share.value - value) <= rounded + fact.within * value
        for value, fact in zip(used, known, strict=True)
    )
    checker.accept(right, share, place, text, used, "bar")


def _price(checker: Checker, text: str, topic: Topic, place: str) -> None:
    """``USD 412 a month · USD 25.26 for 1,000 IOPS``."""
    priced = Priced(checker, topic, place)
    month, _, per = text.partition(" a month")
    for figure in figures.find(month):
        priced.amount(figure, [total for total, _ in priced.months], text)
    for figure in list(figures.find(per))[:1]:
        priced.per(figure, *(("iops", 1000.0) if "1,000 IOPS" in per else ("bytes_per_s", 100e6)), text)


def _step(checker: Checker, step: Tag, topic: Topic, place: str) -> None:
    """What is cheaper, what gives more, what to run next."""
    head = step.find("b")
    name = head.get_text() if head else ""
    text = spaced(step.get_text(" ")).removeprefix(name).strip()
    if name == "Cheaper":
        Priced(checker, Topic(topic.setups), f"cheaper, {place}").cheaper(text)
    elif surfaces.is_sentence(text):
        test = replace(checker.part.names.workload(name)[0], ddir=None)
        surfaces.sentence(checker, text, test.within(Topic(topic.setups)), place)
    elif name == "What to change":
        Change(checker, Topic(topic.setups), place).read(text)
    else:
        sentence(checker, text, place)


def sentence(checker: Checker, text: str, place: str) -> None:
    """Why a verdict is open and what to run next: durations and depths by rule of thumb. A finding of the
    tables that stands there is theirs, without the file and the job that it is of.
    """
    text = spaced(text)
    said = text.lstrip("! ").rstrip(".").casefold()
    if any(known.casefold().endswith(": " + said) for known in checker.part.verbatim):
        return
    for figure in figures.find(checker.part.names.read(without_predictions(checker, text, place))[1]):
        if figure.kind in RATES:
            checker.match(figure, Topic(), place, text, None, sold=True)


def without_predictions(checker: Checker, text: str, place: str) -> str:
    """The text without the rates that a proposed run would give by what binds: these must lie apart."""
    for match in PREDICTIONS.finditer(text):
        rates = sorted(figure.base for figure in figures.find(match[0]) if figure.kind in RATES)
        if len(rates) < 2 or rates[-1] < APART * rates[0]:
            checker.fault(place, f"'{text}': a run that would come out alike tells nothing")
    for match in EXPECTED.finditer(text):
        (rate,) = figures.find(match[0])
        known = sorted(documented(checker.part)[rate.kind])
        right = any(abs(rate.base - value) <= rate.half for value in known)
        checker.accept(right, rate, place, text, known, "limit")
    return EXPECTED.sub("", PREDICTIONS.sub("", text))
