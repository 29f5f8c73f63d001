"""`azbench compare` as a user meets it: exit codes, files for CI, refusals, real runs of fio."""

import json
import random
import shutil
import subprocess
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import drained
import pytest
import typer
from compared_runs import fio_outputs
from measuring import Measurement
from programs import azbench
from typer.testing import CliRunner

from azbenchlib.cli.compare import compare
from azbenchlib.core.errors import InputError
from azbenchlib.dataset import compared
from azbenchlib.dataset.compared import load_side

FIO = shutil.which("fio")
HOST_CACHE = "iozone-host-cache-2012"
read_once = cache(load_side)
app = typer.Typer()
app.command()(compare)


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("sides")
    return {
        "old": fio_outputs(folder / "old", [1000, 1004, 998, 1001, 997]),
        "same": fio_outputs(folder / "same", [1001, 999, 1003, 996, 1002]),
        "low": fio_outputs(folder / "low", [800, 803, 799, 801, 797], version="fio-3.41"),
        "one": fio_outputs(folder / "one", [990]),
    }


CODES = [
    ("same", [], 0),
    ("low", [], 1),
    ("one", [], 3),
    ("same", ["--fail-if", "p99 >> 10"], 2),
    ("low", ["--margin", "25%"], 0),
    ("one", ["--undecided", "ok"], 0),
    ("low", ["--undecided", "ok"], 1),
    ("low", ["--fail-if", "iops < -10%"], 1),
    ("low", ["--fail-if", "iops < -30%"], 0),
    ("low", ["--fail-if", "iops < -30%", "--margin", "5%"], 1),
    ("same", ["--fail-if", "p99 > +10%"], 3),
    ("same", ["--margin", "5 apples"], 2),
    ("same", ["--metric", "speed"], 2),
    ("same", ["--confidence", "100%"], 2),
    ("old", [], 2),
]


@pytest.mark.parametrize(("new", "options", "code"), CODES[:4])
def test_exit_codes(sides: dict[str, Path], new: str, options: list[str], code: int) -> None:
    done = azbench("compare", sides["old"], sides[new], *options)
    assert done.returncode == code, done.stdout + done.stderr
    if code == 2:
        assert done.stdout == "" and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr
    else:
        assert done.stdout.startswith({0: "Not worse: ", 1: "Worse: ", 3: "Undecided: "}[code])


@pytest.mark.parametrize(("new", "options", "code"), CODES[4:])
@pytest.mark.sampled(4)
def test_exit_codes_with_options(
    sides: dict[str, Path], new: str, options: list[str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, where an error is still one of the library; each side is read once for all of them."""
    monkeypatch.setattr(compared, "load_side", read_once)
    done = CliRunner().invoke(app, [str(sides["old"]), str(sides[new]), *options])
    assert (2 if isinstance(done.exception, InputError) else done.exit_code) == code, done.output


def test_what_is_better_passes_and_says_so(sides: dict[str, Path]) -> None:
    done = CliRunner().invoke(app, [str(sides["low"]), str(sides["old"])])
    assert done.exit_code == 0 and done.output.startswith("Better: 4 KiB random reads, QD 8: IOPS ×1.25")


def test_all_formats_say_the_same(sides: dict[str, Path], tmp_path: Path) -> None:
    command = [str(sides["old"]), str(sides["low"]), "--metric", "iops"]
    text, as_json, markdown = (
        CliRunner().invoke(app, [*command, "--format", form]).stdout for form in ("text", "json", "markdown")
    )
    found = json.loads(as_json)
    assert found["version"] == 1 and found["exit_code"] == 1 and found["sentence"] == text.splitlines()[0]
    assert found["pairs"][0]["differences"][0] == {
        "fact": "tool version", "old": "fio-3.36", "new": "fio-3.41",
    }  # fmt: skip
    assert "Differs: tool version: fio-3.36 and fio-3.41." in text
    assert markdown.startswith("### Disk benchmark") and "❌ worse" in markdown
    file = tmp_path / "deep" / "junit.xml"
    done = azbench("compare", *command, "--format", "junit", "-o", file)
    assert done.returncode == 1 and done.stdout == "" and str(file) in done.stderr
    root = ET.parse(file).getroot()  # noqa: S314  our own
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("1", "1", "0")
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None and "×0.800" in failure.get("message", "")


def test_settings_of_one_dataset_are_compared_by_their_names() -> None:
    """The host cache of 2012: one run a cell, so nothing is decided, and the ratios are there."""
    names = [f"{HOST_CACHE}/data-none", f"{HOST_CACHE}/data-readwrite"]
    done = CliRunner().invoke(app, [*names, "--format", "json"])
    assert done.exit_code == 3
    found = json.loads(done.stdout)
    assert found["version"] == 1
    (pair,) = found["pairs"]
    assert pair["differences"] == [{"fact": "host caching", "old": "None", "new": "ReadWrite"}]
    assert len(pair["figures"]) == 169 and {one["answer"] for one in pair["figures"]} == {"undecided"}
    assert all(one["old"]["runs"] and one["ratio"] > 0 for one in pair["figures"])
    with pytest.raises(InputError, match=r"no setup 'none'.*data-none"):
        load_side(f"{HOST_CACHE}:none")


def test_a_burst_within_a_run_is_told_and_the_log_gives_an_interval(tmp_path: Path) -> None:
    rng = random.Random(1)  # noqa: S311
    names = []
    for name, seconds in (("short", 30), ("long", 40)):
        lines = [(t + 1.0, (3500 if t < 20 else 700) + rng.uniform(-9, 9)) for t in range(seconds)]
        names.append(str(drained.dataset(tmp_path / name, lines)))
    done = CliRunner().invoke(app, [*names, "--metric", "iops"])
    assert done.exit_code == 3
    assert f"In 1 run of {names[0]} the rate had phases" in done.output
    assert "[" in done.output and "Differs: requested run time: 30 s and 40 s." in done.output


@pytest.mark.fio
@pytest.mark.skipif(FIO is None, reason="fio is not installed")
@pytest.mark.alone
def test_real_runs_of_which_one_side_thinks_more_often(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(
        "[j]\nrw=randread\nbs=4k\niodepth=1\nioengine=psync\nsize=4m\ntime_based\nruntime=100ms\n"
        "filename=t.dat\nthinktime=2ms\n"
    )

    def measure() -> subprocess.CompletedProcess[str]:
        for i in range(4):
            for name, blocks in (("old", 10), ("new", 1)):
                (tmp_path / name).mkdir(exist_ok=True)
                command = [FIO, "job.fio", "--output-format=json+", f"--thinktime_blocks={blocks}"]
                command.append(f"--output={name}/{i}.json")
                subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        return azbench("compare", "old", "new", "--metric", "iops", cwd=tmp_path)

    def holds(done: subprocess.CompletedProcess[str]) -> None:
        assert done.returncode == 1 and done.stdout.startswith("Worse: "), done.stdout

    Measurement(measure).check(holds)
