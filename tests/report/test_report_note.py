"""A note of the author's own on the first page: Markdown without any HTML, script or image of its own."""

import re
from pathlib import Path

import cells
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import azbench

from azbenchlib.core.errors import InputError
from azbenchlib.report.note import note_block, read_notes

OUTPUT = Path(__file__).parents[1] / "data" / "fio" / "randrw.json"
TAGS = {
    *("section", "p", "strong", "em", "code", "pre", "blockquote", "ul", "ol", "li", "br", "hr", "a"),
    *("h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1))",
    "[b](  JaVaScRiPt:alert`1` 'title')",
    "[c](data:text/html;base64,PHNjcmlwdD4=)",
    '[d](https://x.example/"onmouseover="alert(1))',
    "[e]: vbscript:x\n\n[e]",
    "![f](https://x.example/f.png)",
    "<https://x.example/><b>",
    "<style>p{}</style>",
    "<!-- --><?php ?><![CDATA[x]]>",
    '```x" onload=alert(1)\n</code><script>\n```',
    "&lt;script&gt;&#60;b&#62;",
    "| <b> | `<i>` |\n|--|:--|\n| <u> | x |",
    "\u202etxt",
)


def test_it_is_markdown_below_the_title() -> None:
    html = note_block("# Advice\n\nTake a **P40** & see [it](https://x.example/?a=1&b=2).\n\n- one\n").html
    assert "<h3>Advice</h3>" in html and "<strong>P40</strong> &amp; see" in html
    assert '<a href="https://x.example/?a=1&amp;b=2">it</a>' in html and "<li>one</li>" in html
    assert note_block("  \n").html == ""


@given(st.lists(st.sampled_from(HOSTILE) | st.text("<>\"'`[]()!&#:/ab \n", max_size=12), max_size=6))
def test_no_tag_is_the_authors_and_no_link_runs_or_loads_anything(pieces: list[str]) -> None:
    html = note_block("\n".join(["x", *pieces])).html
    for name, attributes in re.findall(r"<[/!?]?([^\s>/]*)([^>]*)>", html):
        assert name in TAGS
        classes = r' class="(?:prose own-note|language-[^"<>]*)"'
        known = rf'(?:{classes}| aria-label="Note"| style="text-align:\w+"| start="\d+")*'
        link = r' href="(?:https?://|mailto:)[^"<>\s]*"'
        assert re.fullmatch(rf"(?:{known}|{link})(?: /)?", attributes), html
    assert "\u202e" not in html


@pytest.mark.parametrize(
    ("data", "sentence"), [(None, "cannot be read: No such file"), (b"a\xff", "UTF-8, and byte 2 is none")]
)
def test_a_file_that_is_no_note_is_refused(tmp_path: Path, data: bytes | None, sentence: str) -> None:
    path = tmp_path / "note.md"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InputError, match=sentence):
        read_notes([path])
    done = azbench("report", OUTPUT, "--note", path, cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1) and sentence in done.stderr


def test_notes_stand_below_the_lead_in_their_order(tmp_path: Path) -> None:
    for name, text in (("a.md", "\ufeffFirst *words*."), ("b.md", "Second.")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    note = read_notes([tmp_path / "a.md", tmp_path / "b.md"])
    page = cells.page("report", datasets=[str(OUTPUT)], note=note)
    places = [
        page.index(text) for text in ('class="finding"', "<p>First <em>", "<p>Second.", 'class="cards"')
    ]
    assert places == sorted(places)
