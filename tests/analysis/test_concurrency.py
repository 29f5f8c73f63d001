"""What ran at once adds up, repeats give a median with its range, what is unknown stays apart: everywhere."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from azbenchlib import Report
from azbenchlib.advisor.demands.achieved import achieved
from azbenchlib.advisor.offers.load_market import market
from azbenchlib.advisor.reasons.cheaper import demand_of
from azbenchlib.analysis import concurrency, grouping, summary, totals
from azbenchlib.analysis.matched_runs import counterparts
from azbenchlib.analysis.merge import merge
from azbenchlib.analysis.mix import read_share
from azbenchlib.cli import app
from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.cost import priced_setups
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.report import formatting
from azbenchlib.report.sections import bills
from azbenchlib.verdict.run_verdicts import judge_runs

SETUP = {
    "setup_id": "s",
    "environment": "azure",
    "region": "westeurope",
    "vm_size": "Standard_E8ds_v4",
    "disks": [{"disk": "d", "role": "data", "sku": "Premium_LRS", "tier": "P30", "size_bytes": 2**40}],
}


def direction(iops: float, bs: int = 4096, seconds: int = 60) -> dict[str, Any]:
    ios = round(iops * seconds)
    us = 1000 * 1000
    clat = {"min": us // 2, "max": 3 * us, "mean": us, "stddev": 1.0, "N": ios}
    percentiles = {"50.000000": us, "95.000000": 2 * us, "99.000000": 3 * us} if ios else {}
    return {
        **{"io_bytes": ios * bs, "total_ios": ios, "iops": iops, "bw_bytes": round(iops * bs)},
        **{"runtime": seconds * 1000 if ios else 0, "clat_ns": {**clat, "percentile": percentiles}},
    }


def job(
    reads: float = 0, writes: float = 0, name: str = "j", group: int = 0, **options: str
) -> dict[str, Any]:
    rw = "randrw" if reads and writes else "randread" if reads else "randwrite"
    asked = {
        "name": name,
        "rw": rw,
        "bs": "4k",
        "iodepth": "4",
        "ioengine": "libaio",
        "direct": "1",
        **options,
    }
    parts = {"read": direction(reads), "write": direction(writes)}
    return {"jobname": name, "groupid": group, "error": 0, "job options": asked, **parts}


def document(*jobs: dict[str, Any]) -> str:
    return json.dumps({"fio version": "fio-3.33", "jobs": [*jobs]})


def of_hosts(*rates: float) -> str:
    """A client's JSON of one job on several servers, with the sum at its end."""
    hosts = [{**job(rate), "hostname": f"host{i}", "port": 8765} for i, rate in enumerate(rates)]
    total = {**job(sum(rates)), "jobname": "All clients", "hostname": "", "port": 0}
    return json.dumps({"fio version": "fio-3.33", "client_stats": [*hosts, total]})


def terse(rates: Sequence[float]) -> str:
    """The same in terse version 3, a line a server."""

    def block(iops: float) -> list[str]:
        ios = round(iops * 60)
        head = [str(ios * 4), str(round(iops * 4)), str(round(iops)), "60000" if ios else "0"]
        clat = ["500", "3000", "1000.0", "1.0"] if ios else ["0", "0", "0.0", "0.0"]
        shares = ["50.000000%=1000", "99.000000%=3000"] if ios else []
        shares += ["0%=0"] * (20 - len(shares))
        return [*head, "0", "0", "0.0", "0.0", *clat, *shares, *clat, "0", "0", "0.0%", "0.0", "0.0"]

    usage = ["1.0%", "2.0%", "100", "0", "1", "100.0%", *["0.0%"] * 6, *["0.00%"] * 22]
    lines = [["3", "fio-3.33", "j", "0", "0", *block(rate), *block(0), *usage] for rate in rates]
    return "\n".join(";".join(line) for line in lines) + "\n"


def dataset(folder: Path, files: Mapping[str, str], *setups: Mapping[str, Any]) -> Path:
    """A dataset folder with these raw outputs."""
    for name, text in files.items():
        path = folder / "raw" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    about = {"name": "made", "title": "Made", "about": "", "measured": "2026-01-01", "setups": list(setups)}
    tools = {"fio": "fio-3.33"}
    (folder / "manifest.json").write_text(json.dumps({**about, "tools": tools, "commands": [], "notes": []}))
    return folder


