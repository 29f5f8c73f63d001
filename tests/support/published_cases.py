"""Published cases of Azure disks, from the files beside the corpus."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from azbenchlib.verdict.cases.read import deliver_case

__all__ = ["cases", "cases_files", "deliver_case"]


def cases_files() -> list[Path]:
    """The files with all of them; none where the corpus is not."""
    corpus = os.environ.get("AZBENCH_CORPUS")
    return sorted((Path(corpus).parent / "cases").glob("cases*.json")) if corpus else []


def cases() -> list[dict[str, Any]]:
    """All that there are; none where the corpus is not."""
    return [case for path in cases_files() for case in json.loads(path.read_text())["cases"]]
