"""What `07_probe.ipynb` shows: each method of :class:`ProbedDisk` is one of its cells."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pandas as pd

from azbenchlib.campaign import probing, show_progress
from azbenchlib.campaign.documented import documented
from azbenchlib.core.stated_values import size as stated_size
from azbenchlib.core.units import S_PER_MIN
from azbenchlib.model import VM, Setup, notation
from azbenchlib.plots.drawing.svg import both
from azbenchlib.plots.probed import probe_portrait
from azbenchlib.probe import curves, text
from azbenchlib.probe.naming import names
from azbenchlib.probe.runs import candidates
from azbenchlib.probe.session import Probe
from azbenchlib.probe.to_json import document
from azbenchlib.report.blocks import Block, render, safe

HOW_TO_READ = (
    "Where the roofline is flat, the cap of IOPS limits; where it falls, the cap of MB/s does.",
    "The latency is that of an unloaded disk until the queue reaches the cap, and grows with the queue from "
    "there.",
    "The worth of a run is the information that was expected of it when it was chosen, in nats.",
)


class ProbedDisk:
    """A disk that is probed, or that was: an unfinished probe is taken up, a finished one is read.

    Parameters
    ----------
    target : str
        A directory or a block device of this machine, ``ssh:USER@HOST``, or ``lab``.
    disk : str
        For the lab: what is emulated, such as ``P30``.
    dataset : str
        Folder of the dataset; empty: ``datasets/probe-TARGET``.
    minutes, seconds : float
        How long all runs may take together, and each of them.
    runs : int
        How many runs there may be.
    size : str
        How much data is touched.
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
        dataset: str = "",
        minutes: float = 12.0,
        seconds: float = 10.0,
        runs: int = 12,
        size: str = "1GiB",
        allow: str = "",
    ) -> None:
        asked = probing.ProbeRequest(
            target=target,
            setup=Setup(VM(), notation.with_names(notation.parse_disks([disk]))) if disk else None,
            size_bytes=stated_size("size", size),
            seconds=seconds,
            allow_unsafe=allow,
        )
        folder = Path(dataset) if dataset else Path("datasets") / probing.dataset_name(target)
        self.session = Probe(runs=candidates(seconds), most_runs=runs, most_s=minutes * S_PER_MIN)
        self.found = probing.probe(asked, folder, self.session, show_progress())
        self._named = names(
            self.found, documented(date.today().isoformat()), probing.disk_bytes(target), seconds
        )
        probing.keep(folder, document(self.session, self.found, self._named))

    def figures(self) -> pd.DataFrame:
        """What is known: a row a figure, with its 95 % interval and the runs that say so."""
        rows = [
            (text.label(figure.key), *text.told(figure), ", ".join(figure.runs))
            for figure in self.found.figures
        ]
        return pd.DataFrame(rows, columns=["property", "value", "95 % interval", "runs"])

    def sentences(self) -> list[str]:
        """What is not a number, and what is doubtful."""
        return list(text.sentences(self.found))

    def portrait(self) -> Block:
        """Roofline, latency over load, and what each run was worth."""
        roof, response = curves.roof(self.session.disks), curves.response(self.session.disks)
        nats = [worth.nats for worth in self.session.worth]
        drawn = both(lambda layout: probe_portrait(roof, response, nats, layout), "probe")
        shown = render(
            "figure",
            id="probe-portrait",
            group=None,
            title="Portrait",
            what="What the runs leave possible: the lines are medians, the bands 95 % intervals.",
            svg=safe(drawn),
            how=HOW_TO_READ,
        )
        return Block(shown.html, lambda: roof)

    def names(self) -> pd.DataFrame:
        """The documented disks that fit; measured ÷ documented tells how far documents and disk differ."""
        rows = [(text.name_of(one), one.probability, one.iops_ratio, one.bytes_ratio) for one in self._named]
        ratios = ["IOPS, measured ÷ documented", "MB/s, measured ÷ documented"]
        return pd.DataFrame(rows, columns=["documented", "probability", *ratios])

    def unlearnt(self) -> pd.DataFrame:
        """What is open, and the minutes that it would take."""
        rows = list(text.unlearnt(self.found, self.session.spent_s))
        return pd.DataFrame(rows, columns=["not learnt", "minutes"])

    def runs(self) -> pd.DataFrame:
        """The runs in the order in which they were chosen."""
        rows = [
            text.run_line(i, shown, worth)
            for i, (shown, worth) in enumerate(zip(self.session.shown, self.session.worth, strict=True), 1)
        ]
        return pd.DataFrame(rows, columns=["run", "load", "showed", "nats expected"])
