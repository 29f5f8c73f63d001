"""Run notebooks on shipped datasets, as pages for the gallery of the site: reports/gallery/NAME.html.

.venv/bin/python scripts/make_gallery.py
"""

from pathlib import Path

from azbenchlib.core.files import write_atomically
from azbenchlib.report import execute, page

FOLDER = Path(__file__).resolve().parents[1] / "reports" / "gallery"
NOTEBOOKS = ("02_latency", "02b_host_cache", "03_limits", "04_cost", "05_compare", "06_size")


def main() -> None:
    """Write a page for each notebook, run with the parameters that stand in it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in NOTEBOOKS:
        print(name, flush=True)
        executed = execute.run_notebook(execute.find_notebook(name), {})
        write_atomically(FOLDER / f"{name}.html", page.to_html(executed, "").encode())


if __name__ == "__main__":
    main()
