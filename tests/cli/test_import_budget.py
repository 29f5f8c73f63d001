"""Verbs that draw nothing load no library that draws, and none of the slow ones that they do not need."""

import os
import subprocess
import sys
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
    program = "import sys, azbenchlib.verdict.labels; print(*(m for m in sys.modules if 'azbench' in m))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    assert loaded.split() == ["azbenchlib", "azbenchlib.verdict", "azbenchlib.verdict.labels"]


@pytest.mark.parametrize("more", [(), ("--why",), ("--format", "json"), ("--format", "csv")])
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


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted on Linux")
@pytest.mark.skipif(os.cpu_count() == 1, reason="OpenBLAS starts no threads on one core")
@pytest.mark.parametrize(("wanted", "threads"), [({}, 1), ({"OPENBLAS_NUM_THREADS": "2"}, 2)])
def test_no_threads_are_started_for_matrices(tmp_path: Path, wanted: dict[str, str], threads: int) -> None:
    log = tmp_path / "job_clat.1.log"
    log.write_text("1, 1000, 0, 4096, 0\n")
    count = "import atexit, os; atexit.register(lambda: print(len(os.listdir('/proc/self/task'))))"
    named = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", count + PROGRAM.format(slow=()), "read", log, "--window", "1s"],
        env=named | wanted,
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout.splitlines()[-1]) == threads


def test_the_command_line_itself_loads_nothing_that_only_some_answers_need() -> None:
    seldom = ("importlib.metadata", "secrets", "rich", "numpy", "pydantic")
    program = f"import sys, azbenchlib.cli; print(*(name for name in {seldom} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
