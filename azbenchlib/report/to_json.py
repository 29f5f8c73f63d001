"""The answer of a report as plain data: what its cards say, for `azbench report --format json`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from azbenchlib.analysis.file_sets import FileSet
from azbenchlib.azure.prices.book import USD
from azbenchlib.cost.priced_setups import setup_of
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.report import formatting
from azbenchlib.report.part import Part, number
from azbenchlib.report.setup_answer import SetupAnswer, answers


def record(datasets: Sequence[Dataset], currency: str = USD) -> dict[str, Any]:
    """One object a setup, in the order of the page; what is not known is None.

    Parameters
    ----------
    datasets : sequence of Dataset
        Each with a manifest.
    currency : str
        Of the prices.

    Returns
    -------
    dict
        ``setups``: a list of dataset, setup, workload, iops, bw_bytes_per_s, repeats, latency (a list of
        workload, lat_kind and percentiles in µs, or ranges of those), over_time (rates of all jobs at once: a
        list of workload, metric, t_s and values), files (of a set of files of one workload how many they are,
        hosts and outliers), curve (over the queue depth or another axis, of which the figures are a point, as
        `azbench verdict` has it), surfaces (tests of iozone over the sizes of records and files, likewise),
        verdict (sentence, binding, probability), change (what would lift the limit that binds: part, rates
        then, binding then, price a month; or the obstacle; None where no limit is likely to bind) and
        price (per_month, currency, region).

    Raises
    ------
    InputError
        When a dataset has nothing to report.
    """
    parts = [Part(dataset, Path(str(dataset.place)), currency) for dataset in datasets]
    number(parts)
    return {"setups": [_setup(answer) for answer in answers(parts)]}


def _setup(answer: SetupAnswer) -> dict[str, Any]:
    rate = answer.card.rate
    return {
        "dataset": answer.part.manifest.name,
        "setup": answer.entry.name,
        "workload": None if rate is None else formatting.workload_of(rate),
        "iops": _figure(rate, "iops"),
        "bw_bytes_per_s": _figure(rate, "bw_bytes_per_s"),
        "repeats": None if rate is None else int(rate["repeats"]),
        "latency": [
            {
                "workload": told.of,
                "lat_kind": told.kind,
                "percentiles_us": {f"p{percentile:g}": value for percentile, value in told.values.items()},
                "ranges_us": {f"p{percentile:g}": list(ends) for percentile, ends in told.ranges.items()},
            }
            for told in answer.card.latencies
        ],
        "over_time": _over_time(answer),
        "files": _files(answer.card.files),
        "curve": answer.curve and answer.curve.record(),
        "surfaces": [surface.record() for surface in answer.surfaces],
        "verdict": _verdict(answer),
        "change": answer.next_step and answer.next_step.record(),
        "price": _price(answer),
    }


def _over_time(answer: SetupAnswer) -> list[dict[str, Any]]:
    """The rates over time of its workloads: times in s, and the rates at them in IOPS or bytes/s."""
    frame = answer.part.rate_courses
    mine = frame[frame["series"] == answer.card.series].groupby(["facet", "metric"], sort=False)
    return [
        {"workload": facet, "metric": metric, "t_s": rows["t_s"].tolist(), "values": rows["value"].tolist()}
        for (facet, metric), rows in mine
    ]


def _files(files: FileSet | None) -> dict[str, Any] | None:
    if files is None:
        return None
    hosts = files.hosts.drop(columns="apart").rename_axis("host").reset_index()
    outliers = files.outliers.astype(object).where(files.outliers.notna(), None)
    return {
        "n": files.n_files,
        "figure": files.column,
        "median": files.median,
        "low": files.low,
        "high": files.high,
        "hosts": hosts.to_dict(orient="records"),
        "outliers": outliers.to_dict(orient="records"),
    }


def _figure(rate: pd.Series | None, name: str) -> float | None:
    return None if rate is None or pd.isna(rate[name]) else float(rate[name])


def _price(answer: SetupAnswer) -> dict[str, Any] | None:
    """Of a month; None where the setup is not one of Azure, or a price is missing."""
    part = answer.part
    one = part.priced.get(setup_of(part.arrangement).get(answer.card.series, ""))
    if one is None or one.bill is None or one.total is None:
        return None
    return {"per_month": float(one.total), "currency": one.bill.currency, "region": one.region}


def _verdict(answer: SetupAnswer) -> dict[str, Any] | None:
    verdict = answer.verdict
    if verdict is None:
        return None
    return {
        "sentence": answer.sentence,
        "binding": [str(label) for label in verdict.judged.binding],
        "probability": verdict.judged.probability,
    }
