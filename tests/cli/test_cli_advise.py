"""`azbench advise`: what it prints, what it reads, and what it says instead of an answer."""

import contextlib
import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import copied
import numpy as np
import programs
import pytest
import typer
from typer.testing import CliRunner

from azbenchlib.advisor.offers.load_market import market
from azbenchlib.azure.prices.book import PRICE_COLUMNS
from azbenchlib.cli.advise import advise
from azbenchlib.core.errors import AzbenchError
from azbenchlib.model.labels import Label
from azbenchlib.model.notation import parse_disk

APP = typer.Typer()
APP.command()(advise)
PLACE = ("--region", "westeurope", "--as-of", "2026-11-20")
SMALL = ("--iops", "500", "--size", "1TiB")
ASKED = ("--iops", "24000", "--mbps", "600", "--size", "2TiB", "--bs", "8KiB", *PLACE)


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("COLUMNS", "100")


def run(*arguments: str) -> str:
    done = CliRunner().invoke(APP, list(arguments))
    if done.exception:
        raise done.exception
    return done.stdout.replace("\u00a0", " ")


def said(*arguments: str) -> str:
    with pytest.raises(AzbenchError) as caught:
        run(*arguments)
    return str(caught.value)


def designs(*arguments: str) -> list[dict[str, Any]]:
    return json.loads(run(*arguments, "--format", "json"))["configurations"]


def test_json_is_a_list_of_designs_by_price_behind_the_recommended_one() -> None:
    found = designs(*ASKED)
    wanted = {
        "vm", "disks", "caching", "price_per_month", "currency", "binding_limit", "headroom",
        "why_not_cheaper",
    }  # fmt: skip
    assert all(wanted <= set(row) for row in found)
    best, *others = found
    prices = [row["price_per_month"] for row in others]
    assert prices == sorted(prices) and others[0]["labels"][0] == "cheapest"
    assert best["labels"][0] == "fewest disks within 5% of the cheapest"
    assert [row["recommended"] for row in found] == [True] + [False] * len(others)
    assert best["price_per_month"] == pytest.approx(sum(line["amount"] for line in best["lines"]))
    assert best["headroom"][best["binding_limit"]] >= 0.2
    assert any(best["binding_limit"] or "vm_uncached" in why for why in best["why_not_cheaper"])


def test_text_says_it_in_100_columns() -> None:
    found = run(*ASKED, "--why")
    best = designs(*ASKED)[0]
    assert max(map(len, found.splitlines())) <= 100
    assert f"{best['price_per_month']:,.2f} USD" in found and best["vm"] in found
    for part in (
        "Binding limits", "Alternatives", "Why cheaper configurations fail", "Sensitivity",
        "Assumptions", "Not modelled", "Sources", "[global]", Label(best["binding_limit"]).display_name,
        "radar",
    ):  # fmt: skip
        assert part in found


def test_csv_has_a_design_a_line() -> None:
    rows = list(csv.DictReader(io.StringIO(run(*ASKED, "--format", "csv"))))
    found = designs(*ASKED)
    assert [row["vm"] for row in rows] == [row["vm"] for row in found]
    assert float(rows[0]["price_per_month"]) == found[0]["price_per_month"]
    assert float(rows[0]["headroom"]) == found[0]["headroom"][found[0]["binding_limit"]]


def test_every_option_reaches_the_demand() -> None:
    plain = designs("--iops", "3000", "--size", "500GiB", *PLACE)[0]
    more = ("--iops", "3000", "--size", "500GiB", *PLACE)

    def price(*options: str) -> float:
        return float(designs(*more, *options)[0]["price_per_month"])

    least = plain["price_per_month"]
    for options in (
        ("--zrs",), ("--vcpus", "16"), ("--ram", "256GiB"), ("--vm", "Standard_E*"), ("--headroom", "3"),
        ("--latency", "local", "--not-persistent"), ("--bs", "128KiB"), ("--peak", "600/3600:30000:900"),
        ("--mbps", "700"), ("--arch", "x64", "--vm", "Standard_D*"),
    ):  # fmt: skip
        assert price(*options) > least, options
    disks = sum(line["amount"] for line in plain["lines"] if "F" not in line["meter"])
    assert price("--vm-hours", "365") == pytest.approx((least + disks) / 2)  # disks are billed all month
    assert price("--pay", "spot") < least
    cached = ("--zrs", "--iops", "20000", "--read-share", "95%")
    assert price(*cached, "--hit", "90%") < price(*cached)


