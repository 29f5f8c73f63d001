"""Ten random setups in the lab: the verdict names the limit that the lab itself says it imposed."""

from pathlib import Path

import lab_verdicts
import numpy as np
import pytest
from lab_tools import need_fio, own_cache  # noqa: F401

pytestmark = pytest.mark.fio
SEED, SETUPS, WRONG = 20261120, 10, 1
SECONDS = 1.0


def test_the_verdict_names_what_the_lab_imposed(tmp_path: Path) -> None:
    need_fio()
    setups = list(lab_verdicts.draw(np.random.default_rng(SEED), SETUPS))
    found = lab_verdicts.outcomes(setups, tmp_path / "ds", SECONDS)
    assert {one.setup for one in found} == {one.setup.setup_id for one in setups}
    assert len({one.imposed for one in found}) > 2  # not one limit all the time
    if sum(one.busy for one in found) > SETUPS / 2:
        pytest.skip("this machine was too busy for the lab to keep to its limits")
    wrong = [one for one in found if not one.right and not one.busy]
    assert len(wrong) <= WRONG, wrong
