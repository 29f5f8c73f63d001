"""A run is counted once, whichever files, forms and states tell of it; benchmarks/same_runs.py tries more."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import programs
import pytest
import same_runs
from copied_runs import MeasuredRun, measured_runs
from readback import foreign

from azbenchlib import Dataset, Lake
from azbenchlib.analysis import concurrency, logs_apart
from azbenchlib.core.findings import Code
from azbenchlib.dataset import counted_once
from azbenchlib.lake import parts
from azbenchlib.views.report import Report

ROOT = Path(__file__).parents[2]
COUNTED = "SELECT run_id, sum(ios) AS ios FROM results WHERE counted GROUP BY ALL"
FORMS = {"json+": ".json", "terse": ".terse", "normal": ".txt"}
Pool = dict[str, MeasuredRun]


@pytest.fixture(scope="module")
def pool() -> Pool:
    return {run.name: run for run in measured_runs(few=True)}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "outputs").mkdir()
    return tmp_path / "outputs"


def counted(*paths: Path) -> pd.DataFrame:
    """The runs that are counted."""
    tables = Dataset.read(*paths).tables
    return tables["runs"][concurrency.counted(tables)]


def said(*paths: Path) -> list[str]:
    """What is said of runs that several files tell of."""
    findings = Dataset.read(*paths).findings
    return list(findings.loc[findings["code"] == Code.COUNTED_ONCE, "message"].unique())


def four_copies(folder: Path, text: str) -> Path:
    """One output of fio, saved as other programs and systems do."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "out.json").write_text(text)
    (folder / "out-crlf.json").write_bytes(text.replace("\n", "\r\n").encode())
    (folder / "out-pretty.json").write_text(json.dumps(json.loads(text), indent=8, sort_keys=True))
    (folder / "out-min.json").write_bytes(json.dumps(json.loads(text)).encode("utf-16"))
    return folder


def test_one_run_in_four_copies_is_one_everywhere(pool: Pool, home: Path, tmp_path: Path) -> None:
    old, new = (four_copies(home / name, pool[name].forms["json+"][-1]) for name in ("repeat", "again"))
    assert len(counted(old)) == 1 and len(counted(home)) == 2
    ((sentence,), ios) = said(old), int(Dataset.read(old).results["ios"].sum())
    assert sentence.startswith("the same run is in 4 files: ") and "it is counted once" in sentence
    header = Report([str(old)]).header().html
    assert "1\xa0run<" in header
    compared = programs.azbench("compare", old, new, "--format", "json", cwd=ROOT)
    runs = [
        one[side]["runs"]
        for one in json.loads(compared.stdout)["pairs"][0]["figures"]
        for side in ("old", "new")
    ]
    assert compared.returncode == 3 and {len(some) for some in runs} == {1}
    assert compared.stderr.count("the same run is in 4 files") == 2
    read = programs.azbench("read", old, cwd=ROOT)
    assert read.stderr.count("the same run is in 4 files") == 1
    collected = programs.azbench("collect", old, "-o", tmp_path / "lake", cwd=ROOT)
    assert "4 outputs with 1 runs added" in collected.stdout and "in 4 files" in collected.stderr
    assert Lake(tmp_path / "lake").query(COUNTED)["ios"].tolist() == [ios]


def test_three_forms_of_a_run_are_one(pool: Pool, home: Path) -> None:
    """The fullest counts, and a report has one series."""
    for form, end in FORMS.items():
        (home / f"out{end}").write_text(pool["states"].forms[form][-1])
    (row,) = counted(home).to_dict("records")
    assert row["source_path"].endswith("out.json")
    (sentence,) = said(home)
    assert "in 3 files" in sentence
    assert len(Report([str(home)]).parts[0].arrangement.series) == 1
    for form, end in list(FORMS.items())[:-1]:
        (home / f"out{end}").unlink()
        assert len(counted(home)) == 1, form


def test_a_last_state_that_was_reported_again_counts_once(pool: Pool, home: Path) -> None:
    """As at the end of a run on a busy machine: nothing but the moment of the report is another."""
    whole = pool["states"].forms["json+"][-1]
    later = re.sub(r'("timestamp_ms" : )(\d+)', lambda ms: f"{ms[1]}{int(ms[2]) + 11}", whole)
    assert later != whole
    (home / "state.json").write_text(whole)
    (home / "whole.json").write_text(later)
    assert len(counted(home)) == 1


