"""Times as tools print them: of the locale, in ISO 8601, as seconds since 1970, or of a day alone."""

import re
from calendar import timegm
from datetime import UTC, datetime

_DATE = re.compile(r"(\d{1,4})([-/.])(\d{1,2})\2(\d{1,4})")
_NAMED = re.compile(r"(\d{1,2})-([A-Za-z]{3})-(\d{4})")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_TIME = re.compile(r"(\d{1,2}):(\d{2}):(\d{2}(?:[.,]\d{1,9})?)\s*([AP]M)?", re.IGNORECASE)
_STAMP = re.compile(
    r"(?:Time: )?(?:(?P<date>\d{1,4}([-/.])\d{1,2}\2\d{1,4}|\d{1,2}-[A-Z]{3}-\d{4})[T ]+)?"
    r"(?P<time>\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?(?:\s*[AP]M)?)\s*(?P<zone>Z|UTC|[+-]\d{2}:?\d{2})?",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"\d{9,11}")
# A day above 12 in a place where a tool prints a date, not one in the prose of a page
_DAY_FIRST = re.compile(
    r"(?:^[ \t>]{0,40}|\)[ \t]{1,9}|\")(?:1[3-9]|2\d|3[01])/(?:0?[1-9]|1[0-2])/\d{2,4}\b", re.MULTILINE
)
_WORDS = str.maketrans({"年": "-", "月": "-", "日": " ", "时": ":", "時": ":", "分": ":", "秒": ""})
_S_PER_DAY = 86_400
_NO_DAY_S = _S_PER_DAY  # the day that times are counted from where none is stated; none of them is below 0
_CENTURY = 2000  # sysstat is younger than 2000, and two digits are a year since


class Clock:
    """Reads the times of one file: whether the day or the month comes first is the same in all of it."""

    def __init__(self, text: str) -> None:
        self._day_first = _DAY_FIRST.search(text) is not None
        self.day_s: int | None = None  # the day that times without a date are of

    def begin_day(self, text: str) -> None:
        """The day that times without a date are of from here on, if the text is one."""
        self.day_s = self._day(text)

    def stamp(self, text: str) -> tuple[float, str] | None:
        """Seconds since 1970 and the clock of a time; None where the text is none.

        Where no day was stated the clock is "elapsed", and the seconds count from a midnight.
        """
        text = text.translate(_WORDS).strip()
        if _EPOCH.fullmatch(text):
            return float(text), "utc"
        found = _STAMP.fullmatch(text)
        if found is None:
            return None
        seconds = _of_day(found["time"])
        if found["date"] is None and self.day_s is None and seconds is not None:
            return _NO_DAY_S + seconds, "elapsed"
        day = self.day_s if found["date"] is None else self._day(found["date"])
        if day is None or seconds is None:
            return None
        zone = found["zone"]
        return day + seconds - _offset(zone), "local" if zone is None else "utc"

    def _day(self, text: str) -> int | None:
        named = _NAMED.fullmatch(text.strip())
        if named and named[2].lower() in _MONTHS:
            text = f"{named[3]}-{_MONTHS.index(named[2].lower()) + 1}-{named[1]}"
        found = _DATE.fullmatch(text.translate(_WORDS).strip())
        if found is None:
            return None
        first, second, third = int(found[1]), int(found[3]), int(found[4])
        if len(found[1]) == 4:
            year, month, day = first, second, third
        elif found[2] in ".-" or self._day_first:  # no locale with these has the month first
            day, month, year = first, second, third
        else:
            month, day, year = first, second, third
        try:
            return timegm(
                datetime(year + (_CENTURY if year < 100 else 0), month, day, tzinfo=UTC).timetuple()
            )
        except ValueError:
            return None


def next_day(stamp_s: float, before_s: float | None) -> float:
    """A time without a date that lies long before the one before it is of the day after."""
    while before_s is not None and stamp_s < before_s - _S_PER_DAY / 2:
        stamp_s += _S_PER_DAY
    return stamp_s


def _of_day(text: str) -> float | None:
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    hour, minute, second = int(found[1]), int(found[2]), float(found[3].replace(",", "."))
    half = (found[4] or "").upper()
    if half:
        hour = hour % 12 + (12 if half == "PM" else 0)
    return hour * 3600 + minute * 60 + second if hour < 24 and minute < 60 and second < 61 else None


def _offset(zone: str | None) -> int:
    """Seconds east of Greenwich."""
    if zone is None or zone.upper() in ("Z", "UTC"):
        return 0
    sign = -1 if zone[0] == "-" else 1
    digits = zone[1:].replace(":", "")
    return sign * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)
