"""The lessons as they are run: unattended by papermill, with widgets, as a site, and in a real JupyterLab."""

import json
import math
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest
from ipywidgets import HTML, Button, IntText, SelectionSlider, Text, VBox, Widget
from jupyterlab_page import Lab as JupyterLab
from jupyterlab_page import announced, fresh_page, open_notebook, run_all, started_lab  # noqa: F401
from lab_tools import own_cache  # noqa: F401
from measuring import Measurement
from playwright.sync_api import Page
from programs import azbench
from waiting import PATIENCE_S

from azbenchlib.core.errors import MissingToolError
from azbenchlib.core.units import NBSP
from azbenchlib.lessons import export, measure, practice, progress
from azbenchlib.lessons.answers import shown
from azbenchlib.lessons.check import Exercise
from azbenchlib.lessons.course import open_lesson
from azbenchlib.lessons.overview import Course
from azbenchlib.lessons.shipped import COURSE, LessonEntry
from azbenchlib.report import execute, page

pytestmark = [pytest.mark.slow, pytest.mark.fio]

EACH = pytest.mark.parametrize("entry", COURSE, ids=lambda entry: entry.name)
SOME = [COURSE[4]]  # all of them are in the long job
# How far a measurement of some tenths of a second may be from the model, on a machine that others use too.
WITHIN = 0.35


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test writes into the progress of whoever runs it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "user"))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)


