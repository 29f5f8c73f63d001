"""Every figure of a report is read back from the page, and reckoned from the tables or known beforehand."""

import csv
import json
import os
import re
import shutil
from dataclasses import replace
from functools import cache
from html import unescape
from pathlib import Path

import pytest
from lab_tools import busy
from markupsafe import Markup
from measuring import Measurement
from readback import foreign
from readback.check import Checker
from readback.page import Page
from readback.reading import known, read_back, rendered
from shipped_datasets import MEASURED

from azbenchlib import campaign
from azbenchlib.answers.blocks import breakable
from azbenchlib.dataset import importing
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.report.sections.setup_cards import MOST_RESULTS
from azbenchlib.report.setup_answer import MOST_CARDS
from azbenchlib.views.limits import Limits

ROOT = Path(__file__).parents[2]
DATASETS = ROOT / "datasets"
FIO = ROOT / "tests" / "data" / "fio"
SHIPPED = [path.name for path in MEASURED]


@pytest.fixture(autouse=True)
def shipped_prices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the catalogue and the prices that come with azbench, not what was read on this machine."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def assert_right(checker: Checker, **least: int) -> None:
    """No fault, and so many figures of a kind were read at least: a page that is not read has none either."""
    assert not checker.faults, "\n".join(checker.faults)
    short = {
        kind: checker.counted.get(kind, 0) for kind, n in least.items() if checker.counted.get(kind, 0) < n
    }
    assert not short, f"read only {short} of {least}"


# Kinds of figures, and how many of them each report has at least.
LEAST = {
    "azure-local-disks-2020": {"iops": 50, "lat_us": 150, "money": 40, "bar": 12, "place": 90, "limit": 40},
    "iozone-host-cache-2012": {"surface": 33, "bytes_per_s": 4, "median": 52},
    "l-series-iometer-2017": {"bytes_per_s": 18, "iops": 10, "money": 12, "bar": 2, "quote": 2, "place": 8},
    "premium-ssd-emulated-2026": {"iops": 9, "lat_us": 18, "money": 2, "bar": 2, "place": 6, "trace": 1},
    "ultra-disk-2019": {"iops": 30, "money": 15, "bar": 9, "quote": 2, "place": 10},
    "zone-redundant-disks-2022": {"iops": 40, "money": 28, "bar": 16, "quote": 16, "place": 8, "limit": 40},
}

LEAST_OF_VERDICTS = {
    "azure-local-disks-2020": {"bar": 11, "iops": 11},
    "iozone-host-cache-2012": {"surface": 105},
    "l-series-iometer-2017": {"bar": 5},
    "premium-ssd-emulated-2026": {"bar": 2},
    "ultra-disk-2019": {"bar": 9},
    "zone-redundant-disks-2022": {"bar": 6},
}


@cache
def shipped(name: str) -> Page:
    """The report over a shipped dataset, read once."""
    return read_back([DATASETS / name])


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.sampled(2)
def test_every_figure_of_a_shipped_dataset_is_that_of_its_tables(name: str) -> None:
    assert_right(shipped(name), **LEAST[name])


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.sampled(1)  # of matrices, those of the report above
def test_every_figure_of_the_verdicts_of_a_notebook_is_that_of_its_tables(name: str) -> None:
    cards = Limits([name]).cards().html
    assert_right(Page([known(DATASETS / name)]).read(cards), **LEAST_OF_VERDICTS[name])


@pytest.mark.long
def test_several_datasets_keep_their_figures_apart() -> None:
    names = [name for name in SHIPPED if not name.startswith("iozone")]
    least = {
        kind: sum(LEAST[name].get(kind, 0) for name in names) for kind in ("money", "bar", "place", "quote")
    }
    assert_right(read_back([DATASETS / name for name in names]), **least)


