"""One card a setup: what binds it and how sure that is, its rates, latencies, limits, price and next step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pandas as pd

from azbenchlib.advisor.reasons.cheaper import cheaper
from azbenchlib.answers import sayings
from azbenchlib.answers.blocks import Block, render
from azbenchlib.answers.next_step import sentence as next_step_sentence
from azbenchlib.answers.surface_verdict import SAID, chip, in_short
from azbenchlib.core.units import NBSP
from azbenchlib.cost import priced_setups
from azbenchlib.cost.priced_setups import Priced
from azbenchlib.model.labels import Label
from azbenchlib.report import formatting
from azbenchlib.report.sections import bills, file_sets
from azbenchlib.report.sections.cheaper import design_words
from azbenchlib.report.setup_answer import FAR, MOST_CARDS, SetupAnswer, answers
from azbenchlib.verdict.judgement import LimitRow

if TYPE_CHECKING:
    from azbenchlib.report.part import Part, RunVerdict

MOST_RESULTS = 300  # rows that a dataset has in the table of results
_BARS = 4
_END = 1.1  # utilisation at which a bar ends
_NOTES = 2
_FEW = 4  # cards with curves, which have more room on paper
_SEVERAL = 3  # setups from which on a warning of all of them is told below the cards
BARS = (
    "A bar is the measured rate as a share of the documented limit: the upright line is the limit, and a "
    "coloured bar has reached it."
)


def _more(n: int, kind: str) -> str:
    """``5 more files``, ``5 more sets of files``."""
    noun, *rest = kind.split(" ", 1)
    return " ".join([formatting.count(n, f"more {noun}"), *rest])


class SetupCards:
    """The cards of a page, with what they share: prices, cheaper configurations, sources of limits."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = parts
        self.answers = answers(parts)
        self._sources: dict[str, list[str]] = {}

    def block(self) -> Block:
        """All cards, with the numbered sources of their limits."""
        shown = [self._card(answer) for answer in self.answers[:MOST_CARDS]]
        kinds = Counter(answer.kind for answer in self.answers[MOST_CARDS:])
        left_out = ", ".join(_more(n, kind) for kind, n in kinds.items())
        is_in_table = all(len(part.entries) <= MOST_RESULTS for part in self.parts)
        where = " in the table of results." if is_in_table else ": azbench read has them all."
        more = f"{left_out}{where}" if left_out else ""
        bars = BARS if any(card["bars"] for card in shown) else ""
        outliers = file_sets.OUTLIERS if any(card["files"] for card in shown) else ""
        is_priced = any(card["price"] for card in shown)
        is_priced |= any(one.next_step and one.next_step.is_priced for one in self.answers[:MOST_CARDS])
        prices = self._coverage if is_priced else ""
        shared = " ".join(formatting.sentence(text) for text in self._shared.values())
        return render(
            "cards",
            cards=shown,
            are_curves=len(shown) <= _FEW and any(answer.curve for answer in self.answers),
            doubts=f"All setups: {shared}" if shared else "",
            notes=[text for text in (more, outliers, bars, prices) if text],
            sources=[_source(name, columns) for name, columns in self._sources.items()],
        )

    @cached_property
    def _priced(self) -> dict[str, tuple[pd.DataFrame, dict[str, str]]]:
        """By place: the prices of the cards' rates, and the cheaper configuration of each series in words."""
        found = {}
        for place, part in {answer.place: answer.part for answer in self.answers}.items():
            setups = part.priced
            rates = bills.headlines(part)
            if not setups or rates.empty:
                continue
            rated = rates[
                rates["setup_id"].isin([key for key, one in setups.items() if one.total is not None])
            ]
            designs = cheaper(rated, setups)[0] if len(rated) else []
            found[place] = (
                priced_setups.per_delivered(rated, setups),
                {one.series: design_words(one) for one in designs},
            )
        return found

    @property
    def designs(self) -> list[str]:
        """What is cheaper than a setup and gives as much, in words."""
        return [one for _, designs in self._priced.values() for one in designs.values()]

    @cached_property
    def _shared(self) -> dict[str, str]:
        """What holds of every setup of a page with several, in the same words: told once below the cards."""
        if len(self.answers) < _SEVERAL:
            return {}
        shared = _notes(self.answers[0])
        for answer in self.answers[1:]:
            if shared:
                notes = _notes(answer)
                shared = {code: text for code, text in shared.items() if notes.get(code) == text}
        return shared

    @cached_property
    def _coverage(self) -> str:
        setups: dict[str, Priced] = {}
        for i, part in enumerate(self.parts):
            setups |= {f"{i} {key}": one for key, one in part.priced.items()}
        return bills.coverage(setups)

    def _card(self, answer: SetupAnswer) -> dict[str, Any]:
        verdict = answer.verdict
        told, look = (
            ("No limit known", "open") if verdict is None or _silent(answer) else sayings.chip(verdict.judged)
        )
        if any(one.served for one in answer.surfaces):
            told, look = chip(answer.surfaces), "open"
        if answer.agreeing < answer.of:
            told += f", {answer.agreeing} of {formatting.count(answer.of, 'run')}"
        known = verdict is not None and not _silent(answer)
        is_cached = any(one.served for one in answer.surfaces)
        most = 0 if answer.is_of_memory else 1 if is_cached else _BARS
        price, per, design = self._price(answer)
        return {
            **formatting.card(answer.card, answer.entry, answer.name),
            "rate_of": answer.rate_of,
            "id": answer.id,
            "detail": _detail(answer),
            "files": None if answer.card.files is None else file_sets.card(answer.card.files),
            "place": answer.place,
            "sentence": answer.shown_sentence if known or answer.is_of_test else "",
            "chip": told,
            "look": look,
            "why": sayings.why(verdict.judged, answer.block) if verdict and known else "",
            "bars": self._bars(verdict, most) if verdict else [],
            "price": price,
            "per": per,
            "steps": _steps(answer, verdict if known else None, design),
            "notes": [
                formatting.sentence(text) for code, text in _notes(answer).items() if code not in self._shared
            ][:_NOTES],
            "twin": self._twin(answer),
        }

    def _bars(self, verdict: RunVerdict, most: int) -> list[dict[str, Any]]:
        """The limits on the run's path, those that bind first; what lies far above is left out, unless the
        verdict is that a limit was passed.
        """
        is_above = verdict.judged.binding[:1] == (Label.ABOVE_DOCUMENTED_LIMIT,)
        rows = [row for row in verdict.judged.limits if is_above or row.utilisation <= FAR]
        first = sorted(rows, key=lambda row: row.label not in verdict.judged.binding)
        return [self._bar(row) for row in first[:most]]

    def _bar(self, row: LimitRow) -> dict[str, Any]:
        return {
            "name": sayings.bar_name(row.label),
            "of": sayings.counted_limit(row),
            "used": f"{100 * row.utilisation:.0f}{NBSP}%",
            "width": f"{100 * min(row.utilisation, _END) / _END:.1f}",
            "at": row.utilisation >= sayings.REACHED,
            "source": self._numbered(row),
        }

    def _numbered(self, row: LimitRow) -> int:
        """The number of the footnote that has the source of a limit; a limit adds its column to it."""
        source = row.row or "source not stated"
        size, _, rest = source.partition(" ")
        column, _, origin = rest.partition(", ")
        name = f"{size}|{origin}" if origin else f"{source}|"
        columns = self._sources.setdefault(name, [])
        if origin and column not in columns:
            columns.append(column)
        return list(self._sources).index(name) + 1

    def _price(self, answer: SetupAnswer) -> tuple[str, str, str]:
        """A month, 1,000 IOPS (or 100 MB/s) in a month, and what is cheaper; empty where it is not known."""
        table, designs = self._priced.get(answer.place, (pd.DataFrame(), {}))
        mine = table[table["series"] == answer.card.series] if len(table) else table
        if mine.empty or answer.card.rate is None or mine.iloc[0]["facet"] != answer.card.rate["facet"]:
            return "", "", ""
        row = mine.iloc[0]
        unit = _currency(answer.part)
        per = ""
        for column, bound, what in (
            ("per_1000_iops", "per_iops_bound", "1,000 IOPS"),
            ("per_100_mbps", "per_mbps_bound", "100 MB/s"),
        ):
            if not pd.isna(row[column]):
                per = f"{unit} {bills.money(row[column], row[bound])} for {what}"
                break
        month = "" if pd.isna(row["price"]) else f"{unit} {bills.money(row['price'])}"
        return month, per, designs.get(answer.card.series, "")

    def _twin(self, answer: SetupAnswer) -> dict[str, str] | None:
        """What was published of the disk that is emulated here."""
        for i, part in enumerate(self.parts):
            for card in part.cards:
                entry = part.entries[card.series]
                same = entry.twin and answer.part.emulated and entry.slot == answer.entry.slot
                if same and card.rate is not None:
                    rates = formatting.rate_words(card.rate)
                    text = f"Published of {entry.name}: {rates} ({card.rate['facet']})"
                    return {"place": f"d{i}", "text": text}
        return None


