"""A part of a page that a benchmark writes: what stands between its two marks."""

import re
from pathlib import Path


def marks(program: str) -> tuple[str, str]:
    """The lines before and after what a program writes."""
    return f"<!-- written by {program} -->\n", "<!-- end -->"


def read(page: Path, program: str) -> str:
    """What a program wrote into a page."""
    begin, end = map(re.escape, marks(program))
    (found,) = re.findall(f"{begin}(.*?){end}", page.read_text(), re.DOTALL)
    return found.strip()


def write(page: Path, program: str, text: str) -> None:
    """Replace what a program wrote into a page."""
    old, (begin, end) = read(page, program), marks(program)
    before, after = page.read_text().split(f"{begin}\n{old}\n\n{end}" if old else f"{begin}\n{end}")
    page.write_text(f"{before}{begin}\n{text}\n\n{end}{after}")