@pytest.mark.parametrize("form", ["json+", "json", "terse", "normal"])
@pytest.mark.parametrize("name", ["repeat", "few"])
@pytest.mark.sampled(3)
def test_a_run_that_stands_twice_in_a_file_counts_once(form: str, name: str, pool: Pool, home: Path) -> None:
    """Alone, and beside a file in which it stands once."""
    text = pool[name].forms[form][-1]
    (home / "twice.txt").write_text(text * 2)
    assert len(counted(home)) == 1
    (home / "once.txt").write_text(text)
    assert len(counted(home)) == 1


def test_repeats_and_clones_that_did_nothing_stay_apart(pool: Pool, home: Path) -> None:
    for name in ("repeat", "again", "few"):
        (home / f"{name}.txt").write_text(pool[name].forms["normal"][-1])
        (home / f"{name}.json").write_text(pool[name].forms["json+"][-1])
    assert len(counted(home)) == 3
    document = json.loads(pool["few"].forms["json"][-1])
    (job,) = document["jobs"]
    for part in ("read", "write", "trim", "sync"):
        job.pop(part)
    (home / "idle.json").write_text(json.dumps({**document, "jobs": [job, job]}))
    assert len(counted(home / "idle.json")) == 2


def test_states_under_way_in_files_of_their_own_are_not_counted(pool: Pool, home: Path) -> None:
    *states, whole = pool["states"].forms["json+"]
    for number, text in enumerate([*states, whole]):
        (home / f"state-{number}.json").write_text(text)
    (row,) = counted(home).to_dict("records")
    assert len(states) > 1 and row["source_path"].endswith(f"state-{len(states)}.json")
    under_way = Dataset.read(home).overview()["state"].eq("under way").fillna(False)
    assert under_way.sum() == 2 * len(states)  # reads and writes
    (home / f"state-{len(states)}.json").unlink()
    assert len(counted(home)) == 1


def test_hosts_that_ran_one_job_at_once_are_no_states_of_a_run(home: Path) -> None:
    """Latencies of emulated disks have the same extremes, and hosts write their outputs in one second."""
    for number in range(3):
        job = foreign.Job({"read": foreign.flow(500.0 + number, 1)}, "same")
        (home / f"host-{number}.json").write_text(foreign.fio([job]))
    assert len(counted(home)) == 3


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("names", [["logged"], ["logged", "copy"], ["copy", "logged"]])
@pytest.mark.sampled(2)
def test_logs_in_another_folder_are_of_their_run(form: str, names: list[str], pool: Pool, home: Path) -> None:
    """Also where another copy counts than that which the logs are called after, or one lies beside them."""
    run = pool["logged"]
    (home / "logs").mkdir()
    for place, name in enumerate(names):
        (home / f"{place}-{name}").mkdir()
        (home / f"{place}-{name}" / f"{name}.out").write_text(run.forms[form][-1])
    (home / "logs" / "logged.txt").write_text(run.forms["normal"][-1])
    for log, data in run.logs.items():
        (home / "logs" / log).write_bytes(data)
        (home / log).write_bytes(data)
    found = Dataset.read(home)
    assert len(counted(home)) == 1 and set(found.samples["run_id"]) == set(found.runs["run_id"])
    assert not found.samples.duplicated(["metric", "seq"]).any()
    assert {"clat_us", "lat_us", "iops", "bw_bytes_per_s"} == set(found.samples["metric"])


def test_the_log_of_another_run_of_that_name_stays_apart(pool: Pool, home: Path) -> None:
    """It is called after a job of which there is an output, but its latencies are others."""
    (home / "a").mkdir()
    (home / "a" / "logged.json").write_text(pool["repeat"].forms["json+"][-1])
    (home / "logged_clat.1.log").write_bytes(pool["logged"].logs["logged_clat.1.log"])
    assert len(counted(home)) == 2


LATENCIES = (51_021, 48_377, 60_249, 50_003)  # ns, the means of a quarter of a second each


