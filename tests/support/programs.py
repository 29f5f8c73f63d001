"""Python programs in processes of their own, forked from one that has the large libraries in it already.

``python -c CODE ARGUMENTS`` spends a second of CPU on importing pandas and its kin before it begins; here all
programs of a test run share that second, and none takes another at its end to free what is shared. The
command line itself is imported anew by each of them. What depends on how a process is started (closed
streams, what is imported, signals) is tested with processes that are started as usual.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from waiting import PATIENCE_S

AZBENCH = "from azbenchlib.cli import main; main()"
_SERVER = """
import atexit, gc, importlib, json, os, sys, threading, time
for name in {libraries!r}:
    importlib.import_module(name)
gc.freeze()
for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if child:
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    for number, path in enumerate((os.devnull, order["out"], order["err"])):
        opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    sys.argv = ["-c", *order["arguments"]]
    code = 0
    try:
        exec(compile(order["code"], "<string>", "exec"), {{"__name__": "__main__"}})
    except SystemExit as ended:
        code = ended.code or 0
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except Exception:  # whatever it is: printed with its traceback, as Python ends a program
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
"""
_LIBRARIES = (
    *("numpy", "pandas", "pyarrow.parquet", "pydantic", "yaml", "typer", "rich.console", "rich.table"),
    *("rich.progress", "jinja2", "nbformat", "papermill", "matplotlib.figure", "scipy.stats"),
    *("azbenchlib.dataset.dataset", "azbenchlib.verdict.run_verdicts", "azbenchlib.verdict.cases.judge"),
    *("azbenchlib.advisor.offers.load_market", "azbenchlib.campaign"),
)
_idle: list[subprocess.Popen[str]] = []
_lock = threading.Lock()


def azbench(
    *arguments: object,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    timeout: float = PATIENCE_S,
) -> subprocess.CompletedProcess[str]:
    """The command line with some arguments."""
    return python(AZBENCH, *arguments, cwd=cwd, env=env, timeout=timeout)


def python(
    code: str,
    *arguments: object,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    timeout: float = PATIENCE_S,
) -> subprocess.CompletedProcess[str]:
    """A program with some arguments; it is killed, and the test fails, when it does not end in time."""
    words = [str(word) for word in arguments]
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        out.touch()
        err.touch()
        order = {
            **{"code": code, "arguments": words, "out": str(out), "err": str(err)},
            **{"cwd": str(cwd or Path.cwd()), "env": dict(os.environ if env is None else env)},
        }
        ended = _ask(order, timeout)
        if ended is None:
            raise subprocess.TimeoutExpired(words, timeout, out.read_text(), err.read_text())
        return subprocess.CompletedProcess(words, ended, out.read_text(), err.read_text())


def _ask(order: dict[str, object], timeout: float) -> int | None:
    """The exit code of a program; None when it had to be killed. Each thread has a server to itself."""
    with _lock:
        server = _idle.pop() if _idle else _start()
    assert server.stdin and server.stdout
    kill = threading.Timer(timeout, os.killpg, (server.pid, signal.SIGKILL))
    kill.start()
    try:
        server.stdin.write(json.dumps(order) + "\n")
        server.stdin.flush()
        answer = server.stdout.readline()
    finally:
        kill.cancel()
    if answer:
        with _lock:
            _idle.append(server)
    return int(answer) if answer else None


def _start() -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _SERVER.format(libraries=_LIBRARIES)]
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    atexit.register(_end, server)
    return server


def _end(server: subprocess.Popen[str]) -> None:
    """End a server with whatever still runs in it."""
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
