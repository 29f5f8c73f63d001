"""The eras of disk tiers and of provisioned disks: which figure was in force when, and who says so.

Used by make_catalog.py. "Between A and B" (last text with the old figure, first with the new one): the
new figure counts from B, and its note says so.
"""

from collections.abc import Iterator
from dataclasses import fields

from azbenchlib.azure.catalog.rows import ProvisionedRules
from azbenchlib.core.units import GIB, KIB, MB

Row = dict[str, str]
DISK_API = "disk-sku-api-2025-03-07"
AZURE, COMPUTE = "MicrosoftDocs/azure-docs", "MicrosoftDocs/azure-compute-docs"
TYPES, BURSTING = "articles/virtual-machines/disks-types.md", "articles/virtual-machines/disk-bursting.md"
PREMIUM_SIZES = "includes/disk-storage-premium-ssd-sizes.md"
STANDARD_SIZES = "includes/disk-storage-standard-ssd-sizes.md"

STANDARD_2018 = "includes/virtual-machines-disks-standard-ssd.md"
PREMIUM_2018 = "includes/virtual-machines-common-premium-storage.md"
BURSTING_2021 = "includes/managed-disks-bursting-2.md"
HDD_SIZES = "includes/disk-storage-standard-hdd-sizes.md"
PREMIUM, STANDARD, TIMES, KINDS = "Premium SSD sizes", "Standard SSD sizes", "bursting", "disk types"

# source_id, what, repository, path, commit as far as it is known, date
SOURCES = (
    ("premium-2018", PREMIUM, "OpenLocalizationTestOrg/azure-docs-pr-test.es-ES", PREMIUM_2018, "303e35c5",
     "2018-01-29"),
    ("premium-2018-06", PREMIUM, "rekha-balan/azure-docs-test2-pr.nl-NL", PREMIUM_2018, "", "2018-06-05"),
    ("premium-2019-05", PREMIUM, AZURE, PREMIUM_SIZES, "700ae88a", "2019-05-21"),
    ("premium-2019-10", PREMIUM, "tsunami416604/azure-docs.hu-hu", PREMIUM_SIZES, "0be20c15", "2019-10-24"),
    ("bursting-2020-03", TIMES, AZURE, "includes/managed-disks-bursting.md", "05c11e58", "2020-03-29"),
    ("bursting-2020-09", TIMES, AZURE, BURSTING, "01d3bc7b", "2020-09-22"),
    ("premium-2021-06", PREMIUM, "csigueros/azure-docs.es-es", PREMIUM_SIZES, "118f5b0e", "2021-06-24"),
    ("premium-2023-03", PREMIUM, AZURE, PREMIUM_SIZES, "1d25717f", "2023-03-16"),
    ("standard-2018-08", STANDARD, AZURE, STANDARD_2018, "00dbdcf3", "2018-08-14"),
    ("standard-2019-03", STANDARD, "pricardo03/azure-docs.es-es", STANDARD_SIZES, "0189a47c", "2019-03-28"),
    ("standard-2021-03", STANDARD, "zoonoo/azure-docs.ko-kr", STANDARD_SIZES, "065b3cc4", "2021-03-19"),
    ("bursting-2021-06", TIMES, "csigueros/azure-docs.es-es", BURSTING_2021, "57f10ec3", "2021-06-02"),
    ("standard-2023-03", STANDARD, AZURE, STANDARD_SIZES, "90c75562", "2023-03-16"),
    ("hdd-2019-03", "Standard HDD sizes", AZURE, HDD_SIZES, "14cd543f", "2019-03-18"),
    ("disk-types-2019", KINDS, AZURE, "includes/disks-types", "", "2019"),
    ("disk-types-2022-06", KINDS, AZURE, TYPES, "00c6c824", "2022-06-17"),
    ("disk-types-2024-08", KINDS, "zhousarah/azure-compute-docs", TYPES, "dd98b283", "2024-08-12"),
    ("disk-types-2025-01", KINDS, "petersatsuse/azure-compute-docs", TYPES, "2dfbb525", "2025-01-21"),
    ("disk-types-2026-08", KINDS, COMPUTE, TYPES, "18c531ec", "2026-08-11"),
)  # fmt: skip
_DATES = {entry[0]: entry[-1] for entry in SOURCES} | {DISK_API: "2025-03-07"}

