"""The verdicts on published cases, each judged without what is expected of it."""

import copy
from functools import cache
from typing import Any

import pytest
from published_cases import cases

from azbenchlib.core.units import MB
from azbenchlib.verdict import Judgement
from azbenchlib.verdict.cases import judge
from azbenchlib.verdict.cases.judge import judge_case
from azbenchlib.verdict.to_json import record

WITH_OBSERVED = [case for case in cases() if case["observed"]]
STATED = [case for case in WITH_OBSERVED if case["expected"]["binding_stated_by_source"]]
WORKED = [case for case in cases() if case["kind"] in ("worked_example", "derived_example")]
OTHERS = [case for case in cases() if case["kind"] in ("cost_example", "catalogue")]


@cache
def _judged(name: str) -> Judgement:
    (case,) = [case for case in cases() if case["id"] == name]
    return judge_case({key: value for key, value in case.items() if key != "expected"})


def judged(case: dict[str, Any]) -> Judgement:
    return _judged(case["id"])


def right(case: dict[str, Any]) -> bool:
    return judged(case).binding[0] in case["expected"]["binding"]


@pytest.mark.parametrize("some", [STATED, WITH_OBSERVED], ids=["stated by the source", "all"])
def test_nearly_all_are_right(some: list[dict[str, Any]]) -> None:
    if not cases():
        pytest.skip("AZBENCH_CORPUS is not set, or there is no folder cases beside it")
    wrong = [case["id"] for case in some if not right(case)]
    assert len(some) >= 8 and len(wrong) <= 0.1 * len(some), wrong


@pytest.mark.parametrize("case", WITH_OBSERVED, ids=lambda case: case["id"])
def test_none_is_wrong_and_sure(case: dict[str, Any]) -> None:
    got = judged(case)
    assert right(case) or got.probability < 0.95
    assert got.binding and sum(got.posterior.values()) == pytest.approx(1)
    if not case["observed"].get("points"):
        observed = case["observed"]
        sides = [observed[name] for name in ("read_iops", "write_iops") if name in observed]
        at_once = [sum(sides)] if sides and case["job"].get("rw") else sides
        known = [observed["iops"]] if "iops" in observed else at_once or [got.iops]
        assert any(got.iops == pytest.approx(rate) for rate in known)
        if "mbps" in observed:
            assert got.bytes_per_s == pytest.approx(observed["mbps"] * MB, rel=0.01)


@pytest.mark.parametrize("case", WORKED, ids=lambda case: case["id"])
def test_a_worked_example_is_exact(case: dict[str, Any]) -> None:
    got, expected = judged(case), case["expected"]
    assert got.binding[0] in expected["binding"]
    tolerance = max(expected["tol_rel"], 0.005)
    if "iops" in expected["achieved"]:
        assert got.iops == pytest.approx(expected["achieved"]["iops"], rel=tolerance)
    if "mbps" in expected["achieved"]:
        assert got.bytes_per_s == pytest.approx(expected["achieved"]["mbps"] * MB, rel=tolerance)


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case["id"])
def test_money_and_catalogue_have_no_storage_verdict(case: dict[str, Any]) -> None:
    got = judged(case)
    assert got.binding == () and [finding.code for finding in got.findings] == ["no_storage_verdict"]


def plain(**known: Any) -> dict[str, Any]:
    """A case that needs no other file: a P30 on a VM with a limit of 6,400 IOPS."""
    disk = {"tier": "P30", "sku": "Premium_LRS", "size_gib": 1024, "iops": 5000, "mbps": 200}
    usual: dict[str, Any] = {
        "id": "plain",
        "kind": "measurement",
        "source": "",
        "vm": {"size": None, "uncached": {"iops": 6400, "mbps": 96}},
        "disks": [disk | {"count": 1, "cache": "None", "role": "data"}],
        "job": {"rw": "randread", "bs_kib": 4, "qd_total": 64, "runtime_s": 60, "direct": 1},
        "demand": None,
        "observed": {"iops": 5100},
    }
    return usual | known


def test_each_spelling_of_what_was_observed_is_read() -> None:
    for observed in (
        {"iops_mean": 5100},
        {"mbps": 5100 * 4096 / 1e6},
        {"mib_s": 5100 / 256},
        {"bps": 5100 * 4096},
        {"read_iops": 5100},
        {"lat_mean_ms": 64 / 5.1},
    ):
        got = judge_case(plain(observed=observed))
        assert got.binding == ("disk_iops",), observed
        assert got.iops == pytest.approx(5100)


def test_reads_and_writes_of_one_job_are_one_flow_and_of_two_are_two() -> None:
    both = {"read_iops": 2500, "write_iops": 2580}
    job = {"bs_kib": 4, "qd_total": 64, "runtime_s": 60}
    mixed = judge_case(plain(job=job | {"rw": "randrw"}, observed=both))
    assert len(mixed.flows) == 1 and mixed.binding == ("disk_iops",)
    apart = judge_case(plain(job=job | {"rw": "randread,randwrite"}, observed=both))
    assert len(apart.flows) == 2 and apart.binding == ("disk_iops",)
    one_after_the_other = judge_case(plain(job=job, observed={"read_iops": 5080, "write_iops": 900}))
    assert len(one_after_the_other.points) == 2 and one_after_the_other.binding == ("disk_iops",)


