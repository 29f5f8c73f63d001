"""Whatever azbench starts ends with it, also where azbench is killed without a chance to end it."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from many_runs import write_runs

if not Path("/proc/self/environ").exists():
    pytest.skip("processes are found by their environment in /proc", allow_module_level=True)
AZBENCH = str(Path(sys.executable).with_name("azbench"))
MARK = "AZBENCH_TEST_MARK"  # in the environment of a program and of all that it starts
LONG_S = 600
WORKING = f"""
import time
from azbenchlib.lake.workers import Processes
if __name__ == "__main__":
    list(Processes(2).map(time.sleep, [{LONG_S}, {LONG_S}, {LONG_S}]))
"""
NOTEBOOK = """
from pathlib import Path
import nbformat
from azbenchlib.report import execute
cells = [nbformat.v4.new_code_cell("", metadata={"tags": ["parameters"]})]
cells += [nbformat.v4.new_code_cell("import time; open('at-work', 'w'); time.sleep(600)")]
book = nbformat.v4.new_notebook(cells=cells)
book.metadata.kernelspec = {"name": "python3", "display_name": "", "language": "python"}
nbformat.write(book, "book.ipynb")
execute.run_notebook(Path("book.ipynb"), {})
"""
LAB = """
import time
from azbenchlib import emulate
with emulate("Standard_D4as_v5", ["P4"]):
    time.sleep(600)
"""


class Started:
    """A program, and what it started."""

    def __init__(self, command: list[str], cwd: Path) -> None:
        self.mark, self.log = uuid.uuid4().hex, cwd / "log"
        names = ("HOME", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR", "XDG_RUNTIME_DIR")
        places = {name: str(cwd / name.lower()) for name in names}
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command, cwd=cwd, env={**os.environ, **places, MARK: self.mark}, stdout=log, stderr=log
            )

    def others(self) -> dict[int, str]:
        """The words of each process that it started, and that is there."""
        marked = f"{MARK}={self.mark}\0".encode()
        found = {}
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # gone meanwhile
                if marked in (place / "environ").read_bytes() and int(place.name) != self.process.pid:
                    found[int(place.name)] = (place / "cmdline").read_bytes().decode().replace("\0", " ")
        return found

    def wait_for(self, ready: Callable[[dict[int, str]], object]) -> None:
        """Wait until what is said of the others holds; the program must not end before."""
        while not ready(self.others()):
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.05)


@contextmanager
def started(command: list[str], cwd: Path) -> Iterator[Started]:
    program = Started(command, cwd)
    try:
        yield program
    finally:
        for pid in (*program.others(), program.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        program.process.wait()


def ends_with_its_parent(program: Started) -> None:
    """Kill the program, and wait until nothing that it started is there any more."""
    assert program.others()
    program.process.kill()
    program.process.wait()
    deadline = time.monotonic() + LONG_S / 5  # of the test alone: to fail, not to hang
    while left := program.others():
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def ignores_interrupts(pid: int) -> bool:
    """Whether a worker waits for work: to ignore them is the last that it does before."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("SigIgn:"):
                return bool(int(line.split()[1], 16) >> (signal.SIGINT - 1) & 1)
    return False


def listens(announced: Path) -> bool:
    """Whether the server whose address stands in a file takes connections; it writes the file before that."""
    with suppress(OSError, ValueError):
        socket.create_connection(("localhost", json.loads(announced.read_text())["port"])).close()
        return True
    return False


def workers(others: dict[int, str]) -> list[int]:
    return [pid for pid, words in others.items() if "spawn_main" in words]


@pytest.mark.parametrize("stopped", [False, True], ids=["", "stopped"])
def test_workers_end_with_who_started_them(tmp_path: Path, stopped: bool) -> None:
    if stopped and sys.platform != "linux":
        pytest.skip("only Linux ends a process that is stopped")
    (tmp_path / "program.py").write_text(WORKING)
    with started([sys.executable, "program.py"], tmp_path) as program:
        program.wait_for(lambda others: sum(map(ignores_interrupts, workers(others))) == 2)
        for pid in workers(program.others()) if stopped else ():
            os.kill(pid, signal.SIGSTOP)
        ends_with_its_parent(program)


def test_workers_of_a_collector_end_with_it(tmp_path: Path) -> None:
    """Wherever they are: most of them import pandas when they are seen."""
    for number in range(6):  # a folder each with a log, so that each is a batch
        (home := tmp_path / "outputs" / str(number)).mkdir(parents=True)
        write_runs(home, 1, number)
        (home / "x_bw.1.log").write_text("100, 5, 0, 4096, 0\n")
    with started([AZBENCH, "collect", "outputs", "-o", "lake", "--processes", "3"], tmp_path) as program:
        program.wait_for(workers)
        ends_with_its_parent(program)


def test_the_kernel_of_a_notebook_ends_with_who_runs_it(tmp_path: Path) -> None:
    with started([sys.executable, "-c", NOTEBOOK], tmp_path) as program:
        program.wait_for(lambda _: (tmp_path / "at-work").exists())
        ends_with_its_parent(program)


def test_the_server_of_the_lab_ends_with_who_started_it(tmp_path: Path) -> None:
    with started([sys.executable, "-c", LAB], tmp_path) as program:
        program.wait_for(lambda others: any("lab.server.serve" in words for words in others.values()))
        ends_with_its_parent(program)


@pytest.mark.long  # as the kernel of a notebook
def test_kernels_of_the_course_end_with_jupyterlab(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    with started([AZBENCH, "learn", "mine", "--no-browser"], tmp_path) as program:
        announced = tmp_path / "jupyter_runtime_dir" / f"jpserver-{program.process.pid}.json"
        program.wait_for(lambda _: listens(announced))
        told = json.loads(announced.read_text())
        asked = urllib.request.Request(  # noqa: S310  of this machine
            f"{told['url']}api/kernels",
            b"{}",
            {"Authorization": f"token {told['token']}", "Content-Type": "application/json"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        kernel = json.load(opener.open(asked))
        log = (tmp_path / "jupyter_runtime_dir").glob(f"kernel-{kernel['id']}.json")
        assert list(log)
        program.wait_for(lambda others: any("ipykernel_launcher" in words for words in others.values()))
        ends_with_its_parent(program)
