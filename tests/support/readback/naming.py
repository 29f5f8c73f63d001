"""Of which setup, file, workload and direction a text speaks."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import PurePosixPath

import pandas as pd

from readback.figures import blank

Tables = Mapping[str, pd.DataFrame]
ROLES = {
    "os": ("OS disk", "OS"),
    "data": ("data disk", "data"),
    "temp": ("temp disk", "temp"),
    "nvme": ("local NVMe", "NVMe"),
    "ephemeral_os": ("ephemeral OS disk", "ephemeral OS"),
}
CACHES = {"None": "no cache", "ReadOnly": "ReadOnly cache", "ReadWrite": "ReadWrite cache"}
PATTERNS = {
    "sequential reads": ("read",),
    "sequential writes": ("write",),
    "random reads": ("randread",),
    "random writes": ("randwrite",),
    "mixed sequential i/o": ("rw", "readwrite"),
    "mixed random i/o": ("randrw",),
    "sequential trims": ("trim",),
    "random trims": ("randtrim",),
}
DIRECTIONS = {"reads": "read", "writes": "write", "trims": "trim"}
SIZES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}
_SIZE = r"(?P<bs>\d[\d,.]*) (?P<unit>B|KiB|MiB|GiB)"
FILE = "file:"  # begins what stands for the setup of a file whose setup is not stated
SET = f"{FILE}set "  # and that of many files of one workload
_SETS = re.compile(r"(?<![\w.,])(?P<n>\d[\d,]*) files\b(?: of\b)?")
_WORKING = re.compile(r"(?<![\w.,])(?P<size>\d[\d,.]* (?:B|KiB|MiB|GiB|TiB)) of data\b")
_DEPTH = re.compile(r"QD (?P<depth>\d[\d,]*)")


@dataclass(frozen=True)
class Topic:
    """What a text speaks of; None: it does not say."""

    setups: frozenset[str] | None = None
    rw: frozenset[str] | None = None
    bs: float | None = None
    depth: float | None = None
    ddir: str | None = None
    percentile: float | None = None
    job: str | None = None  # where nothing else tells the workloads of a file apart
    working: float | None = None  # bytes that are touched
    path: str | None = None

    def within(self, outer: "Topic") -> "Topic":
        """This, and what the surroundings say besides."""
        lacking = {f.name: getattr(outer, f.name) for f in fields(self) if getattr(self, f.name) is None}
        return replace(self, **lacking)


def fits(topic: Topic, asked: Topic) -> bool:
    """Whether a unit's topic is one that is asked for."""
    return (
        (asked.setups is None or bool((topic.setups or frozenset()) & asked.setups))
        and (asked.rw is None or bool((topic.rw or frozenset()) & asked.rw))
        and (asked.bs is None or topic.bs == asked.bs)
        and (asked.depth is None or topic.depth == asked.depth)
        and (asked.job is None or topic.job == asked.job)
        and (asked.working is None or topic.working == asked.working)
        and (asked.path is None or topic.path == asked.path)
    )


def size_text(n_bytes: float) -> str:
    """Bytes as the report writes them: four digits, the largest unit in which it is 1 or more."""
    unit, scale = next(((u, s) for u, s in reversed(SIZES.items()) if n_bytes >= s), ("B", 1))
    digits = f"{n_bytes / scale:.4g}"
    return f"{float(digits):,.10g} {unit}"


def rate_text(value: float) -> str:
    """A bought or documented rate as names have it."""
    return f"{value:,.0f}" if value >= 99.95 or value == int(value) else f"{value:.1f}"


