"""Run a parameterised notebook in this process, with names and types of its parameters checked first."""

import ast
import json
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import papermill
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError

from azbenchlib.core import privacy
from azbenchlib.core.errors import AzbenchError, InputError, OutputError, WorkloadsFailedError
from azbenchlib.core.files import read_regular, write_atomically
from azbenchlib.core.locations import shipped
from azbenchlib.core.temporary import temporary_folder
from azbenchlib.core.units import MIB
from azbenchlib.report.channels import NotReadyError, PatientClient
from azbenchlib.report.interrupts import KERNEL_ENGINE, Relay

KERNEL = {"name": "python3", "language": "python", "display_name": "Python 3 (ipykernel)"}
TYPES: dict[str, type] = {"str": str, "int": int, "float": float, "bool": bool, "list": list, "dict": dict}
# How long a kernel may take to end; half of it passes before it is killed. A cell that is still at work may
# have to delete what it made in Azure. A kernel whose cells are done has nothing to do, and yet some hang
# then (seen with ipykernel 7: its control thread writes to a thread that is gone).
_END_S, LONGEST_END_S = 10.0, 8000.0
_LARGEST = 100 * MIB  # of a notebook, with the outputs that it was saved with
# nbclient prints an error's text with the kernel's own name for its class in front of it.
_OWN_ERRORS = ("InputError", "UnsafeTargetError", "MissingToolError", "AzError", "AzbenchError")


class IpcKernelManager(AsyncKernelManager):
    """A kernel of this very Python over unix sockets: no port to race for, none to listen on."""

    transport = "ipc"
    relay = Relay()  # replaced by that of the notebook, as the next is
    errors = Path(os.devnull)  # for what the process itself says; what cells say arrives as their outputs

    def __init__(self, **settings: Any) -> None:
        self.relay.kernel = self
        self._sockets = tempfile.mkdtemp(prefix="azbench-")  # private (0700), short enough for a socket
        super().__init__(**settings)
        self.ip = f"{self._sockets}/k"

    def client(self, **settings: Any) -> AsyncKernelClient:  # type: ignore[override]  # as that of Jupyter
        """A client that does not wait for good; nbclient asks for one of another class."""
        self.client_factory = PatientClient
        return super().client(**settings)

    @property
    def kernel_spec(self) -> KernelSpec:
        """An ipykernel in the interpreter that runs azbench, whatever kernels the user has installed."""
        # -P and ignore_cwd: nothing of the current folder, which may be a dataset of others, is imported
        argv = [sys.executable, "-P", "-Xfrozen_modules=off", "-m", "ipykernel_launcher"]
        argv += ["-f", "{connection_file}", "--InteractiveShellApp.ignore_cwd=True"]
        argv += ["--log-level=CRITICAL"]  # what a cell does wrong arrives as an output, not as a log line
        return KernelSpec(argv=argv, display_name="azbench", language="python")

    async def _async_launch_kernel(self, kernel_cmd: list[str], **settings: Any) -> None:
        # not shown where all goes well: ipykernel's threads race when they end, and tell of it at length
        with self.errors.open("wb") as errors:
            await super()._async_launch_kernel(kernel_cmd, stderr=errors, **settings)

    _launch_kernel = _async_launch_kernel

    async def _async_finish_shutdown(
        self, waittime: float | None = None, pollinterval: float = 0.1, restart: bool = False
    ) -> None:
        patience = LONGEST_END_S if self.relay.at_work and not self.relay.given_up else _END_S
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


def read_notebook(path: Path) -> nbformat.NotebookNode:
    """Return a notebook in Python, in the newest form of its format.

    Raises
    ------
    InputError
        When it cannot be read, is no notebook, or one in another language.
    """
    try:
        with warnings.catch_warnings(action="ignore"):  # ids that cells lack are given to them
            notebook = nbformat.reads(read_regular(path, _LARGEST).decode(), as_version=4)
    except OSError as error:
        raise InputError(f"{path}: the notebook cannot be read: {error.strerror or error}") from error
    except (ValueError, TypeError, AttributeError, nbformat.ValidationError) as error:
        raise InputError(f"{path}: is no Jupyter notebook: {str(error).splitlines()[0]}") from error
    about = notebook.metadata
    language = about.get("language_info", {}).get("name") or about.get("kernelspec", {}).get("language")
    if language not in (None, "python"):
        raise InputError(f"{path}: is a notebook in {language}; azbench runs those in Python")
    about["kernelspec"] = dict(KERNEL)
    return notebook