def test_a_sweep_has_a_point_for_each_row() -> None:
    rows = {
        "columns": ["bs_kib", "qd", "iops"],
        "points": [[4, 1, 420], [4, 2, 838], [4, 64, 5080], [64, 64, 1490]],
    }
    got = judge_case(plain(observed=rows))
    assert [point.binding[0] for point in got.points] == [
        "latency_qd",
        "latency_qd",
        "disk_iops",
        "vm_uncached_mbps",
    ]


@pytest.mark.parametrize(
    ("known", "code"),
    [
        ({"observed": {"note": "fast"}}, "not_decidable"),
        ({"disks": [{"count": "two"}]}, "not_decidable"),
        ({"job": [4]}, "not_decidable"),
        ({"observed": None, "disks": []}, "not_decidable"),
        ({"vm": {"size": "Standard_D4as_v44"}}, "limits_not_known"),
        ({"disks": [], "vm": None}, "no_documented_limit"),
    ],
)
def test_a_case_that_tells_too_little_gets_an_entry_with_a_finding(known: dict[str, Any], code: str) -> None:
    got = judge_case(plain(**known))
    assert code in [finding.code for finding in got.findings]
    assert got.binding and got.probability < 0.999


def test_parts_that_a_case_leaves_out_are_empty() -> None:
    case = plain()
    del case["demand"], case["vm"]
    assert judge_case(case).binding == ("disk_iops",)


def test_numbers_of_a_case_are_not_mixed_with_the_catalogue() -> None:
    """A VM with any number takes none from the catalogue, which has 8,000 cached IOPS for this one."""
    vm = {"size": "Standard_D4as_v4", "uncached": {"iops": 6400, "mbps": 96}}
    got = judge_case(plain(vm=vm))
    assert {row.row for row in got.limits} == {"as stated"}
    named = judge_case(plain(vm={"size": "Standard_D4as_v4"}, source="of 2024"))
    assert any("uncached_iops" in (row.row or "") for row in named.limits)


ODD = (None, "x", -1, 0, 1, 1e300, float("nan"), True, [], [1], {}, {"iops": "x"})
FULL = {
    "vm": {"size": "Standard_D4as_v4", "uncached": {"iops": 6400, "mbps": 96}},
    "disks": [{"tier": "P30", "role": "data", "cache": "ReadOnly", "count": 2, "size_gib": 1024}],
    "job": {"rw": "randread", "bs_kib": 4, "qd_total": 64, "jobs": 4, "runtime_s": 60, "direct": 1},
    "demand": {"iops": 5000},
    "observed": {"iops": 5080, "lat_mean_ms": 12.6, "p99_us": 20_000, "max_ms": 900, "mib_s": 19.8},
}
PLACES = [
    *((part,) for part in FULL),
    *(("disks", 0, key) for key in FULL["disks"][0]),
    *((part, key) for part in ("vm", "job", "demand", "observed") for key in FULL[part]),
]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: ".".join(map(str, place)))
def test_no_value_in_a_case_ends_in_a_traceback(place: tuple[str | int, ...]) -> None:
    for odd in ODD:
        case = plain(**copy.deepcopy(FULL))
        *path, last = place
        part: Any = case
        for key in path:
            part = part[key]
        part[last] = odd
        assert judge_case(case).words, (place, odd)


def test_a_fault_in_judging_is_not_taken_for_one_of_the_case(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise TypeError("a bug")

    monkeypatch.setattr(judge, "judge_flows", broken)
    with pytest.raises(TypeError, match="a bug"):
        judge_case(plain())


@pytest.mark.parametrize(("as_of", "day"), [("2019-09-16", "2019-09-16"), ("2019-09", "2019-09-01")])
def test_the_day_of_a_case_counts_before_that_of_its_source(as_of: str, day: str) -> None:
    source = "a page (ms.date 2024-01-01)"
    named = {"tier": "P4", "sku": "Premium_LRS", "count": 1, "cache": "None", "role": "data"}
    got = judge_case(plain(as_of=as_of, source=source, disks=[named]))
    assert {row.as_of for row in got.limits} == {day}
    assert not any(row.label.startswith("disk_burst") for row in got.limits)
    later = judge_case(plain(source=source, disks=[named], observed={"iops": 3550}))
    assert later.binding == ("disk_burst_iops",) and {row.as_of for row in later.limits} == {"2024-01-01"}


@pytest.mark.parametrize("as_of", ["yesterday", "2019-13-01", "", 2019])
def test_a_day_that_is_none_is_refused(as_of: object) -> None:
    assert "as_of" in judge_case(plain(as_of=as_of)).words


def test_an_ultra_disk_of_a_size_that_azure_rounds_up_has_the_iops_of_the_larger() -> None:
    disk = {"sku": "UltraSSD_LRS", "size_gib": 250, "iops": 76_800, "mbps": 2_000, "role": "data"}
    got = judge_case(plain(as_of="2021-06-29", disks=[disk | {"count": 1}], observed={"iops": 6_500}))
    assert "limits_not_known" not in [finding.code for finding in got.findings]
    more = judge_case(plain(as_of="2021-06-29", disks=[disk | {"count": 1, "iops": 76_801}]))
    assert "limits_not_known" in [finding.code for finding in more.findings]


def test_figures_have_no_rounding_errors() -> None:
    got = record("x", judge_case(plain(vm={"size": None, "uncached": {"mbps": 500}})))
    (limit,) = [row for row in got["limits"] if row["label"] == "vm_uncached_mbps"]
    assert limit["value"] == 500
