"""Telemetry beside runs is in the lake; every table can be written; what fails costs no other output."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from many_runs import write_runs

from azbenchlib import Dataset, Lake
from azbenchlib.core import schema
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.lake import parts
from azbenchlib.lake.place import Folder

DATA = Path(__file__).parents[1] / "data"
TELEMETRY = (
    *("sysstat/extended.txt", "sysstat/extended.json", "sysstat/plain.txt", "sysstat/sar.txt"),
    *("sysstat/sadf.txt", "perfmon/typeperf.csv", "azure_monitor/two_disks.json"),
    "blkparse/three_seconds.txt",
)
OF_TYPE: dict[str, Any] = {schema.TEXT: "text", schema.INT: 1, schema.FLOAT: 2.5, schema.BOOL: True}


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A folder with outputs of fio, and telemetry of each kind beside them."""
    home = tmp_path / "outputs"
    write_runs(home, 3)
    for name in TELEMETRY:
        shutil.copy(DATA / name, home / f"{Path(name).parent.name}-{Path(name).name}")
    return home


def stored(lake: Lake) -> set[Path]:
    return {path for path in Path(lake.address).rglob("*") if path.is_file()}


def test_telemetry_beside_runs_is_in_the_lake(beside: Path, tmp_path: Path) -> None:
    lake, whole = Lake(tmp_path / "lake"), Dataset.read(beside)
    found = lake.collect(beside, setup_id="vm")
    assert found.runs == len(whole.runs) and found.telemetry_rows == len(whole.tables["demand"]) > 15
    told, keys = lake.query("FROM demand"), list(schema.TABLES["demand"].key)
    pd.testing.assert_frame_equal(
        told[list(whole.tables["demand"])].sort_values(keys, ignore_index=True),
        whole.tables["demand"].sort_values(keys, ignore_index=True),
    )
    assert set(told["setup_id"]) == {"vm"}
    dated = told[told["clock"] != "elapsed"]
    assert (
        dated["day"] == pd.to_datetime(dated["t_s"].astype(float), unit="s").dt.strftime("%Y-%m-%d")
    ).all()
    assert told.loc[told["clock"] == "elapsed", "day"].isna().all() and (told["clock"] == "elapsed").any()
    assert len(lake.query("FROM runs")) == len(whole.runs)


