"""Performance counters of Windows in each form: logs, what Get-Counter shows, and its samples as CSV."""

import pandas as pd
import pytest

from azbenchlib.core.findings import Code
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source

PATHS = (
    r"\\VM1\PhysicalDisk(1 F:)\Disk Reads/sec",
    r"\\VM1\PhysicalDisk(1 F:)\Disk Write Bytes/sec",
    r"\\VM1\PhysicalDisk(1 F:)\Avg. Disk sec/Read",
    r"\\VM1\PhysicalDisk(_Total)\Disk Reads/sec",
    r"\\VM1\LogicalDisk(F:)\Disk Reads/sec",
    r"\\VM1\Processor(_Total)\% Processor Time",
)
VALUES = ("100.5", "4096", "0.002", "100.5", "100.5", "7")
COLUMNS = ["host", "device", "interval_s", "read_iops", "write_bytes_per_s", "read_lat_us"]


def read(text: str) -> dict[str, pd.DataFrame]:
    return registry.read(Source("counters.txt", text.encode()))


def log(paths: tuple[str, ...] = PATHS, head: str = "(PDH-CSV 4.0) (UTC)(0)", separator: str = ",") -> str:
    """Two samples of the values, behind the one of which a rate begins."""
    rows = [[head, *paths], ["11/20/2026 10:00:00.000", *(" " for _ in paths)]]
    rows += [[f"11/20/2026 10:0{n}:00.000", *VALUES[: len(paths)]] for n in (1, 2)]
    return "".join(separator.join(f'"{cell}"' for cell in row) + "\r\n" for row in rows)


EXPECTED = read(log())["demand"][COLUMNS]


def test_a_log_has_the_figures_of_its_disks() -> None:
    assert EXPECTED.to_numpy().tolist() == [["VM1", "1 F:", 60, 100.5, 4096, 2000]] * 2


def test_quotes_and_a_backslash_before_an_n_are_those_of_a_bare_log() -> None:
    tables = read(log(tuple(path.replace("VM1", "nas1") for path in PATHS)))
    assert set(tables["demand"]["host"]) == {"nas1"}
    assert set(tables["findings"]["code"]) == {"counters_left_out"}


@pytest.mark.parametrize(
    "text",
    [
        log(tuple(path.lower() for path in PATHS)),
        log(tuple(path.upper() for path in PATHS)),
        log(head="(PDH-TSV 4.0) (UTC)(0)", separator="\t"),
        "C:\\> typeperf -sc 3\n\n"
        + log()
        + "\nExiting, please wait...\nThe command completed successfully.\nC:\\>\n",
        "    " + log().replace("\n", "\n    "),
    ],
    ids=["lower", "upper", "tabs", "transcript", "indented"],
)
def test_each_form_of_a_log_is_read_as_the_plain_one(text: str) -> None:
    tables = read(text)
    found = tables["demand"][COLUMNS]
    for name in ("host", "device"):
        found, expected = found.assign(**{name: found[name].str.upper()}), EXPECTED
    pd.testing.assert_frame_equal(found, expected)
    assert set(tables["findings"]["code"]) == {"counters_left_out"}


def test_several_logs_in_one_file_keep_their_own_columns() -> None:
    other = log((PATHS[0].replace("1 F:", "2 G:"),)).replace("10:0", "12:0")
    found = read(log() + other)["demand"]
    assert found.groupby("device").size().to_dict() == {"1 F:": 2, "2 G:": 2}
    assert set(found["interval_s"]) == {60}


def shown(times: list[str], comma: bool = False, width: int = 200) -> str:
    """What Get-Counter shows on a console of some width."""
    lines = ["", "Timestamp                 CounterSamples", "---------                 --------------"]
    for time in times:
        before = time
        for path, value in zip(PATHS, VALUES, strict=True):
            rest = path.lower() + " :"
            while rest:
                lines.append(f"{before:26}{rest[:width]}")
                before, rest = "", rest[width:]
            lines += [f"{'':26}{value.replace('.', ',') if comma else value}", ""]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("times", "comma"),
    [
        (["11/20/2026 2:59:56 PM", "11/20/2026 3:00:56 PM"], False),
        (["20/11/2026 14:59:56", "20/11/2026 15:00:56"], False),
        (["20.11.2026 14:59:56", "20.11.2026 15:00:56"], True),
        (["2026-11-20 14:59:56", "2026-11-20 15:00:56"], True),
    ],
    ids=["en-US", "en-GB", "de-DE", "sv-SE"],
)
def test_what_get_counter_shows_is_read_in_any_culture(times: list[str], comma: bool) -> None:
    for text in (shown(times, comma), "PS C:\\> Get-Counter\n" + shown(times, comma, width=30)):
        found = read(text)["demand"]
        assert found[COLUMNS[2:]].to_numpy().tolist() == EXPECTED[COLUMNS[2:]].to_numpy().tolist()
        assert found["device"].str.replace(" ", "").tolist() == ["1f:"] * 2
        assert found["t_s"].tolist() == [1795186736, 1795186796]
        assert set(found["clock"]) == {"local"}


@pytest.mark.parametrize("separator", [",", ";"])
def test_samples_as_csv(separator: str) -> None:
    titles = ["Path", "InstanceName", "CookedValue", "RawValue", "Timestamp", "Status"]
    rows = [titles]
    for time in ("20/11/2026 14:59:56", "20/11/2026 15:00:56"):
        for path, value in zip(PATHS, VALUES, strict=True):
            rows.append([path.lower(), "1 f:", value.replace(".", ","), "123", time, "0"])
    text = "".join(separator.join(f'"{cell}"' for cell in row) + "\r\n" for row in rows)
    found = read("#TYPE Microsoft.PowerShell.Commands.GetCounter.PerformanceCounterSample\r\n" + text)[
        "demand"
    ]
    assert found[COLUMNS[2:]].to_numpy().tolist() == EXPECTED[COLUMNS[2:]].to_numpy().tolist()
    assert found["device"].tolist() == ["1 f:"] * 2


def test_a_figure_may_stand_behind_its_path() -> None:
    times = ["20.11.2026 14:59:56", "20.11.2026 15:00:56"]
    text = shown(times, comma=True)
    one_line = text.replace(" :\n" + " " * 26, " : ")
    assert one_line.count("\n") < text.count("\n")
    found, expected = read(one_line)["demand"], read(text)["demand"]
    assert found.drop(columns="telemetry_id").equals(expected.drop(columns="telemetry_id"))


def test_names_of_samples_without_the_samples_are_refused_with_the_way_to_get_them() -> None:
    kind = "Microsoft.PowerShell.Commands.GetCounter.PerformanceCounterSample"
    text = f'#TYPE {kind}Set\n"Timestamp","CounterSamples"\n"11/20/2026 2:59:56 PM","{kind}[]"\n'
    (finding,) = read(text)["findings"].to_dict("records")
    assert finding["code"] == "no_figures"
    assert "Export-Csv" in finding["advice"]


def test_one_sample_has_rates_and_no_length() -> None:
    tables = read(shown(["11/20/2026 2:59:56 PM"]))
    (row,) = tables["demand"].to_dict("records")
    assert row["read_iops"] == 100.5
    assert pd.isna(row["interval_s"])
    assert Code.INTERVAL_UNKNOWN in set(tables["findings"]["code"])


def test_samples_of_other_things_are_refused_with_a_reason() -> None:
    tables = read(shown(["11/20/2026 2:59:56 PM"]).replace("disk", "disque"))
    assert tables["demand"].empty
    assert tables["findings"][["code", "severity"]].to_numpy().tolist() == [["counters_left_out", "warning"]]