@pytest.mark.parametrize(
    ("make", "least"),
    [
        (foreign.unstated, {"iops": 20, "lat_us": 40, "bytes_per_s": 20, "place": 20}),
        (foreign.stated, {"iops": 60, "lat_us": 100, "money": 20, "bar": 10, "place": 60}),
        (foreign.bursting, {"iops": 25, "lat_us": 50, "money": 10, "bar": 4, "place": 30, "burst": 3}),
    ],
    ids=["files", "setups", "bursting"],
)
@pytest.mark.sampled(1)
def test_reports_of_foreign_outputs_say_what_is_known_to_be_true(
    make, least: dict[str, int], tmp_path: Path
) -> None:
    made = make()
    folder = made.write(tmp_path)
    truth = known(folder)
    truth.facts = made.facts
    page = rendered([folder])
    assert_right(Page([truth]).read(page), **least)
    assert not Page([known(folder)]).read(page).means  # over a burst and its base


def outputs_of_hosts(folder: Path) -> list[Path]:
    """Nine outputs of three hosts, each file and host with rates of its own."""
    output = json.loads((FIO / "clients.json").read_text())
    (reader,) = (job for job in output["client_stats"] if job["jobname"] == "r")
    for n in range(9):
        rate = 1000 * (1 + n % 3) + 10 * n
        side = reader["read"] | {"iops": rate, "bw": rate * 4, "bw_bytes": rate * 4096}
        job = reader | {"hostname": f"db{n % 3}", "read": side}
        (folder / f"run-{n}.json").write_text(json.dumps(output | {"client_stats": [job], "timestamp": n}))
    return [folder]


def files_of_one_kind(folder: Path, bins: bool) -> list[Path]:
    """Mixed I/O on three hosts, of which one lies apart, and a file on each of the others that does; and one
    file of another kind.
    """
    for n in range(24):
        host, slower = n % 3, 0.3 if n in (4, 9) else 1.0
        rate = (1000.0 + 10 * n) * (0.5 if host == 2 else 1.0) * slower
        flows = {"read": foreign.flow(rate, 2), "write": foreign.flow(rate / 2, 1)}
        job = foreign.Job(flows, "mix", depth=3, host=f"db{host}")
        (folder / f"run-{n}.json").write_text(foreign.fio([job], bins))
    for n in range(24, 30):  # two more hosts, so that one can lie apart
        flows = {"read": foreign.flow(1200.0 + n, 2), "write": foreign.flow(600.0, 1)}
        job = foreign.Job(flows, "mix", depth=3, host=f"db{3 + n % 2}")
        (folder / f"run-{n}.json").write_text(foreign.fio([job], bins))
    other = foreign.Job({"write": foreign.flow(4792.0, 16)}, "other", depth=16)
    (folder / "other.json").write_text(foreign.fio([other]))
    return [folder]


def jobs_of_old_fio(folder: Path) -> list[Path]:
    """An output of an fio that tells no options, with jobs one after the other, and a mixed load that only
    read: nothing but the names of jobs and of directions tells whose a figure is.
    """
    output = json.loads((FIO / "randrw.json").read_text())
    (job,) = output["jobs"]
    output.pop("global options", None)
    jobs = []
    for n, name in enumerate(("first", "second", "third")):
        side = job["read"] | {"iops": 1000.0 * 3**n, "bw": 4000 * 3**n, "bw_bytes": 4096000 * 3**n}
        percentiles = {p: us * 2**n for p, us in job["read"]["clat_ns"]["percentile"].items()}
        side["clat_ns"] = job["read"]["clat_ns"] | {"percentile": percentiles}
        jobs.append(job | {"jobname": name, "groupid": n, "read": side, "write": _nothing(job["write"])})
        jobs[-1].pop("job options", None)
    (folder / "jobs.json").write_text(json.dumps(output | {"jobs": jobs}))
    reads = job | {"write": _nothing(job["write"])}
    (folder / "reads.json").write_text(json.dumps(output | {"jobs": [reads], "timestamp": 1}))
    return [folder]


def _nothing(side: dict[str, object]) -> dict[str, object]:
    return {name: {} if isinstance(value, dict) else 0 for name, value in side.items()}


