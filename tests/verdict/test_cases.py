"""Published worked examples and measurements: the model finds what was delivered, and what binds.

One rule for all: :func:`tests.published_cases.deliver_case` knows no case, source or size by name.
"""

from typing import Any

import pytest
from published_cases import cases, deliver_case

from azbenchlib.core.units import MB

LEAST_TOL = 0.005
EXAMPLES = [case for case in cases() if case["kind"] in ("worked_example", "derived_example")]
LIMIT_ENDS = ("_iops", "_mbps")


def explained(case: dict[str, Any]) -> bool:
    """A measurement whose limit is a documented one with its figure, and whose load is stated in full."""
    return (
        case["kind"] == "measurement"
        and bool(case["expected"]["achieved"])
        and case["expected"]["binding"][0].endswith(LIMIT_ENDS)
        and "bs_kib" in case["job"]
    )


MEASURED = [case for case in cases() if explained(case)]


def test_the_cases_are_there() -> None:
    if not cases():
        pytest.skip("AZBENCH_CORPUS is not set, or there is no folder cases beside it")
    assert len(EXAMPLES) >= 10 and len(MEASURED) >= 10


@pytest.mark.parametrize("case", EXAMPLES + MEASURED, ids=lambda case: case["id"])
def test_a_case_is_delivered_as_published(case: dict[str, Any]) -> None:
    got, expected = deliver_case(case), case["expected"]
    achieved, tol = expected["achieved"], max(expected["tol_rel"], LEAST_TOL)
    values = {
        "iops": got.iops,
        "total": got.iops,
        "mbps": got.bytes_per_s and got.bytes_per_s / MB,
        "cached": got.through("vm_cached"),
        "uncached": got.through("vm_uncached"),
        "read_iops": got.through("vm_cached"),
        "write_iops": got.through("vm_uncached"),
        "device_mbps": got.bytes_per_s and got.bytes_per_s / MB,
        "queue_depth": (case["demand"] or {}).get("iops", 0) * case["job"].get("lat_ms", 0) / 1000,
    }
    checked = {name: values[name] for name in achieved if name in values}
    assert checked
    for name, value in checked.items():
        assert value == pytest.approx(achieved[name], rel=tol), name
    parts = [volume.iops if volume.iops is not None else volume.bytes_per_s / MB for volume in got.volumes]
    assert parts == pytest.approx(achieved.get("per_disk", parts), rel=tol)
    assert set(got.binding) & set(expected["binding"])
    assert got.binding[0] in expected["binding"]


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: case["id"])
def test_states_are_as_published(case: dict[str, Any]) -> None:
    got, achieved = deliver_case(case), case["expected"]["achieved"]
    if state := achieved.get("vm_state"):
        assert got.vm_state == state
    for role in ("os", "data"):
        if state := achieved.get(f"{role}_disk_state"):
            assert {volume.state for volume in got.volumes if volume.volume.startswith(role)} == {state}
