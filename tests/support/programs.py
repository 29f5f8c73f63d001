"""Python programs in processes of their own, forked from one that has the large libraries in it already.

``python -c CODE ARGUMENTS`` spends a second of CPU on importing pandas and its kin before it begins; here all
programs of a test run share that second, and none takes another at its end to free what is shared. What one
of them had to import of the package and its libraries is there for the next, and so are catalogue and prices.
What depends on how a process is started (closed streams, what is imported, signals) is tested with processes
that are started as usual.
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
import atexit, contextlib, gc, importlib, json, os, sys, threading, time
from azbenchlib.advisor.offers.load_market import market
def learn(names):
    for name in names:
        with contextlib.suppress(Exception):
            importlib.import_module(name)
    gc.freeze()
learn({libraries!r})
market("westeurope")  # what is shipped of catalogue and prices is read once
for line in sys.stdin:
    order = json.loads(line)
    learnt, tell = os.pipe()
    known = {{*sys.modules}}
    child = os.fork()
    if child:
        os.close(tell)
        os.set_blocking(learnt, False)  # the child may have left others behind that hold the other end
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        with contextlib.suppress(OSError, ValueError), open(learnt, "rb", 0) as answer:
            learn(json.loads(answer.read(1 << 16)))
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
    loaded = [name for name, module in [*sys.modules.items()] if name not in known
              and str(getattr(module, "__file__", "")).startswith({ours!r})]
    os.write(tell, json.dumps(loaded).encode()[: 1 << 16])
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
_OURS = (sys.prefix, str(Path(__file__).parents[2] / "azbenchlib"))  # and nothing of the current folder
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
    command = [sys.executable, "-c", _SERVER.format(libraries=_LIBRARIES, ours=_OURS)]
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    atexit.register(_end, server)
    return server


def _end(server: subprocess.Popen[str]) -> None:
    """End a server with whatever still runs in it."""
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
