"""Write azbenchlib/azure/catalog/data and SOURCES.md from collected facts; same input, same bytes.

.venv/bin/python scripts/make_catalog.py FACTS
"""

import csv
import io
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

import catalog_caching as caching
import catalog_eras as eras
import catalog_retired as retired

from azbenchlib.azure.catalog import skus
from azbenchlib.azure.catalog.rows import LIMITS, OVER_NVME, CatalogSource, ProvisionedRules, TierRow
from azbenchlib.core.units import GIB, MB

HOME = Path(__file__).resolve().parents[1] / "azbenchlib" / "azure" / "catalog"
HEAD = ("size", "source_id", "valid_from", "valid_to", "note")
API = "sku-api-2026-08-17"
CC_BY = "CC BY 4.0"  # of MicrosoftDocs' texts (LICENSE of both repositories); translated copies included
Row = dict[str, str]

CAPABILITIES = {  # column of vm_sizes.csv: capability of the API that it was
    "vcpu": "vCPUs",
    "vcpu_available": "vCPUsAvailable",
    "memory_gib": "MemoryGB",
    "max_data_disks": "MaxDataDiskCount",
    "premium_io": "PremiumIO",
    "ephemeral_os": "EphemeralOSDiskSupported",
    "ephemeral_placements": "SupportedEphemeralOSDiskPlacements",
    "disk_controllers": "DiskControllerTypes",
    "arch": "CpuArchitectureType",
    "gpus": "GPUs",
    "ultra_ssd": "UltraSSDAvailable",
    "retirement_utc": "RetirementDateUtc",
    "temp_disk_mib": "MaxResourceVolumeMB",
    "cache_bytes": "CachedDiskBytes",
    "cached_temp_iops": "CombinedTempDiskAndCachedIOPS",
    "cached_temp_read_bps": "CombinedTempDiskAndCachedReadBytesPerSecond",
    "cached_temp_write_bps": "CombinedTempDiskAndCachedWriteBytesPerSecond",
    "uncached_iops": "UncachedDiskIOPS",
    "uncached_bps": "UncachedDiskBytesPerSecond",
    "nvme_total_mib": "NvmeDiskSizeInMiB",
    "nvme_per_disk_mib": "NvmeSizePerDiskInMiB",
    "nvme_read_iops": "NvmeMaxReadIops",
    "nvme_write_iops": "NvmeMaxWriteIops",
    "nvme_read_bps": "NvmeMaxReadBytesPerSecond",
    "nvme_write_bps": "NvmeMaxWriteBytesPerSecond",
}
PAGE_PAIRS = {  # columns of a page (IOPS, MB/s): start of the limit's name
    "doc_uncached": "uncached",
    "burst_uncached": "uncached_burst",
    "pv2_ultra": "uncached_v2",
    "pv2_ultra_burst": "uncached_v2_burst",
}
# Pages whose local columns are NVMe disks although the API lists none of their sizes.
NVME_PAGES = ("ebdsv6-series", "lasv5-series", "laosv5-series")
# This page heads the burst of the cached limit "write": the page of 2021 prints the same figures as burst.
BURST_AS_WRITE = "dasv4-series"
# VM bursting came to these series everywhere on 2021-06-02, also where the first stored page that prints
# figures is later. Source: csigueros/azure-docs.es-es includes/managed-disks-bursting-2.md@57f10ec3.
VM_BURST_SINCE = "2021-06-02"
VM_BURST_SERIES = re.compile(r"Standard_(B\d+[lm]*s|[DE]\d+i?a?d?s_v4|F\d+s_v2)")
# First pages of series that burst from their beginning: they print the same burst limits as the first
# collected ones do. Series, source, page, commit, date.
_DSV5, _DDSV5, _ESV5 = "dv5-dsv5-series", "ddv5-ddsv5-series", "ev5-esv5-series"
_EDSV5 = "edv5-edsv5-series"
BURST_FROM_THE_START = (
    (r"Standard_D\d+s_v5", _DSV5, "1a0fe16ad7befc51c6a8dc5ea1fe9987f33611a1", "2021-10-20"),
    (r"Standard_D\d+ds_v5", _DDSV5, "017654d14eb78a81d68ea84640b468bcb7fa96d3", "2021-10-20"),
    (r"Standard_E\d+i?s_v5", _ESV5, "02d00dc8728a58aaf3d8af94e7223857d9a6155f", "2021-10-20"),
    (r"Standard_E\d+i?ds_v5", _EDSV5, "bb48d8851fa0cf6e984ca42ebb7f49780aea6fb2", "2021-10-20"),
)
FIRST_PAGES = tuple(
    (
        f"{page}@{commit[:8]}",
        "documentation page",
        eras.AZURE,
        f"articles/virtual-machines/{page}.md",
        commit,
        on,
    )
    for _, page, commit, on in BURST_FROM_THE_START
)
# Cached limits that were raised on an unknown day between the last page (2022-12-20) and the snapshot.
RAISED_BY_SNAPSHOT = ("Standard_M128s", "Standard_M128ms", "Standard_M192ids_v2", "Standard_M192idms_v2")
# Bytes that a printed MB may have meant; that and rounding are no change of a limit.
MB_READINGS = (1.0, 1.024, 1.048576)
ROUNDING = 0.012
NOTES = {  # what the collected note speaks of: what the catalogue says
    "translated copy|Translated": "from a translated copy of the page",
    "(not|stale) (raised|ms.date)": "dated by what the page tells, not by its own date",
    "valid_from 2022-01-01 is an estimate": "start estimated",
    "no ms.date": "page without a date; start estimated",
    "[Pp]review": "preview page",
    "MBps differ from the Dsv7": "the Dsv7 page of that day prints other MB/s",
    "burst 10000 IOPS for E4ps": "E4ps_v5 and E4pds_v5 differ in burst on the page",
}
LOCAL_NOTES = {  # the same for what is said of the local NVMe disks alone
    "swapped": "reads and writes look swapped on the page",
    "12,000,000": "12,000,000 looks like a slip for 1,200,000",
    "best case": "best case on a clean device",
    "names the Edsv6": "the page's local table names other sizes",
}


