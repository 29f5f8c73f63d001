"""A closed loop over token buckets: an Azure disk as physics has it, written apart from azbenchlib.model.

It shares no code and no formula with the library, so that a verdict which is right about it is right for a
reason. `draw` makes hidden setups, `run` drives them, and `judge_truth` says what bound them and whether
the evidence is enough to tell.
"""

from simulator.hidden import RESOURCES, Hidden, draw, fixed
from simulator.loop import Course, run
from simulator.measured import Report, report
from simulator.truth import Truth, truth

__all__ = ["RESOURCES", "Course", "Hidden", "Report", "Truth", "draw", "fixed", "report", "run", "truth"]
