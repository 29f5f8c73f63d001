"""Write all tables of all shipped datasets and of a tree of outputs as CSV, to be compared with `diff -rq`.

    AZBENCH_CORPUS=TREE python benchmarks/frozen_tables.py FOLDER

A folder of outputs is read as a whole, and each file in it alone; FOLDER gets a folder a file with a CSV for
each table that has rows. What two versions of the library read is the same where their folders are.
"""

import argparse
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pandas as pd

from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.read import read_files

ROOT = Path(__file__).parents[1]


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write a CSV for each table that has rows."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        if len(table):
            table.to_csv(folder / f"{name}.csv", index=False)


def folders(tree: Path) -> list[Path]:
    """List the folders of a tree that hold files."""
    return sorted({path.parent for path in tree.rglob("*") if path.is_file()})


def tables_of(tree: Path, folder: Path) -> Iterator[tuple[str, Mapping[str, pd.DataFrame]]]:
    """Give the tables of a folder as a whole and of each file in it alone, with a name for each."""
    files = [(path, path.relative_to(tree).as_posix()) for path in sorted(folder.iterdir()) if path.is_file()]
    yield f"folders/{folder.relative_to(tree).as_posix()}", read_files(files)
    for path, shown in files:
        yield f"files/{shown}", read_files([(path, shown)])


def main() -> None:
    """Write the tables of everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    home = parser.parse_args().folder
    for dataset in sorted((ROOT / "datasets").iterdir()):
        if (dataset / "manifest.json").is_file():
            write_tables(Dataset.load(dataset).tables, home / "datasets" / dataset.name)
    tree = Path(os.environ["AZBENCH_CORPUS"])
    for folder in folders(tree):
        for name, tables in tables_of(tree, folder):
            write_tables(tables, home / name)


if __name__ == "__main__":
    main()
