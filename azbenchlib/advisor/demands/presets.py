"""Workloads by name: what fills in the parts of a demand that nobody stated, each with its source.

They know the size of I/Os, their direction and the latency that a program needs. How many there are, and how
much data, only its user knows; a preset says that only where a requirement is published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from azbenchlib.core.errors import InputError

_SQL = "learn.microsoft.com/sql/relational-databases"
_OURS = "our judgement"
_SQL_ON_AZURE = (
    "learn.microsoft.com/azure/azure-sql/virtual-machines/windows/performance-guidelines-best-practices"
)
_SQL_VM = {"vcpus": "4", "ram_per_vcpu": "8GiB"}
_SQL_VM_SOURCES = {
    "vcpus": f"{_SQL_ON_AZURE}-vm-size (2025): 4 vCPUs or more",
    "ram_per_vcpu": f"{_SQL_ON_AZURE}-vm-size (2025): memory optimised sizes, 8 GiB a vCPU",
}
_SQL_LICENCE = "the licence of SQL Server is not in the price, whatever the operating system"


@dataclass(frozen=True)
class Preset:
    """What a workload is like: texts by column of a demand, what it is, and the source of each text.

    `left_out` is what an architect would look for in the answer and not find; empty: nothing.
    """

    what: str
    texts: Mapping[str, str]
    sources: Mapping[str, str]
    left_out: str = ""

    def filling(self, own: Mapping[str, str]) -> dict[str, str]:
        """The texts that hold beside a user's own, by column: who names a VM size or a pattern has decided on
        its CPU and memory, and who states the memory needs none for each vCPU.
        """
        decided = {"ram_per_vcpu"} if "ram" in own else set()
        if "vm" in own:
            decided |= {"vcpus", "ram", "ram_per_vcpu"}
        return {column: text for column, text in self.texts.items() if column not in {*decided, *own}}


PRESETS: dict[str, Preset] = {
    "sql-server": Preset(
        "data files of SQL Server",
        {"bs": "8KiB", "read_share": "0.7", "latency": "premium", **_SQL_VM},
        {
            "bs": f"a page is 8 KB: {_SQL}/pages-and-extents-architecture-guide (2025)",
            "read_share": _OURS,
            "latency": f"{_SQL_ON_AZURE}-storage (2025): Premium SSD or faster",
            **_SQL_VM_SOURCES,
        },
        _SQL_LICENCE,
    ),
    "sql-server-log": Preset(
        "transaction log of SQL Server",
        {"bs": "60KiB", "read_share": "0", "latency": "premium", **_SQL_VM},
        {
            "bs": "a log block has 60 KB at most: "
            f"{_SQL}/sql-server-transaction-log-architecture-and-management-guide (2025)",
            "read_share": _OURS,
            "latency": "as for the data files",
            **_SQL_VM_SOURCES,
        },
        _SQL_LICENCE,
    ),
    "postgresql": Preset(
        "PostgreSQL",
        {"bs": "8KiB", "read_share": "0.7", "latency": "premium", "ram_per_vcpu": "4GiB"},
        {
            "bs": "block_size is 8192: postgresql.org/docs/17/runtime-config-preset.html",
            "read_share": _OURS,
            "latency": _OURS,
            "ram_per_vcpu": _OURS,
        },
    ),
    "oracle": Preset(
        "data files of Oracle Database",
        {"bs": "8KiB", "read_share": "0.7", "latency": "premium", "ram_per_vcpu": "8GiB"},
        {
            "bs": "DB_BLOCK_SIZE is 8192: Oracle Database Reference 19c",
            "read_share": _OURS,
            "latency": _OURS,
            "ram_per_vcpu": f"{_OURS}: a licence is paid by the vCPU, so its memory is not saved on",
        },
        "the licence of Oracle Database is not in the price",
    ),
    "cassandra": Preset(
        "Apache Cassandra",
        {"bs": "16KiB", "read_share": "0.5", "latency": "premium", "ram_per_vcpu": "4GiB"},
        {
            "bs": "chunk_length_in_kb is 16: "
            "cassandra.apache.org/doc/4.1/cassandra/operating/compression.html",
            "read_share": _OURS,
            "latency": _OURS,
            "ram_per_vcpu": "8 GB for 2 cores at least, 32 GB for 8 cores: "
            "cassandra.apache.org/doc/4.1/cassandra/operating/hardware.html",
        },
    ),
    "kafka": Preset(
        "the log of Apache Kafka",
        {"bs": "1MiB", "read_share": "0.1", "ram": "32GiB"},
        {
            "bs": "appended and read in long runs, through the page cache: "
            "kafka.apache.org/documentation/#persistence; 1 MiB is our judgement",
            "read_share": "consumers read what the page cache still has; 0.1 is our judgement",
            "ram": "the page cache serves the consumers; 32 GB at least: "
            "docs.confluent.io/platform/current/kafka/deployment.html (2025)",
        },
    ),
    "hana-log": Preset(
        "the log volume of SAP HANA",
        {"mbps": "250", "bs": "1MiB", "read_share": "0", "latency": "submillisecond"},
        dict.fromkeys(
            ("mbps", "bs", "read_share", "latency"),
            "250 MB/s of writes of 1 MB, and 1 ms for small ones: "
            "learn.microsoft.com/azure/sap/workloads/hana-vm-operations-storage (2025)",
        ),
        "whether SAP certifies the VM size for HANA is not looked at, and its licence is not in the price",
    ),
    "ci": Preset(
        "a build machine, whose disks may be lost",
        {"bs": "16KiB", "read_share": "0.5", "not_persistent": "yes"},
        dict.fromkeys(("bs", "read_share", "not_persistent"), _OURS),
    ),
    "dev-box": Preset(
        "a developer's machine, idle most of the time",
        {"iops": "500", "read_share": "0.5", "burstable": "yes"},
        dict.fromkeys(("iops", "read_share", "burstable"), _OURS),
    ),
}


def preset(name: str) -> Preset:
    """The workload of a name.

    Raises
    ------
    InputError
        When there is none.
    """
    if name not in PRESETS:
        raise InputError(f"preset '{name}' is not one of: {', '.join(PRESETS)}")
    return PRESETS[name]