def test_telemetry_that_is_collected_again_changes_nothing(beside: Path, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    lake.collect(beside)
    before = stored(lake)
    again = lake.collect(beside)
    assert (again.outputs, again.runs, again.telemetry_rows) == (0, 0, 0)
    assert again.there_already == len(list(beside.iterdir()))
    assert stored(lake) == before


def test_telemetry_alone_is_a_lake(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    found = lake.collect(DATA / "sysstat" / "sar.txt")
    assert (found.outputs, found.runs) == (1, 0) and found.telemetry_rows > 0
    assert lake.query("SELECT count(*) AS n FROM demand")["n"].tolist() == [found.telemetry_rows]


def test_telemetry_of_two_collectors_at_once_counts_once(tmp_path: Path) -> None:
    lakes = [Lake(tmp_path / name) for name in ("one", "other", "both")]
    lakes[0].collect(DATA / "sysstat" / "sar.txt", setup_id="vm")
    lakes[1].collect(DATA / "sysstat" / "sar.txt", DATA / "sysstat" / "sadf.txt", setup_id="other")
    for lake in lakes[:2]:
        shutil.copytree(lake.address, lakes[2].address, dirs_exist_ok=True)
    assert len(lakes[2].query("FROM demand")) == len(lakes[1].query("FROM demand"))


def test_telemetry_of_a_dataset_has_its_setup(tmp_path: Path) -> None:
    home = tmp_path / "mine"
    write_runs(home / "raw", 1)
    shutil.copy(DATA / "sysstat" / "sar.txt", home / "raw")
    (home / "manifest.json").write_text(
        '{"name": "mine", "title": "Mine", "about": "", "measured": "2026-11-20", "tools": {}, "raw": {}, '
        '"setups": [{"setup_id": "vm", "environment": "other", "disks": []}]}'
    )
    lake = Lake(tmp_path / "lake")
    lake.collect(home)
    for table in ("runs", "demand"):
        assert set(lake.query(f"FROM {table}")["setup_id"]) == {"mine/vm"}


@pytest.mark.parametrize("table", schema.TABLES)
@pytest.mark.parametrize("dated", [False, True], ids=["", "dated"])
@pytest.mark.sampled(8)
def test_each_table_can_be_written_and_queried(table: str, dated: bool, tmp_path: Path) -> None:
    """Any table of the schema, without a word of it in the lake's own code."""
    columns = schema.TABLES[table].columns
    row = {name: (one.choices or [OF_TYPE[one.dtype]])[0] for name, one in columns.items()}
    divided = {"day": "2026-11-20", "setup_id": "vm"} if dated else {}
    tables = {name: schema.frame(name, [row if name == table else {}]) for name in {"runs", table}}
    for name, rows in tables.items():
        more = {key: value for key, value in divided.items() if key in {*parts.DIVIDED_BY[name]} - {*rows}}
        tables[name] = rows.assign(**more, **({"counted": True} if name in parts.WITH_COUNTED else {}))
    place = Folder(str(tmp_path / "lake"))
    parts.found_lake(place)
    parts.write_part(place, tables, ["1"])
    told = Lake(tmp_path / "lake").query(f"FROM {table}")
    assert told[list(columns)].astype(object).iloc[0].to_dict() == row
    for name in parts.DIVIDED_BY[table]:
        stated = row.get(name) or divided.get(name)
        assert told[name][0] == stated if stated else told[name].isna().all()


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """A reader, or what recognises a format, with a fault that shows in files of one name."""

    def plant(module: Any, name: str, at: str) -> None:
        sound = getattr(module, name)

        def faulty(*arguments: Any, **settings: Any) -> Any:
            source = next(one for one in arguments if isinstance(one, Source))
            if Path(source.path).name == at:
                raise TypeError("a fault of a reader")
            return sound(*arguments, **settings)

        monkeypatch.setattr(module, name, faulty)

    return plant


@pytest.mark.parametrize("with_log", [False, True], ids=["alone", "beside logs"])
@pytest.mark.parametrize("where", [(registry, "records_as"), (registry, "recognise")], ids=["read", "looked"])
@pytest.mark.sampled(2)
def test_an_output_on_which_a_reader_fails_costs_no_other(
    where: tuple[Any, str], with_log: bool, tmp_path: Path, failing: Callable[..., None]
) -> None:
    home = tmp_path / "outputs"
    outputs = write_runs(home, 7)
    if with_log:
        (home / f"{outputs[0].stem}_bw.1.log").write_text("100, 5, 0, 4096, 0\n")
    failing(*where, outputs[3].name)
    lake = Lake(tmp_path / "lake")
    found = lake.collect(home)
    assert found.runs == found.outputs == 6 + with_log
    (told,) = found.findings["message"][found.findings["severity"] == "error"]
    assert told.startswith(f"{outputs[3]}: not read: ") and "TypeError: a fault of a reader" in told
    assert len(lake.query("FROM runs")) == 6 + with_log
    assert len(lake.query("SELECT DISTINCT run_id FROM samples")) == int(with_log)


def test_a_dataset_that_cannot_be_written_costs_no_other_output(tmp_path: Path) -> None:
    """Its setup has a name that no folder can have."""
    (output,) = write_runs(tmp_path / "outputs", 1)
    home = tmp_path / "mine"
    shutil.copytree(tmp_path / "outputs", home / "raw")
    (home / "raw" / output.name).write_text(output.read_text().replace("1", "2", 1))
    (home / "manifest.json").write_text(
        '{"name": "mine", "title": "Mine", "about": "", "measured": "2026-11-20", "tools": {}, "raw": {}, '
        f'"setups": [{{"setup_id": "{"x" * 300}", "environment": "other", "disks": []}}]}}'
    )
    lake = Lake(tmp_path / "lake")
    found = lake.collect(output, home)
    assert found.runs == 1
    assert "too long for the name of a folder" in found.findings["message"].iloc[-1]
