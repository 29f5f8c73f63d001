"""Bills of the command line against plain sums over the price files."""

from pathlib import Path

import bills_by_hand
import pytest


@pytest.fixture(autouse=True)
def _shipped_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_random_bills_equal_plain_sums() -> None:
    """30 of them here; benchmarks/bills_by_hand.py compares as many as one likes."""
    wrong, counts = bills_by_hand.compare(30, seed=3)
    assert wrong == []
    assert all(counts[kind] for kind in ("VM plain", "Premium ZRS", "Standard S", "pv2", "ultra", "burst"))
