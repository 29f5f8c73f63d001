"""Reader of a report of Oracle's Automatic Workload Repository (AWR), as HTML or text: I/O between snapshots.

One report is one interval, from its first snapshot to its last, mostly an hour. The load is what the instance
requested, by its statistics ``physical read total IO requests`` and ``… bytes`` (and ``write``), which are
counted exactly; where the report has none of these, by its IO Profile, which is rounded to 0.1 MiB/s. The
device is the instance: Oracle does not tell which disks served it.

Traps that are dealt with: numbers are grouped by commas, points or apostrophes, as the session was told, and
the decimals after ``Elapsed:`` tell which; a figure too wide for its column is printed as ``####``; names of
months can be of any language, of which English ones and numbers are read: with others the report has a
length and no time. Reports that compare two periods, and those of all instances of a cluster, have another
layout and are not claimed.

Source: Oracle Database Performance Tuning Guide 19c, chapter 6, and Reference 19c, appendix "Statistics
Descriptions"; a megabyte of the IO Profile is 2**20 bytes, as its blocks of 8 KiB show in published reports.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from azbenchlib.core.findings import Code
from azbenchlib.core.units import MIB, S_PER_MIN
from azbenchlib.formats._entities import without_entities
from azbenchlib.formats._telemetry import DeviceReport, add_reports
from azbenchlib.formats.base import Records
from azbenchlib.formats.source import Source

_TITLE = re.compile(r"<title>AWR Report for DB:|WORKLOAD REPOSITORY (?:PDB )?report\b", re.IGNORECASE)
_OTHER_LAYOUT = re.compile(r"WORKLOAD REPOSITORY (?:COMPARE|REPORT \(RAC\))", re.IGNORECASE)
_ROW = re.compile(r"<tr\b", re.IGNORECASE)
_CELL = re.compile(r"<t[dh]\b", re.IGNORECASE)
_TAG = re.compile(r"^[^<>]{0,500}>|<[^<>]{0,500}>")
_RULE = re.compile(r"-{3,}(?: +-{2,})*")
_SNAP = re.compile(
    r"(?P<which>Begin|End) Snap: +[\d,.]{1,12} +"
    r"(?P<date>\d{1,2}-[^\s-]{1,12} ?-\d{2,4}|\d{4}-\d{2}-\d{2}) +(?P<time>\d{1,2}:\d{2}:\d{2})"
)
_ELAPSED = re.compile(r"Elapsed: +(?P<minutes>[\d.,' ]{1,20}(?P<point>[.,])\d{2}) ?\(mins?\)")
_NUMBER = r"(#+|[\d.,']+)"
_STATISTIC = re.compile(rf"physical (read|write) total (IO requests|bytes) +{_NUMBER}(?= |$)")
_PROFILE = re.compile(rf"Total (Requests|\(MB\)): +{_NUMBER} +{_NUMBER} +{_NUMBER}(?= |$)")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_QUANTITIES = {"IO requests": "iops", "bytes": "bytes_per_s", "Requests": "iops", "(MB)": "bytes_per_s"}
_LONGEST_CELL = 1000  # characters that can be a heading or a figure, with their tags
_N_FIGURES = 4  # rate and bytes, read and written


def sniff(opening: str) -> bool:
    """Whether it is a report of one instance."""
    return _TITLE.search(opening) is not None and not _OTHER_LAYOUT.search(opening)


def read_oracle_awr(source: Source) -> Records:
    """The demand between two snapshots.

    Parameters
    ----------
    source : Source
        HTML or text of awrrpt.sql.

    Returns
    -------
    Records
        One row of demand, and findings.
    """
    records = Records(source)
    rows = list(_html_rows(source.text) if _ROW.search(source.text) else _text_rows(source.text))
    report = _Report(rows)
    load = report.load()
    if not load or report.interval_s is None:
        missing = "the I/O" if not load else "its length"
        records.finding(Code.NO_FIGURES, f"{source.path}: the report of AWR does not tell {missing}")
        return records
    if len(load) < _N_FIGURES:
        message = f"{source.path}: {_N_FIGURES - len(load)} of {_N_FIGURES} figures of I/O cannot be read"
        records.finding(Code.ROW_NOT_READ, message)
    told = DeviceReport(
        host=report.below("Host Name") or report.below("Host"),
        end_s=report.moments.get("End"),
        clock="local",
        interval_s=report.interval_s,
        devices={f"instance {report.below('Instance') or 'of Oracle'}": load},
    )
    add_reports(records, "AWR", [told])
    return records


class _Report:
    """The rows of a report, each a list of cells, and what is read from them."""

    def __init__(self, rows: Sequence[Sequence[str]]) -> None:
        self._rows = rows
        self._lines = [" ".join(cell for cell in row if cell) for row in rows]
        elapsed = next(filter(None, map(_ELAPSED.search, self._lines)), None)
        self._point = elapsed["point"] if elapsed else "."
        self.moments = dict(self._moments())  # of Begin and End, s since 1970 by the clock of the database
        self.interval_s: float | None = None
        if len(self.moments) == len(("Begin", "End")):
            self.interval_s = self.moments["End"] - self.moments["Begin"]
        elif elapsed and (minutes := self._number(elapsed["minutes"])):
            self.interval_s = minutes * S_PER_MIN
        if self.interval_s is not None and self.interval_s <= 0:
            self.interval_s = None

    def below(self, heading: str) -> str | None:
        """The cell below a heading; None: there is none, or it is empty."""
        for row, after in zip(self._rows, self._rows[1:], strict=False):
            if heading in row and row.index(heading) < len(after):
                return after[row.index(heading)] or None
        return None

    def load(self) -> dict[str, float]:
        """Rates of reads and writes in I/Os and bytes a second, as far as they are told."""
        return self._statistics() or self._profile()

    def _statistics(self) -> dict[str, float]:
        """By the totals of the instance's statistics."""
        found: dict[str, float] = {}
        for line in self._lines if self.interval_s else ():
            told = _STATISTIC.match(line)
            if told and (total := self._number(told[3])) is not None and self.interval_s:
                found.setdefault(f"{told[1]}_{_QUANTITIES[told[2]]}", total / self.interval_s)
        return found if len(found) == _N_FIGURES else {}

    def _profile(self) -> dict[str, float]:
        """By the IO Profile: reads and writes together, then each of them."""
        found: dict[str, float] = {}
        for told in filter(None, map(_PROFILE.match, self._lines)):
            quantity = _QUANTITIES[told[1]]
            for ddir, text in (("read", told[3]), ("write", told[4])):
                if (value := self._number(text)) is not None:
                    found.setdefault(f"{ddir}_{quantity}", value * (MIB if quantity == "bytes_per_s" else 1))
        return found

    def _moments(self) -> Iterator[tuple[str, float]]:
        for told in filter(None, map(_SNAP.search, self._lines)):
            if (moment := _moment(told["date"], told["time"])) is not None:
                yield told["which"], moment

    def _number(self, text: str) -> float | None:
        """A figure with groups of digits; None: it was too wide for its column, or is none."""
        grouping = {",", ".", "'", " "} - {self._point}
        plain = "".join(char for char in text if char not in grouping).replace(self._point, ".")
        try:
            return float(plain)
        except ValueError:
            return None


