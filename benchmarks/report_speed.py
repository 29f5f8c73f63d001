"""How long a report takes, as a ratio within one run.

    .venv/bin/python benchmarks/report_speed.py [--rounds 5] [--dataset azure-local-disks-2020]

A is the HTML page of a shipped dataset, warm. B is papermill and nbconvert's stock template on a notebook
with the same imports and nothing else. The two are timed in turn, so the ratio holds on a noisy machine.
Target: A at most three times B. The PDF's time stands beside it.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import nbformat
import papermill
from nbconvert import HTMLExporter

from azbenchlib.dataset import dataset
from azbenchlib.report import execute, page, pdf

TARGET = 3.0


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dataset", default="azure-local-disks-2020")
    args = parser.parse_args()
    folder = str(dataset.find_dataset(args.dataset).resolve())
    pages: list[str] = []

    def report() -> None:
        executed = execute.run_notebook(execute.find_notebook("report"), {"datasets": [folder]})
        pages.append(page.to_html(executed, args.dataset))

    with tempfile.TemporaryDirectory() as scratch:
        empty, out = Path(scratch) / "imports.ipynb", Path(scratch) / "out.ipynb"
        cells = [nbformat.v4.new_code_cell("from azbenchlib import Report")]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), empty)

        def imports_only() -> None:
            manager = {"kernel_manager_class": execute.IpcKernelManager, "kernel_name": "python3"}
            papermill.execute_notebook(str(empty), str(out), progress_bar=False, **manager)
            HTMLExporter().from_filename(str(out))

        report(), imports_only()  # warm
        pairs = [(seconds(report), seconds(imports_only)) for _ in range(args.rounds)]
    documents = [seconds(lambda: pdf.to_pdf(pages[-1])) for _ in range(args.rounds)]
    ratio = statistics.median(a / b for a, b in pairs)
    for name, values in (("report HTML", [a for a, _ in pairs]), ("imports only", [b for _, b in pairs])):
        print(f"{name:13} {min(values):6.2f} {statistics.median(values):6.2f} {max(values):6.2f} s")
    print(f"{'PDF':13} {min(documents):6.2f} {statistics.median(documents):6.2f} {max(documents):6.2f} s")
    print(f"ratio (median of {args.rounds} pairs): {ratio:.2f}, target at most {TARGET:g}")


if __name__ == "__main__":
    main()