@pytest.mark.parametrize(
    ("make", "group_by", "least"),
    [
        (lambda _: [FIO / "randrw.json"], None, {"iops": 3}),
        (jobs_of_old_fio, None, {"iops": 6, "lat_us": 16}),
        (lambda _: [FIO / "randrw.json", FIO / "group_jsonplus.json"], None, {"iops": 5, "lat_us": 20}),
        (lambda _: [FIO / "hist_clat_hist.1.log", FIO / "randrw.json"], None, {"trace": 4}),
        (outputs_of_hosts, None, {"iops": 4, "spread": 16}),
        (lambda folder: files_of_one_kind(folder, True), None, {"spread": 22, "outlier": 3, "lat_us": 20}),
        (lambda folder: files_of_one_kind(folder, False), None, {"spread": 22, "outlier": 3, "lat_us": 12}),
        (outputs_of_hosts, "host", {"iops": 15}),
    ],
    ids=[
        *("one file", "jobs", "two files", "histogram log", "files of hosts", "many with-bins"),
        *("many without-bins", "hosts"),
    ],
)
@pytest.mark.sampled(2)
def test_reports_of_outputs_without_a_manifest(make, group_by, least: dict[str, int], tmp_path: Path) -> None:
    found = Dataset.load(*make(tmp_path), group_by=group_by)
    with importing.as_folders([found]) as folders:
        assert_right(read_back(folders), **least)


def test_a_report_without_a_figure_says_so(tmp_path: Path) -> None:
    """A rate alone is neither a curve nor a comparison."""
    job = foreign.Job({"read": foreign.Flow(500.0)}, "bare")
    (tmp_path / "bare.json").write_text(foreign.fio([job]))
    with importing.as_folders([Dataset.load(tmp_path)]) as folders:
        read = read_back(folders)
    assert_right(read, iops=1)
    assert "<figure" not in read.html
    assert "No figures: these results have no percentiles of a whole workload and no logs" in read.html


def _unlike(folder: Path, cached: bool = True) -> Path:
    """Outputs of other workloads each; the file with most of all was answered by the page cache."""
    made = {
        "small": foreign.Job({"read": foreign.flow(9000.0, 4)}, "s", 4096, 4),
        "large": foreign.Job({"write": foreign.flow(800.0, 8)}, "l", 1 << 18, 8),
        "slow": foreign.Job({"write": foreign.flow(120.0, 1)}, "t", 8192, 1),
    }
    for name, job in made.items():
        (folder / f"{name}.json").write_text(foreign.fio([job]))
    if cached:
        text = foreign.fio([foreign.Job({"read": foreign.flow(90000.0, 1)}, "c", 16384, 1)])
        text = text.replace('"direct": "1"', '"direct": "0"').replace('"size": "64g"', '"size": "64m"')
        (folder / "cached.json").write_text(text)
    return folder


def test_of_files_unlike_each_other_the_lead_tells_the_highest_rates(tmp_path: Path) -> None:
    """And breaks no option that it names."""
    found = Dataset.load(_unlike(tmp_path))
    with importing.as_folders([found]) as folders:
        read = read_back(folders)
    assert_right(read, iops=4)
    lead = re.findall('<p class="finding">(.*?)</p>', read.html)[0]
    assert '<span class="nb">--vm</span> and <span class="nb">--disk</span>' in lead
    assert "<figure" in read.html and "No figures" not in read.html
    head = read.html.partition('class="facts"')[0]
    said = " ".join(re.sub(r"<[^>]*>", "", head[head.index('class="finding"') :]).split())
    assert "small.json reported the most IOPS: 9,000 IOPS, 36.9 MB/s (4 KiB random reads, QD 4)." in said
    assert "large.json reported the most MB/s: 800 IOPS, 210 MB/s (256 KiB random writes, QD 8)." in said


def _lead_of(folder: Path) -> str:
    with importing.as_folders([Dataset.load(folder)]) as folders:
        head = rendered(folders, ["header"]).partition('class="facts"')[0]
    return " ".join(unescape(re.sub(r"<[^>]*>", "", head[head.index('class="finding"') :])).split())


def test_the_lead_names_the_workload_that_gave_the_highest_rate(tmp_path: Path) -> None:
    jobs = [
        foreign.Job({"read": foreign.flow(500.0, 4), "write": foreign.flow(500.0, 4)}, "mixed", 8192, 4),
        foreign.Job({"read": foreign.flow(6000.0, 4)}, "reads", 8192, 4, group=1),
        foreign.Job({"write": foreign.flow(20.0, 4)}, "large", 65536, 4, group=2),
    ]
    path = tmp_path / "jobs.json"
    path.write_text(foreign.fio(jobs))
    assert "Random reads (8 KiB, QD 4) reported the most IOPS and MB/s: 6,000 IOPS, 49.2 MB/s." in _lead_of(
        path
    )


