"""Kinds of inputs from outside that are no outputs of tools, for fuzz_readers.py: seeds, and what reads each.

A kind is a few whole documents, which are damaged, and a function that reads one as azbench does. It may
raise the project's own errors and nothing else.
"""

import copy
import json
import random
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from azbenchlib.advisor.demands import demand_file
from azbenchlib.azure import quota
from azbenchlib.azure.catalog import skus
from azbenchlib.azure.documents import AzDisk, AzVm
from azbenchlib.azure.prices import book, items
from azbenchlib.campaign import lock, status
from azbenchlib.campaign.detect import devices
from azbenchlib.campaign.detect.detect import _detected
from azbenchlib.campaign.files import measurement_file
from azbenchlib.campaign.journal import JOURNAL_FILE
from azbenchlib.campaign.targets.azure.existing import kind_of, shown_vm
from azbenchlib.campaign.targets.azure.probed_vm import attached_disks
from azbenchlib.campaign.workloads import fio_options
from azbenchlib.campaign.workloads.jobfile import JobFile
from azbenchlib.cli.printing import lab_view
from azbenchlib.cli.verdict import _cases
from azbenchlib.core import stated_values, targets, units
from azbenchlib.core.documents import decoded
from azbenchlib.core.errors import AzbenchError, InputError
from azbenchlib.dataset import lab_outputs, manifest
from azbenchlib.dataset.probed import PROBE_FILE, read_probe
from azbenchlib.formats import registry
from azbenchlib.formats.source import Source
from azbenchlib.lab.server import live_log
from azbenchlib.lessons.answers import IN_IOPS, parse_answer
from azbenchlib.model import VM
from azbenchlib.model.fill_from_catalogue import resolve
from azbenchlib.model.from_azure import from_az
from azbenchlib.model.notation import parse_disk
from azbenchlib.model.setup import Setup
from azbenchlib.verdict.cases.judge import judge_case
from azbenchlib.verdict.cases.schema import parsed, unknown_keys

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from support.wrappings import ARCHIVES, PREFIXES, STRINGS, tar_of, zip_of  # noqa: E402

MOST_RESOLVED = 20  # disks of a setup that is looked up in the catalogue


@dataclass(frozen=True)
class Kind:
    """Seeds, and what reads one: a folder to write into, the bytes, and whether all is to be done with it."""

    seeds: tuple[bytes, ...]
    read: Callable[[Path, bytes, bool], None]
    is_text: bool = False  # short strings
    is_tree: bool = False  # JSON or lines of it, of which values are changed


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


_MANAGED = {"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d"}
_MANAGED |= {"storageAccountType": "Premium_LRS"}
_AZ_VM = {
    "id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/v",
    "name": "v",
    "location": "westeurope",
    "zones": ["1"],
    "tags": None,
    "hardwareProfile": {"vmSize": "Standard_E8ds_v4", "vmSizeProperties": None},
    "storageProfile": {
        "imageReference": {"publisher": "Canonical", "exactVersion": "22.04.1"},
        "osDisk": {"name": "os", "caching": "ReadWrite", "diskSizeGb": 30, "managedDisk": _MANAGED},
        "dataDisks": [
            {"lun": 0, "name": "d0", "caching": "ReadOnly", "diskSizeGb": 1024, "managedDisk": _MANAGED},
            {"lun": 1, "name": "d1", "caching": None, "diskIOPSReadWrite": 9000, "diskMBpsReadWrite": 300},
        ],
    },
}
_EPHEMERAL = {"name": "o", "diffDiskSettings": {"option": "Local", "placement": "ResourceDisk"}}
_ARM_VM = {
    "type": "Microsoft.Compute/virtualMachines",
    "location": "West Europe",
    "properties": {
        "hardwareProfile": {"vmSize": "Standard_D8ds_v5"},
        "storageProfile": {
            "osDisk": _EPHEMERAL,
            "dataDisks": [{"lun": "3", "diskSizeGB": "64", "managedDisk": _MANAGED}],
        },
    },
}
_AZ_DISK = {
    "name": "d0",
    "sku": {"name": "UltraSSD_LRS", "tier": "Ultra"},
    "diskSizeGb": 1024,
    "diskSizeBytes": 1099511627776,
    "diskIopsReadWrite": 9000,
    "diskMBpsReadWrite": 300,
    "tier": None,
    "burstingEnabled": True,
    "creationData": {"createOption": "Empty", "logicalSectorSize": 4096, "performancePlus": None},
}
_ARM_DISK = {"name": "x", "sku": {"name": "Premium_LRS"}, "properties": {"diskSizeGB": "128", "tier": "P10"}}


