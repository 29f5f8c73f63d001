"""What `07_probe.ipynb` shows: each method of :class:`ProbedDisk` is one of its cells."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from azbenchlib.answers.answer import in_words
from azbenchlib.answers.blocks import Block
from azbenchlib.answers.probe import ProbeAnswer
from azbenchlib.campaign import show_progress
from azbenchlib.campaign.probing import probe_into
from azbenchlib.campaign.stated_probe import AZURE_TARGET, LAB_TARGET, ProbeTerms, stated_request
from azbenchlib.report.sections import probed


class ProbedDisk:
    """A disk that is probed, or that was: an unfinished probe is taken up, a finished one is read.

    Parameters
    ----------
    target : str
        A directory or a block device of this machine, ``ssh:USER@HOST``, ``exec:COMMAND``, ``azure``, or
        ``lab``.
    disk : str
        For the lab: what is emulated, such as ``P30``. In Azure: which disk of the VM that the environment
        variable ``AZBENCH_VM_ID`` names: its name there, ``lun0``, ``os``, ``temp`` or ``nvme``; empty: the
        only data disk.
    raw : bool
        In Azure: whether the bare disk is driven.
    results_group : bool
        In Azure: whether results come through a storage account, in a resource group that is made for it and
        deleted at the end.
    dataset : str
        Folder of the dataset; empty: ``datasets/probe-TARGET``.
    minutes, seconds : float
        How long all runs may take together, and each of them.
    runs : int
        How many runs there may be.
    size : str
        How much data is touched.
    drain : float
        Minutes at full load, for each of two caps, in which burst credits are spent; 0: none.
    cache, fsync, jobs : bool
        What is asked besides: a cache, the cost of an fsync, several jobs and files.
    directory : str
        With ssh and exec: an absolute path on the host; empty: the home there.
    allow : str
        The words that permit a target which would be refused.

    Attributes
    ----------
    answer : ProbeAnswer
        All of it, with figures in base units.

    Raises
    ------
    AzbenchError
        As :func:`azbenchlib.campaign.probing.probe_into` does.
    """

    def __init__(
        self,
        target: str,
        *,
        disk: str = "",
        raw: bool = False,
        results_group: bool = False,
        dataset: str = "",
        minutes: float = 12.0,
        seconds: float = 10.0,
        runs: int = 12,
        size: str = "1GiB",
        drain: float = 0.0,
        cache: bool = False,
        fsync: bool = False,
        jobs: bool = False,
        directory: str = "",
        allow: str = "",
    ) -> None:
        asked = stated_request(
            target,
            disks=[disk] if disk and target in (LAB_TARGET, AZURE_TARGET) else [],
            size=size,
            seconds=seconds,
            directory=directory,
            raw=raw,
            results_group=results_group,
            allow=allow,
        )
        terms = ProbeTerms(minutes=minutes, runs=runs, drain=drain, cache=cache, fsync=fsync, jobs=jobs)
        folder = probe_into(Path(dataset) if dataset else None, asked, terms, show_progress())
        self.answer = ProbeAnswer.load(folder)
        self._record = self.answer.result

    def figures(self) -> pd.DataFrame:
        """What is known: a row a figure, with its 95 % interval and the numbers of the runs that say so."""
        return in_words(self.answer.properties)

    def sentences(self) -> list[str]:
        """What is not a number, and what is doubtful."""
        return self._record.sentences

    def portrait(self) -> Block:
        """Roofline and latency over load; the bucket over time and working sets, where they were measured."""
        return probed.portrait(self._record, "probe") + probed.runs(self._record, "probe")

    def names(self) -> pd.DataFrame:
        """The documented disks that fit; measured ÷ documented tells how far documents and disk differ."""
        return in_words(self.answer.documented)

    def unlearnt(self) -> pd.DataFrame:
        """What is open, and the minutes that it would take."""
        rows = [(one.what, one.minutes) for one in self._record.not_learnt]
        return pd.DataFrame(rows, columns=["not learnt", "minutes"])

    def runs(self) -> pd.DataFrame:
        """The runs in the order in which they were chosen."""
        return in_words(self.answer.runs)
