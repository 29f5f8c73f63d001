"""What `07_probe.ipynb` shows: each method of :class:`ProbedDisk` is one of its cells."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pandas as pd

from azbenchlib.answers.blocks import Block
from azbenchlib.campaign import probing, show_progress
from azbenchlib.core.stated_values import size as stated_size
from azbenchlib.core.units import S_PER_MIN
from azbenchlib.dataset.probed import ProbeRecord
from azbenchlib.model import Setup, notation
from azbenchlib.model.documented_limits import documented
from azbenchlib.probing import text
from azbenchlib.probing.naming import names
from azbenchlib.probing.runs import candidates
from azbenchlib.probing.session import Probe
from azbenchlib.probing.to_json import document
from azbenchlib.report.sections import probed


class ProbedDisk:
    """A disk that is probed, or that was: an unfinished probe is taken up, a finished one is read.

    Parameters
    ----------
    target : str
        A directory or a block device of this machine, ``ssh:USER@HOST``, ``azure``, or ``lab``.
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
        With ssh: an absolute path on the host; empty: the home of the login.
    allow : str
        The words that permit a target which would be refused.

    Raises
    ------
    AzbenchError
        As :func:`azbenchlib.campaign.probing.probe` does.
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
        asked = probing.ProbeRequest(
            target=target,
            directory=directory,
            disk=disk if target == "azure" else "",
            raw=raw,
            results_group=results_group,
            setup=_emulated(disk) if disk and target != "azure" else None,
            size_bytes=stated_size("size", size),
            seconds=seconds,
            allow_unsafe=allow,
        )
        folder = Path(dataset) if dataset else Path("datasets") / probing.dataset_name(target)
        self.session = Probe(runs=candidates(seconds), most_runs=runs, most_s=minutes * S_PER_MIN)
        stages = probing.stages_of(asked, cache=cache, fsync=fsync, jobs=jobs, drain_minutes=drain)
        self.found = probing.probe(asked, folder, self.session, show_progress(), stages=stages.all_)
        self._named = names(
            self.found, documented(date.today().isoformat()), probing.disk_bytes(target, folder), seconds
        )
        told = document(self.session, self.found, self._named, stages)
        probing.keep(folder, told)
        self._record = ProbeRecord.model_validate({"measured": date.today(), **told})

    def figures(self) -> pd.DataFrame:
        """What is known: a row a figure, with its 95 % interval and the runs that say so."""
        rows = [
            (text.label(figure.key), *text.told(figure), ", ".join(figure.runs))
            for figure in self.found.figures
        ]
        return pd.DataFrame(rows, columns=["property", "value", "95 % interval", "runs"])

    def sentences(self) -> list[str]:
        """What is not a number, and what is doubtful."""
        return self._record.sentences

    def portrait(self) -> Block:
        """Roofline and latency over load; the bucket over time and working sets, where they were measured."""
        return probed.portrait(self._record, "probe") + probed.runs(self._record, "probe")

    def names(self) -> pd.DataFrame:
        """The documented disks that fit; measured ÷ documented tells how far documents and disk differ."""
        rows = [(text.name_of(one), one.probability, one.iops_ratio, one.bytes_ratio) for one in self._named]
        ratios = ["IOPS, measured ÷ documented", "MB/s, measured ÷ documented"]
        return pd.DataFrame(rows, columns=["documented", "probability", *ratios])

    def unlearnt(self) -> pd.DataFrame:
        """What is open, and the minutes that it would take."""
        rows = [(one.what, one.minutes) for one in self._record.not_learnt]
        return pd.DataFrame(rows, columns=["not learnt", "minutes"])

    def runs(self) -> pd.DataFrame:
        """The runs in the order in which they were chosen."""
        rows = [
            text.run_line(i, shown, worth)
            for i, (shown, worth) in enumerate(zip(self.session.shown, self.session.worth, strict=True), 1)
        ]
        return pd.DataFrame(rows, columns=["run", "load", "showed", "nats expected"])


def _emulated(disk: str) -> Setup:
    """What the lab emulates."""
    return notation.stated_setup(None, [disk])