def _read_vm(_: Path, data: bytes, whole: bool) -> None:
    shown = _decoded(data)
    setup = from_az(AzVm.parse(shown, "vm.json"))
    if whole and len(setup.disks) <= MOST_RESOLVED:
        resolve(setup, "2026-06-01")
    for attached in shown_vm(shown).storage.data_disks:
        kind_of(attached)
    for disk in attached_disks(shown):
        _ = disk.disk_id


def _read_disk(_: Path, data: bytes, whole: bool) -> None:
    setup = from_az(None, [AzDisk.parse(_decoded(data), "disk.json")])
    if whole:
        resolve(Setup(VM(size="Standard_E8ds_v4"), setup.disks), "2026-06-01")


def _decoded(data: bytes) -> Any:
    try:
        return decoded(data)
    except ValueError as error:
        raise InputError(f"no JSON: {error}") from error


_EVENTS = [
    {
        "event": "planned",
        "at": "2026-11-20T10:00:00+00:00",
        "runs": [{"run": f"raw/{name}", "title": f"4k {name}", "expected_s": 30.0} for name in "abc"],
        "design": "Each twice, in random order.",
    },
    {"event": "begun", "at": "2026-11-20T10:00:01+00:00", "run": "raw/a"},
    {
        "event": "kept",
        "at": "2026-11-20T10:00:31+00:00",
        "run": "raw/a",
        "files": {"a.json": "0" * 64, "a_clat.1.log": "1" * 64},
        "said": "4,990 IOPS",
    },
    {"event": "begun", "at": "2026-11-20T10:00:32Z", "run": "raw/b"},
    {"event": "failed", "at": "2026-11-20T10:00:40Z", "run": "raw/b", "why": "fio ended with status 1"},
    {"event": "left out", "at": "2026-11-20T10:00:41Z", "run": "raw/c", "why": "no time"},
    {"event": "damaged", "at": "2026-11-20T10:01:00Z", "run": "raw/a", "why": "a.json is gone"},
    {"event": "interrupted", "at": "2026-11-20T10:01:10Z"},
]


def _read_journal(folder: Path, data: bytes, _: bool) -> None:
    (folder / JOURNAL_FILE).write_bytes(data)
    found = status.of(folder)
    _ = [*found.lines()], json.dumps(found.to_json())


_LIVE_HEADER = {
    "azbench_lab": 1,
    "time_scale": 4,
    "floor_s": 1e-4,
    "started_unix_s": 1.7e9,
    "setup": "D8s: a",
}
_LIVE_HEADER |= {"volumes": {"a": 1073741824}, "full_credits": {"a disk_burst_iops": 1000.0}}
_LIVE_LINES = [
    {
        "unix_s": 1.7e9 + n / 5,
        "t_s": n / 20,
        "late_us": 70.5,
        "late_p50_us": 20.1,
        "done": {"a": [100 * n, 409600 * n]},
        "objects": {
            "a": {"queue_depth": 16, "cache_hit_ratio": 0.25},
            "a disk_burst_iops": {"credits": 900.0 - n, "throttled_share": 0.9},
            "vm vm_uncached_iops": {},
        },
    }
    for n in range(6)
]


def _lines(*values: Any) -> bytes:
    return b"".join(_json(value) + b"\n" for value in values)


