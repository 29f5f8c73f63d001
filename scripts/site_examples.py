"""A hook of MkDocs: the example report becomes a part of the site, for it lies outside of docs/."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = {
    "example/report.html": "reports/example/report.html",
    "example/report.pdf": "reports/example/report.pdf",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the examples to the files of the site."""
    for name, source in EXAMPLES.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    return files
