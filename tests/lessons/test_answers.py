"""What a student types is read as meant, or refused in a sentence."""

import math

import pytest

from azbenchlib.core.errors import InputError
from azbenchlib.lessons import answers
from azbenchlib.lessons.answers import AnswerUnit, parse_answer

IOPS, RATE, TIME = answers.IN_IOPS, answers.IN_MB_PER_S, answers.IN_MILLISECONDS


@pytest.mark.parametrize(
    "text",
    [
        *(
            "3500",
            "3,500",
            "3.5k",
            "3.5 k",
            "3.5K",
            "3500 IOPS",
            "3500iops",
            "3.5k IOPS",
            "3.5kIOPS",
            "3.5 kIOPS",
        ),
        *("3 500", "3_500", "3'500", "3,5k", "~3500", "≈ 3,500", "about 3500", "ca. 3500", "= 3500"),
        *(
            "3500/s",
            "3500 per second",
            "3500 I/Os per second",
            "3500 IO/s",
            "3.5e3",
            "3500.0",
            " 3500 ",
            "+3500",
        ),
    ],
)
def test_iops_are_read_in_every_form(text: str) -> None:
    assert parse_answer(text, IOPS).readings == (3500,)


@pytest.mark.parametrize(
    ("text", "mbps"),
    [
        *(("200", 200), ("200 MB/s", 200), ("200MBps", 200), ("200 mbps", 200), ("0.2 GB/s", 200)),
        *(("200,000 kB/s", 200), ("1600 Mbit/s", 200), ("1.6 Gbit/s", 200), ("200000000 B/s", 200)),
        *(
            ("100 MiB/s", 104.8576),
            ("1024 KiB/s", 1.048576),
            ("1 GiB/s", 1073.741824),
            ("200 MB per second", 200),
        ),
    ],
)
def test_a_throughput_is_read_in_every_unit(text: str, mbps: float) -> None:
    assert parse_answer(text, RATE).readings[0] == pytest.approx(mbps * 1e6)


@pytest.mark.parametrize(
    "text", ["14.5", "14.5 ms", "14,5ms", "14500 µs", "14500us", "0.0145 s", "14.5 milliseconds"]
)
def test_a_time_is_read_in_every_unit(text: str) -> None:
    assert parse_answer(text, TIME).readings[0] == pytest.approx(14_500)


@pytest.mark.parametrize(
    ("text", "unit", "base"),
    [
        ("1.5 h", answers.IN_MINUTES, 5.4e9),
        ("90", answers.IN_MINUTES, 5.4e9),
        ("90 min", answers.IN_HOURS, 5.4e9),
        ("1.5", answers.IN_HOURS, 5.4e9),
        ("$2.47", answers.IN_DOLLARS, 2.47),
        ("2.47 USD a month", answers.IN_DOLLARS, 2.47),
        ("2.47 usd/month", answers.IN_DOLLARS, 2.47),
        ("12 I/Os", answers.IN_OUTSTANDING, 12),
        ("25 %", answers.IN_PER_CENT, 0.25),
        ("25", answers.IN_PER_CENT, 0.25),
    ],
)
def test_other_quantities(text: str, unit: AnswerUnit, base: float) -> None:
    assert parse_answer(text, unit).readings[0] == pytest.approx(base)


def test_a_share_below_one_may_be_meant_in_two_ways() -> None:
    assert parse_answer("0.25", answers.IN_PER_CENT).readings == pytest.approx((0.0025, 0.25))
    assert parse_answer("0.25 %", answers.IN_PER_CENT).readings == pytest.approx((0.0025,))


@pytest.mark.parametrize(
    ("text", "value", "swapped", "other"),
    [
        ("4.615", 4.615, "4,615", 4615),
        ("4,615", 4615, "4.615", 4.615),
        ("0.064", 0.064, "", math.nan),
        ("0,064", 0.064, "", math.nan),
        ("4.6150", 4.615, "", math.nan),
        ("4,61", 4.61, "", math.nan),
        ("4,6150", 4.615, "", math.nan),
        ("4,615.0", 4615, "", math.nan),
        ("1,004,615", 1_004_615, "", math.nan),
    ],
)
def test_a_comma_groups_thousands_and_a_point_is_decimal(
    text: str, value: float, swapped: str, other: float
) -> None:
    typed = parse_answer(text, IOPS)
    assert typed.readings == (value,) and typed.swapped == swapped
    assert typed.other == pytest.approx(other, nan_ok=True)


@pytest.mark.parametrize(
    ("text", "unit", "off"),
    [
        ("732", IOPS, 0.5),
        ("2.86k", IOPS, 5),
        ("0.064 s", TIME, 500),
        ("36.0", RATE, 5e4),
        ("1.5e3", IOPS, 50),
    ],
)
def test_what_was_rounded_away_is_half_of_the_last_digit(text: str, unit: AnswerUnit, off: float) -> None:
    assert parse_answer(text, unit).off == pytest.approx(off)


@pytest.mark.parametrize(
    ("text", "unit", "sentence"),
    [
        ("", IOPS, "'' is not a number; write one such as 3500"),
        ("many", IOPS, "'many' is not a number"),
        ("3500 ms", IOPS, "the question asks for IOPS, and this is another quantity"),
        ("3500 IOPS", RATE, "the question asks for MB/s, and this is another quantity"),
        ("200 Mbps", RATE, "write MB/s for megabytes or Mbit/s for megabits"),
        ("200 parrots", RATE, "unit 'parrots' is unknown here"),
        ("1e999", IOPS, "unit '9' is unknown here"),
        ("nan", IOPS, "not a number"),
    ],
)
def test_what_is_no_answer_is_refused_in_a_sentence(text: str, unit: AnswerUnit, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_answer(text, unit)
    assert sentence in str(refused.value)
