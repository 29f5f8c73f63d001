"""What is to be known of a demand that was measured: that a limit of its setup may have kept it low."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from azbenchlib.answers import sayings
from azbenchlib.answers.document import Sentence, Tone
from azbenchlib.answers.figures import AS_BYTES_PER_S, AS_IOPS, Figure
from azbenchlib.verdict import text
from azbenchlib.verdict.run_verdicts import judge_runs


def capped_demand(tables: Mapping[str, pd.DataFrame], run_ids: Sequence[str]) -> Sentence | None:
    """Say which documented limit bound the run that a demand is taken from; None: probably none did.

    Parameters
    ----------
    tables : mapping of str to DataFrame
    run_ids : sequence of str
        Of all that ran at once.
    """
    judged = next((one.judgement for one in judge_runs(tables) if set(run_ids) & set(one.run.run_ids)), None)
    if judged is None or not judged.probably_at_limit:
        return None
    figures: dict[str, Figure | str] = {}
    named = []
    for i, row in enumerate(sayings.binding_rows(judged)):
        unit = AS_BYTES_PER_S if row.label.quantity == "mbps" else AS_IOPS
        figures[f"limit{i}"] = Figure(row.value, unit, row.row or "")
        named.append(row.label.phrase(f"{{limit{i}}}"))
    if not named:
        return None
    probably = "" if judged.probability >= text.BOUND else "probably "
    return Sentence(
        f"the demand is no more than its run got, which was {probably}bound by {' and '.join(named)}: the "
        "workload may want more",
        figures,
        Tone.DOUBT,
    )
