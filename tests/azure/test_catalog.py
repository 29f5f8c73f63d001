"""The catalogue of Azure's limits: figures checked by hand, eras, precedence, sources."""

import csv
import json
import os
import subprocess
import sys
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.azure import catalog, overlays
from azbenchlib.azure.az import Az
from azbenchlib.azure.catalog import files, lookup, skus
from azbenchlib.azure.catalog.refresh import refresh
from azbenchlib.azure.catalog.rows import NO_CACHE_SIZE, holds
from azbenchlib.core.errors import InputError, OutputError
from azbenchlib.core.units import GIB, KIB, MB

ROOT = Path(__file__).parents[2]
SKUS = ROOT / "tests" / "data" / "az" / "vm_list_skus.json"
FACTS = Path(os.environ.get("AZBENCH_CORPUS", "absent")).parent / "facts"
needs_facts = pytest.mark.skipif(
    not (FACTS / "vm_sizes.csv").is_file(), reason="the collected facts do not lie beside AZBENCH_CORPUS"
)
TODAY = "2026-11-20"
API = "sku-api-2026-08-17"


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def _rows(name: str) -> list[dict[str, str]]:
    with (files.DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _best(size: str, name: str, day: str = TODAY) -> float | None:
    limit = catalog.vm(size, day).best(name)
    return limit and limit.value


# What explains the published measurements that the project starts from: size, day, limit, figure, source.
SEEDS = [
    ("Standard_E8as_v4", "2020-07-01", "cached_iops", 16_000, API),
    ("Standard_E8as_v4", "2020-07-01", "cached_bytes_per_s", 131_072_000, API),
    ("Standard_E8ds_v4", "2020-07-01", "cached_iops", 77_000, API),
    ("Standard_E8ds_v4", "2020-07-01", "cached_bytes_per_s", 484_442_112, API),
    ("Standard_D4as_v4", "2022-02-17", "uncached_iops", 6_400, API),
    ("Standard_L8s_v2", "2020-07-01", "nvme_read_iops", 400_000, "lsv2-series@017654d1"),
    ("Standard_L8s_v2", "2020-07-01", "nvme_read_bytes_per_s", 2_000_000_000, "lsv2-series@017654d1"),
    ("Standard_E32-8s_v3", "2019-09-15", "uncached_bytes_per_s", 768_000_000, API),
    ("Standard_E32-8s_v3", "2019-09-15", "uncached_iops", 51_200, API),
    ("Standard_L4s", "2017-04-13", "temp_iops", 20_000, API),
    ("Standard_L4s", "2017-04-13", "temp_bytes_per_s", 200_000_000, API),
    ("Standard_L16s", "2017-04-13", "temp_iops", 80_000, API),
]


@pytest.mark.parametrize(("size", "day", "name", "value", "source_id"), SEEDS)
def test_limits_that_explain_published_measurements(size, day, name, value, source_id):
    limit = catalog.vm(size, day).best(name)
    assert (limit.value, limit.source_id) == (value, source_id)


def test_no_limit_is_made_up_where_none_is_documented():
    # Lsv2: writes to NVMe have no documented limit; the temp disk is not shared with a cache
    row = catalog.vm("Standard_L8s_v2", "2020-07-01")
    assert row.best("nvme_write_iops") is None
    assert row.best("cached_iops") is None
    assert row.caching is False
    assert (row.best("temp_iops").value, row.best("temp_bytes_per_s").value) == (4_000, 83_886_080)


@pytest.mark.parametrize(
    ("tier", "day", "iops", "mbps", "burst"),
    [
        ("P4", "2019-06-01", 120, 25, None),  # no bursting before 2019-10-24
        ("P4", "2020-03-28", 120, 25, None),  # in preview only
        ("P4", "2020-07-01", 120, 25, (3_500, 170)),
        ("P10", TODAY, 500, 100, (3_500, 170)),
        ("P20", TODAY, 2_300, 150, (3_500, 170)),
        ("P30", "2022-02-17", 5_000, 200, None),
        ("P80", TODAY, 20_000, 900, None),
        ("E4", "2020-01-01", 120, 25, None),
        ("E6", "2020-01-01", 240, 50, None),
        ("E4", "2021-04-01", 500, 60, None),
        ("E30", "2022-06-01", 500, 60, (1_000, 250)),
        ("E30", TODAY, 500, 100, (1_000, 250)),
        ("E40", "2022-06-01", 500, 60, None),
        ("E50", TODAY, 500, 100, None),
        ("E60", "2020-01-01", 2_000, 400, None),
        ("S60", "2022-01-01", 1_300, 300, None),
    ],
)
def test_tiers_by_era(tier, day, iops, mbps, burst):
    row = catalog.disk_tier(tier.lower(), day)
    assert (row.iops, row.bytes_per_s) == (iops, mbps * MB)
    found = row.burst_iops and (row.burst_iops, row.burst_bytes_per_s / MB)
    assert found == burst
    assert row.burst_s == (1_800 if burst else None)


def test_on_demand_bursting_and_performance_plus_have_their_dates():
    before, since, today = (catalog.disk_tier("P30", day) for day in ("2021-01-01", "2022-01-01", TODAY))
    assert before.on_demand_burst_iops is None
    assert (since.on_demand_burst_iops, since.on_demand_burst_bytes_per_s) == (30_000, 1_000 * MB)
    assert (since.plus_iops, today.plus_iops, today.plus_bytes_per_s) == (None, 8_000, 300 * MB)
    assert catalog.disk_tier("P20", TODAY).on_demand_burst_iops is None


@pytest.mark.parametrize(
    ("sku", "gib", "tier"),
    [
        ("Premium_LRS", 1, "P1"),
        ("Premium_LRS", 32, "P4"),
        ("Premium_ZRS", 33, "P6"),
        ("StandardSSD_LRS", 200, "E15"),  # the page's own example
        ("standard_lrs", 1, "S4"),
        ("Premium_LRS", 32_767, "P80"),
        ("Premium_LRS", 4_095, "P50"),
    ],
)
def test_a_disk_takes_the_smallest_tier_that_holds_it(sku, gib, tier):
    assert catalog.tier_for(sku, gib * GIB, TODAY).name == tier


def test_a_small_disk_took_a_larger_tier_before_small_tiers_existed():
    assert catalog.tier_for("Premium_LRS", 4 * GIB, "2019-06-01").name == "P4"
    assert catalog.tier_for("Premium_LRS", 200 * GIB, "2018-02-01").name == "P20"


def test_what_no_tier_holds_is_refused():
    with pytest.raises(InputError, match=r"no tier of Premium_LRS holds .*P80 holds"):
        catalog.tier_for("Premium_LRS", 32_768 * GIB, TODAY)
    with pytest.raises(InputError, match="disk SKU 'UltraSSD_LRS': one of Premium, StandardSSD, Standard"):
        catalog.tier_for("UltraSSD_LRS", GIB, TODAY)


@pytest.mark.parametrize(
    ("sku", "day", "values"),
    [
        ("UltraSSD_LRS", "2019-09-15", (300, 160_000, 2_000, 4 * KIB, 256 * KIB, 2)),
        ("UltraSSD_LRS", "2022-06-17", (300, 160_000, 4_000, 4 * KIB, 256 * KIB, 1)),
        ("UltraSSD_LRS", "2025-06-01", (300, 400_000, 10_000, None, 4_900 * MB / 19_200, None)),
        ("ultrassd", TODAY, (1_000, 400_000, 10_000, None, 250_000, None)),
        ("PremiumV2_LRS", "2023-01-01", (500, 80_000, 1_200, None, 256 * KIB, None)),
        ("PremiumV2_LRS", "2026-08-10", (500, 80_000, 1_200, None, 250_000, None)),
        ("PremiumV2_LRS", TODAY, (500, 80_000, 2_000, None, 250_000, None)),
    ],
)
def test_rules_of_provisioned_disks_by_era(sku, day, values):
    rules = catalog.provisioned_rules(sku, day)
    assert (
        rules.max_iops_per_gib,
        rules.max_iops,
        rules.max_bytes_per_s / MB,
        rules.min_bytes_per_s_per_iops,
        rules.max_bytes_per_s_per_iops,
        rules.min_iops_per_gib,
    ) == values


def test_ultra_of_2019_needed_more_throughput_than_today():
    # 10,000 IOPS: 40.96 MB/s at least then; 1 MB/s now
    then, now = (catalog.provisioned_rules("UltraSSD_LRS", day) for day in ("2019-09-15", TODAY))
    assert then.min_bytes_per_s_per_iops * 10_000 == 40_960_000
    assert (now.min_bytes_per_s, now.min_iops, now.min_size_bytes) == (MB, 100, 4 * GIB)


def test_premium_v2_has_a_baseline_and_did_not_always_exist():
    rules = catalog.provisioned_rules("PremiumV2_LRS", TODAY)
    assert (rules.baseline_iops, rules.baseline_bytes_per_s, rules.changes_per_24h) == (3_000, 125 * MB, 4)
    with pytest.raises(InputError, match="PremiumV2 is not known on 2021-01-01; it is since 2022-06-17"):
        catalog.provisioned_rules("PremiumV2_LRS", "2021-01-01")
    with pytest.raises(InputError, match="P1 is not known on 2019-10-23; it is since 2019-10-24"):
        catalog.disk_tier("P1", "2019-10-23")


# --- eras and precedence of VM limits


def test_the_temp_disk_of_edsv4_has_a_limit_of_its_own_since_the_page_says_so():
    then, now = (catalog.vm("e8ds_v4", day) for day in ("2020-07-01", TODAY))
    assert then.best("temp_iops") is None  # cached_iops holds for both
    assert (now.best("temp_iops").value, now.best("temp_bytes_per_s").value) == (38_000, 500_000_000)
    assert now.best("cached_iops").value == 77_000
    others = now.conflicts("cached_bytes_per_s")
    assert {(other.value, other.valid_to) for other in others} == {(485_000_000, "2021-10-20")}


def test_vm_bursting_starts_on_its_day():
    def burst(size, day):
        return _best(size, "uncached_burst_iops", day), _best(size, "uncached_burst_bytes_per_s", day)

    assert burst("E8ds_v4", "2021-06-01") == (None, None)
    assert burst("E8ds_v4", "2021-06-02") == (16_000, 400_000_000)
    assert burst("D2s_v3", "2021-07-01") == (4_000, 100_000_000)
    assert burst("D2s_v3", "2024-09-24") == (4_000, 200_000_000)
    assert burst("D2s_v4", "2022-02-01") == (4_000, 200_000_000)
    assert burst("L8s_v2", "2020-04-25") == (8_000, 1_280_000_000)
    assert catalog.vm("D8s_v3", "2022-01-01").best("cached_burst_bytes_per_s").value == 400_000_000


def test_a_limit_that_a_dated_page_tells_to_have_changed_is_not_the_api_s_before():
    old, new = (catalog.vm("E8bds_v5", day) for day in ("2023-06-01", TODAY))
    assert (old.best("uncached_iops").value, old.best("uncached_bytes_per_s").value) == (22_000, 625_000_000)
    assert (new.best("uncached_iops").value, new.best("uncached_bytes_per_s").value) == (24_200, 680_000_000)
    assert new.best("uncached_iops").source_id == API
    assert _best("DC8ads_v5", "uncached_bytes_per_s", "2022-01-01") == 200_000_000
    assert _best("DC8ads_v5", "uncached_bytes_per_s") == 192_000_000
    assert _best("M128s", "cached_iops", "2019-01-01") == 160_000
    assert _best("M128s", "cached_iops") == 250_000


def test_interfaces_and_v2_disks_have_limits_of_their_own():
    row = catalog.vm("Standard_E8bds_v5", TODAY)
    values = {
        name: row.best(name).value
        for name in ("uncached_v2_iops", "uncached_iops_over_nvme", "uncached_v2_iops_over_nvme")
    }
    assert values == {
        "uncached_v2_iops": 32_400,
        "uncached_iops_over_nvme": 33_000,
        "uncached_v2_iops_over_nvme": 44_200,
    }
    assert row.interface == ("SCSI", "NVMe")
    only_nvme = catalog.vm("E8ds_v6", TODAY)
    assert (only_nvme.best("uncached_v2_iops").value, only_nvme.best("uncached_iops").value) == (
        16_667,
        12_800,
    )
    assert not any(limit.name.endswith(catalog.OVER_NVME) for limit in only_nvme.limits)


def test_swapped_columns_of_a_page_are_settled_by_the_api_and_shown():
    row = catalog.vm("D8pds_v6", TODAY)
    assert (row.best("nvme_read_iops").value, row.best("nvme_write_iops").value) == (150_000, 60_000)
    (printed,) = row.conflicts("nvme_read_iops")
    assert printed.value == 60_000
    assert "swapped" in printed.note
    wide = catalog.vm("D160ads_v7", TODAY)
    assert wide.best("nvme_write_iops").value == 1_200_000
    assert [limit.value for limit in wide.conflicts("nvme_write_iops")] == [12_000_000]


@pytest.mark.parametrize(("size", "caching"), [("D8s_v5", True), ("E8s_v6", True), ("D8_v4", None)])
def test_a_combined_limit_without_temp_disk_and_cache_is_marked_as_doubtful(size, caching):
    row = catalog.vm(size, TODAY)
    assert (row.caching, row.cached_limit_documented) == (caching, False)
    assert row.best("cached_iops").note == NO_CACHE_SIZE
    assert all(row.best(name) is None for name in ("temp_bytes", "temp_iops", "cache_bytes"))


def test_bytes_per_second_stay_as_the_api_gives_them():
    # 160 MiB/s, 32 of 1,024,000 and 192 of 10**6
    assert _best("L8s_v2", "uncached_bytes_per_s") == 160 * 2**20
    assert _best("D2s_v3", "cached_bytes_per_s") == 32 * 1_024_000
    assert _best("E8ds_v4", "uncached_bytes_per_s") == 192 * MB


def test_writes_stand_apart_only_where_they_differ():
    assert catalog.vm("E8ds_v4", TODAY).best("cached_write_bytes_per_s") is None
    row = catalog.vm("D3_v2", TODAY)
    assert row.best("temp_bytes_per_s").value == 2 * row.best("temp_write_bytes_per_s").value


def test_what_the_caller_states_goes_first():
    row = catalog.vm("E8ds_v4", TODAY).stating({"uncached_iops": 6_400})
    assert (row.best("uncached_iops").value, row.best("uncached_iops").source_id) == (6_400, "stated")
    assert row.conflicts("uncached_iops")[0].source_id == API
    assert row.best("uncached_bytes_per_s").value == 192 * MB


def test_a_size_and_what_is_known_beside_its_limits():
    row = catalog.vm("standard_e32-8S_v3", date(2026, 11, 20))
    assert (row.size, row.as_of) == ("Standard_E32-8s_v3", TODAY)
    assert (row.vcpus, row.vcpus_available, row.max_data_disks, row.memory_bytes) == (32, 8, 32, 256 * GIB)
    assert (row.premium_io, row.caching, row.ephemeral_os) == (True, True, True)
    assert row.ephemeral_placements == ("ResourceDisk", "CacheDisk")
    assert (row.best("temp_bytes").value, row.best("cache_bytes").value) == (512 * GIB, 800 * GIB)
    old = catalog.vm("GS5", "2017-10-09")
    assert (old.best("cached_iops").value, old.best("cache_bytes").value) == (160_000, 4_224 * GIB)
    on_page_only = catalog.vm("E8bds_v6", TODAY)
    assert (on_page_only.vcpus, on_page_only.max_data_disks, on_page_only.pages_only) == (8, 24, True)
    assert on_page_only.memory_bytes == 64 * GIB and on_page_only.best("uncached_iops") is not None
    assert catalog.vm("E64is_v3", TODAY).best("cached_iops").value == 128_000


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: catalog.vm("Standard_E8ds_v44"), ("E8ds_v44", "Standard_E8ds_v4")),
        (lambda: catalog.disk_tier("P35"), ("P35", "P30")),
        (lambda: catalog.source("lsv2-series"), ("lsv2-series@017654d1",)),
        (lambda: catalog.vm("E8ds_v4", "July 2020"), ("July 2020", "2020-07-01")),
        (lambda: catalog.provisioned_rules("Premium_LRS"), ("PremiumV2, UltraSSD",)),
    ],
)
def test_what_is_not_known_is_refused_with_what_is_near(ask, words):
    with pytest.raises(InputError) as refused:
        ask()
    assert all(word in str(refused.value) for word in words)