class Names:
    """The words that stand for the setups of a dataset; for a file, where no setup is stated."""

    def __init__(self, tables: Tables) -> None:
        self._words: dict[str, set[str]] = {}
        disks = tables["disks"].drop_duplicates("setup_id").set_index("setup_id").to_dict(orient="index")
        used = tables["runs"]["setup_id"].dropna().unique()
        for row in tables["setups"].to_dict(orient="records"):
            if row["setup_id"] in used:
                for word in _words({**disks.get(row["setup_id"], {}), **_known(row)}):
                    self._words.setdefault(word, set()).add(str(row["setup_id"]))
        files = tables["runs"].loc[tables["runs"]["setup_id"].isna(), "source_path"].dropna().unique()
        for path in map(str, files):
            pure = PurePosixPath(path)
            for word in {path, path.removeprefix("raw/"), pure.name, pure.stem}:
                self._words.setdefault(word, set()).add(of_file(path))
        self._files = [of_file(path) for path in files]
        self.sets: dict[float, set[str]] = {}  # by how many files they are
        words = sorted(map(re.escape, self._words), key=len, reverse=True)
        word = rf"(?<![\w.,])(?:{'|'.join(words)})(?![\w])" if words else r"(?!)"
        self._one = re.compile(word)
        self._run = re.compile(rf"{word}(?:(?:, | ){word})*")
        engines = "|".join(map(re.escape, tables["runs"]["ioengine"].dropna().unique())) or "(?!)"
        self._which = re.compile(rf"\bjob '([^']+)'|\brun \d+ of \d+\b|(?<=, )(?:{engines})(?=,|$|:)")
        self._working = {size_text(float(size)): float(size) for size in working_sets(tables["runs"])}
        paths = sorted(map(re.escape, tables["runs"]["target"].dropna().unique()), key=len, reverse=True)
        self._path = re.compile(rf"(?<=, )(?:{'|'.join(paths) or '(?!)'})(?=, |$|:)")
        patterns = sorted(_patterns(tables), key=len, reverse=True)
        self._pattern = re.compile(
            rf"\b(?:{_SIZE} )?(?P<rw>{'|'.join(map(re.escape, patterns))})(?![\w])", re.I
        )
        self._rw = {name: frozenset(rws) for name, rws in _patterns(tables).items()}

    def setups(self, text: str) -> frozenset[str] | None:
        """The setups that a text may speak of: all of its names fit them; None where it names none."""
        found = [setups for _, _, setups in self.spans(text)]
        return frozenset().union(*found) if found else None

    def spans(self, text: str) -> list[tuple[int, int, frozenset[str]]]:
        """Where setups are named, each with those that fit; a rate alone is no name."""
        found = []
        for match in _SETS.finditer(text):
            if sets := self.sets.get(float(match["n"].replace(",", ""))):
                found.append((match.start(), match.end(), frozenset(sets)))
        for match in re.finditer(r"…[^\s,;:()]+(?: [^\s,;:()]+)*", text):  # the end of a long path, in lines
            for told in _beginnings(match[0]):
                ends = {file for file in self._files if file.endswith(told[1:].replace(" ", ""))}
                if ends:
                    found.append((match.start(), match.start() + len(told), frozenset(ends)))
                    break
        for match in self._run.finditer(text):
            parts = list(self._one.finditer(match[0]))
            while parts:
                fitting, n = self._longest([part[0] for part in parts])
                told = [part[0] for part in parts[:n]]
                if n > 1 or not re.search(r"\d (?:IOPS|MB/s|[KMGT]iB)$|^zone", told[0]):
                    start, end = match.start() + parts[0].start(), match.start() + parts[n - 1].end()
                    found.append((start, end, fitting))
                parts = parts[n:]
        return found

    def _longest(self, words: list[str]) -> tuple[frozenset[str], int]:
        """The setups that fit as many of the words as can be fitted together, from the first on."""
        fitting = frozenset(self._words[words[0]])
        for n, word in enumerate(words[1:], start=1):
            both = fitting & self._words[word]
            if not both:
                return fitting, n
            fitting = both
        return fitting, len(words)

    def read(self, text: str) -> tuple[Topic, str]:
        """What a text speaks of, and the text without the words that say so."""
        topic = Topic()
        spans = self.spans(text)
        if spans:
            topic = replace(topic, setups=frozenset().union(*(setups for _, _, setups in spans)))
        for start, end, _ in spans:
            text = blank(text, start, end)
        rest = self.workload(text)
        return rest[0].within(topic), rest[1]

    def workload(self, text: str) -> tuple[Topic, str]:
        """Pattern, block size, depth and direction in a text, and the text without them."""
        topic = Topic()
        if match := self._path.search(text):
            topic = replace(topic, path=match[0])
            text = blank(text, *match.span())
        if match := _WORKING.search(text):
            topic = replace(topic, working=self._working.get(match["size"]))
            text = blank(text, *match.span())
        if match := self._which.search(text):
            topic = replace(topic, job=match[1] or match[0])
            text = blank(text, *match.span())
        if match := self._pattern.search(text):
            topic = replace(topic, rw=self._rw[match["rw"].lower()], bs=_size(match))
            text = blank(text, *match.span())
        if match := re.search(rf"(?<![\w.,]){_SIZE}(?=, QD \d|$)", text):
            topic = replace(topic, bs=_size(match))
            text = blank(text, *match.span())
        if match := _DEPTH.search(text):
            topic = replace(topic, depth=float(match["depth"].replace(",", "")))
            text = blank(text, *match.span())
        if match := re.search(r"\b(reads|writes|trims)\b", text, re.I):
            topic = replace(topic, ddir=DIRECTIONS[match[0].lower()])
        if match := re.search(r"(?<![\w.])p(\d+(?:\.\d+)?)\b", text):
            topic = replace(topic, percentile=float(match[1]))
        elif re.search(r"\bmedian latency\b", text):
            topic = replace(topic, percentile=50.0)
        return topic, text


