"""A lake: each output once, whoever writes; figures by the same rule as everywhere; nothing but SELECT."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from many_runs import pooled, write_runs

from azbenchlib import Dataset, Lake
from azbenchlib.core import histogram
from azbenchlib.core.errors import InputError, MissingToolError, OutputError
from azbenchlib.lake import parts

ROOT = Path(__file__).parents[2]
FIO = ROOT / "tests" / "data" / "fio"
WANTED = [50.0, 99.0, 99.9, 100.0]
MERGED = """
WITH picked AS (SELECT setup_id, ddir, lat_kind, bin_ns, n FROM histograms)
FROM percentiles_of('picked', [50, 99, 99.9, 100]) ORDER BY ALL
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_runs(tmp_path_factory.mktemp("outputs"), 12)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory, outputs: list[Path]) -> Lake:
    made = Lake(tmp_path_factory.mktemp("lake") / "lake")
    made.collect(*outputs, setup_id="vm")
    return made


def expected(outputs: list[Path]) -> pd.DataFrame:
    rows = []
    for (ddir, kind), counts in sorted(pooled(outputs).items()):
        values = histogram.percentile(list(counts), list(counts.values()), WANTED) / 1000
        n = sum(counts.values())
        rows += [("vm", ddir, kind, n, p, us) for p, us in zip(WANTED, values, strict=True)]
    return pd.DataFrame(rows, columns=["setup_id", "ddir", "lat_kind", "n", "percentile", "lat_us"])


def test_percentiles_of_a_setup_are_those_of_all_its_ios(lake: Lake, outputs: list[Path]) -> None:
    told = lake.percentiles(percentiles=WANTED)
    pd.testing.assert_frame_equal(told, expected(outputs), check_dtype=False)
    assert (told["n"] > 0).all() and len(told) == 12


def test_sql_merges_histograms_by_the_same_rule(lake: Lake) -> None:
    pd.testing.assert_frame_equal(lake.query(MERGED), lake.percentiles(percentiles=WANTED))


@pytest.mark.parametrize("calls", [1, 2, 8])
@pytest.mark.sampled(1)
def test_the_same_bytes_however_the_lake_is_divided(
    calls: int, lake: Lake, outputs: list[Path], tmp_path: Path
) -> None:
    divided = Lake(tmp_path / "lake")
    for place in range(calls):
        divided.collect(*outputs[place::calls], setup_id="vm")
    assert len(parts.parts_of(divided.place)) == calls
    by = ["setup_id", "day", "ddir", "lat_kind", "rw", "bs_bytes"]
    whole = lake.percentiles(by, WANTED).to_csv()
    assert divided.percentiles(by, WANTED).to_csv() == whole
    assert divided.percentiles(by, WANTED, processes=1).to_csv() == whole
    assert divided.query(MERGED).to_csv() == lake.query(MERGED).to_csv()


