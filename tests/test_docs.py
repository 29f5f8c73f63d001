"""Documents that stay true: commands that run, links that lead somewhere, pages made from the code."""

import importlib.util
import os
import re
import shlex
from pathlib import Path

import pytest
from programs import azbench

ROOT = Path(__file__).parents[1]
NEEDS_AZ = {"azure", "cleanup"}
NEEDS_A_VM = {"detect"}
# These take longest, and other lines or tests do the same.
AS_OTHERS = ("report ultra", "reports/required", "datasets/rehearsal", "run --target", "lab run")
UNTIL_CTRL_C = ("start", "watch", "mount")  # of the lab; tests/test_lab_*.py run them
OURS = ("datasets/rehearsal", "datasets/this-machine", "datasets/lab-async-os")  # what these commands write
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SHELL = re.compile(r"^```(?:sh|bash|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands() -> list[tuple[str, str]]:
    return [
        (page.name, line.strip())
        for page in PAGES
        for block in SHELL.findall(page.read_text())
        for line in block.splitlines()
        if line.strip() and not line.startswith("#")
    ]


def makefile_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("line", [line for _, line in commands() if line.startswith("make")])
def test_every_make_target_that_is_named_exists(line: str) -> None:
    assert set(shlex.split(line, comments=True)[1:2]) <= makefile_targets()


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(line, marks=[pytest.mark.long] * any(words in line for words in AS_OTHERS))
        for page, line in commands()
        if page == "README.md" and ".venv/bin/azbench" in line
    ],
)
def test_every_azbench_command_of_the_readme_runs(line: str, tmp_path: Path) -> None:
    for name in ("notebooks", "campaigns", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "datasets").mkdir()  # what is made there is not made in the repository
    for folder in (ROOT / "datasets").iterdir():
        (tmp_path / "datasets" / folder.name).symlink_to(folder)
    program, *arguments = shlex.split(line)
    arguments = ["ours" if word.startswith(OURS) else word for word in arguments]
    if NEEDS_AZ & set(arguments):
        _stops_for_want_of_az(arguments, tmp_path)
        return
    if NEEDS_A_VM & set(arguments):
        pytest.skip(
            "this machine is no Azure VM; tests/campaign/test_detect.py runs it against a metadata server"
        )
    if arguments[0] == "lab" and arguments[1] in UNTIL_CTRL_C:
        arguments = [*arguments[:2], "--help"]
    if arguments[0] == "report":
        arguments += ["--format", "html"]  # tests/report have the PDF
    if arguments[0] == "run":  # as it stands it takes a minute
        short = ("runtime_s=1", "ramp_s=0", "size=16m", "iodepths=[1]", "longest_s=1.0")
        arguments += [word for p in short for word in ("-p", p)]
    assert program == ".venv/bin/azbench"
    done = azbench(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def _stops_for_want_of_az(arguments: list[str], folder: Path) -> None:
    """What these do with az is tested with az; here, that they are understood as they are written."""
    done = azbench(*arguments, cwd=folder, env={**os.environ, "AZBENCH_AZ": "no-such-program"})
    assert done.returncode == 2
    assert "no-such-program" in done.stderr


def test_there_are_commands_to_test() -> None:
    assert len([line for _, line in commands() if line.startswith("make ")]) >= 2
    assert len([line for page, line in commands() if page == "README.md" and "azbench" in line]) >= 5


def test_the_python_of_the_readme_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (code,) = PYTHON.findall((ROOT / "README.md").read_text())
    scope: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), scope)  # noqa: S102  our own document
    assert "dataset" in scope


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    added = re.findall(r'"(example/[^"]+)"', (ROOT / "scripts" / "site_examples.py").read_text())
    missing = [name for name in targets if not (page.parent / name).exists() and name not in added]
    assert missing == []


def test_pages_made_from_the_code_are_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("make_docs", ROOT / "scripts" / "make_docs.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for path, text in module.pages().items():
        assert path.read_text() == text, f"{path.name} is old: .venv/bin/python scripts/make_docs.py"


def test_the_committed_example_is_small_and_current() -> None:
    folder = ROOT / "reports" / "example"
    page, document = folder / "report.html", folder / "report.pdf"
    assert page.stat().st_size + document.stat().st_size < 2_000_000
    assert "261,000" in page.read_text() and document.read_bytes().startswith(b"%PDF-")
