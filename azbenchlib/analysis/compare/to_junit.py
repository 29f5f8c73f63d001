"""A comparison as JUnit XML: a test case a figure; what is worse fails, what is undecided is skipped."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

from azbenchlib.analysis.compare import words
from azbenchlib.analysis.compare.cells import ComparedFigure, JudgedRule, Shift
from azbenchlib.analysis.compare.comparison import ComparedPair, ComparisonResult
from azbenchlib.core.printable import one_line

_Case = tuple[str, str, Shift, str]  # class name, name, answer, message
_NOT_XML = dict.fromkeys((65534, 65535))  # the others become visible characters


def junit(comparison: ComparisonResult) -> bytes:
    """The document, in UTF-8.

    Notes
    -----
    Elements and attributes are those of Jenkins' schema (jenkinsci/xunit-plugin, junit-10.xsd, read on
    2026-11-22), which other readers take too. A figure takes no time of its own.
    """
    root = ET.Element("testsuites", name="azbench compare")
    total = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    for pair in comparison.pairs:
        suite = ET.SubElement(root, "testsuite", name=_text(f"{pair.b} against {pair.a}"))
        counts = dict.fromkeys(total, 0)
        for case in _cases(comparison, pair):
            counts["tests"] += 1
            counts["failures"] += case[2] is Shift.WORSE
            counts["skipped"] += case[2] is Shift.UNDECIDED
            _add(suite, case)
        _count(suite, counts)
        total = {name: total[name] + counts[name] for name in total}
    del total["skipped"]  # which the schema has for suites alone
    _count(root, total)
    ET.indent(root)
    return ET.tostring(root, encoding="UTF-8", xml_declaration=True) + b"\n"


def _cases(comparison: ComparisonResult, pair: ComparedPair) -> Iterator[_Case]:
    for one in pair.figures:
        name = one.evidence.metric.name
        answer = one.answer
        if not comparison.terms.judges_margin and answer is Shift.WORSE:
            answer = Shift.NOT_WORSE  # only the conditions count
        yield one.evidence.workload.name, name, answer, _message(one)
    for judged in pair.rules:
        yield _condition(judged)
    for name in pair.lost:
        yield name, "workload", Shift.UNDECIDED, f"only {pair.a} has it"


def _condition(judged: JudgedRule) -> _Case:
    figure = judged.figure
    where = figure.evidence.workload.name if figure else "no workload"
    said = _message(figure) if figure else "no workload has this metric"
    return where, judged.rule.text, judged.answer, f"{judged.rule.text}: {said}"


def _message(one: ComparedFigure) -> str:
    a, b = ("none" if value is None else one.evidence.metric.shown(value) for value in one.medians)
    interval = words.interval_text(one)
    ratio = f", {words.times(one.ratio)}" if one.ratio is not None else ""
    within = f" ({interval})" if interval else ""
    why = f"; {one.why}" if one.why and one.why not in words.answer_text(one) else ""
    return f"{words.answer_text(one)}: {a} to {b}{ratio}{within}{why}"


def _add(suite: ET.Element, case: _Case) -> None:
    where, name, answer, message = case
    element = ET.SubElement(suite, "testcase", classname=_text(where), name=_text(name), time="0")
    if answer is Shift.WORSE:
        failure = ET.SubElement(element, "failure", message=_text(message), type="worse")
        failure.text = _text(message)
    elif answer is Shift.UNDECIDED:
        ET.SubElement(element, "skipped", message=_text(message))


def _count(element: ET.Element, counts: dict[str, int]) -> None:
    for name, n in counts.items():
        element.set(name, str(n))
    element.set("time", "0")


def _text(text: str) -> str:
    return one_line(text).translate(_NOT_XML)
