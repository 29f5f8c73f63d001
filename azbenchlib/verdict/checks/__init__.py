"""Checks of the runs in a dataset: findings with figures, and what to do next.

Each check is a function in the list of its module. Sums of other rows and interim states of a run are
not looked at.
"""

from collections.abc import Mapping

import pandas as pd

from azbenchlib.analysis.view import Check, View
from azbenchlib.core import schema
from azbenchlib.core.findings import Code
from azbenchlib.verdict.checks import conditions, figures, logs

CHECKS: Mapping[Code, Check] = {**figures.FIGURE_CHECKS, **conditions.CONDITION_CHECKS, **logs.LOG_CHECKS}


def check(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """All findings of all checks.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        The dataset's tables. What its findings report already is not reported again, so that readers
        may report what they alone can see, and a dataset may be checked twice.

    Returns
    -------
    DataFrame
        The table findings with the new rows alone, at most one a run and check.
    """
    view = View(tables)
    rows = [
        finding.row()
        | {
            "message": f"{view.names[finding.run_id]}: {finding.message}",
            "source_path": view.runs[finding.run_id]["source_path"],
        }
        for inspect in CHECKS.values()
        for finding in inspect(view)
        if finding.run_id is not None and finding.run_id not in view.told.get(finding.code, ())
    ]
    return schema.frame("findings", rows)
