"""The head of a report about one setup names it, and says what of it is assumed."""

from pathlib import Path

import pytest

from azbenchlib import Report
from azbenchlib.model.notation import leaves_caching_open
from azbenchlib.report.sections.only_setup import only_setup

OUTPUT = str(Path(__file__).parents[1] / "data" / "fio" / "randrw.json")


@pytest.mark.parametrize(
    ("disks", "region", "words"),
    [
        ("P30", "", "D8s_v5, P30 (caching not stated, None assumed), westeurope (assumed)"),
        ("P30:None", "northeurope", "D8s_v5, P30 (no host caching), northeurope"),
        ("P30x4:ReadOnly", "", "D8s_v5, 4 × P30 (ReadOnly caching), westeurope (assumed)"),
        (
            ["P30", "P30", "os:P10:ReadWrite"],
            "",
            "D8s_v5, 2 × P30 (caching not stated, None assumed), OS disk P10 (ReadWrite caching), "
            "westeurope (assumed)",
        ),
        (
            "ultra:1TiB/10000iops/500MBps",
            "",
            "D8s_v5, Ultra Disk 1 TiB 10,000 IOPS 500 MB/s, westeurope (assumed)",
        ),
    ],
)
@pytest.mark.sampled(3)
def test_the_head_says_what_is_stated_and_what_is_assumed(
    disks: str | list[str], region: str, words: str
) -> None:
    report = Report(OUTPUT, vm="Standard_D8s_v5", disks=disks, region=region)
    assert only_setup(report.parts).replace("\u00a0", " ") == words
    assert "<dt>Setup</dt>" in report.header().html


def test_several_setups_and_one_that_nobody_stated_have_no_such_line() -> None:
    for names in (OUTPUT, "azure-local-disks-2020"):
        report = Report(names)
        assert only_setup(report.parts) == "" and "<dt>Setup</dt>" not in report.header().html
    emulated = only_setup(Report("premium-ssd-emulated-2026").parts)
    assert emulated.endswith(", emulated") and "no host caching" in emulated


def test_what_is_no_disk_in_the_short_notation_leaves_nothing_open() -> None:
    known = {
        "P30": True,
        "P30 (2)": True,
        "os:P4": True,
        "P30:none": False,
        "P30x4:ReadOnly": False,
        "data-1": False,
    }
    assert {text: leaves_caching_open(text) for text in known} == known
