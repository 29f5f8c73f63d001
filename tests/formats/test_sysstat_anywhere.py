"""Outputs of sysstat as people have them: cut, in pages and transcripts, of all versions and options."""

import json
from pathlib import Path

import pandas as pd
import pytest

from azbenchlib.core.findings import Code
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.sizing.telemetry import telemetry

DATA = Path(__file__).parents[1] / "data" / "sysstat"
LINUX = "Linux 6.1.0 (db1) \t11/20/26 \t_x86_64_\t(8 CPU)\n"
X = "Device            r/s     rkB/s     w/s     wkB/s r_await w_await  aqu-sz  %util\n"
ROW = "sda   {n}.00   40.00   5.00   80.00 0.50 1.00 0.02 1.00\n"
FIGURES = ["device", "t_s", "interval_s", "read_iops", "write_iops", "read_bytes_per_s", "write_bytes_per_s"]


def read(text: str, name: str = "telemetry.txt") -> dict[str, pd.DataFrame]:
    return registry.read(Source(name, text.encode()))


def codes(tables: dict[str, pd.DataFrame]) -> set[str]:
    return set(tables["findings"]["code"])


def reports(minutes: range = range(4), row: str = ROW, header: str = X) -> str:
    """Reports of iostat -x -t with 10, 20, … reads a second."""
    return "".join(
        f"\n11/20/26 10:{minute:02}:00\n{header}{row.format(n=10 * minute + 10)}\n" for minute in minutes
    )


BARE = read(LINUX + reports())["demand"][FIGURES]


def quoted(text: str, prefix: str) -> str:
    return "".join(prefix + line for line in text.splitlines(keepends=True))


@pytest.mark.parametrize(
    "text",
    [
        reports(),
        "# Disks\n\nWe saw 5 slow disks on 13/12/2025:\n\n```\n"
        + LINUX
        + reports()
        + "```\nThe end of 3 disks.\n",
        "<p>See</p>\n<pre>" + LINUX + reports() + "</pre>\n",
        "user@db1:~$ iostat -x -t 60\n"
        + LINUX
        + reports()
        + "^C\nuser@db1:~$ df\nFilesystem 1K Use% Mounted\n",
        "Which is the slow\nDevice\nDevice: the first one\n" + reports(),
        quoted(LINUX + reports(), "    "),
        quoted(LINUX + reports(), "\t"),
        quoted(LINUX + reports(), "> "),
        LINUX + reports() + "\nNAME MAJ:MIN RM SIZE RO TYPE\nsda 8:0 0 128G 0 disk\n",
    ],
    ids=["no banner", "page", "html", "prompt", "prose", "blanks", "tabs", "quoted", "lsblk"],
)
def test_iostat_stands_anywhere(text: str) -> None:
    tables = read(text)
    pd.testing.assert_frame_equal(tables["demand"][FIGURES], BARE)
    assert Code.ROW_NOT_READ not in codes(tables)


def test_groups_are_told_by_indentation_beside_that_of_the_page() -> None:
    row = ROW + " all" + ROW.removeprefix("sda")
    pd.testing.assert_frame_equal(read(quoted(LINUX + reports(row=row), "   "))["demand"][FIGURES], BARE)


def test_several_captures_have_each_their_own_begin_and_interval() -> None:
    seconds = "".join(f"\n11/20/26 12:00:0{s}\n{X}{ROW.format(n=7)}" for s in range(6))
    found = read(LINUX + reports() + LINUX + seconds)["demand"]
    assert found["interval_s"].tolist() == [60] * 3 + [1] * 5
    assert found["read_iops"].tolist() == [20, 30, 40] + [7] * 5


def test_a_disk_that_comes_again_below_one_header_begins_a_report() -> None:
    """As of ``iostat -x 60 | grep -e Device -e sda``, or with a header at the top alone."""
    rows = "".join(ROW.format(n=n) for n in range(1, 5))
    found = read(LINUX + X + rows)["demand"]
    assert found["read_iops"].tolist() == [2, 3, 4]
    assert found["seq"].is_unique
    dated = read(LINUX + reports() + ROW.format(n=99))
    pd.testing.assert_frame_equal(dated["demand"][FIGURES], BARE)
    assert Code.ROW_NOT_READ in codes(dated)