def _read_live_log(folder: Path, data: bytes, _: bool) -> None:
    log = folder / live_log.LIVE_LOG
    log.write_bytes(data)
    lab_outputs.slowness(folder / "x.json")
    live_log.alive(log)
    lab_view.view(live_log.read(log, 64 * 1024))
    live_log.lateness_s(log)


_CASE = {
    "id": "one",
    "as_of": "2026-06-01",
    "vm": {"size": None, "uncached": {"iops": 12800, "mbps": 192}},
    "disks": [{"tier": "P30", "cache": "None", "role": "data", "size_gib": 1024, "count": 2}],
    "job": {"tool": "fio", "rw": "randread", "bs_kib": 8, "qd_total": 64, "direct": True, "runtime_s": 60},
    "demand": {"profile": "as much as there is"},
    "observed": {"iops": 4990, "clat_p99_us": 3000, "mbps": 40.9},
    "expected": {"binding": ["disk_iops"]},
}


def _read_cases(folder: Path, data: bytes, whole: bool) -> None:
    path = folder / "cases.json"
    path.write_bytes(data)
    for case in (_cases(path) or ())[:20]:
        parsed(case)
        unknown_keys(case)
        if whole:
            judge_case(case)


_DEMANDS = (
    b"name,iops,bs,read_share,size\nlog,24k,64k,0.1,100GiB\ndb,5000,8k,70%,1TiB\n",
    b"name,iops,size,zrs,burst\na,1000,64GiB,yes,600/3600:20000\nb,2000,1TiB,,\n",
)


def _read_demands(folder: Path, data: bytes, _: bool) -> None:
    text = data.decode("utf-8-sig", errors="replace")
    demand_file.workloads(folder / "w.csv", text.splitlines(keepends=True), {})


_PRICES = (
    ",".join(book.PRICE_COLUMNS)
    + "\ndisk,westeurope,Premium SSD Managed Disks,P30 LRS,P30 LRS Disk,,P30,LRS,Consumption,,USD,146.42,"
    "1/Month,2026-01-26,me\nvm,westeurope,Virtual Machines,D8ds v5,D8ds v5,Standard_D8ds_v5,,,Consumption,"
    "linux,USD,0.46,1 Hour,2026-01-26,me\n"
).encode()


def _read_prices(folder: Path, data: bytes, whole: bool) -> None:
    path = folder / "own.csv"
    path.write_bytes(data)
    for price in book.read(path):
        _ = price.per
    if whole:
        book.book("westeurope", path)


_ITEM = {
    "currencyCode": "USD", "tierMinimumUnits": 0.0, "retailPrice": 146.42, "unitPrice": 146.42,
    "armRegionName": "westeurope", "effectiveStartDate": "2025-01-01T00:00:00Z", "meterId": "m",
    "meterName": "P30 LRS Disk", "productName": "Premium SSD Managed Disks", "skuName": "P30 LRS",
    "serviceName": "Storage", "unitOfMeasure": "1/Month", "type": "Consumption", "isPrimaryMeterRegion": True,
    "armSkuName": "Premium_SSD_Managed_Disk_P30", "savingsPlan": [{"retailPrice": 1.5, "term": "1 Year"}],
}  # fmt: skip
_VM_ITEM = _ITEM | {
    "productName": "Virtual Machines DDSv5 Series",
    "skuName": "D8ds v5",
    "meterName": "D8ds v5",
}
_VM_ITEM |= {"armSkuName": "Standard_D8ds_v5", "serviceName": "Virtual Machines", "unitOfMeasure": "1 Hour"}


def _read_items(_: Path, data: bytes, __: bool) -> None:
    content = _decoded(data)
    items.rows(content if isinstance(content, list) else [content], "westeurope", "2026-06-01", "me")


