"""The registry of findings: every code is emitted, explained, and written nowhere else."""

import ast
from functools import cache
from pathlib import Path

import pytest
from package_source import PACKAGE, modules

from azbenchlib.core import findings, schema
from azbenchlib.core.findings import Code, Finding, Severity

LABELS = {"above_documented_limit"}  # also what a verdict is called


@cache
def nodes() -> list[tuple[Path, ast.Constant | ast.Attribute]]:
    """What could name a code in each module of the package but the registry itself."""
    return [
        (path, node)
        for path, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.Attribute) and path != Path(findings.__file__)
    ]


def test_no_code_is_written_as_a_string() -> None:
    codes = {str(code) for code in Code} - LABELS
    written = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.value}"
        for path, node in nodes()
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in codes
    ]
    assert not written, written


def test_every_code_is_emitted() -> None:
    used = {
        node.attr
        for _, node in nodes()
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Code"
    }
    assert used == {code.name for code in Code}


def test_every_code_is_explained() -> None:
    for code in Code:
        assert code.severities and code.meaning.endswith((".", "~.")), code
        assert not code.advice.endswith("."), code


def test_a_finding_has_the_severity_and_advice_of_its_code_unless_it_says_otherwise() -> None:
    found = Finding.of(Code.TOO_LARGE, "9 GiB", run_id="r")
    assert (found.severity, found.advice) == (Severity.ERROR, Code.TOO_LARGE.advice)
    row = Finding.of(Code.NOT_READ, "a link", "", Severity.INFO, source_path="a.json").row()
    assert row == {
        "run_id": None,
        "source_path": "a.json",
        "severity": "info",
        "code": "not_read",
        "message": "a link",
        "advice": None,
    }
    assert len(schema.frame("findings", [row])) == 1


def test_a_code_is_never_more_or_less_severe_than_the_registry_says() -> None:
    with pytest.raises(ValueError, match="too_large is never of severity info"):
        Finding.of(Code.TOO_LARGE, "9 GiB", severity=Severity.INFO)


def test_a_message_is_told_from_what_it_begins_with() -> None:
    message = f"{findings.job_label('a.json', 'b: c')}: it took 3 s"
    assert message == "a.json: job 'b: c': it took 3 s"
    assert findings.without_label(message, "a.json", "b: c") == "it took 3 s"
    assert findings.without_label("a.json: no job", "a.json", None) == "no job"
