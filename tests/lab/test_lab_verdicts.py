"""Random setups in the lab: the verdict names the limit that the lab itself says it imposed."""

import itertools
from pathlib import Path

import lab_verdicts
import numpy as np
import pytest
from lab_tools import need_fio, own_cache  # noqa: F401
from measuring import Measurement

pytestmark = pytest.mark.fio
SEED, WRONG = 20261120, 1
SECONDS = 1.0


@pytest.mark.parametrize("n_setups", [5, pytest.param(10, marks=pytest.mark.long)])
def test_the_verdict_names_what_the_lab_imposed(n_setups: int, tmp_path: Path) -> None:
    need_fio()
    setups = list(lab_verdicts.draw(np.random.default_rng(SEED), n_setups))
    tries = itertools.count()

    def measure() -> list[lab_verdicts.Outcome]:
        found = lab_verdicts.outcomes(setups, tmp_path / f"ds{next(tries)}", SECONDS)
        assert {one.setup for one in found} == {one.setup.setup_id for one in setups}
        return found

    def holds(found: list[lab_verdicts.Outcome]) -> None:
        wrong = [one for one in found if not one.right]
        assert len(wrong) <= WRONG, wrong
        assert len({one.imposed for one in found}) > 2  # not one limit all the time

    Measurement(measure, busy).check(holds)


def busy(found: list[lab_verdicts.Outcome]) -> str:
    setups = [one.setup for one in found if one.busy]
    return f"the lab was late in {len(setups)} setups" if setups else ""
