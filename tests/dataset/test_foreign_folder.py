"""A folder of others: what lies in it is read, and never run, whatever it is called."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
import typer
from lab_tools import need_fio, own_cache  # noqa: F401
from many_runs import write_runs
from waiting import PATIENCE_S

from azbenchlib.cli import app

ROOT = Path(__file__).parents[2]
AZBENCH = Path(sys.executable).with_name("azbench")
FIO = ROOT / "tests" / "data" / "fio"
# Every module that Python and the installed packages have, and what Python itself looks for.
MODULES = {*sys.stdlib_module_names, *packages_distributions(), "azbenchlib"}
MODULES |= {"sitecustomize", "usercustomize", "conftest", "backend_of_the_folder", "xlrd"}
# What Python imports before any program begins; a folder that is on its path by PYTHONPATH is asked for it.
BEFORE_ALL = {"encodings", "sitecustomize", "usercustomize", "azbenchlib"}
# Settings that Jupyter, IPython and nbconvert know; all but the last are programs.
SETTINGS = (
    *("ipython_config.py", "ipython_kernel_config.py", "jupyter_config.py", "jupyter_nbconvert_config.py"),
    *("jupyter_server_config.py", "jupyter_lab_config.py", "jupyter_notebook_config.py"),
    *("jupyter_nbclient_config.py", "papermill_config.py", "profile_default/ipython_config.py"),
    *("profile_default/startup/00-first.py", ".ipython/profile_default/startup/00-first.py"),
    *("profile_default/ipython_kernel_config.py", ".jupyter/jupyter_config.py", "startup/00-first.py"),
    *(".jupyter/jupyter_server_config.py", ".pythonrc.py", "encodings/__init__.py"),
)
PROGRAMS = ("az", "fio", "iozone", "python", "python3", "sh", "ssh", "git", "lsblk", "wipefs", "chromium")
MATPLOTLIBRC = "backend: module://backend_of_the_folder\ntext.usetex: True\nfont.size: 40\n"
JOB = "[job]\nrw=randread\nbs=4k\nsize=1m\n"
FILE = """
title: A disk
region: westeurope
vm: Standard_D4as_v5
disks:
  data: {sku: Premium_LRS, size: 32GiB}
workloads:
  read: {rw: randread, bs: 4k, size: 1m, runtime: 1}
