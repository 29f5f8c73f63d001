"""A sample of damaged inputs of every kind from outside; benchmarks/fuzz_readers.py tries millions."""

from pathlib import Path

import fuzz_readers
import pytest
from fuzz_kinds import KINDS, PARSERS

SEED = 20261126
INPUTS = {"string": 3000}  # of each other kind:
FEW = 60


@pytest.fixture(scope="module")
def every_kind() -> list[str]:
    return fuzz_readers.Seeds().names


@pytest.mark.parametrize("kind", sorted({*KINDS, *PARSERS}))
@pytest.mark.sampled(6)
def test_a_damaged_document_is_read_or_refused_in_a_sentence(kind: str, tmp_path: Path) -> None:
    seeds = fuzz_readers.Seeds([kind], share_of_texts=0.5)
    for number in range(INPUTS.get(kind, FEW)):
        _, name, data, ways = seeds.input(SEED, number)
        outcome = fuzz_readers.attempt(kind, name, data, tmp_path, whole=number % 10 == 0)
        assert not outcome["failure"], f"input {number}, {ways}: {outcome['failure']}"


def test_damaged_outputs_of_every_format_are_read_or_refused(every_kind: list[str], tmp_path: Path) -> None:
    formats = [kind for kind in every_kind if kind not in KINDS and kind not in PARSERS]
    assert len(formats) > 20
    seeds = fuzz_readers.Seeds(formats)
    for number in range(300):
        kind, name, data, ways = seeds.input(SEED, number)
        outcome = fuzz_readers.attempt(kind, name, data, tmp_path, whole=number % 20 == 0)
        assert not outcome["failure"], f"{kind}, input {number}, {ways}: {outcome['failure']}"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_is_damaged_was_whole(kind: str, tmp_path: Path) -> None:
    """Each seed is read as it is, or its mutations would all be refused for one and the same reason."""
    for seed in KINDS[kind].seeds:
        KINDS[kind].read(tmp_path, seed, True)
