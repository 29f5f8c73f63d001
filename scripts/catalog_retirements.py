"""The days on which Azure retires VM sizes, as Microsoft's lifecycle pages print them.

Used by make_catalog.py. The list of all series was read on 2026-11-26; series that it no longer names have
the page that announced their retirement. What the resource-SKU API states of a size goes before both.
"""

import re
from collections.abc import Collection, Iterator

Row = dict[str, str]
_COMPUTE, _AZURE = "MicrosoftDocs/azure-compute-docs", "MicrosoftDocs/azure-docs"
_LIFECYCLE = "articles/virtual-machines/sizes/lifecycle/"
_GUIDES = "articles/virtual-machines/sizes/migration-guides/"
# source_id, repository, path, commit, date
_PAGES = (
    ("retirements@680de971", _COMPUTE, _LIFECYCLE + "retirements-and-capacity-restrictions.md",
     "680de9713fdd3fde858f4083d88145627149ebeb", "2026-09-24"),
    ("av1-retirement@add377b4", _COMPUTE, _LIFECYCLE + "retirement/av1-series-retirement.md",
     "add377b4d2436f42f20c560201698a109a5c16e9", "2022-06-08"),
    ("nd-retirement@272c12d9", _COMPUTE, _LIFECYCLE + "retirement/nd-series-retirement.md",
     "272c12d99fd27f90cca70a973d891556aea20c47", "2023-02-27"),
    ("nv-retirement@a18807c4", _COMPUTE, _LIFECYCLE + "retirement/nv-series-retirement.md",
     "a18807c4fcf50a76173edcbb264bc171197922a7", "2023-02-27"),
    ("nc-retirement@02affc86", _AZURE, _GUIDES + "nc-series-retirement.md",
     "02affc86f41ba9094cf5cfbe0727a30b758f516e", "2022-12-20"),
    ("ncv2-retirement@4b68cfaa", _AZURE, _GUIDES + "ncv2-series-retirement.md",
     "4b68cfaa8826fa4344d57bea1788cd06e5bfe7a6", "2022-11-21"),
    ("h-retirement@092fdbcf", _AZURE, "articles/virtual-machines/h-series-retirement.md",
     "092fdbcf3965f2f7bb321bf0bcdfe46220115609", "2021-08-02"),
    ("hb-retirement@31d09241", _AZURE, "articles/virtual-machines/hb-series-retirement.md",
     "31d09241f323a6c2df3f701faae2260b269d3bc1", "2021-08-02"),
)  # fmt: skip
SOURCES = tuple((source_id, "documentation page", *place) for source_id, *place in _PAGES)
_LIST = "retirements@680de971"
_OWN_PAGE = "the series' own page says 2026-08-01"
_OLD = "page of before the day: it may have been put off"
# The names of a series' sizes; day; source; note.
_SERIES = (
    (r"Standard_DS?\d+(-\d+)?(_v2)?(_Promo)?", "2028-05-01", _LIST, ""),
    (r"Standard_A\d+m?_v2", "2028-11-15", _LIST, ""),
    (r"Standard_B\d+(ls|s|ms)", "2028-11-15", _LIST, ""),
    (r"Standard_[DE]\d+(-\d+)?i?s?_v3", "2029-11-15", _LIST, "not in sovereign clouds"),
    (r"Standard_DC\d+s?_v2", "2026-06-30", _LIST, ""),
    (r"Standard_[DE]C\d+ad?s_cc_v5", "2026-09-01", _LIST, _OWN_PAGE),
    (r"Standard_DC\d+d?s_v3", "2029-10-31", _LIST, ""),
    (r"Standard_F\d+s?(_v2)?", "2028-11-15", _LIST, ""),
    (r"Standard_GS?\d+(-\d+)?", "2028-11-15", _LIST, ""),
    (r"Standard_M192id?m?s_v2", "2027-03-31", _LIST, ""),
    (r"Standard_L\d+s", "2028-05-01", _LIST, ""),
    (r"Standard_L\d+s_v2", "2028-11-15", _LIST, ""),
    (r"Standard_NC\d+r?s_v3", "2025-09-30", _LIST, ""),
    (r"Standard_NV\d+s_v3", "2026-09-30", _LIST, ""),
    (r"Standard_NV\d+as_v4", "2026-09-30", _LIST, ""),
    (r"Standard_NP\d+s", "2027-05-31", _LIST, ""),
    (r"Standard_HC44(-\d+)?rs", "2027-05-31", _LIST, ""),
    (r"Standard_HB120(-\d+)?rs_v2", "2027-05-31", _LIST, ""),
    (r"(Basic|Standard)_A\d+", "2024-08-31", "av1-retirement@add377b4", ""),
    (r"Standard_NC\d+r?", "2023-09-06", "nc-retirement@02affc86", ""),
    (r"Standard_NC\d+r?s_v2", "2023-09-06", "ncv2-retirement@4b68cfaa", ""),
    (r"Standard_ND\d+r?s", "2023-09-06", "nd-retirement@272c12d9", ""),
    (r"Standard_NV\d+", "2023-09-06", "nv-retirement@a18807c4", ""),
    (r"Standard_H\d+m?r?", "2022-08-31", "h-retirement@092fdbcf", _OLD),
    (r"Standard_HB60(-\d+)?rs", "2024-08-31", "hb-retirement@31d09241", _OLD),
)


def rows(known: Collection[str]) -> Iterator[Row]:
    """A row for each known size that has a day of retirement.

    Raises
    ------
    SystemExit
        When a series has no size that is known, or a size is of two series.
    """
    days: dict[str, Row] = {}
    for pattern, day, source_id, note in _SERIES:
        sizes = [size for size in known if re.fullmatch(pattern, size)]
        if not sizes or days.keys() & sizes:
            raise SystemExit(f"{pattern}: no size, or one that another series has too")
        days |= {
            size: {"size": size, "source_id": source_id, "note": note, "retires_on": day} for size in sizes
        }
    yield from (days[size] for size in sorted(days))
