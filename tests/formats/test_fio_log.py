"""The fio log reader: units, versions, damage."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core import schema
from azbenchlib.formats.base import Beside
from azbenchlib.formats.fio.logs import log as fio_log
from azbenchlib.formats.fio.logs import log_lines
from azbenchlib.formats.source import Source

DATA = Path(__file__).parents[1] / "data" / "fio"
FIO_3 = Beside("the-run", "fio-3.33")


def read(
    text: str | bytes, path: str = "x_lat.1.log", beside: Beside | None = FIO_3
) -> dict[str, pd.DataFrame]:
    data = text if isinstance(text, bytes) else text.encode()
    return fio_log.read_fio_log(Source(path, data), beside).frames()


@pytest.mark.parametrize("expected", sorted(DATA.glob("*.samples.csv")), ids=lambda path: path.stem)
def test_a_fixture_gives_the_samples_that_fio_wrote(expected):
    path = DATA / expected.name.replace(".samples.csv", ".1.log")
    samples = read(path.read_bytes(), path.name)["samples"]
    wanted = pd.read_csv(expected).convert_dtypes()
    pd.testing.assert_frame_equal(samples[wanted.columns], wanted, check_dtype=False, rtol=1e-12)
    assert samples["run_id"].unique().tolist() == ["the-run"]
    assert samples["object"].isna().all()


@pytest.mark.parametrize(
    ("name", "metric", "value"),
    [
        ("a_bw.1.log", "bw_bytes_per_s", 2048),
        ("a_iops.12.log", "iops", 2),
        ("a_slat.log", "slat_us", 0.002),
        ("d/clat.1.log", "clat_us", 0.002),
        ("d\\a_lat.3.log.host7", "lat_us", 0.002),
    ],
)
def test_the_name_tells_what_was_measured(name, metric, value):
    samples = read("1000, 2, 2, 4096\n", name)["samples"]
    assert samples[["ddir", "metric", "t_s", "value"]].values.tolist() == [["trim", metric, 1.0, value]]


@pytest.mark.parametrize("name", ["log.txt", "a_bandwidth.1.log", "a_clat_hist.1.log", "blat.log"])
def test_a_name_that_tells_nothing_gives_no_rows(name):
    tables = read("1000, 2, 0, 4096\n", name)
    assert tables["samples"].empty
    assert tables["findings"]["code"].tolist() == ["log_metric_unknown"]


@pytest.mark.parametrize(
    ("version", "us"),
    [("fio-3.33", 5), ("fio-3.0", 5), ("fio-2.99", 5), ("fio-2.14", 5000), ("fio-2.18-59-g618e", 5000)],
)
def test_latencies_are_in_microseconds_before_fio_3(version, us):
    tables = read("1, 5000, 0, 4096\n", beside=Beside("r", version))
    assert tables["samples"]["value"].tolist() == [us]
    assert tables["findings"].empty


@pytest.mark.parametrize(("unit", "us"), [("us", 5000), ("ns", 5)])
def test_the_unit_that_the_user_tells_counts_where_no_version_does(unit, us):
    tables = read("1, 5000, 0, 4096\n", beside=Beside("r", None, unit))
    assert tables["samples"]["value"].tolist() == [us]
    assert tables["findings"].empty
    assert read("1, 5000, 0, 4096\n", beside=Beside("r", "fio-3.33", unit))["samples"]["value"][0] == 5


@pytest.mark.parametrize("more", [", 0", ", 8192, 0", ", 0x4001", ", 8192, 0x4001, 123456789"])
def test_with_a_maximum_a_window_the_average_is_the_value(more):
    """log_window_value=both: time, average, maximum, direction, block size, then what else is logged."""
    text = f"500, 3000, 9000, 0, 0{more}\n1000, 4000, 4000, 1, 0{more}\n"
    assert log_lines.sniff(text)
    tables = read(text)
    assert tables["samples"]["value"].tolist() == [3, 4]
    assert tables["samples"]["ddir"].tolist() == ["read", "write"]
    assert tables["samples"]["bs_bytes"].isna().all()
    assert tables["findings"]["code"].tolist() == ["log_window_maximum"]
    damaged = read(text + "1500, 1o, 2, 0, 0, 0\n")
    assert damaged["samples"]["value"].tolist() == [3, 4]
    assert "broken_lines" in set(damaged["findings"]["code"])


@pytest.mark.parametrize("beside", [None, Beside("r", "unknown")])
def test_a_unit_that_is_not_told_is_assumed_aloud(beside):
    tables = read("1, 5000, 0, 4096\n", beside=beside)
    assert tables["samples"]["value"].tolist() == [5]
    assert tables["findings"]["code"].tolist() == ["log_unit_assumed"]
    assert read("1, 5, 0, 4096\n", "x_bw.1.log", beside)["findings"].empty


def test_without_its_run_a_log_has_a_name_of_its_own():
    logs = (("a_bw.1.log", "1, 5, 0, 0"), ("b/a_bw.1.log", "1, 5, 0, 0"), ("a_bw.1.log", "1, 6, 0, 0"))
    first, again, other = (read(text, path, None)["samples"]["run_id"][0] for path, text in logs)
    assert first == again != other


def test_all_numbers_of_columns_give_the_same_samples():
    rows = [
        "1, 5, 0, 4096",
        "1, 5, 0, 4096, 0",
        "1, 5, 0, 4096, 8192, 0x4001",
        "1, 5, 0, 4096, 8192, 0, 123456789",
    ]
    samples = read("\n".join(rows))["samples"]
    assert samples["seq"].tolist() == [0, 1, 2, 3]
    assert samples.drop(columns="seq").drop_duplicates().shape[0] == 1


def test_places_are_counted_in_each_direction():
    samples = read("1, 5, 0, 0\n1, 5, 1, 0\n2, 5, 0, 0\n", "a_bw.1.log")["samples"]
    assert samples[["ddir", "seq"]].values.tolist() == [["read", 0], ["write", 0], ["read", 1]]
    assert samples["bs_bytes"].isna().all()


def test_broken_lines_are_counted_and_the_others_kept():
    tables = read("1, 5, 0, 0\n2, 4w5, 0, 0\n\n3, 5, 7, 0\n4, 6, 0, 0\n5, 6, 0", "a_iops.1.log")
    assert tables["samples"]["value"].tolist() == [5, 6]
    (finding,) = schema.records(tables["findings"])
    assert finding["code"] == "broken_lines"
    assert "3 broken lines" in finding["message"]
    assert "the first is line 2" in finding["message"]


@pytest.mark.parametrize(
    "line", ["3, 5, 7, 0", f"3, {10**15}, 0, 0", f"{10**20}, 5, 0, 0", "3, 5, 0", ", , , "]
)
def test_a_line_of_numbers_that_no_log_has_is_broken(line):
    tables = read(f"1, 5, 0, 0\n{line}\n4, 6, 0, 0\n", "a_iops.1.log")
    assert tables["samples"]["value"].tolist() == [5, 6]
    assert "1 broken lines left out, the first is line 2" in tables["findings"]["message"][0]


def test_times_of_the_clock_on_the_wall_count_from_the_first():
    tables = read("1795173779229, 5, 0, 0\n1795173779729, 5, 0, 0\n", "a_iops.1.log")
    assert tables["samples"]["t_s"].tolist() == [0, 0.5]
    assert tables["findings"]["code"].tolist() == ["log_epoch_time"]
    assert "2026-11-20T11:22:59" in tables["findings"]["message"][0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "a,b,c,d\n",
        "1, 2, 3, 4096\n",
        "1;2;0;4096\n",
        "1, 2, 0\n",
        "1, 0, 4096" + ", 0" * 100,
        "{\n}\n",
    ],
)
def test_other_text_is_not_claimed(text):
    assert not log_lines.sniff(text)


def test_a_damaged_log_is_claimed():
    assert log_lines.sniff("1, 5w, 0, 0\n2, 5, 0, 4096\n3, 5, 0, 4096, 0\n")


def test_a_long_log_is_read_quickly():
    text = "".join(f"{place}, {place * 7 % 100000}, {place % 2}, 4096, 0\n" for place in range(100_000))
    for damage in ("", "x\n"):  # with damage somewhere, lines are looked at one by one
        samples = read(text + damage)["samples"]
        assert len(samples) == 100_000


LINES = st.lists(
    st.tuples(*(st.integers(0, most) for most in (10**11, 10**15 - 2, 2, 10**9))), min_size=1, max_size=30
)


@given(LINES, st.sampled_from([", 0", ", 4096, 0", ", 4096, 0, 77"]), st.booleans())
def test_the_quick_way_gives_what_the_careful_way_gives(rows, more, maxima):
    lines = [f"{t}, {v}{f', {v + 1}' if maxima else ''}, {d}, {b}" for t, v, d, b in rows]
    block = "".join(f"{line}{more}\n" for line in lines)
    quick = log_lines.quickly(block.encode(), maxima)
    careful = log_lines.carefully(block.encode(), maxima)
    assert quick is not None
    assert quick.damaged == careful.damaged == ()
    for name in ("t_ms", "value", "code", "bs_bytes"):
        assert getattr(quick, name).tolist() == getattr(careful, name).tolist()


@given(
    st.lists(
        st.tuples(st.integers(0, 899_999), st.integers(0, 10**15 - 1), st.integers(0, 2)),
        min_size=1,
        max_size=30,
    ),
    st.sampled_from([1, 10**4, 10**5, 10**9]),
    st.sampled_from([", ", ","]),
    st.sampled_from(["4096", "4096, 0", "4096, 0, 77"]),
)
def test_lines_of_one_shape_give_what_the_careful_way_gives(rows, start, comma, tail):
    more = tail.replace(", ", comma)
    text = "".join(f"{start + t % (9 * start)}{comma}{v}{comma}{d}{comma}{more}\n" for t, v, d in rows)
    uniform = log_lines.uniform(text.encode())
    careful = log_lines.carefully(text.encode(), maxima=False)
    assert uniform is not None and careful.damaged == ()
    for name in ("t_ms", "value", "code", "n_lines"):
        assert np.array_equal(getattr(uniform, name), getattr(careful, name))


@pytest.mark.parametrize(
    "odd",
    [
        "12, 70707, 0, 4096, 0\n",
        "1234, 70707x, 0, 4096, 0\n",
        "1234, , 0, 4096, 0\n",
        "1234, 70707, 3, 4096, 0\n",
        "1234, 70707, 0, 4096\n",
        "1234, 70707, 0, 512, 0\n",
        "1234, -70707, 0, 4096, 0\n",
        "1234, 70707, 0, 4096, 0\r\n",
        "1234, 1234567890123456, 0, 4096, 0\n",
        "1234 , 70707, 0, 4096, 0\n",
        "1234, 70707 0, 4096, 0\n",
        "1234, 70707 ,0, 4096, 0\n",
        "1234, 7070, 70, 4096, 0\n",
        "1234, 70707, 0, 409 6,0\n",
        "1 234,70707, 0, 4096, 0\n",
        "\n",
    ],
)
def test_a_line_of_another_shape_is_not_taken_for_one(odd):
    alike = "".join(f"{1000 + place}, {place}, 0, 4096, 0\n" for place in range(40))
    assert log_lines.uniform(alike.encode()) is not None
    assert log_lines.uniform((alike + odd).encode()) is None
    assert log_lines.uniform((alike + odd + alike).encode()) is None


def test_long_lines_and_blocks_make_no_difference(monkeypatch):
    text = "".join(f"{place}, {place * 7 % 1000}, {place % 3}, 4096, 0\r\n" for place in range(500))
    whole = read(text)["samples"]
    for size in (7, 64, 1000):
        monkeypatch.setattr("azbenchlib.formats.source._BLOCK", size)
        monkeypatch.setattr("azbenchlib.formats.source._RAW_BLOCK", size)
        pd.testing.assert_frame_equal(read(text)["samples"], whole)
        pd.testing.assert_frame_equal(read(text.replace("\r", ""))["samples"], whole)
    monkeypatch.setattr("azbenchlib.formats.source.LONGEST_LINE", 50)
    long = "1, 5, 0, 4096" + " " * 5000  # whole, but for its length
    tables = read(f"1, 1, 0, 4096\n{long}\n9, 9, 0, 4096\n{long}")
    assert tables["samples"]["value"].tolist() == [0.001, 0.009]
    assert "2 broken lines left out, the first is line 2" in tables["findings"]["message"][0]


def test_a_log_of_another_encoding_is_read():
    samples = read("1, 5, 0, 4096\r\n2, 6, 0, 4096\r\n".encode("utf-16"))["samples"]
    assert samples["value"].tolist() == [0.005, 0.006]


@given(st.data())
def test_damage_anywhere_leaves_the_lines_before_it(data):
    raw = (DATA / "rw_clat.1.log").read_bytes()
    place = data.draw(st.integers(0, len(raw) - 1))
    damaged = raw[:place] + data.draw(st.binary(max_size=3)) + raw[place + data.draw(st.integers(0, 3)) :]
    samples = read(damaged, "rw_clat.1.log")["samples"]
    schema.check("samples", samples)
    before = raw[:place].count(b"\n")
    whole = read(raw, "rw_clat.1.log")["samples"]
    assert samples["value"].tolist()[:before] == whole["value"].tolist()[:before]