def test_a_name_like_no_other_gets_no_nearest_names():
    with pytest.raises(InputError, match=r"^no VM size '' in the catalogue$"):
        catalog.vm("")


# --- the data as a whole


def test_every_row_has_a_source_with_its_date_licence_and_place():
    for file in ("vm_api.csv", "vm_pages.csv", "disk_tiers.csv", "provisioned_rules.csv"):
        for source in map(catalog.source, {row["source_id"] for row in _rows(file)}):
            assert source.date[:4] >= "2017", source
            assert all((source.repository, source.path, source.licence)), source
    named = (files.DATA.parent / "SOURCES.md").read_text(encoding="utf-8")
    for row in _rows("sources.csv"):
        assert "| " + " | ".join(row.values()) + " |" in named


def test_every_page_row_is_dated_and_no_figure_is_zero():
    for row in _rows("vm_pages.csv"):
        assert date.fromisoformat(row["valid_from"]), row
        assert not row["valid_to"] or row["valid_from"] < row["valid_to"], row
    for file in ("vm_pages.csv", "vm_api.csv"):
        for row in _rows(file):
            assert all(int(row[name]) > 0 for name in catalog.LIMITS if row.get(name)), row


@pytest.mark.parametrize(("file", "key"), [("disk_tiers.csv", "name"), ("provisioned_rules.csv", "sku")])
def test_eras_follow_each_other_without_gap_or_overlap(file, key):
    eras: dict[str, list[dict[str, str]]] = {}
    for row in _rows(file):
        eras.setdefault(row[key], []).append(row)
    for rows in eras.values():
        assert rows[-1]["valid_to"] == ""
        for before, after in pairwise(rows):
            assert before["valid_to"] == after["valid_from"] > (before["valid_from"] or "")


