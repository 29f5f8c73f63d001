"""Notebooks that come with azbench, their cells run one after the other in the process of the tests.

A kernel spends seconds on importing what is here already. That a notebook runs in one is tested with the
report, with ``01_measure`` and ``06_size``, and of each in a real JupyterLab by ``make test-long``.
"""

import ast
from typing import Any

import nbformat

from azbenchlib.report import execute
from azbenchlib.report.page import to_html


def executed(name: str, **parameters: object) -> nbformat.NotebookNode:
    """Return a notebook with the values of its cells as outputs, run with some parameters of its own."""
    notebook = nbformat.read(execute.find_notebook(name), as_version=4)
    names: dict[str, Any] = {}
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        value = _run(cell.source, names)
        if "parameters" in cell.metadata.get("tags", []):
            assert parameters.keys() <= names.keys(), "the notebook has no such parameter"
            names |= parameters
        if value is not None:
            cell.outputs = [nbformat.v4.new_output("execute_result", _bundle(value), execution_count=1)]
    return notebook


def page(name: str, **parameters: object) -> str:
    """Return such a notebook as a page of HTML."""
    return to_html(executed(name, **parameters), name)


def _run(source: str, names: dict[str, Any]) -> Any:
    """The value of a cell: that of its last line, where it is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102  our own notebook
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None  # noqa: S307


def _bundle(value: Any) -> dict[str, str]:
    if hasattr(value, "_repr_mimebundle_"):
        return dict(value._repr_mimebundle_())
    return (
        {"text/html": value._repr_html_()} if hasattr(value, "_repr_html_") else {"text/plain": repr(value)}
    )
