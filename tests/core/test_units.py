"""Sizes, rates and times: what is written is read back, and what is shown is a plain figure."""

import json
import math
import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core import units
from azbenchlib.core.errors import InputError

FORMATS = [units.format_us, units.format_count, units.format_mbps, units.format_size]
# What a reader may meet: digits with thousands separators, at the most one point, then perhaps a unit.
PLAIN = re.compile(r"\d{1,3}(,\d{3})*(\.\d+)?(\u00a0(µs|ms|s|[KMGT]iB|B))?")


# fio HOWTO, kb_base: with 1024 (the default) k is 1024 and KiB is 1000; with 1000 the other way round.
@pytest.mark.parametrize(
    ("text", "kb_base", "n_bytes"),
    [
        ("4k", 1024, 4096),
        ("4K", 1024, 4096),
        ("4kb", 1024, 4096),
        ("4Ki", 1024, 4096),
        ("4KiB", 1024, 4000),
        ("4k", 1000, 4000),
        ("4kB", 1000, 4000),
        ("4Ki", 1000, 4000),
        ("4kib", 1000, 4096),
        ("1m", 1024, 1048576),
        ("1m", 1000, 1000000),
        ("30g", 1024, 32212254720),
        ("1GiB", 1024, 1000000000),
        ("1Gi", 1024, 1073741824),
        ("2t", 1024, 2199023255552),
        ("1p", 1024, 1125899906842624),
        ("512", 1024, 512),
        ("512", 1000, 512),
        (" 64k ", 1024, 65536),
        ("0", 1024, 0),
    ],
)
def test_fio_size(text, kb_base, n_bytes):
    assert units.fio_size(text, kb_base) == n_bytes


@pytest.mark.fio
@pytest.mark.parametrize("kb_base", [1024, 1000])
def test_sizes_are_read_as_fio_reads_them(kb_base):
    texts = ["4k", "4K", "4kb", "4ki", "4Ki", "4kib", "4KiB", "1m", "1mi", "1mib", "4096b", "4096"]
    jobs = [word for text in texts for word in (f"--name={text}", f"--bs={text}")]
    command = ["fio", "--output-format=json", "--ioengine=null", "--number_ios=1", "--size=1g"]
    done = subprocess.run([*command, f"--kb_base={kb_base}", *jobs], capture_output=True, check=True)
    found = {job["jobname"]: job["read"]["io_bytes"] for job in json.loads(done.stdout)["jobs"]}
    assert found == {text: units.fio_size(text, kb_base) for text in texts}


@pytest.mark.parametrize("parse", [units.fio_size, units.parse_size])
@pytest.mark.parametrize("text", ["9" * 5000, "9" * 5000 + "k", "1." + "9" * 5000 + "g"])
def test_endless_digits_are_no_size_and_not_repeated(parse, text):
    with pytest.raises(InputError, match="size") as refused:
        parse(text)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize("text", ["", "4x", "4i", "-4k", "4k-8k", "4k,8k", "20%", "1.5g", "k", "4 k b"])
@pytest.mark.parametrize("parse", [units.fio_size, lambda text: units.parse_size(text)])
def test_what_is_no_size_is_refused_by_name(parse, text):
    if parse is not units.fio_size and text == "1.5g":
        assert parse(text) == 3 * 2**29
        return
    with pytest.raises(InputError, match=re.escape(f"'{text}'")):
        parse(text)


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [("64KiB", 65536), ("1.5 GiB", 1610612736), ("2TB", 2199023255552), ("9007199254740993", 2**53 + 1)],
)
def test_parse_size(text, n_bytes):
    assert units.parse_size(text) == n_bytes


@pytest.mark.parametrize("text", ["0.5", "0.1t", "1.3k"])
def test_a_fraction_of_a_byte_is_refused(text):
    with pytest.raises(InputError, match="whole number of bytes"):
        units.parse_size(text)


@given(st.integers(0, 2**62))
def test_a_written_size_is_read_back(n_bytes):
    text = units.fio_size_text(n_bytes)
    assert units.fio_size(text) == n_bytes
    assert units.parse_size(text) == n_bytes


@given(st.integers(1, 1023), st.sampled_from("kmgt"))
def test_fio_spelling_is_the_shortest(number, letter):
    assert units.fio_size_text(units.parse_size(f"{number}{letter}")) == f"{number}{letter}"


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (0, "0 µs"),
        (0.0123, "0.0123 µs"),
        (0.999, "0.999 µs"),
        (0.9999, "1 µs"),
        (9.996, "10 µs"),
        (99.95, "100 µs"),
        (147.4, "147 µs"),
        (999.4, "999 µs"),
        (999.6, "1 ms"),
        (999.95, "1 ms"),
        (1000, "1 ms"),
        (2474, "2.47 ms"),
        (30802, "30.8 ms"),
        (999_400, "999 ms"),
        (999_600, "1 s"),
        (17.1e6, "17.1 s"),
        (3.6e9, "3,600 s"),
    ],
)
def test_format_us(us, text):
    assert units.format_us(us) == text.replace(" ", "\u00a0")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.004, "0.004"),
        (0.999, "1.0"),
        (27.3, "27.3"),
        (99.94, "99.9"),
        (99.95, "100"),
        (999.95, "1,000"),
        (1000, "1,000"),
        (59200, "59,200"),
        (1e16, "10,000,000,000,000,000"),
    ],
)
def test_format_count(value, text):
    assert units.format_count(value) == text


