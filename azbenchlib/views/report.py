"""What a report says: each method of :class:`Report` is one cell of ``report.ipynb``."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Unpack

import pandas as pd

from azbenchlib import __version__
from azbenchlib.analysis import summary, totals
from azbenchlib.answers.blocks import Block, render, safe
from azbenchlib.answers.html import block
from azbenchlib.answers.probe import probe_lead
from azbenchlib.answers.requirements import RequirementsAnswer
from azbenchlib.azure.prices.book import USD
from azbenchlib.cost.payments import Payment
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.report import formatting
from azbenchlib.report.figures import MOST_FIGURES
from azbenchlib.report.note import note_block
from azbenchlib.report.part import Part, number
from azbenchlib.report.sections import (
    comparison,
    evidence,
    lead,
    levels,
    load_figures,
    method,
    prices,
    probed,
    rates_over_time,
    rooflines,
    searches,
    setup_cards,
    sides,
    surface_figures,
)
from azbenchlib.report.sections.lead_sentence import LeadSentence
from azbenchlib.report.sections.only_setup import only_setup
from azbenchlib.report.setup_answer import SetupAnswer, setups_and_files
from azbenchlib.views.view import MOST_ROWS, NotebookView, StatedSetup

_MOST_COLUMNS = 12  # series that such a table has room for
_MOST_FIGURES = 2  # of percentiles of each of several datasets
_NO_FIGURE = (
    "No figures: these results have no percentiles of a whole workload and no logs to draw, and no rates to "
    "compare"
)
SEVERAL_SIZES = 2  # block sizes from which on a roofline tells more than rates beside their limits


class Report(NotebookView):
    """A report under way.

    Parameters
    ----------
    datasets : sequence of str
        Datasets and outputs, as every view takes them; the first is the subject.
    title, author, client : str
        For the head of the report; an empty title takes the first dataset's.
    currency : str
        Of the prices, such as EUR, once ``azbench catalog refresh --retail-prices --currency EUR`` has read
        them.
    require : str or sequence of str
        What is required of each workload, such as ``p99<2ms``.
    note : str
        Paragraphs of your own in Markdown, below the lead.
    stated : StatedSetup
        Of outputs that do not tell their setup.

    Raises
    ------
    InputError
        When a dataset cannot be read or holds nothing to report, or a requirement cannot be understood.
    """

    def __init__(
        self,
        datasets: str | Sequence[str],
        title: str = "",
        author: str = "",
        client: str = "",
        currency: str = USD,
        require: str | Sequence[str] = (),
        note: str = "",
        **stated: Unpack[StatedSetup],
    ) -> None:
        self._currency = Payment(currency=currency.upper()).currency
        super().__init__(datasets, "a report needs at least one dataset", **stated)
        number(self.parts)
        self._explained: set[str] = set()
        self._anchored: set[str] = set()
        self._steady_shown: set[str] = set()
        self._most = MOST_FIGURES if len(self.parts) == 1 else _MOST_FIGURES
        self._title = title
        self.author, self.client = author, client
        self._note = note
        self._required = RequirementsAnswer.of([part.dataset.tables for part in self.parts], require)

    @cached_property
    def title(self) -> str:
        """What the report is called: as was said, or else by what was measured."""
        return self._title or lead.title(self.parts, self._setups.answers)

    @cached_property
    def _setups(self) -> setup_cards.SetupCards:
        return setup_cards.SetupCards(self.parts)  # takes a third of a report, which many sections do without

    def _part(self, dataset: Dataset, place: Path) -> Part:
        return Part(dataset, place, self._currency)

    def header(self) -> Block:
        """Title, what was found in a sentence or two, and what the data are."""
        runs = sum(part.arrangement.runs["at_once"].nunique() for part in self.parts)
        facts = [
            ("Measured", formatting.join(formatting.measured(part.manifest) for part in self.parts)),
            ("With", formatting.join(formatting.tools(part.manifest) for part in self.parts)),
            ("Data", ", ".join([*_measured_on(self._setups.answers), formatting.count(runs, "run")])),
            ("Report", f"azbench {__version__}, {formatting.today()}"),
        ]
        facts += [(name, text) for name, text in (("By", self.author), ("For", self.client)) if text]
        return render(
            "header", title=self.title, lead=self._lead(), setup=only_setup(self.parts), facts=facts
        )

    def note(self) -> Block:
        """What the author says in words of their own; empty where they say nothing."""
        return note_block(self._note)

    def requirements(self) -> Block:
        """Which requirements are met; empty where nothing is required."""
        return (
            block(self._required.document, self._required.to_frame()) if self._required.result else Block("")
        )

    def probed(self) -> Block:
        """What probes found, under a heading of its own; empty where no dataset is a probe."""
        found = self._blocks(lambda part, place: probed.section(part, place, self._group(part)))
        return render("probed") + found if found.html.strip() else Block("")

    def compared(self) -> Block:
        """Folders that were named side by side, compared with the first; empty where none were."""
        return self._blocks(sides.comparison)

    def cards(self) -> Block:
        """One card a setup, or a workload where there is one setup: what binds it, its figures, its price."""
        return self._setups.block()

    def over_load(self) -> Block:
        """Rates over iozone's sizes, and rate and latency over the queue depth, where they were swept."""

        def make(part: Part, place: str) -> Block | None:
            group, told = self._group(part), self._explained
            surfaces = surface_figures.surface_figures(part, place, group, told)
            curves = load_figures.curve_figures(part, place, group, told)
            return self._anchor(place, _together(surfaces, curves))

        return self._blocks(make)

    def percentiles(self) -> Block:
        """Latency by percentile, one figure a workload."""

        def make(part: Part, place: str) -> Block | None:
            group, told = self._group(part), self._explained
            return self._anchor(place, evidence.percentile_figures(part, place, group, told, self._most))

        return self._blocks(make)

    def limits(self) -> Block:
        """Measured rates against the documented limits."""
        return self._blocks(self._limits_of)

    def searches(self) -> Block:
        """What searches for the most IOPS below a latency found; empty where there was none."""
        return self._blocks(
            lambda part, place: searches.curves(part, place, self._group(part), self._explained)
        )

    def over_time(self) -> Block:
        """Repeats at several levels over the times of the runs; rates over time below their limits, and
        latency over time, where logs show that they changed, or where there is no other figure.
        """
        return self._blocks(self._over_time_of)

    def prices(self) -> Block:
        """What each setup costs, under a heading of its own; empty where no setup of Azure is known."""
        return prices.price_section(self.parts, self._setups.designs)

    def steady(self) -> Block:
        """Rates and latencies over time that stayed as they were; empty where the evidence has them."""
        found = self._blocks(
            lambda part, place: (
                None if place in self._steady_shown else self._courses(part, f"{place}-steady", steady=True)
            )
        )
        return _folded("steady", "Steady rates and latencies over time", found, long=True)

    def results(self) -> Block:
        """Every result in one table."""
        return _folded("all-results", "All results", self._tables())

    def beside(self) -> Block:
        """Emulated disks beside what was published of the real ones; empty where there are none of either."""
        found = comparison.table(self.parts)
        return _folded("emulated-beside-published", "Emulated beside published", found, long=True)

    def trust(self) -> Block:
        """What was found doubtful, and what to know before quoting a figure."""
        found = self._blocks(lambda part, place: method.trust(part, place, self._group(part)))
        return _folded("trust", "Can this be trusted?", found)

    def method(self) -> Block:
        """Environment and exact commands."""
        found = self._blocks(lambda part, _: method.environment(part, self._group(part)))
        return _folded("method", "Method and exact commands", found, long=len(self.parts) > 1)

    def sources(self) -> Block:
        """Publications, and the hashes of the raw files."""
        return _folded("sources", "Sources and checksums", method.sources(self.parts))

    def _lead(self) -> list[LeadSentence]:
        """What was found; of a probe alone, what the disk is."""
        found = self.parts[0].probe if len(self.parts) == 1 else None
        if found:
            return [LeadSentence("d0", ((probe_lead(found).text, ""),))]
        return lead.lead(self._setups.answers)

    def _limits_of(self, part: Part, place: str) -> Block:
        """Rates beside their limits; a roofline where block sizes differ."""
        group, told = self._group(part), self._explained
        rates = evidence.rate_figures(part, place, group, told)
        on_surfaces = [one.run_ids for one in part.surfaces if any(other.served for other in part.surfaces)]
        shown = frozenset().union(*on_surfaces)  # above limits that do not bind them, as their figures show
        own = [
            verdict
            for verdict in part.verdicts
            if not verdict.entry.twin and shown.isdisjoint(verdict.run.run_ids)
        ]
        roofs = rooflines.roofline(part, place, own, group, told, SEVERAL_SIZES)
        return self._anchor(place, _together(rates, roofs))

    def _over_time_of(self, part: Part, place: str) -> Block:
        apart = levels.level_figures(part, place, self._group(part), self._explained)
        found = _together(apart, self._courses(part, place, steady=False))
        if not found.html.strip() and place not in self._anchored:
            self._steady_shown.add(place)
            found = self._courses(part, place, steady=True)
        return self._anchor(place, found, last=True)

    def _courses(self, part: Part, place: str, steady: bool) -> Block:
        group, told = self._group(part), self._explained
        rates = rates_over_time.figures_over_time(part, place, part.verdicts, group, told, steady)
        return _together(rates, evidence.time_figures(part, place, group, told, steady))

    def _anchor(self, place: str, found: Block | None, last: bool = False) -> Block:
        """The evidence of a dataset; where it begins is what its cards link to. The last has the link's
        target in any case.
        """
        html = found.html if found else ""
        if place in self._anchored or not (html.strip() or last):
            return Block(html)
        self._anchored.add(place)
        is_bare = not html.strip() and len(self.parts) == 1
        shown = render("note", text=_NO_FIGURE, options=[]) if is_bare else Block(html)
        return render("anchor", name=f"evidence-{place}") + shown

    def _tables(self) -> Block:
        """One table of all results; the median of each test where a dataset has hundreds."""
        shares, made = [], []
        for i, part in enumerate(self.parts):
            table = summary.results_table(part.arrangement, part.dataset.tables, part.curves)
            by_setup = part.arrangement.by == "setup"
            if by_setup and len(table) > MOST_ROWS and len(part.entries) <= _MOST_COLUMNS:
                made.append(self._medians(part, f"d{i}", table))
            else:
                shares.append((f"d{i}", part, table))
        if not shares:
            return _together(*made)
        rows, columns = formatting.result_rows(
            [(place, part.entries, _with_sources(part, _of_each(table))) for place, part, table in shares]
        )
        kinds = formatting.latency_kinds(kind for *_, table in shares for kind in table["lat_kind"])
        what = f"Rates and percentiles of {kinds}" if kinds else "Rates"
        left_out = sum(len(table) for *_, table in shares) - len(rows)
        cut = f" Of each the first; {formatting.count(left_out, 'more row')}: azbench read has them all."
        more = cut if left_out else ""
        twins = any(entry.twin for _, part, _ in shares for entry in part.entries.values())
        hollow = " A hollow marker is a published disk that is emulated here." if twins else ""
        note = f"{what}, one row a workload.{hollow}{more}"
        left = [i for i, name in enumerate(columns) if name in ("Rates are", "Latency as published")]
        table = render("table", id="results", note=note, columns=columns, rows=rows, left=left)
        return _together(table, *made)

    def _medians(self, part: Part, place: str, table: pd.DataFrame) -> Block:
        """Median throughput by test, one column a series."""
        medians = summary.medians_by_pattern(totals.totals(part.arrangement))
        sizes = formatting.span_of_sizes(part.arrangement.runs["bs_bytes"])
        note = f"{self._prefix(part)}Median throughput in MB/s over {sizes}{_each_of(table)}."
        columns = ["Test", *(part.entries[key].name for key in medians)]
        rows = formatting.median_rows(medians)
        return render("table", id=f"{place}-results", note=note, columns=columns, rows=rows, left=[])