@pytest.fixture
def attended(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a kernel of Jupyter's server has it."""
    monkeypatch.setenv("JPY_SESSION_NAME", "01_units.ipynb")


def blocks(executed: nbformat.NotebookNode) -> str:
    """All that the cells show, as plain text."""
    outputs = [output for cell in executed.cells for output in cell.get("outputs", [])]
    return "\n".join(output.get("data", {}).get("text/plain", "") for output in outputs)


def check_lesson(entry: LessonEntry, prediction: str, answer: str, verdict: str) -> None:
    def holds(text: str) -> None:
        measured, model = re.findall(r"Measured: ([\d.,]+) .*?Model: ([\d.,]+) ", text)[0]
        assert figure(measured) == pytest.approx(figure(model), rel=WITHIN)

    Measurement(lambda: checked_page(entry, prediction, answer, verdict), busy).check(holds)


def busy(text: str) -> str:
    """What a lesson says of a busy machine."""
    return "the lesson says so" if "This machine was busy" in text else ""


def checked_page(entry: LessonEntry, prediction: str, answer: str, verdict: str) -> str:
    """Run a lesson unattended, look at its tables, figures and text, and return the text."""
    notebook = execute.find_notebook(f"lessons/{entry.notebook}")
    given = {"seed": 3, "quick": True, "prediction": prediction, "answer": answer}
    executed = execute.run_notebook(notebook, given)
    text = blocks(executed)
    assert "No prediction yet" in text if not prediction else f"Your prediction: {prediction}" in text
    assert "What fio measured, as the disk would give it at full speed." in text
    assert "measured:" in text and verdict in text  # the figure in words, and the answer judged
    html = page.to_html(executed, entry.title)
    assert html.count("<svg") >= 2 and html.count('class="data') >= 3
    assert (
        html.count('<details class="command">') == 4
        and re.search("rw=(rand)?(read|write)", html)
        and "50.00th=[" in html
    )
    assert html.count('<h2 id="') >= 7 and f"<h1>{entry.number}. {entry.title}" in re.sub(
        r' id="[^"]*"', "", html
    )
    assert not re.search(r'(?:src|href)="https?://', html.replace("https://docs", ""))
    return text


def typed(exercise: Exercise, value: float) -> str:
    """An answer as a student types it."""
    return shown(value, exercise.unit) if exercise.options else f"{value / exercise.unit.size:.6f}"


def figure(text: str) -> float:
    return float(text.rstrip(".").replace(",", ""))


@pytest.mark.alone
@pytest.mark.parametrize("entry", SOME, ids=lambda entry: entry.name)
def test_a_lesson_runs_unattended(entry: LessonEntry) -> None:
    exercise = open_lesson(entry.name).exercise_of(3)
    check_lesson(entry, "1,000", typed(exercise, exercise.right), "Right.")


@pytest.mark.alone
@pytest.mark.long
@EACH
def test_every_lesson_runs_unattended(entry: LessonEntry) -> None:
    exercise = open_lesson(entry.name).exercise_of(3)
    wrong = exercise.misconceptions[0]
    check_lesson(entry, "", typed(exercise, wrong.answer), f"Not yet: {wrong.name}.")


@EACH
@pytest.mark.sampled(1)
def test_a_lesson_draws_its_model_for_every_setting(entry: LessonEntry) -> None:
    one = open_lesson(entry.name, quick=True, prediction="5")
    for knob in one.knob.values:
        shown = one.confront(knob)
        assert shown.html.count("<figure") == len(one.views(knob)) and "model" in shown.html
        assert len(one.model(knob)) == len(one.views(knob)) and one.expected(knob) > 0
    series, x = one.place(one.knob.start)
    assert series in set(one.model(one.knob.start)[0]["series"]) and not math.isnan(x)
    assert "your prediction" in one.confront(one.knob.start).html
    assert one.explore().html.count("<tr>") == len(one.knob.values) + 1


def parts(box: VBox, kind: type[Any]) -> list[Any]:
    """The widgets of a kind in a box, from top to bottom."""
    found: list[Widget] = []
    for child in box.children:
        found += (
            parts(child, kind) if hasattr(child, "children") else [child] if isinstance(child, kind) else []
        )
    return found


def press(box: VBox, text: str) -> None:
    next(one for one in parts(box, Button) if one.description == text).click()


def told(box: VBox) -> str:
    html = " ".join(re.sub(r"<style>.*?</style>", "", one.value, flags=re.DOTALL) for one in parts(box, HTML))
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


@pytest.mark.alone
@pytest.mark.usefixtures("attended")
def test_the_widgets_keep_a_prediction_measure_and_judge() -> None:
    one = open_lesson("queue", quick=True)
    asked, bench, turned = one.predict(), one.measure(), one.explore()
    press(bench, "Measure")
    assert "Predict first" in told(bench) and not one.measured
    assert "model" not in told(turned)  # nothing is given away before a prediction is kept
    (field,) = parts(asked, Text)
    field.value = "many"
    press(asked, "Keep it")
    assert "'many' is not a number" in told(asked) and one.predicted is None
    field.value = "5k"
    press(asked, "Keep it")
    assert one.predicted == 5_000

    def measure() -> str:
        press(bench, "Measure again" if one.measured else "Measure")
        return told(bench)

    def holds(text: str) -> None:
        assert (
            "Your prediction, 5k, was 2.7 times too high. Probably behind it: the limit for the rate." in text
        )

    Measurement(measure, busy).check(holds)
    assert parts(bench, Button)[0].description == "Measure again"
    (slider,) = parts(turned, SelectionSlider)
    before = parts(turned, HTML)[-1].value
    slider.value = 1_100
    assert parts(turned, HTML)[-1].value != before
    press(turned, "Measure here")
    assert set(one.measured) == {5_000, 1_100}
    assert parts(open_lesson("queue").predict(), Text)[0].value == "5k"  # when the student comes back
    kept = progress.load_progress()["queue"]
    assert (kept.prediction, kept.measured, kept.state) == ("5k", True, "measured")


@pytest.mark.usefixtures("attended")
def test_the_exercise_is_judged_and_what_is_solved_is_kept() -> None:
    one = open_lesson("burst", seed=2)
    box = one.exercise()
    exercise = one.exercise_of(2)
    (field,) = parts(box, Text)
    field.value = str(exercise.misconceptions[1].answer / exercise.unit.size)
    press(box, "Check")
    assert f"Not yet: {exercise.misconceptions[1].name}" in told(box)
    assert "burst" not in progress.load_progress()
    field.value = f"{exercise.right / exercise.unit.size:.5g}"
    press(box, "Check")
    assert "Right." in told(box) and progress.load_progress()["burst"].solved == [2]
    press(box, "Another")
    assert parts(box, IntText)[0].value == 3 and one.exercise_of(3).question[:60] in told(box)
    data = Course().lessons().data
    assert data is not None and data.set_index("name").loc["burst", "solved"] == [2]
    assert "done" in Course().lessons().html


@pytest.mark.usefixtures("attended")
def test_an_exercise_with_answers_to_choose_from_takes_a_letter() -> None:
    one = open_lesson("reading", seed=1)
    exercise, box = one.exercise_of(1), one.exercise()
    shown_exercise = parts(box, HTML)[0].value
    assert re.findall(r"<li>(.*?)</li>", shown_exercise) == list(exercise.options)
    assert f"<pre>{exercise.excerpt}</pre>" in unescape(shown_exercise).replace(NBSP, " ")
    (field,) = parts(box, Text)
    assert field.placeholder == "a letter"
    for wrong in exercise.misconceptions:
        field.value = shown(wrong.answer, exercise.unit)
        press(box, "Check")
        assert f"Not yet: {wrong.name}" in told(box) and "reading" not in progress.load_progress()
    field.value = "3.5k"
    press(box, "Check")
    assert "'3.5k' is not one of the answers; write its letter, such as B" in told(box)
    field.value = exercise.answer[0].lower()
    press(box, "Check")
    assert "Right." in told(box) and progress.load_progress()["reading"].solved == [1]


@pytest.mark.usefixtures("attended")
def test_help_comes_step_by_step_and_what_it_solves_does_not_count() -> None:
    one = open_lesson("queue", seed=2)
    exercise, box = one.exercise_of(2), one.exercise()
    for i, step in enumerate(exercise.steps, 1):
        press(box, "Help")
        assert f"Help {i} of 3 {step}" in told(box) and exercise.solution not in told(box)
    press(box, "Help")
    assert exercise.solution in told(box)
    (field,) = parts(box, Text)
    field.value = f"{exercise.right / exercise.unit.size:.5g}"
    press(box, "Check")
    assert f"Right. {exercise.solution}" in told(box) and "queue" not in progress.load_progress()


def test_an_unattended_run_keeps_nothing() -> None:
    one = open_lesson("units", prediction="3,052", answer="3")
    one.exercise()
    assert progress.load_progress() == {} and not practice.attended()


@pytest.mark.usefixtures("attended")
def test_a_damaged_progress_file_is_no_end_of_the_course(tmp_path: Path) -> None:
    path = tmp_path / "user" / "azbench" / progress.PROGRESS_FILE
    path.parent.mkdir(parents=True)
    for text in ("", "[]", '{"units": 3}', '{"units": {"solved": "x"}}'):
        path.write_text(text)
        assert progress.load_progress() == {}
        assert "not begun" in Course().lessons().html


@pytest.mark.usefixtures("attended")
def test_without_fio_a_lesson_says_so_and_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    one = open_lesson("units", quick=True, prediction="5")
    bench = one.measure()
    press(bench, "Measure")
    assert "measuring needs fio on Linux; install it" in told(bench)
    assert not parts(bench, Button)[0].disabled


def test_a_fio_without_the_engine_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure.programs, "find", lambda: measure.programs.Fio("fio", "fio-3.41", ("psync",)))
    with pytest.raises(MissingToolError, match="this fio has no NBD engine; "):
        measure.find_fio()


