"""Run a parameterised notebook in this process, with names and types of its parameters checked first."""

import ast
import json
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import nbformat
import papermill
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from papermill.exceptions import PapermillExecutionError

from azbenchlib.errors import AzbenchError, InputError, OutputError
from azbenchlib.manifest import write_atomically
from azbenchlib.places import shipped

TYPES: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict}
# How long a kernel may take to end; half of it passes before it is killed. An interrupted cell may have to
# delete what it made in Azure. A kernel whose cells are done has nothing to do, and yet some hang then (seen
# with ipykernel 7: its control thread writes to a thread that is gone).
END_S, LONGEST_END_S = 10.0, 4000.0
# nbclient prints an error's text with the kernel's own name for its class in front of it.
_OWN_ERRORS = ("InputError", "UnsafeTargetError", "MissingToolError", "AzError", "AzbenchError")


class IpcKernelManager(AsyncKernelManager):
    """A kernel of this very Python over unix sockets: no port to race for, none to listen on."""

    transport = "ipc"
    interrupted = False  # whether this process was, so that a cell may still be at work

    def __init__(self, **settings: Any) -> None:
        self._sockets = tempfile.mkdtemp(prefix="azbench-")  # private (0700), short enough for a socket
        super().__init__(**settings)
        self.ip = f"{self._sockets}/k"

    @property
    def kernel_spec(self) -> KernelSpec:
        """An ipykernel in the interpreter that runs azbench, whatever kernels the user has installed."""
        argv = [sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        argv += ["--log-level=CRITICAL"]  # what a cell does wrong arrives as an output, not as a log line
        return KernelSpec(argv=argv, display_name="azbench", language="python")

    async def _async_finish_shutdown(
        self, waittime: float | None = None, pollinterval: float = 0.1, restart: bool = False
    ) -> None:
        patience = LONGEST_END_S if IpcKernelManager.interrupted else END_S
        await super()._async_finish_shutdown(waittime or patience, pollinterval, restart)

    finish_shutdown = _async_finish_shutdown

    async def _async_cleanup_resources(self, restart: bool = False) -> None:
        await super()._async_cleanup_resources(restart=restart)
        if not restart:
            shutil.rmtree(self._sockets, ignore_errors=True)

    cleanup_resources = _async_cleanup_resources


def find_notebook(name: str) -> Path:
    """A notebook that comes with azbench: beside the package in a checkout, within it when installed.

    Raises
    ------
    InputError
        When there is none of that name.
    """
    for home in shipped("notebooks"):
        if (home / f"{name}.ipynb").is_file():
            return home / f"{name}.ipynb"
    raise InputError(f"no notebook '{name}' comes with azbench")


def check_parameters(notebook: Path, given: Mapping[str, Any]) -> None:
    """Refuse parameters that the notebook does not declare, or of another type than declared.

    Raises
    ------
    InputError
        Naming the parameter and those there are.
    """
    declared = papermill.inspect_notebook(str(notebook))
    for name, value in given.items():
        if name not in declared:
            known = ", ".join(declared)
            raise InputError(f"{notebook.name} has no parameter '{name}'; it has: {known}")
        wanted = TYPES.get(declared[name]["inferred_type_name"].partition("[")[0])
        if wanted and type(value) is not wanted and not (wanted is float and type(value) is int):
            raise InputError(f"{notebook.name}: parameter {name} must be {wanted.__name__}, not {value!r}")


def parse_parameters(texts: list[str]) -> dict[str, Any]:
    """``name=value`` from a command line; a value is a Python literal, else the text as it is.

    Raises
    ------
    InputError
        For a text without ``=``.
    """
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"'{text}' is no parameter; write name=value")
        try:
            values[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            values[name] = value
    return values


def run_notebook(
    notebook: Path, parameters: Mapping[str, Any], output: Path | None = None, progress: bool = False
) -> nbformat.NotebookNode:
    """Execute a notebook.

    Parameters
    ----------
    notebook : Path
        With a cell tagged ``parameters``.
    parameters : mapping
        Plain JSON values; never a secret, since the output notebook records them.
    output : Path, optional
        Where the executed notebook goes, by rename, when no cell failed.
    progress : bool
        Whether to print what the cells print while they run.

    Returns
    -------
    NotebookNode
        The executed notebook.

    Raises
    ------
    InputError
        For unknown or mistyped parameters.
    AzbenchError
        When a cell fails; the sentence is the library's own where it raised one.
    """
    check_parameters(notebook, parameters)
    with tempfile.TemporaryDirectory(prefix="azbench-") as scratch:
        executed = Path(scratch) / "executed.ipynb"
        try:
            with _interrupts_noted():
                papermill.execute_notebook(
                    str(notebook),
                    str(executed),
                    parameters=json.loads(json.dumps(dict(parameters))),
                    progress_bar=False,
                    log_output=False,
                    stdout_file=sys.stdout if progress else None,
                    kernel_name="python3",
                    language="python",
                    kernel_manager_class=IpcKernelManager,
                    cwd=str(Path.cwd()),
                )
        except PapermillExecutionError as error:
            raise _as_ours(notebook, error) from error
        if output is not None:
            write_atomically(output, executed.read_bytes())
        return nbformat.read(executed, as_version=4)


@contextmanager
def _interrupts_noted() -> Iterator[None]:
    """Note an interrupt before it does what it would have done anyway."""

    def note(number: int, frame: FrameType | None) -> None:
        IpcKernelManager.interrupted = True
        signal.default_int_handler(number, frame)

    mine = threading.current_thread() is threading.main_thread()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    polite = [number for number, handler in before.items() if mine and handler is signal.default_int_handler]
    for number in polite:
        signal.signal(number, note)
    try:
        yield
    finally:
        IpcKernelManager.interrupted = False
        for number in polite:
            signal.signal(number, before[number])


def _as_ours(notebook: Path, error: PapermillExecutionError) -> AzbenchError:
    if error.ename == "OutputError":
        return OutputError(error.evalue)
    if error.ename in _OWN_ERRORS:
        return InputError(error.evalue)
    return AzbenchError(f"{notebook.name}: cell {error.cell_index} failed: {error.ename}: {error.evalue}")