def every_part(folder: Path) -> dict[str, float]:
    """The IOPS that each part tells of a dataset with one run."""
    tables = Dataset.load(folder).tables
    arrangement = grouping.arrange(tables)
    (card,) = summary.cards(arrangement, tables)
    (judged,) = judge_runs(tables)
    (part,) = Report([str(folder)]).parts
    return {
        "rates": float(grouping.rates(arrangement)["iops"].sum()),
        "table": float(summary.results_table(arrangement, tables)["iops"].sum()),
        "card": float(card.rate["iops"]),
        "merged": float(merge(tables, by=("setup_id",)).rates["iops"].sum()),
        "verdict": sum(flow.observation.iops or 0 for flow in judged.run.flows),
        "delivered": float(achieved(tables).iops or 0),
        "cost": float(bills.workloads(part)["iops"].iloc[0]),
        "headline": float(bills.headlines(part)["iops"].iloc[0]),
    }


def without_percentiles(text: str) -> str:
    """So that nothing hinders merging."""
    found = json.loads(text)
    for one in found.get("jobs", found.get("client_stats")):
        for side in ("read", "write"):
            del one[side]["clat_ns"]["percentile"]
    return json.dumps(found)


# ---- at once


@pytest.mark.parametrize("rates", [(1000, 1000), (1000, 500, 250)])
@pytest.mark.sampled(1)
def test_hosts_of_one_run_add_up_in_every_part(tmp_path: Path, rates: tuple[float, ...]) -> None:
    folder = dataset(tmp_path / "d", {"run.json": without_percentiles(of_hosts(*rates))}, SETUP)
    parts = every_part(folder)
    assert parts == dict.fromkeys(parts, sum(rates))


@pytest.mark.long
def test_json_and_terse_of_the_same_hosts_agree(tmp_path: Path) -> None:
    rates = (1996.0, 2001.0, 2000.0)
    as_json = every_part(dataset(tmp_path / "j", {"run.json": without_percentiles(of_hosts(*rates))}, SETUP))
    text = terse(rates).replace("50.000000%=1000", "0%=0").replace("99.000000%=3000", "0%=0")
    assert every_part(dataset(tmp_path / "t", {"run.terse": text}, SETUP)) == as_json
    assert as_json["card"] == 5997


def test_percentiles_of_all_clients_stand_with_the_rate_of_all(tmp_path: Path) -> None:
    tables = Dataset.load(dataset(tmp_path, {"run.json": of_hosts(1000, 1000)}, SETUP)).tables
    table = summary.results_table(grouping.arrange(tables), tables)
    assert table[["iops", "p50", "p99"]].values.tolist() == [[2000, 1000, 3000]]


def test_groups_that_waited_for_each_other_did_not_run_at_once(tmp_path: Path) -> None:
    text = document(job(1000, name="a", group=0), job(1200, name="b", group=1))
    tables = Dataset.load(dataset(tmp_path, {"run.json": text}, SETUP)).tables
    assert [one.run.flows[0].observation.iops for one in judge_runs(tables)] == [1000, 1200]
    (row,) = schema.records(totals.totals(grouping.arrange(tables)))
    assert (row["iops"], row["repeats"], row["iops_low"], row["iops_high"]) == (1100, 2, 1000, 1200)


@pytest.mark.parametrize("apart", ["two files", "one file"])
def test_the_same_job_in_two_documents_did_not_run_at_once(tmp_path: Path, apart: str) -> None:
    one, two = document(job(1100)), document(job(1000))
    files = {"a.json": one, "b.json": two} if apart == "two files" else {"a.json": f"{one}\n{two}\n"}
    tables = Dataset.load(dataset(tmp_path, files, SETUP)).tables
    (row,) = schema.records(totals.totals(grouping.arrange(tables)))
    assert (row["iops"], row["repeats"]) == (1050, 2)
    assert len(judge_runs(tables)) == 2


def test_two_jobs_that_differ_are_one_run_of_both(tmp_path: Path) -> None:
    """A reader and a writer side by side: who buys a disk for them needs both rates."""
    text = document(job(1000, name="reader"), job(writes=1000, name="writer"))
    folder = dataset(tmp_path, {"run.json": without_percentiles(text)}, SETUP)
    parts = every_part(folder)
    assert parts == dict.fromkeys(parts, 2000)
    tables = Dataset.load(folder).tables
    (row,) = schema.records(totals.totals(grouping.arrange(tables)))
    assert (row["read_share"], row["workloads"]) == (0.5, 2)