_SIZE = {
    "resourceType": "virtualMachines", "name": "Standard_D8ds_v5", "family": "standardDDSv5Family",
    "locations": ["westeurope"], "restrictions": [{"type": "Zone", "restrictionInfo": {"zones": ["2"]}}],
    "locationInfo": [{"zones": ["1", "2"], "zoneDetails": [{"name": ["1"], "capabilities": [
        {"name": "UltraSSDAvailable", "value": "True"}]}]}],
    "capabilities": [{"name": name, "value": value} for name, value in {
        "vCPUs": "8", "MemoryGB": "32", "MaxDataDiskCount": "16", "UncachedDiskIOPS": "12800",
        "CachedDiskBytes": "322122547200", "MaxResourceVolumeMB": "307200", "RetirementDateUtc": "09/15/2028",
        "CombinedTempDiskAndCachedIOPS": "38500", "NvmeDiskSizeInMiB": "0"}.items()],
}  # fmt: skip
_USAGE = {"name": {"value": "cores"}, "currentValue": "4", "limit": 100}


def _read_sizes(_: Path, data: bytes, __: bool) -> None:
    skus.parse(_decoded(data), "me")


def _read_usage(_: Path, data: bytes, __: bool) -> None:
    quota.listed(_decoded(data))


_IMDS = {
    "location": "westeurope", "zone": "1", "vmSize": "Standard_D8ds_v5",
    "storageProfile": {
        "osDisk": {"name": "o", "caching": "ReadWrite", "diskSizeGB": "30",
                   "diffDiskSettings": {"option": ""}, "managedDisk": {"storageAccountType": "Premium_LRS"}},
        "dataDisks": [{"lun": "0", "caching": "None", "diskSizeGB": "1024",
                       "opsPerSecondThrottle": "979202048", "bytesPerSecondThrottle": "979202048",
                       "managedDisk": {"storageAccountType": "UltraSSD_LRS"}}],
        "resourceDisk": {"size": "16384"},
    },
}  # fmt: skip


def _read_imds(folder: Path, data: bytes, _: bool) -> None:
    _detected(devices.described(data, "http://x"), folder)


def _read_probe(folder: Path, data: bytes, _: bool) -> None:
    (folder / PROBE_FILE).write_bytes(data)
    read_probe(folder)


_INTERVAL = {"value": 5000.0, "low": 4900.0, "high": 5100.0}
_FIGURE = _INTERVAL | {"label": "Reads, IOPS cap", "state": "known", "runs": ["a"]}
_ROOF = {"ddir": "read", "bs_bytes": 4096, "low": 4900.0, "iops": 5000.0, "high": 5100.0}
_PROBE = {
    "measured": "2026-11-20",
    "figures": [
        _FIGURE | {"key": key} for key in ("read_iops", "write_iops", "read_bytes_per_s", "write_bytes_per_s")
    ],
    "sentences": ["It is a P30."],
    "names": [
        {
            "name": "P30",
            "title": "P30",
            "kind": "disk",
            "iops": 5000.0,
            "bytes_per_s": 2e8,
            "probability": 0.9,
        }
    ],
    "runs": [{"run": "a", "title": "4k", "iops": 5000.0, "nats": 1.5}],
    "roof": [_ROOF],
    "response": [{"ddir": "read", "queue_depth": 1.0, "low": 90.0, "lat_mean_us": 100.0, "high": 110.0}],
    "credits": [
        {"quantity": "iops", "burst": _INTERVAL, "base": _INTERVAL, "levels": [{"t_s": 1.0, "left": 5.0}]}
    ],
    "cache": {"steps": [{"set_bytes": 1048576, "hit_share": 0.5, "p50_us": 90.0}]},
}


def _read_lock(folder: Path, data: bytes, _: bool) -> None:
    (folder.parent / f".{folder.name}.lock").write_bytes(data)
    lock.is_held(folder)
    with lock.held(folder):
        pass


def _read_manifest(folder: Path, data: bytes, _: bool) -> None:
    (folder / manifest.MANIFEST_FILE).write_bytes(data)
    manifest.load(folder).tables()


def _read_measurement(folder: Path, data: bytes, _: bool) -> None:
    path = folder / "m.yaml"
    path.write_bytes(data)
    measurement_file.load(path)


