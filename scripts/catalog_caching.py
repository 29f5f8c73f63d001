"""What the pages of the VM series say of "Premium Storage caching", where the API states no cache size.

Used by make_catalog.py. Read on 2026-11-23 in MicrosoftDocs/azure-compute-docs; sizes are those of each
page's table "Sizes in series". None of the pages prints a cached limit or a cache size. Pages of sizes
without Premium storage are left out: what they deny is Premium storage, not caching for other disks.
"""

from collections.abc import Collection, Iterator

Row = dict[str, str]
_REPOSITORY, _FOLDER = "MicrosoftDocs/azure-compute-docs", "articles/virtual-machines/"
_2_96, _2_128, _2_160 = "2 4 8 16 32 48 64 96", "2 4 8 16 32 48 64 96 128", "2 4 8 16 32 48 64 96 128 160"
_E_96, _2_64, _1_80 = "2 4 8 16 20 32 48 64 96", "2 4 8 16 32 48 64", "1 2 4 8 16 32 48 64 80"
_E_128, _EC_CC, _DC_CC = f"{_E_96} 128", "4 8 16 20 32 48 64 96", "4 8 16 32 48 64 96"
_B, _B_LOW, _FX = "2 4 8 16 32", "2 4 8 16", "2 4 8 12 16 24 32 48 64 96"
_L, _L_V3 = "2 4 8 16 32 48 64 80", "8 16 32 48 64 80"
_GENERAL, _MEMORY = "sizes/general-purpose/", "sizes/memory-optimized/"
_COMPUTE, _STORAGE = "sizes/compute-optimized/", "sizes/storage-optimized/"
# folder, series, commit, date, {form of the size: the numbers in it}
_SUPPORTED = (
    (_GENERAL, "basv2", "2e4af98705e2ace519e313d40c5de3c3c7cc45a7", "2026-03-10",
     {"B{}ats_v2": "2", "B{}als_v2": _B, "B{}as_v2": _B}),
    (_GENERAL, "bpsv2", "3b30912d4539fd7ced075085414a6d0bbc4dd403", "2026-03-10",
     {"B{}pts_v2": "2", "B{}pls_v2": _B_LOW, "B{}ps_v2": _B_LOW}),
    (_GENERAL, "bsv2", "2072bfd7009384b9fde1357342d91953104e293d", "2026-03-10",
     {"B{}ts_v2": "2", "B{}ls_v2": _B, "B{}s_v2": _B}),
    (_GENERAL, "dadsv5", "3b30912d4539fd7ced075085414a6d0bbc4dd403", "2026-03-10", {"D{}ads_v5": _2_96}),
    (_GENERAL, "dasv5", "2072bfd7009384b9fde1357342d91953104e293d", "2026-03-10", {"D{}as_v5": _2_96}),
    (_GENERAL, "ddsv5", "1421aebc3fffd1a74dfea03735683cbca9693c9c", "2024-07-29", {"D{}ds_v5": _2_96}),
    (_GENERAL, "dldsv5", "2e4af98705e2ace519e313d40c5de3c3c7cc45a7", "2026-03-10", {"D{}lds_v5": _2_96}),
    (_GENERAL, "dlsv5", "2e4af98705e2ace519e313d40c5de3c3c7cc45a7", "2026-03-10", {"D{}ls_v5": _2_96}),
    (_GENERAL, "dsv5", "005f8f6e0693849201f057b38475bfaecb85b3e8", "2026-02-27", {"D{}s_v5": _2_96}),
    (_GENERAL, "dadsv6", "1827cf353b07fd08b3141bd2e40291e1dbdd4a5f", "2024-07-29", {"D{}ads_v6": _2_96}),
    (_GENERAL, "daldsv6", "1dc6d3b8a9340908bc53610bc739534ec59b56d0", "2024-07-29", {"D{}alds_v6": _2_96}),
    (_GENERAL, "dalsv6", "05e75b148472c25ac534a9957b0af264acab5f6b", "2024-07-29", {"D{}als_v6": _2_96}),
    (_GENERAL, "dasv6", "0105af06d58a00ab3fe677e69e913956bf81e7e5", "2026-03-10", {"D{}as_v6": _2_96}),
    (_GENERAL, "ddsv6", "0e232f5f28de94b5f87166fa2ef26ec44eea95de", "2024-07-29", {"D{}ds_v6": _2_128}),
    (_GENERAL, "dldsv6", "02773904e1bc237bc0c6251323af05c0dc7f5c3b", "2026-01-28", {"D{}lds_v6": _2_128}),
    (_GENERAL, "dlsv6", "1827cf353b07fd08b3141bd2e40291e1dbdd4a5f", "2026-01-28", {"D{}ls_v6": _2_128}),
    (_GENERAL, "dsv6", "05e75b148472c25ac534a9957b0af264acab5f6b", "2024-07-29",
     {"D{}s_v6": f"{_2_128} 192"}),
    (_GENERAL, "dpdsv6", "011022eab6273b049be7665ee3d8befc255c696b", "2026-01-05", {"D{}pds_v6": _2_96}),
    (_GENERAL, "dpldsv6", "28da8f72862f76ddba8ed207df00384ffff76c9e", "2026-03-10", {"D{}plds_v6": _2_96}),
    (_GENERAL, "dplsv6", "02cc6b3c04e8584c4ae66cb4253ded81d2523a12", "2026-01-05", {"D{}pls_v6": _2_96}),
    (_GENERAL, "dpsv6", "2072bfd7009384b9fde1357342d91953104e293d", "2026-03-10", {"D{}ps_v6": _2_96}),
    (_GENERAL, "dadsv7", "02773904e1bc237bc0c6251323af05c0dc7f5c3b", "2026-01-26", {"D{}ads_v7": _2_160}),
    (_GENERAL, "daldsv7", "02773904e1bc237bc0c6251323af05c0dc7f5c3b", "2026-01-21", {"D{}alds_v7": _2_160}),
    (_GENERAL, "dalsv7", "05e75b148472c25ac534a9957b0af264acab5f6b", "2026-01-21", {"D{}als_v7": _2_160}),
    (_GENERAL, "dasv7", "02773904e1bc237bc0c6251323af05c0dc7f5c3b", "2026-01-21", {"D{}as_v7": _2_160}),
    (_GENERAL, "ddsv7", "05e75b148472c25ac534a9957b0af264acab5f6b", "2026-02-02",
     {"D{}ds_v7": f"{_2_128} 192 248 372"}),
    (_GENERAL, "dldsv7", "09a31d03b38a2c27fa3f3519e9a87d7611b4818c", "2024-07-29",
     {"D{}lds_v7": f"{_2_128} 192 248"}),
    (_GENERAL, "dlsv7", "0920f3708258029a7c754d7f657b4dc7b9e18331", "2026-02-02",
     {"D{}ls_v7": f"{_2_128} 192 248"}),
    (_GENERAL, "dsv7", "05e75b148472c25ac534a9957b0af264acab5f6b", "2026-02-02",
     {"D{}s_v7": f"{_2_128} 192 248 372"}),
    (_GENERAL, "dcadsccv5", "2072bfd7009384b9fde1357342d91953104e293d", "2026-03-10",
     {"DC{}ads_cc_v5": _DC_CC}),
    (_GENERAL, "dcasccv5", "1827cf353b07fd08b3141bd2e40291e1dbdd4a5f", "2024-07-30",
     {"DC{}as_cc_v5": _DC_CC}),
    (_GENERAL, "dcadsv5", "1a043fb3a20b0f90dff80bad2dd8cbdff8984386", "2024-07-30", {"DC{}ads_v5": _2_96}),
    (_GENERAL, "dcasv5", "2072bfd7009384b9fde1357342d91953104e293d", "2026-03-10", {"DC{}as_v5": _2_96}),
    (_GENERAL, "dcadsv6", "2072bfd7009384b9fde1357342d91953104e293d", "2026-03-10", {"DC{}ads_v6": _2_96}),
    (_GENERAL, "dcasv6", "05e75b148472c25ac534a9957b0af264acab5f6b", "2025-09-11", {"DC{}as_v6": _2_96}),
    (_GENERAL, "dcedsv6", "05e75b148472c25ac534a9957b0af264acab5f6b", "2026-02-17", {"DC{}eds_v6": _2_128}),
    (_GENERAL, "dcesv6", "08a6fcc53b3a6dc5fcda1774b50db1ff0d8f9386", "2025-04-15", {"DC{}es_v6": _2_128}),
    (_MEMORY, "dndsv6", "1827cf353b07fd08b3141bd2e40291e1dbdd4a5f", "2025-05-08", {"D{}nds_v6": _2_128}),
    (_MEMORY, "dnldsv6", "0f864c9fb268cf065c521396ff2ff24af1a6dd3f", "2025-05-08", {"D{}nlds_v6": _2_128}),
    (_MEMORY, "dnlsv6", "05e75b148472c25ac534a9957b0af264acab5f6b", "2025-05-08", {"D{}nls_v6": _2_128}),
    (_MEMORY, "dnsv6", "05e75b148472c25ac534a9957b0af264acab5f6b", "2025-05-08", {"D{}ns_v6": _2_128}),
    (_MEMORY, "eadsv5", "ab1d3891afed5110ae83d1a5fbd0ca5b83acbbb9", "2024-08-01",
     {"E{}ads_v5": _E_96, "E{}iads_v5": "112"}),
    (_MEMORY, "easv5", "2e4af98705e2ace519e313d40c5de3c3c7cc45a7", "2026-03-10",
     {"E{}as_v5": _E_96, "E{}ias_v5": "112"}),
    (_MEMORY, "ebdsv5-ebsv5", "76e3d22a34ca2aa3a8518a17b7eeb5ceb4bfb1c6", "2024-07-08",
     {"E{}bds_v5": _2_96, "E{}ibds_v5": "112", "E{}bs_v5": _2_96, "E{}ibs_v5": "112"}),
    (_MEMORY, "edsv5", "1a043fb3a20b0f90dff80bad2dd8cbdff8984386", "2024-08-01",
     {"E{}ds_v5": _E_96, "E{}ids_v5": "104"}),
    (_MEMORY, "esv5", "0175d5fa261b3b237e603855c1988eb287fbe018", "2026-03-10",
     {"E{}s_v5": _E_96, "E{}is_v5": "104"}),
    (_MEMORY, "eadsv6", "05e75b148472c25ac534a9957b0af264acab5f6b", "2024-08-01", {"E{}ads_v6": _E_96}),
    (_MEMORY, "easv6", "2e4af98705e2ace519e313d40c5de3c3c7cc45a7", "2026-03-10", {"E{}as_v6": _E_96}),
    (_MEMORY, "ebdsv6", "4b64b6148369144e8d12ddcff913c024d2d727d4", "2025-11-17",
     {"E{}bds_v6": _2_128, "E{}ibds_v6": "192"}),
    (_MEMORY, "ebsv6", "02773904e1bc237bc0c6251323af05c0dc7f5c3b", "2025-11-17",
     {"E{}bs_v6": _2_128, "E{}ibs_v6": "192"}),
    (_MEMORY, "edsv6", "03650cfed4981780185003e04bdf9c98d5e78fa7", "2024-08-01",
     {"E{}ds_v6": _E_128, "E{}ids_v6": "192"}),
    (_MEMORY, "endsv6", "8e3e43e29a10afabe90dbad569fd345dff48fa5c", "2025-05-08", {"E{}nds_v6": _2_128}),
    (_MEMORY, "ensv6", "1827cf353b07fd08b3141bd2e40291e1dbdd4a5f", "2025-05-08", {"E{}ns_v6": _2_128}),
    (_MEMORY, "epdsv6", "02773904e1bc237bc0c6251323af05c0dc7f5c3b", "2026-01-05", {"E{}pds_v6": _2_96}),
    (_MEMORY, "epsv6", "05e75b148472c25ac534a9957b0af264acab5f6b", "2026-01-05", {"E{}ps_v6": _2_96}),
    (_MEMORY, "esv6", "8f7fc3d676bfecfc81830ea7878c4d14831284fa", "2026-03-10",
     {"E{}s_v6": _E_128, "E{}is_v6": "192"}),
    (_MEMORY, "eadsv7", "2e4af98705e2ace519e313d40c5de3c3c7cc45a7", "2026-03-10", {"E{}ads_v7": _2_160}),
    (_MEMORY, "easv7", "28da8f72862f76ddba8ed207df00384ffff76c9e", "2026-03-10", {"E{}as_v7": _2_160}),
    (_MEMORY, "edsv7", "00c57934e4aaf8d9620b97912903da49ace1719c", "2026-02-02",
     {"E{}ds_v7": f"{_E_128} 192 248", "E{}ids_v7": "372"}),
    (_MEMORY, "esv7", "1827cf353b07fd08b3141bd2e40291e1dbdd4a5f", "2026-02-02",
     {"E{}s_v7": f"{_E_128} 192 248", "E{}is_v7": "372"}),
    (_MEMORY, "ecadsv6", "28da8f72862f76ddba8ed207df00384ffff76c9e", "2026-03-10", {"EC{}ads_v6": _2_96}),
    (_MEMORY, "ecasccv5-ecadsccv5", "9ed072b872e388c785f750f825050cc26912b715", "2022-03-29",
     {"EC{}as_cc_v5": _EC_CC, "EC{}ads_cc_v5": _EC_CC}),
    (_MEMORY, "ecasv5-ecadsv5", "9ed072b872e388c785f750f825050cc26912b715", "2021-11-15",
     {"EC{}as_v5": _E_96, "EC{}ads_v5": _E_96}),
    (_MEMORY, "ecasv6", "ab1d3891afed5110ae83d1a5fbd0ca5b83acbbb9", "2025-09-06", {"EC{}as_v6": _2_96}),
    (_MEMORY, "ecedsv6", "9ed072b872e388c785f750f825050cc26912b715", "2026-02-15", {"EC{}eds_v6": _2_64}),
    (_MEMORY, "ecesv6", "9ed072b872e388c785f750f825050cc26912b715", "2025-04-15", {"EC{}es_v6": _2_64}),
    (_COMPUTE, "falsv6", "0b0136e2c8b19b69ce4e0baa1fdf9e52dfbe82e3", "2024-07-30", {"F{}als_v6": _2_64}),
    (_COMPUTE, "famsv6", "05e75b148472c25ac534a9957b0af264acab5f6b", "2024-07-30", {"F{}ams_v6": _2_64}),
    (_COMPUTE, "fasv6", "0b0136e2c8b19b69ce4e0baa1fdf9e52dfbe82e3", "2024-07-30", {"F{}as_v6": _2_64}),
    (_COMPUTE, "fadsv7", "0eeb1929a47333ee1f1f0b2707ed3c5fa44bf111", "2026-01-21", {"F{}ads_v7": _1_80}),
    (_COMPUTE, "faldsv7", "05e75b148472c25ac534a9957b0af264acab5f6b", "2026-01-21", {"F{}alds_v7": _1_80}),
    (_COMPUTE, "falsv7", "1827cf353b07fd08b3141bd2e40291e1dbdd4a5f", "2026-01-21", {"F{}als_v7": _1_80}),
    (_COMPUTE, "famdsv7", "05e75b148472c25ac534a9957b0af264acab5f6b", "2026-01-21", {"F{}amds_v7": _1_80}),
    (_COMPUTE, "famsv7", "8a14ba7ef1fba8b909374e956913972ad344edcf", "2026-01-21", {"F{}ams_v7": _1_80}),
    (_COMPUTE, "fasv7", "02773904e1bc237bc0c6251323af05c0dc7f5c3b", "2026-01-21", {"F{}as_v7": _1_80}),
    (_COMPUTE, "fxmdsv2", "05e75b148472c25ac534a9957b0af264acab5f6b", "2025-05-23", {"FX{}mds_v2": _FX}),
    (_COMPUTE, "fxmsv2", "05e75b148472c25ac534a9957b0af264acab5f6b", "2025-05-23", {"FX{}ms_v2": _FX}),
    (_STORAGE, "lsv4", "05e75b148472c25ac534a9957b0af264acab5f6b", "2025-03-18", {"L{}s_v4": _L}),
    (_STORAGE, "lasv4", "0eeb1929a47333ee1f1f0b2707ed3c5fa44bf111", "2025-03-18", {"L{}as_v4": _L}),
    (_STORAGE, "laosv4", "444e2b3caff34f538dd74ab4308d8cb871b641da", "2025-03-18",
     {"L{}aos_v4": "2 4 8 12 16 24"}),
    (_STORAGE, "lasv5", "8b80ce4901ebb20369010c10bd714f86e0b81d2f", "2026-08-18",
     {"L{}as_v5": f"{_L} 96 128", "L{}ias_v5": "160"}),
    (_STORAGE, "laosv5", "324cc66f9cabeeece19b1b6dc68cc18f23415109", "2026-08-18",
     {"L{}aos_v5": "2 4 8 12 16 24 48 64 96 128", "L{}iaos_v5": "160"}),
)  # fmt: skip
# "Not Supported", or "Supported (except for …)".
_NOT_SUPPORTED = (
    (_GENERAL, "bv1", "28da8f72862f76ddba8ed207df00384ffff76c9e", "2026-03-10",
     {"B{}ls": "1", "B{}s": "1 2", "B{}ms": "1 2 4 8 12 16 20"}),
    (_GENERAL, "dcsv3", "075a268123c02e807c491e61bfb3022cfccd8f55", "2026-03-10",
     {"DC{}s_v3": "1 2 4 8 16 24 32 48"}),
    (_STORAGE, "lsv2", "0eeb1929a47333ee1f1f0b2707ed3c5fa44bf111", "2024-07-31", {"L{}s_v2": _L_V3}),
    (_STORAGE, "lsv3", "05e75b148472c25ac534a9957b0af264acab5f6b", "2024-07-31", {"L{}s_v3": _L_V3}),
    (_STORAGE, "lasv3", "261d658ff8bee79d230954dbb09ac9670d63ee29", "2024-07-31", {"L{}as_v3": _L_V3}),
    (_STORAGE, "lsv4", "05e75b148472c25ac534a9957b0af264acab5f6b", "2025-03-18", {"L{}s_v4": "96"}),
    (_STORAGE, "lasv4", "0eeb1929a47333ee1f1f0b2707ed3c5fa44bf111", "2025-03-18", {"L{}as_v4": "96"}),
    (_STORAGE, "laosv4", "444e2b3caff34f538dd74ab4308d8cb871b641da", "2025-03-18", {"L{}aos_v4": "32"}),
    (_STORAGE, "laosv5", "324cc66f9cabeeece19b1b6dc68cc18f23415109", "2026-08-18", {"L{}aos_v5": "32"}),
)  # fmt: skip
# The Ls-series has no page of its own ("does not support the creation of a local cache"); catalog_retired.py
# has this source too.
_OLDER = (("sizes-previous-gen@092fdbcf", {"L{}s": "4 8 16 32"}),)


