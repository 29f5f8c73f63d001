"""The read-back test finds errors that are planted in copies of the tree, and names the figure that is wrong.

All of them are a job: ``python benchmarks/read_back_mutations.py``.
"""

from pathlib import Path

import pytest
from read_back_mutations import MUTATIONS, OUTPUTS, ULTRA, Mutation, faults, planted

QUICK = [one for one in MUTATIONS if one.shown_by == ULTRA][:5]  # the smallest report
QUICK += [one for one in MUTATIONS if one.shown_by == OUTPUTS][:1]


def test_every_error_can_be_planted(tmp_path: Path) -> None:
    """Each has its text in the tree just once; an error that is gone proves nothing."""
    for one in MUTATIONS:
        target = tmp_path / "azbenchlib" / one.file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((Path(__file__).parents[2] / "azbenchlib" / one.file).read_bytes())
        planted(one, tmp_path)
        assert one.instead in target.read_text()


def test_an_error_whose_text_is_gone_is_told(tmp_path: Path) -> None:
    gone = Mutation("nothing", "core/units.py", "no such text", "", ULTRA, ())
    (tmp_path / "azbenchlib" / "core").mkdir(parents=True)
    (tmp_path / "azbenchlib" / "core/units.py").write_text("")
    with pytest.raises(
        LookupError, match=r"'nothing' cannot be planted: core/units\.py has its text 0 times"
    ):
        planted(gone, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "mutation",
    QUICK,
    ids=lambda one: one.what,
)
@pytest.mark.long  # tests of what tests others
def test_a_planted_error_is_found_and_named(mutation: Mutation) -> None:
    assert list(faults([mutation])) == []