def test_a_file_of_workloads_gives_an_answer_a_row(tmp_path: Path) -> None:
    path = tmp_path / "workloads.csv"
    path.write_text(
        "name,iops,mbps,size,bs,zrs,vcpus\n"
        "database,24000,600,2TiB,8KiB,,\n"
        "web,500,,128GiB,,yes,2\n"
        "too much,5000000,,1TiB,,,\n"
    )
    rows = json.loads(run("--workloads", str(path), *PLACE, "--format", "json"))["demands"]
    assert [row["name"] for row in rows] == ["database", "web", "too much"]
    assert rows[0]["price_per_month"] == designs(*ASKED)[0]["price_per_month"]
    assert rows[1]["redundancy"] == "ZRS" and "nearest that is met" in rows[2]["error"]
    text = run("--workloads", str(path), *PLACE)
    assert "database" in text and rows[0]["vm"] in text
    flat = list(csv.DictReader(io.StringIO(run("--workloads", str(path), *PLACE, "--format", "csv"))))
    assert [row["vm"] for row in flat] == [row.get("vm", "") for row in rows]
    path.write_text("iops,vm\n500,\n500,Standard_E*\n")
    mixed = ("--workloads", str(path), *PLACE, "--size", "1TiB", "--vm", "Standard_D*", "--format", "json")
    assert [row["vm"][:10] for row in json.loads(run(*mixed))["demands"]] == ["Standard_D", "Standard_E"]


def test_sizes_that_there_are_not_are_refused_before_any_answer(tmp_path: Path) -> None:
    path = tmp_path / "workloads.csv"
    path.write_text(
        "name,iops,size,vm\n"
        "a,500,1TiB,Standard_D8sv5\n"
        "b,500,1TiB,Standard_D8s_v55\n"
        "c,500,1TiB,Standard_ZZ*\n"
        "d,500,1TiB,Standard_D8s_v55\n"
    )
    for form in ("text", "json", "csv"):
        found = said("--workloads", str(path), *PLACE, "--format", form)
        assert found.startswith(f"{path}: b, d: no VM size 'Standard_D8s_v55' in the catalogue; nearest: ")
        assert "Standard_D8s_v5" in found and "; c: no VM size is like 'Standard_ZZ*'" in found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("iops,size,colour\n1,1GiB,red\n", "column 'colour' is not one of: name, preset, iops"),
        ("iops,size\n500,1GiB\nmany,1GiB\n", "line 3: iops 'many' is not a number above 0"),
        ("iops,size\n500,\n", "line 2: size is missing"),
        ("iops,size\n500\n", "line 2: not as many cells"),
        ("iops,size\n", "no workload"),
        ("", "an empty file; it begins with the names of its columns"),
        ("iops,size,zrs\n500,1GiB,maybe\n", "zrs 'maybe' is not one of: yes"),
    ],
)
def test_a_damaged_file_of_workloads_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "workloads.csv"
    path.write_text(text)
    found = said("--workloads", str(path), *PLACE)
    assert str(path) in found and message in found


def test_a_dataset_asks_for_what_its_run_was_given() -> None:
    largest = run("--from", "ultra-disk-2019", *PLACE)
    assert "128 GiB; in westeurope" in largest
    named = run("--from", "ultra-disk-2019", "--run", "003-8k-100MB", *PLACE)
    assert named.startswith("10,000 IOPS of 8 KiB, 50% reads; 128 GiB")
    own = run("--from", "ultra-disk-2019", "--run", "003-8k-100MB", "--size", "1TiB", *PLACE)
    assert "1 TiB; in westeurope" in own
    assert "no run 'nothing' with a rate; there are: " in said(
        "--from", "ultra-disk-2019", "--run", "nothing"
    )