def _silent(answer: SetupAnswer) -> bool:
    """Whether there is nothing to say: no limit is documented of the setup, its VM size is not known, and
    nothing but the disk is likely to have answered.
    """
    verdict = answer.verdict
    return verdict is not None and _has_no_limits(verdict) and not sayings.is_not_the_disk(verdict.judged)


def _has_no_limits(verdict: RunVerdict) -> bool:
    """Whether nothing is documented of the setup, and its VM size is not known: the lead says so."""
    return not verdict.judged.limits and not verdict.setup.vm.size


def _steps(answer: SetupAnswer, verdict: RunVerdict | None, design: str) -> list[tuple[str, str]]:
    """Where a curve is best or what gave the rates of a surface, what to change, what is cheaper, what to
    state, and what to run next; paper has room for the first, and of few curves for two.
    """
    steps = [(answer.curve.curve.axis.name, f"{answer.curve.beyond.text}.")] if answer.curve else []
    if not answer.is_of_test:
        steps += [(name, formatting.sentence(text)) for name, text in in_short(answer.surfaces)]
    if verdict and answer.next_step:
        steps.append(("What to change", next_step_sentence(answer.next_step).text))
    steps += [("Cheaper", design)] if design else []
    if verdict is None:
        return steps
    if verdict.judged.open_fact:
        steps.append(("Not stated", formatting.sentence(verdict.judged.open_fact)))
    if (following := verdict.judged.next_run) and not any(one.served for one in answer.surfaces):
        steps.append(("Next run", formatting.sentence(following.advice)))
    return steps


