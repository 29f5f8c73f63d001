"""A lake where outputs are expected: told in a sentence that names the verb for it."""

import json
import shutil
from pathlib import Path

import pytest
from programs import azbench

from azbenchlib import Dataset, Lake
from azbenchlib.core.errors import InputError

OUTPUT = Path(__file__).parents[1] / "data" / "fio" / "randrw.json"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with an output and with the lake in which it is."""
    (tmp_path / "home").mkdir()
    shutil.copy(OUTPUT, tmp_path / "home")
    Lake(tmp_path / "home" / "lake").collect(OUTPUT)
    return tmp_path / "home"


@pytest.mark.parametrize(
    "words",
    [
        ("read", "lake"),
        ("report", "lake", "-o", "made"),
        ("verdict", "lake"),
        ("compare", "lake", "randrw.json"),
        ("import", "lake", "--name", "mine"),
        ("size", "lake"),
        ("collect", "lake", "-o", "other"),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.sampled(3)
def test_the_verb_for_lakes_is_named(words: tuple[str, ...], home: Path) -> None:
    done = azbench(*words, cwd=home)
    assert done.returncode == 2 and not done.stdout
    sentence = "lake: this folder is a lake; ask it with: azbench query lake 'FROM runs'"
    assert done.stderr == f"azbench: {sentence}\n"


def test_the_library_says_so_too(home: Path) -> None:
    with pytest.raises(InputError, match="is a lake"):
        Dataset.read(home / "lake")


def test_a_lake_within_a_folder_is_one_finding(home: Path) -> None:
    found = Dataset.read(home)
    about = found.findings[found.findings["code"].isin(["not_read", "not_recognised"])]
    assert about["message"].tolist() == [f"{home / 'lake'}: not read: a lake; ask it with: azbench query"]
    assert about["severity"].tolist() == ["info"]
    assert set(found.runs["source_path"]) == {str(home / "randrw.json")}
    again = Lake(home / "lake").collect(home)
    assert (again.outputs, again.there_already) == (0, 1)


def test_a_file_of_that_name_about_something_else_makes_no_lake(home: Path) -> None:
    (home / "lake.json").write_text(json.dumps({"lake": "Windermere"}))
    assert len(Dataset.read(home).runs)