BURST_S = 1800
# Day from which a tier is on a page; the others are older than every page that was read.
_FIRST = {"P15": "2018-06-05", "P60": "2019-05-21", "P70": "2019-05-21", "P80": "2019-05-21",
          "P1": "2019-10-24", "P2": "2019-10-24", "P3": "2019-10-24",
          **{f"E{n}": "2019-03-28" for n in (4, 6, 60, 70, 80)},
          **{f"E{n}": "2019-11-06" for n in (1, 2, 3)}}  # fmt: skip
_MIB_ONCE = "printed as MiB/s until 2020"
_RESTART = "certain only for disks made or attached again since 2020-03-29"
_ON_DEMAND = "on-demand bursting in preview until some day between 2021-07-06 and 2021-11-03"
_PLUS = "performance plus in preview until some day between 2024-08-12 and 2025-01-21"
_E30 = "of E30 the page of 2021-11-03 says that it does not burst"
_BASE_100 = "base rose from 60 MB/s on an unknown day since 2023-03-16"


def tiers(collected: list[Row]) -> Iterator[Row]:
    """A row for each tier and era, oldest era first."""
    eras = {"P": _premium, "E": _standard_ssd, "S": _standard_hdd}
    for row in collected:
        name, size = row["tier"], int(row["size_gib"])
        dated = list(eras[name[0]](row, size))
        for (source_id, figures, note), after in zip(dated, [*dated[1:], None], strict=True):
            first = source_id == dated[0][0]
            yield {
                "name": name,
                "sku": {"P": "Premium", "E": "StandardSSD", "S": "Standard"}[name[0]],
                "size_bytes": str(size * GIB),
                "valid_from": _FIRST.get(name, "") if first else _DATES[source_id],
                "valid_to": _DATES[after[0]] if after else "",
                "source_id": source_id,
                "note": note,
            } | figures


Era = tuple[str, Row, str]  # source_id, figures, note


def _figures(row: Row, *kinds: str) -> Row:
    """Columns of the collected row, in base units: base, burst, on_demand_burst, expanded."""
    prefixes = {"base": "", "burst": "burst_", "on_demand_burst": "on_demand_burst_", "expanded": "plus_"}
    found: Row = {}
    for kind in kinds:
        if row[f"{kind}_iops"]:
            found[f"{prefixes[kind]}iops"] = row[f"{kind}_iops"]
            found[f"{prefixes[kind]}bytes_per_s"] = str(int(row[f"{kind}_mbps"]) * MB)
    return found | ({"burst_s": str(BURST_S)} if "burst_iops" in found else {})


def _premium(row: Row, gib: int) -> Iterator[Era]:
    first = {"P15": "premium-2018-06", "2019-05-21": "premium-2019-05", "2019-10-24": "premium-2019-10"}
    start = first.get(row["tier"]) or first.get(_FIRST.get(row["tier"], ""), "premium-2018")
    base = _figures(row, "base")
    if gib <= 512:
        preview = "; bursting in preview in a few regions" if start != "premium-2019-10" else ""
        yield start, base, _MIB_ONCE
        if preview:
            yield "premium-2019-10", base, _MIB_ONCE + preview
        yield "bursting-2020-03", _figures(row, "base", "burst"), _RESTART
        yield "bursting-2020-09", _figures(row, "base", "burst"), ""
        return
    yield start, base, _MIB_ONCE
    yield "premium-2021-06", _figures(row, "base", "on_demand_burst"), _ON_DEMAND
    yield "premium-2023-03", _figures(row, "base", "on_demand_burst", "expanded"), _PLUS


def _standard_ssd(row: Row, gib: int) -> Iterator[Era]:
    small, large = gib <= 64, gib > 4096
    at_60 = {"iops": row["base_iops"], "bytes_per_s": str(int(row["doc_base_mbps"]) * MB)}
    then = at_60
    if small:  # E1 to E6 were below 500 IOPS and 60 MB/s at first
        iops, mbps = ("240", 50) if row["tier"] == "E6" else ("120", 25)
        then = {"iops": iops, "bytes_per_s": str(mbps * MB)}
    elif not large:
        yield "standard-2018-08", at_60, ""
    yield "standard-2019-03", then, _MIB_ONCE
    if small:
        yield "standard-2021-03", at_60, "raised on an unknown day since 2019-11-12"
    burst = {name: value for name, value in _figures(row, "burst").items() if "burst" in name}
    if burst:
        yield (
            "bursting-2021-06",
            at_60 | burst,
            _E30 if row["tier"] == "E30" else "burst figures of the page of 2023",
        )
    plus = {name: value for name, value in _figures(row, "expanded").items() if "plus" in name}
    yield "standard-2023-03", at_60 | burst | plus, _PLUS if plus else ""
    if not large:
        yield DISK_API, _figures(row, "base", "burst", "expanded"), _BASE_100