def check_parameters(name: str, notebook: nbformat.NotebookNode, given: Mapping[str, Any]) -> None:
    """Refuse parameters that a notebook of some name does not declare, or of another type than declared.

    Raises
    ------
    InputError
        Naming the parameter and those there are.
    """
    declared = papermill.inspect_notebook(notebook)
    if given and not declared:
        needed = ", ".join(given)
        raise InputError(f"{name} has no cell tagged 'parameters' that sets variables; it needs {needed}")
    for parameter, value in given.items():
        if parameter not in declared:
            known = ", ".join(declared)
            raise InputError(f"{name} has no parameter '{parameter}'; it has: {known}")
        wanted = TYPES.get(declared[parameter]["inferred_type_name"].partition("[")[0])
        if wanted and type(value) is not wanted and not (wanted is float and type(value) is int):
            raise InputError(f"{name}: parameter {parameter} must be {wanted.__name__}, not {value!r}")


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
        For what is no notebook, and for unknown or mistyped parameters.
    AzbenchError
        When a cell fails; the sentence is the library's own where it raised one.
    KeyboardInterrupt
        When a cell was interrupted; with the library's own words where it has some.
    """
    given = read_notebook(notebook)
    check_parameters(notebook.name, given, parameters)
    with temporary_folder() as scratch:
        executed, errors = scratch / "executed.ipynb", scratch / "errors.txt"
        source = scratch / "given.ipynb"  # papermill fills in braces in a name
        nbformat.write(given, source)
        relay = Relay()
        try:
            with relay.passing():
                papermill.execute_notebook(
                    str(source),
                    str(executed),
                    parameters=json.loads(json.dumps(dict(parameters))),
                    progress_bar=False,
                    log_output=False,
                    stdout_file=sys.stdout if progress else None,
                    kernel_name="python3",
                    language="python",
                    engine_name=KERNEL_ENGINE,
                    relay=relay,
                    kernel_manager_class=type(
                        "KernelManager", (IpcKernelManager,), {"relay": relay, "errors": errors}
                    ),
                    cwd=str(Path.cwd()),
                )
        except (DeadKernelError, NotReadyError) as error:
            raise AzbenchError(_why_dead(notebook, error, errors)) from error
        except PapermillExecutionError as error:
            if error.ename == "KeyboardInterrupt":
                raise KeyboardInterrupt(*filter(None, [error.evalue])) from error
            raise _as_ours(notebook.name, given, error) from error
        found = nbformat.read(executed, as_version=4)
        if output is not None:
            write_atomically(output, nbformat.writes(_without_places(found, notebook, output)).encode())
        return found


def _without_places(executed: nbformat.NotebookNode, notebook: Path, output: Path) -> nbformat.NotebookNode:
    """A copy to keep: it does not tell where on this machine it was made, or by whom."""
    here = Path.cwd()
    kept = privacy.everywhere(lambda text: privacy.masked(privacy.beside(text, here)), executed)
    kept["metadata"]["papermill"] |= {"input_path": notebook.name, "output_path": output.name}
    return nbformat.from_dict(kept)


def _why_dead(notebook: Path, error: Exception, errors: Path) -> str:
    dead = "was killed" if isinstance(error, DeadKernelError) else "did not start"
    said = errors.read_text(errors="replace").strip() if errors.exists() else ""
    return f"{notebook.name}: the process that runs it {dead}" + (
        f": {said.splitlines()[-1]}" if said else ""
    )


def _as_ours(name: str, given: nbformat.NotebookNode, error: PapermillExecutionError) -> AzbenchError:
    if error.ename == "OutputError":
        return OutputError(error.evalue)
    if error.ename == "WorkloadsFailedError":
        return WorkloadsFailedError(error.evalue)
    if error.ename in _OWN_ERRORS:
        return InputError(error.evalue)
    cells = [cell.source for cell in given.cells]  # without the one that papermill adds
    number = cells.index(error.source) + 1 if error.source in cells else error.cell_index + 1
    first, more, _ = error.source.strip().partition("\n")
    why = str(error.evalue).strip().partition("\n")[0]
    return AzbenchError(f"{name}: cell {number} ({first}{more and ' …'}) failed: {error.ename}: {why}")
