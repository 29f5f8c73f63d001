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
import catalog_constrained as constrained
import catalog_eras as eras
import catalog_page_errors as page_errors
import catalog_retired as retired
import catalog_retirements as retirements

from azbenchlib.azure.catalog import skus
from azbenchlib.azure.catalog.rows import (
    LIMITS,
    OVER_NVME,
    VM_BURST_SINCE,
    CatalogSource,
    ProvisionedRules,
    TierRow,
)
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
PRINTED_IN = {  # limit: the column of a collected page row that has it
    **{f"{name}_iops": f"{columns}_iops" for columns, name in PAGE_PAIRS.items()},
    **{f"{name}_bytes_per_s": f"{columns}_mbps" for columns, name in PAGE_PAIRS.items()},
    "nvme_write_iops": "local_write_iops",
}
# What is known of a size by its page alone, beside the limits that its dated rows have.
PAGE_PROPERTIES = (*skus.PROPERTIES, "temp_bytes", "nvme_count", "nvme_bytes")
# This page heads the burst of the cached limit "write": the page of 2021 prints the same figures as burst.
BURST_AS_WRITE = "dasv4-series"
# VM bursting came to these series everywhere on VM_BURST_SINCE, also where the first stored page that prints
# figures is later.

VM_BURST_SERIES = re.compile(r"Standard_(B\d+[lm]*s|[DE]\d+i?a?d?s_v4|F\d+s_v2)")
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
    "head of the file not read": "dated by other pages of the same copy",
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


def page_row(
    row: Row, api: Row | None, nvme: bool, two_interfaces: bool, errors: page_errors.Errors
) -> list[Row]:
    """A row of a page in the catalogue's columns; limits with another doubt stand in a row of their own."""
    row, mends = page_errors.mended(row, errors)
    limits = page_limits(row, api, nvme, OVER_NVME if two_interfaces and row["interface"] == "NVMe" else "")
    head = {"size": row["name"], "source_id": page_id(row)}
    head |= {"valid_from": day(row["valid_from"]), "valid_to": day(row["valid_to"])}
    by_note: dict[str, Row] = defaultdict(dict)
    for limit in filter(limits.get, LIMITS):
        by_note["; ".join(remarks(row, limit, mends))][limit] = limits[limit]
    return [head | part | {"note": note} for note, part in by_note.items()]


def page_limits(row: Row, api: Row | None, nvme: bool, suffix: str) -> Row:
    """The limits that a row of a page states; those of managed disks with a suffix to their names."""
    limits: Row = {}
    for columns, name in PAGE_PAIRS.items():
        limits |= {limit + suffix: value for limit, value in pair(row, columns, name).items()}
    no_cache = skus.caches_data_disks(row["name"], False) is False
    cached = "temp" if no_cache else "cached"
    printed = pair(row, "doc_cached", cached) | pair(row, "doc_cached_burst", f"{cached}_burst")
    limits |= printed or ({} if suffix else local(row, api, nvme))
    if row["doc_cache_gib"]:
        limits["cache_bytes"] = str(round(float(row["doc_cache_gib"]) * GIB))
    return limits


def remarks(row: Row, limit: str, mends: Mapping[str, str]) -> Iterator[str]:
    """What is doubtful about a limit of a page; `mends` has the notes of its columns."""
    if mend := mends.get(PRINTED_IN.get(limit.removesuffix(OVER_NVME), "")):
        yield mend
    concerned = NOTES | LOCAL_NOTES if limit.startswith("nvme_") else NOTES
    yield from (said for pattern, said in concerned.items() if re.search(pattern, row["valid_note"]))
    if limit.startswith("cached_burst") and stem(row) == BURST_AS_WRITE:
        yield "headed 'write' on the page"


