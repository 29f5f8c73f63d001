"""The script that a host runs: what a job file says stays text."""

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import pytest
from process_list import processes

from azbenchlib.campaign import device_guard
from azbenchlib.campaign.targets.hosts import host
from azbenchlib.campaign.workloads.program import GIVEN_UP

SHELLS = ("sh", "dash", "bash --posix", "busybox sh")


def run_by(shell: str, script: str, home: Path) -> bytes:
    """What a script prints that a shell runs."""
    program, *words = shell.split()
    if (path := shutil.which(program)) is None:
        pytest.skip(f"no {program} is installed")
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    return subprocess.run(
        [path, *words, "-s"], input=script.encode(), capture_output=True, env=env, check=True
    ).stdout


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "end", ["AZBENCH_END_OF_SCRIPT", "'", "EOF", "end-", "$(touch evil)", "`touch evil`", "\\"]
)
def test_no_line_of_a_job_file_ends_the_script(end: str, shell: str, tmp_path: Path) -> None:
    text = f"[a]\n{end}\ntouch {tmp_path}/evil\n{end}\n; exit 0\n"

    job = SimpleNamespace(
        own_data=False, runs_in_data_dir=False, output="out.json", tool="fio", inputs={"a.fio": text}
    )
    commands = [["cat", "a.fio"], ["touch", "out.json"]]
    lines = host.lines(commands, job, PurePosixPath("/dev/null"), True, 600)
    script = host.start("token", "a", lines) + host.call("await", "token", "a", 60)
    assert device_guard.facts(run_by(shell, script, tmp_path))["state"] == ["0"]
    assert (tmp_path / ".azbench" / "token" / "a" / "out" / "a.fio").read_text() == text
    assert not list(tmp_path.glob("**/evil"))


@pytest.mark.parametrize("shell", SHELLS)
def test_no_link_in_the_folder_that_is_looked_at_is_followed(shell: str, tmp_path: Path) -> None:
    """Names that a link could wait under are not guessed: all that were used before lead to a file."""
    folder, theirs = tmp_path / "shared", tmp_path / "theirs"
    folder.mkdir()
    theirs.write_text("precious")
    script = f"ln -s {theirs} {folder}/.azbench-probe-$$\n{host.machine(str(folder))}"
    assert device_guard.facts(run_by(shell, script, tmp_path))["direct"] == ["yes"]
    assert theirs.read_text() == "precious"
    assert [path.is_symlink() for path in folder.iterdir()] == [True]


def at_work(folder: Path) -> list[str]:
    """What runs below a folder."""
    found = []
    for pid, _, args in processes():
        with suppress(OSError):  # it has ended
            if Path(f"/proc/{pid}/cwd").readlink().is_relative_to(folder):
                found.append(args)
    return found


@pytest.mark.parametrize("shell", SHELLS)
def test_a_run_ends_in_every_shell(shell: str, tmp_path: Path) -> None:
    """Its outputs are fetched, one that takes too long is ended, and what is stopped leaves nothing."""
    job = SimpleNamespace(own_data=False, runs_in_data_dir=False, output="out.json", tool="fio", inputs={})

    def script(name: str, command: str, limit_s: float) -> str:
        argv = ["sh", "-c", command]
        return host.start("token", name, host.lines([argv], job, PurePosixPath("/dev/null"), True, limit_s))

    def state(name: str, seconds: int) -> str:
        return device_guard.facts(run_by(shell, host.call("await", "token", name, seconds), tmp_path))[
            "state"
        ][0]

    run_by(shell, script("good", "echo {} >out.json; echo 'a b' >'a log'; echo said >&2", 60), tmp_path)
    assert state("good", 60) == "0"
    fetched = host.outputs(run_by(shell, host.call("fetch", "token", "good"), tmp_path), 1000)
    assert fetched == {"out.json": b"{}\n", "a log": b"a b\n", host.SAID_FILE: b"said\n"}
    run_by(shell, script("long", "sleep 1000", 1), tmp_path)
    assert state("long", 60) == str(GIVEN_UP)
    run_by(shell, script("stopped", "sleep 1000 & sleep 1001", 600), tmp_path)
    assert state("stopped", 0) == "running" and at_work(tmp_path)
    run_by(shell, host.call("stop", "token"), tmp_path)
    assert state("stopped", 0) != "running" and not at_work(tmp_path)
    run_by(shell, host.call("leave", "token", ""), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("shell", SHELLS)
def test_where_nothing_was_begun_nobody_is_within(shell: str, tmp_path: Path) -> None:
    """What stops a campaign that has no folder yet takes nobody else for its own."""
    look = 'for run in "$home/token"/* "" /nowhere/at/all; do within "$run"; done'
    script = host.machine("").replace("\nmachine\n", f"\n{look}\n")
    assert look in script and not run_by(shell, script.rpartition("\nlook ")[0], tmp_path)