def test_a_rate_that_is_not_known_of_one_job_is_not_known_of_all() -> None:
    tables = made([{"run_id": "a"}, {"run_id": "b"}], {"a": 10.0, "b": 20.0})
    tables["results"].loc[1, "iops"] = pd.NA
    assert grouping.rates(grouping.arrange(tables))["iops"].isna().tolist() == [True]
    assert achieved(tables).iops is None or achieved(tables).iops == 30  # of the bytes, never 10


def made(
    runs: list[dict[str, Any]], iops: Mapping[str, float], ddir: str = "read"
) -> dict[str, pd.DataFrame]:
    known = {"level": "job", "rw": "randread", "bs_bytes": 4096, "queue_depth": 1, "iodepth": 1}
    known |= {"source_doc": 0, "group_id": 0, "source_path": "f.json", "source_sha256": "f", "setup_id": "s"}
    rows = {
        "runs": [known | run for run in runs],
        "results": [
            {"run_id": name, "ddir": ddir, "iops": rate, "bw_bytes_per_s": rate * 4096}
            for name, rate in iops.items()
        ],
    }
    return {name: schema.frame(name, rows.get(name, [])) for name in schema.TABLES}


@pytest.mark.parametrize("level", ["group", "host", "all"])
def test_a_sum_counts_where_its_parts_are_cut_off(level: str) -> None:
    tables = made([{"run_id": "part"}, {"run_id": "sum", "level": level}], {"part": 10.0, "sum": 100.0})
    assert tables["runs"].loc[concurrency.counted(tables), "run_id"].tolist() == ["sum"]
    assert grouping.rates(grouping.arrange(tables))["iops"].tolist() == [100]
    whole = made([{"run_id": "part"}, {"run_id": "sum", "level": level}], {"part": 99.9, "sum": 100.0})
    assert whole["runs"].loc[concurrency.counted(whole), "run_id"].tolist() == ["part"]


def test_rows_without_a_group_ran_alone() -> None:
    tables = made(
        [{"run_id": "a", "group_id": None}, {"run_id": "b", "group_id": None}], {"a": 1.0, "b": 3.0}
    )
    assert concurrency.at_once(tables["runs"]).tolist() == ["a", "b"]
    assert len(judge_runs(tables)) == 2


# ---- threads and workers


def diskspd(threads: int, iops: float, at: int = 2) -> str:
    """The text of a run with so many threads, each with the same rate."""
    seconds, bs = 60, 4096
    ios = round(iops * seconds)
    head = "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s |  AvgLat  | LatStdDev |  file"

    def figures(name: str, n: int, file: str) -> str:
        each = f"{n * ios * bs} | {n * ios} | {n * iops * bs / 2**20:.2f} | {n * iops:.2f} | 3.200 | 0.100"
        return f"{name} {each}{file}"

    def table(kind: str, n: int) -> list[str]:
        rows = [figures(f"{i} |", n, " | C:\\t.dat (10GiB)") for i in range(threads)]
        return [f"{kind} IO", head, "-----", *rows, "-----", figures("total:", n * threads, ""), ""]

    options = [
        *(
            "Input parameters:",
            "\ttimespan:   1",
            "\t-------------",
            "\tduration: 60s",
            "\tpath: 'C:\\t.dat'",
        ),
        *("\t\tsoftware cache disabled", "\t\tperforming read test", "\t\tblock size: 4KiB"),
        *("\t\tusing random I/O (alignment: 4KiB)", f"\t\tthreads per file: {threads}"),
        f"\t\tnumber of outstanding I/O operations per thread: {at}",
    ]
    results = ["Results for timespan 1:", "actual test time:\t60.00s", *table("Total", 1), *table("Read", 1)]
    shares = ["50th |      1.500 |        N/A |      1.500", "99th |      9.000 |        N/A |      9.000"]
    latency = ["total:", "  %-ile |  Read (ms) | Write (ms) | Total (ms)", "------", *shares]
    return "\n".join([*options, "", *results, *latency, ""])