def _together(*blocks: Block | None) -> Block:
    return Block("\n".join(block.html for block in blocks if block))


def _folded(name: str, title: str, content: Block, long: bool = False) -> Block:
    """A part of the appendix, which a reader opens; empty where it has nothing. A long one is not printed."""
    if not content.html.strip():
        return Block("")
    return render("fold", id=name, title=title, content=safe(content.html), long=long)


def _of_each(table: pd.DataFrame) -> pd.DataFrame:
    """The table of results; of a longer one than fits the first rows of each series."""
    nth = table.groupby("series", sort=False).cumcount().to_numpy()
    return table.iloc[sorted(nth.argsort(kind="stable")[: setup_cards.MOST_RESULTS])]


def _with_sources(part: Part, table: pd.DataFrame) -> pd.DataFrame:
    """The table of results with the file that each row is from, or how many they are."""
    keys = ["series", "facet", "ddir"]
    known = part.arrangement.runs.dropna(subset=["source_path"])
    known = known[known["series"].isin(table["series"])]
    paths = known.groupby(keys, sort=False)["source_path"].agg(["first", "nunique"])
    several = paths["nunique"].astype("string") + " files"
    told = paths["first"].astype("string").where(paths["nunique"] == 1, several)
    named = told.str.removeprefix("raw/").rename("source").reset_index()
    return table.merge(named, on=keys, how="left").fillna({"source": ""})


def _each_of(table: pd.DataFrame) -> str:
    """How many runs stand behind each of the rates that a median was made of."""
    most = int(table["repeats"].max())
    return "; one run each" if most == 1 else f"; up to {most} runs each"


def _measured_on(found: Sequence[SetupAnswer]) -> list[str]:
    """How many setups, and how many files whose setup nobody stated."""
    setups, files = setups_and_files(found)
    told = [formatting.count(setups, "setup")] if setups else []
    return [*told, *([f"{formatting.count(files, 'file')} without a stated setup"] if files else [])]
