"""Sentences of leads and cards, each by the form that it has, against figures of the drawn rows."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Sequence

from documented_limits import check_change, counted, documented_of_vm, limits_of, tier_rates
from drawn_datasets import Drawn, Row
from readback import figures
from readback.figures import Figure
from said_figures import RATES, Said, Tally, clusters, latencies, matching, rates, some_or_sets

FLAT = 0.03  # of the highest rate, by the definition that the report gives of the best depth
AT = 0.9, 1.12  # measured ÷ limit of what is said to stop there
PROBABLY_AT = 0.87  # the least of these where the share is told, or that it is no more than probable
NOT_AT = 0.97  # and of what it is said not to have reached
NUMBER = r"[\d,.]*\d"


def check_sentence(tally: Tally, drawn: Drawn, said: Said) -> None:
    """A sentence of the lead or of a card: by the first form that it has."""
    for pattern, judge in FORMS:
        if told := pattern.search(said.text):
            judge(tally, drawn, said, told)
            return
    if any(figure.kind in (*RATES, "lat_us", "%") for figure in figures.find(said.text)):
        tally.checked["not read"] += 1
        tally.unread.append(str(said))


def _stops(tally: Tally, drawn: Drawn, said: Said, told: re.Match[str]) -> None:
    """``… stop at 5,000 IOPS, not at 200 MB/s.``: of each that is named; from a depth or size on."""
    text = re.sub(" while (its|their) burst credits last| until its credits are spent.*", "", said.text)
    first, _, later = text.partition("; ")
    if said.place == "lead":
        for name in re.findall(r"[^()]+\([^()]+\)", told[1]) or [told[1]]:
            _stretch(tally, drawn, said, name, first[told.end(1) :])
        return
    _stretch(tally, drawn, said, f"{said.about} {text}", first)
    if later:
        _stretch(tally, drawn, said, f"{said.about} {later}", later)


def _stretch(tally: Tally, drawn: Drawn, said: Said, name: str, text: str) -> None:
    """Rows of a stretch of a curve are at the limits named, and below the one they are said not to reach."""
    rows = _on_stretch(matching(drawn.rows, _without_stretch(name), drawn.named), name)
    tally.check("limit of some rows", bool(rows), said)
    at, _, lacking = re.sub(r", (from|up to|at) (QD )?\d.*", "", text).partition(", not ")
    for reached, part in ((True, at), (False, lacking)):
        for figure in (figure for figure in figures.find(part) if figure.kind in RATES):
            known = limits_of(drawn)[figure.kind]
            tally.check("documented limit", any(map(figure.shows, known)), said, sorted(known))
            used = used_of(drawn, rows, figure)
            least = PROBABLY_AT if re.search(r"\d % of \d|[Pp]robably", text) else AT[0]
            right = all(least <= one <= AT[1] for one in used) if reached else max(used, default=0) < NOT_AT
            if reached and (" at once" in text or any(row.phases for row in rows)):
                right = any(AT[0] <= one <= AT[1] for one in used)
            tally.check("at a limit" if reached else "below a limit", right, said, used)


def _without_stretch(text: str) -> str:
    return re.sub(r"(from|up to|\bat) (QD )?[\d,]+( to [\d,]+)?( [KM]?i?B\b)?( on)?", "", text)


def _on_stretch(rows: Sequence[Row], text: str) -> list[Row]:
    """The rows of which ``from QD 8 on``, ``up to 32 KiB`` or ``at 64 KiB to 1 MiB`` speaks."""
    told = re.search(
        rf"(?:(from)|(up to)|\bat) (QD )?({NUMBER})(?: ([KM]iB))?(?: to ({NUMBER}) ([KM]iB))?", text
    )
    if told is None or not (told[3] or told[5] or told[7]):
        return list(rows)
    scale = {None: 1, "KiB": 2**10, "MiB": 2**20}
    low = float(told[4].replace(",", "")) * scale[told[5] or told[7]]
    high = float(told[6].replace(",", "")) * scale[told[7]] if told[6] else low
    low, high = (low, math.inf) if told[1] else (0, high) if told[2] else (low, high)
    return [row for row in rows if low <= (row.queue_depth if told[3] else row.bs) <= high]


def _best_depth(tally: Tally, drawn: Drawn, said: Said, told: re.Match[str]) -> None:
    """The least depth at nearly the highest rate, and how p99 grows beyond it."""
    rows = matching(drawn.rows, re.sub(r"QD \d+", "", f"{said.about} {told[1]}"), drawn.named)
    by_depth = {depth: [row for row in rows if row.queue_depth == depth] for depth in _depths(rows)}
    rate = {depth: statistics.median(rates(some, "iops")) for depth, some in by_depth.items()}
    best = next(depth for depth, one in rate.items() if one >= (1 - FLAT) * max(rate.values()))
    deepest = max(rate)
    tally.check("best depth", best == int(told[2].replace(",", "")), said, rate)
    falls = rate[deepest] < (1 - FLAT) * rate[best]
    tally.check("rate beyond", ("falls" in told[3]) == falls and deepest != best, said, rate)
    if told[4]:
        ends = [latencies(by_depth[depth], 99.0) for depth in (best, deepest)]
        for text, known in zip((told[4], told[5]), ends, strict=True):
            (figure,) = figures.find(text)
            tally.check("p99", any(map(figure.shows, known)), said, known)
        times = statistics.median(ends[1]) / statistics.median(ends[0])
        (shown,) = figures.find(told[7])
        half = 0.5 if shown.value >= 10 else 0.05
        tally.check("times as long", abs(shown.value - times) <= half * (1 + 1e-6), said, times)


def _depths(rows: Sequence[Row]) -> list[int]:
    return sorted({row.queue_depth for row in rows})


def _grows(tally: Tally, drawn: Drawn, said: Said, told: re.Match[str]) -> None:
    """The rate grows up to the deepest queue."""
    rows = matching(drawn.rows, re.sub(r"QD \d+", "", f"{said.about} {said.text}"), drawn.named)
    rate = {
        d: statistics.median(rates([r for r in rows if r.queue_depth == d], "iops")) for d in _depths(rows)
    }
    best = next(d for d, one in rate.items() if one >= (1 - FLAT) * max(rate.values()))
    tally.check("grows", best == max(rate) == int(told[1].replace(",", "")), said, rate)


def _blocks(tally: Tally, drawn: Drawn, said: Said, told: re.Match[str]) -> None:
    """Up to which block most I/Os are done, and from which on most bytes are moved."""
    rows = sorted(drawn.rows, key=lambda row: row.bs)
    iops, moved = rates(rows, "iops"), rates(rows, "bytes_per_s")
    hold = max(row.bs for row in rows if row.total >= (1 - FLAT) * max(iops))
    full = min(row.bs for row in rows if row.total * row.bs >= (1 - FLAT) * max(moved))
    for text, known in ((told[1], hold), (told[2], max(iops)), (told[3], full), (told[4], max(moved))):
        (figure,) = figures.find(text)
        tally.check("block sizes", figure.shows(known), said, known)


def _share(tally: Tally, drawn: Drawn, said: Said, told: re.Match[str]) -> None:
    """``… got 150 % of the disk limit of 5,000 IOPS``: of a median or a run; the most, if it is closest."""
    (share, limit) = list(figures.find(told[0]))[:2]
    known = limits_of(drawn)[limit.kind]
    tally.check("documented limit", any(map(limit.shows, known)), said, sorted(known))
    rows = _on_stretch(matching(drawn.rows, _without_stretch(said.text), drawn.named), said.text)
    used = [100 * one for one in used_of(drawn, rows, limit, of_runs=True)]
    tally.check("share of a limit", any(map(share.shows, used)), said, used[:6])
    plain = [100 * rate / limit.base for rate in rates(rows, limit.kind)]
    explained = any(map(share.shows, plain)) or "each I/O counts as" in said.text
    tally.check("share explained", explained, said, plain[:6])
    if "closest" in said.text:
        every = clusters(drawn.rows)
        shares = [
            [100 * statistics.median(counted(drawn, row, value, kind) for row in some) for some in every]
            for kind in RATES
            for value in limits_of(drawn, burst=False)[kind]
        ]
        bursts = any("burst" in name for name in documented_of_vm(drawn.vm))  # else one was above its base
        known = [max(used) for used in shares if max(used) <= 100 * AT[1] or not bursts]
        tally.check("closest to a limit", max(known) <= share.value + 3, said, max(known))


def _of_files(tally: Tally, drawn: Drawn, said: Said, told: re.Match[str]) -> None:
    """``8 files of … give 508 IOPS at the median, from 506 to 519 IOPS``: files of one workload and side."""
    n, low, high = int(told[1]), told[4], told[5]
    groups = clusters(matching(drawn.rows, f"{told[2]} {said.text}", drawn.named))
    unit = told[3].rpartition(" ")[2]
    ends = [next(figures.find(f"{end} {unit}")) for end in (low, high)]
    (middle,) = figures.find(told[3])
    kind = middle.kind
    known = [sorted(rates(some, kind)) for some in some_or_sets(drawn, groups)]
    right = [
        some
        for some in known
        if len(some) == n
        if middle.shows(statistics.median(some))
        if ends[0].shows(some[0]) and ends[1].shows(some[-1])
    ]
    tally.check("files of one workload", bool(right), said, known)


def _outliers(tally: Tally, drawn: Drawn, said: Said, told: re.Match[str]) -> None:
    """Files far from the median, and how many times it they are."""
    rows = matching(drawn.rows, said.about, drawn.named)
    middle = statistics.median(rates(rows, "iops"))
    pattern = rf"(\S+) ({NUMBER} (?:IOPS|MB/s)), ({NUMBER}) times the median"
    for file, rate, times in re.findall(pattern, said.text):
        mine = [row for row in rows if row.path.endswith(file)]
        (figure,) = figures.find(rate)
        tally.check("outlier", any(map(figure.shows, rates(mine, figure.kind))), said, file)
        known = [row.total / middle for row in mine]
        tally.check("times the median", any(abs(float(times) - one) <= 0.051 for one in known), said, known)


def _most(tally: Tally, drawn: Drawn, said: Said, told: re.Match[str]) -> None:
    """The highest IOPS or MB/s of all, of the run that is named."""
    mine = matching(drawn.rows, said.text, drawn.named)
    for figure in (figure for figure in figures.find(told[2]) if figure.kind in RATES):
        unit = "IOPS" if figure.kind == "iops" else "MB/s"
        most = max(rates(drawn.rows, figure.kind))
        known = [most] if unit in told[1] else rates(mine, figure.kind)
        tally.check("most of all", any(map(figure.shows, known)), said, known)
        tally.check("rate", any(map(figure.shows, rates(mine, figure.kind))), said, rates(mine, figure.kind))


def _alone(tally: Tally, drawn: Drawn, said: Said, told: re.Match[str]) -> None:
    """The only rate that is known, and the tier that the rates look like."""
    for figure in (figure for figure in figures.find(told[1]) if figure.kind in RATES):
        known = [*rates(drawn.rows, figure.kind), *medians_of(drawn.rows, figure.kind)]
        tally.check("rate", any(map(figure.shows, known)), said, known[:6])
    _looks_like(tally, drawn, said, told)


def _looks_like(tally: Tally, drawn: Drawn, said: Said, _: re.Match[str]) -> None:
    """The rates are within so many per cent of those of a tier."""
    told = re.search(r"The rates look like (.+?): (.+?), within (\d+) %", said.text)
    for figure in figures.find(told[2]) if told else ():
        sold = tier_rates(figure.kind)
        tally.check("rates of a tier", any(map(figure.shows, sold)), said)
        off = min(abs(rate / figure.base - 1) for rate in rates(drawn.rows, figure.kind))
        tally.check("near a tier", 100 * off <= int(told[3]) + 0.5, said, 100 * off)  # type: ignore[index]


def _phases(tally: Tally, drawn: Drawn, said: Said, told: re.Match[str]) -> None:
    """``3,500 IOPS for 30 min, then 500 IOPS for 15 min``."""
    phases = next(row.phases for row in drawn.rows)
    rated = [figure for figure in figures.find(told[0]) if figure.kind == "iops"]
    timed = [figure for figure in figures.find(told[0]) if figure.kind == "time_us"]
    for (rate, lasted_s), shown, lasted in zip(phases, rated, timed, strict=True):
        tally.check("rate of a phase", abs(shown.base - rate) <= 1, said, rate)
        tally.check("length of a phase", abs(lasted.base / 1e6 - lasted_s) <= 45, said, lasted_s / 60)


def _open(tally: Tally, drawn: Drawn, said: Said, told: re.Match[str]) -> None:
    """``cannot tell between … and the VM uncached limit of 3,750 IOPS``: limits that are documented."""
    for figure in (figure for figure in figures.find(told[0]) if figure.kind in RATES):
        known = limits_of(drawn)[figure.kind]
        tally.check("documented limit", any(map(figure.shows, known)), said, sorted(known))


def _nothing(tally: Tally, drawn: Drawn, said: Said, told: re.Match[str]) -> None:
    """What a run to come would give, and what is no figure of these runs."""


def used_of(drawn: Drawn, rows: Sequence[Row], limit: Figure, of_runs: bool = False) -> list[float]:
    """Medians of what repeats use of a limit, of a run with phases each; or what each run uses too."""
    phased = [rate / limit.base for rate in rates([row for row in rows if row.phases], limit.kind)]
    every = [
        [counted(drawn, row, limit.base, limit.kind) for row in some if of_runs or not row.phases]
        for some in clusters(rows)
    ]
    medians = [statistics.median(some) for some in every if some]
    return [*phased, *medians, *(one for some in every if of_runs for one in some)]


def medians_of(rows: Sequence[Row], kind: str) -> list[float]:
    return [statistics.median(known) for some in clusters(rows) if (known := rates(some, kind))]


Judge = Callable[[Tally, Drawn, Said, "re.Match[str]"], None]
RATE = rf"{NUMBER} (?:IOPS|MB/s)"
FORMS: tuple[tuple[re.Pattern[str], Judge], ...] = (
    (
        re.compile(rf"give ({RATE}) for .* then {RATE} for \d+ min|{RATE} for .* then {RATE} for \d+ min"),
        _phases,
    ),
    (re.compile(r"^(.*?) stops? at "), _stops),
    (re.compile(r"^((?:Probably b|B)ound by .*?limit of )"), _stops),
    (re.compile(r"^An? .* gives? up to "), check_change),
    (
        re.compile(
            r"^(.*?)[Bb]est at QD ([\d,]+): beyond it ([\w ]+)(?:, p99 from (.+?) to (.+?) at QD ([\d,]+) "
            r"\((.+?) times\))?"
        ),
        _best_depth,
    ),
    (re.compile(r"[Uu]p to QD ([\d,]+) the rate grows"), _grows),
    (
        re.compile(
            rf"[Mm]ost IOPS (?:up to|at) (\S+ \S+) \(({RATE})\), most MB/s from (.+?) on \(({RATE})\)"
        ),
        _blocks,
    ),
    (re.compile(r"\d+ % of (?:\D|P\d)*? limit of [\d,]+ (?:IOPS|MB/s)"), _share),
    (
        re.compile(
            rf"^(?:[^:]+: )?(\d+) files of (.+?) give ({RATE}) at the median, from ({NUMBER}) to ({NUMBER})"
        ),
        _of_files,
    ),
    (re.compile(r"reported the most (IOPS and MB/s|IOPS|MB/s): (.+)"), _most),
    (re.compile(r"^(\d.*?)\. No documented limits"), _alone),
    (re.compile(r"^No documented limits"), _looks_like),
    (re.compile(r"^Outliers: "), _outliers),
    (re.compile(r"[Cc]annot tell between .*"), _open),
    (
        re.compile(
            r"^(No file is an outlier|Let the disk|Halve|Add a disk|Run |Double|Spread |"
            r".* a month, \d+ % less)"
        ),
        _nothing,
    ),
)
