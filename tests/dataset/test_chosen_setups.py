"""``DATASET/SETUP``: one setup of a dataset, wherever a dataset can be named."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

import azbenchlib as az
from azbenchlib.cli import app
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.names import chosen_setups, parted

SHIPPED = "azure-local-disks-2020"
TEMP, NVME = "E8ds_v4-temp", "L8s_v2-nvme"
FOLDER = Path(__file__).parents[2] / "datasets" / SHIPPED


@pytest.mark.parametrize("name", [f"{SHIPPED}/{TEMP}", f"{SHIPPED}:{TEMP}", f"{FOLDER}/{TEMP}"])
def test_every_table_has_what_belongs_to_the_setup(name: str) -> None:
    whole, some = Dataset.load(SHIPPED), Dataset.load(name)
    runs = whole.runs[whole.runs["setup_id"] == TEMP]
    assert 0 < len(runs) < len(whole.runs) and some.runs["run_id"].tolist() == runs["run_id"].tolist()
    assert some.setups["setup_id"].tolist() == [TEMP] == list(some.disks["setup_id"].unique())
    assert some.manifest is not None and [setup.setup_id for setup in some.manifest.setups] == [TEMP]
    for table in ("results", "latency", "percentiles", "published", "findings"):
        of_runs = whole.tables[table]
        of_runs = of_runs[of_runs["run_id"].isin(set(runs["run_id"]))]
        assert some.tables[table].dropna(subset="run_id")["run_id"].tolist() == of_runs["run_id"].tolist()


def test_setups_of_one_dataset_are_one_dataset_and_the_whole_has_them_all() -> None:
    (both,) = Dataset.load_each([f"{SHIPPED}/{TEMP}", f"{SHIPPED}:{NVME}"])
    assert set(both.setups["setup_id"]) == {TEMP, NVME} and both.chosen == (TEMP, NVME)
    (whole,) = Dataset.load_each([f"{SHIPPED}/{TEMP}", SHIPPED])
    assert len(whole.setups) > 2 and whole.chosen == ()
    assert set(Dataset.read(f"{SHIPPED}/{TEMP}", f"{SHIPPED}/{NVME}").setups["setup_id"]) == {TEMP, NVME}


def test_what_is_there_by_its_whole_name_is_no_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    odd = tmp_path / SHIPPED / TEMP
    odd.parent.mkdir()
    odd.write_text("")
    assert parted(f"{SHIPPED}/{TEMP}") == (f"{SHIPPED}/{TEMP}", None)
    odd.unlink()
    assert parted(f"{SHIPPED}/{TEMP}") == (SHIPPED, TEMP)
    assert chosen_setups(["-"]) == (["-"], {})
    assert parted(f"{tmp_path}/typo.json") == (f"{tmp_path}/typo.json", None)
    assert parted(f"{tmp_path}/setup", os.path.lexists) == (str(tmp_path), "setup")


def test_a_setup_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(InputError, match=rf"no setup 'E8ds_v4-'; there are: .*{TEMP}"):
        az.read(f"{SHIPPED}/E8ds_v4-")
    with pytest.raises(InputError, match="no such file or folder"):
        az.read("tests/data/fio/no.json")


RUNS = {"000-E8ds-temp-sync", "000-E8ds-temp-async"}
PRINTED = {"000-capacity-E8ds"}  # a figure that was published, of no I/O
NAMES: dict[str, tuple[str, str, set[str]]] = {  # where a verb's JSON names what it is about
    "verdict": ("verdicts", "id", RUNS),
    "read": ("runs", "job", RUNS | PRINTED),
    "report": ("setups", "setup", {"8 KiB, QD 1", "8 KiB, QD 1,024"}),
}


@pytest.mark.parametrize("verb", NAMES)
def test_verbs_take_one_setup(verb: str) -> None:
    ran = CliRunner().invoke(app, [verb, f"{SHIPPED}/{TEMP}", "--format", "json"])
    assert ran.exit_code == 0, ran.exception
    table, name, names = NAMES[verb]
    assert {row[name].replace("\xa0", " ") for row in json.loads(ran.stdout)[table]} == names


@pytest.mark.slow
@pytest.mark.long
def test_a_report_is_of_the_chosen_setups(tmp_path: Path) -> None:
    written = az.write_report(f"{SHIPPED}/{TEMP}", f"{SHIPPED}:{NVME}", folder=tmp_path)
    page = written.html.read_text()
    assert "E8ds_v4, temp disk" in page and "L8s_v2, local NVMe" in page and "E8as_v4" not in page
