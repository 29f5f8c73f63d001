"""Each promise of SECURITY.md names tests that hold it, and all of them are there."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (ROOT / "SECURITY.md").read_text().splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| promise |"))
]


def functions(file: Path) -> set[str]:
    return {node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)}


def test_there_are_promises() -> None:
    assert len(ROWS) > 15
    assert len({promise for promise, _ in ROWS}) == len(ROWS)


@pytest.mark.parametrize(("promise", "tests"), ROWS, ids=[promise[:40] for promise, _ in ROWS])
def test_each_promise_names_tests_that_are_there(promise: str, tests: str) -> None:
    names = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", tests)
    assert promise.endswith(".") and len(names) == len(tests.split(", "))
    for file, name in names:
        assert name in functions(ROOT / file), f"{file} has no {name}"