SIZES = sorted({row["size"] for file in ("vm_api.csv", "vm_pages.csv") for row in _rows(file)})
TURNS = sorted({row[side] for row in _rows("vm_pages.csv") for side in ("valid_from", "valid_to")} - {""})
DAYS = st.dates(date(2012, 1, 1), date(2027, 1, 1)) | st.sampled_from([*map(date.fromisoformat, TURNS)])


@given(st.sampled_from(SIZES), DAYS, st.sampled_from(catalog.LIMITS))
def test_the_best_statement_is_in_force_and_none_before_it_is(size, day, name):
    row = catalog.vm(size, day)
    best = row.best(name)
    there = [limit for limit in row.limits if limit.name == name]
    in_force = [limit for limit in there if holds(limit.valid_from, limit.valid_to, day.isoformat())]
    assert best == (in_force[0] if in_force else best and best.page_day and best)
    assert best is None or (best.valid_from or "") <= day.isoformat() < (best.valid_to or "9999")
    assert set(row.conflicts(name)) == {limit for limit in there if best is None or limit.value != best.value}


def test_no_statement_counts_on_the_day_on_which_it_ends():
    ended = {row["size"] for row in _rows("vm_pages.csv") if row["valid_to"]}
    assert len(ended) > 100
    for size in ended:
        row = catalog.vm(size, TODAY)
        for limit in row.limits:
            assert not limit.valid_to or limit is not row.best(limit.name, limit.valid_to), limit
            assert not limit.valid_from or row.best(limit.name, limit.valid_from), limit


