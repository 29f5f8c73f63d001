"""What is told before, during and after a campaign: the plan, the status, and the schema of the file."""

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml
from test_run_loop import Shelf
from typer.testing import CliRunner

from azbenchlib.campaign import experiment, journal, lock, measure
from azbenchlib.campaign import status as campaign_status
from azbenchlib.campaign.files import file_schema, measurement_file, yaml_file
from azbenchlib.campaign.journal import Journal, JournalEvent
from azbenchlib.cli import app
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.core.units import GIB

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "campaigns").glob("*.yaml"))
FILE = """\
title: A matrix
region: westeurope
vm: Standard_D4as_v5
zone: 1
repeats: 2
rest: 60
disks:
  data: {sku: Premium_LRS, size: 1024GiB}
workloads:
  deep: {rw: [randread, randwrite], bs: 4k, iodepth: 64, size: 1g, runtime: 30}
"""


def plan(path: Path) -> dict:
    answer = CliRunner().invoke(app, ["plan", str(path), "--format", "json"])
    assert answer.exit_code == 0, answer.output
    return json.loads(answer.stdout)


def test_the_plan_tells_time_bytes_money_and_limits(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(FILE)
    found = plan(path)
    assert found["seconds"] == 2 * 2 * 30 + 60
    assert [(run["workload"], run["repeat"]) for run in found["runs"]] == [
        (name.rpartition("-r")[0], int(name.rpartition("-r")[2]))
        for name in (task.workload.name for task in measurement_file.load(path).setups[0].tasks)
    ]
    write = next(run for run in found["runs"] if run["workload"] == "deep-randwrite")
    assert write["limits"] == ["disk_iops"] and write["iops"] == 5000  # of a P30
    assert write["written_bytes"] == 5000 * 4096 * 30
    assert found["written_bytes"] == GIB + 2 * 5000 * 4096 * 30 and found["laid_out_bytes"] == GIB
    assert found["azure"]["seconds"] > found["seconds"] and found["azure"]["currency"] == "USD"
    assert 0 < found["azure"]["cost"] < 5
    assert found["lines"] and found["seed"] == measurement_file.load(path).seed


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
@pytest.mark.sampled(2)
def test_every_shipped_file_has_a_plan_and_fits_the_schema(path: Path) -> None:
    found = plan(path)
    known = [run for run in found["runs"] if run["certain"]]
    assert found["runs"] and all(run["limits"] for run in known if run["disk"] != "nvme")
    assert all(run["iops"] < 1e6 for run in known if run["limits"])
    jsonschema.validate(numbers(yaml_file.read(path).content), file_schema.document())


def numbers(value: object) -> object:
    """Plain text as an editor takes it: numbers and truth values where they look so."""
    if isinstance(value, dict):
        return {key: numbers(one) for key, one in value.items()}
    if isinstance(value, list):
        return [numbers(one) for one in value]
    text = str(value)
    if re.fullmatch(r"[0-9]+", text):
        return int(text)
    return {"true": True, "false": False}.get(text, text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("repeats: 2", "repeets: 2"),
        ("repeats: 2", "repeats: often"),
        ("Premium_LRS", "Premium"),
        ("bs: 4k", "blocks: 4k"),
        ("randwrite]", "sideways]"),
        ("runtime: 30", "exclude: [{size: 1g}], runtime: 30"),
        ("title: A matrix\n", ""),
        ("rest: 60", "rest: -1"),
    ],
)
@pytest.mark.sampled(2)
def test_the_schema_refuses_what_the_reader_refuses(tmp_path: Path, old: str, new: str) -> None:
    jsonschema.validate(numbers(yaml.safe_load(FILE)), file_schema.document())
    wrong = FILE.replace(old, new)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(numbers(yaml.safe_load(wrong)), file_schema.document())
    (tmp_path / "file.yaml").write_text(wrong)
    with pytest.raises(InputError):
        measurement_file.load(tmp_path / "file.yaml")


def test_the_schema_is_a_schema_and_can_be_written(tmp_path: Path) -> None:
    assert CliRunner().invoke(app, ["schema", "-o", str(tmp_path / "s.json")]).exit_code == 0
    written = json.loads((tmp_path / "s.json").read_text())
    assert written == json.loads(CliRunner().invoke(app, ["schema"]).stdout)
    jsonschema.Draft202012Validator.check_schema(written)