def read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def text(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> str:
    """CSV of the columns; an absent value is empty."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: "" if v is None else v for name, v in row.items()} for row in rows)
    return out.getvalue()


def used(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    return [column for column in columns if any(row.get(column) for row in rows)]


# --- documentation pages -------------------------------------------------------------------------


def page_id(row: Row) -> str:
    return f"{stem(row)}@{row['source_commit'][:8]}"


def stem(row: Row) -> str:
    return Path(row["source_path"]).stem


def day(date: str) -> str:
    """A full ISO day; a year alone is its first day."""
    return f"{date}-01-01" if len(date) == 4 else date


def pair(row: Row, columns: str, name: str, kind: str = "") -> Row:
    """The IOPS and MB/s of one place of a page, under the limit's names, in base units."""
    iops, mbps = row[f"{columns}_iops"], row[f"{columns}_mbps"]
    found = {f"{name}{kind}_iops": iops} if iops else {}
    return found | ({f"{name}{kind}_bytes_per_s": str(round(float(mbps) * MB))} if mbps else {})


def local(row: Row, api: Row | None, nvme: bool) -> Row:
    """What the page's local columns are: NVMe disks, the temp disk alone, or cache and temp together."""
    reads, writes = pair(row, "local_read", ""), pair(row, "local_write", "")
    if not reads:
        return {}
    if nvme:
        found = pair(row, "local_read", "nvme_read") | pair(row, "local_write", "nvme_write")
        return found | ({"nvme_count": row["local_disk_count"]} if row["local_disk_count"] else {})
    combined = bool(api and api["cache_bytes"] and agrees(row["local_read_iops"], api["cached_temp_iops"]))
    if skus.caches_data_disks(row["name"], combined):
        if stem(row) == BURST_AS_WRITE:
            return pair(row, "local_read", "cached") | pair(row, "local_write", "cached_burst")
        return pair(row, "local_read", "cached")
    return pair(row, "local_read", "temp") | (pair(row, "local_write", "temp", "_write") if writes else {})


def agrees(first: str, second: str) -> bool:
    """Whether the figure of a page and that of the API may be the same limit."""
    if not (first and second):
        return False
    return any(abs(float(first) * reading / float(second) - 1) <= ROUNDING for reading in MB_READINGS)


def page_row(row: Row, api: Row | None, nvme: bool, two_interfaces: bool) -> list[Row]:
    """A row of a page in the catalogue's columns; limits with another doubt stand in a row of their own."""
    suffix = OVER_NVME if two_interfaces and row["interface"] == "NVMe" else ""
    limits: Row = {}
    for columns, name in PAGE_PAIRS.items():
        limits |= {limit + suffix: value for limit, value in pair(row, columns, name).items()}
    no_cache = skus.caches_data_disks(row["name"], False) is False
    cached = "temp" if no_cache else "cached"
    printed = pair(row, "doc_cached", cached) | pair(row, "doc_cached_burst", f"{cached}_burst")
    limits |= printed or ({} if suffix else local(row, api, nvme))
    if row["doc_cache_gib"]:
        limits["cache_bytes"] = str(round(float(row["doc_cache_gib"]) * GIB))
    head = {"size": row["name"], "source_id": page_id(row)}
    head |= {"valid_from": day(row["valid_from"]), "valid_to": day(row["valid_to"])}
    by_note: dict[str, Row] = defaultdict(dict)
    for limit in filter(limits.get, LIMITS):
        by_note["; ".join(remarks(row, limit))][limit] = limits[limit]
    return [head | part | {"note": note} for note, part in by_note.items()]


def remarks(row: Row, limit: str) -> Iterator[str]:
    """What is doubtful about a limit of a page."""
    concerned = NOTES | LOCAL_NOTES if limit.startswith("nvme_") else NOTES
    yield from (said for pattern, said in concerned.items() if re.search(pattern, row["valid_note"]))
    if limit.startswith("cached_burst") and stem(row) == BURST_AS_WRITE:
        yield "headed 'write' on the page"


def pages(collected: Sequence[Row], api: Mapping[str, Row]) -> list[Row]:
    """All rows of pages, newest first for each size; the richer of two of the same day first."""
    on_scsi = {row["name"] for row in collected if row["interface"] == "SCSI"}
    nvme_pages = set(NVME_PAGES)
    nvme_pages |= {stem(row) for row in collected if api.get(row["name"], {}).get("nvme_count")}
    found = []
    for row in collected:
        # an isolated size that the API no longer lists has the local disks of its sibling
        sku = api.get(row["name"]) or api.get(row["name"].replace("is_v", "s_v"))
        found += page_row(row, sku, stem(row) in nvme_pages, row["name"] in on_scsi)
    found += list(earlier_bursts(found))
    found.sort(key=lambda row: (-len(row), row["source_id"]))
    found.sort(key=lambda row: row["valid_from"], reverse=True)
    return sorted(found, key=lambda row: row["size"])


def earlier_bursts(rows: Sequence[Row]) -> Iterator[Row]:
    """Burst limits of the first page that prints them, from the day on which the series began to burst."""
    first: dict[str, Row] = {}
    for row in sorted(rows, key=lambda row: row["valid_from"]):
        if "uncached_burst_iops" in row:
            first.setdefault(row["size"], row)
    for row in first.values():
        yield from from_the_start(row)
        if row["valid_from"] > VM_BURST_SINCE and VM_BURST_SERIES.fullmatch(row["size"]):
            yield {
                "size": row["size"],
                "source_id": row["source_id"],
                "valid_from": VM_BURST_SINCE,
                "valid_to": row["valid_from"],
                "note": f"the series bursts since then; figures of the page of {row['valid_from']}",
            } | {name: value for name, value in row.items() if name.startswith("uncached_burst")}


def from_the_start(row: Row) -> Iterator[Row]:
    """The burst limits of the first collected page of a size, as the first page of its series has them."""
    for pattern, page, commit, on in BURST_FROM_THE_START:
        if re.fullmatch(pattern, row["size"]) and row["valid_from"] > on:
            bursts = {name: value for name, value in row.items() if name.startswith("uncached_burst")}
            yield {
                "size": row["size"],
                "source_id": f"{page}@{commit[:8]}",
                "valid_from": on,
                "valid_to": row["valid_from"],
            } | bursts


# --- the resource-SKU API ------------------------------------------------------------------------


def api_rows(sizes: Sequence[Row], on_pages: Sequence[Row]) -> list[Row]:
    """The snapshot; limits that a dated page tells to have changed stand apart, from that day on."""
    of_size: dict[str, list[Row]] = defaultdict(list)
    for row in on_pages:
        of_size[row["size"]].append(row)
    found = []
    for row in sizes:
        capabilities = {name: row[column] for column, name in CAPABILITIES.items()}
        for made in skus.rows(row["name"], capabilities, API):
            found += apart(made, of_size[row["name"]])
    return sorted(found, key=lambda row: row["size"])


def apart(row: Row, on_pages: Sequence[Row]) -> list[Row]:
    """The row without, and rows with, the limits that changed; one a day of change."""
    changed: dict[str, Row] = defaultdict(dict)
    for name in LIMITS:
        since = name in row and changed_on(row["size"], name, row[name], on_pages)
        if since:
            changed[since][name] = row.pop(name)
    head = {"size": row["size"], "source_id": row["source_id"]}
    said = {API[-10:]: "raised on an unknown day since the last page"}
    return [row] + [
        head
        | limits
        | {"valid_from": since, "note": said.get(since, f"pages before {since} print another figure")}
        for since, limits in sorted(changed.items())
    ]


def changed_on(size: str, name: str, value: str, on_pages: Sequence[Row]) -> str | None:
    """The day of the first of the last pages that agree with the API, where an earlier one does not."""
    if size in RAISED_BY_SNAPSHOT and name in ("cached_iops", "cached_bytes_per_s"):
        return API[-10:]
    since, earlier_differs = None, False
    for row in (row for row in on_pages if name in row):  # newest first
        if not agrees(row[name], value):
            earlier_differs = True
            break
        since = row["valid_from"]
    return since if since and earlier_differs else None


# --- sources -------------------------------------------------------------------------------------


def sources(facts: Path, collected: Sequence[Row]) -> list[Row]:
    """Every source that a row names, once."""
    found = {row["source_id"]: row for row in read(facts / "sources.csv")}
    sku, disk = found["flexera_sku"], found["disk_sku_api"]
    listed = [
        (API, "VM sizes of the resource-SKU API, all regions", sku, "MIT"),
        (eras.DISK_API, "disk sizes of the resource-SKU API", disk, "Apache-2.0"),
    ]
    rows = [
        source(source_id, what, row["repo"], row["path"], row["commit"], row["as_of"], licence)
        for source_id, what, row, licence in listed
    ]
    rows += [
        source(*entry, CC_BY) for entry in (*eras.SOURCES, *retired.SOURCES, *caching.SOURCES, *FIRST_PAGES)
    ]
    rows += [
        source(
            page_id(row),
            "documentation page",
            row["source_repo"],
            row["source_path"],
            row["source_commit"],
            row["doc_date"],
            CC_BY,
        )
        for row in collected
    ]
    by_id = {row["source_id"]: row for row in rows}
    if any(by_id[row["source_id"]] != row for row in rows):
        raise SystemExit("two sources have one id")
    return [by_id[source_id] for source_id in sorted(by_id)]


def source(*values: str) -> Row:
    return dict(zip((field.name for field in fields(CatalogSource)), values, strict=True))


def page_of_sources(listed: Iterable[Row]) -> str:
    """SOURCES.md: every source with repository, path, commit, date and licence."""
    lines = [
        "# Where the catalogue's figures come from",
        "",
        "Made by scripts/make_catalog.py. A commit is given as far as it is known. A date is the one that",
        "the source bears itself; rows have their own where its text is newer than that. CC BY 4.0: texts of",
        "Microsoft's documentation, some read in copies or translations that other accounts keep. Only",
        "figures were taken over; MB/s became bytes/s by 10**6, the API's bytes/s are as they were.",
        "",
        "| id | what | repository | path | commit | date | licence |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += ["| " + " | ".join(row.values()) + " |" for row in listed]
    return "\n".join(lines) + "\n"


def names(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def make(facts: Path) -> dict[Path, str]:
    """Each file of the package data and what is in it."""
    sizes, collected = read(facts / "vm_sizes.csv"), read(facts / "vm_sizes_docs.csv")
    on_pages = pages(collected, {row["name"]: row for row in sizes})
    snapshot = api_rows(sizes, on_pages)
    listed = sources(facts, collected)
    gone = sorted(retired.rows(), key=lambda row: row["size"])
    cached = list(caching.rows({row["name"] for row in (*sizes, *collected)}))
    columns = (*HEAD, *skus.PROPERTIES, *LIMITS)
    data = HOME / "data"
    return {
        data / "vm_api.csv": text(snapshot, used(snapshot, columns)),
        data / "vm_pages.csv": text(on_pages, used(on_pages, columns)),
        data / "vm_caching.csv": text(cached, used(cached, columns)),
        data / "vm_retired.csv": text(gone, used(gone, columns)),
        data / "disk_tiers.csv": text(eras.tiers(read(facts / "managed_disk_tiers.csv")), names(TierRow)),
        data / "provisioned_rules.csv": text(eras.provisioned(), names(ProvisionedRules)),
        data / "sources.csv": text(listed, names(CatalogSource)),
        HOME / "SOURCES.md": page_of_sources(listed),
    }


if __name__ == "__main__":
    for path, content in make(Path(sys.argv[1])).items():
        path.write_text(content, encoding="utf-8")
