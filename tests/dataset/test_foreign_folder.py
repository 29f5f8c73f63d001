"""A folder of others: what lies in it is read, and never run, whatever it is called."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lab_tools import need_fio, own_cache  # noqa: F401
from waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
AZBENCH = Path(sys.executable).with_name("azbench")
# Modules that every verb, its kernel or its server imports, first or last; and what Python itself looks for.
MODULES = (
    *("pandas", "numpy", "json", "matplotlib", "seaborn", "yaml", "pydantic", "typing", "struct", "socket"),
    *(
        "IPython",
        "ipykernel",
        "ipykernel_launcher",
        "traitlets",
        "papermill",
        "nbconvert",
        "weasyprint",
        "xlrd",
    ),
    *("azbenchlib", "sitecustomize", "usercustomize", "encodings", "backend_of_the_folder"),
)
# Settings that Jupyter, IPython and nbconvert know; all but the last are programs.
SETTINGS = (
    *("ipython_config.py", "ipython_kernel_config.py", "jupyter_config.py", "jupyter_nbconvert_config.py"),
    *(
        "jupyter_nbclient_config.py",
        "papermill_config.py",
        "profile_default/ipython_config.py",
        ".pythonrc.py",
    ),
    *("profile_default/startup/00-first.py", ".ipython/profile_default/startup/00-first.py"),
    *("profile_default/ipython_kernel_config.py", ".jupyter/jupyter_config.py", "startup/00-first.py"),
)
MATPLOTLIBRC = "backend: module://backend_of_the_folder\ntext.usetex: True\nfont.size: 40\n"
JOB = "[job]\nrw=randread\nbs=4k\nsize=1m\n"
FILE = """
title: A disk
region: westeurope
vm: Standard_D4as_v5
disks:
  data: {sku: Premium_LRS, size: 32GiB}
workloads:
  read: {rw: randread, bs: 4k, size: 1m, runtime: 1}
"""


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A dataset, a job file and a measurement file in a folder full of traps; one that runs leaves a file."""
    folder = tmp_path / "folder"
    shutil.copytree(ROOT / "datasets" / "azure-local-disks-2020", folder)
    (folder / "job.fio").write_text(JOB)
    (folder / "file.yaml").write_text(FILE)
    (folder / "matplotlibrc").write_text(MATPLOTLIBRC)
    for name in (*(f"{module}.py" for module in MODULES), *SETTINGS):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        mark = str(tmp_path / "ran")
        path.write_text(f"open({mark!r}, 'a').write({name!r} + '\\n')\nraise SystemExit(9)\n")
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("report", ".", "-o", "../made", "--format", "html"),
        ("read", "raw"),
        ("verdict", "."),
        ("limits", "--vm", "Standard_E8ds_v4", "--disk", "P30"),
        ("cost", "--vm", "Standard_E8ds_v4", "--disk", "P30", "--region", "westeurope"),
        ("plan", "file.yaml"),
        ("doctor",),
        pytest.param(
            ("lab", "run", "job.fio", "--disk", "P4", "--seconds", "1", "-o", "../made"),
            marks=pytest.mark.long,
        ),
        pytest.param(
            ("run", "file.yaml", "--quick", "-p", "longest_s=1.0", "-o", "../made"), marks=pytest.mark.long
        ),
        ("run", "file.yaml", "--target", "local", "--quick", "-o", "../made"),
    ],
    ids=lambda words: " ".join(words[:2]) + (" local" if "local" in words else ""),
)
@pytest.mark.slow
def test_nothing_of_the_current_folder_is_run(planted: Path, words: tuple[str, ...]) -> None:
    if words[0] in ("lab", "run"):
        need_fio()
    done = subprocess.run([AZBENCH, *words], cwd=planted, capture_output=True, text=True, timeout=PATIENCE_S)
    ran = planted.parent / "ran"
    assert not ran.exists(), ran.read_text()
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.long
def test_settings_of_matplotlib_in_the_current_folder_do_not_change_a_report(planted: Path) -> None:
    for folder in (planted, ROOT):
        made = planted.parent / f"of-{folder.name}"
        words = ["report", str(planted), "-o", str(made), "--format", "html"]
        subprocess.run([AZBENCH, *words], cwd=folder, check=True, capture_output=True, timeout=PATIENCE_S)
    first, second = (path.read_text() for path in sorted(planted.parent.glob("of-*/report.html")))
    assert first == second


def test_a_path_that_the_user_names_is_the_users(tmp_path: Path) -> None:
    """PYTHONPATH goes on to the kernel: what is in it is imported there, as anywhere else."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "my_own_module.py").write_text("NUMBER = 41\n")
    code = (
        "from pathlib import Path; import nbformat; from azbenchlib.report import execute\n"
        "cell = nbformat.v4.new_code_cell('import my_own_module; print(my_own_module.NUMBER + 1)')\n"
        "head = nbformat.v4.new_code_cell('', metadata={'tags': ['parameters']})\n"
        "book = nbformat.v4.new_notebook(cells=[head, cell])\n"
        "book.metadata.kernelspec = {'name': 'python3', 'display_name': '', 'language': 'python'}\n"
        "path = Path('book.ipynb'); nbformat.write(book, path)\n"
        "print(execute.run_notebook(path, {}).cells[-1].outputs[0].text)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "mine")},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "42"