def test_the_status_of_a_finished_and_a_failed_campaign(tmp_path: Path) -> None:
    with pytest.raises(AzbenchError):
        measure(Shelf(["a", "b", "c"], fails="b"), tmp_path / "ds", design="Once.")
    found = campaign_status.of(tmp_path / "ds")
    assert (found.state, found.done, found.total, found.next) == ("stopped", 1, 3, "b")
    assert "no such thing" in found.failed[0] and found.left_s > 0
    assert found.latest.startswith("a: ") and found.design == "Once."
    measure(Shelf(["a", "b", "c"]), tmp_path / "ds")
    found = campaign_status.of(tmp_path / "ds")
    assert (found.state, found.done, found.failed, found.left_s) == ("finished", 3, (), 0)


def test_the_status_while_it_runs(tmp_path: Path) -> None:
    seen = []

    def look(done: int, total: int, text: str) -> None:
        if len(seen) < 2 and (tmp_path / "ds" / journal.JOURNAL_FILE).exists():
            code = "import sys; from azbenchlib.cli import main; main()"
            answer = subprocess.run(
                [sys.executable, "-c", code, "status", tmp_path / "ds", "--format", "json"],
                capture_output=True,
                check=True,
            )
            seen.append(json.loads(answer.stdout))

    measure(Shelf(["a", "b"]), tmp_path / "ds", progress=look)
    assert [(one["state"], one["done"]) for one in seen] == [("running", 0), ("running", 1)]
    assert not lock.is_held(tmp_path / "ds")


def test_a_run_in_hand_is_told(tmp_path: Path) -> None:
    mine = Journal(tmp_path)
    runs = [{"run": name, "title": name.upper(), "expected_s": 10} for name in "abc"]
    mine.add(JournalEvent.PLANNED, runs=runs, design="")
    mine.add(JournalEvent.BEGUN, run="a")
    found = campaign_status.of(tmp_path)
    assert (found.state, found.now, found.next, found.left_s) == ("stopped", "A", "B", 30)
    with lock.held(tmp_path):
        assert campaign_status.of(tmp_path).state == "running"


def test_a_folder_without_a_campaign_is_refused(tmp_path: Path) -> None:
    answer = CliRunner().invoke(app, ["status", str(tmp_path)])
    assert isinstance(answer.exception, InputError)
    assert str(answer.exception).startswith(f"{tmp_path}: no campaign was begun in it")


def test_a_budget_of_time_below_the_plan_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(FILE + "max_hours: 0.02\n")

    def planned() -> None:
        CliRunner().invoke(app, ["plan", str(path)], catch_exceptions=False)

    said = r"file.yaml:11: max_hours 0.02: the runs and rests alone last 3\u00a0min; allow at least 0.05"
    for refusing in (lambda: experiment.run(experiment.load(path), tmp_path / "ds", target="lab"), planned):
        with pytest.raises(InputError, match=said):
            refusing()
    path.write_text(FILE + "max_hours: 0.06\n")
    planned()
    with pytest.raises(InputError, match=r"max_hours 0\.0001: what is still to be measured takes "):
        experiment.run(experiment.load(path), tmp_path / "ds", target="lab", max_hours=0.0001)
    assert not (tmp_path / "ds" / "raw").exists()


def test_a_budget_of_money_is_for_azure(tmp_path: Path) -> None:
    """A file may hold one for Azure and be measured elsewhere; asked for elsewhere, it is refused."""
    path = tmp_path / "file.yaml"
    path.write_text(FILE + "max_cost: 5\n")
    said = (
        r"max_cost 7: a price is known for the target azure alone, and this is (lab|ssh:there|local); leave"
    )
    for target in ("lab", "ssh:there", "local"):
        with pytest.raises(InputError, match=said):
            experiment.run(experiment.load(path), tmp_path / "ds", target=target, max_cost=7)
    answer = CliRunner().invoke(app, ["run", str(path), "-o", str(tmp_path / "ds"), "--max-cost", "7"])
    assert isinstance(answer.exception, InputError) and not (tmp_path / "ds").exists()
    assert measurement_file.load(path).max_cost == 5


def test_a_zone_that_azure_refuses_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(FILE)
    assert measurement_file.line_of(path, ("setups", "setup", "zone")) == f"{path}:4: "


def test_when_time_is_over_the_rest_is_left_out(tmp_path: Path) -> None:
    class Slow(Shelf):
        def measure(self, run, one, part) -> tuple[int, str]:
            run.begun -= 3600  # an hour later
            return super().measure(run, one, part)

        def expected_s(self, run, one) -> float:
            return 1.0

    folder = measure(Slow(["a", "b", "c"]), tmp_path / "ds", max_hours=0.9)
    assert Journal(folder).kept().keys() == {"shelf/a"}
    out = [event["why"] for event in Journal(folder).events() if event["event"] == "left out"]
    assert out == ["max_hours 0.9 leaves no time for it"] * 2
