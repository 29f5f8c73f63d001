"""Every number of a text against what was reckoned from the tables."""

import re
from collections.abc import Iterable
from dataclasses import replace

from readback import figures
from readback.figures import Figure, spaced
from readback.known import Known, bought, shows
from readback.naming import Names, Topic
from readback.priced import Priced
from readback.reckoning import Fact, own_rows

MOST_SHOWN = 3
CURRENCY = re.compile(r"\b(?:USD|EUR)(?: [\d,.]+ to)?$")


class Checker:
    """Matches numbers; `faults` has a sentence for every one that nothing accounts for."""

    def __init__(self, parts: list[Known]) -> None:
        self.parts, self.part = parts, parts[0]
        self.faults: list[str] = []
        self.means: list[str] = []  # means over a burst and its base, told as the rate of a run
        self.astray: list[str] = []  # burst limits with the source of the base limit
        self.counted: dict[str, int] = {}
        self.shown: list[tuple[str, Fact]] = []  # (place, what was shown there)

    # --- texts --------------------------------------------------------------------------------------

    def explain(self, text: str, topic: Topic, place: str, pooled: bool | None, sold: bool = False) -> None:
        """Match every number of a text; each clause speaks of what is named in it."""
        text = spaced(text)
        if any(text in part.verbatim for part in self.parts):
            return
        if place in ("li", "'About'", "'Tools'"):
            text = self.quoted(text)
        per = re.search(r"[Aa] month of (1,000 IOPS|100 MB/s)", text)
        text = text.replace(per[0], " " * len(per[0])) if per else text
        percentile = None
        for clause in clauses(text, self.part.names):
            own, rest = self.part.names.read(clause)
            percentile = own.percentile or percentile
            own = replace(own, percentile=percentile).within(topic)
            for figure in figures.find(rest):
                if currency := CURRENCY.search(rest[: figure.start].rstrip("<>≈ ")):
                    Priced(self, own, place).sentence(figure, rest, per[1] if per else "", currency[0][:3])
                else:
                    self.match(figure, own, place, clause, pooled, sold)

    def quoted(self, text: str) -> str:
        """A text without what it quotes from the manifest."""
        known = {
            part for one in self.parts for part in one.verbatim if len(part) > MOST_SHOWN and part in text
        }
        for part in sorted(known, key=len, reverse=True):
            text = text.replace(part, " " * len(part))
        return text

    def match(
        self, figure: Figure, topic: Topic, place: str, text: str, pooled: bool | None, sold: bool = False
    ) -> None:
        """Find what accounts for a number; `sold`: rates that disks are sold with do too."""
        if figure.kind in ("iops", "bytes_per_s", "lat_us", "time_us"):
            self._measured(figure, topic, place, text, pooled, sold)
        elif figure.kind == "bytes":
            right = any(figure.shows(size) for size in self.part.sizes)
            self.accept(right, figure, place, text, sorted(self.part.sizes), "bytes")
        else:
            self.accept(self._count(figure, topic), figure, place, text, [], "count")

    def _measured(
        self, figure: Figure, topic: Topic, place: str, text: str, pooled: bool | None, sold: bool
    ) -> None:
        every = [
            fact
            for fact in self.part.facts
            if fact.kind == figure.kind and fact.is_of(topic) and pooled in (None, fact.pooled)
        ]
        if any(fact.mean and shows(figure, fact) for fact in every) and _of_run(place):
            self.means.append(f"{place}: {text}")
            return
        known = [fact for fact in every if not fact.mean]
        right = [fact for fact in known if shows(figure, fact)]
        self.shown += [(place, fact) for fact in right[:1]]
        other = sold and figure.base in bought(self.part, figure.kind)
        other = other or (figure.kind in ("lat_us", "time_us") and self._time(figure, topic))
        if pooled is None or "median of" in text:
            ends = [value for fact in known for value in (fact.low, fact.high) if value is not None]
            other = other or any(figure.shows(value) for value in ends)
        self.accept(bool(right) or other, figure, place, text, [f.value for f in known], figure.kind)

    def _time(self, figure: Figure, topic: Topic) -> bool:
        """How long runs lasted, where no percentile is asked for."""
        if topic.percentile is not None:
            return False
        times = self.part.tables["results"]["runtime_s"].dropna().tolist()
        times += self.part.tables["runs"]["runtime_limit_s"].dropna().tolist()
        known = [fact for fact in self.part.facts if fact.kind == "time_us" and fact.is_of(topic)]
        told = any(abs(figure.base - fact.value) <= figure.half + fact.within * fact.value for fact in known)
        return told or any(figure.shows(1e6 * value) for value in times)

    def _count(self, figure: Figure, topic: Topic) -> bool:
        """Numbers of things: runs, repeats, block sizes; how many more there are."""
        unit = figure.unit.rstrip("s")
        if unit in ("run", "of", "file", "job", "host", "repeat"):
            counts = {fact.n for fact in self.part.facts if fact.is_of(topic)}
            counts |= {len(own_rows(self.part.tables)), len({unit.key for unit in self.part.units})}
            return figure.value in counts
        if unit == "block":
            return figure.value == own_rows(self.part.tables)["bs_bytes"].nunique()
        return unit == "more"

    # --- the tally ----------------------------------------------------------------------------------

    def accept(
        self, right: bool, figure: Figure, place: str, text: str, known: Iterable[float], kind: str
    ) -> None:
        self.counted[kind] = self.counted.get(kind, 0) + 1
        if not right:
            some = ", ".join(f"{value:,.6g}" for value in list(dict.fromkeys(known))[:MOST_SHOWN])
            self.fault(
                place, f"'{figure.text}' in '{text[:160]}'; the tables give: {some or 'no such figure'}"
            )

    def fault(self, place: str, what: str) -> None:
        self.faults.append(f"{self.part.manifest['name']}: {place}: {what}")


def _of_run(place: str) -> bool:
    """Whether a place lists runs, each with what the tool reported of it."""
    return place.startswith("verdict") or bool(re.match(r"table (d\d+-)?results", place))


def clauses(text: str, names: Names) -> Iterable[str]:
    """Pieces of a text that speak of one thing each: up to a name in brackets, a semicolon or a full stop."""
    ends = {match.end() for match in re.finditer(r";|\.(?= [A-Zp])", text)}
    for begin, end in _brackets(text):
        if names.read(text[begin:end])[0] != Topic():
            ends.add(end)
    start = 0
    for end in sorted(ends | {len(text)}):
        if text[start:end].strip():
            yield text[start:end]
        start = end


def _brackets(text: str) -> Iterable[tuple[int, int]]:
    """Where the outermost brackets of a text stand."""
    depth = begin = 0
    for i, char in enumerate(text):
        if char == "(":
            begin, depth = (begin if depth else i), depth + 1
        elif char == ")" and depth:
            depth -= 1
            if not depth:
                yield begin, i + 1