@pytest.mark.parametrize(
    ("bytes_per_s", "text"),
    [
        (0, "0"),
        (4000, "0.004"),
        (409_600, "0.41"),
        (994_000, "0.99"),
        (999_000, "1.0"),
        (1e6, "1"),
        (27.3 * 2**20, "28.6"),
        (99.94e6, "99.9"),
        (99.95e6, "100"),
        (134_217_728, "134"),
        (2e9, "2,000"),
    ],
)
def test_format_mbps(bytes_per_s, text):
    assert units.format_mbps(bytes_per_s) == text


@pytest.mark.parametrize(
    ("n_bytes", "text"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (1024, "1 KiB"),
        (4096, "4 KiB"),
        (1536, "1.5 KiB"),
        (2**20 - 1, "1 MiB"),
        (32212254720, "30 GiB"),
        (1788 * 2**30, "1.746 TiB"),
        (20000 * 2**40, "20,000 TiB"),
    ],
)
def test_format_size(n_bytes, text):
    assert units.format_size(n_bytes) == text.replace(" ", "\u00a0")


@given(st.floats(0, 1e18, allow_nan=False), st.sampled_from(FORMATS))
def test_figures_are_plain(value, form):
    assert PLAIN.fullmatch(form(value)), form(value)


@given(st.floats(1e-6, 1e15), st.sampled_from(FORMATS))
def test_what_is_not_zero_is_not_shown_as_zero(value, form):
    number = form(value).split("\u00a0")[0].replace(",", "")
    assert float(number) > 0


@given(st.floats(1, 1e12))
def test_a_shown_latency_is_within_half_a_percent(us):
    number, unit = units.format_us(us).split("\u00a0")
    shown = float(number.replace(",", "")) * {"µs": 1, "ms": 1e3, "s": 1e6}[unit]
    assert shown == pytest.approx(us, rel=0.0051)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_not_shown_as_one(form, value):
    with pytest.raises(InputError, match="finite"):
        form(value)


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        ("2TB", 2 * 10**12), ("2TiB", 2 * 2**40), ("2T", 2 * 2**40), ("2g", 2 * 2**30), ("100B", 100),
        ("100kb", 10**5), ("64Ki", 65536), ("0.1TB", 10**11), ("1,024gib", 2**40), ("1.5 GiB", 3 * 2**29),
    ],
)  # fmt: skip
def test_iec_and_si_units_are_kept_apart(text: str, n_bytes: int) -> None:
    assert units.stated_size(text) == n_bytes


@pytest.mark.parametrize(
    "text", ["", "4x", "5i", "-4GiB", "1e3GiB", "10,0GiB", "²GiB", "GiB", "4 k b", "1-2G"]
)
def test_what_is_no_stated_size_is_refused(text: str) -> None:
    with pytest.raises(
        InputError, match=re.escape(f"'{text}' is not a size") + ".*100GiB.*TB in powers of 1000"
    ):
        units.stated_size(text)


def test_a_size_without_a_unit_is_refused_with_the_choices() -> None:
    with pytest.raises(InputError, match=r"'100': 100 of what. Write 100GiB .*KiB, MiB, GiB and TiB"):
        units.stated_size("100")
    with pytest.raises(InputError, match="whole number of bytes"):
        units.stated_size("1.3KiB")


@pytest.mark.parametrize(
    ("text", "value"),
    [("24k", 24_000), ("24000", 24_000), ("24,000", 24_000), ("1.5M", 1.5e6), ("24K", 24_000), ("1e5", 1e5)],
)
def test_a_stated_rate(text: str, value: float) -> None:
    assert units.stated_rate(text) == value


@pytest.mark.parametrize("text", ["", "24Ki", "24kB", "-3", "nan", "inf", "24 000", "2,4", "1_000"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"'{text}' is not a number")):
        units.stated_rate(text)


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("24.000", "24000 or 24"),
        ("1.250", "1250 or 1.2500"),
        ("1.234.567", "1234567"),
    ],
)
def test_points_that_may_group_thousands_are_asked_back(text: str, readings: str) -> None:
    with pytest.raises(units.TwoReadingsError, match=f"'{text}' .* write {readings}$"):
        units.stated_rate(text)
    for reading in readings.split(" or "):
        assert units.stated_rate(reading) > 0
    assert [units.stated_rate(text) for text in ("0.125", "24.5", "2.125k", "1000.125")] == [
        0.125,
        24.5,
        2125,
        1000.125,
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1, "1 s"),
        (2.25, "2.2 s"),
        (45, "45 s"),
        (179, "179 s"),
        (1800, "30 min"),
        (9000, "2.5 h"),
        (360_000, "100 h"),
    ],
)
def test_a_length_of_time(seconds: float, text: str) -> None:
    assert units.format_span(seconds).replace(units.NBSP, " ") == text
