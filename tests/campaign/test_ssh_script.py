"""The script that a host runs: what a job file says stays text."""

import os
import subprocess
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import pytest

from azbenchlib.campaign import device_guard
from azbenchlib.campaign.targets.hosts import host


@pytest.mark.parametrize(
    "end", ["AZBENCH_END_OF_SCRIPT", "'", "EOF", "end-", "$(touch evil)", "`touch evil`", "\\"]
)
def test_no_line_of_a_job_file_ends_the_script(end: str, tmp_path: Path) -> None:
    text = f"[a]\n{end}\ntouch {tmp_path}/evil\n{end}\n; exit 0\n"

    job = SimpleNamespace(
        own_data=False, runs_in_data_dir=False, output="out.json", tool="fio", inputs={"a.fio": text}
    )
    commands = [["cat", "a.fio"], ["touch", "out.json"]]
    lines = host.lines(commands, job, PurePosixPath("/dev/null"), True, 600)
    script = host.start("token", "a", lines) + host.wait("token", "a", 60)
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run(["sh", "-s"], input=script.encode(), capture_output=True, env=env, check=True)
    assert device_guard.facts(done.stdout)["state"] == ["0"]
    assert (tmp_path / ".azbench" / "token" / "a" / "out" / "a.fio").read_text() == text
    assert not list(tmp_path.glob("**/evil"))


def test_no_link_in_the_folder_that_is_looked_at_is_followed(tmp_path: Path) -> None:
    """Names that a link could wait under are not guessed: all that were used before lead to a file."""
    folder, theirs = tmp_path / "shared", tmp_path / "theirs"
    folder.mkdir()
    theirs.write_text("precious")
    script = f"ln -s {theirs} {folder}/.azbench-probe-$$\n{host.machine(str(folder))}"
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run(["sh", "-s"], input=script.encode(), capture_output=True, env=env, check=True)
    assert device_guard.facts(done.stdout)["direct"] == ["yes"]
    assert theirs.read_text() == "precious"
    assert [path.is_symlink() for path in folder.iterdir()] == [True]
