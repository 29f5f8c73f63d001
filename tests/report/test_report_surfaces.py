"""A matrix of iozone in a report: a card, a sentence and a figure a test, and the page cache in the lead."""

import re
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from iozone_matrices import FILES, RECORDS, cached, dataset, matrix
from readback.known import Known
from readback.page import Page
from readback.reading import CELLS, known, rendered

import azbenchlib as az
from azbenchlib import Report
from azbenchlib.answers.surface_verdict import page_cache
from azbenchlib.core.units import GIB
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.report.to_json import record
from azbenchlib.views.host_cache import HostCache

N_CELLS = sum(1 for file in FILES for record_bytes in RECORDS if record_bytes <= file)
SHOWN = (*CELLS[:2], "over_load", *CELLS[2:])


def words(html: str) -> str:
    bare = re.sub(r"<(style|svg|title)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return plain(unescape(bare))


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)  # of all kinds


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A matrix of 13 files and 9 records, without those that are larger than their file."""
    return dataset(tmp_path_factory.mktemp("matrix") / "m", {"a.txt": matrix(cached)})


@cache
def report(folder: Path) -> Report:
    return Report([str(folder)])


@cache
def block(folder: Path, cell: str) -> str:
    return str(getattr(report(folder), cell)().html)


@cache
def page(folder: Path) -> str:
    return "\n".join(block(folder, cell) for cell in SHOWN)


@cache
def truth(folder: Path) -> Known:
    return known(folder)


def direct(test: str, file: int, record_bytes: int) -> float:
    """Rates of a disk of 5,000 IOPS and 200 MB/s."""
    return min(5000 * record_bytes, 199e6) * (1 - 1e-4 * FILES.index(file))


def test_each_test_has_one_card_with_what_the_page_cache_served_and_up_to_where(folder: Path) -> None:
    cards = block(folder, "cards")
    assert cards.count('<article class="card') == 2
    said = words(cards)
    rest = "MB/s up to files of 512 MiB, above the disk limit of 200 MB/s: the page cache served them;"
    assert f"1,500 to 1,608 {rest} 196 MB/s from files of 1 GiB on" in said
    assert f"2,500 to 2,608 {rest} 191 MB/s from files of 1 GiB on" in said
    assert "of data, records of" in said and "Page cache: " in said


def test_the_lead_says_the_page_cache_how_sure_and_which_run_measures_the_disk(folder: Path) -> None:
    head = words(block(folder, "header"))
    told = re.search(r"The page cache served (\d+) of (\d+) runs \((.*?) certain\)", head)
    cached_files = [file for file in FILES if file < GIB]
    n_cached = 2 * sum(1 for file in cached_files for size in RECORDS if size <= file)
    assert told is not None and (int(told[1]), int(told[2])) == (n_cached, 2 * N_CELLS)
    assert "run with direct=1 (iozone -I), or use files larger than the RAM, whose size is not stated" in head


def test_every_figure_of_a_matrix_is_that_of_its_tables(folder: Path) -> None:
    seen = Page([truth(folder)]).read(page(folder))
    assert not seen.faults, "\n".join(seen.faults)
    assert seen.counted["surface"] >= 4 * N_CELLS  # each cell of both maps, wide and narrow


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("up to files of 512", "up to files of 256"),
        ("1,500 to", "1,400 to"),
        (f" of {2 * N_CELLS} runs (", f" of {3 * N_CELLS} runs ("),
        ("above the disk limit of 200", "above the disk limit of 300"),
    ],
)
def test_a_wrong_figure_is_noticed(folder: Path, right: str, wrong: str) -> None:
    html = block(folder, "header") + block(folder, "cards")
    assert right in html and not Page([truth(folder)]).read(html).faults
    assert Page([truth(folder)]).read(html.replace(right, wrong)).faults


def test_no_row_is_lost(folder: Path) -> None:
    table = block(folder, "results")
    assert len(re.findall(r"<tr", table)) == 2 * N_CELLS + 1


def test_report_terminal_and_notebook_say_the_same(folder: Path) -> None:
    (setup, *_) = record([Dataset.load(folder)])["setups"]
    (surface,) = setup["surfaces"]
    answer = az.judge(str(folder))
    for shown in (words(page(folder)), plain(answer.to_text(10_000)), words(answer._repr_html_())):
        assert plain(surface["sentence"]) in shown
    assert answer.to_dict()["surfaces"][0] == surface and surface["runs"] == N_CELLS == len(surface["cells"])
    lead = page_cache(answer.surfaces)
    assert lead is not None
    for shown in (
        words(page(folder)),
        answer.to_text(10_000),
        words(HostCache([str(folder)]).finding().html),
    ):
        assert lead.text.replace("\u00a0", " ") in shown.replace("\u00a0", " ")
    axes = answer.plot()
    assert [line.get_label() for line in axes.lines] == ["Sequential writes", "Sequential reads"]


def test_rates_in_ios_make_the_same_surface(tmp_path: Path) -> None:
    def even(test: str, file: int, record_bytes: int) -> float:
        return round(cached(test, file, record_bytes) / RECORDS[-1]) * RECORDS[-1]

    said = [
        [one.sentence.text for one in az.judge(str(dataset(tmp_path / name, {"a.txt": text}))).surfaces]
        for name, text in (("kib", matrix(even)), ("ios", matrix(even, options="-a -O")))
    ]
    assert said[0] == said[1] and len(said[0]) == 2


def test_direct_rates_stop_at_the_limits_and_no_page_cache_is_told(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "m", {"a.txt": matrix(direct, options="-a -I")})
    text = words(rendered([folder], ["header", "cards"]))
    assert "page cache" not in text
    assert "at the disk limit of 5,000 IOPS; " in text and "at the disk limit of 200 MB/s" in text


def test_tests_through_stdio_are_buffered_even_with_direct_io(tmp_path: Path) -> None:
    def rates(test: str, file: int, record_bytes: int) -> float:
        return (
            cached("write", FILES[0], record_bytes) if test == "fwrite" else direct(test, file, record_bytes)
        )

    text = matrix(rates, ("write", "fwrite"), "-a -I")
    head = words(rendered([dataset(tmp_path / "m", {"a.txt": text})], ["header"]))
    assert f"The page cache served {N_CELLS} of {2 * N_CELLS} runs" in head
    assert "iozone's tests through stdio are buffered, even with -I: the other tests measure the disk" in head


def test_the_memory_is_named_where_the_setup_says_it(tmp_path: Path) -> None:
    folder = dataset(tmp_path / "m", {"a.txt": matrix(cached)}, {"ram_bytes": 4 * GIB})
    text = words(rendered([folder], ["header"]))
    assert "or use files larger than the RAM of 4 GiB" in text


def test_files_of_two_settings_have_a_card_each_with_all_tests(tmp_path: Path) -> None:
    paths = [tmp_path / "none.txt", tmp_path / "readwrite.txt"]
    for path, part in zip(paths, (1.0, 0.5), strict=True):
        path.write_text(matrix(lambda test, file, size, part=part: part * cached(test, file, size)))
    report = Report([str(tmp_path)])
    cards = report.cards().html
    assert cards.count('<article class="card') == 2
    text = words(cards)
    assert text.count("Sequential writes") >= 2 and text.count("Sequential reads") >= 2
    assert report.over_load().html.count('data-kind="surface"') == 4


def test_buffered_writes_that_are_slower_than_memory_are_none_that_the_page_cache_served() -> None:
    """A disk with ReadWrite caching took 2.6 to 23.5 MB/s of writes; memory takes a hundred times that."""
    report = Report(["iozone-host-cache-2012"])
    runs = report.parts[0].arrangement.runs.set_index("run_id")["bw_bytes_per_s"]
    judged = {v.run.run_ids[0]: v.judged for v in report.parts[0].verdicts}
    cached = [
        run_id for run_id, one in judged.items() if one.binding == ("page_cache",) and one.probability >= 0.8
    ]
    assert 65 <= len(runs) - len(cached) < 75
    assert runs[cached].min() > 40e6 and runs.drop(cached).nlargest(5).max() < 120e6
    lead, cards = words(report.header().html), words(report.cards().html)
    assert f"The page cache served {len(cached)} of {len(runs)} runs" in lead
    assert "5 tests of writes 2.6 to 23.5 MB/s: too slow for the page cache alone" in cards
