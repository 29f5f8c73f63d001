"""Outputs of a lab that are given by themselves: their dilation factor is told by what is beside them.

A file below ``raw/`` of a dataset was measured on a setup of its manifest. Elsewhere, the lab's log beside an
output has both the time of the clock on the wall and that of the emulated disk. Where neither is there but
fio was told the socket of a lab, the figures are under time dilation by an unknown factor.
"""

from __future__ import annotations

import json
import math
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from azbenchlib.core import schema
from azbenchlib.core.errors import InputError
from azbenchlib.core.files import read_regular
from azbenchlib.core.findings import Code, Finding
from azbenchlib.dataset.names import MANIFEST_FILE, RAW
from azbenchlib.dataset.read import Tables
from azbenchlib.formats import lab_log
from azbenchlib.formats.packed import stack
from azbenchlib.formats.source import LARGEST_SOURCE

if TYPE_CHECKING:
    from azbenchlib.dataset.manifest import Manifest, ManifestSetup

ENGINE = "nbd"
OFF = 0.05  # the clock of the lab's log may be so far from a power of two
# The address that a lab gives: its socket lies in a folder of its own, under this name (lab/serve.py).
_ADDRESS = re.compile(rb"nbd\+unix://[^\s\"']*socket=[^\s\"']*(?:/nbd\.sock|LAB)(?![^\s\"'&])")
SLOW = (
    "fio drove an emulated disk with dilated time, and the dilation factor is not known: its times are too "
    "long and its rates too low by that factor"
)

Place = Callable[[pd.DataFrame, "Manifest"], pd.DataFrame]


def dilated(tables: Tables, files: Mapping[str, Path]) -> Tables:
    """The tables with setups for what a lab wrote whose setup is not known, and findings where the dilation
    factor is not known either.

    Parameters
    ----------
    tables : dict of str to DataFrame
        As they were read.
    files : mapping of str to Path
        Where each file lies, by the name that it has in the tables.
    """
    runs = tables["runs"]
    bare = runs[(runs["ioengine"] == ENGINE).fillna(False) & runs["setup_id"].isna()]
    for path in bare["source_path"].dropna().unique():
        mine, file = runs["source_path"] == path, files.get(path, Path(path))
        if scale := slowness(file):
            name = f"lab-{scale}"
            setup = schema.frame("setups", [{"setup_id": name, "environment": "lab", "time_scale": scale}])
            runs = runs.assign(setup_id=runs["setup_id"].mask(mine & runs["setup_id"].isna(), name))
            known = stack("setups", [tables["setups"], setup]).drop_duplicates("setup_id", ignore_index=True)
            tables = tables | {"setups": known, "runs": runs}
        elif _drove_a_lab(file):
            ids = bare.loc[mine[bare.index], "run_id"]
            found = schema.frame("findings", [_unknown(run_id, path).row() for run_id in ids])
            tables = tables | {"findings": stack("findings", [tables["findings"], found])}
    return tables


def slowness(output: Path) -> int | None:
    """How many times slower than the disk it emulates a lab ran, by its log beside an output.

    Returns
    -------
    int or None
        A power of two; None where there is no such log, or it does not tell.
    """
    log = output.with_name(f"{output.stem}_lab.log")
    try:
        lines = read_regular(log, LARGEST_SOURCE).decode(errors="replace").splitlines()
    except OSError:
        return None
    if not lines or not lines[0].startswith(lab_log.MARK):
        return None
    moments = [moment for line in lines[1:] if (moment := _moment(line))]
    if len(moments) < 2 or not moments[-1][1] > moments[0][1]:
        return None
    ratio = (moments[-1][0] - moments[0][0]) / (moments[-1][1] - moments[0][1])
    scale = 2 ** round(math.log2(ratio)) if 1 - OFF < ratio < 2**16 else 0
    return scale if scale and abs(ratio / scale - 1) <= OFF else None


