"""A program in the place of az that answers from a list, one entry a call, and notes what it was given."""

import json
import shutil
from pathlib import Path

from azbenchlib.azure.az import Az

SCRIPT = r"""#!/bin/sh
cd '{folder}' && printf '%s' "$*" | tr '\n' ' ' >>given && echo >>given
number=$(wc -l <given)
[ -e answers/$number ] || number=last
cat answers/$number.err >&2 2>/dev/null
cat answers/$number
exit $(cat answers/$number.status 2>/dev/null || echo 0)
"""


def arm(code: str, message: str) -> str:
    """An error of the resource manager as az 2.91 writes it."""
    return f"ERROR: ({code}) {message}\nCode: {code}\nMessage: {message}\n"


GONE = arm("ResourceGroupNotFound", "Resource group 'g' could not be found.")
PAGE = "ERROR: Operation returned an invalid status 'Not Found'\nContent: <html><body>None</body></html>\n"


def program(folder: Path, *answers: object) -> Az:
    """The program; a text is an error, all else what is answered; the last one is given again and again."""
    place = folder / "answers"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    (folder / "given").unlink(missing_ok=True)
    for name, answer in [*enumerate(answers, 1), ("last", answers[-1])]:
        failed = isinstance(answer, str)
        (place / f"{name}").write_text("" if failed or answer is None else json.dumps(answer))
        (place / f"{name}.err").write_text(answer if failed else "")
        (place / f"{name}.status").write_text(str(_status(answer)))
    path = folder / "az"
    path.write_text(SCRIPT.format(folder=folder))
    path.chmod(0o755)
    return Az(path=str(path))


def _status(answer: object) -> int:
    """With which status az ends: for whatever could not be found, be it by a proxy, it is 3."""
    if not isinstance(answer, str):
        return 0
    return 3 if "found" in answer.lower() else 1


def given(folder: Path) -> list[str]:
    """The commands that the program got, as lines."""
    file = folder / "given"
    return file.read_text().splitlines() if file.exists() else []
