"""What is wanted of disks and VMs, as options: one type and one help a name, whichever verb has it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

import typer

from azbenchlib.core.choices import DEFAULT_REGION
from azbenchlib.core.units import SIZE_RULE

Value = TypeVar("Value")  # a text, or None where a verb has no default that it shows

IopsOption = Annotated[
    str | None,
    typer.Option(help="I/Os per second; 24k is 24000. `azbench cost` bills those of each Standard disk."),
]
BsOption = Annotated[
    Value,
    typer.Option(
        help="Size of an I/O, such as 8k, which is 8KiB; `azbench limits` takes several, with commas between "
        "them. Default of `azbench advise`: 4KiB.",
    ),
]
SizeOption = Annotated[
    Value,
    typer.Option(
        help="How much data disks must have room for, or a probe touches, such as 2TiB. Default of "
        f"`azbench size`: any disk has room. {SIZE_RULE}.",
    ),
]
ReadShareOption = Annotated[
    str | None,
    typer.Option(
        help="Share of reads, 0.7 or 70%; writes are the rest. Default of `azbench advise`: 70%; of `azbench "
        "limits`: 100%, reads only.",
    ),
]
LatencyOption = Annotated[
    str | None,
    typer.Option(
        help="Class of the disks: any, ssd, premium, submillisecond or local. Default of `azbench advise`: "
        "ssd, and any for I/Os of 256 KiB and more; of `azbench size`: premium.",
    ),
]
ZrsOption = Annotated[bool, typer.Option("--zrs", help="Zone-redundant disks only.")]
HitOption = Annotated[str | None, typer.Option(help="Share of reads that a host cache serves. Default: 0.")]
HeadroomOption = Annotated[
    str | None,
    typer.Option(
        help="The limits have to carry so many times the load. Default of `azbench advise`: 1.2; of `azbench "
        "size`: 1.",
    ),
]
VcpusOption = Annotated[str | None, typer.Option(help="Least number of vCPUs.")]
RamOption = Annotated[str | None, typer.Option(help="Least memory, such as 64GiB.")]
ArchOption = Annotated[str | None, typer.Option(help="CPU architecture: any, x64 or arm64. Default: x64.")]
BurstableOption = Annotated[
    bool, typer.Option("--burstable", help="VMs whose CPU lives on credits (B-series) too.")
]
AnyFamilyOption = Annotated[
    bool,
    typer.Option(
        "--any-family",
        help="VMs of previous generations and special families (GPU, HPC, confidential) too.",
    ),
]
MaxDisksOption = Annotated[str | None, typer.Option(help="Most disks of a volume, 1 to 64. Default: 8.")]
WithNvmeOption = Annotated[
    bool,
    typer.Option(
        "--with-nvme",
        help="The image has NVMe drivers: VM sizes that take disks over SCSI or NVMe have their limits over "
        "NVMe. Default: over SCSI.",
    ),
]
StrictlyCheapestOption = Annotated[
    bool,
    typer.Option(
        "--strictly-cheapest",
        help="Recommend the cheapest, however many disks it has. Default: the fewest disks within 5 % of it.",
    ),
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        help="Also write report.html and report.pdf into this folder. `azbench advise`: two pages with three "
        "designs and ways to pay; `azbench size`: the load on its designs over time, with limits and credits."
    ),
]
RegionOption = Annotated[
    Value,
    typer.Option(
        help="Azure region, such as westeurope. `azbench advise` takes several, or world for every one; its "
        f"default and that of `azbench size` is {DEFAULT_REGION}.",
    ),
]