def _id(series: str, commit: str) -> str:
    return f"{series}-series@{commit[:8]}"


def _source(source_id: str, page: str, commit: str, date: str) -> tuple[str, ...]:
    return source_id, "documentation page", _REPOSITORY, f"{_FOLDER}{page}", commit, date


SOURCES = tuple(
    _source(_id(series, commit), f"{folder}{series}-series.md", commit, date)
    for folder, series, commit, date, _ in (*_SUPPORTED, *_NOT_SUPPORTED)
)


def rows(known: Collection[str]) -> Iterator[Row]:
    """A row for each size of the pages."""
    stated: dict[str, Row] = {}
    for source_id, size, supported in _stated():
        if size in stated or size not in known:
            raise SystemExit(f"{size} of {source_id}: unknown, or stated twice")
        stated[size] = {"size": size, "source_id": source_id, "caching": str(supported)}
    yield from (stated[size] for size in sorted(stated))


def _stated() -> Iterator[tuple[str, str, bool]]:
    """Source, size and whether host caching is supported."""
    pages = (
        *((_id(series, commit), forms, True) for _, series, commit, _, forms in _SUPPORTED),
        *((_id(series, commit), forms, False) for _, series, commit, _, forms in _NOT_SUPPORTED),
        *((source_id, forms, False) for source_id, forms in _OLDER),
    )
    for source_id, forms, supported in pages:
        for form, numbers in forms.items():
            for number in numbers.split():
                yield source_id, f"Standard_{form.format(number)}", supported