def _standard_hdd(row: Row, gib: int) -> Iterator[Era]:
    yield "hdd-2019-03", _figures(row, "base"), "up to"


# Ultra Disk and Premium SSD v2: sizes in GiB, rates in MB/s, but bytes/s where it is per IOPS.
# 64 GiB gave 19,200 IOPS and 4,900 MB/s in 2024, 128 GiB 38,400 and 9,800: that many bytes/s per IOPS.
_IN_2024 = 4900 * MB / 19_200
_IN_UNITS = {
    **dict.fromkeys(("min_size_bytes", "max_size_bytes", "size_step_bytes"), GIB),
    **dict.fromkeys(("min_bytes_per_s", "max_bytes_per_s", "baseline_bytes_per_s"), MB),
}
_RULES = (  # as ProvisionedRules lists them, but for the dates
    ("UltraSSD", 4, None, None, 100, 160_000, 2, 300, 1, 2_000, 4 * KIB, 256 * KIB, None, None, None,
     "disk-types-2019",
     "the page's table has 80,000 IOPS at 512 GiB; texts since 2021 say 1 IOPS/GiB at least"),
    ("UltraSSD", 4, None, None, 100, 160_000, 1, 300, 1, 4_000, 4 * KIB, 256 * KIB, None, None, None,
     "disk-types-2022-06", "changed since 2021-06-29; a disk of it was measured on 2022-02-18"),
    ("UltraSSD", 4, None, None, None, 400_000, None, 300, None, 10_000, None, _IN_2024, None, None, None,
     "disk-types-2024-08", "minima not stated"),
    ("UltraSSD", 4, 65_536, 1, 100, 400_000, None, 1_000, 1, 10_000, None, MB // 4, None, None, 4,
     "disk-types-2026-08", "changed on an unknown day since 2025-01-21"),
    ("PremiumV2", 1, 65_536, 1, 3_000, 80_000, None, 500, 125, 1_200, None, 256 * KIB, 3_000, 125, None,
     "disk-types-2022-06", "preview"),
    ("PremiumV2", 1, 65_536, 1, 3_000, 80_000, None, 500, 125, 1_200, None, MB // 4, 3_000, 125, None,
     "disk-types-2024-08", "the text of the page says 1,250 MB/s"),
    ("PremiumV2", 1, 65_536, 1, 3_000, 80_000, None, 500, 125, 1_200, None, MB // 4, 3_000, 125, 4,
     "disk-types-2025-01", ""),
    ("PremiumV2", 1, 65_536, 1, 3_000, 80_000, None, 500, 125, 2_000, None, MB // 4, 3_000, 125, 4,
     "disk-types-2026-08", "changed on an unknown day since 2025-01-21"),
)  # fmt: skip


# A disk with 4,000 MB/s was published before the page that prints them. Source: JanneMattila/
# playground-aks-storage notes.md@9dcc1ca7, "Azure Disk - Ultra", run of this day; 2,000 MB/s still stand in
# csigueros/azure-docs.es-es articles/virtual-machines/disks-types.md@3be45439 (2021-06-29).
_EARLIER = {("UltraSSD", "disk-types-2022-06"): "2022-02-18"}


def provisioned() -> Iterator[dict[str, object]]:
    """A row for each era of Ultra Disk and Premium SSD v2, oldest first."""
    names = [field.name for field in fields(ProvisionedRules)]
    for i, (*figures, source_id, note) in enumerate(_RULES):
        after = next((rule[-2] for rule in _RULES[i + 1 : i + 2] if rule[0] == figures[0]), None)
        since, until = (_since(str(figures[0]), some) for some in (source_id, after))
        row = dict(zip(names, [*figures, since, until, source_id, note], strict=True))
        yield row | {name: row[name] * unit for name, unit in _IN_UNITS.items() if row[name] is not None}


def _since(sku: str, source_id: str | None) -> str | None:
    """The day from which a rule counts: its source's own, or one on which it was in use."""
    if source_id in (None, "disk-types-2019"):
        return None
    return _EARLIER.get((sku, source_id), _DATES[source_id])
