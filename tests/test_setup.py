"""The set-up: pins that agree, a lock that names no host, a bootstrap that comes to rest, a tidy tree."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent  # unresolved: the environment's own folder
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text())
LOCK = (ROOT / "requirements.lock").read_text()

CONDA_NAMES = {
    "jupyter_client": "jupyter-client",
    "matplotlib-base": "matplotlib",
    "python-duckdb": "duckdb",
}  # conda-forge's name -> PyPI's
CONDA_ONLY = {"python", "pip", "fio", "make"}

# Folders of one machine. Names that stand for any user are fine.
ABSOLUTE_PATH = re.compile(r"(?<![\w.~/-])/(?:work/|root/|(?:home|Users)/(?!user/|azureuser/)[a-z])")


def run(*command: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def own_files(pattern: str = "*") -> list[Path]:
    """What is committed here or could be: all that .gitignore does not leave out."""
    listing = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "--", pattern)
    if listing.returncode:
        pytest.skip("not a git checkout, so there is no list of the files that belong to it")
    return [ROOT / name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file()]


def declared() -> dict[str, str]:
    extras = PROJECT["optional-dependencies"].values()
    texts = [*PROJECT["dependencies"], *(text for extra in extras for text in extra)]
    return {need.name: str(need.specifier) for need in map(Requirement, texts)}


def test_conda_and_pyproject_have_the_same_pins() -> None:
    *plain, last = ENVIRONMENT["dependencies"]
    needs = [Requirement(text) for text in [*plain, *last["pip"]]]
    pins = {CONDA_NAMES.get(need.name, need.name): str(need.specifier) for need in needs}
    assert Requirement(f"python{PROJECT['requires-python']}").specifier == Requirement(plain[0]).specifier
    assert {name: pin for name, pin in pins.items() if name not in CONDA_ONLY} == declared()


def test_the_lock_names_no_host_and_hashes_everything() -> None:
    assert "://" not in LOCK
    entries = re.split(r"\n(?=\S)", LOCK.strip())
    assert len(entries) > 50
    for entry in entries:
        assert re.match(r"[a-z0-9.-]+==\S+", entry), entry[:80]
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry[:80]


def test_what_is_declared_is_locked_within_its_bounds() -> None:
    locked = dict(re.findall(r"^([a-z0-9.-]+)==([^\s;\\]+)", LOCK, re.MULTILINE))
    for name, pin in declared().items():
        assert name in locked, f"{name} is not in requirements.lock: make lock"
        assert Requirement(f"{name}{pin}").specifier.contains(locked[name]), f"{name}: make lock"


def test_every_make_target_says_what_it_is_for() -> None:
    makefile = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    listed = re.findall(r"^make ([\w-]+) +\S", run("make").stdout, re.MULTILINE)
    assert phony and listed == phony[1].split()
    assert {"setup", "report", "test"} <= set(listed)


@pytest.mark.parametrize("target", ["report", "test"])
def test_setup_is_the_first_thing_that_report_and_test_do(target: str) -> None:
    steps = run("make", "--no-print-directory", "--dry-run", target).stdout.splitlines()
    assert steps[0].startswith("sh scripts/bootstrap"), steps


@pytest.mark.parametrize(
    ("shell", "script"),
    [
        ("sh", "scripts/bootstrap"),
        ("sh", "scripts/unpack-iozone"),
        ("sh", "scripts/install-sshd"),
        ("sh", "scripts/install-sysstat"),
        ("sh", "scripts/install-busybox"),
        ("sh", "scripts/install-azurite"),
        ("sh", "scripts/run-tests"),
        ("bash", ".ci/run"),
    ],
)
def test_scripts_parse_and_may_be_started(shell: str, script: str) -> None:
    checked = run(shell, "-n", script)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert os.access(ROOT / script, os.X_OK)


def without_network() -> list[str]:
    """A prefix that takes the network away, where this user may do so."""
    prefix = ["unshare", "--net", *(["--map-root-user"] if os.geteuid() else [])]
    able = shutil.which("unshare") and run(*prefix, "true").returncode == 0
    return prefix if able else []


def test_a_second_setup_changes_nothing_and_needs_no_network() -> None:
    ready = ROOT / ".venv" / ".ready"
    if not ready.exists() or (ROOT / ".venv").is_symlink():  # it would be taken for a moved one, and removed
        pytest.skip("this environment was not made by make setup in this folder")
    before = ready.stat().st_mtime_ns
    done = run(*without_network(), "sh", "scripts/bootstrap")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Installing" not in done.stdout and done.stdout.endswith("Ready: .venv/bin/azbench\n")
    assert ready.stat().st_mtime_ns == before


def bootstrap_with(tmp_path: Path, *programs: str) -> subprocess.CompletedProcess[str]:
    """The bootstrap of a copy of this checkout, on a PATH with only these programs and the shell's own."""
    tools = tmp_path / "bin"
    tools.mkdir()
    (tmp_path / "scripts").mkdir()
    for name in ("scripts/bootstrap", "scripts/uv.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("sh", "dirname", "mkdir", "sed", "find", "tail", "head", "cat", "id", *programs):
        where = sys.executable if name == "python3" else shutil.which(name)
        assert where, name
        (tools / name).symlink_to(where)
    return run(tools / "sh", tmp_path / "scripts" / "bootstrap", env={"PATH": str(tools)})


def test_without_apt_it_says_which_python_to_install(tmp_path: Path) -> None:
    done = bootstrap_with(tmp_path)
    assert done.returncode == 2
    accepted = Requirement(f"python{PROJECT['requires-python']}").specifier
    names = [f"python3.{minor}" for minor in range(99, 0, -1) if f"3.{minor}" in accepted]
    assert f"one of these must be on PATH: {' '.join(names)}. Install it" in done.stderr


def test_without_apt_it_says_which_packages_to_install(tmp_path: Path) -> None:
    done = bootstrap_with(tmp_path, "python3")
    assert done.returncode == 2
    assert "no apt; please install what these Debian packages hold: fio" in done.stderr


@pytest.mark.parametrize(
    ("fails", "names"),
    [
        ("", []),
        ("-m alone", ["tests that run apart from the others: exit code 3"]),
        ("-m not", ["all other tests: exit code 3"]),
        ("azure", ["the Azure CLI: exit code 3"]),
        ("install-azurite", ["Azurite: exit code 3"]),
        ("-m pytest", ["tests that run apart from the others: exit code 3", "all other tests: exit code 3"]),
    ],
)
def test_a_step_of_the_test_run_that_fails_hides_none_of_the_next(
    fails: str, names: list[str], tmp_path: Path
) -> None:
    """The real script, with programs in the place of those that it starts: each says its words."""
    (tmp_path / "scripts").mkdir()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "scripts" / "run-tests", tmp_path / "scripts")
    words = f'#!/bin/sh\necho "$0 $*" >>{tmp_path}/begun\n'
    ends = f'case "$0 $*" in *"{fails}"*) exit 3 ;; esac\n' if fails else ""
    programs = ["install-azurite", "unpack-iozone", "install-sshd", "install-sysstat", "install-busybox"]
    for name in [*(f"scripts/{each}" for each in programs), ".venv/bin/python", "make"]:
        (tmp_path / name).write_text(words + ends)
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = run("sh", tmp_path / "scripts" / "run-tests", env={"PATH": path})
    begun = (tmp_path / "begun").read_text()
    assert all(
        each in begun for each in [*programs, "azure", "-m alone and not long", "-m not alone and not"]
    )
    assert done.returncode == bool(fails)
    assert done.stderr.splitlines() == (
        ["make test: failed:", *(f"  {name}" for name in names)] if names else []
    )


def test_notebooks_hold_no_results() -> None:
    for path in own_files("*.ipynb"):
        cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
        assert not [cell for cell in cells if cell["outputs"] or cell["execution_count"]], path


def test_no_file_holds_a_path_of_one_machine() -> None:
    for path in own_files():
        found = ABSOLUTE_PATH.search(path.read_text(errors="replace"))
        assert not found, f"{path}: {found and found[0]}"


@pytest.mark.parametrize(
    "command",
    [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"], ["lint-imports"]],
    ids=" ".join,
)
def test_the_code_keeps_the_house_rules(command: list[str]) -> None:
    done = run(BIN / command[0], *command[1:])
    if done.returncode:
        pytest.fail(done.stdout + done.stderr, pytrace=False)