def pages(collected: Sequence[Row], api: Mapping[str, Row], errors: page_errors.Errors) -> list[Row]:
    """All rows of pages, newest first for each size; the richer of two of the same day first.

    `api` has what the API, or the page alone, states of each size.
    """
    on_scsi = {row["name"] for row in collected if row["interface"] == "SCSI"}
    nvme_pages = {stem(row) for row in collected if api.get(row["name"], {}).get("nvme_count")}
    found = []
    for row in collected:
        # an isolated size that the API no longer lists has the local disks of its sibling
        sku = api.get(row["name"]) or api.get(row["name"].replace("is_v", "s_v"))
        found += page_row(row, sku, stem(row) in nvme_pages, row["name"] in on_scsi, errors)
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
        if row["valid_from"] > VM_BURST_SINCE and VM_BURST_SERIES.fullmatch(row["size"]):
            yield {
                "size": row["size"],
                "source_id": row["source_id"],
                "valid_from": VM_BURST_SINCE,
                "valid_to": row["valid_from"],
                "note": f"the series bursts since then; figures of the page of {row['valid_from']}",
            } | {name: value for name, value in row.items() if name.startswith("uncached_burst")}


# --- the resource-SKU API ------------------------------------------------------------------------


def api_rows(sizes: Sequence[Row], on_pages: Sequence[Row]) -> list[Row]:
    """The snapshot; limits that a dated page tells to have changed stand apart, from that day on."""
    of_size: dict[str, list[Row]] = defaultdict(list)
    for row in on_pages:
        of_size[row["size"]].append(row)
    found = []
    for row in sizes:
        for made in skus.rows(row["name"], capabilities(row), API):
            found += apart(made, of_size[row["name"]] or of_size[constrained.parent(row["name"]) or ""])
    return sorted(found, key=lambda row: row["size"])


def capabilities(row: Row) -> Row:
    """A collected row of a size in the words of the API."""
    return {name: row[column] for column, name in CAPABILITIES.items()}


def page_properties(sizes: Sequence[Row]) -> list[Row]:
    """What pages state of sizes that the API lacks, beside their limits."""
    rows = (made for row in sizes for made in skus.rows(row["name"], capabilities(row), page_id(row)))
    wanted = ("size", "source_id", *PAGE_PROPERTIES)
    found = ({name: row[name] for name in wanted if row.get(name)} for row in rows)
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
        source(*entry, CC_BY)
        for entry in (
            *eras.SOURCES,
            *retired.SOURCES,
            *caching.SOURCES,
            constrained.SOURCE,
            *retirements.SOURCES,
        )
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


def page_of_sources(listed: Iterable[Row], errors: Iterable[Row]) -> str:
    """SOURCES.md: every source with commit, date and licence, and what pages print wrong."""
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
    lines += page_errors.section(errors)
    return "\n".join(lines) + "\n"


def names(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def make(facts: Path) -> dict[Path, str]:
    """Each file of the package data and what is in it."""
    sizes, others = read(facts / "vm_sizes.csv"), read(facts / "vm_sizes_pages_only.csv")
    printed, errors = read(facts / "vm_sizes_docs.csv"), read(facts / "vm_sizes_page_errors.csv")
    collected = constrained.without_copies(printed)
    states = {row["name"]: row for row in (*sizes, *others)}
    on_pages = pages(collected, states, page_errors.by_page(errors))
    snapshot = api_rows(sizes, on_pages)
    listed = sources(facts, collected)
    gone = sorted(retired.rows(), key=lambda row: row["size"])
    known = {*states, *(row["name"] for row in collected)}
    fewer = list(constrained.rows({row["name"] for row in sizes}, known, facts))
    every = known.union((row["size"] for row in gone), (row["size"] for row in fewer))
    tables = {
        "vm_api.csv": snapshot,
        "vm_constrained.csv": fewer,
        "vm_page_properties.csv": page_properties(others),
        "vm_pages.csv": on_pages,
        "vm_caching.csv": list(caching.rows({*known})),
        "vm_retirements.csv": list(retirements.rows(every)),
        "vm_retired.csv": gone,
    }
    data = HOME / "data"
    columns = (*HEAD, "parent", *skus.PROPERTIES, *LIMITS)
    return {
        **{data / name: text(rows, used(rows, columns)) for name, rows in tables.items()},
        data / "disk_tiers.csv": text(eras.tiers(read(facts / "managed_disk_tiers.csv")), names(TierRow)),
        data / "provisioned_rules.csv": text(eras.provisioned(), names(ProvisionedRules)),
        data / "sources.csv": text(listed, names(CatalogSource)),
        HOME / "SOURCES.md": page_of_sources(listed, errors),
    }


if __name__ == "__main__":
    for path, content in make(Path(sys.argv[1])).items():
        path.write_text(content, encoding="utf-8")
