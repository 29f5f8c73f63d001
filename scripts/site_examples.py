"""A hook of MkDocs: the example report and executed notebooks, from outside of docs/, join the site."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = {
    "example/report.html": "reports/example/report.html",
    "example/report.pdf": "reports/example/report.pdf",
}
NOTEBOOKS = ROOT / "reports" / "gallery"  # make gallery
HERE = "<!-- executed notebooks -->"
NONE = "`make gallery` in a checkout runs them and `make docs` then adds their pages here."
HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
TAG = re.compile(r"<a [^>]*>.*?</a>|<[^>]+>", re.DOTALL)  # a heading's link to itself, and marks


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the examples, and the notebooks that were executed, to the files of the site."""
    notebooks = {f"gallery/{path.name}": str(path) for path in sorted(NOTEBOOKS.glob("*.html"))}
    for name, source in (EXAMPLES | notebooks).items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """List the notebooks that were executed."""
    paths = sorted(NOTEBOOKS.glob("*.html"))
    listed = [f"- [{_title(path)}](gallery/{path.name})" for path in paths]
    return markdown.replace(HERE, "\n".join(listed) or NONE)


def _title(path: Path) -> str:
    found = HEADING.search(path.read_text(encoding="utf-8"))
    return TAG.sub("", found[1]).strip() if found else path.stem