def test_a_command_line_tells_the_interval_and_that_no_report_is_since_boot() -> None:
    one = f"{LINUX}\n{X}{ROW.format(n=9)}"
    assert read(one)["demand"].empty
    for line in ("$ iostat -xy 60 1", "[root@db1 ~]# sudo iostat -x -y 60 1 | tee log"):
        tables = read(f"{line}\n{one}")
        (row,) = tables["demand"].to_dict("records")
        assert (row["read_iops"], row["interval_s"], row["clock"]) == (9, 60, "elapsed")
        assert Code.OPTION_OF_COMMAND_LINE in codes(tables)
    for line in ("$ iostat -xy", "$ iostat -x 60 1", "run iostat -y 60 on it"):
        assert read(f"{line}\n{one}")["demand"].empty
    tables = read(f"$ iostat -x 5\n{LINUX}" + f"\n{X}{ROW.format(n=9)}" * 3 + f"\n$ date\n{one}")
    assert tables["demand"]["interval_s"].tolist() == [5, 5]


def test_writes_and_discards_in_one_figure_are_writes_only_where_they_are_zero() -> None:
    header = "Device             tps    kB_read/s     kB_w+d/s    kB_read     kB_w+d\n"
    rows = "sda  100.00  400.00  {n}  24000  100\nsdb 10.00 40.00 0.00 0 0\n"
    tables = read(LINUX + reports(range(2), rows, header))
    sda, sdb = tables["demand"].to_dict("records")
    assert pd.isna(sda["write_bytes_per_s"])
    assert (sda["bw_bytes_per_s"], sda["read_bytes_per_s"]) == (420 * 1024, 400 * 1024)
    assert (sdb["write_bytes_per_s"], sdb["read_bytes_per_s"]) == (0, 40 * 1024)
    assert Code.DISCARDS_IN_WRITES in codes(tables)
    history = telemetry(tables).history
    assert (history.read_bytes_per_s[0], history.write_bytes_per_s[0]) == (440 * 1024, 20 * 1024)


@pytest.mark.parametrize(
    ("header", "row", "expected"),
    [
        (  # 12.7 -x
            "Device r/s rkB/s rrqm/s %rrqm r_await rareq-sz w/s wkB/s wrqm/s %wrqm w_await wareq-sz d/s "
            "dkB/s drqm/s %drqm d_await dareq-sz f/s f_await aqu-sz %util",
            "sda 1 4 0 0 0.5 4 2 8 0 0 1.5 4 3 12 0 0 0.1 4 1 0.2 0.01 7.5",
            {"read_iops": 1, "read_bytes_per_s": 4096, "read_lat_us": 500, "write_iops": 2,
             "write_bytes_per_s": 8192, "write_lat_us": 1500, "queue_depth": 0.01, "busy_pct": 7.5},
        ),
        (  # 11.6 -x -m
            "Device r/s w/s rMB/s wMB/s rrqm/s wrqm/s %rrqm %wrqm r_await w_await aqu-sz rareq-sz wareq-sz "
            "svctm %util",
            "nvme0n1 1 2 0.5 1 0 0 0 0 0.5 1.5 0.01 4 4 0.3 7.5",
            {"read_iops": 1, "write_iops": 2, "read_bytes_per_s": 2**19, "write_bytes_per_s": 2**20},
        ),
        (  # 10 -x -k
            "Device: rrqm/s wrqm/s r/s w/s rkB/s wkB/s avgrq-sz avgqu-sz await r_await w_await svctm %util",
            "sda 0,00 0,50 1,00 2,00 4,00 8,00 8,00 0,25 1,00 0,50 1,50 1,00 0,10",
            {"read_iops": 1, "write_iops": 2, "read_bytes_per_s": 4096, "queue_depth": 0.25, "lat_us": 1000},
        ),
        (  # -x -s
            "Device tps kB/s rqm/s await areq-sz aqu-sz %util",
            "sda 9.90 170.30 30.69 0.10 17.20 0.00 0.00",
            {"iops": 9.9, "bw_bytes_per_s": 170.3 * 1024, "lat_us": 100},
        ),
        (  # 9 -d
            "Device: tps Blk_read/s Blk_wrtn/s Blk_read Blk_wrtn",
            "dm-0 3 8 16 1000 2000",
            {"iops": 3, "read_bytes_per_s": 4096, "write_bytes_per_s": 8192},
        ),
        (  # 11 -h: the name on a line of its own
            "Device: tps kB_read/s kB_wrtn/s kB_read kB_wrtn",
            "mapper-with-a-long-name\n                 3.00  4.00  8.00 1000 2000",
            {"device": "mapper-with-a-long-name", "iops": 3, "read_bytes_per_s": 4096},
        ),
        (  # --human --dec=0
            "Device tps kB_read/s kB_wrtn/s kB_dscd/s kB_read kB_wrtn kB_dscd",
            "vda 149 10M 0k 480k 10M 0k 480k",
            {"iops": 149, "read_bytes_per_s": 10 * 2**20, "write_bytes_per_s": 0},
        ),
    ],
    ids=["12.7 -x", "11.6 -x", "10 -x", "-xs", "9 -d", "11 -h", "--human"],
)  # fmt: skip
def test_columns_of_each_version(header: str, row: str, expected: dict[str, float]) -> None:
    tables = read(LINUX + reports(range(2), row + "\n", header + "\n"))
    (found,) = tables["demand"].to_dict("records")
    assert {name: found[name] for name in expected} == expected
    assert Code.ROW_NOT_READ not in codes(tables)


