"""All regular expressions of the package, and texts that keep a pattern busy which tries too many ways.

For each repetition of a pattern, a text is made that leads to it, repeats what it repeats many times, and
ends in what cannot fit. A pattern that reads a text in several ways then tries them all: exponentially many
where repetitions are nested, as many as the square of the length where they stand beside each other.
"""

import ast
import importlib
import pkgutil
import re
import re._constants as op  # type: ignore[import-untyped]
import re._parser as parser  # type: ignore[import-untyped]
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import azbenchlib

Pattern = re.Pattern[Any]
_SAMPLES = "a0 \t\nA_-.,:;=/|\"'([{<>)]}%+x1#&é\x00"
_CATEGORIES = {
    op.CATEGORY_DIGIT: "1",
    op.CATEGORY_NOT_DIGIT: "a",
    op.CATEGORY_SPACE: " ",
    op.CATEGORY_NOT_SPACE: "a",
    op.CATEGORY_WORD: "a",
    op.CATEGORY_NOT_WORD: "-",
}
_SEARCHES = ("search", "finditer", "findall", "sub", "subn", "split")
ROOT = Path(azbenchlib.__path__[0])
_ENDS = ("\x00", "!", "")  # what few patterns take


@dataclass(frozen=True)
class Used:
    """A pattern, and whether the package looks for it anywhere in a text; else it fits from the begin."""

    pattern: Pattern
    searched: bool


@cache
def patterns() -> dict[str, Used]:
    """Return every pattern of the package: compiled in a module, and literal in a call of re."""
    found: dict[str, Used] = {}
    searched = _searched()
    for module in pkgutil.walk_packages(azbenchlib.__path__, "azbenchlib."):
        if module.name.endswith(("__main__", ".entry")):  # to import these is to begin
            continue
        loaded = importlib.import_module(module.name)
        for name, value in vars(loaded).items():
            for place, pattern in _compiled(value):
                found.setdefault(
                    f"{module.name}.{name}{place}",
                    Used(pattern, bool({name, f"{module.name}.{name}"} & searched)),
                )
        for line, used in _literal(Path(str(loaded.__file__))):
            found.setdefault(f"{module.name}:{line}", used)
    unique = {(used.pattern.pattern, used.pattern.flags, used.searched): name for name, used in found.items()}
    return {name: found[name] for name in unique.values()}