def _notes(answer: SetupAnswer) -> dict[str, str]:
    """What makes this setup's figures doubtful: of the verdict first, then of its runs; one of each kind."""
    part = answer.part
    told: dict[str, str] = {}
    is_known = answer.verdict is not None and not _has_no_limits(answer.verdict)
    for finding in answer.verdict.notes if answer.verdict and is_known else []:
        if not (answer.is_of_memory and finding.code in SAID):
            told.setdefault(finding.code, finding.message)
    mine = part.arrangement.runs
    mine = mine[mine["series"] == answer.card.series]
    facet = answer.surfaces[0].point.facet if answer.is_of_cell else answer.card.facet
    mine = mine if facet is None else mine[mine["whole"] == facet]
    n: Counter[str] = Counter()
    for run_id in dict.fromkeys(mine["run_id"]):
        for code, text in part.doubts.get(run_id, ()):
            told.setdefault(code, text)
            n[code] += 1
    if answer.card.files is None:
        return told
    more = {code: f" (and {n[code] - 1:,} more runs)" if n[code] > 1 else "" for code in told}
    return {code: f"{text}{more[code]}" for code, text in told.items()}


def _currency(part: Part) -> str:
    return bills.currency(part.priced.values())


def _source(name: str, columns: Sequence[str]) -> str:
    """A footnote: ``Standard_E8ds_v4 (cached_iops, cached_bytes_per_s): sku-api-2026-08-17``."""
    size, _, origin = name.partition("|")
    return f"{size} ({', '.join(columns)}): {origin}" if columns else size


def _detail(answer: SetupAnswer) -> str:
    """What the name of the setup does not say; that it is emulated comes first."""
    return ", ".join(filter(None, ["emulated" if answer.part.emulated else "", answer.entry.detail]))
