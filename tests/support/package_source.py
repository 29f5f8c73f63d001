"""The source of the package, parsed once by a process however many tests look at it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "azbenchlib"


@cache
def modules() -> dict[Path, ast.Module]:
    """Return all modules of the package."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def sentences() -> list[tuple[str, str]]:
    """Return the texts of all modules, each with its place: without docstrings, and no word alone."""
    return [found for path, tree in modules().items() for found in _sentences(path, tree)]


def _sentences(path: Path, tree: ast.Module) -> Iterator[tuple[str, str]]:
    nodes = [*ast.walk(tree)]
    docstrings = {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef)
        if node.body and isinstance(node.body[0], ast.Expr) and not _is_help(path, node)
    }
    for node in nodes:
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and " " in text.strip() and id(node) not in docstrings:
            yield f"{path.relative_to(PACKAGE.parent)}:{node.lineno}", text


def _is_help(path: Path, node: ast.AST) -> bool:
    """Whether a docstring may be the help of a verb."""
    return path.parent.name == "cli" and isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
