"""The rules of the house that ruff and the import contracts do not know, each over the whole library."""

import ast
import importlib
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import package_source
import pytest
from package_source import PACKAGE

from azbenchlib.campaign.targets.azure import guest
from azbenchlib.campaign.targets.hosts import host

MOST_POSITIONAL = 4  # fields of a dataclass that may be given without their names
MOST_LINES = 60  # of a function: a screen
PURE = tuple(
    f"{PACKAGE.name}.{floor}"
    for floor in ("model", "analysis", "cost", "advisor", "sizing", "verdict", "probing")
)
OF_FILES = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "read_csv", "read_parquet"}


@cache
def modules() -> dict[str, ast.Module]:
    found = {}
    for path, tree in package_source.modules().items():
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = tree
    return found


def imports(tree: ast.Module, *, typing: bool = True) -> Iterator[tuple[str, str]]:
    """Module and name of every ``from azbenchlib… import …``; those for the type checker only if wanted."""
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test) and not typing:
            skipped |= {*ast.walk(node)}
        if isinstance(node, ast.ImportFrom) and node not in skipped and node.module:
            ours = node.module.split(".")[0] == PACKAGE.name
            yield from ((node.module, alias.name) for alias in node.names if ours)


def public(kind: type[ast.AST]) -> dict[str, list[str]]:
    """Where each public class, or each public constant, is defined."""
    found = defaultdict(list)
    for name, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and kind is ast.ClassDef:
                found[node.name].append(name)
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if kind is ast.Assign and isinstance(node, ast.Assign | ast.AnnAssign):
                names = [
                    one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)
                ]
                for constant in names:
                    if constant.isupper():
                        found[constant].append(name)
    return {name: places for name, places in found.items() if not name.startswith("_")}


@pytest.mark.parametrize("kind", [ast.ClassDef, ast.Assign], ids=["classes", "constants"])
def test_a_name_means_one_thing(kind: type[ast.AST]) -> None:
    assert {name: places for name, places in public(kind).items() if len(places) > 1} == {}


def test_what_is_private_stays_in_its_module() -> None:
    """A private module is for its own package, a private name for its own module."""
    wrong = []
    for name, tree in modules().items():
        taken = [*imports(tree)]
        for module, imported in taken:
            target = f"{module}.{imported}"
            if target in modules():
                inside = name.startswith(module)
                wrong += [f"{name} takes {target}"] if imported.startswith("_") and not inside else []
            elif imported.startswith("_") and not imported.startswith("__"):
                wrong.append(f"{name} takes {imported} of {module}")
        modules_here = {imported for module, imported in taken if f"{module}.{imported}" in modules()}
        for node in ast.walk(tree):
            of_module = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            if of_module and node.value.id in modules_here and node.attr.startswith("_"):
                wrong.append(f"{name} takes {node.attr} of {node.value.id}")
    assert wrong == []


def test_no_package_has_a_circle() -> None:
    graph = {}
    for name, tree in modules().items():
        targets = {
            f"{module}.{imported}" if f"{module}.{imported}" in modules() else module
            for module, imported in imports(tree, typing=False)
        }
        # a package that only names its parts may be imported by them
        graph[name] = {target for target in targets if target != name and not name.startswith(f"{target}.")}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_dataclasses_of_many_fields_take_them_by_name() -> None:
    wrong = []
    for name, tree in modules().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef):
                continue
            made = [ast.unparse(one) for one in node.decorator_list if "dataclass" in ast.unparse(one)]
            fields = [
                one
                for one in node.body
                if isinstance(one, ast.AnnAssign) and "ClassVar" not in ast.unparse(one.annotation)
            ]
            if made and len(fields) > MOST_POSITIONAL and "kw_only=True" not in made[0]:
                wrong.append(f"{name}.{node.name}: {len(fields)} fields")
    assert wrong == []


def test_pure_floors_open_no_file() -> None:
    """Catalogue rows, tables and lines of files come to them as arguments."""
    opened = []
    for name, tree in modules().items():
        if name.startswith(PURE):
            calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
            called = {one.id if isinstance(one, ast.Name) else getattr(one, "attr", "") for one in calls}
            opened += [f"{name}: {one}" for one in sorted(called & OF_FILES)]
    assert opened == []


def test_functions_fit_a_screen() -> None:
    long = [
        f"{name}.{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.end_lineno and code_lines(node) > MOST_LINES
    ]
    assert long == []


def code_lines(node: ast.FunctionDef) -> int:
    """Lines of a function without its docstring."""
    first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
    return (node.end_lineno or 0) - first.lineno + 1


@pytest.mark.parametrize("folder", ["benchmarks", "scripts"])
def test_what_stands_beside_the_package_imports_names_that_it_has(folder: str) -> None:
    asked = {
        (str(path.relative_to(PACKAGE.parent)), module, name)
        for path in (PACKAGE.parent / folder).rglob("*.py")
        for module, name in imports(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert asked
    gone = [
        f"{path}: {module} has no {name}"
        for path, module, name in sorted(asked)
        if not hasattr(importlib.import_module(module), name) and f"{module}.{name}" not in modules()
    ]
    assert gone == []


@pytest.mark.parametrize("script", [host.machine(""), guest.inspect()], ids=["hosts", "Azure"])
def test_scripts_for_other_machines_are_sound_shell(script: str) -> None:
    """As they are sent, the guard of devices among them."""
    check_shell("-", "--shell=sh", given=script)


def test_scripts_of_this_project_are_sound_shell() -> None:
    root = PACKAGE.parent
    files = [path for path in (root / "scripts").iterdir() if path.is_file()]  # no __pycache__
    scripts = [path for path in files if path.read_bytes().startswith(b"#!/bin/sh")]
    assert len(scripts) > 5
    check_shell(*sorted(map(str, scripts)), str(root / ".ci/run"))


def check_shell(*words: str, given: str = "") -> None:
    """Fail with what ShellCheck says of a script; what a system has at its own place is not read."""
    program = Path(sys.executable).with_name("shellcheck")
    done = subprocess.run(
        [program, "--exclude=SC1091", *words], input=given, capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.fail(done.stdout + done.stderr, pytrace=False)
