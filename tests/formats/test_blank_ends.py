"""Blanks behind the lines of an output change nothing of what is read, whatever tool wrote it."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.formats import registry
from azbenchlib.formats.source import Source, without_blank_ends

ROOT = Path(__file__).parents[2]
CORPUS = os.environ.get("AZBENCH_CORPUS", "")
ENDS = (" \n", "\t\n", "\r\n", " \t\r\n")
OF_BYTES = "source_sha256"  # the one column that tells which bytes were read
LARGEST = 32 * 1024  # of a file of the corpus, of which every tenth is read


@cache
def _texts() -> dict[str, list[Path]]:
    """The texts among the tests' data by their formats, and one of a dataset of each format that has none."""
    texts: dict[str, list[Path]] = {}
    for path in sorted((ROOT / "tests" / "data").rglob("*.*")) + sorted((ROOT / "datasets").rglob("*.*")):
        form = registry.recognise(Source.of(path))
        if form is None or form.is_binary or b"\0" in path.read_bytes():
            continue
        if path.is_relative_to(ROOT / "tests") or form.name not in texts:
            texts.setdefault(form.name, []).append(path)
    return texts


def _tables(name: str, data: bytes) -> dict[str, pd.DataFrame]:
    tables = registry.read(Source(name, data))
    return {table: frame.drop(columns=OF_BYTES, errors="ignore") for table, frame in tables.items()}


def _changed(path: Path) -> Iterator[str]:
    """What is read otherwise from copies of a file whose lines have other ends."""
    data = path.read_bytes()
    plain = data.replace(b"\r\n", b"\n")
    read = _tables(path.name, data)
    for end in ENDS:
        copy = _tables(path.name, plain.replace(b"\n", end.encode()))
        for table, frame in read.items():
            if not frame.equals(copy[table]):
                yield f"{path}: {table} with {end!r}"


FORMATS = [form.name for form in registry.FORMATS if not form.is_binary]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.sampled(4)
def test_each_format_is_read_alike_with_blanks_behind_its_lines(form: str) -> None:
    assert [change for path in _texts()[form] for change in _changed(path)] == []


@pytest.mark.skipif(not CORPUS, reason="AZBENCH_CORPUS names no folder of real outputs")
@pytest.mark.long
def test_real_outputs_are_read_alike_with_blanks_behind_their_lines() -> None:
    files = [path for path in sorted(Path(CORPUS).rglob("*")) if path.is_file()]
    some = [path for path in files if 0 < path.stat().st_size <= LARGEST][::10]
    texts = [path for path in some if b"\0" not in path.read_bytes()]
    assert len(texts) > 30
    assert [change for path in texts for change in _changed(path)] == []


@given(st.lists(st.tuples(st.text(" \tab\u00a0", max_size=9), st.sampled_from(["\n", "\r\n", "\r"]))))
def test_no_line_keeps_the_blanks_at_its_end(lines: list[tuple[str, str]]) -> None:
    read = without_blank_ends("".join(line + end for line, end in lines) + " \t")
    assert read == "".join(line.rstrip(" \t") + end for line, end in lines)


def test_a_long_output_is_read_in_pieces_without_its_blanks(tmp_path: Path) -> None:
    line = "       {}              5                 4096"
    head = "Offset in Kbytes   Latency in microseconds  Transfer size in bytes"
    lines = [head, *(line.format(4 * place) for place in range(100_000))]
    read = []
    for end in ("\n", "  \n"):
        path = tmp_path / f"{len(end)}" / "wol.dat"
        path.parent.mkdir()
        path.write_text(end.join([*lines, ""]))
        read.append(registry.read(Source.of(path))["samples"])
    assert len(read[0]) == 100_000
    assert read[0].equals(read[1])
