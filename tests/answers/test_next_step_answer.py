"""What a report says to change: words by hand, and the same object in page, lead and JSON."""

import pytest
from bound_loads import SHOP, UNPRICED, asked

from azbenchlib.advisor.reasons.next_step import NextStep, NoStep, SetupPart, StepObstacle
from azbenchlib.advisor.reasons.next_step import next_step as asked_for
from azbenchlib.answers.next_step import in_short, is_same_change, sentence


def words(step: NextStep | NoStep | None) -> str:
    assert step is not None
    return sentence(step).text.replace("\u00a0", " ")


@pytest.mark.parametrize(
    "vm, disk, bs, said",
    [
        ("Standard_D8s_v5", "P30", 4096, "A P40 gives up to 7,500 IOPS, its own limit: USD 136 more a month"),
        (
            "Standard_D8s_v5",
            "P30x2",
            65536,
            "A D16s_v5 gives up to 400 MB/s, then the disk ",
        ),
        (
            "Standard_D4s_v5",
            "P30:ReadOnly",
            4096,
            "A P40 with ReadOnly cache gives up to 6,400 IOPS,",
        ),
        (
            "Standard_D8s_v5",
            "pv2:1TiB/5000iops/200MBps",
            4096,
            "With 10,000 IOPS and 200 MB/s provisioned",
        ),
        (
            "Standard_D8s_v5",
            "pv2:1TiB/12800iops/400MBps",
            4096,
            "A D16s_v5 with a Premium SSD v2 (1 TiB, 25,600 IOPS, 400 MB/s) gives up to 25,600 IOPS, then",
        ),
        ("Standard_D32s_v5", "P30x2", 4096, "2 × P40 give up to 15,000 IOPS, their own limit"),
    ],
)
def test_the_change_in_words(vm: str, disk: str, bs: int, said: str) -> None:
    assert words(asked_for(asked(vm, disk, bs=bs, cache_hit=0.0), SHOP)).startswith(said)


def test_a_price_that_is_not_known_is_not_told() -> None:
    assert words(asked_for(asked("Standard_D8s_v5", "P30"), UNPRICED)) == (
        "A P40 gives up to 7,500 IOPS, its own limit; its price in nowhere is not known."
    )


def test_several_loads_that_need_the_same_share_a_sentence() -> None:
    small, large = (asked_for(asked("Standard_D8s_v5", "P30", bs=bs), SHOP) for bs in (4096, 65536))
    assert isinstance(small, NextStep) and isinstance(large, NextStep) and is_same_change(small, large)
    told = in_short([small, large]).text.replace("\u00a0", " ")
    assert told == "A P40 gives up to 7,500 IOPS or 250 MB/s, for USD 136 more a month."
    other = asked_for(asked("Standard_D8s_v5", "P20"), SHOP)
    assert isinstance(other, NextStep) and not is_same_change(small, other)


@pytest.mark.parametrize(
    "part, obstacle", [(part, why) for part in (SetupPart.DISK, SetupPart.VM) for why in StepObstacle]
)
def test_why_nothing_gives_more_is_a_sentence(part: SetupPart, obstacle: StepObstacle) -> None:
    told = words(NoStep(part, obstacle))
    assert told.endswith(".") and (("disk" in told.lower()) or ("VM" in told))
