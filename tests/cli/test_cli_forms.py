"""What all verbs have alike: an example in the help, and JSON with a version."""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from programs import azbench
from typer.testing import CliRunner

from azbenchlib.cli import app
from azbenchlib.cli.options.examples import EXAMPLES
from azbenchlib.cli.printing.console import JSON_VERSION

ROOT = Path(__file__).parents[2]
FIO = ROOT / "tests" / "data" / "fio"
# they measure, serve, fetch or open something
NO_RESULT = {"schema", "run", "learn", "lab start", "lab watch", "lab mount", "catalog refresh"}


def verbs(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
    for word, verb in (inner or {}).items():
        yield from verbs(verb, f"{name} {word}".strip())


VERBS = dict(verbs(typer.main.get_command(app)))


def test_every_verb_has_an_example_in_its_help() -> None:
    assert set(EXAMPLES) == set(VERBS)
    for name in ("compare", "lab run"):
        told = CliRunner().invoke(app, [*name.split(), "-h"], env={"COLUMNS": "100", "NO_COLOR": "1"})
        assert f"Example: {EXAMPLES[name]}" in told.stdout


@pytest.mark.parametrize("name", VERBS)
def test_every_example_is_understood(name: str) -> None:
    program, *words = shlex.split(EXAMPLES[name])
    assert program == "azbench" and words[: len(name.split())] == name.split()
    VERBS[name].make_context(name, words[len(name.split()) :])


def test_every_verb_that_has_a_result_has_json() -> None:
    for name, command in VERBS.items():
        forms = [one for one in command.params if "--format" in one.opts]
        assert name in NO_RESULT or "json" in (forms[0].metavar or forms[0].type.choices), name


@pytest.mark.parametrize(
    ("words", "has"),
    [
        (["read", FIO / "randrw.json"], "runs"),
        (["verdict", FIO / "randrw.json"], "verdicts"),
        (["report", FIO / "randrw.json"], "setups"),
        (["import", FIO / "randrw.json", "--name", "mine"], "dataset"),
        (["plan", ROOT / "campaigns" / "ultra-disk.yaml"], "lines"),
        (["doctor"], "checks"),
        (["limits", "--disk", "P30"], "ceilings"),
        (["catalog", "show", "P30"], "name"),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_json_is_one_object_that_begins_with_its_version(
    words: list[object], has: str, tmp_path: Path
) -> None:
    done = azbench(*words, "--format", "json", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert next(iter(found.items())) == ("version", JSON_VERSION)
    assert has in found, done.stderr


def test_the_json_of_a_report_has_the_figures_of_its_cards(tmp_path: Path) -> None:
    done = azbench("report", FIO / "randrw.json", "--format", "json", cwd=tmp_path)
    (job,) = json.loads((FIO / "randrw.json").read_text())["jobs"]
    (setup,) = json.loads(done.stdout)["setups"]
    assert setup["iops"] == pytest.approx(job["read"]["iops"] + job["write"]["iops"], rel=1e-4)
    reads, writes = setup["latency"]
    assert reads["percentiles_us"]["p99"] * 1000 == job["read"]["clat_ns"]["percentile"]["99.000000"]
    assert writes["workload"].endswith("writes")
    assert not list(tmp_path.iterdir())
