"""The verb that teaches: `azbench learn`."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from azbenchlib.cli.options.measuring_options import QuickOption
from azbenchlib.cli.printing.console import notes
from azbenchlib.core.errors import InputError, MissingToolError

_IDLE_S = 1200  # after which the kernel of a notebook that is not open any more is ended
_NEEDED = ("jupyterlab", "ipywidgets", "papermill")


def learn(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Where your notebooks are kept; default: in your user folder. A notebook that is there "
            "stays as "
            "it is; delete it to have it anew."
        ),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Run all lessons and write them as HTML pages into this folder instead."
        ),
    ] = None,
    course: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A folder with lessons of your own, beside those of azbench; the Python in it is run.",
        ),
    ] = None,
    pdf: Annotated[bool, typer.Option("--pdf", help="With --export: write each page as PDF too.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="With --export: of the exercises.")] = 1,
    quick: QuickOption = False,
    browser: Annotated[bool, typer.Option(help="Open a browser; else the address is only printed.")] = True,
) -> None:
    """Open the course on caching and throttling in JupyterLab: twelve lessons on emulated disks."""
    _check_installed()
    _take(course, folder)
    if export is not None:
        if folder is not None:
            raise InputError(
                f"'{folder}' is the folder of your notebooks, and --export opens none; give one of the two"
            )
        _export(export, seed, quick, pdf)
        return
    if pdf or quick:
        raise InputError("--pdf and --quick belong to --export DIR; in JupyterLab, set quick in the notebook")
    from azbenchlib.lessons.export import working_folder
    from azbenchlib.lessons.measure import find_fio
    from azbenchlib.lessons.own_course import INDEX

    home = working_folder(folder)
    try:
        find_fio()
    except MissingToolError as error:
        notes.print(f"Lessons can be read, but not measured: {error}")
    notes.print(f"Your notebooks: {home}")
    notes.print(
        "JupyterLab opens on the list of lessons; else open the address that it prints. Ctrl-C here ends it."
    )
    _jupyterlab(home / f"{INDEX}.ipynb", browser)


def _check_installed() -> None:
    for module in _NEEDED:
        if importlib.util.find_spec(module) is None:
            raise ModuleNotFoundError(f"no module named {module}", name=module)


def _take(course: Path | None, folder: Path | None) -> None:
    """Open the lessons of the user's own folder, for kernels as well; of no other folder."""
    from azbenchlib.lessons.course import COURSE_FOLDER, entries

    os.environ.pop(COURSE_FOLDER, None)
    if course is None:
        return
    if folder is not None and folder.resolve() == course.resolve():
        raise InputError(
            f"{folder}: --course DIR is where lessons come from, so your notebooks need another folder"
        )
    os.environ[COURSE_FOLDER] = str(course.resolve())
    entries()


def _export(folder: Path, seed: int, quick: bool, pdf: bool) -> None:
    from azbenchlib.lessons.export import export
    from azbenchlib.lessons.measure import find_fio

    find_fio()
    index = export(folder, seed=seed, quick=quick, as_pdf=pdf, tell=notes.print)
    notes.print(f"Course: {index}")


def _jupyterlab(notebook: Path, browser: bool) -> NoReturn:
    """Become JupyterLab, so that whoever ends us ends it, with its kernels."""
    from azbenchlib.lessons.export import JUPYTER_SETTINGS

    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={notebook.parent}"]
    command.append(
        f"--LabApp.default_url=/lab/tree/{notebook.name}"
    )  # the address that is printed leads there
    # a kernel takes 250 MiB: those of lessons that were closed end after a while
    command += [f"--MappingKernelManager.cull_idle_timeout={_IDLE_S}"]
    command += [] if browser else ["--no-browser"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # Windows has none
        notes.print("You are root, so JupyterLab runs as root: keep its address, with its token, private.")
        command.append("--allow-root")
    # Beside the user's own settings, ours switch off what asks about news of Jupyter and looks for updates.
    folders = [str(JUPYTER_SETTINGS), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(folders)
    sys.stdout.flush()
    os.execv(sys.executable, command)  # noqa: S606  an argument list, no shell