def test_notebooks_are_copied_once_and_edits_stay(tmp_path: Path) -> None:
    folder = export.working_folder(tmp_path / "mine")
    names = {path.name for path in folder.glob("*.ipynb")}
    assert names == {"00_course.ipynb", *(f"{entry.notebook}.ipynb" for entry in COURSE)}
    (folder / "01_units.ipynb").write_text("edited")
    (folder / "02_queue.ipynb").unlink()
    export.working_folder(folder)
    assert (folder / "01_units.ipynb").read_text() == "edited" and (folder / "02_queue.ipynb").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("mine", "--export", "site"), "give one of the two"),
        (("--quick",), "--pdf and --quick belong to --export DIR"),
        (("--export", "/proc/none"), "cannot be written"),
    ],
)
def test_learn_refuses_in_a_sentence(arguments: tuple[str, ...], sentence: str, tmp_path: Path) -> None:
    done = azbench("learn", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and sentence in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def disabled_by(server: dict[str, Any]) -> set[str]:
    """Which of its extensions a JupyterLab does without."""
    with urllib.request.urlopen(f"{server['url']}lab?token={server['token']}") as answer:  # noqa: S310
        found = re.search(
            r'<script id="jupyter-config-data"[^>]*>(.*?)</script>', answer.read().decode(), re.S
        )
    assert found
    return set(json.loads(found[1])["disabledExtensions"])


def test_learn_becomes_jupyterlab_and_ends_with_it(tmp_path: Path) -> None:
    names = {"HOME": "home", "JUPYTER_RUNTIME_DIR": "runtime", "JUPYTER_CONFIG_DIR": "config"}
    places = {name: str(tmp_path / folder) for name, folder in names.items()}
    settings = tmp_path / "config" / "labconfig" / "page_config.json"  # the user's own
    settings.parent.mkdir(parents=True)
    settings.write_text('{"disabledExtensions": {"theirs": true}}')
    command = [str(Path(sys.executable).with_name("azbench")), "learn", "mine", "--no-browser"]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=tmp_path, env=os.environ | places, stdout=log, stderr=log)
        try:
            found = announced(process, tmp_path)
            assert found["pid"] == process.pid and Path(found["root_dir"]) == tmp_path / "mine"
            assert disabled_by(found) == {"@jupyterlab/apputils-extension:announcements", "theirs"}
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
    text = (tmp_path / "log").read_text()
    assert "Your notebooks: mine" in text and f"{found['url']}lab/tree/00_course.ipynb?token=" in text
    assert (tmp_path / "mine" / "00_course.ipynb").is_file()


