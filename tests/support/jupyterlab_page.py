"""A real JupyterLab in a real browser: started, a notebook opened, run by its menu."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pages import new_context
from playwright.sync_api import Browser, Page, TimeoutError
from waiting import PATIENCE_S

from azbenchlib.lessons.export import JUPYTER_SETTINGS

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@dataclass(frozen=True)
class Lab:
    """A JupyterLab that runs."""

    address: str
    token: str
    folder: Path


@pytest.fixture(scope="module", name="lab")
def started_lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab over a copy of the notebooks, with nothing of the user's own settings."""
    folder = tmp_path_factory.mktemp("lab")
    shutil.copytree(NOTEBOOKS, folder / "notebooks", ignore=shutil.ignore_patterns(".*"))
    (folder / "home").mkdir()
    variables = {
        **os.environ,
        "HOME": str(folder / "home"),
        "JUPYTER_CONFIG_DIR": str(folder / "config"),
        "JUPYTER_DATA_DIR": str(folder / "data"),
        "JUPYTER_RUNTIME_DIR": str(folder / "runtime"),
        "IPYTHONDIR": str(folder / "ipython"),
        "JUPYTER_CONFIG_PATH": str(JUPYTER_SETTINGS),
        "XDG_DATA_HOME": str(folder / "user"),
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ServerApp.port=0"]
    command += [f"--ServerApp.root_dir={folder}"]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, env=variables, stdout=log, stderr=log)
        try:
            found = announced(server, folder)
            yield Lab(found["url"], found["token"], folder)
        finally:
            server.terminate()  # ends its kernels too
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


def announced(server: "subprocess.Popen[bytes]", folder: Path) -> dict[str, Any]:
    """Address and token, once the server has written them down and listens."""
    for _ in range(1800):
        if server.poll() is not None:
            break
        for file in (folder / "runtime").glob("jpserver-*.json"):
            try:
                told = dict(json.loads(file.read_text()))
                socket.create_connection(("localhost", told["port"])).close()
                return told
            except (ValueError, ConnectionRefusedError):  # half written, or not there yet
                pass
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start: {(folder / 'log').read_text()[-2000:]}")


@pytest.fixture(name="page")
def fresh_page(browser: Browser, lab: Lab) -> Iterator[Page]:
    with new_context(browser, viewport={"width": 1400, "height": 1000}) as context:
        yield context.new_page()


def open_notebook(page: Page, lab: Lab, name: str) -> None:
    page.goto(f"{lab.address}lab/tree/notebooks/{name}?token={lab.token}&reset")
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for()


def choose(page: Page, menu: str, command: str) -> bool:
    """Whether a menu's item could be clicked: a page that is still being built may close the menu again."""
    try:
        page.locator(".lm-MenuBar-itemLabel", has_text=menu).first.click(timeout=5_000)
        page.locator(f'.lm-Menu-item[data-command="{command}"]').click(timeout=5_000)
    except TimeoutError:
        page.keyboard.press("Escape")
        return False
    return True


def run_all(page: Page, limit_s: float = PATIENCE_S) -> None:
    """Run All by the menu; it is sent again where it was lost, as happens while the kernel is starting.

    All cells have their numbers then. Outputs may still be drawn: wait for those that a test asks for.
    """
    prompts = page.locator(".jp-CodeCell .jp-InputPrompt")
    told: list[str] = []
    sent = 0.0
    ends = time.monotonic() + limit_s
    while time.monotonic() < ends:
        told = [text.strip() for text in prompts.all_text_contents()]  # those scrolled away too
        if told and all(re.fullmatch(r"\[\d+\]:", text) for text in told):
            return
        if "[*]:" not in told and time.monotonic() > sent + 4:
            choose(page, "Run", "runmenu:run-all")
            sent = time.monotonic()
        page.wait_for_timeout(200)
    outputs = page.locator(".jp-OutputArea-output").all_text_contents()
    pytest.fail(f"not run to the end in {limit_s} s: {told}; {outputs}")