def _moment(line: str) -> tuple[float, float] | None:
    """The clock on the wall and that of the emulated disk, in s."""
    try:
        content = json.loads(line)
        wall, emulated = float(content["unix_s"]), float(content["t_s"])
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return None
    return (wall, emulated) if math.isfinite(wall) and math.isfinite(emulated) else None


def in_datasets(tables: Tables, place: Place) -> Tables:
    """The tables with the setups of runs whose files are of a dataset that a lab wrote.

    Parameters
    ----------
    tables : dict of str to DataFrame
        As they were read; `source_path` of a run is where its file lies.
    place : callable
        Says which of a manifest's setups runs were measured on, by their paths in the dataset.
    """
    paths = tables["runs"]["source_path"].dropna().unique()
    for folder, inside in _datasets(paths).items():
        found = _manifest(folder)
        if found is None or not any(setup.environment == "lab" for setup in found.setups):
            continue
        runs = tables["runs"]
        listed = {path: name for path, name in inside.items() if not found.raw or name in found.raw}
        mine = runs["source_path"].isin(list(listed))
        placed = place(runs[mine].assign(source_path=runs["source_path"].map(listed)), found)
        setups = _apart(found, tables)
        ids = placed["setup_id"].map({setup.setup_id: named.setup_id for setup, named in setups})
        runs = runs.assign(
            setup_id=runs["setup_id"].where(~mine, ids), disks=runs["disks"].where(~mine, placed["disks"])
        )
        used = [named for _, named in setups if named.setup_id in set(ids)]
        rows = found.model_copy(update={"setups": used}).tables()
        more = {name: stack(name, [tables[name], table]) for name, table in rows.items()}
        tables = tables | more | {"runs": runs}
    return tables


def _datasets(paths: Iterable[str]) -> dict[Path, dict[str, str]]:
    """Dataset folders around files: each with the files, and where in it they are."""
    found: dict[Path, dict[str, str]] = {}
    # of a thousand files in a folder, the folders above are looked at once
    around: dict[str, tuple[Path, Path | None]] = {}
    for path in paths:
        home, name = os.path.split(_led_to(path))
        if home not in around:
            real = Path(home).resolve()
            above = (folder for folder in (real, *real.parents) if (folder / MANIFEST_FILE).is_file())
            around[home] = (real, next(above, None))
        real, folder = around[home]
        if folder is not None:
            inside = (real / name).relative_to(folder).as_posix()
            if inside.startswith(f"{RAW}/"):
                found.setdefault(folder, {})[path] = inside
    return found


def _led_to(path: str) -> str:
    """Where a link leads to; a path that is none, as it is."""
    try:
        is_link = stat.S_ISLNK(os.lstat(path).st_mode)
    except OSError:
        is_link = False
    return os.path.realpath(path) if is_link else path


def _manifest(folder: Path) -> Manifest | None:
    from azbenchlib.dataset import manifest  # loads pydantic

    try:
        return manifest.load(folder)
    except (InputError, OSError):
        return None  # the file itself can be read all the same


def _apart(found: Manifest, tables: Tables) -> list[tuple[ManifestSetup, ManifestSetup]]:
    """Each setup, and as it is called here: with the dataset's name, where another dataset has its name."""
    taken = set(tables["setups"]["setup_id"])
    return [
        (one, one.model_copy(update={"setup_id": f"{found.name}/{one.setup_id}"}))
        if one.setup_id in taken
        else (one, one)
        for one in found.setups
    ]


def _drove_a_lab(path: Path) -> bool:
    """Whether an output tells the address of a lab."""
    try:
        return path.stat().st_size <= LARGEST_SOURCE and bool(_ADDRESS.search(path.read_bytes()))
    except OSError:
        return False


def _unknown(run_id: str, path: str) -> Finding:
    advice = "Keep the output in the dataset that the lab wrote, or NAME_lab.log beside it"
    message = f"{path}: {SLOW}"
    return Finding.of(Code.TIME_SCALE_UNKNOWN, message, advice, source_path=path, run_id=run_id)