def _moment(date: str, time: str) -> float | None:
    """Local time in s since 1970, such as of 16-Feb-13, 16-2月-13 or 2013-02-16; None: not readable."""
    first, second, third = (part.strip() for part in date.split("-"))
    day, month, year = (third, second, first) if len(first) > len(third) else (first, second, third)
    if month[:3].lower() in _MONTHS:
        month = str(_MONTHS.index(month[:3].lower()) + 1)
    digits = re.match(r"\d{1,2}", month)
    try:
        moment = datetime.strptime(f"{day} {digits and digits[0]} {year[-2:]} {time}", "%d %m %y %H:%M:%S")
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC).timestamp()


def _html_rows(text: str) -> Iterator[list[str]]:
    """The cells of each row of all tables."""
    for row in _ROW.split(text)[1:]:
        yield [
            " ".join(without_entities(_TAG.sub("", cell[:_LONGEST_CELL])).split())
            for cell in _CELL.split(row)[1:]
        ]


def _text_rows(text: str) -> Iterator[list[str]]:
    """Each line as one cell; what stands above and below a rule also in cells, cut where the rule is."""
    lines = text.splitlines()
    for before, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        whole = [" ".join(line.split())]
        if _RULE.fullmatch(whole[0]):
            continue
        above, below = _RULE.fullmatch(after.strip()), _RULE.fullmatch(before.strip())
        if above:
            yield whole
        if above or below:
            cuts = re.finditer("-+", after if above else before)
            yield [line[cut.start() : cut.end()].strip() for cut in cuts]
        if not above:
            yield whole
