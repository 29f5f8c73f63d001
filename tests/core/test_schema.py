"""The tables: one registry decides over columns, dtypes and values."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError

RUN = {"run_id": "r", "ddir": "read"}


@pytest.mark.parametrize("table", schema.TABLES)
def test_every_table_has_its_key_and_tells_what_it_holds(table):
    described = schema.TABLES[table]
    assert described.doc
    assert described.key
    assert set(described.key) <= set(described.columns)
    for column in described.columns.values():
        assert column.doc
        assert not column.choices or column.dtype == schema.TEXT


@pytest.mark.parametrize("table", schema.TABLES)
def test_an_empty_table_has_every_column_in_its_dtype(table):
    empty = schema.empty(table)
    assert list(empty.columns) == list(schema.TABLES[table].columns)
    for name, column in schema.TABLES[table].columns.items():
        assert str(empty[name].dtype) == column.dtype
    assert empty.empty


def test_what_is_left_out_is_missing_and_not_zero():
    rows = schema.frame("results", [{**RUN, "iops": None}, {**RUN, "ddir": "write", "iops": float("nan")}])
    assert rows["iops"].isna().all()
    assert rows["ios"].isna().all()
    assert rows["ios"].dtype == "Int64"


@pytest.mark.parametrize(
    ("table", "row", "parts"),
    [
        ("results", {**RUN, "ddir": "sideways"}, ["results.ddir", "'sideways'", "read, write, trim, mixed"]),
        ("results", {**RUN, "iops": -1.5}, ["results.iops", "'-1.5'", "a finite number of at least 0"]),
        ("results", {**RUN, "iops": float("inf")}, ["results.iops", "'inf'", "a finite number"]),
        ("results", {**RUN, "iops": "many"}, ["results.iops", "'many'", "a finite number"]),
        ("results", {**RUN, "ios": 1.5}, ["results.ios", "'1.5'", "a whole number"]),
        ("results", {**RUN, "ios": 2**64}, ["results.ios", f"'{2**64}'", "a whole number"]),
        ("percentiles", {**RUN, "percentile": 101.0}, ["percentiles.percentile", "'101.0'", "at most 100"]),
        ("disks", {"count": 0}, ["disks.count", "'0'", "at least 1"]),
        ("disks", {"host_caching": "off"}, ["disks.host_caching", "'off'", "None, ReadOnly, ReadWrite"]),
        ("disks", {"bursting": "sometimes"}, ["disks.bursting", "'sometimes'", "true or false"]),
        ("published", {"value": float("-inf")}, ["published.value", "'-inf'", "a finite number"]),
    ],
)
def test_a_bad_value_is_named_with_its_place_and_what_may_be_there(table, row, parts):
    with pytest.raises(InputError) as frame:
        schema.frame(table, [{}, row])
    with pytest.raises(InputError) as conform:
        schema.conform(table, pd.DataFrame([row]))
    for part in parts:
        assert part in str(frame.value)
        assert part in str(conform.value)


@pytest.mark.parametrize("column", ["rwmix_read_pct", "iodepth"])
def test_true_beside_a_number_in_text_is_a_bad_value(column):
    """True is a number to Python, and makes pandas take the column for one of numbers."""
    rows = [{"run_id": "a", column: True}, {"run_id": "b", column: "3"}]
    with pytest.raises(InputError, match=f"runs.{column}: value '3' is not a"):
        schema.frame("runs", rows)


@pytest.mark.parametrize(
    "make", [schema.frame, lambda table, rows: schema.conform(table, pd.DataFrame(rows))]
)
def test_an_unknown_column_is_named_beside_the_known_ones(make):
    with pytest.raises(InputError, match=r"table latency has no column \['latency'\]; it has: run_id, ddir"):
        make("latency", [{"latency": 1}])


def test_conform_puts_columns_in_order_and_fills_up():
    given = pd.DataFrame({"iops": [1, 2], "run_id": ["a", "b"]})
    rows = schema.conform("results", given)
    assert list(rows.columns) == list(schema.TABLES["results"].columns)
    assert rows["iops"].dtype == "Float64"
    assert rows["ddir"].isna().all()
    pd.testing.assert_frame_equal(schema.conform("results", rows), rows)


def test_records_are_plain_and_complete():
    rows = schema.frame(
        "runs",
        [{"run_id": "a", "job_index": 3, "direct": True, "ramp_s": 0.5}, {"run_id": "b", "direct": False}],
    )
    first, second = schema.records(rows)
    assert list(first) == list(schema.TABLES["runs"].columns)
    assert (first["job_index"], first["direct"], first["ramp_s"]) == (3, True, 0.5)
    assert [type(first[name]) for name in ("run_id", "job_index", "direct", "ramp_s")] == [
        str,
        int,
        bool,
        float,
    ]
    assert second["direct"] is False
    assert second["job_index"] is None


def test_records_of_a_table_without_rows():
    assert schema.records(schema.empty("bins")) == []


floats = st.sampled_from([None, float("nan")]) | st.floats(0, schema.LARGEST_VALUE)
wholes = st.none() | st.integers(0, 10**18)


@given(st.lists(st.fixed_dictionaries({"iops": floats, "ios": wholes}), max_size=5))
def test_records_are_json_without_nan_and_say_what_was_put_in(rows):
    records = schema.records(schema.frame("results", [{**RUN, **row} for row in rows]))
    assert json.loads(json.dumps(records, allow_nan=False)) == records
    for record, row in zip(records, rows, strict=True):
        missing = row["iops"] is None or np.isnan(row["iops"])
        assert record["iops"] == (None if missing else row["iops"])
        assert record["ios"] == row["ios"]


def test_none_as_a_word_is_a_setting_and_not_missing():
    rows = schema.frame("disks", [{"host_caching": "None"}, {"host_caching": None}])
    assert rows["host_caching"].isna().tolist() == [False, True]
    assert [record["host_caching"] for record in schema.records(rows)] == ["None", None]
