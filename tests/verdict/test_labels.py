"""Labels say of themselves what they are, and no other module takes their names apart."""

import re
from pathlib import Path

import azbenchlib
from azbenchlib.verdict.labels import Label

PACKAGE = Path(azbenchlib.__file__).parent
TAKEN_APART = re.compile(r"""endswith\(\(?["']_(iops|mbps)|["']_burst_["'] in|replace\(["']_burst""")


def test_scope_quantity_and_burst_are_what_the_name_says() -> None:
    for label in Label:
        parts = [label.scope, "burst" if label.burst else None, label.quantity]
        if label.is_limit:
            assert "_".join(part for part in parts if part) == label
            assert not label.base.burst and label.base == f"{label.scope}_{label.quantity}"
        else:
            assert parts == [None, None, None] and label.base is label
    assert sum(label.is_limit for label in Label) == 16


def test_no_name_is_taken_apart() -> None:
    for room in ("verdict", "report", "cli", "views"):
        for path in (PACKAGE / room).rglob("*.py"):
            found = TAKEN_APART.search(path.read_text(encoding="utf-8"))
            assert found is None, (path, found)
