"""What the classes that notebooks call have in common: datasets, and for each method a block of every one."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypedDict, Unpack

import pandas as pd

from azbenchlib.answers.blocks import Block, render
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.setups import Assumed
from azbenchlib.model import notation
from azbenchlib.report.part import Part

MOST_ROWS = 60  # of a table; a longer one is condensed, or cut

Make = Callable[[Part, str], Block | None]


class StatedSetup(TypedDict, total=False):
    """What a person states of outputs that do not tell it; empty: nothing.

    Parameters
    ----------
    vm : str
        VM size, such as ``Standard_E8ds_v4``.
    disks : str or sequence of str
        Such as ``P30`` or ``P30x4:ReadOnly``.
    region : str
        Azure region.
    group_by : str
        Which runs were made on one setup: path, folder, host, job or setup.
    """

    vm: str
    disks: str | Sequence[str]
    region: str
    group_by: str


class NotebookView:
    """Datasets, each with a block for every method.

    Parameters
    ----------
    datasets : sequence of str
        Names of datasets in ``datasets/`` or among those shipped, dataset folders, outputs and folders of
        them; all outputs together are one dataset.
    needs_one : str
        What is said when there is none; empty: none is allowed.
    stated : StatedSetup
        Of outputs that do not tell their setup.

    Raises
    ------
    InputError
        When a dataset cannot be read, there is none though one is needed, or a setup is stated though all
        tell theirs.
    """

    _headings = False  # whether the title of a dataset stands above its block, where there are several

    def __init__(
        self, datasets: str | Sequence[str], needs_one: str = "", **stated: Unpack[StatedSetup]
    ) -> None:
        if needs_one and not datasets:
            raise InputError(needs_one)
        opened = _opened(datasets, **stated) if datasets else []
        self.parts = [self._part(dataset, dataset.place or Path()) for dataset in opened]

    def _part(self, dataset: Dataset, place: Path) -> Part:
        """A dataset as it is shown; `place` is what messages call it."""
        return Part(dataset, place)

    def _blocks(
        self,
        make: Make,
        lacks: str = "",
        options: Sequence[str] = (),
        rows: Callable[[Part, str], pd.DataFrame] | None = None,
    ) -> Block:
        """The blocks of all datasets.

        Parameters
        ----------
        make : callable
            Gets a dataset and the name of its place on the page; None where it has nothing to show.
        lacks : str
            What is said of a dataset that has nothing; empty: it is left out.
        options : sequence of str
            Options of fio that give it next time.
        rows : callable, optional
            Gives the table of a dataset that the block shows; together they are the block's ``data``.
        """
        made: list[Block] = []
        for i, part in enumerate(self.parts):
            if self._headings and len(self.parts) > 1:
                made.append(render("group", title=part.manifest.title))
            block = make(part, f"d{i}")
            if block is None and lacks:
                block = render("note", text=f"“{part.manifest.title}” {lacks}", options=options)
            made += [block] if block else []
        return Block("\n".join(block.html for block in made), partial(self._data, rows) if rows else None)

    def _data(self, rows: Callable[[Part, str], pd.DataFrame]) -> pd.DataFrame:
        """The tables of all datasets, one below the other; the column dataset names each."""
        tables = [rows(part, f"d{i}") for i, part in enumerate(self.parts)]
        named = [
            table.assign(dataset=part.manifest.name) for table, part in zip(tables, self.parts, strict=True)
        ]
        return pd.concat(named, ignore_index=True)

    def _group(self, part: Part) -> dict[str, str] | None:
        """Title and description of a dataset, where there are several."""
        about = {"title": part.manifest.title, "about": part.manifest.about}
        return about if len(self.parts) > 1 else None

    def _prefix(self, part: Part) -> str:
        """The title of a dataset before a sentence, where there are several."""
        return f"{part.manifest.title}: " if len(self.parts) > 1 else ""


def _opened(
    datasets: str | Sequence[str],
    *,
    vm: str = "",
    disks: str | Sequence[str] = (),
    region: str = "",
    group_by: str = "",
) -> list[Dataset]:
    """Open datasets, with the setup of runs that do not tell theirs."""
    setup = notation.stated_setup(vm, disks, open_sizes=True) if vm or disks else None
    return Dataset.load_each(datasets, assumed=Assumed(setup, region or None), group_by=group_by or None)