def _read_job(folder: Path, data: bytes, whole: bool) -> None:
    (folder / "j.fio").write_bytes(data)
    job = JobFile.load("j", {"job": "j.fio"}, folder)
    job.places()
    if whole:
        _ = job.facts(), job.own_bytes, job.max_duration_s


def _option(text: str) -> None:
    name, _, value = text.partition("=")
    fio_options.check(name, value, fio_options.IN_JOB_FILES)


def _size_of_vm(text: str) -> None:
    resolve(Setup(VM(size=text), ()), "2026-06-01")


# What a user writes on a command line or in a cell: seeds, and what reads it.
_STRINGS: dict[str, tuple[tuple[str, ...], Callable[[str], object]]] = {
    "--disk": (
        (
            "P30",
            "P30x4:ReadOnly",
            "os:P4:ReadWrite",
            "ultra:128GiB/10kiops/50MBps",
            "P50/4095GiB:hit=0.5",
            "temp",
            "nvmex2",
            "ephemeral:cache",
            "pv2:1TiB/3000iops/1.2kMBps:None",
            "E10:burst:noburst",
        ),
        parse_disk,
    ),
    "--vm": (("Standard_E8ds_v4", "Standard_DS14-4_v2", "E8ds v4", "Standard_L80as_v3"), _size_of_vm),
    "size": (("100GiB", "1,024 MB", "1.5TiB", "64k", ".5 G", "12B"), units.stated_size),
    "size in a file": (("4k", "64KiB", "1.5 GiB", "8KB", "65536"), units.parse_size),
    "size of fio": (("4k", "30g", "65536", "4KiB", "1tb"), units.fio_size),
    "rate": (
        ("24000", "24,000", "1.5M", "24k", "1e3", ".5"),
        lambda text: stated_values.number("--iops", text),
    ),
    "share": (("0.7", "70%", "1e-3"), lambda text: stated_values.share("--read-share", text)),
    "duration": (("250ms", "1s", "1.5 min", "2h", "3d"), units.parse_duration),
    "block": (("4k", "64KiB", "512"), lambda text: stated_values.block("--block", text)),
    "peak": (("600/3600:20000", "600/3600:20k:300"), lambda text: demand_file.peak("--peak", text)),
    "target": (("ssh:me@host:22,[::1]", "exec:docker exec -i 'a b' , env", "local"), targets.host_addresses),
    "answer": (
        ("3,500", "~ 3 500", "3.5e3 IOPS", "190 MiB/s", "1.4 ms"),
        lambda text: parse_answer(text, IN_IOPS),
    ),
    "option of fio": (
        (
            'verify_pattern=0xff%o"ab"-12',
            "bssplit=4k/70:64k/30",
            "rw=randread:8",
            "cpus_allowed=0-3,8",
            "sync_file_range=wait_before,write:8",
            "steadystate=iops_slope:0.3%",
            "ignore_error=EIO,ENOSPC:EIO",
            "random_distribution=zoned:50/5:30/15:20/",
            "filename=a/b:c",
            "runtime=10ms",
            "buffer_pattern=123%o",
        ),
        _option,
    ),
    "unit of a price": (("1/Month", "1 GiB/Hour", "10K", "10K/Month", "3 Years"), book.unit),
    "moment": (("2026-11-20T10:00:00Z", "2026-11-20"), lambda text: pd.to_datetime(text, errors="coerce")),
}


def _read_string(_: Path, data: bytes, __: bool) -> None:
    name, _, text = data.decode(errors="replace").partition("\t")
    if name in _STRINGS:
        _STRINGS[name][1](text)


_OUTPUTS = ("fio/text/randrw.txt", "fio/randrw.json", "iozone/narrow.txt", "sysstat/sar.txt")
_DEEPEST = 9  # archives and strings in each other
_MANY_CELLS, _LONG = 20_000, 1 << 20