"""
LAB_RUN = "lab run job.fio --disk P4 --max-seconds 1 -o ../made"
LAB_CAMPAIGN = "run file.yaml --quick -p longest_s=1.0 -o ../made"
EXPORT = "learn --export ../made --quick"
LONG = (LAB_RUN, LAB_CAMPAIGN, EXPORT)
# Of each verb one or more lines, in which a point is the folder; with the exit code where it is not 0.
LINES: dict[str, dict[str, int]] = {
    "read": {"read raw": 0, "read . --format json": 0},
    "collect": {"collect . raw outputs -o ../made --processes 2": 0},
    "query": {"query ../lake 'SELECT count(*) FROM runs'": 0, "query ../lake --percentiles 50": 0},
    "plan": {"plan file.yaml": 0},
    "run": {
        LAB_CAMPAIGN: 0,
        "run file.yaml --target local --quick -o ../made": 0,
        "run file.yaml --target azure -o ../made": 2,  # nobody is signed in
    },
    "status": {"status .": 2},  # no campaign
    "schema": {"schema": 0},
    "cleanup": {"cleanup": 2},
    "limits": {"limits --vm Standard_E8ds_v4 --disk P30 --plot ../roofline.png": 0},
    "cost": {"cost --vm Standard_E8ds_v4 --disk P30 --region westeurope": 0},
    "advise": {"advise --iops 3000 --size 1TiB --region westeurope": 0},
    "size": {"size outputs --region westeurope": 0},
    "verdict": {"verdict .": 0},
    "compare": {"compare outputs/1 outputs/2": 3},  # undecided
    "report": {"report . -o ../made": 0},
    "learn": {"learn ../lessons --no-browser": 0, EXPORT: 0},
    "probe": {"probe ../data --runs 1 --seconds 1 --size 16MiB --minutes 0.1": 0},
    "doctor": {"doctor": 0},
    "import": {"import outputs/0 --name mine -o ../made": 0},
    "catalog drift": {"catalog drift": 0},
    "catalog show": {"catalog show E8ds_v4": 0},
    "catalog refresh": {"catalog refresh --region westeurope": 2},
    "setup detect": {"setup detect": 2},  # this is no VM of Azure
    "lab start": {"lab start --disk P4 --folder ../lab": 0},
    "lab watch": {"lab watch ../nowhere": 2},
    "lab run": {LAB_RUN: 0},
    "lab mount": {"lab mount ../file --lab ../nowhere": 2},
}
# What runs until it is interrupted, and what it says when it does.
UNTIL_INTERRUPTED = {
    "learn ../lessons --no-browser": "token=",
    "lab start --disk P4 --folder ../lab": "azbench lab watch",
}


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("made") / "lake"
    subprocess.run([AZBENCH, "collect", FIO / "randrw.json", "-o", place], check=True, capture_output=True)
    return place


@pytest.fixture
def planted(tmp_path: Path, lake: Path) -> Path:
    """A dataset, outputs, a job file and a measurement file in a folder full of traps; one that runs leaves a
    file.
    """
    folder = tmp_path / "folder"
    shutil.copytree(ROOT / "datasets" / "azure-local-disks-2020", folder)
    shutil.copytree(lake, tmp_path / "lake")
    (tmp_path / "data").mkdir()
    for number in range(3):
        write_runs(folder / "outputs" / str(number), 1, number)
    shutil.copy(ROOT / "tests" / "data" / "sysstat" / "extended.txt", folder / "outputs")
    (folder / "outputs" / "0" / "x_bw.1.log").write_text("100, 5, 0, 4096, 0\n")  # a batch of its own
    (folder / "job.fio").write_text(JOB)
    (folder / "file.yaml").write_text(FILE)
    (folder / "matplotlibrc").write_text(MATPLOTLIBRC)
    (folder / ".env").write_text("PYTHONPATH=.\nPYTHONSTARTUP=.pythonrc.py\nPYTHONSAFEPATH=\n")
    mark = str(tmp_path / "ran")
    for name in (*(f"{module}.py" for module in MODULES), *SETTINGS):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code(mark, name))
    for name in PROGRAMS:
        (folder / name).write_text(f"#!/bin/sh\necho {name} >>{mark}\nexit 9\n")
        (folder / name).chmod(0o755)
    for shipped in (ROOT / "notebooks").rglob("*.ipynb"):
        path = folder / shipped.relative_to(ROOT)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(notebook(code(mark, path.name))))
    return folder


def code(mark: str, name: str) -> str:
    return f"open({mark!r}, 'a').write({name!r} + '\\n')\nraise SystemExit(9)\n"


def notebook(source: str) -> dict[str, Any]:
    cell = {"cell_type": "code", "metadata": {"tags": ["parameters"]}, "source": source}
    cell |= {"execution_count": None, "outputs": []}
    return {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def lines() -> Iterator[Any]:
    for of_verb in LINES.values():
        for line, status in of_verb.items():
            yield pytest.param(line, status, marks=[pytest.mark.long] if line in LONG else [], id=line)


def verbs(group: Any, above: str = "") -> Iterator[str]:
    """All verbs of the command line, those of groups with the name of the group."""
    for name in group.list_commands(None):
        verb = group.commands[name]
        if hasattr(verb, "commands"):
            yield from verbs(verb, f"{above}{name} ")
        else:
            yield f"{above}{name}"


def test_every_verb_has_a_line() -> None:
    assert set(LINES) == set(verbs(typer.main.get_command(app)))
    assert all(line.startswith(verb) for verb, own in LINES.items() for line in own)


def carried_out(line: str, folder: Path, **more: str) -> tuple[int, str]:
    """The exit code of a line in a folder, and what it said."""
    places = {"HOME": str(folder.parent / "home"), "PATH": f"{ROOT / '.tools' / 'bin'}:{os.environ['PATH']}"}
    (folder.parent / "home").mkdir(exist_ok=True)
    command = [str(AZBENCH), *shlex.split(line)]
    log = folder.parent / "log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            command, cwd=folder, env={**os.environ, **places, **more}, stdout=file, stderr=file
        )
        while line in UNTIL_INTERRUPTED and UNTIL_INTERRUPTED[line] not in log.read_text():
            assert process.poll() is None, log.read_text()
            time.sleep(0.05)
        if line in UNTIL_INTERRUPTED:
            process.send_signal(signal.SIGTERM if line.startswith("learn") else signal.SIGINT)
        return process.wait(PATIENCE_S), log.read_text()


def nothing_ran(folder: Path) -> None:
    ran = folder.parent / "ran"
    assert not ran.exists(), ran.read_text()


@pytest.mark.parametrize(("line", "status"), lines())
@pytest.mark.slow
@pytest.mark.sampled(3)
def test_nothing_of_the_current_folder_is_run(planted: Path, line: str, status: int) -> None:
    if line.startswith(("lab run", "run", "probe", "learn --export")):
        need_fio()
    found, said = carried_out(line, planted)
    nothing_ran(planted)
    assert found == status, said


@pytest.mark.slow
@pytest.mark.parametrize("line", ["collect . -o ../made --processes 2", "doctor"])
@pytest.mark.sampled(1)
def test_a_colon_too_many_in_a_search_path_names_no_folder(planted: Path, line: str) -> None:
    """An empty entry of PYTHONPATH or PATH is the current folder to Python and to shells."""
    for module in BEFORE_ALL:
        (planted / f"{module}.py").unlink(missing_ok=True)
    shutil.rmtree(planted / "encodings")
    found, said = carried_out(line, planted, PYTHONPATH=":.", PATH=f":{os.environ['PATH']}:.")
    nothing_ran(planted)
    assert found == 0, said


LIBRARY = """
import own_module
from pathlib import Path
from azbenchlib import Lake, emulate
if __name__ == "__main__":
    found = Lake("../made").collect("outputs", processes=2)
    with emulate("Standard_D4as_v5", ["P4"]):
        print(found.runs, own_module.NUMBER)
