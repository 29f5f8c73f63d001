"""The lines of fio's normal output: their patterns and their numbers.

Source: fio ``stat.c`` (``show_thread_status_normal``, ``show_ddir_status``), ``init.c`` (the opening lines)
and ``lib/num2str.c``, read at tags 2.0.7 to 3.41.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from azbenchlib.core import units
from azbenchlib.formats._entities import without_entities
from azbenchlib.formats.fio._jobs import Printed

_BITS = 8  # of a byte
LONGEST = 4096  # characters of a line; fio's progress lines without line ends can be endless

_N = r"(\d{1,3}(?:,\d{3}){1,5}|\d{1,18}(?:\.\d{1,9})?)"  # fio 1 wrote 62,500
_COUNT = rf"\s*{_N}\s?([kKMGTP]?)\s*"
_SIZE = rf"\s*{_N}\s?((?:[kKMGTPE]i?)?)(B|bit)?(?:/s)?"

HEADER = re.compile(
    r"(?P<name>.*?): \(groupid=(?P<group>\d{1,9}), jobs=(?P<jobs>\d{1,9})\): "
    r"err=\s*(?P<error>-?\d{1,9})\s*(?:\(.*\))?: pid=(?P<pid>\d{1,12})"
    r"(?:: \w{3} (?P<printed>\w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}))?"
)
OPENING = re.compile(
    r"(?:<(?P<host>[\w.:-]{1,255})> )?(?P<name>.*?): \(g=(?P<group>\d{1,9})\): rw=(?P<rw>\w{1,20}), "
    r"bs=(?P<bs>.{1,200}?), ioengine=(?P<engine>[^,\s]{1,100}), iodepth=(?P<depth>\d{1,9})"
)
VERSION = re.compile(r"(?:hostname=.{0,300}, fio=)?(fio[- ]\d{1,3}\.\d{1,3}[^\s,]{0,40})")
STARTING = re.compile(r"(?:<[\w.:-]{1,255}> )?Starting \d{1,9} (?:process|thread)")
# of a device; one that is made of others (md, dm) tells their sums too, and they follow
DEVICE = re.compile(r"[\w!.:/-]{1,255}: ios=(?P<reads>\d{1,15})/(?P<writes>\d{1,15}), (?!.{0,500}aggrios=)")
PROGRESS = re.compile(r"Jobs: \d{1,9} \(f=\d{1,9}\)")
GROUP_SUMMARY = re.compile(r"Run status group \d{1,9} ")
TEXT_RATES = re.compile(
    rf"(read|write|trim|mixed)\s*: IOPS={_COUNT}, BW={_SIZE} \({_SIZE}\)\({_SIZE}/(\d{{1,15}})msec\)"
)
OLD_RATES = re.compile(
    rf"(read|write|trim|mixed)\s*: io={_SIZE}, bw={_SIZE}\s*, iops={_COUNT}, runt=\s*(\d{{1,15}})msec"
)
# fio prints the deviation last and with two digits, so the line is whole where they are
LATENCY = re.compile(
    rf"(slat|clat|lat) \(([num])sec\)\s*: min={_COUNT}, max={_COUNT}, avg={_COUNT}, "
    r"stdev=\s*(\d{1,18}\.\d\d)(?!\d)"
)
PERCENTILES = re.compile(r"(slat|clat|lat) percentiles \(([num])sec\):")
OTHER_PERCENTILES = re.compile(r".* percentiles \([num]sec\):")
_PERCENTILE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)th=\[\s*" + _N + r"([kKM]?)\s*\]")
IOPS = re.compile(r"iops\s*: min=.*stdev=\s*(\d{1,18}\.\d\d), samples=(\d{1,12})")
CPU = re.compile(r"cpu\s*: usr=\s*(\d{1,9}\.\d{1,9})%, sys=\s*(\d{1,9}\.\d{1,9})%")
ISSUED = re.compile(r"issued[^:]{0,10}: total=([\drwd=/,]{1,100}),?\s*short")
ERRORS = re.compile(r"errors\s*: total=\s*(\d{1,18}), first_error=\s*(-?\d{1,9})/<")
# what else stands between a job's header and the next one's
INNER = re.compile(
    r"[|\d]|(?:slat|clat|lat|sync|bw|iops|cpu|issued|errors|latency|submit|complete|IO depths|Description"
    r"|fsync|blocksize|block size|steadystate|zone|Jobs:|fio:|high prio|low prio|hipri)\b"
)

_PAIR = re.compile(rf"{_N}((?:[kKMGT]i?)?)B?-{_N}((?:[kKMGT]i?)?)B?")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_BREAK = re.compile(r"</?(?:pre|p|div|br|td|tr|li)\b[^<>]{0,200}>", re.IGNORECASE)
_TAG = re.compile(r"</?(?:code|span|tt|b|i)\b[^<>]{0,200}>", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:gt|lt|amp|nbsp|quot|#\d{1,6});")
_QUOTING = " \t>#*"  # what pages put before the lines that they quote
_POWERS = {letter: power for power, letter in enumerate(" KMGTPE")}
_US_PER = {"n": 1 / units.NS_PER_US, "u": 1, "m": units.US_PER_MS}


def split(text: str) -> list[str]:
    """The lines of a text, also of one in a page: some of HTML's tags end a line."""
    return (_BREAK.sub("\n", text) if "<" in text else text).splitlines()


