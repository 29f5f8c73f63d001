"""A probe from its first run to its portrait: which run is next, what it showed, and when it is enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from azbenchlib.core.errors import InputError
from azbenchlib.core.units import S_PER_MIN
from azbenchlib.probing.choice import Worth, worths
from azbenchlib.probing.forward import Loads, predict
from azbenchlib.probing.hypotheses import Hypotheses, Setting
from azbenchlib.probing.inference import CHAINS, SWEEPS, Sampler
from azbenchlib.probing.likelihood import UNHELD_BELOW, ProbeEvidence
from azbenchlib.probing.portrait import HARDLY, Portrait, binds, portrait
from azbenchlib.probing.runs import PACES, ProbeRun, Shown, candidates

MOST_PROBE_RUNS = 12
MOST_MINUTES = 12.0
ENOUGH_NATS = 0.12  # a run that is expected to tell less is not worth its time, where something is open
NOTHING_NATS = 0.04  # ... and nothing that is left tells anything
PACE = 0.5  # of the least that the caps may be; below that, no I/O waits for them
HALF = 0.5  # of the chains, which say that a cap holds a run
SURELY_HELD = 1.5  # times the cap: what a queue would do that surely waits for it
PACED_WHERE = 0.2  # probability that caps hold a queue depth of 1, from which on paced runs are thought of


@dataclass(kw_only=True)
class Probe:
    """A disk of which nothing is known but what runs show.

    Parameters
    ----------
    runs : sequence of ProbeRun
        To choose from.
    most_runs : int
    most_s : float
        Seconds that all runs may take together.
    seed : int
        Of all that is drawn; the same runs lead to the same portrait.
    """

    runs: Sequence[ProbeRun] = field(default_factory=candidates)
    most_runs: int = MOST_PROBE_RUNS
    most_s: float = MOST_MINUTES * S_PER_MIN
    seed: int = 1
    chains: int = CHAINS
    sweeps: int = SWEEPS
    shown: list[Shown] = field(default_factory=list, init=False)
    worth: list[Worth] = field(default_factory=list, init=False)  # of the runs that were made
    _sampler: Sampler = field(init=False)
    _best: Worth | None = field(default=None, init=False)  # of what is known after the last run
    _writes: list[ProbeRun] = field(
        default_factory=list, init=False
    )  # by which writes alone reach their caps

    def __post_init__(self) -> None:
        self._sampler = Sampler(self.seed, self.chains, self.sweeps)

    @property
    def disks(self) -> Hypotheses:
        """The disks that explain what was shown so far."""
        return self._sampler.disks

    @property
    def spent_s(self) -> float:
        """Seconds that the runs so far took."""
        return sum(one.run.costs_s for one in self.shown)

    def tell(self, shown: Shown) -> None:
        """Learn from a run."""
        self.worth += worths(self._sampler.disks, [shown.run])
        self.shown.append(shown)
        evidence = ProbeEvidence(self.shown)
        self._sampler.learn(evidence)
        self._best, self._writes = self._found_best(), self._unseen_writes(evidence)
        if self.next() is None:  # before it ends, what is known must be found again from the beginning
            self._sampler.doubt(evidence)
            self._best, self._writes = self._found_best(), self._unseen_writes(evidence)

    def _found_best(self) -> Worth | None:
        """The run that tells most per second of those that were not made; None: none tells anything."""
        made = {one.run for one in self.shown}
        fit = self._fit_paces()
        left = [
            run
            for run in self.runs
            if run not in made and (not run.rate_iops or run.rate_iops == fit[run.load])
        ]
        found = max(worths(self._sampler.disks, left), key=lambda one: one.nats_per_s, default=None)
        return found if found and found.nats >= NOTHING_NATS else None

    def _fit_paces(self) -> dict[tuple[float, int], int]:
        """The pace that stays below the caps, of each mix and block size where they may hold any depth."""
        first = {run.load: replace(run, rate_iops=0) for run in self.runs if run.rate_iops}
        if not self.shown or not first:
            return dict.fromkeys(first, -1)
        found = predict(self._sampler.disks, Loads.of(list(first.values())))
        held = (found.unheld > UNHELD_BELOW * found.cap).mean(axis=0) > PACED_WHERE
        most = PACE * np.quantile(found.cap, HARDLY, axis=0)
        return {
            load: max((pace for pace in PACES if pace <= rate), default=-1) if wanted else -1
            for load, rate, wanted in zip(first, most, held, strict=True)
        }

    def _unseen_writes(self, evidence: ProbeEvidence) -> list[ProbeRun]:
        """Runs by which writes alone reach caps of theirs that only mixes showed, or reads.

        Behind a host cache, mixes show a cap of writes only where it is below half of that of all I/Os, so
        that one cap for both would explain them as well.
        """
        wanted, disks = [], self._sampler.disks
        alone = np.flatnonzero(evidence.loads.read_share == 0.0)
        sizes = {run.bs_bytes for run in self.runs}
        for cap, size in ((Setting.WRITE_IOPS, min(sizes)), (Setting.WRITE_BYTES_PER_S, max(sizes))):
            held = binds(disks, evidence, evidence.predict(disks), cap)
            if held.any(axis=1).mean() > HALF and not (held[:, alone].mean(axis=0) > HALF).any():
                some = [run for run in self.runs if run.load == (0.0, size) and not run.rate_iops]
                found = predict(disks, Loads.of(some))
                reach = (found.unheld > SURELY_HELD * found.cap).mean(axis=0) > HALF
                wanted += [run for run, reaches in zip(some, reach, strict=True) if reaches][:1]
        return wanted

    def next(self) -> Worth | None:
        """The next run; None where all is known, nothing tells more, or time or runs are spent."""
        found, left = self._best if self.shown else self._found_best(), self.most_runs - len(self.shown)
        hardly = found is None or (
            found.nats < ENOUGH_NATS and bool(self.shown) and not self.portrait().open_figures
        )
        if self._writes and (hardly or left <= len(self._writes)):
            (found,), hardly = worths(self._sampler.disks, self._writes[:1]), False
        if found is None or hardly or left <= 0 or self.spent_s + found.run.costs_s > self.most_s:
            return None
        return found

    def portrait(self) -> Portrait:
        """What is known so far.

        Raises
        ------
        InputError
            Before the first run.
        """
        if not self.shown:
            raise InputError("no run was made yet, so nothing is known of the disk")
        return portrait(self._sampler.disks, ProbeEvidence(self.shown), self._best)
