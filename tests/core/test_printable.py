"""Foreign texts are shown, not obeyed: by no terminal, and by no spreadsheet."""

import ast
import csv
import io
import json
import re
import unicodedata
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core import printable

CLI = Path(printable.__file__).parent / "cli"
COMMANDS = ("Cc", "Cf", "Cs", "Zl", "Zp")

texts = st.text(st.characters(codec=None), max_size=40)  # surrogates too, as names of files may have


def obeyed(text: str, kept: str = "\n\t\u200c\u200d") -> list[str]:
    """The characters that a terminal would obey, or that hide or turn others."""
    return [c for c in text if c not in kept and unicodedata.category(c) in COMMANDS]


@given(texts)
def test_nothing_that_is_obeyed_is_left_and_nothing_else_changes(text: str) -> None:
    shown = printable.printable(text)
    assert len(shown) == len(text)
    assert obeyed(shown) == []
    assert all(a == b or obeyed(a) for a, b in zip(text, shown, strict=True))
    assert obeyed(printable.one_line(text), "\u200c\u200d") == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("randread 4\u00a0KiB, QD 2 · größer — 日本 👩\u200d💻", None),
        ("\x1b[2J\x1b]0;title\x07", "␛[2J␛]0;title␇"),
        ("a\rb\x08c\x7f", "a␍b␈c␡"),
        ("\x9b31m", "\ufffd31m"),
        ("abc\u202egnp.exe", "abc\ufffdgnp.exe"),
        ("a\u200bb\ufeffc\U000e0041", "a\ufffdb\ufffdc\ufffd"),
        ("name\udcff", "name\ufffd"),
        ("two\nlines\tand a tab", None),
    ],
)
def test_what_is_shown(text: str, shown: str | None) -> None:
    assert printable.printable(text) == (text if shown is None else shown)


@given(
    st.recursive(texts | st.integers() | st.none(), lambda inner: st.dictionaries(texts, inner, max_size=3))
)
def test_json_escapes_what_is_obeyed_and_loses_nothing(document: object) -> None:
    text = printable.json_text(document)
    assert obeyed(text, "") == [] or set(obeyed(text, "")) <= set("\u200c\u200d")
    assert json.loads(text) == document
    text.encode()  # no surrogate is left, which no terminal and no file takes


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+1",
        "-1",
        "@SUM(A1)",
        "=cmd|' /C calc'!A0",
        "\t=1",
        "\n=1",
        " =1",
        "\u00a0=1",
        "\u200c=1",
        "'=1",
        "''=1",
        "' =1",
        "＝1",
        "\tx",
        '=HYPERLINK("http://x","y")',
    ],
)
def test_a_cell_is_no_formula_and_its_text_can_be_had_back(text: str) -> None:
    found = printable.cell(text)
    assert found.startswith("'")
    assert text_of(found) == printable.printable(text)


@given(texts)
def test_no_cell_begins_as_a_formula(text: str) -> None:
    begin = printable.cell(text)[:1]
    if len(text.strip()) == 1:  # a sign alone is no formula: the bound of a published figure is one
        return
    assert begin not in tuple("=+-@＝＋－＠\t\r\n")
    assert not begin.isspace() or printable.cell(text).lstrip()[:1] not in tuple("=+-@＝＋－＠")


@given(texts)
def test_one_apostrophe_off_gives_every_text_back(text: str) -> None:
    plain = printable.printable(text)
    assert text_of(printable.cell(plain)) == plain


def text_of(found: str) -> str:
    """As docs/tables.md tells to do it."""
    rest = found.removeprefix("'")
    is_formula = re.match(r"'*[\t\n]|['\s\u200c\u200d]*[=+\-@＝＋－＠]\s*\S", rest)
    return rest if rest != found and is_formula else found


@pytest.mark.parametrize(
    "text", ["", "=", "-", "randread-4k", "a=b", "3-4", "a'b", "'quoted'", "raw/x.json", "50 %"]
)
def test_other_cells_stay_as_they_are(text: str) -> None:
    assert printable.cell(text) == text


def test_numbers_of_a_table_stay_numbers() -> None:
    table = pd.DataFrame(
        {
            "n": pd.array([-5, None], dtype="Int64"),
            "x": pd.array([-0.5, 1e300], dtype="Float64"),
            "text": pd.array(["-5", None], dtype="string"),
        }
    )
    assert list(csv.reader(io.StringIO(printable.cells(table).to_csv(index=False)))) == [
        ["n", "x", "text"],
        ["-5", "-0.5", "'-5"],
        ["", "1e+300", ""],
    ]


def test_the_command_line_prints_by_its_console_alone() -> None:
    """Another way to print would let control characters through."""
    for path in CLI.glob("*.py"):
        if path.name == "console.py":
            continue
        tree = ast.parse(path.read_text())
        imported = {
            f"{node.module}.{name.name}"
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for name in node.names
        }
        assert "rich.console.Console" not in imported, path.name
        assert not imported & {"rich.print", "rich.get_console", "sys.stdout", "sys.stderr"}, path.name
        calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        ways = {"print", "typer.echo", "typer.secho", "json.dump", "sys.stdout.write", "sys.stderr.write"}
        assert not calls & ways, path.name