@given(st.sampled_from(SIZES), DAYS)
def test_a_reading_of_the_api_goes_before_any_page(size, day):
    row = catalog.vm(size, day)
    for name in {limit.name for limit in row.limits}:
        kinds = [limit.source_id == API for limit in row.limits if limit.name == name]
        assert kinds == sorted(kinds, reverse=True)


@given(st.sampled_from(("Premium_LRS", "StandardSSD_LRS", "Standard_LRS")), st.integers(1, 32_767), DAYS)
def test_the_tier_holds_the_disk_and_the_next_smaller_does_not(sku, gib, day):
    if day < date(2019, 6, 1) and gib > 4_096:
        return  # larger disks did not exist everywhere
    tier = catalog.tier_for(sku, gib * GIB, day)
    assert tier.size_bytes >= gib * GIB
    there = (row for row in _rows("disk_tiers.csv") if row["sku"] == tier.sku)
    there = (
        row for row in there if holds(row["valid_from"] or None, row["valid_to"] or None, day.isoformat())
    )
    assert tier.size_bytes == min(n for n in (int(row["size_bytes"]) for row in there) if n >= gib * GIB)


def test_a_lookup_needs_no_pandas():
    code = (
        "import sys; from azbenchlib.azure import catalog; "
        "catalog.vm('E8ds_v4'); print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


@needs_facts
def test_the_package_data_is_what_the_script_makes_of_the_facts():
    code = (
        "import sys, pathlib; sys.path.insert(0, 'scripts'); import make_catalog;"
        "print([p.name for p, t in make_catalog.make(pathlib.Path(sys.argv[1])).items()"
        " if p.read_text(encoding='utf-8') != t])"
    )
    command = [sys.executable, "-c", code, str(FACTS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


@needs_facts
def test_every_collected_figure_of_the_api_is_there():
    with (FACTS / "vm_sizes.csv").open(encoding="utf-8", newline="") as file:
        collected = list(csv.DictReader(file))
    assert len(collected) == 1_501
    for given_row in collected:
        row = catalog.vm(given_row["name"], TODAY)
        assert (
            str(row.best("uncached_iops").value) == given_row["uncached_iops"]
            or not given_row["uncached_iops"]
        )
        assert str(row.max_data_disks) == given_row["max_data_disks"]
        for name, column in (
            ("uncached_bytes_per_s", "uncached_bps"),
            ("cache_bytes", "cache_bytes"),
            ("nvme_read_iops", "nvme_read_iops"),
        ):
            if given_row[column]:
                assert row.best(name).value == int(given_row[column]), (given_row["name"], name)
        combined = [row.best(name) for name in ("cached_iops", "temp_iops")]
        if given_row["cached_temp_iops"] and any(combined):
            assert int(given_row["cached_temp_iops"]) in [limit.value for limit in combined if limit]


# --- refresh: what az answers becomes an overlay


def _az(folder: Path, answer: Path) -> Az:
    """A program that answers like az: the region's list, whatever is asked."""
    program = folder / "az"
    program.write_text(f'#!/bin/sh\necho "$@" > "{folder}/asked"\ncat "{answer}"\n')
    program.chmod(0o755)
    return Az(path=str(program))


def test_the_answer_of_az_becomes_rows_that_count_from_then_on(tmp_path):
    before = catalog.vm("E8ds_v4", TODAY)
    written = refresh("westeurope", _az(tmp_path, SKUS))
    asked = (tmp_path / "asked").read_text()
    assert asked.startswith("vm list-skus --location westeurope --resource-type virtualMachines --all")
    today = date.today().isoformat()
    assert written == tmp_path / "azbench" / "catalog" / f"{today}_westeurope.csv"
    source_id = f"az-list-skus-{today}_westeurope"

    row = catalog.vm("E8ds_v4", today)
    # 200,000,000 differs from the snapshot: it counts from today; what is the same counts as before
    assert (row.best("uncached_bytes_per_s").value, row.best("uncached_bytes_per_s").source_id) == (
        200_000_000,
        source_id,
    )
    assert row.best("uncached_bytes_per_s").valid_from == today
    assert row.best("uncached_bytes_per_s", "2020-07-01").value == 192_000_000
    assert (row.best("cached_iops").source_id, row.best("cached_iops").valid_from) == (source_id, None)
    assert row.best("uncached_burst_iops") == catalog.vm("E8ds_v4", today).best("uncached_burst_iops")
    assert before.best("temp_iops").value == row.best("temp_iops").value
    source = catalog.source(source_id)
    assert (source.date, source.what) == (today, "az vm list-skus --location westeurope")


def test_a_size_that_only_the_overlay_knows(tmp_path):
    with pytest.raises(InputError, match="X96-24ds_v9"):
        catalog.vm("X96-24ds_v9")
    refresh("westeurope", _az(tmp_path, SKUS))
    row = catalog.vm("X96-24ds_v9", TODAY)
    assert (row.vcpus, row.vcpus_available, row.memory_bytes) == (96, 24, int(437.5 * GIB))
    assert row.interface == ("SCSI", "NVMe")
    values = {limit.name: limit.value for limit in row.limits}
    assert (values["nvme_count"], values["nvme_bytes"]) == (6, 915_527 * 2**20)
    assert (values["nvme_write_iops"], values["nvme_read_bytes_per_s"]) == (480_000, 8_960_000_000)


def test_a_later_reading_goes_before_an_earlier_one(tmp_path):
    folder = overlays.folder("catalog")
    written = refresh("westeurope", _az(tmp_path, SKUS))
    text = written.read_text(encoding="utf-8")
    old_id = f"az-list-skus-{written.stem}"
    for day, figure in (("2026-09-01", "200000000"), ("2026-10-01", "210000000")):
        renamed = text.replace(old_id, f"az-list-skus-{day}_northeurope").replace("200000000", figure)
        (folder / f"{day}_northeurope.csv").write_text(renamed, encoding="utf-8")
    written.unlink()
    lookup.forget()
    for day, value in (("2026-08-31", 192), ("2026-09-15", 200), ("2026-10-01", 210), ("2020-01-01", 192)):
        assert _best("E8ds_v4", "uncached_bytes_per_s", day) == value * MB


def test_rows_of_the_api_by_kind_of_size():
    rows = skus.parse(json.loads(SKUS.read_text()), "here")
    assert {row["size"] for row in rows} == {
        "Standard_A1_v2",
        "Standard_D8s_v5",
        "Standard_E8ds_v4",
        "Standard_L8s_v2",
        "Standard_X96-24ds_v9",
    }
    by_size = {size: [row for row in rows if row["size"] == size] for size in (r["size"] for r in rows)}
    ((temp, doubtful), (cached,), (local,)) = (
        by_size[f"Standard_{size}"] for size in ("A1_v2", "E8ds_v4", "L8s_v2")
    )
    assert (temp["temp_bytes_per_s"], temp["temp_write_bytes_per_s"]) == ("20971520", "10485760")
    assert (doubtful["note"], doubtful["cached_iops"]) == (NO_CACHE_SIZE, "1000")
    assert (cached["cached_iops"], cached["caching"]) == ("77000", "True")
    assert (cached["temp_bytes"], cached["cache_bytes"]) == (str(300 * GIB), str(200 * GIB))
    assert "cached_write_bytes_per_s" not in cached
    assert "temp_iops" not in cached
    assert (local["temp_iops"], local["caching"]) == ("4000", "False")
    assert "cached_iops" not in local


@pytest.mark.parametrize(
    ("answer", "words"),
    [("[]", "no VM size in the answer"), ("{}", "a list was expected, not dict"), ("", "not NoneType")],
)
def test_an_answer_that_is_no_list_of_sizes_is_refused_and_nothing_is_written(tmp_path, answer, words):
    said = tmp_path / "answer.json"
    said.write_text(answer)
    with pytest.raises(InputError, match=words):
        refresh("westeurope", _az(tmp_path, said))
    assert overlays.files("catalog") == ()


def test_a_region_that_cannot_be_one_is_refused_before_az_is_asked(tmp_path):
    with pytest.raises(InputError, match="'West Europe' is not a region's name"):
        refresh("West Europe", _az(tmp_path, SKUS))
    assert not (tmp_path / "asked").exists()


def test_an_overlay_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "azbench").write_text("in the way")
    with pytest.raises(OutputError, match="cannot be written"):
        refresh("westeurope", _az(tmp_path, SKUS))


def test_a_spoiled_overlay_is_named():
    folder = overlays.folder("catalog")
    folder.mkdir(parents=True)
    (folder / "2026-10-01_westeurope.csv").write_text("hello\n1\n")
    with pytest.raises(InputError, match=r"2026-10-01_westeurope.csv is not what"):
        catalog.vm("E8ds_v4")


@pytest.mark.parametrize(
    ("size", "uncached_iops"),
    [
        ("H16r", None),
        ("Basic_A1", None),
        ("A10", None),
        ("NC6s_v2", 20_000),
        ("DC4s", 6_400),
        ("hb60rs", None),
    ],
)
def test_retired_sizes_are_known_by_their_pages_but_not_offered(size: str, uncached_iops: int | None) -> None:
    row = catalog.vm(size, "2019-09-12")
    best = row.best("uncached_iops")
    assert (best.value if best else None) == uncached_iops
    temp = row.best("temp_bytes")
    assert temp and catalog.source(temp.source_id).repository == "MicrosoftDocs/azure-docs"
    assert row.best("temp_iops") is None and row.size not in catalog.vm_sizes()


@pytest.mark.parametrize("size", ["E48ds_v5", "E48s_v5", "D48ds_v5", "D48s_v5"])
def test_a_series_that_bursts_from_its_start_does_so_from_its_first_page(size: str) -> None:
    before = catalog.vm(size, "2021-10-19").best("uncached_burst_iops")
    assert before and before.page_day == "2021-10-20"
    bursts = catalog.vm(size, "2024-05-16").best("uncached_burst_iops")
    assert bursts and bursts.value == 80_000 and bursts.valid_from == "2021-10-20"


def test_an_ultra_disk_had_4000_mbps_when_one_was_published() -> None:
    most = [
        catalog.provisioned_rules("UltraSSD", day).max_bytes_per_s for day in ("2022-02-17", "2022-02-18")
    ]
    assert most == [2_000_000_000, 4_000_000_000]