@pytest.mark.long  # as one workload above, of many
def test_the_lead_names_two_of_many_workloads_that_ran_at_once(tmp_path: Path) -> None:
    _unlike(tmp_path, cached=False)
    jobs = [foreign.Job({"read": foreign.Flow(90000.0)}, f"j{i}", 4096, i + 1) for i in range(9)]
    (tmp_path / "many.json").write_text(foreign.fio(jobs))
    told = "many.json reported the most IOPS and MB/s: 810,000 IOPS, 3,318 MB/s "
    assert f"{told}(4 KiB random reads, QD 1 + 4 KiB random reads, QD 2 and 7 more)." in _lead_of(tmp_path)


def test_a_long_name_without_joints_can_end_its_line_anywhere() -> None:
    """On cards and in tables, also where every character of it is escaped."""
    for word in ("x" * 90, "<script>" * 9, "name_of-" + "&" * 40, "a" * 19 + "/" + "b" * 60):
        text = str(breakable(word))
        assert unescape(text.replace("<wbr>", "")) == word
        assert max(len(unescape(piece)) for piece in text.split("<wbr>")) <= 24


def test_a_link_in_a_table_leads_where_it_did() -> None:
    link = Markup('<a href="03_throttle_and_more.ipynb">3. Throttling</a>')
    assert breakable(link) == link


def test_one_file_with_the_highest_rates_of_all_is_told_once(tmp_path: Path) -> None:
    _unlike(tmp_path, cached=False)
    (tmp_path / "small.json").unlink()
    with importing.as_folders([Dataset.load(tmp_path)]) as folders:
        read = read_back(folders)
    assert_right(read, iops=2)
    assert "reported the most IOPS and MB/s: " in read.html


def test_a_long_name_in_the_title_has_places_to_break(tmp_path: Path) -> None:
    folder = tmp_path / "measurements_of_november-2026_premium-ssd-v2_and_ultra"
    folder.mkdir()
    with importing.as_folders([Dataset.load(_unlike(folder))]) as folders:
        title = re.findall("<h1>(.*?)</h1>", rendered(folders, ["header"]))[0]
    for word in re.split("<wbr>| ", title):
        assert not re.search(r"[/_-].", word.removeprefix("/"))


@pytest.mark.long
def test_a_set_of_files_is_called_by_its_workload_once(tmp_path: Path) -> None:
    """On cards, in tables and in figures, where the sets share none."""
    for n in range(14):
        depth = 1 + n // 7
        job = foreign.Job({"read": foreign.flow(500.0 * depth + n, depth)}, "many", 4096, depth)
        (tmp_path / f"qd{depth}-{n}.json").write_text(foreign.fio([job]))
    with importing.as_folders([Dataset.load(tmp_path)]) as folders:
        read = read_back(folders)
    assert_right(read, spread=4, lat_us=20)
    page = read.html.replace("\xa0", " ")
    assert not re.search("(4 KiB random reads, QD [12]), *\\1", unescape(re.sub("<[^>]*>", " ", page)))


@pytest.mark.long
def test_every_file_that_has_no_card_has_a_row_in_the_table(tmp_path: Path) -> None:
    """Seventy files unlike each other, of which some have more workloads than others."""
    for n in range(70):
        loads = {"read": foreign.Flow(100.0 + n)}, {"write": foreign.Flow(200.0 + n)}
        jobs = [foreign.Job(load, f"j{i}", 512 * (n + 1), 1, i) for i, load in enumerate(loads[: 1 + n % 2])]
        (tmp_path / f"{n}").mkdir()  # in one folder they would be a sweep of the block size
        (tmp_path / f"{n}" / f"file-{n}.json").write_text(foreign.fio(jobs))
    with importing.as_folders([Dataset.load(tmp_path)]) as folders:
        read = read_back(folders)
    assert_right(read, iops=105 + MOST_CARDS)
    page = read.html.replace("\xa0", " ")
    table = page[page.index('id="results"') :]
    assert "52 more files in the table of results." in page
    assert all(f"file-{n}.json" in table for n in range(70))