def test_a_missing_part_of_the_course_is_told(tmp_path: Path) -> None:
    program = (
        "import importlib.util as u, sys; find = u.find_spec; u.find_spec = lambda name, *rest: None if "
        "name == 'jupyterlab' else find(name, *rest); sys.argv = ['azbench', 'learn']; from azbenchlib.cli "
        "import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "pip install 'azbench[notebooks]'" in done.stderr and "jupyterlab is missing" in done.stderr


@pytest.mark.long
def test_the_course_is_exported_as_a_site_without_a_network(tmp_path: Path) -> None:
    done = azbench("learn", "--export", "site", "--quick", "--pdf", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    pages = {path.name: path.read_text() for path in site.glob("*.html")}
    assert len(pages) == len(COURSE) + 2 and pages["index.html"] == pages["00_course.html"]
    for name, html in pages.items():
        linked = set(re.findall(r'href="([^"#]+\.(?:html|ipynb))', html))
        assert linked and linked <= set(pages), name
    assert all((site / f"{entry.notebook}.pdf").read_bytes().startswith(b"%PDF") for entry in COURSE)


@pytest.fixture
def quick_lessons(lab: JupyterLab) -> Iterator[JupyterLab]:
    """JupyterLab with lessons that measure for seconds only."""
    for path in (lab.folder / "notebooks" / "lessons").glob("*.ipynb"):
        path.write_text(path.read_text().replace("quick: bool = False", "quick: bool = True"))
    yield lab


@pytest.mark.browser
@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(entry, marks=pytest.mark.long, id=entry.name)
        for entry in COURSE
        if entry.name in ("units", "queue", "burst", "caches")
    ],
)
def test_a_student_works_through_a_lesson(entry: LessonEntry, page: Page, quick_lessons: JupyterLab) -> None:
    open_notebook(page, quick_lessons, f"lessons/{entry.notebook}.ipynb")
    run_all(page)
    field = page.get_by_placeholder("a number, in").first
    field.fill("1,000")
    field.press("Enter")
    page.locator("button", has_text="Keep it").click()
    page.locator("text=Now measure: the button is below").wait_for()
    page.locator("button", has_text="Measure").first.click()
    page.locator("text=Prediction and measurement").first.wait_for()
    page.locator("button", has_text="Measure again").first.wait_for()
    figures = page.locator(".widget-html-content img")
    last = figures.count() - 1
    before = figures.nth(last).get_attribute("src")
    track = page.locator(".noUi-base").first
    track.scroll_into_view_if_needed()
    place = track.bounding_box()
    assert place is not None
    page.mouse.click(place["x"] + 0.98 * place["width"], place["y"] + place["height"] / 2)
    page.wait_for_function(
        "([at, before]) => document.querySelectorAll('.widget-html-content img')[at]?.src !== before",
        arg=[last, before],
    )
    exercise = open_lesson(entry.name).exercise_of(1)
    answer = page.get_by_placeholder("a number, in").last
    for value, verdict in (
        (exercise.misconceptions[0].answer, f"Not yet: {exercise.misconceptions[0].name}"),
        (exercise.right, "Right."),
    ):
        answer.fill(f"{value / exercise.unit.size:.6g}")
        answer.press("Enter")
        page.locator("button", has_text="Check").click()
        page.locator(".told", has_text=verdict).wait_for()
    kept = json.loads((quick_lessons.folder / "user" / "azbench" / progress.PROGRESS_FILE).read_text())
    assert kept[entry.name] == {"prediction": "1,000", "measured": True, "solved": [1]}


def test_each_lesson_has_its_notebook_with_its_own_parameters() -> None:
    found = sorted(
        path.stem for path in (Path(__file__).parents[2] / "notebooks" / "lessons").glob("*.ipynb")
    )
    assert found == ["00_course", *(entry.notebook for entry in COURSE)]
    for entry in COURSE:
        cells = nbformat.read(execute.find_notebook(f"lessons/{entry.notebook}"), as_version=4).cells
        code = [cell.source for cell in cells if cell.cell_type == "code"]
        assert f'open_lesson("{entry.name}"' in "".join(code) and "quick: bool = False" in code[0]
        assert cells[0].source.startswith(f"# {entry.number}. {entry.title}\n")
        assert f"About {entry.minutes} minutes" in cells[0].source
        for part in (
            "Predict",
            "Measure",
            "Why",
            "Turn it",
            "Exercise",
            "Where somebody got it wrong",
            "Sources",
        ):
            assert any(cell.source.split("\n")[0] == f"## {part}" for cell in cells), part