def test_threads_of_diskspd_are_one_run_at_the_limit_of_a_p30(tmp_path: Path) -> None:
    folder = dataset(tmp_path, {"run.txt": diskspd(8, 625)}, SETUP)
    parts = every_part(folder)
    assert parts == dict.fromkeys(parts, 5000)
    tables = Dataset.load(folder).tables
    (one,) = judge_runs(tables)
    run, judged = one.run, one.judgement
    assert judged.binding[0] == "disk_iops"
    row = next(row for row in judged.limits if row.label == "disk_iops")
    assert row.utilisation == pytest.approx(1)
    assert run.flows[0].observation.queue_depth == 16
    (part,) = Report([str(folder)]).parts
    found = part.priced
    (priced,) = found.values()
    table = priced_setups.per_delivered(bills.headlines(part), found)
    assert float(table["per_1000_iops"].iloc[0]) == pytest.approx(float(priced.total or 0) / 5)


def test_percentiles_of_the_total_stand_with_the_rate_of_all_threads(tmp_path: Path) -> None:
    tables = Dataset.load(dataset(tmp_path, {"run.txt": diskspd(8, 625)}, SETUP)).tables
    arrangement = grouping.arrange(tables)
    table = summary.results_table(arrangement, tables)
    assert table[["iops", "lat_kind", "p50", "p99"]].values.tolist() == [[5000, "lat", 1500, 9000]]
    assert grouping.curves(arrangement, tables)["n"].unique().tolist() == [300_000]
    (one,) = judge_runs(tables)
    run = one.run
    assert run.flows[0].observation.percentiles[99.0] == 9000


def test_two_spans_of_diskspd_are_repeats(tmp_path: Path) -> None:
    files = {"a.txt": diskspd(4, 500), "b.txt": diskspd(4, 600)}
    tables = Dataset.load(dataset(tmp_path, files, SETUP)).tables
    (row,) = schema.records(totals.totals(grouping.arrange(tables)))
    assert (row["iops"], row["repeats"], row["iops_low"], row["iops_high"]) == (2200, 2, 2000, 2400)
    assert grouping.curves(grouping.arrange(tables), tables).empty  # a total has no bins to merge


def test_workers_of_iometer_add_up() -> None:
    tables = Dataset.read(Path(__file__).parents[1] / "data" / "iometer" / "results.csv").tables
    arrangement = grouping.arrange(tables)
    assert totals.totals(arrangement)["iops"].tolist() == [6000, 2000]
    assert grouping.rates(arrangement)["iops"].tolist() == [4500, 1500, 2000]
    assert [sum(flow.observation.iops or 0 for flow in one.run.flows) for one in judge_runs(tables)] == [
        6000,
        2000,
    ]
    assert achieved(tables).iops == 6000


# ---- pooling


def test_files_without_a_stated_setup_are_never_pooled(tmp_path: Path) -> None:
    files = {
        "x/a.json": document(job(47_920)),
        "y/a.json": document(job(309_259)),
        "b.json": document(job(7)),
    }
    folder = dataset(tmp_path, files)
    tables = Dataset.load(folder).tables
    arrangement = grouping.arrange(tables)
    assert sorted(arrangement.series["label"]) == ["b.json", "x/a.json", "y/a.json"]
    told = {card.series: float(card.rate["iops"]) for card in summary.cards(arrangement, tables)}
    assert sorted(told.values()) == [7, 47_920, 309_259]
    html = Report([str(folder)]).header().html + Report([str(folder)]).cards().html
    assert "178,5" not in html and "309,259" in html and "3\u00a0files without a stated setup" in html


def test_a_setup_of_which_nothing_is_said_is_not_stated(tmp_path: Path) -> None:
    files = {"a.json": document(job(100)), "b.json": document(job(900))}
    tables = Dataset.load(dataset(tmp_path, files, {"setup_id": "any", "environment": "other"})).tables
    assert totals.totals(grouping.arrange(tables))["iops"].tolist() == [100, 900]


def test_runs_of_one_file_without_a_stated_setup_stand_one_by_one(tmp_path: Path) -> None:
    """What was appended to a file may be of any machine."""
    text = "\n".join(document(job(rate)) for rate in (900, 300, 100))
    tables = Dataset.load(dataset(tmp_path, {"a.json": text})).tables
    table = totals.totals(grouping.arrange(tables))
    assert table["iops"].tolist() == [900, 300, 100]
    assert table["facet"].tolist() == [f"random reads, run {i} of 3" for i in (1, 2, 3)]


