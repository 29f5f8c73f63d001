"""Prose of a notebook on the page: a number stays with its unit, code is not touched."""

import nbformat
import pytest

from azbenchlib.report.page import prose, to_html


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("an error of 2.4 % or 200 MB/s, 5,000 IOPS", "an error of 2.4_% or 200_MB/s, 5,000_IOPS"),
        ("1 GiB in 3 s; 8 KiB/s", "1_GiB in 3_s; 8_KiB/s"),
        ("in 2020 some disks, 4 shares, 3 Bs", "in 2020 some disks, 4 shares, 3 Bs"),
        ("write `3500 IOPS` or 3500 IOPS", "write `3500 IOPS` or 3500_IOPS"),
        ("```\nsleep 5 s\n```\nwaits 5 s", "```\nsleep 5 s\n```\nwaits 5_s"),
    ],
)
def test_a_number_stays_with_its_unit(text: str, kept: str) -> None:
    assert prose(text) == kept.replace("_", "\N{NO-BREAK SPACE}")


def test_the_page_keeps_them_together() -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("At most 200 MB/s.")])
    assert "At most 200\N{NO-BREAK SPACE}MB/s." in to_html(notebook, "Units")