SAR = """
10:00:01 PM          DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
10:10:01 PM          sda   1000,00   4000,00   4000,00      0,00      8,00      0,50      1,00     20,00
10:20:01 PM          sda   2000,00   4000,00   4000,00      0,00      8,00      0,50      1,00     20,00
Average:             sda   1500,00   4000,00   4000,00      0,00      8,00      0,50      1,00     20,00
"""


def test_sar_without_a_banner_has_intervals_and_no_day() -> None:
    with_day, without = read(LINUX + SAR)["demand"], read(SAR)["demand"]
    assert with_day["iops"].tolist() == without["iops"].tolist() == [1000, 2000]
    assert without["clock"].tolist() == ["elapsed"] * 2
    assert without["t_s"].tolist() == [0, 600]
    assert without["interval_s"].tolist() == [600, 600]
    late = SAR.replace("10:20:01 PM", "12:10:01 AM").replace("10:1", "11:5").replace("10:0", "11:4")
    assert read(late)["demand"]["t_s"].tolist() == [0, 600]


def test_sar_b_has_totals_which_count_where_no_disk_is_told() -> None:
    totals = (
        "\n10:00:01 PM       tps      rtps      wtps      dtps   bread/s   bwrtn/s   bdscd/s\n"
        "10:10:01 PM     12.00      5.00      6.00      1.00     80.00    160.00      8.00\n"
        "10:20:01 PM     13.00      6.00      6.00      1.00     96.00    160.00      8.00\n"
    )
    tables = read(LINUX + totals)
    found = tables["demand"]
    assert found["device"].tolist() == ["total"] * 2
    assert found["read_iops"].tolist() == [5, 6]
    assert found["read_bytes_per_s"].tolist() == [80 * 512, 96 * 512]
    assert found["iops"].isna().all()  # 12 a second of which 1 is a discard
    assert Code.TOTALS_ALONE in codes(tables)
    assert telemetry(tables).history.write_iops.tolist() == [6, 6]
    both = read(LINUX + totals + SAR)["demand"]
    pd.testing.assert_frame_equal(both, read(LINUX + SAR)["demand"].assign(telemetry_id=both["telemetry_id"]))


def test_sar_and_iostat_in_one_file_keep_their_names() -> None:
    found = read(LINUX + reports() + LINUX + SAR)["demand"]
    assert found.groupby("tool").size().to_dict() == {"iostat": 3, "sar": 2}
    assert not found.duplicated(["telemetry_id", "host", "device", "seq"]).any()


def test_dates_in_chinese_and_japanese() -> None:
    text = LINUX.replace("11/20/26", "2026年11月20日")
    for hour, minute, second in ("时分秒", "時分秒"):
        times = [f"2026年11月20日 10{hour}0{n}{minute}00{second}" for n in range(2)]
        body = "".join(f"\n{time}\n{X}{ROW.format(n=10)}" for time in times)
        (row,) = read(text + body)["demand"].to_dict("records")
        assert (row["t_s"], row["interval_s"]) == (BARE["t_s"].iloc[0], 60)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("10:00:01     CPU    %usr   %nice\n10:00:02     all   17.59   47.74\n", "mpstat"),
        (
            "10:00:01      UID       PID   kB_rd/s   kB_wr/s  Command\n10:00:02  0  1  3.00  4.00  sh\n",
            "pidstat",
        ),
        ("avg-cpu:  %user   %nice\n  1.00    0.00\n", "iostat -c"),
        ("\n", "no whole table"),
    ],
)
def test_what_an_output_without_disks_tells_of_is_said(text: str, word: str) -> None:
    tables = read(LINUX + "\n" + text)
    assert tables["demand"].empty
    (finding,) = tables["findings"].to_dict("records")
    assert (finding["code"], finding["severity"]) == ("no_figures", "warning")
    assert word in finding["message"]