def test_a_rate_that_a_limit_capped_is_told_to_be_so() -> None:
    asked = ("--from", "ultra-disk-2019", *PLACE)
    capped = ("--run", "003-8k-100MB")
    words = "no more than its run got, which was bound by the disk limit of 10,000 IOPS"
    assert words in " ".join(run(*asked, *capped).split())
    (told,) = json.loads(run(*asked, *capped, "--format", "json"))["doubts"]
    assert words in told.replace("\u00a0", " ")
    assert "doubts" not in json.loads(run("--iops", "3000", "--size", "1TiB", *PLACE, "--format", "json"))


def own_book(path: Path, currency: str) -> str:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, PRICE_COLUMNS, restval="")
        writer.writeheader()
        for meter, price, unit in (
            ("Premium LRS Provisioned Capacity", "0.0001", "1 GiB/Hour"),
            ("Premium LRS Provisioned IOPS", "0.00001", "1/Hour"),
        ):
            row = {
                "kind": "disk", "region": "westeurope", "product_name": "Azure Premium SSD v2",
                "meter_name": meter, "price_type": "Consumption", "currency": currency, "unit_price": price,
                "unit_of_measure": unit, "as_of": "2026-11-01", "source_id": "mine",
            }  # fmt: skip
            writer.writerow(row)
    return str(path)


def test_a_book_of_ones_own_counts(tmp_path: Path) -> None:
    book = own_book(tmp_path / "mine.csv", "USD")
    (best, *_) = designs(
        "--iops", "3000", "--size", "1TiB", "--latency", "submillisecond", *PLACE, "--prices", book
    )
    line = best["lines"][1]
    assert (line["source"], line["unit_price"]) == ("mine", 0.0001)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--iops", "500"), "--size is missing"),
        (("--size", "1TiB"), "a demand needs IOPS, MB/s or both"),
        (("--iops", "-5", "--size", "1TiB"), "--iops '-5' is not a number above 0"),
        (("--iops", "500", "--size", "big"), "--size 'big' is not a size"),
        (("--iops", "500", "--size", "1TiB", "--read-share", "170%"), "--read-share '170%' is not a share"),
        (
            ("--iops", "500", "--size", "1TiB", "--peak", "often"),
            "--peak 'often': write SECONDS/PERIOD:IOPS",
        ),
        (("--iops", "500", "--size", "1TiB", "--vm", "Standard_D8s_v33"), "nearest: Standard_D8s_v3"),
        (("--iops", "9000000", "--size", "1TiB"), "the nearest that is met, all else as it is"),
        (
            ("--iops", "40000", "--size", "2TiB", "--hit", "0.9", "--vm", "Standard_E16ds_v5"),
            "(hits of the host cache do not count: no cached limit of Standard_E16ds_v5 is documented)",
        ),
        (("--from", "ultra-disk-2019", "--workloads", "x.csv"), "either --from or --workloads"),
        (("--workloads", "x.csv", "--volume", "a:iops=1,size=1GiB"), "either --workloads or --volume"),
        ((*SMALL, "--bs", "3"), "--bs '3': an I/O of a disk has at least 512 B, such as 3k"),
        (("--iops", "24.000", "--size", "1TiB"), "--iops '24.000' has points that may group thousands"),
        ((*SMALL, "--max-disks", "65"), "--max-disks '65' is not between 1 and 64"),
        ((*SMALL, "--max-disks", "2.5"), "--max-disks '2.5' is not a whole number"),
        ((*SMALL, "--headroom", "0.5"), "1.2 keeps a sixth of each limit free"),
        ((*SMALL, "--headroom", "1e9"), "it is met without headroom"),
        ((*SMALL, "--peak", "0/600:20000"), "a peak of 0 s in 600 s: it must be above 0 and below that"),
        (
            (*SMALL, "--peak", "600/3600:400"),
            "--peak '600/3600:400' is no more than the steady load, 500 IOPS",
        ),
        ((*SMALL, "--run", "x"), "--run 'x' is a run of a dataset: name it with --from"),
        ((*SMALL, "--arm", "--arch", "x64"), "--arm allows Arm CPUs too, and --arch x64 none"),
        ((*SMALL, "--vm-hours", "0"), "hours of the VM are not above 0 and at most 730"),
        ((*SMALL, "--discount", "100%"), "a discount of 100% is not below 100 %"),
        ((*SMALL, "--zone", "4"), "zone '4' is not one of: 1, 2, 3"),
        ((*SMALL, "--why", "--region", "eastus"), "--why is told of one answer"),
        ((*SMALL, "--currency", "euro"), "'EURO' is not a currency"),
        ((*SMALL, "--pay", "1y"), "has a 1-year reservation price in westeurope"),
        ((*SMALL, "--region", "atlantis"), "no region 'atlantis' is known"),
        (("--iops", "1", "--size", "10PiB"), "TiB instead of 10,240"),
        (("--workloads", "nothere.csv"), "cannot be read as workloads: No such file or directory"),
    ],
)
def test_one_sentence_instead_of_an_answer(arguments: tuple[str, ...], message: str) -> None:
    found = said(*arguments, "--region", "westeurope")
    assert message in found and "\n" not in found


