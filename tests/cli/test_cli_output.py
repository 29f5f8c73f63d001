"""What the command line says of bad files and bad outputs, and which exit code it ends with."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from programs import azbench

ROOT = Path(__file__).parents[2]
AZBENCH = Path(sys.executable).parent / "azbench"
FIO = ROOT / "tests" / "data" / "fio"
GOOD = FIO / "randrw.json"
SETUP = ("--vm", "Standard_E8ds_v5", "--disk", "P30")


def in_shell(command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "AZBENCH": str(AZBENCH), "GOOD": str(GOOD)}
    return subprocess.run(
        ["/bin/bash", "-c", command], capture_output=True, text=True, check=False, env=environment
    )


VERBS = [  # one for each way to print: a table, JSON, CSV, a card, lines, typer's own help
    "read $GOOD",
    "limits --vm Standard_E8ds_v5 --disk P30 --format json",
    "read $GOOD --format csv",
    "verdict $GOOD --vm Standard_E8ds_v5 --disk P30",
    "--version",
    "--help",
]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("where", "why"), [(">/dev/full", "No space left on device"), (">&-", "Bad file")])
@pytest.mark.sampled(4)
def test_an_output_that_takes_nothing_is_told_in_one_sentence(verb, where, why):
    done = in_shell(f"$AZBENCH {verb} {where}")
    said = [line for line in done.stderr.splitlines() if line.startswith("azbench: ")]
    assert done.returncode == 2, done.stderr
    assert len(said) == 1 and said[0].startswith("azbench: standard output cannot be written: ")
    assert why in said[0] and "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.sampled(3)
def test_a_pipe_that_nobody_reads_is_left_quietly(verb):
    done = in_shell(f"set -o pipefail; ($AZBENCH {verb} 2>&3 | true) 3>&2")
    assert done.returncode == 0 and "azbench: " not in done.stderr and "rror" not in done.stderr


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-"])
def test_the_result_is_there_where_nobody_takes_the_notes(where):
    done = in_shell(f"$AZBENCH read $GOOD --format json {where}")
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert json.loads(done.stdout)["runs"]


def damaged(folder: Path) -> list[Path]:
    """Files of which nothing can be read, for several reasons."""
    files = {
        "cut.json": GOOD.read_bytes()[:400],
        "notes.txt": b"no benchmark",
        "only_global.fio": b"[global]\nioengine=libaio\nbs=4k\n",
        "empty_bw.1.log": b"",
    }
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files]


@pytest.mark.parametrize("format_", ["table", "json", "csv"])
def test_where_nothing_can_be_read_each_file_is_named_and_it_is_exit_code_2(tmp_path, format_):
    files = damaged(tmp_path)
    done = azbench("read", tmp_path, "--format", format_)
    assert done.returncode == 2
    assert all(str(file) in done.stderr for file in files)
    assert "Traceback" not in done.stderr and (format_ != "table" or not done.stdout)
    for file in files if format_ == "table" else ():
        assert azbench("read", file).returncode == 2


def test_where_something_is_read_the_bad_files_are_named_and_only_a_damaged_output_is_exit_code_2(tmp_path):
    """Notes and job files may lie among outputs; an output that was cut off is a loss."""
    files = damaged(tmp_path)
    shutil.copy(GOOD, tmp_path / "good.json")
    done = azbench("read", tmp_path)
    assert done.returncode == 2 and "mix" in done.stdout
    assert all(str(file) in done.stderr for file in files[:3])
    files[0].unlink()
    done = azbench("read", tmp_path)
    assert done.returncode == 0 and "mix" in done.stdout and str(files[1]) in done.stderr


def test_other_verbs_name_the_bad_files_too(tmp_path):
    files = damaged(tmp_path)
    alone = azbench("verdict", tmp_path, *SETUP)
    assert alone.returncode == 2 and all(str(file) in alone.stderr for file in files[:3])
    asked = azbench("advise", "--from", tmp_path, "--region", "westeurope")
    assert asked.returncode == 2 and all(str(file) in asked.stderr for file in files[:3])
    shutil.copy(GOOD, tmp_path / "good.json")
    beside = azbench("verdict", tmp_path, *SETUP)
    assert beside.returncode == 2 and all(str(file) in beside.stderr for file in files[:3])
    files[0].unlink()
    assert azbench("verdict", tmp_path, *SETUP).returncode == 0


def test_a_report_names_the_bad_files_of_its_datasets(tmp_path):
    folder = tmp_path / "made"
    shutil.copytree(ROOT / "datasets" / "azure-local-disks-2020", folder)
    for raw in (folder / "raw").iterdir():
        raw.unlink()
    (folder / "raw" / "cut.json").write_bytes(GOOD.read_bytes()[:400])
    done = azbench("report", folder, "-o", tmp_path / "out")
    assert done.returncode == 2 and "raw/cut.json: document 1 is broken" in done.stderr
    assert not (tmp_path / "out" / "report.html").exists()


def test_equal_sentences_on_many_files_are_told_once(tmp_path):
    for place in range(300):
        (tmp_path / f"broken{place:03}.json").write_bytes(GOOD.read_bytes()[: 1400 + place])
        (tmp_path / f"photo{place:03}.jpg").write_bytes(b"%d" % place)
    shutil.copy(GOOD, tmp_path / "good.json")
    done = azbench("read", tmp_path)
    lines = done.stderr.splitlines()
    assert len(lines) < 30
    (unknown,) = [line for line in lines if "no known format" in line]
    assert "The same of 299 more files." in unknown and "photo000.jpg" in unknown


def test_a_warning_of_jobs_of_many_names_is_told_once(tmp_path):
    """A file a workload, each with a job of its own name."""
    for name in ("reads", "writes: all of them", "it's mixed"):
        output = json.loads(GOOD.read_text())
        output["jobs"] = [output["jobs"][0] | {"jobname": name}]
        (tmp_path / f"{name[:3]}.json").write_text(json.dumps(output))
    lines = [line for line in azbench("read", tmp_path).stderr.splitlines() if "what sets in later" in line]
    assert len(lines) == 1 and "The same of 2 more files." in lines[0]


def test_errors_name_their_files_also_where_the_sentence_is_the_same(tmp_path):
    for place in range(12):
        (tmp_path / f"broken{place}.json").write_bytes(
            b'{"fio version": "fio-3.33", "jobs": [' + b" " * place
        )
    shutil.copy(GOOD, tmp_path / "good.json")
    done = azbench("read", tmp_path)
    assert all(f"broken{place}.json" in done.stderr for place in range(12))
    assert len([line for line in done.stderr.splitlines() if line.startswith("error")]) <= 3
