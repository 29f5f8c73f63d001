"""The verdict as one answer: the same words on every surface, figures in base units, and a drawing."""

import html
import json
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path

import matplotlib
import pandas as pd
import pytest
from programs import azbench
from sides import side

import azbenchlib as az
from azbenchlib.answers.answer import Answer
from azbenchlib.answers.document import CodeBlock, Listing, Section, Sentence
from azbenchlib.answers.verdict import VerdictAnswer
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.dataset import Dataset

matplotlib.use("Agg")

ROOT = Path(__file__).parents[2]
OUTPUT = ROOT / "tests" / "data" / "fio" / "randrw.json"
SHIPPED = "azure-local-disks-2020"
KNOWN = ("--vm", "Standard_E8ds_v4", "--disk", "P30")
MOST_LINES, MOST_BYTES = 10, 30_000


@pytest.fixture(scope="module")
def answer() -> VerdictAnswer:
    return az.judge(SHIPPED)


def in_one_line(text: str) -> str:
    """A text without what a surface adds: tags, marks of Markdown, breaks of lines."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>|\\(?=[\W_])", "", text))).strip()


def sentences(of: VerdictAnswer) -> list[str]:
    cards = [part for part in of.document.parts if isinstance(part, Section)]
    return [part.text for card in cards for part in card.parts if isinstance(part, Sentence)]


def test_all_surfaces_use_the_same_words(answer: VerdictAnswer) -> None:
    said = sentences(answer)
    assert len(said) >= len(answer.result)
    surfaces = (answer.to_text(1000), answer.to_markdown(), str(answer.to_html().html))
    for surface in map(in_one_line, surfaces):
        assert [text for text in said if in_one_line(text) not in surface] == []
        assert "of 484 MB/s" in surface or "| 484 MB/s |" in surface


def test_repeats_are_told_with_their_rates_and_limits(tmp_path: Path) -> None:
    printed = azbench("verdict", str(side(tmp_path / "runs", (4_980, 5_010, 5_004))), "--disk", "P30").stdout
    shown = in_one_line(printed)
    assert ", 3 runs stated 4,980 to 5,010 IOPS" in shown
    assert re.search(r"disk IOPS █+ 100% of 5,000 IOPS", shown)
    assert printed.count("IOPS limit") == 1


def test_the_terminal_prints_the_answer_and_nothing_above_it(answer: VerdictAnswer) -> None:
    printed = azbench("verdict", SHIPPED).stdout
    assert printed.startswith(answer.result[0].name)
    assert [text for text in sentences(answer) if in_one_line(text) not in in_one_line(printed)] == []


@pytest.fixture(scope="module")
def matrix() -> VerdictAnswer:
    return az.judge("iozone-host-cache-2012")


def test_it_shows_itself_in_few_lines_and_small_cells(answer: VerdictAnswer, matrix: VerdictAnswer) -> None:
    for shown in (answer, matrix, az.judge(OUTPUT)):
        assert 1 <= len(repr(shown).splitlines()) <= MOST_LINES
        assert len(shown._repr_html_().encode()) < MOST_BYTES
    assert len(matrix.result) > 600


def test_a_cell_has_a_card_for_all_runs_of_which_the_same_is_said(answer: VerdictAnswer) -> None:
    *cards, change = (part for part in answer.overview.parts if isinstance(part, Section))
    assert change.title == "What to change"
    assert [card.title for card in cards] == list(
        dict.fromkeys(
            entry.judged.words for entry in sorted(answer.result, key=lambda e: not e.judged.at_limit)
        )
    )
    for card in cards:
        alike = [entry for entry in answer.result if entry.judged.words == card.title]
        (listing,) = (part for part in card.parts if isinstance(part, Listing))
        rates = [sentence.figures["iops"].value for sentence in listing.sentences]
        assert rates == [entry.judged.iops for entry in alike]
        assert all(entry.name in str(listing.sentences[i].text) for i, entry in enumerate(alike))
    assert answer._repr_html_().count("<h3>") == len(cards) + 1 < len(answer.document.parts)


def test_many_runs_of_a_series_have_one_line_with_their_range(matrix: VerdictAnswer) -> None:
    entries = [entry for entry in matrix.result if entry.judged.probability > 0.95]
    judged = VerdictAnswer(entries)  # without their surfaces, those of which the same is said
    lines = [
        sentence
        for card in judged.overview.parts
        for part in card.parts
        if isinstance(part, Listing)
        for sentence in part.sentences
    ]
    counted = [int(re.search(r"(\d+) runs \(", line.text)[1]) for line in lines]
    assert sum(counted) == len(judged.result) > 500
    ends = [line.figures[end].value for line in lines for end in ("lowest", "highest")]
    rates = [entry.judged.bytes_per_s for entry in judged.result]
    assert (min(ends), max(ends)) == (min(rates), max(rates))


def test_repeats_that_ask_for_one_run_share_a_card_whatever_it_would_give(tmp_path: Path) -> None:
    folder = side(tmp_path / "nightly", (5_081.0, 5_102.0, 5_126.0, 5_119.0))
    judged = az.judge(str(folder), vm="D8s_v5", disks=["P40"])
    assert len({entry.judged.words for entry in judged.result}) > 1
    assert judged.to_text(80).count("Cannot tell") == 1
    (card,) = (part for part in judged.overview.parts if isinstance(part, Section) and part.parts)
    (action,) = {entry.judged.next_run.action for entry in judged.result}
    assert card.title.endswith(f": {action}")
    (listing,) = (part for part in card.parts if isinstance(part, Listing))
    assert listing.sentences[0].text.endswith("4 runs (random reads): 5,081 to 5,126\xa0IOPS")


def test_a_cell_says_how_many_runs_it_leaves_out(answer: VerdictAnswer) -> None:
    first = answer.result[0]
    entries = [replace(first, judged=replace(first.judged, words=f"Bound by {n}")) for n in range(15)]
    assert "3 more runs: .to_frame() has a row a run" in VerdictAnswer(entries)._repr_html_()


def test_each_run_that_settles_something_is_proposed_once(answer: VerdictAnswer) -> None:
    asked = [entry.judged.next_run for entry in answer.result if entry.judged.next_run]
    twice = VerdictAnswer([*answer.result, *answer.result]).next_runs
    jobs = [part for part in twice.walk() if isinstance(part, CodeBlock)]
    assert 0 < len(jobs) == len({run.action for run in asked})
    assert {job.text for job in jobs} <= {run.job for run in asked}
    sure = VerdictAnswer([entry for entry in answer.result if not entry.judged.next_run])
    assert sure.result and not sure.next_runs.parts


def test_the_frame_is_in_base_units_with_na_for_what_is_not_known(answer: VerdictAnswer) -> None:
    rows = answer.to_frame()
    records = answer.to_dict()["verdicts"]
    assert list(rows) == [
        *("run", "setup_id", "iops", "bw_bytes_per_s", "limit", "probability", "sentence", "next_run"),
    ]
    moved = [each["achieved"]["mbps"] for each in records]
    assert [value / 1e6 for value in rows["bw_bytes_per_s"]] == pytest.approx(moved, rel=1e-3)
    without = [each["next_run"] is None for each in records]
    assert list(rows["next_run"].isna()) == without and any(without)


def test_every_limit_is_a_figure_with_unit_and_source(answer: VerdictAnswer) -> None:
    figures = answer.figures
    limits = figures[figures["unit"].isin(["iops", "bytes_per_s"])]
    dated = limits["source"].str.contains(r"\d{4}-\d\d-\d\d$")
    assert dated.any() and (dated | (limits["source"] == "as stated")).all()
    assert figures.loc[figures["name"] == "probability", "value"].between(0, 1).all()


def test_it_is_drawn_as_a_bar_a_run_that_a_limit_binds(answer: VerdictAnswer) -> None:
    axes = answer.plot()
    names = [label.get_text().partition("\n")[0] for label in axes.get_yticklabels()]
    assert names and set(names) <= {entry.name for entry in answer.result}
    used = {
        record["id"]: max(row["utilisation"] for row in bound)
        for record in answer.to_dict()["verdicts"]
        if (bound := [row for row in record["limits"] if row["label"] in record["binding"]])
    }
    lengths = [bar.get_width() / 100 for bar in axes.patches]
    assert dict(zip(names, lengths, strict=True)) == pytest.approx(used, rel=1e-3)
    with pytest.raises(InputError, match="no share of one to draw"):
        az.judge(OUTPUT).plot()


def test_csv_markdown_and_json_of_the_command_line(answer: VerdictAnswer) -> None:
    table = pd.read_csv(StringIO(azbench("verdict", SHIPPED, "--format", "csv").stdout))
    rows = answer.to_frame()
    assert list(table) == list(rows) and list(table["run"]) == list(rows["run"])
    assert list(table["probability"]) == pytest.approx(list(rows["probability"].astype(float)))
    assert azbench("verdict", SHIPPED, "--format", "md").stdout == answer.to_markdown()
    record = json.loads(azbench("verdict", SHIPPED, "--format", "json").stdout)
    assert record["verdicts"] == json.loads(json.dumps(answer.to_dict()))["verdicts"]
    as_before = azbench("verdict", str(OUTPUT), *KNOWN, "--format", "table")
    assert as_before.stdout == azbench("verdict", str(OUTPUT), *KNOWN).stdout != ""


def test_the_setup_can_be_said_to_the_question_whatever_it_is_about() -> None:
    setup = {"vm": "Standard_E8ds_v4", "disks": ["P30"], "region": "westeurope"}
    expected = az.judge(az.read(OUTPUT, **setup)).to_dict()

    class Opened(Answer):
        document = None
        result: Dataset = az.read(OUTPUT)

        def to_dict(self) -> dict:
            return {}

    for data in (OUTPUT, str(OUTPUT), [OUTPUT], az.read(OUTPUT), Opened()):
        assert az.judge(data, **setup).to_dict() == expected
    assert az.judge(OUTPUT).to_dict() != expected


def test_what_holds_no_dataset_is_refused(answer: VerdictAnswer) -> None:
    with pytest.raises(InputError, match="a VerdictAnswer tells of no dataset"):
        az.judge(answer)
    with pytest.raises(InputError, match="group_by is for outputs that are opened here"):
        az.judge(az.read(OUTPUT), group_by="host")
