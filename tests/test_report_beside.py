"""The report's table of emulated beside published figures."""

import json
import shutil
from pathlib import Path

import pytest

from azbenchlib.report import Report

ROOT = Path(__file__).parents[1]
PUBLISHED = ROOT / "datasets" / "azure-local-disks-2020"


@pytest.fixture
def emulated(tmp_path: Path) -> Path:
    """The published figures as a lab would have measured them."""
    folder = tmp_path / "emulated"
    shutil.copytree(PUBLISHED, folder, ignore=shutil.ignore_patterns("tables"))
    content = json.loads((folder / "manifest.json").read_text())
    content["name"] = "emulated"
    for setup in content["setups"]:
        setup["environment"] = "lab"
    (folder / "manifest.json").write_text(json.dumps(content))
    return folder


def test_figures_in_common_stand_side_by_side(emulated: Path) -> None:
    page = Report([str(emulated), str(PUBLISHED)]).beside().html
    assert "Emulated beside published" in page
    assert page.count('<td class="r">0.0\u00a0%</td>') == 24  # 6 rates, and 6 profiles at 3 percentiles
    assert page.count("<tbody>") == 12
    assert "59,200" in page
    assert "MB/s" not in page  # the IOPS say it


def test_without_either_there_is_no_such_part(emulated: Path) -> None:
    assert Report([str(PUBLISHED)]).beside().html == ""
    assert Report([str(emulated)]).beside().html == ""
    other = ROOT / "datasets" / "zone-redundant-disks-2022"
    assert Report([str(emulated), str(other)]).beside().html == ""