def _wrapped() -> tuple[bytes, ...]:
    """Outputs in all wrappings that the tests know, and in some that no program makes."""
    texts = [(ROOT / "tests" / "data" / name).read_text(encoding="utf-8") for name in _OUTPUTS]
    wrappings = (PREFIXES | STRINGS | ARCHIVES).values()
    usual = [wrap(texts[number % len(texts)]) for number, wrap in enumerate(wrappings)]
    packed, quoted = texts[0].encode(), texts[0]
    for number in range(_DEEPEST):
        packed = zip_of({"a": packed}) if number % 2 else tar_of({"a": packed, "b": b"b"}, "w:gz")
        quoted = json.dumps({"stdout": quoted}) if number < _DEEPEST // 2 else repr(quoted)
    cell = {"outputs": [{"output_type": "stream", "text": ["alpha: (g=0): rw=read\n"] * 3}]}
    odd = [
        *(
            packed,
            quoted.encode(),
            zip_of({name: text.encode() for name, text in zip("abcd", texts, strict=True)}),
        ),
        "\n".join(f"{'x' * _LONG} {line}" for line in texts[0].splitlines()[:3]).encode(),
        "".join(f"{'[a] ' * 90}{line}\n" for line in texts[0].splitlines()).encode(),
        json.dumps({"cells": [cell] * _MANY_CELLS}).encode(),
        "\n".join(texts * 3).encode(),
    ]
    return (*usual, *odd)


def _read_wrapped(_: Path, data: bytes, whole: bool) -> None:
    source = Source("wrapped", data)
    if whole:
        registry.read(source)
        return
    for part in registry.unwrapping().parts(source):
        registry.records_as(part.format, part.source)


KINDS: dict[str, Kind] = {
    "az vm": Kind((_json(_AZ_VM), json.dumps(_ARM_VM, indent=2).encode()), _read_vm, is_tree=True),
    "az disk": Kind((_json(_AZ_DISK), _json(_ARM_DISK)), _read_disk, is_tree=True),
    "az sizes": Kind((_json([_SIZE]),), _read_sizes, is_tree=True),
    "az usage": Kind((_json([_USAGE]),), _read_usage, is_tree=True),
    "items of prices": Kind((_json([_ITEM, _VM_ITEM]),), _read_items, is_tree=True),
    "price book": Kind((_PRICES,), _read_prices),
    "metadata service": Kind((_json(_IMDS),), _read_imds, is_tree=True),
    "journal": Kind((_lines(*_EVENTS), _lines(*_EVENTS[:4])), _read_journal, is_tree=True),
    "live log": Kind(
        (_lines(_LIVE_HEADER, *_LIVE_LINES), _lines(_LIVE_HEADER)), _read_live_log, is_tree=True
    ),
    "lock": Kind(
        (_json({"pid": 1, "parent": 99, "host": socket.gethostname(), "since": "2026-11-20T10:00:00Z"}),),
        _read_lock,
        is_tree=True,
    ),
    "cases": Kind((_json({"cases": [_CASE]}),), _read_cases, is_tree=True),
    "demands": Kind(_DEMANDS, _read_demands),
    "probe": Kind((_json(_PROBE),), _read_probe, is_tree=True),
    "string": Kind((), _read_string, is_text=True),
    "wrapped": Kind(_wrapped(), _read_wrapped),
}
# These have their seeds among the files of the project.
PARSERS: dict[str, Callable[[Path, bytes, bool], None]] = {
    "manifest": _read_manifest,
    "measurement file": _read_measurement,
    "fio job file": _read_job,
}
_CHARACTERS = "0123456789,./:;-+ex%_ \"'kKmMgGtTiIbBsSPpvh=[](){}\\\t\u0663\u00b2\u00bd\u202e\u00a0\ud800"


_ODD_VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        1.5,
        -0.0,
        1e308,
        float("inf"),
        float("nan"),
        2**31,
        2**63,
        10**40,
        10**300,
    ),
    *(
        "",
        " ",
        "30",
        "1,024",
        "1e999",
        "9" * 40,
        "9" * 5000,
        "-1",
        "0x1f",
        "1_0",
        "nan",
        "x",
        "\ud800",
        "\u202e",
        "é",
    ),
    *([], {}, [[]], [None], [{}], {"": None}, {"properties": {"properties": {}}}, ["1"], {"name": 5}),
    *(
        "0001-01-01T00:00:00",
        "9999-12-31T23:59:59.999-14:00",
        "2026-02-30",
        "2026-11-20T24:00:60Z",
        "../../x",
    ),
)
_DEEP = 3000


