"""Make what is shown of azbench: pages of notebooks, the example report and its picture.

.venv/bin/python scripts/make_gallery.py

writes, of shipped datasets, reports/gallery/NAME.html, reports/example and docs/report.png.
"""

import os
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from azbenchlib.campaign.doctor import find_browser
from azbenchlib.core.files import write_atomically
from azbenchlib.report import build, execute, page

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "reports" / "gallery"
EXAMPLE, SHOWN = ROOT / "reports" / "example", "azure-local-disks-2020"
PICTURE, SIZE = ROOT / "docs" / "report.png", {"width": 1160, "height": 1560}
NOTEBOOKS = ("02_latency", "02b_host_cache", "03_limits", "04_cost", "05_compare", "06_size")


def main() -> None:
    """Write a page for each notebook, run with the parameters that stand in it."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in NOTEBOOKS:
        print(name, flush=True)
        executed = execute.run_notebook(execute.find_notebook(name), {})
        write_atomically(FOLDER / f"{name}.html", page.to_html(executed, "").encode())


def example() -> None:
    """Write the example report, with the prices that are shipped, and the picture of its head."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["XDG_DATA_HOME"] = home
        print(build.build([SHOWN], EXAMPLE), flush=True)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(find_browser()), args=["--no-sandbox"])
        tab = browser.new_page(viewport=SIZE)
        tab.goto((EXAMPLE / "report.html").as_uri())
        taken = tab.screenshot()
        browser.close()
    Image.open(BytesIO(taken)).quantize(colors=64).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
    example()
