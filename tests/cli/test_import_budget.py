"""Verbs that draw nothing load no library that draws, and none of the slow ones that they do not need."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

SLOW = ("matplotlib", "seaborn", "scipy.stats", "ruptures")
DATASETS = Path(__file__).parents[2] / "datasets"
DATASET = "ultra-disk-2019"
PROGRAM = """
import sys
from azbenchlib.cli import main
sys.argv = ["azbench", *sys.argv[1:]]
try:
    main()
finally:
    print(*(name for name in {slow} if name in sys.modules), file=sys.stderr)
"""


OTHER_VERBS = ("azbenchlib.cli.lab", "azbenchlib.cli.measuring", "azbenchlib.cli.verdict")
CHECKING = ("azbenchlib.verdict.checks", "azbenchlib.model")
LARGE = ("pandas", "numpy", "pyarrow", "yaml", "papermill", "matplotlib", "scipy")


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "nothere"),
        ("verdict", "nothere"),
        ("size", "nothere"),
        ("read", "nothere"),
        ("import", "nothere", "--name", "mine"),
        ("advise", "--from", "nothere"),
        ("cost", "nothere", "--region", "westeurope"),
        ("limits", "nothere/setup"),
        ("run", "--target", "gcp"),
    ],
    ids=lambda arguments: arguments[0],
)
@pytest.mark.sampled(4)
def test_a_wrong_name_is_told_before_any_large_library_is_loaded(arguments: tuple[str, ...]) -> None:
    program = PROGRAM.format(slow=LARGE)
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    *_, sentence, loaded = done.stderr.splitlines()
    assert "no dataset 'nothere'" in sentence or "target 'gcp' is unknown" in sentence
    assert loaded.strip() == ""


def test_a_part_of_the_verdict_loads_no_other() -> None:
    program = "import sys, azbenchlib.verdict.text; print(*(m for m in sys.modules if 'verdict' in m))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert loaded.split() == ["azbenchlib.verdict", "azbenchlib.verdict.text"]


def test_a_report_begins_without_what_only_probes_need() -> None:
    program = "import sys; from azbenchlib import Report; print('scipy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("more", [(), ("--why",), ("--format", "json"), ("--format", "csv")])
@pytest.mark.sampled(2)
def test_an_answer_needs_no_tables(more: tuple[str, ...]) -> None:
    asked = ("advise", "--iops", "3000", "--size", "1TiB", "--region", "westeurope", *more)
    program = PROGRAM.format(slow=("pandas", "pyarrow", "pydantic", "scipy", "matplotlib", *OTHER_VERBS))
    done = subprocess.run(
        [sys.executable, "-c", program, *asked], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].strip() == ""


def test_an_output_is_read_without_what_manifests_need() -> None:
    output = DATASETS.parent / "tests" / "data" / "fio" / "group_jsonplus.json"
    program = PROGRAM.format(slow=("pydantic", *SLOW, *OTHER_VERBS))
    asked = ("read", str(output), "--format", "csv")
    done = subprocess.run([sys.executable, "-c", program, *asked], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("run_id,") and done.stderr.splitlines()[-1].strip() == ""


@pytest.mark.parametrize("form", ["json", "csv"])
@pytest.mark.parametrize("more", [(), ("--region", "eastus")])
@pytest.mark.sampled(2)
def test_an_answer_for_a_program_loads_nothing_that_draws_tables(form: str, more: tuple[str, ...]) -> None:
    asked = (
        "advise",
        "--iops",
        "3000",
        "--size",
        "1TiB",
        "--read-share",
        "0.7",
        "--region",
        "westeurope",
        *more,
    )
    program = PROGRAM.format(slow=("rich.console", "rich.table"))
    done = subprocess.run(
        [sys.executable, "-c", program, *asked, "--format", form], capture_output=True, text=True, check=True
    )
    assert done.stdout and done.stderr.strip() == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("verdict", DATASET),
        ("limits", f"{DATASET}/ultra-10000-50"),
        ("advise", "--from", DATASET),
        ("size", str(DATASETS.parent / "tests" / "data" / "sysstat" / "extended.json")),
        ("read", str(DATASETS / DATASET)),
    ],
    ids=lambda arguments: arguments[0],
)
@pytest.mark.sampled(2)
def test_a_verb_that_draws_nothing_loads_no_slow_library(arguments: tuple[str, ...]) -> None:
    program = PROGRAM.format(slow=SLOW)
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].strip() == ""


def test_windows_for_a_program_load_nothing_that_draws_tables(tmp_path: Path) -> None:
    log = tmp_path / "job_clat.1.log"
    log.write_text("".join(f"{ms}, {1_000 * ms}, 0, 4096, 0\n" for ms in range(1, 2_000)))
    program = PROGRAM.format(slow=("rich.console", "rich.table", "pandas", "pydantic"))
    asked = ("read", log, "--window", "1s", "--format", "csv", "--log-unit", "ns")
    done = subprocess.run([sys.executable, "-c", program, *asked], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("t_s,") and done.stderr.strip() == ""


WORKED = """
import os, threading, time
from azbenchlib import Dataset
import numpy
time.sleep(0.2)  # twice as long as a thread of OpenBLAS would wait busily
tasks = {int(name) for name in os.listdir("/proc/self/task")} - {threading.get_native_id()}
ticks = [open(f"/proc/self/task/{task}/stat").read().rsplit(")", 1)[1].split()[11:13] for task in tasks]
print(len(tasks), sum(int(n) for pair in ticks for n in pair))
"""


def test_tables_of_outputs_need_no_verdict_nor_model() -> None:
    output = DATASETS.parent / "tests" / "data" / "fio" / "randrw.json"
    program = f"""
import sys
from azbenchlib import Dataset
found = Dataset.read({str(output)!r})
print(len(found.results), *(name for name in {CHECKING} if name in sys.modules))
print(len(found.findings) > 0, *(name for name in {CHECKING} if name in sys.modules))
"""
    assert _printed(program, os.environ) == ["2", "True", *CHECKING]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are looked at on Linux")
@pytest.mark.skipif(os.cpu_count() == 1, reason="OpenBLAS starts no threads on one core")
def test_threads_for_matrices_are_there_and_wait_without_work() -> None:
    named = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS")}
    threads, ticks = (int(word) for word in _printed(WORKED, named))
    assert threads >= 1
    assert ticks <= 1  # of ten milliseconds: who is there when the clock ticks has it, however shortly


def test_how_long_such_threads_wait_busily_is_the_users_choice() -> None:
    program = "import azbenchlib, os; print(os.environ['OPENBLAS_THREAD_TIMEOUT'])"
    assert _printed(program, os.environ | {"OPENBLAS_THREAD_TIMEOUT": "20"}) == ["20"]


def _printed(program: str, env: Mapping[str, str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_the_command_line_itself_loads_nothing_that_only_some_answers_need() -> None:
    seldom = ("importlib.metadata", "secrets", "rich", "numpy", "pydantic")
    program = f"import sys, azbenchlib.cli; print(*(name for name in {seldom} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
