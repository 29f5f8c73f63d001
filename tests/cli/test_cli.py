"""The command line as a user meets it: real processes, their output, their exit codes."""

import json
import os
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pandas as pd
import programs
import pytest
from waiting import PATIENCE_S

from azbenchlib.cli.printing.console import JSON_VERSION
from azbenchlib.core import schema

ROOT = Path(__file__).parents[2]
AZBENCH = Path(sys.executable).parent / "azbench"
LOCAL_DISKS = ROOT / "datasets" / "azure-local-disks-2020"
FIXTURE = next((ROOT / "tests" / "data" / "fio").glob("*.json"))


def azbench(*arguments: str | Path, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {"COLUMNS": "120", "NO_COLOR": "1", **environment}
    return programs.azbench(*arguments, cwd=cwd, env={**os.environ, **settings})


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one sentence of a refusal: exit code 2, nothing on stdout, no traceback."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == "" and "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith(("warning: ", "error: "))]
    assert line.startswith("azbench: ")
    return line.removeprefix("azbench: ")


def test_json_has_every_table_with_every_column_and_no_nan() -> None:
    done = azbench("read", LOCAL_DISKS, FIXTURE, "--format", "json")
    assert done.returncode == 0

    def no_constant(name: str) -> None:
        raise AssertionError(f"{name} in JSON")

    found = json.loads(done.stdout, parse_constant=no_constant)
    assert found.pop("version") == JSON_VERSION
    assert list(found) == list(schema.TABLES)
    for name, rows in found.items():
        assert all(list(row) == list(schema.TABLES[name].columns) for row in rows)
    assert len(found["percentiles"]) > 102 and {row["ddir"] for row in found["results"]} >= {"write"}
    (run,) = [row for row in found["runs"] if row["job"] == "000-E8as-temp-sync"]
    assert run["rate_iops"] is None and run["bs_bytes"] == 8192 and run["direct"] is True


def test_notes_go_to_stderr_only() -> None:
    done = azbench("read", LOCAL_DISKS, "--format", "json")
    json.loads(done.stdout)
    assert done.stderr.count("last status line, not the average of the run") == 1
    assert "The same of 5 more." in done.stderr