def test_what_must_be_known_before_it_is_ordered_stands_below_tables_too(tmp_path: Path) -> None:
    asked = (*SMALL, "--pay", "spot", "--zone", "1", "--region", "westeurope", "--as-of", "2026-11-20")
    text = " ".join(run(*asked, "--region", "belgiumcentral").split())
    assert (
        "before you order: eviction at any time (spot); not known whether it is offered to you in zone 1"
        in text
    )
    path = tmp_path / "workloads.csv"
    path.write_text("iops,size,vm\n500,1TiB,Standard_B2s_v2\n500,1TiB,Standard_D2s_v5\n")
    assert "burstable CPU (1 of 2)" in " ".join(run("--workloads", str(path), *PLACE).split())


def test_presets_say_what_is_not_in_the_price() -> None:
    for name, told in (
        ("sql-server", "licence of SQL Server is not in the price"),
        ("hana-log", "SAP certifies"),
    ):
        done = CliRunner().invoke(APP, ["--preset", name, *SMALL, *PLACE])
        assert done.exit_code == 0 and told in done.stderr
    assert "licence" not in CliRunner().invoke(APP, ["--preset", "kafka", *SMALL, *PLACE]).stderr


def test_a_demand_is_told_as_it_was_stated() -> None:
    asked = ("--mbps", "200", "--size", "4TiB", "--bs", "1MiB", "--read-share", "0.1", *PLACE, "--why")
    text = run(*asked)
    assert text.startswith("200 MB/s in I/Os of 1 MiB, 10% reads; 4 TiB")
    assert "200 MB/s are I/Os of 1 MiB, 10% reads" in text


def test_memory_for_each_vcpu_is_wanted() -> None:
    least = designs(*SMALL, *PLACE, "--vcpus", "4")[0]["vm"]
    more = designs(*SMALL, *PLACE, "--vcpus", "4", "--ram-per-vcpu", "8GiB")[0]["vm"]
    assert least.startswith(("Standard_D", "Standard_F")) and more.startswith("Standard_E4")


def test_a_region_that_is_empty_is_none() -> None:
    done = CliRunner().invoke(APP, [*SMALL, "--region", ""])
    assert "prices of westeurope, as no --region is given" in done.stderr


def test_two_currencies_cannot_be_compared(tmp_path: Path) -> None:
    book = own_book(tmp_path / "euro.csv", "EUR")
    found = said("--iops", "500", "--size", "1TiB", "--region", "westeurope", "--prices", book)
    assert "EUR (such as Azure Premium SSD v2: " in found and "USD (such as " in found


def test_a_size_without_a_price_in_the_region_is_told_where_it_has_one() -> None:
    found = said("--iops", "500", "--size", "1TiB", "--region", "austriaeast", "--vm", "Standard_HB120rs_v3")
    assert "Standard_HB120rs_v3 has no pay-as-you-go price in austriaeast" in found and "uksouth" in found


def test_a_comma_is_no_decimal_point() -> None:
    assert "--iops '1,5' is not a number above 0" in said("--iops", "1,5", "--size", "1TiB", *PLACE)
    assert run("--iops", "24,000", "--size", "1TiB", *PLACE).startswith("24,000 IOPS")