def test_an_output_is_added_once_wherever_it_lies(outputs: list[Path], tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    shutil.copytree(outputs[0].parent, tmp_path / "copy" / "again")
    first = lake.collect(outputs[0].parent, tmp_path / "copy")
    second = lake.collect(tmp_path / "copy")
    assert (first.outputs, first.runs, first.there_already) == (12, 12, 0)
    assert (second.outputs, second.runs, second.there_already) == (0, 0, 12)
    assert lake.query("SELECT count(*) AS n FROM runs")["n"].tolist() == [12]


def test_what_two_collectors_read_at_the_same_time_counts_once(outputs: list[Path], tmp_path: Path) -> None:
    """Each sees a lake without the other's part: here, both are collected apart and put together."""
    lakes = [Lake(tmp_path / name) for name in ("one", "other", "both")]
    lakes[0].collect(*outputs[:8], setup_id="vm")
    lakes[1].collect(*outputs[4:], setup_id="vm")
    for lake in lakes[:2]:
        shutil.copytree(lake.address, lakes[2].address, dirs_exist_ok=True)
    assert len(parts.parts_of(lakes[2].place)) == 2
    told = lakes[2].percentiles(percentiles=WANTED)
    pd.testing.assert_frame_equal(told, expected(outputs), check_dtype=False)
    pd.testing.assert_frame_equal(lakes[2].percentiles(percentiles=WANTED, processes=1), told)
    counts = lakes[2].query("SELECT count(*) AS n, count(DISTINCT run_id) AS runs FROM results WHERE counted")
    assert counts.iloc[0].tolist() == [12, 12]


def test_what_a_collector_left_that_was_ended_counts_for_nothing(outputs: list[Path], tmp_path: Path) -> None:
    """Its Parquet files are there, its record is not; the next one adds everything."""
    lake = Lake(tmp_path / "lake")
    lake.collect(*outputs, setup_id="vm")
    (record,) = (tmp_path / "lake" / "parts").iterdir()
    record.unlink()
    assert len(lake.query("FROM runs")) == 0 and len(lake.percentiles()) == 0
    assert lake.collect(*outputs, setup_id="vm").outputs == 12
    pd.testing.assert_frame_equal(lake.percentiles(percentiles=WANTED), expected(outputs), check_dtype=False)


def test_a_log_that_comes_later_joins_its_run(tmp_path: Path) -> None:
    lake, home = Lake(tmp_path / "lake"), tmp_path / "outputs"
    home.mkdir()
    shutil.copy(FIO / "grouped" / "grp.json", home)
    lake.collect(home)
    for log in (FIO / "grouped").glob("*.log"):
        shutil.copy(log, home)
    assert lake.collect(home).outputs == 7
    whole = Dataset.read(home)
    told = lake.query("FROM samples")
    assert set(told["run_id"]) == set(whole.samples["run_id"]) and len(told) == len(whole.samples)
    assert sorted(lake.query("FROM runs")["run_id"]) == sorted(whole.runs["run_id"])


def test_parts_that_were_collected_before_a_column_came_are_read(outputs: list[Path], tmp_path: Path) -> None:
    old = Lake(tmp_path / "lake")
    for part in outputs[:2]:
        old.collect(part, setup_id="vm")
        for file in (tmp_path / "lake").rglob("*.parquet"):
            rows = pq.read_table(file, partitioning=None)
            if "fsync" in rows.column_names:
                pq.write_table(rows.drop_columns("fsync"), file)
    assert old.query("SELECT count(*) AS n, count(fsync) AS told FROM runs").values.tolist() == [[2, 0]]
    old.collect(*outputs[:3], setup_id="vm")
    assert old.query("SELECT count(*) AS n, count(fsync) AS told FROM runs").values.tolist() == [[3, 1]]
    one, several = (old.percentiles(["fsync"], WANTED, processes=n) for n in (1, 2))
    assert len(one) and one.equals(several)


def test_tables_are_those_of_a_dataset(lake: Lake, outputs: list[Path]) -> None:
    whole = Dataset.read(*outputs)
    for name in ("runs", "results", "latency", "percentiles", "bins"):
        given = whole.tables[name].drop(columns="setup_id", errors="ignore")
        keys = [key for key in ("run_id", "ddir", "lat_kind", "percentile", "bin_ns") if key in given]
        told = lake.query(f"FROM {name}")[list(given)]
        pd.testing.assert_frame_equal(
            told.sort_values(keys, ignore_index=True),
            given.sort_values(keys, ignore_index=True),
            check_dtype=False,
        )


def test_days_and_setups_are_told(lake: Lake, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    lake.collect("ultra-disk-2019", FIO / "randrw.json")
    told = lake.query("SELECT DISTINCT day, setup_id FROM runs ORDER BY ALL")
    stated, bare = told["setup_id"].dropna(), told[told["setup_id"].isna()]
    assert stated.str.startswith("ultra-disk-2019/").all() and len(bare)
    assert bare["day"].str.fullmatch(r"\d{4}-\d\d-\d\d").all()
    facts = lake.query("SELECT vm_size FROM setups WHERE setup_id = 'ultra-disk-2019/ultra-10000-50'")
    assert facts["vm_size"].tolist() == ["Standard_E32-8s_v3"]


def test_a_dataset_that_contradicts_what_the_lake_knows_of_a_setup_is_left_out(tmp_path: Path) -> None:
    lake, copy = Lake(tmp_path / "lake"), tmp_path / "ultra-disk-2019"
    lake.collect("ultra-disk-2019")
    shutil.copytree(ROOT / "datasets" / "ultra-disk-2019", copy)
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["setups"][0]["region"] = "westeurope"
    (copy / "manifest.json").write_text(json.dumps(manifest))
    found = lake.collect(copy)
    assert found.outputs == 0
    assert "with other facts" in found.findings["message"].iloc[0]


def test_a_bad_file_is_a_finding_and_the_others_are_added(outputs: list[Path], tmp_path: Path) -> None:
    cut, other = tmp_path / "cut.json", tmp_path / "notes.txt"
    cut.write_bytes(outputs[0].read_bytes()[:700])
    other.write_text("nothing that a benchmark wrote")
    lake = Lake(tmp_path / "lake")
    found = lake.collect(outputs[1], cut, other)
    assert found.outputs >= 1 and len(lake.query("FROM runs WHERE ioengine IS NOT NULL")) >= 1
    assert {str(cut), str(other)} <= set(found.findings["source_path"])


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("DROP VIEW bins", "a query is one SELECT"),
        ("SELECT 1; SELECT 2", "a query is one SELECT"),
        ("COPY bins TO 'x.csv'", "a query is one SELECT"),
        ("SET memory_limit = '9GB'", "a query is one SELECT"),
        ("", "a query is one SELECT"),
        ("FROM read_text('/etc/passwd')", "disabled by configuration"),
        ("FROM read_csv('https://example.com/x.csv')", "disabled"),
        ("FROM nothing", "nothing does not exist"),
        ("FROM interrupted", "interrupted does not exist"),
        ("FROM percentiles_of('histograms', [0])", "percentiles must be above 0"),
        ("FROM percentiles_of('runs', [50])", 'Column "n"'),
    ],
)
def test_a_query_reads_the_lake_and_nothing_else(lake: Lake, query: str, told: str) -> None:
    with pytest.raises(InputError) as refused:
        lake.query(query)
    assert told in str(refused.value) and "Traceback" not in str(refused.value)


