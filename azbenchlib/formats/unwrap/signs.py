"""What stands in the outputs of each tool and nowhere else: where an output begins in a text.

A sign is searched as words first, which takes next to no time, and as a line only where the words are there.
Repetitions have bounds and take no line ends, so that no text takes longer than its length.
"""

import re
from dataclasses import dataclass

_CLOCK = r"(?:(?:\d{1,2}:\d{2}:\d{2}(?: [AP]M)?|Average:)[ \t]{1,99})?"


@dataclass(frozen=True)
class Sign:
    """What tells of an output.

    Attributes
    ----------
    words : tuple of str
        One of them is in each line that begins an output.
    line : Pattern
        What such a line begins with, where nothing stands before it.
    """

    words: tuple[str, ...]
    line: re.Pattern[str]


def _sign(words: tuple[str, ...], line: str) -> Sign:
    return Sign(words, re.compile(f"^(?:{line})", re.MULTILINE))


# By the names that formats begin with. A line of fio's normal output can begin with any job's name, so that
# it is no proof that nothing stands before it.
SIGNS = {
    "fio": _sign(
        ('"fio version"', "(groupid=", ";fio-"),
        r"[{ \t]{0,99}\"fio version\" ?: ?\"|[345];fio-\d"
        r"|[^\n:]{1,200}: \((?:groupid=\d{1,9}, jobs=\d{1,9}\): err=|g=\d{1,9}\): rw=)",
    ),
    # that of dbench stands below the texts of fio that it sums up, and is none of these
    "summary of fio": _sign(
        ("FIO Benchmark ", "fio Disk Speed", "FIO version - fio-"),
        r"[ \t#>=]{0,99}(?:FIO Benchmark Summary\b|fio Disk Speed Tests |FIO version - fio-\d)",
    ),
    "iozone text": _sign(("Iozone: Perf",), r"[ \t]{0,99}Iozone: Performance Test of File I/O"),
    "diskspd text": _sign(
        ("Results for timespan",),
        r"[ \t]{0,99}(?:Results for timespan \d{1,6}:|Command Line: |Input parameters:[ \t]{0,99}$)",
    ),
    "diskspd XML": _sign(("<Results>",), r"[ \t]{0,99}<Results>"),
    "IOMeter results": _sign(("'Target Type,",), r"'Target Type,Target Name,"),
    "IOMeter setup": _sign(("'MANAGER LIST",), r"'MANAGER LIST =="),
    "lab log": _sign(('{"azbench_lab"',), r'\{"azbench_lab": 1,'),
    "sysstat text": _sign(
        (" CPU)",), r"[ \t]{0,99}Linux \S{1,200} \([^()\n]{0,255}\)[ \t]{1,9}\S{6,10}[ \t]"
    ),
}
# Lines whose beginning is known to be that of the line itself.
ANCHORED = re.compile(
    r"[ \t]{0,99}(?:[\[ ]{0,9}\{[ \t]{0,99}\"|\"[\w ]{1,40}\" ?: ?(?=[\"\[{])|[2345];fio-\d"
    r"|Iozone: Performance|<Results>|[kK]B {1,9}reclen {1,9}write|Results for timespan \d|'Target Type,"
    r"|\{\"azbench_lab\""
    rf"|Linux \S{{1,200}} \([^()\n]{{0,255}}\)[ \t]|avg-cpu: |{_CLOCK}DEV[ \t]|Device:?[ \t]"
    r"|<sysdata-version>|(?:# ?)?hostname[;\t,]|\"?\(PDH-|Timestamp {1,99}CounterSamples|AAA,|ZZZZ,T\d"
    r"|disk- ?-|\"(?:Dstat|pcp-dstat|dool) |(?:# (?:HELP|TYPE) )?node_disk_)"
)
# What lines of outputs have, whatever stands before it.
ANYWHERE = re.compile(
    r"fio version(?:\\{0,9}[\"']|&quot;)|\(groupid=\d|\(g=\d|[2345];fio-\d|IOPS=|iops=\d"
    r"|Iozone: Perf|reclen {1,9}write|Children see|Results for timespan|Input parameters:"
    r"|(?:<|&lt;)Results(?:>|&gt;)|Linux \S{1,200} \([^()\n]{0,255}\)[ \t]"
    r"|avg-cpu: |Device:? {1,9}(?:r/s|tps|rrqm)|DEV {1,9}tps|(?:'|&#(?:x27|39);)Target Type,"
    r"|\"sysstat\\{0,9}\" ?:"
    r"|<sysdata-version>|hostname[;\t,]interval[;\t,]|\(PDH-[CT]SV \d|Timestamp {1,99}CounterSamples"
    r"|metadatavalues\\{0,9}\" ?:|AAA,progname,|ZZZZ,T\d|disk- ?-{1,99}reads|\"(?:Dstat|pcp-dstat|dool) [\d.]"
    r"|node_disk_\w{1,60}\{|resultType\\{0,9}\" ?:"
)

# A word of each of these, which is found far sooner.
_WORDS = (
    *("fio version", "(groupid=", "(g=", ";fio-", "IOPS=", "iops=", "Iozone: Perf", "reclen", "Children see"),
    *(
        "Results for timespan",
        "Input parameters:",
        "<Results>",
        "&lt;Results",
        " CPU)",
        "avg-cpu: ",
        "Device",
        "DEV ",
    ),
    *(
        "Target Type,",
        '"sysstat',
        "<sysdata-version>",
        "hostname",
        "(PDH-",
        "CounterSamples",
        "metadatavalues",
    ),
    *("AAA,progname,", "ZZZZ,T", "disk- ", '"Dstat ', '"pcp-dstat ', '"dool ', "node_disk_", "resultType"),
)
_OF_EACH, _ENOUGH = 2, 4  # lines with a word, and in all


def sign_lines(opening: str) -> list[str]:
    """Return the first lines that have the signs of outputs, whatever stands before these."""
    found: dict[int, str] = {}
    for word in _WORDS:
        if len(found) >= _ENOUGH:
            break
        place = opening.find(word)
        for _ in range(_OF_EACH):
            if place < 0:
                break
            begin = opening.rfind("\n", 0, place) + 1
            if begin not in found:
                line = line_at(opening, place)
                if ANYWHERE.search(line):
                    found[begin] = line
            place = opening.find(word, place + len(word))
    return [found[begin] for begin in sorted(found)]


def line_at(text: str, place: int) -> str:
    """Return the line of a text in which a place is."""
    end = text.find("\n", place)
    return text[text.rfind("\n", 0, place) + 1 : len(text) if end < 0 else end]