def test_a_dataset_s_largest_run_counts_by_its_bytes_too() -> None:
    """785 MB/s of 64 KiB are 11,978 IOPS, more than the other run's 10,000."""
    assert run("--from", "ultra-disk-2019", *PLACE).startswith("11,978 IOPS of 64 KiB")


def test_a_run_of_writes_alone_asks_for_writes(capsys: pytest.CaptureFixture[str]) -> None:
    name = "004-iozone-data-readonly-record_rewrite-32k"
    assert "122,472 IOPS of 32 KiB, 0% reads" in run(
        "--from", "iozone-host-cache-2012", "--run", name, *PLACE
    )


def test_only_limits_that_the_design_passes_are_sources() -> None:
    local = run(
        "--iops",
        "1000",
        "--size",
        "1GiB",
        "--latency",
        "local",
        "--not-persistent",
        "--why",
        *PLACE,
        "--vm",
        "Standard_D8ds_v5",
    )
    sources = local.split("Sources")[1].split("To verify it")[0]
    assert "uncached" not in sources and "temp_iops" in sources
    lasting = run(*ASKED, "--why").split("Sources")[1].split("To verify it")[0]
    assert "uncached_v2_iops" in lasting and "burst" not in lasting


def test_no_figure_is_cut_off_in_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = run("--iops", "1000", "--size", "1TiB", "--peak", "600/3600:20000", "--why", *PLACE)
    assert "VM uncached burst IOPS" in text and "10.0 min of 10.0 min credits" in text and ">999%" in text


def test_zone_redundancy_is_told_wherever_disks_are(tmp_path: Path) -> None:
    file = tmp_path / "w.csv"
    file.write_text("name,iops,size,zrs\nsafe,2000,500GiB,yes\n")
    assert "P10x5:ZRS" in run("--workloads", str(file), *PLACE)
    (one, *_) = designs("--iops", "2000", "--size", "500GiB", "--zrs", *PLACE)
    assert parse_disk(one["disks"]).sku.endswith("_ZRS")  # what is printed can be given to other verbs
    assert ":ZRS" in one["why_not_cheaper"][0]


def test_fewer_disks_are_recommended_where_they_cost_little_more() -> None:
    (best, cheapest, *_), text = designs(*ASKED), run(*ASKED)
    (strict, *_) = designs(*ASKED, "--strictly-cheapest")
    counts = [parse_disk(row["disks"]).count for row in (best, cheapest)]
    prices = [float(row["price_per_month"]) for row in (best, cheapest)]
    assert counts[0] < counts[1] and 1 < prices[0] / prices[1] <= 1.05
    assert (strict["vm"], strict["disks"], strict["labels"][0]) == (
        *(cheapest[name] for name in ("vm", "disks")),
        "cheapest",
    )
    assert f"the cheapest is {1 - prices[1] / prices[0]:.1%} less, with more disks: " in text
    assert "the cheapest is" not in run(*ASKED, "--strictly-cheapest")


def test_what_one_disk_costs_stands_beside_a_stripe() -> None:
    found = designs(*ASKED)
    (one,) = [row for row in found if "cheapest with one disk" in row["labels"]]
    assert parse_disk(found[0]["disks"]).count > 1 == parse_disk(one["disks"]).count
    share = float(one["price_per_month"]) / float(found[0]["price_per_month"]) - 1
    assert f"with one disk {share:.1%} more: " in run(*ASKED)
    assert "with one disk" not in run(*SMALL, "--max-disks", "1", *PLACE)


def test_of_vms_at_the_same_price_the_larger_is_advised() -> None:
    """Constrained sizes cost what their parents do, and have a quarter of the vCPUs."""
    (first, *_) = designs("--iops", "1000", "--size", "128GiB", "--ram", "128GiB", *PLACE)
    there = market("westeurope", as_of="2026-11-20")
    picked = next(vm_size for vm_size in there.vms if vm_size.size == first["vm"])
    alike = [
        there.vms[i] for i in np.flatnonzero(there.vm_prices == there.vm_prices[there.vms.index(picked)])
    ]
    assert any("-" in vm_size.size for vm_size in alike)
    assert picked.vcpus == max(vm_size.vcpus or 0 for vm_size in alike)


