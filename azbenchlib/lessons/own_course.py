"""Lessons of one's own: modules and notebooks of a folder, whose code runs because the user named it."""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
from nbformat import v4

from azbenchlib.core.errors import InputError
from azbenchlib.lessons.lesson import Lesson
from azbenchlib.lessons.practice import Practice
from azbenchlib.lessons.shipped import COURSE, LessonEntry
from azbenchlib.report import execute

INDEX = "00_course"  # the notebook that lists all lessons
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_NEEDED = {"name": str, "title": str, "minutes": int, "makers": dict}
_TITLE = re.compile(r"^# +(.+)$", re.MULTILINE)
_PARAMETERS = {
    "seed": "seed: int = 1  # of the exercise; each number is another one",
    "quick": "quick: bool = False  # measure for a few seconds only",
    "prediction": 'prediction: str = ""  # for a run that nobody attends; in JupyterLab, type it below',
    "answer": 'answer: str = ""  # the same, for the exercise',
}
_PARTS = {"predict": "Predict", "measure": "Measure", "explore": "Turn it", "exercise": "Exercise"}


class OwnEntry(LessonEntry):
    """A lesson of one's own; `home` is its module, or the notebook that it is."""

    @property
    def notebook(self) -> str:
        """Name of its file, without the ending."""
        return self.name

    def load(self) -> type[Practice]:
        """Its class."""
        if not self.home.endswith(".py"):
            raise InputError(f"{self.home}: this lesson is a notebook alone, with no module {self.name}.py")
        return _class_of(Path(self.home))

    def as_notebook(self) -> nbformat.NotebookNode:
        """The notebook of the folder, or one that is made of the module."""
        given = Path(self.home).with_suffix(".ipynb")
        return execute.read_notebook(given) if given.is_file() else _notebook_of(self.load())


@cache
def own_entries(folder: Path) -> tuple[OwnEntry, ...]:
    """The lessons of a folder; this runs the modules in it.

    Parameters
    ----------
    folder : Path
        With modules (NAME.py), notebooks (NAME.ipynb), or both of one name. Other files, and those whose
        names begin with ``_`` or a point, are none of the course.

    Raises
    ------
    InputError
        When there is no lesson, one is called as a shipped one is, or a file is none.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; --course names one with lessons of your own")
    files = [path for path in sorted(folder.iterdir()) if path.suffix in (".py", ".ipynb")]
    names = sorted({path.stem for path in files if path.name[0] not in "._"})
    if not names:
        raise InputError(f"{folder}: no lesson is in this folder, neither NAME.py nor NAME.ipynb")
    return tuple(_entry(folder / name, number) for number, name in enumerate(names, len(COURSE) + 1))


def _entry(place: Path, number: int) -> OwnEntry:
    """The lesson of a name, whose files have this place but for their endings."""
    module, notebook = place.with_suffix(".py"), place.with_suffix(".ipynb")
    file = module if module.is_file() else notebook
    taken = {INDEX, *(entry.name for entry in COURSE), *(entry.notebook for entry in COURSE)}
    if place.name in taken:
        raise InputError(f"{file}: azbench's own course has a lesson '{place.name}'; call yours otherwise")
    if not _NAME.fullmatch(place.name):
        raise InputError(
            f"{file}: a lesson is called by lower-case letters, digits and _, and begins with a letter"
        )
    title, minutes = place.name, 0
    if notebook.is_file():
        cells = execute.read_notebook(notebook).cells
        heading = _TITLE.search("\n".join(cell.source for cell in cells if cell.cell_type == "markdown"))
        title = heading[1] if heading else title
    if file == module:
        found: Any = _class_of(module)
        title, minutes = found.title, found.minutes
    return OwnEntry(number=number, name=place.name, title=title, minutes=minutes, home=str(file))


@cache
def _class_of(file: Path) -> type[Practice]:
    """The class of the lesson that a module defines, looked over."""
    module = _run(file)
    classes = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Practice) and value.__module__ == module.__name__
    ]
    if len(classes) != 1:
        names = ", ".join(one.__name__ for one in classes) or "none"
        raise InputError(
            f"{file}: a lesson is a module with one class that derives from Practice or Lesson; here: {names}"
        )
    found = classes[0]
    for name, kind in _NEEDED.items():
        if not isinstance(getattr(found, name, None), kind) or not getattr(found, name):
            raise InputError(f"{file}: the class {found.__name__} needs {name}, of the type {kind.__name__}")
    if found.name != file.stem:
        raise InputError(f"{file}: the lesson calls itself '{found.name}'; it must be called as its file is")
    if inspect.isabstract(found):
        missing = ", ".join(sorted(getattr(found, "__abstractmethods__", ())))
        raise InputError(f"{file}: the class {found.__name__} does not define: {missing}")
    for seed in range(len(found.makers)):
        try:
            found().exercise_of(seed)
        except (Exception, SystemExit) as error:
            raise InputError(f"{file}: exercise {seed} cannot be drawn: {_why(error, file)}") from error
    return found


def _run(file: Path) -> ModuleType:
    """Run a module; nothing is written beside it."""
    module = ModuleType(f"azbench_course.{file.stem}")
    module.__file__ = str(file)
    sys.modules[module.__name__] = module  # where dataclasses look for it
    try:
        exec(compile(file.read_bytes(), str(file), "exec"), vars(module))  # noqa: S102  as was asked
    except (Exception, SystemExit) as error:
        raise InputError(f"{file}: the lesson cannot be loaded: {_why(error, file)}") from error
    return module


def _why(error: BaseException, file: Path) -> str:
    """What is wrong, and in which line of the file, where it is one of its lines."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(file)]
    line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else None
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{f'line {line}: ' if line else ''}{type(error).__name__}: {said}"


def _notebook_of(lesson: type[Practice]) -> nbformat.NotebookNode:
    """The cells that shipped lessons have, for one that has no notebook."""
    found: Any = lesson
    measures = issubclass(lesson, Lesson)
    names = list(_PARAMETERS) if measures else ["seed", "answer"]
    parameters = v4.new_code_cell(
        "\n".join(_PARAMETERS[name] for name in names), metadata={"tags": ["parameters"]}
    )
    given = ", ".join(f"{name}={name}" for name in names)
    how = ("open_lesson", f'open_lesson("{found.name}", {given})')
    if not measures:
        how = ("entry_of", f'entry_of("{found.name}").load()({given})')
    opened = "from azbenchlib.lessons.course import {}\n\nlesson = {}".format(*how)
    about = inspect.cleandoc(lesson.__doc__ or "")
    cells = [
        v4.new_markdown_cell(f"# {found.title}\n\n{about}".strip()),
        parameters,
        v4.new_code_cell(opened),
    ]
    for call, heading in _PARTS.items() if measures else [("exercise", _PARTS["exercise"])]:
        cells += [v4.new_markdown_cell(f"## {heading}"), v4.new_code_cell(f"lesson.{call}()")]
    return v4.new_notebook(cells=cells, metadata={"kernelspec": dict(execute.KERNEL)})