def tree(data: bytes, chance: random.Random) -> bytes:
    """Return JSON, or lines of JSON, with some of its values put in the wrong place."""
    lines = (
        data.splitlines()
        if data.count(b"\n") > 1 and data.rstrip().endswith(b"}") and data[:2] != b"{\n"
        else [data]
    )
    number = chance.randrange(len(lines))
    content = [json.loads(lines[number])]
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        places = [*_places(content)]
        parent, key = chance.choice(places)
        other, from_ = chance.choice(places)
        way = chance.randrange(8)
        if way < 4:
            parent[key] = copy.deepcopy(chance.choice(_ODD_VALUES))
        elif way == 4:
            parent[key] = json.loads(json.dumps(other[from_]))
        elif way == 5 and isinstance(parent, dict):
            parent[chance.choice([key.upper(), key.lower(), key + "s", "properties"])] = parent.pop(key)
        elif way == 6:
            n_times = chance.choice([0, 1, 2, 1200])
            is_small = not isinstance(parent[key], dict | list) or not parent[key]
            parent[key] = [
                copy.deepcopy(parent[key]) for _ in range(n_times if is_small else min(n_times, 2))
            ]
        elif parent is not content:
            del parent[key]
    text = json.dumps(content[0])
    if chance.random() < 0.02:
        text = text.replace(":", f':{"[" * _DEEP}1{"]" * _DEEP},"x":', 1)
    if chance.random() < 0.02:
        text = text.replace("1", "9" * 5000, 1)
    return b"\n".join([*lines[:number], text.encode(), *lines[number + 1 :], b""])


def _places(part: Any) -> Iterator[tuple[Any, Any]]:
    """Return all values of a tree, as what holds them and where."""
    for key in [*part] if isinstance(part, dict) else range(len(part)):
        yield part, key
        if isinstance(part[key], dict | list):
            yield from _places(part[key])


def string(chance: random.Random) -> bytes:
    """Return a string of one of the forms that a user writes, damaged."""
    name = chance.choice([*_STRINGS])
    seeds = _STRINGS[name][0]
    text = chance.choice(seeds)
    for _ in range(chance.choice([1, 1, 2, 3, 5])):
        place = chance.randrange(len(text) + 1)
        way = chance.randrange(6)
        if way == 0:
            text = text[:place] + chance.choice(_CHARACTERS) + text[place:]
        elif way == 1:
            text = text[:place] + text[place + 1 :]
        elif way == 2:
            text = text[:place] + chance.choice(seeds)[-chance.randrange(1, 9) :] + text[place:]
        elif way == 3:
            text = text[:place] + chance.choice(_CHARACTERS) * chance.choice([2, 9, 40]) + text[place:]
        elif way == 4:
            text = (
                text[:place]
                + chance.choice(["inf", "nan", "1e999", "-1", "0x1f", "\u0663", "1_0"])
                + text[place:]
            )
        else:
            text = text[:place] + text[:place] + text[place:]
    if chance.random() < 0.02:
        text = (
            text[:1]
            + chance.choice(["9", "1,", "0.", "a", "%o1"]) * chance.choice([50, 3000, 20_000])
            + text[1:]
        )
    return f"{name}\t{text}".encode(errors="replace")


def error_of(kind: str, folder: Path, data: bytes, whole: bool) -> AzbenchError | None:
    """Read an input of a kind; the project's own error, if it is refused."""
    read = KINDS[kind].read if kind in KINDS else PARSERS[kind]
    try:
        read(folder, data, whole)
    except AzbenchError as error:
        str(error).encode()  # a sentence must be printable
        return error
    return None
