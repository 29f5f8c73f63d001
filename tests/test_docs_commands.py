"""Every azbench command of the pages in docs/ is understood as it is written, and what can run here runs."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
import typer
from kubernetes_objects import POD, listed, objects
from programs import azbench

from azbenchlib.cli import app

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "data"
MADE_FROM_THE_CODE = ("cli.md", "findings.md", "formats.md", "tables.md", "units.md")
PAGES = [path for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in MADE_FROM_THE_CODE]
PAGES += [ROOT / "README.md"]
BLOCK = re.compile(r"^```(\w*).*?\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(?:\.venv/bin/)?azbench ([^`|]+?)(?: \|[^`]*)?`")


def by_minute(name: str) -> str:
    """Telemetry of sysstat, its reports a minute apart instead of a second."""
    text = (DATA / "sysstat" / name).read_text(encoding="utf-8")
    return re.sub(r"05:54:5(\d)", r"05:5\1:00", text)


# What a reader has and the pages only name.
RESULTS = DATA / "fio" / "grouped"
WRITTEN = {
    "k8s.json": json.dumps(listed(objects())).replace(POD, "fio-disk"),
    "workloads.csv": "name,iops,size\na,100,10GiB\n",
    "telemetry/db1.json": by_minute("extended.json"),
    **dict.fromkeys(("monday.txt", "tuesday.txt"), by_minute("extended.txt")),
    **dict.fromkeys(("host-a.json", "host-b.json"), by_minute("extended.json").replace('"vda"', '"nvme0n1"')),
}
# Run elsewhere, with what they need: in tests/test_package.py, tests/test_docs.py, and the tests of az, labs,
# probes, hosts, lessons and reports.
RUN_ELSEWHERE = ("tutorial.md", "README.md")
INCOMPLETE = ("MissingParameter", "NoArgsIsHelpError")  # of the parser that typer brings
NEEDS_MORE = ("lab", "probe", "run", "cleanup", "learn", "report")


def blocks(page: Path) -> list[list[str]]:
    """The words after azbench of every command in the blocks of a page."""
    lines = [
        line.removeprefix(".venv/bin/")
        for kind, block in BLOCK.findall(page.read_text(encoding="utf-8"))
        for line in block.splitlines()
        if kind == "sh"
    ]
    return [shlex.split(line)[1:] for line in lines if line.startswith("azbench ")]


def named(page: Path) -> list[list[str]]:
    """The words after azbench of every command within a sentence."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    found = [shlex.split(re.sub(r"\bN\b|\s+", _placeholder, words)) for words in INLINE.findall(text)]
    return [words for words in found if words != ["--install-completion"]]  # to parse it is to do it


def _placeholder(found: re.Match[str]) -> str:
    """A number for the N of a page, and a space for a line break."""
    return "2" if found[0] == "N" else " "


def understood(words: list[str], whole: bool) -> None:
    """Parse a command as azbench does, and do nothing; one that is only named need not be complete."""
    command = typer.main.get_command(app)
    context, left = None, words
    while True:
        try:
            context = command.make_context(str(command.name), left, parent=context)
        except Exception as error:
            if not whole and type(error).__name__ in INCOMPLETE:
                return
            raise
        left = [*context._protected_args, *context.args]
        if not isinstance(command, typer.core.TyperGroup):
            break
        _, command, left = command.resolve_command(context, left)
    assert left == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_is_understood(page: Path) -> None:
    for words in blocks(page):
        understood(words, whole=True)
    for words in named(page):
        understood(words, whole=False)


def test_a_command_that_is_not_there_is_not_understood() -> None:
    for words in (["reed", "p30"], ["read", "p30", "--no-such-option"], ["lab", "runs"]):
        for whole in (True, False):
            with pytest.raises(Exception, match=r"reed|no-such-option|runs"):
                understood(words, whole)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in RUN_ELSEWHERE], ids=lambda page: page.name
)
@pytest.mark.sampled(3)
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    commands = [words for words in blocks(page) if words[0] not in NEEDS_MORE]
    if not commands:
        pytest.skip("it has no command, or its commands need more than files")
    shutil.copytree(RESULTS, tmp_path / "results")
    for name, text in WRITTEN.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    for words in commands:
        done = azbench(*words, cwd=tmp_path)
        assert done.returncode in (0, 3) and done.stdout, f"{words}: {done.stderr}"
