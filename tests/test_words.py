"""Every sentence that a user sees uses the words of the glossary."""

import re
from pathlib import Path

import nbformat
import pytest
from package_source import sentences

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def avoided() -> list[str]:
    """The last column of the glossary's first table."""
    table = GLOSSARY.read_text().partition("\n## ")[0]
    rows = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("| ")]
    return [word.strip() for row in rows[1:] for word in row[3].split(",") if word.strip()]


WORD = re.compile(rf"\b({'|'.join(map(re.escape, avoided()))})\b", re.IGNORECASE)


def test_the_glossary_names_words_to_avoid() -> None:
    assert "slow motion" in avoided() and "hiccup" in avoided()
    assert WORD.search("It was measured in slow motion.") and not WORD.search("looseness")


def test_sentences_of_the_library_use_the_words_of_the_glossary() -> None:
    wrong = [
        f"{place}: '{match[0]}' in '{text}'" for place, text in sentences() for match in WORD.finditer(text)
    ]
    assert wrong == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_use_the_words_of_the_glossary(path: Path) -> None:
    if path == GLOSSARY:
        return
    text = CODE.sub("", path.read_text(encoding="utf-8"))
    assert [match[0] for match in WORD.finditer(text)] == []


def test_pages_and_notebooks_use_the_words_of_the_glossary() -> None:
    texts = {path.name: path.read_text() for path in sorted((ROOT / "azbenchlib").rglob("*.j2"))}
    for path in sorted((ROOT / "notebooks").rglob("*.ipynb")):
        cells = nbformat.read(path, as_version=4).cells
        texts[path.name] = "\n".join(cell.source for cell in cells)
    code = re.compile(r"\{[{%#].*?[}%#]\}|<[^>]*>", re.DOTALL)
    shown = {name: code.sub("", text) for name, text in texts.items()}
    assert {name: WORD.findall(text) for name, text in shown.items() if WORD.search(text)} == {}