def test_the_same_file_has_the_same_run_ids_wherever_it_lies(tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "other.json"
    copy.parent.mkdir()
    copy.write_bytes(FIXTURE.read_bytes())
    ids = [
        {row["run_id"] for row in json.loads(azbench("read", path, "--format", "json").stdout)["runs"]}
        for path in (FIXTURE, copy, copy.parent)
    ]
    assert ids[0] and ids[0] == ids[1] == ids[2]


def test_a_table_for_people() -> None:
    done = azbench("read", LOCAL_DISKS)
    (nvme,) = [line.split() for line in done.stdout.splitlines() if line.startswith("000-L8sv2-nvme-async")]
    assert nvme[:4] == ["000-L8sv2-nvme-async", "L8s_v2,", "local", "NVMe"]
    assert nvme[4:] == ["randwrite", "write", "4", "KiB", "8,192", "261,000", "1,071", "–", "–"]


def test_csv_and_parquet(tmp_path: Path) -> None:
    printed = pd.read_csv(StringIO(azbench("read", LOCAL_DISKS, "--format", "csv").stdout))
    assert sorted(printed["iops"]) == [3499, 16300, 59200, 60100, 60600, 261000]
    done = azbench("read", LOCAL_DISKS, "--format", "parquet", "-o", tmp_path / "made")
    assert done.returncode == 0 and done.stdout == ""
    assert {path.stem for path in (tmp_path / "made").iterdir()} == set(schema.TABLES)
    assert len(pd.read_parquet(tmp_path / "made" / "percentiles.parquet")) == 102


def test_what_is_broken_gives_a_finding_and_the_good_jobs(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_bytes(FIXTURE.read_bytes()[: FIXTURE.stat().st_size * 2 // 3])
    (tmp_path / "noise.bin").write_bytes(bytes(range(256)))
    done = azbench("read", tmp_path, "--format", "json")
    assert done.returncode == 0 and "Traceback" not in done.stderr
    codes = {(Path(row["source_path"]).name, row["code"]) for row in json.loads(done.stdout)["findings"]}
    assert ("broken.json", "broken_json") in codes and ("noise.bin", "not_recognised") in codes


def test_nothing_of_a_known_format_is_exit_code_2_with_the_choices(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no benchmark")
    done = azbench("read", tmp_path / "notes.txt", "--format", "json")
    assert done.returncode == 2 and "notes.txt: no known format" in done.stderr
    assert "Known: fio JSON, fio terse, " in done.stderr
    assert json.loads(done.stdout)["findings"][0]["code"] == "not_recognised"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("read", "nowhere"), "no dataset 'nowhere': no such file or folder, and the known names are azure-"),
        (("read", "."), ".: the folder holds no file; benchmark outputs are needed, such as fio's JSON"),
        (
            ("read", FIXTURE, "--table", "x", "--format", "csv"),
            "--table: no table 'x'; there are: setups, disks",
        ),
        (("read", FIXTURE, "--format", "parquet"), "--format parquet needs a folder: add --output DIR"),
        (
            ("report", "nothing"),
            "no dataset 'nothing': no such file or folder, and the known names are azure-local",
        ),
        (("report", "."), ".: the folder holds no file; benchmark outputs are needed, such as fio's JSON"),
        (
            ("report", "ultra-disk-2018"),
            "'ultra-disk-2018': no such file or folder, and the nearest names are ultra-disk-2019",
        ),
        (("report", "no/where"), "no/where: no such file or folder"),
        (
            ("run", "-p", "nonsense=1"),
            "01_measure.ipynb has no parameter 'nonsense'; it has: file, target, quick, repeats, longest_s",
        ),
        (("run", "-p", "runtime_s=fast"), "01_measure.ipynb: parameter runtime_s must be int, not 'fast'"),
        (("run", "-p", "runtime_s"), "'runtime_s' is no parameter; write name=value"),
    ],
)
def test_refusals_are_one_sentence(arguments: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    assert sentence in refused(azbench(*arguments, cwd=tmp_path))
    assert not list(tmp_path.iterdir())


def test_an_unwritable_output_is_told_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    said = refused(azbench("report", LOCAL_DISKS, "-o", tmp_path / "file" / "out"))
    assert said.endswith("file/out: cannot be written: Not a directory")
    quiet = ROOT / "datasets" / "zone-redundant-disks-2022"
    assert "cannot be written" in refused(
        azbench("read", quiet, "--format", "csv", "-o", tmp_path / "file" / "x")
    )


@pytest.mark.fio
@pytest.mark.alone
@pytest.mark.usefixtures("own_disk")
def test_an_interrupted_run_says_how_to_go_on_and_leaves_no_data_file(tmp_path: Path) -> None:
    command = [
        AZBENCH,
        "run",
        "--target",
        "local",
        "-o",
        "ds",
        "-p",
        f"directory={tmp_path}",
        "-p",
        "size=16m",
        "-p",
        "runtime_s=2",
    ]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout and process.stderr
    while "randread" not in process.stdout.readline():  # the first workload is under way
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130 and "the same command goes on from there" in told
    assert [path.name for path in tmp_path.iterdir()] == ["ds"]


@pytest.mark.fio
@pytest.mark.alone
@pytest.mark.usefixtures("own_disk")
def test_a_notebook_whose_process_is_killed_is_told_in_a_sentence(tmp_path: Path) -> None:
    measure = [AZBENCH, "run", "--target", "local", "-o", "ds", "-p", f"directory={tmp_path}"]
    process = subprocess.Popen(
        [*measure, "-p", "size=16m", "-p", "runtime_s=10"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout and process.stderr
    while "randread" not in process.stdout.readline():
        assert process.poll() is None
    (kernel,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(kernel), signal.SIGKILL)
    _, told = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert told == "azbench: 01_measure.ipynb: the process that runs it was killed\n"


def test_a_notebook_whose_process_does_not_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "ipykernel_launcher.py").write_text("raise SystemExit('no kernel today')")
    said = refused(azbench("run", "-p", "size=4m", cwd=tmp_path, PYTHONPATH=str(tmp_path / "modules")))
    assert said == "01_measure.ipynb: the process that runs it did not start: no kernel today"


def test_an_unsafe_target_is_refused_in_words_whatever_the_process_says_at_its_end(tmp_path: Path) -> None:
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "sitecustomize.py").write_text(
        "import atexit, os, sys\nif '-f' in sys.orig_argv:\n    atexit.register(os.write, 2, b'Traceback')"
    )
    said = refused(
        azbench(
            *("run", "--target", "local", "-o", tmp_path / "ds"),
            *("-p", f"directory={tmp_path}", "-p", "size=900t"),
            PYTHONPATH=str(tmp_path / "modules"),
        )
    )
    assert f"permit it with the words 'fill {tmp_path}'" in said
    assert not (tmp_path / "ds").exists() or not list((tmp_path / "ds").iterdir())


def test_a_reader_of_a_pipe_may_leave_early() -> None:
    process = subprocess.Popen(
        [AZBENCH, "read", LOCAL_DISKS, "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout and process.stderr
    process.stdout.read(10)
    process.stdout.close()
    assert b"Traceback" not in process.stderr.read()
    process.wait()


def test_version_and_help() -> None:
    assert azbench("--version").stdout.startswith("azbench 0.")
    assert all(verb in azbench("--help").stdout for verb in ("read", "run", "report", "doctor"))
