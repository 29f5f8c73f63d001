"""VM sizes that Azure has retired, and that the collected pages lack: what the pages of their time print.

Used by make_catalog.py. Of most of them no limit of the temp disk is documented; their rows say that the size
is known, what memory it had, and where that is written.
"""

from collections.abc import Iterator

from azbenchlib.core.units import GIB, MB

Row = dict[str, str]
_AZURE, _FOLDER = "MicrosoftDocs/azure-docs", "articles/virtual-machines/"
# source_id, page, commit, date
_PAGES = (
    ("h-series@00ae202d", "h-series.md", "00ae202d3387da443c7ff4ac508408876ac2d8c1", "2020-03-10"),
    ("nc-series@080d504c", "nc-series.md", "080d504c3920b7396039f27004d8fa27abf50e34", "2020-02-03"),
    ("ncv2-series@0a2d242b", "ncv2-series.md", "0a2d242bdd11e01967eb4e9de76489d309dc4cb9", "2020-02-03"),
    ("nd-series@1118dcde", "nd-series.md", "1118dcde5405ea5754272ed4cb7adac7a5800698", "2020-02-03"),
    ("nv-series@015ce189", "nv-series.md", "015ce189e22eb6cd35e85a11530334a3f42ec573", "2022-03-29"),
    ("dc-series@7bcc8f60", "dc-series.md", "7bcc8f6078a49457b090994058578bf319677878", "2020-02-03"),
    ("hb-series@00e046fd", "hb-series.md", "00e046fdd31b252b88de7f61be9023afc3dd5b31", "2020-10-09"),
    ("sizes-previous-gen@092fdbcf", "sizes-previous-gen.md", "092fdbcf3965f2f7bb321bf0bcdfe46220115609",
     "2020-11-01"),
)  # fmt: skip
SOURCES = tuple(
    (source_id, "documentation page", _AZURE, _FOLDER + page, commit, date)
    for source_id, page, commit, date in _PAGES
)
# size: memory in GiB, temp disk in GiB, data disks
_H, _NC, _NV = "h-series@00ae202d", "nc-series@080d504c", "nv-series@015ce189"
_A, _HB = "sizes-previous-gen@092fdbcf", "hb-series@00e046fd"
_WITHOUT_LIMITS = {
    _H: {
        "Standard_H8": (56, 1000, 32), "Standard_H16": (112, 2000, 64), "Standard_H8m": (112, 1000, 32),
        "Standard_H16m": (224, 2000, 64), "Standard_H16r": (112, 2000, 64), "Standard_H16mr": (224, 2000, 64),
    },
    _NC: {
        "Standard_NC6": (56, 340, 24), "Standard_NC12": (112, 680, 48), "Standard_NC24": (224, 1440, 64),
        "Standard_NC24r": (224, 1440, 64),
    },
    _NV: {
        "Standard_NV6": (56, 340, 24), "Standard_NV12": (112, 680, 48), "Standard_NV24": (224, 1440, 64),
    },
    _A: {
        "Basic_A0": (0.75, 20, 1), "Basic_A1": (1.75, 40, 2), "Basic_A2": (3.5, 60, 4),
        "Basic_A3": (7, 120, 8), "Basic_A4": (14, 240, 16),
        "Standard_A0": (0.768, 20, 1), "Standard_A1": (1.75, 70, 2), "Standard_A2": (3.5, 135, 4),
        "Standard_A3": (7, 285, 8), "Standard_A4": (14, 605, 16), "Standard_A5": (14, 135, 4),
        "Standard_A6": (28, 285, 8), "Standard_A7": (56, 605, 16), "Standard_A8": (56, 382, 32),
        "Standard_A9": (112, 382, 64), "Standard_A10": (56, 382, 32), "Standard_A11": (112, 382, 64),
    },
    _HB: {"Standard_HB60rs": (240, 700, 4)},
}  # fmt: skip
# Those with premium storage: uncached IOPS and MB/s as well, and of DC cached IOPS, MB/s and GiB of cache.
_NC2, _ND, _DC = "ncv2-series@0a2d242b", "nd-series@1118dcde", "dc-series@7bcc8f60"
_WITH_LIMITS = {
    _NC2: {
        "Standard_NC6s_v2": (112, 736, 12, 20_000, 200), "Standard_NC12s_v2": (224, 1474, 24, 40_000, 400),
        "Standard_NC24s_v2": (448, 2948, 32, 80_000, 800), "Standard_NC24rs_v2": (448, 2948, 32, 80_000, 800),
    },
    _ND: {
        "Standard_ND6s": (112, 736, 12, 20_000, 200), "Standard_ND12s": (224, 1474, 24, 40_000, 400),
        "Standard_ND24s": (448, 2948, 32, 80_000, 800), "Standard_ND24rs": (448, 2948, 32, 80_000, 800),
    },
    _DC: {
        "Standard_DC2s": (8, 100, 2, 3_200, 48, 4_000, 32, 43),
        "Standard_DC4s": (16, 200, 4, 6_400, 96, 8_000, 64, 86),
    },
}  # fmt: skip
_NO_LIMIT = "retired; the page prints no limit of the VM or of its temp disk"


def rows() -> Iterator[Row]:
    """A row for each size, in the columns of the catalogue's pages."""
    for table in (_WITHOUT_LIMITS, _WITH_LIMITS):
        for source_id, sizes in table.items():
            for size, (memory, temp, disks, *limits) in sizes.items():
                note = "retired" if limits else _NO_LIMIT
                found = {"size": size, "source_id": source_id, "note": note}
                found |= {"memory_bytes": _bytes(memory), "temp_bytes": _bytes(temp)}
                found |= {"max_data_disks": str(disks)} | _limits(*limits)
                yield found


def _limits(iops: int = 0, mbps: int = 0, cached_iops: int = 0, cached_mbps: int = 0, gib: int = 0) -> Row:
    values = {
        "uncached_iops": iops,
        "uncached_bytes_per_s": mbps * MB,
        "cached_iops": cached_iops,
        "cached_bytes_per_s": cached_mbps * MB,
        "cache_bytes": gib * GIB,
    }
    found = {name: str(round(value)) for name, value in values.items() if value}
    found |= {"premium_io": str(bool(iops))}
    return found | ({"caching": "True"} if gib else {})


def _bytes(gib: float) -> str:
    return str(round(gib * GIB))
