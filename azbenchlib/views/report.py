"""What a report says: each method of :class:`Report` is one cell of ``report.ipynb``."""

from collections.abc import Sequence

import pandas as pd

from azbenchlib import __version__
from azbenchlib.analysis import summary, totals
from azbenchlib.report import formatting
from azbenchlib.report.blocks import Block, render
from azbenchlib.report.part import Part, number
from azbenchlib.report.sections import (
    comparison,
    evidence,
    lead,
    method,
    prices,
    rooflines,
    setup_cards,
    verdicts,
)
from azbenchlib.views.view import MOST_ROWS, NotebookView

_MOST_COLUMNS = 12  # series that such a table has room for


class Report(NotebookView):
    """A report under way.

    Parameters
    ----------
    datasets : sequence of str
        Datasets and outputs, as every view takes them; the first is the subject.
    title, author, client : str
        For the head of the report; an empty title takes the first dataset's.

    Raises
    ------
    InputError
        When a dataset cannot be read or holds nothing to report.
    """

    def __init__(self, datasets: Sequence[str], title: str = "", author: str = "", client: str = "") -> None:
        super().__init__(datasets, "a report needs at least one dataset")
        number(self.parts)
        self._setups = setup_cards.SetupCards(self.parts)
        self.title = title or lead.title(self.parts, self._setups.answers)
        self.author, self.client = author, client

    def header(self) -> Block:
        """Title, what was found in a sentence or two, and what the data are."""
        runs = sum(part.arrangement.runs["at_once"].nunique() for part in self.parts)
        facts = [
            ("Measured", formatting.join(formatting.measured(part.manifest) for part in self.parts)),
            ("With", formatting.join(formatting.tools(part.manifest) for part in self.parts)),
            ("Data", ", ".join([*_measured_on(self.parts), formatting.count(runs, "run")])),
            ("Report", f"azbench {__version__}, {formatting.today()}"),
        ]
        facts += [(name, text) for name, text in (("By", self.author), ("For", self.client)) if text]
        return render("header", title=self.title, lead=lead.lead(self._setups.answers), facts=facts)

    def cards(self) -> Block:
        """One card a setup, or a workload where there is one setup: what binds it, its figures, its price."""
        return self._setups.block()

    def beside(self) -> Block:
        """Emulated disks beside what was published of the real ones; empty where there are none of either."""
        return comparison.table(self.parts)

    def limits(self) -> Block:
        """Measured rates against the documented limits, and rates over time below them."""
        return self._blocks(self._limits_of)

    def prices(self) -> Block:
        """What each setup costs and what would do for less, under a heading of its own; empty where no
        setup of Azure is known.
        """
        priced: list[str] = []

        def make(part: Part, place: str) -> Block | None:
            block = prices.price_part(part, place, self._group(part), heading=not priced)
            priced.extend([place] if block else [])
            return block

        return self._blocks(make)

    def percentiles(self) -> Block:
        """Latency by percentile, one figure a workload."""
        return self._blocks(lambda part, place: evidence.percentile_figures(part, place, self._group(part)))

    def side_by_side(self) -> Block:
        """Rates of the series beside each other."""
        return self._blocks(lambda part, place: evidence.rate_figures(part, place, self._group(part)))

    def over_time(self) -> Block:
        """Latency over time, where there are logs."""
        return self._blocks(lambda part, place: evidence.time_figures(part, place, self._group(part)))

    def results(self) -> Block:
        """Every result in one table."""
        return self._blocks(self._table_of)

    def trust(self) -> Block:
        """What was found doubtful, and what to know before quoting a figure."""
        return self._blocks(self._trust_of)

    def method(self) -> Block:
        """Environment and exact commands."""
        return self._blocks(lambda part, _: method.environment(part, self._group(part)))

    def sources(self) -> Block:
        """Publications, and the hashes of the raw files."""
        return method.sources(self.parts)

    def _limits_of(self, part: Part, place: str) -> Block:
        group = self._group(part)
        made = [draw(part, place, part.verdicts, group) for draw in (rooflines.roofline, rooflines.over_time)]
        return Block("\n".join(block.html for block in made if block))

    def _trust_of(self, part: Part, place: str) -> Block:
        group = self._group(part)
        made = [method.trust(part, place, group), verdicts.warnings(part, place, part.verdicts, group)]
        return Block("\n".join(block.html for block in made if block))

    def _table_of(self, part: Part, place: str) -> Block:
        table = summary.results_table(part.arrangement, part.dataset.tables)
        group = self._prefix(part)
        if len(table) > MOST_ROWS and len(part.entries) <= _MOST_COLUMNS:
            medians = summary.medians_by_pattern(totals.totals(part.arrangement))
            sizes = part.arrangement.runs["bs_bytes"]
            rows, columns = (
                formatting.median_rows(medians),
                ["Test", *(part.entries[k].name for k in medians)],
            )
            note = (
                f"{group}Median throughput in MB/s over {formatting.span_of_sizes(sizes)}{_each_of(table)}."
            )
            return render("table", id=f"{place}-results", note=note, columns=columns, rows=rows, left=[])
        rows, columns = formatting.result_rows(table[:MOST_ROWS], part.entries)
        kinds = formatting.latency_kinds(table["lat_kind"])
        what = f"Rates and percentiles of {kinds}" if kinds else "Rates"
        left_out = len(table) - len(rows)
        more = f" {formatting.count(left_out, 'more row')}: azbench read has them all." if left_out else ""
        note = f"{group}{what}, one row a workload.{more}"
        return render("table", id=f"{place}-results", note=note, columns=columns, rows=rows, left=[])


def _each_of(table: pd.DataFrame) -> str:
    """How many runs stand behind each of the rates that a median was made of."""
    most = int(table["repeats"].max())
    return "; one run each" if most == 1 else f"; up to {most} runs each"


def _measured_on(parts: Sequence[Part]) -> list[str]:
    """How many setups, and how many files whose setup nobody stated."""
    rows = [part.arrangement.runs for part in parts]
    setups = sum(some.loc[some["stated"], "setup_id"].nunique() for some in rows)
    files = sum(some.loc[~some["stated"], "source_path"].nunique() for some in rows)
    told = [formatting.count(setups, "setup")] if setups else []
    return [*told, *([f"{formatting.count(files, 'file')} without a stated setup"] if files else [])]