def plain(line: str) -> str:
    """A line without what a page, a terminal or a progress line put around it."""
    if not line:
        return ""
    line = line[-LONGEST:]
    if "<" in line:
        line = _TAG.sub("", line)
    if "&" in line and _ENTITY.search(line):
        line = without_entities(line)
    line = line.replace("\u00a0", " ").strip().lstrip(_QUOTING)
    progress = line.rfind("[eta ")
    if progress >= 0 and line.startswith("Jobs:"):
        line = line[progress:].partition("]")[2].lstrip() or line
    return line


def clock_s(text: str | None) -> int | None:
    """Seconds of a time such as ``Oct 18 18:57:40 2022``, as if its zone were UTC; None for no time."""
    if text is None or text[:3] not in _MONTHS:
        return None
    day, clock, year = text[3:].split()
    hour, minute, second = map(int, clock.split(":"))
    try:
        moment = datetime(int(year), _MONTHS.index(text[:3]) + 1, int(day), hour, minute, tzinfo=UTC)
    except ValueError:
        return None
    return int(moment.timestamp()) + second  # the 60th second too


class TextRates(NamedTuple):
    """What a direction's own line says; `again` is the rate as it is printed in the other base."""

    ddir: str
    iops: Printed
    rate: Printed
    again: Printed | None
    moved: Printed
    seconds: float


def rates(match: re.Match[str]) -> TextRates:
    """Numbers of a line of :data:`TEXT_RATES`: ``MB`` were 2**20 bytes until fio also wrote ``MiB``."""
    ddir, *parts, ms = match.groups()
    iops, rate, again, moved = parts[:2], parts[2:5], parts[5:8], parts[8:11]
    return TextRates(
        ddir,
        count(iops),
        size(rate, True),
        size(again, True),
        size(moved, True),
        int(ms) / units.MS_PER_S,
    )


def old_rates(match: re.Match[str]) -> TextRates:
    """Numbers of a line of :data:`OLD_RATES`."""
    ddir, *parts, ms = match.groups()
    moved, rate, iops = parts[:3], parts[3:6], parts[6:]
    seconds = int(ms) / units.MS_PER_S
    return TextRates(ddir, count(iops), size(rate, False), None, size(moved, False), seconds)


def count(parts: Sequence[str]) -> Printed:
    """A count such as ``13.3k``, in number and letter; the letters are powers of ten."""
    return _scaled(parts[0], units.KB ** _POWERS[parts[1].upper() or " "])


def size(parts: Sequence[str], si_is_decimal: bool) -> Printed:
    """Bytes of ``18.8MiB``, in number, prefix and unit; bits are divided."""
    number, prefix, unit = parts
    base = units.KB if si_is_decimal and not prefix.endswith("i") else units.KIB
    figure = _scaled(number, base ** _POWERS[prefix[:1].upper() or " "])
    return Printed(*(part / _BITS for part in figure)) if unit == "bit" else figure


def latency_us(parts: Sequence[str], unit: str, whole: bool) -> Printed:
    """Microseconds of a latency in ``n``, ``u`` or ``m`` sec, in number and letter.

    fio cuts or rounds up what it prints as a whole number, so it can be off by one.
    """
    value, slack, _ = count(parts)
    return Printed(value * _US_PER[unit], (max(slack, 1) if whole else slack) * _US_PER[unit])


def _scaled(number: str, factor: float) -> Printed:
    """Off by at most one in the last digit that is printed: fio rounds here and cuts there."""
    decimals = number.partition(".")[2]
    carry = factor if decimals and not decimals.strip("0") else 0.0
    return Printed(float(number.replace(",", "")) * factor, factor / 10 ** len(decimals), carry)


def block_sizes(text: str) -> dict[str, str]:
    """Options that say what ``bs=…`` of an opening line says; a range, where least and most differ."""
    pairs = _PAIR.findall(text)
    if any(pair[:2] != pair[2:] for pair in pairs):
        return {"bsrange": text}
    sizes = [size((number, prefix, ""), prefix == "k").value for number, prefix, *_ in pairs]
    if not sizes or any(value != int(value) for value in sizes):  # rounded: it could be many sizes
        return {"bs": text}
    return {"bs": ",".join(str(int(value)) for value in sizes)}


def issued(match: re.Match[str]) -> list[int]:
    """I/Os read, written and trimmed."""
    return [int(number) for number in re.findall(r"\d{1,18}", match[1])]


def percentiles(line: str) -> Iterator[tuple[float, tuple[str, str]]]:
    """Percentile with its number and letter, of all that stand whole in a line."""
    for match in _PERCENTILE.finditer(line):
        if float(match[1]) <= 100:
            yield float(match[1]), (match[2], match[3])
