"""What a report says: each method of :class:`Report` is one cell of ``report.ipynb``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import pandas as pd

from azbenchlib import __version__, dataset, plots
from azbenchlib.analyse import arrange, summary
from azbenchlib.dataset import Dataset
from azbenchlib.errors import InputError
from azbenchlib.places import shipped
from azbenchlib.plots.style import COLOURS, MARKER_CHARS
from azbenchlib.report import beside, evidence, method, price_part, roofs, verdicts, words
from azbenchlib.report.blocks import Block, render

MOST_CARDS = 12
MOST_ROWS = 60  # a longer table is condensed to medians


@dataclass(frozen=True)
class Entry:
    """A series as it appears on the page: name, detail, colour and mark."""

    key: str
    name: str
    short: str
    detail: str
    colour: int
    char: str


class Part:
    """One dataset of a report: its arrangement and the entries that stand for its series."""

    def __init__(self, dataset: Dataset, folder: Path) -> None:
        if dataset.manifest is None:
            raise InputError(f"{folder}: a report needs a dataset folder with a manifest.json")
        self.dataset, self.folder, self.manifest = dataset, folder, dataset.manifest
        self.arrangement = arrange.arrange(dataset.tables)
        if self.arrangement.runs.empty:
            raise InputError(f"{folder}: no run with a rate or a percentile; there is nothing to report")

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """By series key; colours come round again after six."""
        rows = self.arrangement.series.itertuples()
        return {
            str(row.key): Entry(
                str(row.key), str(row.label), str(row.short), str(row.detail), i % 6, MARKER_CHARS[i % 6]
            )
            for i, row in enumerate(rows)
        }

    @cached_property
    def workloads(self) -> dict[str, tuple[str, str]]:
        """Series key and workload of each run; of one with several directions, without the direction."""
        rows = self.arrangement.runs[["run_id", "series", "facet", "ddir"]]
        several = rows["run_id"].duplicated(keep=False)
        return {
            str(row.run_id): (str(row.series), str(row.facet).removesuffix(f", {row.ddir}s" if more else ""))
            for row, more in zip(rows.itertuples(), several, strict=True)
        }

    @cached_property
    def told(self) -> list[verdicts.Told]:
        """Which limit binds each run, on the setup that the dataset states."""
        return verdicts.tell(self)

    @cached_property
    def groups(self) -> list[list[plots.Series]]:
        """The series in groups of six at the most, as the figures take them."""
        every = [plots.Series(e.key, e.name, e.short, e.colour) for e in self.entries.values()]
        return [every[i : i + len(COLOURS)] for i in range(0, len(every), len(COLOURS))]


class Report:
    """A report under way.

    Parameters
    ----------
    datasets : sequence of str
        Folders, or names of datasets in ``datasets/`` or among those shipped; the first is the subject.
    title, author, client : str
        For the head of the report; an empty title takes the first dataset's.

    Raises
    ------
    InputError
        When a dataset cannot be read or holds nothing to report.
    """

    def __init__(self, datasets: Sequence[str], title: str = "", author: str = "", client: str = "") -> None:
        folders = [dataset.resolve(name, homes()) for name in datasets]
        self.parts = [Part(Dataset.load(folder), folder) for folder in folders]
        if not self.parts:
            raise InputError("a report needs at least one dataset")
        self.title = title or self.parts[0].manifest.title
        self.author, self.client = author, client

    def header(self) -> Block:
        """Title, the finding in a sentence, and what the data are."""
        first = self.parts[0]
        runs = sum(part.arrangement.runs["run_id"].nunique() for part in self.parts)
        setups = sum(max(1, part.arrangement.runs["setup_id"].nunique()) for part in self.parts)
        facts = [
            ("Measured", words.join(words.measured(part.manifest) for part in self.parts)),
            ("With", words.join(words.tools(part.manifest) for part in self.parts)),
            ("Data", f"{words.count(setups, 'setup')}, {words.count(runs, 'run')}"),
            ("Report", f"azbench {__version__}, {today()}"),
        ]
        facts += [(name, text) for name, text in (("By", self.author), ("For", self.client)) if text]
        finding = words.finding(first.arrangement, summary.cards(first.arrangement, first.dataset.tables))
        return render("header", title=self.title, finding=finding, facts=facts)

    def cards(self) -> Block:
        """One card a setup, or a workload where there is one setup."""
        return self._each(self._cards_of)

    def beside(self) -> Block:
        """Emulated disks beside what was published of the real ones; empty where there are none of either."""
        return beside.table(self.parts)

    def verdicts(self) -> Block:
        """Which documented limit binds, how sure that is, and what to run next."""
        return self._each(self._verdicts_of)

    def prices(self) -> Block:
        """What each setup costs and what would do for less, under a heading of its own; empty where no
        setup of Azure is known.
        """
        made: list[Block] = []
        for i, part in enumerate(self.parts):
            block = price_part.price_part(part, f"d{i}", self._group(part), heading=not made)
            made += [block] if block else []
        return Block("\n".join(block.html for block in made))

    def percentiles(self) -> Block:
        """Latency by percentile, one figure a workload."""
        return self._each(lambda part, place: evidence.percentile_figures(part, place, self._group(part)))

    def side_by_side(self) -> Block:
        """Rates of the series beside each other."""
        return self._each(lambda part, place: evidence.rate_figures(part, place, self._group(part)))

    def over_time(self) -> Block:
        """Latency over time, where there are logs."""
        return self._each(lambda part, place: evidence.time_figures(part, place, self._group(part)))

    def results(self) -> Block:
        """Every result in one table."""
        return self._each(self._table_of)

    def trust(self) -> Block:
        """What was found doubtful, and what to know before quoting a figure."""
        return self._each(self._trust_of)

    def method(self) -> Block:
        """Environment and exact commands."""
        return self._each(lambda part, _: method.environment(part, self._group(part)))

    def sources(self) -> Block:
        """Publications, and the hashes of the raw files."""
        return method.sources(self.parts)

    def _each(self, make: Callable[[Part, str], Block | None]) -> Block:
        made = [make(part, f"d{i}") for i, part in enumerate(self.parts)]
        return Block("\n".join(block.html for block in made if block))

    def _group(self, part: Part) -> dict[str, str] | None:
        """Title of a dataset's share, where a report has several."""
        about = {"title": part.manifest.title, "about": part.manifest.about}
        return about if len(self.parts) > 1 else None

    def _cards_of(self, part: Part, _: str) -> Block:
        made = summary.cards(part.arrangement, part.dataset.tables)
        shown = [words.card(card, part.entries[card.series]) for card in made[:MOST_CARDS]]
        left_out = len(made) - len(shown)
        footnote = f"{left_out} more in the table of results." if left_out else ""
        return render("cards", cards=shown, group=self._group(part), footnote=footnote)

    def _verdicts_of(self, part: Part, place: str) -> Block:
        group = self._group(part)
        figures = [draw(part, place, part.told, group) for draw in (roofs.roofline, roofs.over_time)]
        made = [verdicts.cards(part, part.told, group), *figures]
        return Block("\n".join(block.html for block in made if block))

    def _trust_of(self, part: Part, place: str) -> Block:
        group = self._group(part)
        made = [method.trust(part, place, group), verdicts.doubts(part, place, part.told, group)]
        return Block("\n".join(block.html for block in made if block))

    def _table_of(self, part: Part, place: str) -> Block:
        table = summary.results_table(part.arrangement, part.dataset.tables)
        group = f"{part.manifest.title}: " if self._group(part) else ""
        if len(table) > MOST_ROWS:
            medians = summary.medians_by_pattern(arrange.rates(part.arrangement))
            sizes = part.arrangement.runs["bs_bytes"]
            rows, columns = words.median_rows(medians), ["Test", *(part.entries[k].name for k in medians)]
            note = f"{group}Median throughput in MB/s over {words.span_of_sizes(sizes)}; one run each."
            return render("table", id=f"{place}-results", note=note, columns=columns, rows=rows, left=[])
        rows, columns = words.result_rows(table, part.entries)
        note = f"{group}Rates and percentiles of completion latency, one row a workload."
        return render("table", id=f"{place}-results", note=note, columns=columns, rows=rows, left=[])


def homes() -> list[Path]:
    """Folders in which a dataset is looked for by its name: here, then those that come with azbench."""
    return [Path("datasets"), *shipped("datasets")]


def today() -> str:
    """Today's date in words: 20 November 2026."""
    now = pd.Timestamp(datetime.now(UTC))
    return f"{now.day} {now:%B %Y}"
