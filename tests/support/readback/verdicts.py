"""Verdict cards: the rates of runs, and how much of each limit they used."""

import re
from functools import partial

from bs4 import Tag

from readback import figures, surfaces
from readback.answers import without_predictions
from readback.check import Checker
from readback.figures import spaced, text_of
from readback.known import limit_stands
from readback.naming import Topic, fits


def verdict(checker: Checker, tag: Tag) -> None:
    """A verdict: rates of runs, and how much of each limit they used."""
    place = f"verdict '{spaced(tag.find(['h3', 'h4']).get_text(' '))[:60]}'"  # type: ignore[union-attr]
    told: list[tuple[Topic, str]] = []
    for item in tag.select("ul.listing > li"):
        text, setup = _without_setup(checker, spaced(item.get_text(" ")))
        told.append((setup, text))
        if surfaces.is_sentence(text):
            surfaces.sentence(checker, text, setup, place)
        else:
            _load(checker, text, setup, place)
    for bar in tag.select("ul.bars > li"):
        _bar(
            checker, bar, [checker.part.names.workload(text)[0].within(topic) for topic, text in told], place
        )
    for doubt in [tag.find("h3"), tag.find("h4"), *tag.find_all("p", "doubt")]:
        if doubt:
            _doubt(checker, doubt.get_text(" "), place)
    sure = tag.find("p", string=re.compile("certain|against"))
    if sure and not surfaces.lead(checker, spaced(sure.get_text(" ")), place):
        shares = [figure.value for figure in figures.find(spaced(sure.get_text(" ")))]
        if not all(0 <= share <= 100 for share in shares):
            checker.fault(place, f"'{sure.get_text()}' is no share")


def _without_setup(checker: Checker, text: str) -> tuple[str, Topic]:
    """The text without the setup that it begins with, and which setup that is."""
    setup = Topic()
    for start, end, setups in checker.part.names.spans(text):
        if not text[:start].strip():
            text, setup = figures.blank(text, start, end), Topic(setups=setups)
    return text.lstrip(" ,"), setup


def _load(checker: Checker, text: str, setup: Topic, place: str) -> None:
    """``8 KiB random writes, QD 1: 5,500 IOPS, 45.1 MB/s``, or the range of many runs."""
    counted = re.match(r"(\d[\d,]*) runs? \((.*)\): (.*)", text)
    if not counted:
        checker.explain(text, setup, place, False)
        return
    tests = {rw for part in counted[2].split(", ") for rw in _tests(checker, part)}
    mine = [
        fact
        for fact in checker.part.facts
        if not fact.pooled
        and fact.topic.ddir is None
        and fits(fact.topic, setup)
        and ("others" in counted[2] or (fact.topic.rw or frozenset()) <= tests)
    ]
    for figure in figures.find(counted[3]):
        own = [fact.value for fact in mine if fact.kind == figure.kind]
        checker.accept(any(figure.shows(value) for value in own), figure, place, text, own, "range")


def _tests(checker: Checker, text: str) -> frozenset[str]:
    return checker.part.names.workload(text.replace(" and others", ""))[0].rw or frozenset()


def _bar(checker: Checker, bar: Tag, topics: list[Topic], place: str) -> None:
    """``102 % of 16,000 IOPS``: the share of a limit that the busiest of the runs used; its source."""
    head = bar.find("p")
    text, source = spaced(head.get_text(" ") if head else ""), spaced(text_of(bar, "cond"))
    named = checker.part.names.setups(text)
    share, limit = list(figures.find(re.sub(r"^\D*?limit", "", text)))[:2]
    if not limit_stands(checker.part, source, limit, named or _of(topics)):
        lacks = "burst" in text and "burst" not in source
        tell = checker.astray.append if lacks else partial(checker.fault, place)
        tell(f"'{text}': the limit is not what '{source}' has")
    mine = [topic for topic in topics if named is None or (topic.setups or named) & named]
    known = [
        fact
        for fact in checker.part.facts
        if not (fact.pooled or fact.mean)
        and fact.kind == limit.kind
        and any(fact.is_of(topic) for topic in mine)
    ]
    used = [100 * fact.value / limit.base for fact in known]
    rounded = 0.5 + 100 * limit.half / limit.base
    right = any(
        abs(share.value - value) <= rounded + fact.within * value
        for value, fact in zip(used, known, strict=True)
    )
    checker.accept(right, share, place, text, used, "bar")


def _doubt(checker: Checker, text: str, place: str) -> None:
    """Why a verdict is open and what to run next: durations and depths by rule of thumb."""
    text = spaced(text)
    for figure in figures.find(checker.part.names.read(without_predictions(checker, text, place))[1]):
        if figure.kind in ("iops", "bytes_per_s"):
            checker.match(figure, Topic(), place, text, None, sold=True)


def _of(topics: list[Topic]) -> frozenset[str] | None:
    named = [topic.setups for topic in topics if topic.setups]
    return frozenset().union(*named) if named else None
