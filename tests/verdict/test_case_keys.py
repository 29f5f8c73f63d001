"""A key of a case that nobody reads is told, with the nearest names; it is no error."""

from typing import Any

import pytest

from azbenchlib.core.findings import Code
from azbenchlib.verdict.cases.judge import judge_case

CASE: dict[str, Any] = {
    "id": "one",
    "note": "a P30 at its limit",
    "expected": {"binding": ["disk_iops"]},
    "as_of": "2026-06-01",
    "vm": {"size": None, "uncached": {"iops": 12800, "mbps": 192}},
    "disks": [{"tier": "P30", "cache": "None", "role": "data"}],
    "job": {
        "tool": "fio",
        "tool_version": "3.36",
        "rw": "randread",
        "bs_kib": 8,
        "qd_total": 64,
        "direct": True,
    },
    "demand": {"profile": "as much as there is"},
    "observed": {"iops": 4990, "whatever was measured": 5},
}


def told(case: dict[str, Any]) -> list[str]:
    return [f.message for f in judge_case(case).findings if f.code == Code.UNKNOWN_CASE_KEY]


def test_a_case_of_known_keys_has_no_such_finding() -> None:
    assert told(CASE) == []


@pytest.mark.parametrize(
    ("part", "key", "message"),
    [
        (None, "disk", "key 'disk' is not known, and was not used; the nearest names are disks"),
        ("job", "bs_kb", "job: key 'bs_kb' is not known, and was not used; the nearest names are bs_kib"),
        ("vm", "cache", "vm: key 'cache' is not known, and was not used; the nearest names are cached"),
        ("demand", "iop", "demand: key 'iop' is not known, and was not used; the nearest names are iops"),
    ],
)
def test_an_unknown_key_is_told_with_the_nearest_names(part: str | None, key: str, message: str) -> None:
    changed = CASE | {key: 1} if part is None else CASE | {part: CASE[part] | {key: 1}}
    (found,) = told(changed)
    assert found.startswith(message)
    assert judge_case(changed).binding == judge_case(CASE).binding


def test_keys_of_disks_and_limits_are_told_with_their_place() -> None:
    disks = [*CASE["disks"], {"tier": "P10", "cashe": "None"}]
    limits = CASE["vm"] | {"temp": {"read_iops": 5}}
    found = told(CASE | {"disks": disks, "vm": limits})
    assert [message.partition(" is not")[0] for message in found] == [
        "disks.1: key 'cashe'",
        "vm.temp: key 'read_iops'",
    ]