def log_of(folder: Path, metric: str, values: tuple[int, ...]) -> None:
    folder.mkdir(exist_ok=True)
    lines = [f"{250 * i}, {value}, 0, 4096, 0\n" for i, value in enumerate(values, 1)]
    (folder / f"averaged_{metric}.1.log").write_text("".join(lines))


@pytest.mark.parametrize(
    ("latencies", "runs"), [(LATENCIES, 1), (LATENCIES[::-1], 2), ((50_000,) * 4, 2)], ids=str
)
def test_some_of_the_logs_of_a_run_elsewhere_are_copies(
    latencies: tuple[int, ...], runs: int, home: Path
) -> None:
    """Rates may be equal by chance, as below a limit, and so may latencies that do not differ."""
    for metric, values in {"bw": (1200,) * 4, "clat": LATENCIES, "iops": (300,) * 4}.items():
        log_of(home / "whole", metric, values)
    log_of(home / "some", "bw", (1200,) * 4)
    log_of(home / "some", "clat", latencies)
    assert len(counted(home)) == runs


@pytest.mark.parametrize(("rates", "runs"), [((300, 304, 297, 84), 1), ((300, 304, 300, 84), 2)], ids=str)
def test_a_log_of_rates_is_a_copy_where_enough_of_them_differ(
    rates: tuple[int, ...], runs: int, home: Path
) -> None:
    for metric, values in {"clat": LATENCIES, "iops": rates}.items():
        log_of(home / "whole", metric, values)
    log_of(home / "some", "iops", rates)
    assert len(counted(home)) == runs


def test_rates_between_reports_are_not_mixed_with_those_of_a_log() -> None:
    columns = ["run_id", "ddir", "metric", "seq", "t_s", "value"]
    reports = [("a", "read", "iops", i, float(i + 1), 250.0) for i in range(2)]
    log = [("a", "read", "iops", i, 0.25 * (i + 1), 300.0) for i in range(4)]
    beside = [("a", "read", "clat_us", 0, 0.25, 50.0)]
    rows = pd.DataFrame([*reports, *log, *beside], columns=columns)
    finest = counted_once.finest(rows.assign(teller=["a"] * 2 + ["b"] * 4 + ["a"]))
    assert finest["t_s"].tolist() == [0.25, 0.5, 0.75, 1.0, 0.25]
    assert finest["metric"].value_counts().to_dict() == {"iops": 4, "clat_us": 1}


def test_averages_are_weighed_by_the_ios_behind_them(home: Path) -> None:
    """A stall has few I/Os, and a mean of averages would be far from that of the run."""
    log_of(home, "clat", (800_000, 600_000, 600_000, 17_000_000))
    log_of(home, "iops", (300, 300, 300, 20))
    tables = Dataset.read(home).tables
    told = {row["metric"]: row["mean"] for row in logs_apart.summaries(tables, set(tables["runs"]["run_id"]))}
    assert told["clat_us"] == pytest.approx((800 * 300 + 2 * 600 * 300 + 17_000 * 20) / 920)
    assert told["iops"] == 230


def test_logs_of_single_jobs_lie_beside_copies_of_the_row_that_sums_them(home: Path) -> None:
    """Their latencies are those of the row."""
    grouped = ROOT / "tests" / "data" / "fio" / "grouped"
    shutil.copytree(grouped, home, dirs_exist_ok=True)
    (home / "grp.txt").write_text(json.dumps(json.loads((grouped / "grp.json").read_text())))
    plain, copied = (Dataset.read(folder) for folder in (grouped, home))
    assert sorted(copied.runs["run_id"]) == sorted(plain.runs["run_id"])
    counts = [found.samples.groupby(["run_id", "metric"]).size().to_dict() for found in (plain, copied)]
    assert counts[0] == counts[1] and set(counts[0].values()) == {40}


# ---- lakes ----------------------------------------------------------------------------------------------


@pytest.fixture
def outputs(pool: Pool, home: Path) -> list[Path]:
    """Copies, forms, states and logs of three runs, in two folders."""
    four_copies(home / "copies", pool["repeat"].forms["json+"][-1])
    (home / "copies" / "again.terse").write_text(pool["again"].forms["terse"][-1])
    (home / "logs").mkdir()
    for log, data in pool["logged"].logs.items():
        (home / "logs" / log).write_bytes(data)
    (home / "copies" / "logged.json").write_text(pool["logged"].forms["json"][-1])
    (home / "logs" / "logged.txt").write_text(pool["logged"].forms["normal"][-1])
    for number, text in enumerate(pool["states"].forms["json+"]):
        (home / "logs" / f"state-{number}.json").write_text(text)
    (home / "states.txt").write_text(pool["states"].streams["normal"])
    return sorted(path for path in home.rglob("*") if path.is_file())