@pytest.mark.long
def test_of_more_results_than_fit_the_first_of_each_file_are_shown(tmp_path: Path) -> None:
    """Twenty files, of which the first have more workloads than fit."""
    for n in range(20):
        jobs = [
            foreign.Job({"read": foreign.Flow(50.0 + n)}, f"j{i}", 4096, i + 1, i)
            for i in range(MOST_RESULTS // 2 if n < 2 else 2)
        ]
        (tmp_path / f"file-{n:02}.json").write_text(foreign.fio(jobs))
    with importing.as_folders([Dataset.load(tmp_path)]) as folders:
        read = read_back(folders)
    assert_right(read, iops=MOST_RESULTS + MOST_CARDS)
    page = read.html.replace("\xa0", " ")
    table = page[page.index('id="results"') :]
    assert "Of each the first; 36 more rows: azbench read has them all." in page
    assert all(len(re.findall(rf"<tr.*file-{n:02}\.json", table)) == 2 for n in range(2, 20))


@pytest.mark.long  # more sets than fit, as files above
def test_sets_of_files_that_have_no_card_are_counted(tmp_path: Path) -> None:
    """Each workload in seven files, and two more workloads than there are cards."""
    for depth in range(1, MOST_CARDS + 3):
        for n in range(7):
            job = foreign.Job({"read": foreign.Flow(100.0 * depth + n)}, "many", 4096, depth)
            (tmp_path / f"qd{depth}-{n}.json").write_text(foreign.fio([job]))
    with importing.as_folders([Dataset.load(tmp_path)]) as folders:
        read = read_back(folders)
    assert_right(read, spread=2 * MOST_CARDS, iops=MOST_CARDS)
    assert "2 more sets of files in the table of results." in read.html.replace("\xa0", " ")


@pytest.mark.parametrize(
    "make", [foreign.unstated, foreign.stated, foreign.bursting], ids=["files", "setups", "bursting"]
)
def test_the_reckoning_itself_finds_the_truth(make, tmp_path: Path) -> None:
    """What is reckoned from the tables is what the files were made from."""
    made = make()
    found = known(made.write(tmp_path)).facts
    for fact in made.facts:
        near = [
            other
            for other in found
            if (other.kind, other.pooled) == (fact.kind, fact.pooled)
            and replace(other.topic, working=None, path=None) == fact.topic
            and abs(other.value - fact.value) <= (max(fact.within, other.within) + 1e-6) * fact.value
        ]
        assert near, fact


@pytest.mark.long  # a third shipped dataset is read
def test_a_burst_limit_has_a_source_that_states_it() -> None:
    assert not shipped("zone-redundant-disks-2022").astray


# --- emulated disks -----------------------------------------------------------------------------------

PLAN = """
title: A small disk that bursts, and a bought one
region: eastus2
as_of: 2020-07-01
setups:
  - name: small
    vm: Standard_E8ds_v4
    disks: {os: {role: os, sku: Premium_LRS, size: 32GiB}}
    workloads:
      drain: {rw: randwrite, bs: 8k, iodepth: 32, size: 1g, runtime: 2700}
  - name: bought
    vm: Standard_E32-8s_v3
    zone: 1
    disks: {data: {sku: UltraSSD_LRS, size: 128GiB, iops: 10000, mbps: 50}}
    workloads:
      mixed: {rw: randrw, rwmixread: 50, bs: 8k, iodepth: 32, size: 1g, runtime: 60}
"""


@pytest.mark.fio
@pytest.mark.alone
def test_every_figure_of_emulated_disks_is_that_of_their_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A burst and its end, a mixed load on a bought disk, and the same beside what was published."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "plan.yaml").write_text(PLAN)
    folder = tmp_path / "emulated"

    def measure() -> Page:
        campaign.run(campaign.load(tmp_path / "plan.yaml"), folder, target="lab", longest_s=3, fresh=True)
        page = read_back([folder, DATASETS / "ultra-disk-2019"])
        assert_right(page)  # whatever was measured
        return page

    def holds(page: Page) -> None:
        # How much longer credits last on Azure stands in the method. Of a rate below the limit of the
        # disk, as on a busy machine, the report says that it is inconclusive.
        assert_right(page, iops=40, lat_us=60, money=25, bar=12, place=40, trace=10, beside=1, cut=2)

    Measurement(measure, lambda _: busy(Dataset.load(folder))).check(holds)


# --- outputs of others --------------------------------------------------------------------------------

CORPUS = os.environ.get("AZBENCH_CORPUS")
LARGEST = 12_000  # bytes


@pytest.mark.skipif(not CORPUS, reason="AZBENCH_CORPUS names no folder of outputs")
@pytest.mark.parametrize("of_each", [1, pytest.param(2, marks=pytest.mark.long)])
def test_every_figure_of_published_outputs_is_that_of_their_tables(of_each: int, tmp_path: Path) -> None:
    """Files of every tool and format together: what nobody said to be alike is not compared."""
    home = Path(str(CORPUS))
    with (home / "manifest.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["size"] or 0) < LARGEST]
    taken: dict[tuple[str, str], int] = {}
    for row in rows:
        kind = (row["tool"], row["format"])
        # what only logs tell is made of samples (test_report_rates); of .dat see the test below
        timed = not row["file"].endswith((".dat", ".log"))
        if timed and row["tool"] and taken.get(kind, 0) < of_each and (home / row["file"]).is_file():
            taken[kind] = taken.get(kind, 0) + 1
            target = tmp_path / "set" / "raw" / row["file"]
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(home / row["file"], target)
    described = {
        "name": "others",
        "title": "Outputs of others",
        "about": "",
        "measured": "once",
        "setups": [],
    }
    (tmp_path / "set" / "manifest.json").write_text(json.dumps(described))
    assert_right(read_back([tmp_path / "set"]), iops=9 * of_each, bytes_per_s=10 * of_each)


@pytest.mark.long
@pytest.mark.skipif(not CORPUS, reason="AZBENCH_CORPUS names no folder of outputs")
def test_every_figure_of_all_published_json_is_that_of_its_tables() -> None:
    """Of all outputs of one format together, as somebody names a folder of them."""
    found = Dataset.load(Path(str(CORPUS)) / "fio" / "json")
    assert found.runs["source_path"].nunique() >= 70
    with importing.as_folders([found]) as folders:
        read = read_back(folders)
    # Rates stand on the cards and in the table, a row a workload: unlike files share no figure of rates.
    n_rates = MOST_CARDS + sum(1 for unit in read.part.measured if read.part.rates(unit))
    assert n_rates >= 98
    assert_right(read, iops=n_rates, bytes_per_s=n_rates, lat_us=400, place=45)


@pytest.mark.slow
@pytest.mark.skipif(not CORPUS, reason="AZBENCH_CORPUS names no folder of outputs")
@pytest.mark.parametrize(
    ("folder", "n_files", "least"),
    [
        ("iozone/stdout_local", 25, {"bytes_per_s": 275, "iops": 38, "finding": 10}),
        ("iozone/xls_local", 9, {"bytes_per_s": 7, "median": 45, "bytes": 2}),
        ("iozone/stdout", 24, {"bytes_per_s": 300, "spread": 8, "outlier": 2}),
    ],
)
@pytest.mark.long
def test_every_figure_of_published_tables_of_iozone_is_that_of_their_tables(
    folder: str, n_files: int, least: dict[str, int]
) -> None:
    """Of up to 30,000 runs, with more sets than have a card; `make test` reads the shipped tables alone."""
    found = Dataset.load(Path(str(CORPUS)) / folder)
    assert found.runs["source_path"].nunique() == n_files
    with importing.as_folders([found]) as folders:
        assert_right(read_back(folders), **least)


@pytest.mark.long  # one more of the outputs without a manifest
def test_latencies_that_have_no_times_are_no_figure_over_time(tmp_path: Path) -> None:
    """iozone's -Q has the offset of each I/O, and not when it was."""
    made = foreign.unstated()
    folder = made.write(tmp_path)
    shutil.copy(ROOT / "tests" / "data" / "iozone" / "rol.dat", folder / "raw")
    assert_right(read_back([folder]), iops=10)