def shown(columns: int, *arguments: str) -> str:
    """What the real command prints into a pipe, at a width of the terminal."""
    environment = {**os.environ, "COLUMNS": str(columns)}
    done = programs.azbench("advise", *arguments, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.fio
@pytest.mark.parametrize("columns", [20, 80, 400])
@pytest.mark.sampled(2)
def test_the_job_that_is_printed_can_be_copied_at_any_width(columns: int, tmp_path: Path) -> None:
    (best, *_) = designs(*ASKED)
    job = copied.job_in(shown(columns, *ASKED, "--why"))
    assert job == best["fio_job"]
    assert copied.parsed(job, tmp_path) == ["8k", "256k"]


@pytest.mark.fio
def test_the_job_that_is_printed_in_a_terminal_can_be_copied(tmp_path: Path) -> None:
    """Colours and all: what stands on a terminal of 80 columns."""
    command = [str(Path(sys.executable).parent / "azbench"), "advise", *ASKED, "--why"]
    main, terminal = os.openpty()
    with subprocess.Popen(command, stdout=terminal, env={**os.environ, "COLUMNS": "80", "TERM": "xterm"}):
        os.close(terminal)
        parts = []
        with contextlib.suppress(OSError):  # the end of a terminal whose program has ended
            while part := os.read(main, 65_536):
                parts.append(part)
    os.close(main)
    text = re.sub(r"\x1b\[[0-9;]*m", "", b"".join(parts).decode()).replace("\r\n", "\n")
    assert copied.parsed(copied.job_in(text), tmp_path) == ["8k", "256k"]


@pytest.mark.fio
def test_the_job_is_written_to_a_file(tmp_path: Path) -> None:
    peak = ("--peak", "600/3600:40000:900", "--read-share", "100%")
    path = tmp_path / "jobs" / "check.fio"
    (best, *_) = designs(*ASKED, *peak, "--job", str(path))
    assert path.read_text() == best["fio_job"] and [*path.parent.iterdir()] == [path]
    assert {"rest-8k", "peak-8k"} < set(copied.parsed(path.read_text(), tmp_path))


def test_a_job_that_cannot_be_written_or_chosen_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "cannot be written" in said(*ASKED, "--job", str(tmp_path / "file" / "check.fio"))
    rows = tmp_path / "rows.csv"
    rows.write_text("name,iops,size\na,100,10GiB\n")
    assert "--job writes the job of one demand" in said("--workloads", str(rows), "--job", "x.fio", *PLACE)


def test_sizes_and_rates_are_what_their_units_say(tmp_path: Path) -> None:
    def wanted(*arguments: str) -> str:
        return run(*arguments, "--region", "westeurope").splitlines()[0]

    assert wanted("--iops", "24k", "--size", "2TB") == wanted("--iops", "24,000", "--size", "2000GB")
    assert "1.819 TiB" in wanted("--iops", "24k", "--size", "2TB")
    assert "24,000 IOPS of 8 KiB" in wanted("--iops", "24k", "--size", "2T", "--bs", "8k")
    assert "2 TiB" in wanted("--iops", "100", "--size", "2TiB", "--bs", "8192")
    rows = tmp_path / "rows.csv"
    rows.write_text("name,iops,size\na,5k,1TB\nb,5k,100\n")
    assert "line 3: size '100': 100 of what" in said("--workloads", str(rows), *PLACE)


@pytest.mark.parametrize(
    ("option", "text"),
    [("--size", "100"), ("--size", "0GiB"), ("--ram", "64"), ("--bs", "0"), ("--iops", "24Ki")],
)
def test_a_figure_without_its_unit_is_refused(option: str, text: str) -> None:
    given = {"--iops": "100", "--size": "10GiB", option: text}
    assert f"{option} '{text}'" in said(*[part for pair in given.items() for part in pair])


def test_the_share_of_reads_that_is_assumed_is_said() -> None:
    done = CliRunner().invoke(APP, ["--iops", "500", "--size", "10GiB", *PLACE])
    assert "Note: 70% reads, as no --read-share is given" in done.stderr and "70% reads" in done.stdout
    given = CliRunner().invoke(APP, ["--iops", "500", "--size", "10GiB", "--read-share", "1", *PLACE])
    assert "no --read-share" not in given.stderr and "100% reads" in given.stdout
