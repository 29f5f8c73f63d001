"""Published cases of Azure disks, from the folder beside the corpus."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from azbenchlib.verdict.cases.read import deliver_case

__all__ = ["cases", "cases_file", "deliver_case"]


def cases_file() -> Path | None:
    """The file with all of them; None where the corpus is not."""
    corpus = os.environ.get("AZBENCH_CORPUS")
    path = Path(corpus).parent / "cases" / "cases.json" if corpus else None
    return path if path and path.is_file() else None


def cases() -> list[dict[str, Any]]:
    """All that there are; none where the corpus is not."""
    path = cases_file()
    return json.loads(path.read_text())["cases"] if path else []