"""


@pytest.mark.slow
def test_nothing_of_the_current_folder_is_run_by_a_program_that_uses_the_library(planted: Path) -> None:
    """Its own folder is where Python looks first; the current one is no business of its workers either."""
    home = planted.parent / "program"
    home.mkdir()
    (home / "own_module.py").write_text("NUMBER = 41\n")
    (home / "program.py").write_text(LIBRARY)
    command = [sys.executable, home / "program.py"]
    done = subprocess.run(command, cwd=planted, capture_output=True, text=True, check=False)
    nothing_ran(planted)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[1] == "41"


@pytest.mark.slow
@pytest.mark.long
def test_settings_of_matplotlib_in_the_current_folder_do_not_change_a_report(planted: Path) -> None:
    for folder in (planted, ROOT):
        made = planted.parent / f"of-{folder.name}"
        words = ["report", str(planted), "-o", str(made), "--format", "html"]
        subprocess.run([AZBENCH, *words], cwd=folder, check=True, capture_output=True, timeout=PATIENCE_S)
    first, second = (path.read_text() for path in sorted(planted.parent.glob("of-*/report.html")))
    assert first == second


def test_a_path_that_the_user_names_is_the_users(tmp_path: Path) -> None:
    """PYTHONPATH goes on to the kernel: what is in it is imported there, as anywhere else."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "my_own_module.py").write_text("NUMBER = 41\n")
    code = (
        "from pathlib import Path; import nbformat; from azbenchlib.report import execute\n"
        "cell = nbformat.v4.new_code_cell('import my_own_module; print(my_own_module.NUMBER + 1)')\n"
        "head = nbformat.v4.new_code_cell('', metadata={'tags': ['parameters']})\n"
        "book = nbformat.v4.new_notebook(cells=[head, cell])\n"
        "book.metadata.kernelspec = {'name': 'python3', 'display_name': '', 'language': 'python'}\n"
        "path = Path('book.ipynb'); nbformat.write(book, path)\n"
        "print(execute.run_notebook(path, {}).cells[-1].outputs[0].text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "mine")},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "42"
