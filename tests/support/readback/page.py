"""The blocks of a page, each with what it speaks of."""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar

import pandas as pd
from bs4 import BeautifulSoup, Tag

from readback import answers, figures, file_sets, surfaces
from readback.changes import Change
from readback.charts import chart
from readback.check import Checker
from readback.figures import spaced, text_of
from readback.known import Known, shows
from readback.naming import FILE, Topic, fits
from readback.priced import Priced
from readback.traces import WINDOW_S
from readback.verdicts import verdict


class Page(Checker):
    """Reads a page; `faults` has a sentence for every number that nothing accounts for."""

    notes: ClassVar[dict[str, str]] = {}  # texts of the footnotes that tell the sources of limits, by id

    titles: ClassVar[dict[str, str]] = {}  # names of the cards, by id

    n_setups: float | None = None  # as the page has counted them so far

    html: str = ""  # as it was read

    # --- walking ------------------------------------------------------------------------------------

    def read(self, html: str) -> "Page":
        """All blocks of a page, in order."""
        self.html = html
        soup = BeautifulSoup(html.replace("<wbr>", ""), "html.parser")  # a word may end its line there
        self.notes = {str(li["id"]): spaced(li.get_text(" ")) for li in soup.select("li[id^=limit-source-]")}
        self.titles = {str(card["id"]): spaced(text_of(card, "name")) for card in soup.select("article.card")}
        self._walk(soup)
        return self

    def _cut_credits(self, text: str) -> None:
        """How many times longer the credits of emulated disks last on Azure."""
        every = [part.tables["setups"]["credit_s"].dropna() for part in self.parts]
        known = [WINDOW_S / float(credit_s) for column in every for credit_s in column]
        for number in re.findall(r"[\d.,]*\d", text):
            told = float(number.replace(",", ""))
            self.counted["cut"] = self.counted.get("cut", 0) + 1
            if not any(abs(told - cut) <= 0.005 * cut for cut in known):
                self.fault("credits", f"{text}; the tables give: {known}")

    def _walk(self, node: Tag) -> None:
        for child in node.find_all(True, recursive=False):
            self.of_part(child)
            handler = self._handler(child)
            if handler is not None:
                handler(child)
            elif child.name not in ("style", "script", "pre", "title", "nav"):
                if child.find(True) is None or _is_text(child):
                    self.explain(child.get_text(" "), Topic(), f"{child.name}", None)
                else:
                    self._walk(child)

    def _handler(self, tag: Tag) -> Callable[[Tag], None] | None:
        kind = " ".join(tag.get("class", []))  # type: ignore[arg-type]
        by_class: dict[str, Callable[[Tag], None]] = {
            "title": self.header,
            "card": self.card,
            "card set": self.card,
            "fig": partial(chart, self),
            "facts": self.facts_of,
            "footnote": self.footnote,
            "footnote doubts": lambda shared: answers.sentence(self, shared.get_text(" "), "doubts"),
        }
        if tag.name == "section" and text_of(tag, "", "h3") == "What to change":
            return self.changes
        if tag.name == "section" and tag.find("ul", "listing", recursive=False):
            return partial(verdict, self)
        if tag.name == "table":
            return self.table
        if tag.name == "dl" and kind == "kv":
            return self.pairs
        return by_class.get(kind)

    def of_part(self, tag: Tag) -> None:
        """Which dataset the following is of: by the title above it, or the number in an id."""
        if "group" in tag.get("class", []) or "eyebrow" in tag.get("class", []):  # type: ignore[operator]
            title = spaced(tag.get_text(" "))
            self.part = next((part for part in self.parts if part.manifest["title"] == title), self.part)
        match = re.match(r"d(\d+)-", str(tag.get("id", "") or tag.get("aria-labelledby", "")))
        match = re.match(r"d(\d+)$", str(tag.get("data-dataset", ""))) or match
        if match:
            self.part = self.parts[int(match[1])]

    # --- blocks -------------------------------------------------------------------------------------

    def changes(self, tag: Tag) -> None:
        """What to change for which runs, a sentence each."""
        for line in tag.find_all("p"):
            before, verb, after = spaced(line.get_text(" ")).partition(" give")
            Change(self, Topic(), "what to change").read(before.rpartition(": ")[2] + verb + after)

    def header(self, tag: Tag) -> None:
        self.part = self.parts[0]
        title = text_of(tag, "", "h1")
        if re.search(r"\d (setups?|files?)( of \d+ datasets)?$", title):
            self._counted(title, "headline")
        else:
            self.explain(title, Topic(), "headline", True)
        self.facts_of(tag)
        for part in tag.select("p.finding > span"):
            self.of_part(part)
            if bound := re.fullmatch(
                r"(\d+) of (\d+) (setup|workload)s? run into.*", spaced(part.get_text(" "))
            ):
                most = self.n_setups if bound[3] == "setup" else len(self.titles)
                if not 0 < int(bound[1]) <= int(bound[2]) == most:
                    self.fault("headline", f"{bound[0]}: the page has {most} {bound[3]}s")
            elif not surfaces.lead(self, spaced(part.get_text("")), "headline"):
                answers.lead(self, part)

    def facts_of(self, tag: Tag) -> None:
        """Measured, With, Data, Report: counts of setups and runs."""
        seen = [unit for part in self.parts for unit in part.measured]
        n_rows, n_units = sum(len(unit.rows) for unit in seen), len({unit.key for unit in seen})
        for pair in tag.find_all("div"):
            name, text = (spaced(pair.find(part).get_text(" ")) for part in ("dt", "dd"))  # type: ignore[union-attr]
            if name == "Data":
                self._counted(text, "facts")
                counts = {figure.unit.rstrip("s"): figure.value for figure in figures.find(text)}
                if counts.get("run") not in (n_rows, n_units):
                    self.fault("facts", f"{text}: the tables have {n_rows} rows, {n_units} runs")
                self.counted["facts"] = self.counted.get("facts", 0) + 1

    def _counted(self, text: str, place: str) -> None:
        """How many setups and files: each that a dataset states, and each file without a stated one. What is
        emulated here and published in another dataset is one setup.
        """
        lab = [(part.tables["setups"]["environment"] == "lab").any() for part in self.parts]
        seen = [{unit.setup for unit in part.measured} for part in self.parts]
        stated = [{one for one in part if not one.startswith(FILE)} for part in seen]
        n_files = sum(
            len({file for unit in part.measured if unit.setup.startswith(FILE) for file in unit.files})
            for part in self.parts
        )
        most = sum(len(known) for known in stated)
        least = sum(len(known) for known, mine in zip(stated, lab, strict=True) if mine or not any(lab))
        counts = {figure.unit.rstrip("s"): figure.value for figure in figures.find(text)}
        n = counts.get("setup", 0)
        if not least <= n <= most or counts.get("file", 0) != n_files:
            self.fault(place, f"{text}: the tables have {least} to {most} setups, {n_files} files")
        if n != self.n_setups and self.n_setups is not None:
            self.fault(place, f"{text}: before it was {self.n_setups:g} setups")
        self.n_setups = n

    def card(self, tag: Tag) -> None:
        """A card: its name and condition say of what the figures are."""
        name = text_of(tag, "name")
        place = f"card '{name}'"
        topic, _ = self.part.names.read(name)
        rated, timed = self._conditions(topic, tag)
        for big in tag.find_all("p", "big"):
            self.explain(big.get_text(" "), rated, place, True)
        for listed, of in timed:
            for pair in listed.find_all("div"):
                self.explain(pair.get_text(" "), of, place, True)
        if detail := tag.find("p", "detail"):
            self.detail(detail.get_text(" "), topic, place)
        for entry in tag.find_all("p", "entry"):
            self.quote(entry.get_text(" "), topic, place)
        answers.answer(self, tag, rated, place)
        if "set" in tag.get("class", []):  # type: ignore[operator]
            file_sets.card(self, tag, rated, place)
        self._sayings(tag, rated, place)

    def _conditions(self, topic: Topic, card: Tag) -> tuple[Topic, list[tuple[Tag, Topic]]]:
        """What the rates of a card are of, all directions together, and each of its lists of percentiles:
        the words below them say so.
        """
        first = card.find("p", "cond")
        rated = self.part.names.workload(spaced(first.get_text(" ")))[0] if first else Topic()
        timed = []
        for listed in card.find_all("dl", "lat"):
            below = listed.find_next_sibling("p", "cond")
            timed.append(
                (
                    listed,
                    self.part.names.workload(spaced(below.get_text(" ")) if below else "")[0].within(topic),
                )
            )
        return replace(rated.within(topic), ddir=None), timed

    def _sayings(self, tag: Tag, topic: Topic, place: str) -> None:
        """A pooled rate says of how many runs it is, and their range."""
        text = spaced(tag.get_text(" "))
        mine = [fact for at, fact in self.shown if at == place and fact.n > 1 and fact.pooled]
        for fact in mine:
            if fact.kind == "lat_us" or _says(text, [fact.n]):
                continue
            self.fault(place, f"a median of {fact.n} runs that does not say so")

    def footnote(self, tag: Tag) -> None:
        """What is said below the cards."""
        text = spaced(tag.get_text(" "))
        if text != file_sets.DEFINITION:
            self.explain(text, Topic(), "footnote", None)

    def detail(self, text: str, topic: Topic, place: str) -> None:
        """What is known of a setup: its sizes and bought rates."""
        for figure in figures.find(self.part.names.read(spaced(text))[1]):
            self.match(figure, topic, place, text, None, sold=True)

    def quote(self, text: str, topic: Topic, place: str) -> None:
        """A published latency whose statistic is open."""
        text = spaced(text)
        own, rest = self.part.names.workload(text)
        printed = self.part.tables["published"]
        mine = printed[(printed["quantity"] == "latency") & printed["value"].notna()]
        runs = {run for unit in self.part.units for run in unit.rows if fits(unit.topic(), own.within(topic))}
        mine = mine[mine["run_id"].isin(runs)]
        for figure in figures.find(rest):
            scale = {"µs": 1.0, "us": 1.0, "ms": 1e3, "s": 1e6}
            right = [
                row
                for row in mine.itertuples()
                if figure.shows(float(row.value) * scale[str(row.unit)]) and figure.bound == str(row.bound)
            ]
            self.accept(bool(right), figure, place, text, mine["value"].tolist(), "quote")

    def table(self, tag: Tag) -> None:
        """A table: the head says the unit, the row of what it is."""
        name = str(tag.get("id", ""))
        heads = [spaced(th.get_text(" ")) for th in tag.select("thead th")]
        if name.endswith("findings"):
            for row in tag.select("tbody tr"):
                self.finding(row)
        elif name == "beside":
            self.beside(tag)
        else:
            for row in tag.select("tbody tr"):
                self.of_part(row)
                self.row(row, heads, name)

    def finding(self, row: Tag) -> None:
        """A message is the tables' own; a count is that of its code."""
        cells = [spaced(cell.get_text(" ")) for cell in row.find_all("td")]
        code = spaced(text_of(row, "", "code"))
        count = next(figures.find(cells[2]), None)
        mine = self.part.tables["findings"]
        mine = mine[mine["code"] == code]
        if len(mine) and count is not None:
            known = mine["severity"].value_counts().tolist()
            self.accept(count.value in known, count, f"finding {code}", cells[2], known, "finding")

    def row(self, row: Tag, heads: list[str], name: str) -> None:
        head = row.find("th")
        if head is None:
            return
        sub = head.find("span", "sub")
        said = spaced(sub.get_text(" ")) if sub else ""
        label = (
            spaced(head.get_text(" ").replace(sub.get_text(" "), "")) if sub else spaced(head.get_text(" "))
        )
        topic = self.part.names.workload(said)[0].within(self.part.names.read(label)[0])
        place = f"table {name}, row '{label} {said}'"
        if name.endswith("price"):  # what is bought serves all directions
            topic = replace(topic, ddir=None)
        priced = Priced(self, topic, place)
        for title, cell in zip(heads[1:], row.find_all("td"), strict=True):
            text = spaced(cell.get_text(" "))
            if text:
                self.cell(title, text, topic, place, priced)

    def cell(self, title: str, text: str, topic: Topic, place: str, priced: Priced) -> None:
        if re.match(r"(USD|EUR)", title):
            priced.cell(title, text)
        elif match := re.fullmatch(r"p([\d.]+)", title):
            self.explain(text, replace(topic, percentile=float(match[1])), place, True)
        elif title == "Latency as published":
            self.quote(text, topic, place)
        elif title == "Source":
            self.source(text, topic, place)
        elif title in ("IOPS", "MB/s"):
            for figure in figures.find(text, title):
                self.match(figure, topic, place, f"{title} {text}", True)
        elif title == "Rates are":  # medians of repeats, the last phase of a run
            self.explain(text, topic, place, True if text.startswith("median of") else None)
        else:  # a series a column, MB/s over all block sizes
            rw = re.sub(r"^.*row '(.*?) *'$", r"\1", place).replace(" ", "_")
            of = replace(topic, setups=self.part.names.setups(title), rw=frozenset({rw}))
            self.median(text, of, place)

    def source(self, text: str, topic: Topic, place: str) -> None:
        """The file of a row, or how many they are."""
        paths = {path for unit in self.part.units if fits(unit.topic(), topic) for path in unit.files}
        counted = re.fullmatch(r"(\d+) files", text)
        right = int(counted[1]) <= len(paths) if counted else f"raw/{text}" in paths or text in paths
        if not right:
            self.fault(place, f"'{text}' is not its source: {', '.join(sorted(paths))}")

    def median(self, text: str, topic: Topic, place: str) -> None:
        """The condensed table: the median MB/s over block sizes."""
        for figure in figures.find(text, "MB/s"):
            values = [
                f.value for f in self.part.facts if f.pooled and f.kind == "bytes_per_s" and f.is_of(topic)
            ]
            middle = float(pd.Series(values, dtype=float).median())
            self.accept(figure.shows(middle), figure, place, text, [middle], "median")

    def beside(self, tag: Tag) -> None:
        """Emulated and published figures of the same workload, and how far apart they are."""
        emulated = [part for part in self.parts if (part.tables["setups"]["environment"] == "lab").any()]
        others = [part for part in self.parts if part not in emulated]
        for body in tag.find_all("tbody"):
            head = body.find("th")
            sub = spaced(text_of(body, "sub"))
            label = spaced(head.get_text(" ")).removesuffix(sub) if head else ""
            for row in body.find_all("tr")[1:]:
                cells = [spaced(cell.get_text(" ")) for cell in row.find_all("td")]
                name, mine, theirs, change = cells[:4]
                place = f"beside '{label}', {sub}, {name}"
                a = self._beside(emulated, label, sub, name, mine, place)
                b = self._beside(others, label, sub, name, theirs, place)
                shown = next(figures.find(change))
                right = [100 * (x / y - 1) for x in a for y in b]
                self.accept(
                    any(abs(shown.value - r) <= 0.0501 for r in right), shown, place, change, right, "beside"
                )

    def _beside(
        self, parts: list[Known], label: str, sub: str, name: str, text: str, place: str
    ) -> list[float]:
        """The figures of a row that read so."""
        found: list[float] = []
        known: list[float] = []
        unit = name if name in ("IOPS", "MB/s") else ""
        (figure,) = figures.find(text, unit)
        for part in parts:
            topic = part.names.workload(sub)[0].within(Topic(part.names.setups(label)))
            topic = replace(topic, percentile=float(name[1:])) if name.startswith("p") else topic
            for fact in part.facts:
                loose = [topic, replace(topic, depth=None), replace(topic, setups=None, depth=None)]
                if fact.kind == figure.kind and any(fact.is_of(one) for one in loose):
                    known.append(fact.value)
                    found += [fact.value] if shows(figure, fact) else []
        self.accept(bool(found), figure, place, text, known, "beside")
        return found

    def pairs(self, tag: Tag) -> None:
        """Names and texts: what is cheaper; environment; hashes."""
        for pair in tag.find_all("div", recursive=False):
            name, text = (spaced(pair.find(part).get_text(" ")) for part in ("dt", "dd"))  # type: ignore[union-attr]
            if re.search(r" a month, \d+ % less", text):
                Priced(self, self.part.names.read(name)[0], f"cheaper '{name}'").cheaper(text)
            elif name == "Burst times":
                self._cut_credits(text)
            elif name != "Tools" and not pair.find("code"):  # which is versions
                self.explain(text, Topic(), f"'{name}'", None, sold=True)


def _says(text: str, numbers: list[float]) -> bool:
    shown = [figure.value for figure in figures.find(text)]
    return all(number in shown for number in numbers)


def _is_text(tag: Tag) -> bool:
    """Whether a tag holds text of its own, not only blocks."""
    return any(isinstance(child, str) and child.strip() for child in tag.children)