def test_the_latency_of_one_file_never_stands_beside_the_rate_of_another(tmp_path: Path) -> None:
    bare = json.loads(without_percentiles(document(job(462))))
    files = {"reads.json": json.dumps(bare), "writes.json": document(job(writes=5000))}
    tables = Dataset.load(dataset(tmp_path, files)).tables
    cards = {float(card.rate["iops"]): card for card in summary.cards(grouping.arrange(tables), tables)}
    assert cards[462].latencies == ()
    assert cards[5000].latency[50.0] == 1000


def test_repeats_show_how_many_they_are_and_their_range(tmp_path: Path) -> None:
    files = {f"{i}.json": document(job(rate)) for i, rate in enumerate((990, 1000, 1010))}
    folder = dataset(tmp_path, files, SETUP)
    report = Report([str(folder)])
    text = "median of 3 runs, 990 to 1,010 IOPS"
    for html in (report.cards().html, report.results().html, report.prices().html):
        assert text in html.replace("\u00a0", " ")


def test_repeats_without_bins_have_no_percentiles(tmp_path: Path) -> None:
    files = {"a.json": document(job(1000)), "b.json": without_percentiles(document(job(1200)))}
    tables = Dataset.load(dataset(tmp_path, files, SETUP)).tables
    assert grouping.curves(grouping.arrange(tables), tables).empty


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"size": "1g"}, "1 GiB of data"),
        ({"direct": "0"}, "buffered"),
        ({"ioengine": "io_uring"}, "io_uring"),
        ({"filename": "/dev/sdc"}, "/dev/sdc"),
        ({"rate_iops": "5000"}, "held to 5,000 IOPS"),
    ],
)
@pytest.mark.sampled(2)
def test_runs_that_differ_in_more_than_time_are_no_repeats(
    tmp_path: Path, options: dict[str, str], said: str
) -> None:
    files = {"a.json": document(job(1000)), "b.json": document(job(9000, **options))}
    tables = Dataset.load(dataset(tmp_path, files, SETUP)).tables
    table = totals.totals(grouping.arrange(tables)).set_index("iops")["facet"]
    assert len(table) == 2 and said in table[9000].replace("\u00a0", " ")


def test_mixes_of_other_shares_are_no_repeats(tmp_path: Path) -> None:
    files = {
        "a.json": document(job(700, 300, rwmixread="70")),
        "b.json": document(job(300, 700, rwmixread="30")),
    }
    tables = Dataset.load(dataset(tmp_path, files, SETUP)).tables
    assert len(totals.totals(grouping.arrange(tables))) == 2


def test_latencies_of_unknown_setups_say_nothing_of_each_other(tmp_path: Path) -> None:
    """A quick run at depth 1 in another file tells nothing of the disk of this one."""
    files = {"slow.json": document(job(1000)), "quick.json": document(job(50_000, iodepth="1"))}
    alone = Dataset.load(dataset(tmp_path / "a", {"slow.json": files["slow.json"]})).tables
    beside = Dataset.load(dataset(tmp_path / "b", files)).tables

    def told(tables: Mapping[str, pd.DataFrame]) -> object:
        return next(
            one.run.flows[0].observation.unloaded_us for one in judge_runs(tables) if "slow" in one.run.source
        )

    assert told(beside) == told(alone)


# ---- mixed runs


def test_a_mixed_run_counts_with_both_directions(tmp_path: Path) -> None:
    folder = dataset(tmp_path, {"mix.json": without_percentiles(document(job(4988, 5023)))}, SETUP)
    parts = every_part(folder)
    assert parts == dict.fromkeys(parts, pytest.approx(10_011))
    report = Report([str(folder)])
    for html in (report.cards().html, report.prices().html):
        assert "10,011" in html and "4,988" not in html
    assert "4,988" in report.results().html and "random I/O, reads" in report.results().html


def test_latencies_of_a_mixed_run_are_named_by_direction(tmp_path: Path) -> None:
    folder = dataset(tmp_path, {"mix.json": document(job(700, 300))}, SETUP)
    html = Report([str(folder)]).cards().html
    assert "Completion latency of reads" in html and "Completion latency of writes" in html


