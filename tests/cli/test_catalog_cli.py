"""`azbench catalog show` and `azbench catalog refresh`."""

import json
import re
from datetime import date
from pathlib import Path

import pytest
from typer.testing import CliRunner

from azbenchlib.cli.catalog import catalog
from azbenchlib.core.errors import AzbenchError, InputError, MissingToolError

SKUS = Path(__file__).parents[1] / "data" / "az" / "vm_list_skus.json"


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "160")


def _run(*arguments: str) -> str:
    done = CliRunner().invoke(catalog, list(arguments))
    if done.exception:
        raise done.exception
    return done.stdout.replace("\u00a0", " ")


def _line(text: str, start: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(start + " "))


def test_a_size_with_value_bytes_validity_source_and_conflict():
    said = _run("show", "e8ds_v4", "--as-of", "2026-11-20")
    assert said.startswith("Standard_E8ds_v4 on 2026-11-20: 8 vCPUs, 64 GiB memory, 16 data disks")
    cached = _line(said, "cached_bytes_per_s")
    assert re.search(r" 484.442112 MB/s +sku-api-2026-08-17$", cached)
    assert "sku-api-2026-08-17: VM sizes of the resource-SKU API" in said
    assert "Where no days are given, no change is known." in said
    below = said.splitlines()[said.splitlines().index(cached) + 1]
    assert re.search(r"another time +485 MB/s +2020-02-04 to 2021-10-20 +edv4-edsv4", below)
    assert re.search(r"38,000 IOPS +from 2024-08-01 +edsv4-series@1827cf35", _line(said, "temp_iops"))
    assert re.search(r" 200 GiB +sku-api", _line(said, "cache_bytes"))


def test_another_day_has_other_limits():
    said = _run("show", "Standard_E8ds_v4", "--as-of", "2020-07-01")
    assert "not stated for 2020-07-01" in _line(said, "temp_iops")
    assert re.search(r"also +485 MB/s +2020-02-04 to 2021-10-20", said)


def test_one_figure_in_two_units_is_said_to_be_one():
    said = _run("show", "L8s_v2", "--as-of", "2026-11-20")
    assert "no cache for data disks" in said
    assert re.search(r"also +160 MB/s .*the same figure, as MiB$", said, re.MULTILINE)
    assert "the same figure, as MB of 1,024,000 B" in _run("show", "D2s_v3", "--as-of", "2026-11-20")


def test_a_doubt_is_said_below_the_table():
    said = _run("show", "D8s_v5", "--as-of", "2026-11-20")
    assert "may not apply to cached disks: cached_iops, cached_bytes_per_s" in said
    assert "caches data disks (dsv5-series@005f8f6e) with no documented cached limit," in said
    assert "caching not stated" in _run("show", "D8_v4", "--as-of", "2026-11-20")


def test_the_page_that_tells_of_host_caching_is_among_the_sources():
    found = json.loads(_run("show", "L8s_v3", "--as-of", "2026-11-20", "--format", "json"))
    assert (found["caching"], found["caching_source"]) == (False, "lsv3-series@05e75b14")
    assert found["sources"]["lsv3-series@05e75b14"]["date"] == "2024-07-31"


def test_a_constrained_size_shows_both_counts_of_vcpus():
    assert ": 8 vCPUs of 32," in _run("show", "E32-8s_v3")


def test_tiers_and_provisioned_disks():
    said = _run("show", "p4", "--as-of", "2020-07-01")
    assert said.startswith("P4, Premium")
    assert re.search(r"170 MB/s +2020-03-29 to 2020-09-22", _line(said, "burst_bytes_per_s"))
    assert "certain only for disks made or attached again since 2020-03-29" in said
    said = _run("show", "UltraSSD_LRS", "--as-of", "2019-09-15")
    assert re.search(r"4,096 B/s/IOPS", _line(said, "min_bytes_per_s_per_iops"))
    assert re.search(r"300 IOPS/GiB +until 2022-02-18", _line(said, "max_iops_per_gib"))


def test_json_has_the_statement_that_counts_the_others_and_the_sources():
    told = json.loads(_run("show", "E8ds_v4", "--as-of", "2026-11-20", "--format", "json"))
    assert (told["size"], told["vcpus"], told["as_of"]) == ("Standard_E8ds_v4", 8, "2026-11-20")
    limit = told["limits"]["cached_bytes_per_s"]
    assert (limit["best"]["value"], limit["best"]["unit"]) == (484_442_112, "B/s")
    assert {other["value"] for other in limit["conflicts"]} == {485_000_000}
    assert told["sources"]["sku-api-2026-08-17"]["licence"] == "MIT"
    past = json.loads(_run("show", "E8ds_v4", "--as-of", "2020-07-01", "--format", "json"))
    assert past["limits"]["temp_iops"]["best"] is None
    tier = json.loads(_run("show", "P30", "--as-of", "2026-11-20", "--format", "json"))
    assert (tier["iops"], tier["burst_iops"], tier["source"]["commit"]) == (5_000, None, "1d25717f")


@pytest.mark.parametrize(
    ("name", "near"),
    [("E8ds_v44", "Standard_E8ds_v4"), ("P35", "P30"), ("standard_d8sv33", "Standard_D8s_v3")],
)
def test_an_unknown_name_is_refused_with_the_nearest(name, near):
    with pytest.raises(InputError, match=f"'{name}'.*nearest: .*{near}"):
        _run("show", name)


def _az(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = folder / "az"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("AZBENCH_AZ", str(program))


def test_refresh_writes_an_overlay_that_show_then_uses(tmp_path, monkeypatch):
    _az(tmp_path, monkeypatch, f"cat '{SKUS}'")
    done = CliRunner().invoke(catalog, ["refresh", "--region", "westeurope"])
    assert done.exit_code == 0, done.exception
    today = date.today().isoformat()
    assert f"{today}_westeurope.csv" in done.stderr
    shown = _line(_run("show", "E8ds_v4"), "uncached_bytes_per_s")
    assert re.search(rf"200 MB/s +from {today} +az-list-skus-{today}_westeurope", shown)


def test_refresh_without_az_or_login_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("AZBENCH_AZ", str(tmp_path / "no-az"))
    with pytest.raises(MissingToolError, match="make azure"):
        _run("refresh", "--region", "westeurope")
    _az(tmp_path, monkeypatch, "echo \"ERROR: Please run 'az login' to setup account.\" >&2; exit 1")
    with pytest.raises(AzbenchError, match="az is not logged in; run `az login`"):
        _run("refresh", "--region", "westeurope")
