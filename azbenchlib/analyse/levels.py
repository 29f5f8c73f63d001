"""Which rows of the table runs are measurements of their own, and which sum others."""

import pandas as pd

MEMBERS = ["source_sha256", "source_doc", "group_id", "host"]


def no_sum(runs: pd.DataFrame) -> pd.Series:
    """Whether a row sums no other row that is there.

    Parameters
    ----------
    runs : DataFrame
        The table runs.

    Returns
    -------
    Series of bool
        True for jobs, and for groups whose jobs have no rows of their own: fio prints one or the other.
    """
    level = runs["level"].fillna("job")
    members = runs.assign(job=level == "job").groupby(MEMBERS, dropna=False)["job"].transform("any")
    return (level == "job") | ((level == "group") & ~members)
