"""The report's table of emulated beside published figures."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from azbenchlib import Report
from azbenchlib.azure.catalog.latency import origins, percentiles
from azbenchlib.lab.engine import latency
from azbenchlib.model import VM, Setup
from azbenchlib.model.notation import parse_disks
from azbenchlib.report.sections import comparison

ROOT = Path(__file__).parents[2]
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
    assert "<td>MB/s</td>" not in page  # the IOPS say it


def test_figures_that_the_lab_was_made_from_are_called_its_input(emulated: Path) -> None:
    """Latencies are drawn from the percentiles of that publication; rates come out of the limits."""
    page = Report([str(emulated), str(PUBLISHED)]).beside().html
    assert page.count("<td>input</td>") == 18 and page.count("<td>outcome</td>") == 6
    assert "compare the emulation with what it was made from" in page
    assert "nothing about the real disk" in page


def test_what_is_input_follows_from_the_source_of_the_latencies(emulated: Path, tmp_path: Path) -> None:
    other = tmp_path / "measured-anew"
    shutil.copytree(PUBLISHED, other, ignore=shutil.ignore_patterns("tables"))
    content = json.loads((other / "manifest.json").read_text())
    (other / "manifest.json").write_text(json.dumps({**content, "name": "measured-anew"}))
    page = Report([str(emulated), str(other)]).beside().html
    assert page.count("<td>input, from elsewhere</td>") == 18 and "<td>input</td>" not in page
    assert "compare the emulation with what it was made from" not in page


@pytest.mark.parametrize(
    ("disk", "quantity", "value", "queue_depth", "kind"),
    [
        ("os:P4", "p50_us", 2474, 1, "input"),
        ("os:P4", "p99_us", 3000, 1, "input"),
        ("os:P4", "p50_us", 290_000, 1024, "outcome"),  # a queue before the limit
        ("os:P4:ReadWrite", "p95_us", 251, 1, "input"),
        ("P30", "p50_us", 1400, 1, "input, from elsewhere"),
        ("ultra:128GiB/10000iops/50MBps", "p50_us", 400, 1, "input, from elsewhere"),
        ("os:P4", "iops", 372, 1, "follows from the latency"),
        ("os:P4", "iops", 3499, 1024, "outcome"),
        ("temp", "bw_bytes_per_s", 485e6, None, "outcome"),
    ],
)
def test_what_a_figure_is_in_the_emulation(
    disk: str, quantity: str, value: float, queue_depth: int | None, kind: str
) -> None:
    row = SimpleNamespace(quantity=quantity, value=value, queue_depth=queue_depth, rw="randwrite")
    setup = Setup(VM(size="Standard_E8ds_v4"), parse_disks([disk]))
    assert comparison.kind_of(row, setup, "azure-local-disks-2020") == kind


def test_every_latency_of_the_lab_tells_where_it_is_from() -> None:
    assert origins("premium") == {"azure-local-disks-2020"}
    assert origins("premium-zrs") == {"zone-redundant-disks-2022"}
    assert origins("ultra") == origins(latency.NONE) == frozenset()
    shipped = {folder.name for folder in (ROOT / "datasets").iterdir()}
    assert all(origins(name) <= shipped for name in latency.names())
    assert percentiles("premium", True)[50] == 2474 and 51 not in percentiles("premium", True)


def test_without_either_there_is_no_such_part(emulated: Path) -> None:
    assert Report([str(PUBLISHED)]).beside().html == ""
    assert Report([str(emulated)]).beside().html == ""
    other = ROOT / "datasets" / "zone-redundant-disks-2022"
    assert Report([str(emulated), str(other)]).beside().html == ""


def test_a_published_twin_has_the_colour_of_its_emulation_and_no_card(emulated: Path) -> None:
    report = Report([str(emulated), str(PUBLISHED)])
    first, second = report.parts
    assert (
        {e.slot for e in first.entries.values()} == {e.slot for e in second.entries.values()} == set(range(6))
    )
    assert all(e.twin for e in second.entries.values()) and not any(e.twin for e in first.entries.values())
    cards = report.cards().html
    assert cards.count("<article") == 6 and "Published of E8ds_v4, temp disk: 59,200" in cards
    rows = report.results().html
    assert rows.count('data-dataset="d1"') == 12 and "○" in rows and "●" in rows