def orders(outputs: list[Path]) -> Iterator[list[list[Path]]]:
    """Ways to collect: by folder, by file, and every third from the end."""
    yield [[outputs[0].parents[1]]]
    yield [[path] for path in outputs]
    yield [outputs[place::3] for place in reversed(range(3))]


@pytest.mark.long
def test_a_lake_is_the_same_however_it_was_collected(outputs: list[Path], tmp_path: Path) -> None:
    expected = Dataset.read(*outputs).tables
    single = expected["runs"][concurrency.counted(expected)]
    ios = expected["results"].loc[expected["results"]["run_id"].isin(single["run_id"]), "ios"].sum()
    found = []
    for number, calls in enumerate(orders(outputs)):
        lake = Lake(tmp_path / f"lake-{number}")
        for names in calls:
            lake.collect(*names)
        counts = lake.query(COUNTED)
        assert len(counts) == len(single) == 4 and counts["ios"].sum() == ios
        found.append(lake.percentiles(["ddir", "lat_kind"], [50, 99]).to_csv())
    assert lake.percentiles(["ddir", "lat_kind"], [50, 99], processes=1).to_csv() == found[-1]
    assert len(set(found)) == 1 and "clat" in found[0]


def test_bins_of_a_log_that_another_part_holds_count_once(pool: Pool, home: Path, tmp_path: Path) -> None:
    """One part has the run with its bins, the other the run without them beside its histogram log."""
    lake, run = Lake(tmp_path / "lake"), pool["logged"]
    for folder, form in (("whole", "json+"), ("logged", "json")):
        (home / folder).mkdir()
        (home / folder / "logged.json").write_text(run.forms[form][-1])
    shutil.copy(home / "whole" / "logged.json", tmp_path)
    lake.collect(home / "whole")
    whole = lake.percentiles(["ddir", "lat_kind"], [50, 99])
    (home / "logged" / "logged_clat_hist.1.log").write_bytes(run.logs["logged_clat_hist.1.log"])
    lake.collect(home / "logged")
    assert len(lake.query("FROM runs")) == 1
    for processes in (None, 1):
        told = lake.percentiles(["ddir", "lat_kind"], [50, 99], processes=processes)
        pd.testing.assert_frame_equal(told, whole)


@pytest.mark.long  # lakes of earlier days
def test_a_lake_in_which_runs_have_other_names_is_taken_over_once(
    outputs: list[Path], pool: Pool, tmp_path: Path
) -> None:
    """As one that was made when a run was named after the bytes of its file."""
    new, old = Lake(tmp_path / "new"), Lake(tmp_path / "old")
    copies = outputs[0].parent
    new.collect(copies / "out.json")
    old.collect(copies / "out.json")
    tables = {
        name: old.query(f"FROM {name}") for name in ("runs", "results", "latency", "percentiles", "bins")
    }
    renamed = {name: rows.assign(run_id="0123456789abcdef") for name, rows in tables.items()}
    shutil.rmtree(tmp_path / "old" / "parts")
    shutil.rmtree(tmp_path / "old" / "tables")
    parts.write_part(old.place, renamed, ["a file that is gone"])
    assert old.query(COUNTED)["run_id"].tolist() == ["0123456789abcdef"]
    for lake in (old, new):
        lake.collect(copies)
    for name in ("ios", "n"):
        query = COUNTED if name == "ios" else "SELECT sum(n) AS n FROM histograms"
        assert old.query(query)[name].sum() == new.query(query)[name].sum()
    assert len(old.query("FROM runs")) == len(new.query("FROM runs"))


@pytest.mark.long
def test_random_sets_give_the_answers_of_the_plain_runs(pool: Pool, tmp_path: Path) -> None:
    sets = same_runs.CopiedSets(list(pool.values()), seed=20261126)
    for number in (1,):
        assert sets.check(number, tmp_path / str(number)) == []
