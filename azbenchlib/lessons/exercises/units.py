"""Lesson 1: two limits, and units that look alike."""

from __future__ import annotations

from random import Random

from azbenchlib.core.units import KB, KIB, MB, MIB
from azbenchlib.lessons.answers import IN_IOPS, IN_MB_PER_S
from azbenchlib.lessons.check import Exercise, Misconception
from azbenchlib.model import Cap, Disk, Load, Setup, deliver

_BITS = 8


def _delivered(iops: float, mbps: float, bs_bytes: int) -> tuple[float, float]:
    """I/Os and bytes per second of a disk with these two limits."""
    disk = Disk(name="data", cap=Cap(iops=iops, bytes_per_s=mbps * MB))
    got = deliver(Setup(disks=(disk,)), [Load(volume="data", bs_bytes=bs_bytes)])
    return got.iops or 0.0, got.bytes_per_s or 0.0


def rate_of_large_blocks(iops: int, mbps: int, kib: int) -> Exercise:
    """IOPS where the MB/s limit binds."""
    right, _ = _delivered(iops, mbps, kib * KIB)
    wrong = [
        Misconception(
            "the IOPS limit alone",
            float(iops),
            "Two limits hold at once. How many bytes per second would so many I/Os of this size be?",
        ),
        Misconception(
            "MiB for MB",
            mbps * MIB / (kib * KIB),
            "The limit is in MB/s, and a MB has 1,000,000 bytes; a KiB has 1,024.",
        ),
        Misconception(
            "KB for KiB",
            mbps * MB / (kib * KB),
            "The block size is in KiB of 1,024 bytes; only the limit counts in powers of ten.",
        ),
        Misconception(
            "bits for bytes",
            mbps * MB / _BITS / (kib * KIB),
            "MB/s are megabytes; networks count in bits, disks do not.",
        ),
        Misconception(
            "both limits added",
            iops + right,
            "All I/Os are under both limits at once, so the lower one binds; limits of one disk are never "
            "added.",
        ),
    ]
    return Exercise(
        question=f"A disk allows {iops:,} IOPS and {mbps} MB/s. How many IOPS does it reach in blocks of "
        f"{kib} KiB?",
        unit=IN_IOPS,
        right=right,
        misconceptions=wrong,
        hint="Write both limits as I/Os per second at this block size, and think which is reached first.",
        law="The lower one of two rates: the IOPS limit, and the MB/s limit in bytes ÷ the bytes of a block",
        working=f"the lower one of {iops:,} and {mbps} × 1,000,000 ÷ ({kib} × 1,024)",
    )


def throughput_of_small_blocks(iops: int, mbps: int, kib: int) -> Exercise:
    """MB/s where the IOPS limit binds."""
    _, right = _delivered(iops, mbps, kib * KIB)
    wrong = [
        Misconception(
            "the MB/s limit alone",
            float(mbps * MB),
            "Two limits hold at once. How many I/Os of this size would so many bytes be?",
        ),
        Misconception(
            "KB for KiB",
            float(iops * kib * KB),
            "A KiB has 1,024 bytes; the result counts in MB of 1,000,000 bytes.",
        ),
        Misconception(
            "MiB for MB",
            iops * kib * KIB / MIB * MB,
            "The figure is right in MiB/s; the question is about MB/s of 1,000,000 bytes per second.",
        ),
        Misconception(
            "bits for bytes",
            float(iops * kib * KIB * _BITS),
            "The question is about megabytes; there is nothing to multiply by eight.",
        ),
    ]
    return Exercise(
        question=f"A disk allows {iops:,} IOPS and {mbps} MB/s. How many MB/s does it reach in blocks of "
        f"{kib} KiB?",
        unit=IN_MB_PER_S,
        right=right,
        misconceptions=wrong,
        hint="How many bytes does one I/O move, and how many I/Os are allowed each second?",
        law="The lower one of two rates: the MB/s limit, and the IOPS limit × the bytes of a block",
        working=f"the lower one of {mbps} and {iops:,} × {kib} × 1,024 ÷ 1,000,000",
    )


def _large(draw: Random) -> Exercise:
    return rate_of_large_blocks(
        draw.randrange(2_000, 20_001, 100), draw.randrange(60, 900, 5), draw.choice((32, 64, 128, 256))
    )


def _small(draw: Random) -> Exercise:
    return throughput_of_small_blocks(
        draw.randrange(300, 8_001, 100), draw.randrange(100, 500, 5), draw.choice((4, 8, 16, 32))
    )


UNIT_MAKERS = {"rate": _large, "throughput": _small}
