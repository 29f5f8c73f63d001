"""The answer of a query: the same rows on every surface, and as exact as the query gave them."""

import json

import pandas as pd

from azbenchlib.answers.query import QueryAnswer

ROWS = pd.DataFrame(
    {
        "job": pd.array(["a|b", None], dtype="string"),
        "n": pd.array([1_234_567, None], dtype="Int64"),
        "share": pd.array([1 / 3, float("inf")], dtype="Float64"),
        "day": pd.to_datetime(["2026-11-01", "2026-11-02"]),
        "direct": pd.array([True, None], dtype="boolean"),
    }
)


def test_every_surface_has_the_rows() -> None:
    answer = QueryAnswer(ROWS)
    text = [line.split() for line in answer.to_text().splitlines()]
    assert text[1] == ["a|b", "1,234,567", "0.333333", "2026-11-01", "00:00:00", "True"]
    assert text[2] == ["inf", "2026-11-02", "00:00:00"]
    assert "| a\\|b | 1,234,567 | 0.333333 | 2026-11-01 00:00:00 | True |" in answer.to_markdown()
    assert answer._repr_html_().count("<tr>") == 3
    assert answer.to_frame() is ROWS
    known = answer.figures.dropna(subset=["value"])
    assert known.loc[known["unit"] == "n", "value"].tolist() == [1_234_567]
    assert known.loc[known["unit"] == "share", "value"].iloc[0] == 1 / 3


def test_json_has_values_in_full() -> None:
    written = json.loads(json.dumps(QueryAnswer(ROWS).to_dict()))
    assert written["columns"] == ["job", "n", "share", "day", "direct"]
    assert written["rows"][0]["share"] == 1 / 3 and written["rows"][0]["direct"] is True
    assert written["rows"][1]["n"] is None and written["rows"][1]["share"] == "inf"


def test_no_row_is_said() -> None:
    assert QueryAnswer(ROWS.head(0)).to_text().splitlines()[-1] == "No row answers that."