@pytest.mark.parametrize(("reads", "writes"), [(7000, 3000), (1000, 9000)])
def test_what_is_cheaper_must_do_both_directions_in_their_share(
    tmp_path: Path, reads: float, writes: float
) -> None:
    ultra = {"disk": "d", "role": "data", "sku": "UltraSSD_LRS", "size_bytes": 2**37}
    setup = {
        **SETUP,
        "disks": [{**ultra, "provisioned_iops": 10_000, "provisioned_bytes_per_s": 400_000_000}],
    }
    mixed = job(reads, writes, rwmixread=str(round(100 * reads / (reads + writes))))
    folder = dataset(tmp_path, {"mix.json": document(mixed)}, setup)
    (part,) = Report([str(folder)]).parts
    found = part.priced
    (row,) = bills.headlines(part).to_dict(orient="records")
    there = market("westeurope")
    demand = demand_of(row, found["s"].setup, there)
    assert demand is not None and demand.iops == pytest.approx(reads + writes)
    assert demand.read_share == pytest.approx(reads / (reads + writes))


@pytest.mark.parametrize(
    ("told", "share"),
    [
        (("randrw", 70, 30, 40), 0.75),  # measured before stated
        (("randrw", 70), 0.7),
        (("randrw",), 0.5),
        (("rw", pd.NA), 0.5),
        (("readwrite", None), 0.5),
        (("randread", 30), 1),
        (("write",), 0),
        (("randwrite", None, 0, 10), 0),
        (("backward_read",), 1),
        (("record_rewrite",), 0),
        (("random_mix",), None),
        (("trim",), 0),
        (("randread, randwrite",), None),
        (("randread,read",), 1),
        ((None, 25), 0.25),
        ((pd.NA,), None),
        (("",), None),
    ],
)
def test_the_share_of_reads(told: tuple[Any, ...], share: float | None) -> None:
    assert read_share(*told) == share


# ---- counterparts and advice


def test_hosts_of_one_run_have_one_counterpart(tmp_path: Path) -> None:
    mine = Dataset.load(dataset(tmp_path / "a", {"a.json": of_hosts(1000, 1000)}, SETUP)).tables
    theirs = Dataset.load(dataset(tmp_path / "b", {"b.json": document(job(2000, iodepth="8"))}, SETUP)).tables
    found = counterparts(mine, theirs).set_index("quantity")
    assert found.loc["iops", ["value", "other", "queue_depth"]].tolist() == [2000, 2000, 8]
    assert found.loc["p99_us", ["value", "other"]].tolist() == [3000, 3000]


def test_a_run_of_which_there_are_two_must_be_chosen(tmp_path: Path) -> None:
    files = {"a/mix.json": document(job(1000, name="mix")), "b/mix.json": document(job(9000, name="mix"))}
    folder = dataset(tmp_path / "two", files, SETUP)
    tables = Dataset.load(folder).tables
    with pytest.raises(InputError, match=r"2 runs are called 'mix'.*raw/a/mix\.json.*raw/b/mix\.json"):
        achieved(tables, "mix")
    ids = {float(iops): str(run_id) for run_id, iops in tables["results"][["run_id", "iops"]].values.tolist()}
    assert achieved(tables, ids[1000]).iops == 1000
    assert achieved(tables, "raw/b/mix.json").iops == 9000
    assert ids[9000] in achieved(tables).run  # of all runs the one with the most, and told which
    told = CliRunner().invoke(app, ["advise", "--from", str(folder), "--run", "mix"])
    assert isinstance(told.exception, InputError) and not told.stdout


def test_files_are_called_by_as_much_of_their_path_as_tells_them_apart() -> None:
    from azbenchlib.analysis.setup_names import file_labels

    paths = ["raw/a/x.json", "raw/b/x.json", "raw/y.json", "x.json", "q/" + "long" * 20 + ".json"]
    named = file_labels({path: path for path in paths})
    assert named["label"].tolist() == ["a/x.json", "b/x.json", "y.json", "x.json", "long" * 20 + ".json"]
    assert named["short"].is_unique and named["short"].str.len().max() <= 30


def test_a_spread_says_what_it_is_of() -> None:
    row = {"repeats": 2, "iops_low": 990.0, "iops_high": 1010.0, "bw_low": 1e6, "bw_high": 2e6}
    assert formatting.spread(row).replace("\u00a0", " ") == "median of 2 runs, 990 to 1,010 IOPS"
    assert formatting.spread(row, "bw_bytes_per_s").replace("\u00a0", " ").endswith("1 to 2 MB/s")
    assert formatting.spread({**row, "repeats": 1}) == ""