def working_sets(runs: pd.DataFrame) -> list[float]:
    """The bytes that rows touch, each once."""
    return [float(size) for size in runs["working_set_bytes"].dropna().unique()]


def _beginnings(text: str) -> Iterator[str]:
    """A text, and the text without its last words, the longest first."""
    while text:
        yield text
        text = text.rpartition(" ")[0]


def of_file(path: str) -> str:
    """What stands for the setup of a file whose setup is not stated."""
    return f"{FILE}{path}"


def _size(match: re.Match[str]) -> float | None:
    return float(match["bs"].replace(",", "")) * SIZES[match["unit"]] if match["bs"] else None


def _patterns(tables: Tables) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {**PATTERNS, "pattern not stated": ("",)}
    for rw in tables["runs"]["rw"].dropna().unique():
        if not any(rw in known for known in PATTERNS.values()):
            found[str(rw).replace("_", " ").lower()] = (str(rw),)
    return found


def _known(row: Mapping[str, object]) -> dict[str, object]:
    return {str(name): value for name, value in row.items() if not pd.isna(value)}  # type: ignore[call-overload]


def _words(row: Mapping[str, object]) -> set[str]:
    """Everything by which a setup may be called."""
    get = _known(row)
    vm = str(get.get("vm_size", "")).removeprefix("Standard_")
    words = {vm, *ROLES.get(str(get.get("role")), ()), CACHES.get(str(get.get("host_caching")), "")}
    words |= {str(get.get(name, "")).replace("_", " ") for name in ("sku", "tier", "region")}
    words |= {str(get.get(name, "")) for name in ("label", "setup_id")}
    words |= {f"zone {get['zone']}"} if "zone" in get else set()
    for name, text in (("size_bytes", size_text), ("provisioned_iops", rate_text)):
        words |= {text(float(str(get[name]))) + (" IOPS" if "iops" in name else "")} if name in get else set()
    if "provisioned_bytes_per_s" in get:
        words.add(f"{rate_text(float(str(get['provisioned_bytes_per_s'])) / 1e6)} MB/s")
    words |= {f"({get['setup_id']})"}
    return words - {"", "()"}
