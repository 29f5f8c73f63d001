"""The parts of a lesson that a student types into, turns and presses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ipywidgets import HTML, Button, HBox, IntText, Layout, SelectionSlider, Text, VBox

from azbenchlib.answers.blocks import Block, render
from azbenchlib.core.errors import AzbenchError

if TYPE_CHECKING:
    from azbenchlib.lessons.lesson import Lesson
    from azbenchlib.lessons.practice import Practice

_FIRST = "Predict first: type a number above and keep it. The figure appears then."
_NEXT = "Now measure, above. The figure appears then."
_TURNING = "The slider calculates the model anew at once; the button measures there."
_ANSWERING = (
    "Every seed is another exercise. Write 3,500, 3.5k or 3500 IOPS: a comma groups thousands, a point "
    "begins the decimals. Where there are answers to choose from, write the letter. What is right to one "
    "percent is right. Help comes in three steps; a fourth press shows the solution, and then another "
    "exercise is the one that counts."
)
_WIDE = Layout(width="min(100%, 34em)")
_NAMED = {"description_width": "initial"}


def prediction(lesson: Lesson) -> VBox:
    """The question with a field for a number, which is kept."""
    reply = HTML()
    field = Text(value=lesson.prediction, placeholder=lesson.unit.prompt, description="I predict")

    def keep(_: object) -> None:
        try:
            lesson.keep(field.value)
        except AzbenchError as error:
            reply.value = _shown(_note("", f"{error}."))
            return
        kept = f"{lesson.shown(lesson.predicted or 0.0)} {lesson.unit.name}"
        reply.value = _shown(_note("right", f"Kept: {kept}. Now measure: the button is below."))
        _redraw(lesson)

    question = HTML(_shown(render("told", tone="", label="Predict first", sentences=[lesson.question])))
    return VBox([question, HBox([field, _button("Keep it", keep)]), reply])


def bench(lesson: Lesson) -> VBox:
    """A button that measures the question's setting, and again; below it what came out."""
    shown, state = HTML(), HTML()
    lesson.scratch["bench"] = shown
    knob = lesson.knob.start
    button = _button("Measure", lambda _: press())

    def press() -> None:
        if lesson.predicted is None:
            state.value = _shown(_note("wrong", _FIRST))
            return
        if _measured(lesson, knob, button, state):
            shown.value = _shown(lesson.confront(knob))

    return VBox([HBox([button]), state, shown])


def explorer(lesson: Lesson) -> VBox:
    """A slider that calculates the model anew at once, and a button that measures there."""
    knob = lesson.knob
    slider = SelectionSlider(
        options=[(knob.text(value), value) for value in knob.values],
        value=knob.start,
        description=knob.name,
        style=_NAMED,
        layout=_WIDE,
        continuous_update=False,
    )
    figure, state = HTML(), HTML()
    button = _button("Measure here", lambda _: press())

    def draw() -> None:
        said = _TURNING if lesson.settled else _NEXT if lesson.predicted is not None else _FIRST
        state.value = _shown(_note("", said))
        figure.value = _shown(lesson.confront(slider.value)) if lesson.settled else ""

    def press() -> None:
        if lesson.settled and _measured(lesson, slider.value, button, state):
            draw()

    slider.observe(lambda _: draw(), "value")
    draw()
    lesson.scratch["explorer"] = draw
    return VBox([HBox([slider, button]), state, figure])


def exercise(lesson: Practice) -> VBox:
    """An exercise with a field for the answer, a button that checks it, and the next seed."""
    seed = IntText(value=lesson.seed, description="Exercise", layout=Layout(width="12em"))
    field = Text(placeholder="a number", description="Answer")
    question, verdict, how = HTML(), HTML(), HTML(_shown(_note("", _ANSWERING)))

    def ask() -> None:
        seed.value = max(0, seed.value)
        found = lesson.exercise_of(seed.value)
        field.placeholder, field.value, verdict.value = found.unit.prompt, "", ""
        question.value = _shown(found.asked)

    def check(_: object) -> None:
        verdict.value = _shown(lesson.judged(lesson.exercise_of(seed.value), field.value))

    def assist(_: object) -> None:
        verdict.value = _shown(lesson.help_with(lesson.exercise_of(seed.value)))

    def another(_: object) -> None:
        seed.value += 1

    seed.observe(lambda _: ask(), "value")
    ask()
    buttons = [field, _button("Check", check), _button("Help", assist)]
    return VBox([question, HBox(buttons), verdict, how, HBox([seed, _button("Another", another)])])


def _redraw(lesson: Lesson) -> None:
    """Show a new prediction where something is shown already."""
    bench_shown = lesson.scratch.get("bench")
    if bench_shown is not None and lesson.knob.start in lesson.measured:
        bench_shown.value = _shown(lesson.confront(lesson.knob.start))
    if "explorer" in lesson.scratch:
        lesson.scratch["explorer"]()


def _measured(lesson: Lesson, knob: float, button: Button, state: HTML) -> bool:
    """Measure, with the button out of reach; whether it was done."""
    button.disabled = True
    state.value = _shown(_note("", "Measuring: fio is driving the emulated disk. This takes up to a minute."))
    try:
        lesson.measure_at(knob)
    except AzbenchError as error:
        lesson.is_unmeasurable = True
        _redraw(lesson)
        state.value = _shown(_note("wrong", f"{error}."))
        return False
    finally:
        button.disabled = False
    button.description, state.value = "Measure again", ""
    if knob == lesson.knob.start:
        _redraw(lesson)
    return True


def _button(text: str, press: Callable[[object], None]) -> Button:
    made = Button(description=text, button_style="" if text in ("Another", "Help") else "primary")
    made.on_click(press)
    return made


def _note(tone: str, sentence: str) -> Block:
    return render("told", tone=tone, label="", sentences=[sentence])


def _shown(block: Block) -> str:
    """A block as a notebook shows it."""
    return block.as_notebook_html()