@pytest.mark.parametrize("indent", [None, 1, 2, 4, 30])
def test_json_is_read_however_it_is_indented(indent: int | None) -> None:
    for name in ("extended.json", "plain_mb.json", "sadf.json"):
        text = (DATA / name).read_text()
        whole, found = read(text)["demand"], read(json.dumps(json.loads(text), indent=indent))
        columns = whole.columns.drop(["telemetry_id"])
        pd.testing.assert_frame_equal(found["demand"][columns], whole[columns])
        assert Code.BROKEN_JSON not in codes(found)


def test_json_stands_in_pages_and_several_documents_in_one_file() -> None:
    text = (DATA / "extended.json").read_text()
    whole = read(text)["demand"][FIGURES]
    assert len(whole) == 3
    page = f"Here:\n\n```json\n{text}```\n\nand later\n\n{text}\n"
    tables = read(page)
    assert tables["demand"][FIGURES].equals(pd.concat([whole, whole], ignore_index=True))
    assert Code.BROKEN_JSON not in codes(tables)
    indented = json.dumps(json.loads(text), indent=4)
    cut = read(indented[: len(indented) * 3 // 4] + "\n" + text)
    assert len(cut["demand"]) >= 4
    assert Code.BROKEN_JSON in codes(cut)


def test_the_only_json_report_is_kept_where_the_command_line_has_y() -> None:
    content = json.loads((DATA / "extended.json").read_text())
    host = content["sysstat"]["hosts"][0]
    host["statistics"] = host["statistics"][1:2]
    assert read(json.dumps(content))["demand"].empty
    (row,) = read("$ iostat -dxty -o JSON 60 1\n" + json.dumps(content))["demand"].to_dict("records")
    assert (row["read_iops"], row["interval_s"]) == (1302, 60)


def test_json_that_can_not_be_written_is_replaced() -> None:
    text = (DATA / "extended.json").read_text().replace('"vda"', '"\\ud800"').replace('"db1"', '"\\udfff"')
    found = read(text)["demand"]
    assert found["device"].unique().tolist() == ["?"]
    found.to_csv().encode()


@pytest.mark.parametrize("separator", ["\t", ","])
def test_other_separators_of_sadf(separator: str) -> None:
    text = (DATA / "sadf.txt").read_text()
    whole = read(text)["demand"][["device", "t_s", "interval_s", "iops", "busy_pct"]]
    for form in (text, text.removeprefix("# "), quoted(text, "  ")):
        found = read(form.replace(";", separator))["demand"]
        assert found[list(whole.columns)].equals(whole)


def test_sadf_p_and_xml_tell_what_sadf_d_tells() -> None:
    whole = read((DATA / "sadf.txt").read_text())["demand"].drop(columns="telemetry_id")
    header, *lines = (DATA / "sadf.txt").read_text().splitlines()
    names = header.split(";")[4:]
    by_figure, stamps = "", ""
    for line in lines:
        host, length, time, device, *figures = line.split(";")
        by_figure += f"{host}\t{length}\t{time}\t-\ttps\t99.00\n"  # of sar -b
        by_figure += "".join(
            f"{host}\t{length}\t{time}\t{device}\t{name}\t{figure}\n"
            for name, figure in zip(names, figures, strict=True)
        )
        keys = [name.replace("%util", "util-percent").replace("kB/s", "kB") for name in names]
        attributes = " ".join(f'{key}="{figure}"' for key, figure in zip(keys, figures, strict=True))
        date, clock, zone = time.split()
        stamps += (
            f'<timestamp date="{date}" time="{clock}" tz="{zone}" interval="{length}">'
            f'<disk per="second"><disk-device dev="{device}" {attributes}/></disk></timestamp>\n'
        )
    xml = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE Configure PUBLIC "DTD v2.19 sysstat //EN"\n'
        '"http://pagesperso-orange.fr/sebastien.godard/sysstat-2.19.dtd">\n'
        '<sysstat xmlns="https://sysstat.github.io">\n<sysdata-version>3.8</sysdata-version>\n'
        f'<host nodename="db1"><statistics>\n{stamps}</statistics></host></sysstat>\n'
    )
    for text in (by_figure, xml, f"In a page:\n{xml}and so on"):
        pd.testing.assert_frame_equal(read(text)["demand"].drop(columns="telemetry_id"), whole)
    cut = read(xml[: len(xml) * 3 // 4])
    assert Code.ROW_NOT_READ in codes(cut)
    assert 1 <= len(cut["demand"]) < len(whole)
    hostile = xml.replace('<disk per="second">', '<!DOCTYPE a [<!ENTITY b "c">]><disk per="second">')
    assert len(read(hostile)["demand"]) == 0
