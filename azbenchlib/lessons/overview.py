"""What `00_course.ipynb` shows: the lessons, and how far the student is."""

from __future__ import annotations

import pandas as pd
from markupsafe import Markup

from azbenchlib.answers.blocks import Block, render
from azbenchlib.lessons.course import entries
from azbenchlib.lessons.practice import attended
from azbenchlib.lessons.progress import LessonProgress, load_progress

_NOTHING = LessonProgress()


class Course:
    """The course as a whole."""

    def lessons(self) -> Block:
        """Every lesson with its time, and, where somebody attends, what was predicted and solved."""
        kept = load_progress() if attended() else {}
        rows, course = [], entries()
        for entry in course:
            one = kept.get(entry.name, _NOTHING)
            name = Markup('<a href="{}.ipynb">{}. {}</a>').format(entry.notebook, entry.number, entry.title)
            cells: list[object] = [f"{entry.minutes} min" if entry.minutes else "–"]
            if attended():
                cells += [one.prediction or "–", str(len(one.solved)), one.state]
            rows.append({"name": name, "sub": "", "entry": None, "cells": cells})
        columns = [
            "Lesson",
            "Time",
            *(["Your prediction", "Exercises solved", "State"] if attended() else []),
        ]
        done = sum(one.state == "done" for one in kept.values())
        minutes = sum(entry.minutes for entry in course)
        note = f"{len(course)} lessons, {minutes} minutes together."
        note += f" Done: {done}." if attended() else ""
        left = [2, 4] if attended() else []
        values = {"note": note, "columns": columns, "rows": rows, "left": left}
        return Block(render("table", id="lessons", **values).html, self._data)

    @staticmethod
    def _data() -> pd.DataFrame:
        kept = load_progress()
        rows = [
            {
                "number": entry.number,
                "name": entry.name,
                "title": entry.title,
                **kept.get(entry.name, _NOTHING).model_dump(),
            }
            for entry in entries()
        ]
        return pd.DataFrame(rows)
