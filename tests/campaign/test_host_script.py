"""The script that a host runs: what a job file says stays text."""

import os
import shutil
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import pytest
from process_list import processes
from waiting import wait_for

from azbenchlib.campaign import device_guard
from azbenchlib.campaign.targets.hosts import host
from azbenchlib.campaign.workloads.program import GIVEN_UP

SHELLS = ("dash", "bash --posix", "busybox sh")


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


def run_of(command: str, name: str = "a") -> str:
    """The script that begins a run of a command on a device."""
    job = SimpleNamespace(own_data=False, runs_in_data_dir=False, output="out.json", tool="fio", inputs={})
    lines = host.lines([["sh", "-c", command]], job, PurePosixPath("/dev/null"), True, 600)
    return host.start("token", name, lines)


@pytest.mark.parametrize("shell", SHELLS)
def test_what_outlived_its_worker_is_ended_before_the_run_begins_anew(shell: str, tmp_path: Path) -> None:
    """Or two tools would measure at the same time, each as disturbed by the other."""
    run_by(shell, run_of("sleep 1000"), tmp_path)
    run = tmp_path / ".azbench/token/a"
    wait_for(lambda: "sleep 1000" in at_work(run))
    os.kill(int((run / "pid").read_text()), signal.SIGKILL)
    run_by(shell, run_of("sleep 1001"), tmp_path)
    wait_for(lambda: "sleep 1001" in at_work(run))
    assert "sleep 1000" not in at_work(run)
    run_by(shell, host.call("stop", "token"), tmp_path)


@pytest.mark.parametrize("shell", SHELLS)
def test_two_agents_at_the_same_time_begin_a_run_once(shell: str, tmp_path: Path) -> None:
    """As where a connection breaks, and its script is sent anew while the first one goes on."""
    script = run_of("echo began >>../began; sleep 1").replace(
        "write_script() {", "write_script() { sleep 1; "
    )
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda _: run_by(shell, script, tmp_path), range(3)))
    state = device_guard.facts(run_by(shell, host.call("await", "token", "a", 60), tmp_path))["state"]
    assert state == ["0"]
    assert (tmp_path / ".azbench/token/a/began").read_text() == "began\n"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_run_that_was_cut_off_while_it_began_is_begun_anew(shell: str, tmp_path: Path) -> None:
    (tmp_path / ".azbench/token/a").mkdir(parents=True)
    script = run_of("echo {} >out.json").replace("left=50", "left=1")
    run_by(shell, script, tmp_path)
    state = device_guard.facts(run_by(shell, host.call("await", "token", "a", 60), tmp_path))["state"]
    assert state == ["0"]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("line", ["//nas/my share", "tmpfs"])
def test_the_room_of_a_share_whose_name_holds_blanks_is_read(line: str, shell: str, tmp_path: Path) -> None:
    """Both names in a line of df may hold blanks."""
    row = f"{line}        1000000 250000    750000      25% /mnt/my disk 5% full"
    script = f"df() {{ echo Filesystem; echo '{row}'; }}\n{host.machine(str(tmp_path))}"
    told = device_guard.facts(run_by(shell, script, tmp_path))
    assert (told["total_bytes"], told["free_bytes"]) == ([str(1000000 * 1024)], [str(750000 * 1024)])


def test_what_somebody_mounted_in_our_folder_is_not_removed(tmp_path: Path) -> None:
    data = tmp_path / ".azbench-0123456789abcdef"
    theirs = tmp_path / "theirs"
    (data / "in").mkdir(parents=True)
    theirs.mkdir()
    (theirs / "file").write_text("precious")
    script = (
        f"mount --bind {theirs} {data}/in || exit 9\n({host.call('leave', '0123456789abcdef', str(data))})"
    )
    words = ["unshare", "--mount", "sh", "-s"]
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run(words, input=script, capture_output=True, text=True, env=env, check=False)
    if done.returncode == 9:
        pytest.skip("nothing can be mounted here")
    assert done.returncode == 3 and f"{data}/in is mounted in a folder of azbench; unmount it" in done.stderr
    assert (theirs / "file").read_text() == "precious"