def test_no_progress_is_drawn_into_the_answer(lake: Lake) -> None:
    """A program without a file of its own, such as a notebook, is one that DuckDB draws progress for."""
    asked = "SELECT current_setting('enable_progress_bar') AS shown"
    program = f"from azbenchlib import Lake; print(Lake({str(lake.address)!r}).query({asked!r})['shown'][0])"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


def test_a_query_prints_its_answer_and_nothing_else(lake: Lake) -> None:
    """As a process of its own: DuckDB's binding tells at the end what was not thrown away."""
    asked = ("query", str(lake.address), "SELECT count(*) AS runs FROM runs", "--format", "csv")
    program = Path(sys.executable).with_name("azbench")
    told = subprocess.run([program, *asked], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["runs", str(len(lake.query("FROM runs")))]
    assert told.stderr == ""


def test_columns_of_one_name_stay_apart_and_decimals_are_numbers(lake: Lake) -> None:
    told = lake.query("SELECT 1 AS a, 2 AS a, 3 AS a_1, sum(1.25) AS b, 2.5 AS c FROM runs")
    assert list(told) == ["a", "a_2", "a_1", "b", "c"]
    assert told[["a", "a_2", "a_1", "c"]].iloc[0].tolist() == [1, 2, 3, 2.5]
    assert told["b"][0] == 1.25 * len(lake.query("FROM runs"))
    assert told.dtypes[["b", "c"]].tolist() == ["Float64", "Float64"]


def test_whole_numbers_stay_whole(lake: Lake) -> None:
    told = lake.query("SELECT sum(n) AS n, NULL::BIGINT AS nothing FROM histograms")
    assert told.dtypes.tolist() == ["Int64", "Int64"]
    assert np.issubdtype(type(told["n"].iloc[0]), np.integer)


def test_what_is_no_lake_is_refused(lake: Lake, outputs: list[Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no lake"):
        Lake(tmp_path).query("SELECT 1")
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"holds thesis\.txt"):
        Lake(tmp_path).collect(*outputs)
    with pytest.raises(InputError, match=r"a folder, or lies at an address"):
        Lake("s3://bucket/lake")
    with pytest.raises(InputError, match="no column 'colour'"):
        lake.percentiles(["colour"])
    with pytest.raises(InputError, match="too long for the name of a folder"):
        Lake(tmp_path / "lake").collect(outputs[0], setup_id="x" * 300)
    newer = tmp_path / "newer"
    newer.mkdir()
    (newer / "lake.json").write_text('{"azbench_lake": 2}')
    with pytest.raises(InputError, match="of version 2"):
        Lake(newer).query("SELECT 1")


def test_without_duckdb_the_sentence_names_the_extra(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingToolError, match=r"azbench\[lake\]"):
        lake.query("SELECT 1")
    assert len(lake.percentiles(processes=1))


def test_without_adlfs_the_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adlfs", None)
    with pytest.raises(MissingToolError, match=r"azbench\[lake\]"):
        Lake("abfs://container/lake").query("SELECT 1")


def test_names_of_setups_may_be_anything(outputs: list[Path], tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    names = ["a/b", "..", "ü = 1", "__HIVE", "it's; DROP"]
    for name, output in zip(names, outputs, strict=False):
        lake.collect(output, setup_id=name)
    assert set(lake.query("SELECT DISTINCT setup_id FROM bins")["setup_id"]) == set(names)
    assert set(lake.percentiles(processes=1)["setup_id"]) == set(names)
    assert {path.parts[-4] for path in (tmp_path / "lake").rglob("tables/*/*/*/*.parquet")} <= {*parts.BY_RUN}