def _searched() -> set[str]:
    """Return the patterns that are looked for anywhere, as in ``_NAME.search(text)``: by module, or by name.

    One of another module (``lines.NAME.search``) counts by its name alone, wherever it is.
    """
    found = set()
    for path in ROOT.rglob("*.py"):
        module = ".".join(("azbenchlib", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(
            ".__init__"
        )
        nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
        imported = {
            alias.asname or alias.name: alias.name
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        loops = {
            loop.target.id: loop.iter
            for loop in nodes
            if isinstance(loop, ast.For | ast.comprehension) and isinstance(loop.target, ast.Name)
        }
        for node in nodes:
            if isinstance(node, ast.Attribute) and node.attr in _SEARCHES:
                owner = node.value
                while isinstance(owner, ast.Subscript):
                    owner = owner.value
                owner = loops.get(owner.id, owner) if isinstance(owner, ast.Name) else owner
                if isinstance(owner, ast.Name):
                    found.add(imported.get(owner.id) or f"{module}.{owner.id}")
                elif isinstance(owner, ast.Attribute):
                    found.add(owner.attr)
    return found


def _compiled(value: Any, depth: int = 0) -> Iterator[tuple[str, Pattern]]:
    """Patterns in what a module holds: alone, in tuples and dicts, in fields of dataclasses."""
    if isinstance(value, re.Pattern):
        yield "", value
    elif depth < 3 and isinstance(value, dict):
        for key, part in value.items():
            yield from ((f"[{key!r}]{place}", one) for place, one in _compiled(part, depth + 1))
    elif depth < 3 and isinstance(value, list | tuple):
        for number, part in enumerate(value):
            yield from ((f"[{number}]{place}", one) for place, one in _compiled(part, depth + 1))
    elif depth < 3 and hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        for key in value.__dataclass_fields__:
            part = getattr(value, key, None)
            yield from ((f".{key}{place}", one) for place, one in _compiled(part, depth + 1))


def _literal(path: Path) -> Iterator[tuple[int, Used]]:
    """Patterns that are written out where a function of re is called."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        first = node.args[0]
        of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
        of_re = of_re and node.func.attr in (*_SEARCHES, "match", "fullmatch")
        if of_re and isinstance(first, ast.Constant) and isinstance(first.value, str | bytes):
            yield node.lineno, Used(re.compile(first.value), node.func.attr in _SEARCHES)


def texts(pattern: Pattern, length: int) -> Iterator[str | bytes]:
    """Return texts of about a length that pump each repetition of a pattern, and what is before it too."""
    source = pattern.pattern
    tree = parser.parse(source, pattern.flags & ~re.DEBUG if isinstance(source, str) else pattern.flags)
    seen = set()
    for before, units in _repeats(list(tree), ""):
        for unit in units:
            for end in _ENDS:
                text = before + unit * max(1, length // len(unit)) + end
                if text not in seen:
                    seen.add(text)
                    yield text if isinstance(source, str) else text.encode("utf-8", "replace")


def _repeats(nodes: list[Any], before: str) -> Iterator[tuple[str, list[str]]]:
    """Return each repetition as the text before it, and the texts that it may repeat."""
    for node in nodes:
        kind, value = node
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            _, most, inner = value
            if most > 1:
                units = [unit for unit in _units(list(inner)) if unit]
                yield before, [*dict.fromkeys(units)]
            yield from _repeats(list(inner), before)
        elif kind is op.SUBPATTERN:
            yield from _repeats(list(value[-1]), before)
        elif kind is op.ATOMIC_GROUP:
            yield from _repeats(list(value), before)
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield from _repeats(list(branch), before)
        before += _shortest([node])


def _units(nodes: list[Any]) -> list[str]:
    """Return texts that some parts match: the shortest, each branch, each repetition once and twice."""
    found = [_shortest(nodes)]
    for number, (kind, value) in enumerate(nodes):
        head, tail = _shortest(nodes[:number]), _shortest(nodes[number + 1 :])
        if kind is op.SUBPATTERN:
            found += [head + unit + tail for unit in _units(list(value[-1]))]
        elif kind is op.BRANCH:
            found += [head + unit + tail for branch in value[1] for unit in _units(list(branch))]
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            found += [head + unit + tail for unit in _units(list(value[2]))]
        elif kind is op.IN:
            found += [head + sample + tail for sample in _members(value)[:4]]
    return found


def _shortest(nodes: list[Any]) -> str:
    return "".join(_one(kind, value) for kind, value in nodes)


def _one(kind: Any, value: Any) -> str:
    if kind is op.LITERAL:
        return chr(value)
    if kind is op.NOT_LITERAL:
        return next(sample for sample in _SAMPLES if ord(sample) != value)
    if kind is op.ANY:
        return "a"
    if kind is op.IN:
        return next(iter(_members(value)), "")
    if kind is op.SUBPATTERN:
        return _shortest(list(value[-1]))
    if kind is op.ATOMIC_GROUP:
        return _shortest(list(value))
    if kind is op.BRANCH:
        return _shortest(list(value[1][0]))
    if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
        return _shortest(list(value[2])) * max(1, value[0]) if value[0] or value[1] < 10 else ""
    return ""  # a place, such as the end of a line, or a look around


def _members(parts: list[Any]) -> list[str]:
    """Return some characters of a set."""
    if parts[0][0] is op.NEGATE:
        return [sample for sample in _SAMPLES if not any(_holds(part, sample) for part in parts[1:])]
    found = []
    for kind, value in parts:
        if kind is op.LITERAL:
            found.append(chr(value))
        elif kind is op.RANGE:
            found.append(chr(value[0]))
        elif kind is op.CATEGORY:
            found.append(_CATEGORIES.get(value, "a"))
    return found


def _holds(part: tuple[Any, Any], sample: str) -> bool:
    kind, value = part
    if kind is op.LITERAL:
        return ord(sample) == value
    if kind is op.RANGE:
        return bool(value[0] <= ord(sample) <= value[1])
    return kind is op.CATEGORY and _CATEGORIES.get(value) == sample
