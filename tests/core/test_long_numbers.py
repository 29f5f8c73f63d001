"""Numbers of any length, where a user or a file states one: a sentence, never Python's own error."""

from collections.abc import Callable

import pytest

from azbenchlib.advisor.offers.vm_choice import SizeName
from azbenchlib.azure import disk_kinds
from azbenchlib.azure.prices.rows import unit
from azbenchlib.core import stated_values, units
from azbenchlib.core.errors import InputError
from azbenchlib.formats.fio.logs.log_lines import in_us, wall_clock
from azbenchlib.lessons.answers import IN_IOPS, parse_answer
from azbenchlib.model.notation import parse_disk

LONG = "9" * 5000


@pytest.mark.parametrize(
    ("read", "form"),
    [
        (units.stated_size, "{}GiB"),
        (units.stated_size, "1.{}GiB"),
        (units.stated_size, "1,000{}GiB"),
        (units.parse_size, "{}k"),
        (units.fio_size, "{}k"),
        (units.parse_duration, "{}s"),
        (units.stated_rate, "{}"),
        (units.stated_rate, "1e999"),
        (units.stated_rate, "{}k"),
        (lambda text: stated_values.size("--size", text), "{}GiB"),
        (lambda text: stated_values.number("--iops", text), "{}"),
        (parse_disk, "P30x{}"),
        (parse_disk, "P30x1001"),
        (parse_disk, "P30x0"),
        (parse_disk, "ultra:{}GiB/100iops/5MBps"),
        (parse_disk, "ultra:128GiB/{}iops/5MBps"),
        (unit, "{} GiB/Hour"),
        (unit, "{}K"),
    ],
)
def test_it_is_refused_in_a_sentence_of_its_begin(read: Callable[[str], object], form: str) -> None:
    with pytest.raises(InputError) as refused:
        read(form.format(LONG))
    assert len(str(refused.value)) < 6000 and str(refused.value).isprintable()


def test_where_it_is_only_a_part_of_a_name_it_tells_nothing() -> None:
    assert SizeName.of(f"Standard_D8s_v{LONG}").version == 1
    assert disk_kinds.tier_number(f"P{LONG}") == disk_kinds.tier_number("P²") == 0
    assert disk_kinds.tier_number("P30") == 30
    assert in_us(f"fio-{LONG}.1", None) is False


def test_a_long_answer_is_taken_or_refused() -> None:
    for text in (LONG, f"1,{LONG}", " " * 5000 + "5 ps", "5" + " " * 5000 + "!"):
        try:
            assert parse_answer(text, IN_IOPS)
        except InputError as refused:
            assert str(refused)


def test_a_year_may_have_five_digits() -> None:
    assert wall_clock(10**15 - 1).startswith("33658-09-27T01:46:39.999")
    assert wall_clock(1_700_000_000_000) == "2023-11-14T22:13:20.000+00:00"
