"""Which printed reports of fio's normal output are of one run, and which were pasted below one another.

fio prints the reports of all jobs of a run at one moment, in the order in which it started them: they have
one time of day, numbers of processes that follow one another, and groups in order. What was pasted has not.

Source: fio ``stat.c`` (``__show_run_stats``, ``show_thread_status_normal``) and ``backend.c``
(``run_threads``), read at fio-3.41.
"""

from collections.abc import Sequence
from itertools import pairwise

from azbenchlib.formats.fio._jobs import SUM_OF_CLIENTS, FioJob

_AT_ONCE_S = 1  # a second may turn while fio prints
_NEXT = 20  # jobs of a group are started one after another; a busy machine starts some processes in between
# Numbers of processes begin again at the end (Linux: pid_max is 32768 at least, and restarts at 300).
_LAST_PIDS, _FIRST_PIDS = 30_000, 2_000


def separate_runs(jobs: Sequence[FioJob]) -> list[list[int]]:
    """The places of printed jobs by run, in order.

    Parameters
    ----------
    jobs : sequence of FioJob
        What a text tells one below another, without anything between them that ends a run.

    Returns
    -------
    list of list of int
        A single run where the jobs are those of clients, which end one after another on several machines.
    """
    if not jobs:
        return []
    if any(job.host or job.name == SUM_OF_CLIENTS for job in jobs):
        return [list(range(len(jobs)))]
    runs = [[0]]
    names = {_name(jobs[0])}
    for place, (before, after) in enumerate(pairwise(jobs), 1):
        if _is_of_another_run(before, after, names):
            runs.append([])
            names = set()
        runs[-1].append(place)
        names.add(_name(after))
    return runs


def _name(job: FioJob) -> tuple[str, int | None]:
    return job.name, job.group_id


def _is_of_another_run(before: FioJob, after: FioJob, names: set[tuple[str, int | None]]) -> bool:
    """Whether a job was not printed together with the one before it; `names` are those of the run so far."""
    if (after.group_id or 0) < (before.group_id or 0):
        return True
    pids = _pid(before), _pid(after)
    gap = pids[1] - pids[0] if all(pids) else 0
    if before.printed_s is not None and after.printed_s is not None:
        apart_s = abs(after.printed_s - before.printed_s)
        later = after if after.printed_s > before.printed_s else before
        if apart_s > _AT_ONCE_S:
            return not 0 <= gap <= _NEXT or apart_s + _AT_ONCE_S > later.seconds
        return bool(apart_s) and apart_s + _AT_ONCE_S > later.seconds and abs(gap) > 1
    if before.group_id != after.group_id:
        return False
    began_again = pids[0] > _LAST_PIDS and pids[1] < _FIRST_PIDS
    starts_again = _name(after) in names and _name(after) != _name(before)
    return starts_again or gap > _NEXT or (gap < 0 and not began_again)


def _pid(job: FioJob) -> int:
    """The number of its process; 0 where it is not told, or none was started."""
    return job.serial[1] if job.serial else 0
