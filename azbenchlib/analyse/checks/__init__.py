"""What to doubt of the runs in a dataset: findings with figures, and what to do next.

Each check is a function in the list of its module; its name is the code of its findings and its
docstring says what they mean. Sums of other rows and interim states of a run are not looked at.
"""

from collections.abc import Mapping

import pandas as pd

from azbenchlib import schema
from azbenchlib.analyse.checks import conditions, figures
from azbenchlib.analyse.checks.view import Check, View

CHECKS: tuple[Check, ...] = (*figures.CHECKS, *conditions.CHECKS)


def check(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """All findings of all checks.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        The dataset's tables. What its findings tell already is not told again, so that readers may
        speak of what they alone can see, and a dataset may be checked twice.

    Returns
    -------
    DataFrame
        The table findings with the new rows alone, at most one a run and check.
    """
    view = View(tables)
    rows = []
    paths = view.runs["source_path"].to_dict()
    for inspect in CHECKS:
        told = view.runs_with(inspect.__name__)
        for doubt in inspect(view):
            if doubt.run_id not in told:
                rows.append(
                    {
                        "run_id": doubt.run_id,
                        "source_path": paths[doubt.run_id],
                        "severity": doubt.severity,
                        "code": inspect.__name__,
                        "message": f"{view.names[doubt.run_id]}: {doubt.what}",
                        "advice": doubt.advice,
                    }
                )
    return schema.frame("findings", rows)


def meanings() -> dict[str, str]:
    """What each code means: the docstrings of the checks, in the order in which they run."""
    return {check.__name__: " ".join((check.__doc__ or "").split()) for check in CHECKS}
