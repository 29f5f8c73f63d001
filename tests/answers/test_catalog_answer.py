"""What the catalogue states, what probes found beside it, and what a VM is: answers on every surface."""

import csv
import io
import json
from pathlib import Path

import matplotlib as mpl
import pytest
import typer
from typer.testing import CliRunner

from azbenchlib.answers.answer import Answer
from azbenchlib.answers.catalog import CatalogAnswer
from azbenchlib.answers.detected import DetectedAnswer
from azbenchlib.answers.drift import DriftAnswer
from azbenchlib.azure import catalog
from azbenchlib.campaign.detect.detect import Detected
from azbenchlib.cli.catalog import catalog as verbs
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import GIB
from azbenchlib.dataset.manifest import ManifestSetup
from azbenchlib.model.disk_row import DiskRow

mpl.use("agg")
DAY = "2026-11-20"
app = typer.Typer()
app.add_typer(verbs, name="catalog")
PROBED = {
    "measured_on": DAY,
    "place": "westeurope",
    "name": "P30",
    "kind": "disk",
    "key": "read_iops",
    "dataset": "mine",
    "documented": "5000",
    "measured": "5100",
    "low": "5095",
    "high": "5105",
}


def size(name: str) -> CatalogAnswer:
    return CatalogAnswer(catalog.vm(name, DAY))


def detected() -> DetectedAnswer:
    rows = [
        DiskRow(
            disk="os", role="os", sku="Premium_LRS", tier="P4", size_bytes=32 * GIB, host_caching="ReadWrite"
        ),
        DiskRow(disk="data-0", role="data", sku="PremiumV2_LRS", size_bytes=100 * GIB, host_caching="None"),
        DiskRow(disk="temp", role="temp"),
    ]
    setup = ManifestSetup(
        setup_id="vm",
        environment="azure",
        vm_size="Standard_D2s_v3",
        region="westeurope",
        os="Linux",
        disks=rows,
    )
    return DetectedAnswer(Detected(setup, {"os": (Path("/dev/sda"),), "data-0": (), "temp": ()}))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (size("D8s_v5"), ["with no documented cached limit", "1,200 MB/s", "may not apply to cached disks"]),
        (size("L8s_v2"), ["the same figure, as MiB", "retirements-and-capacity-restrictions.md"]),
        (CatalogAnswer(catalog.disk_tier("P30", DAY)), ["P30, Premium", "5,000 IOPS", "premium-2023-03"]),
        (
            DriftAnswer([PROBED]),
            ["1 of 1 limits differ", "P30, westeurope, 2026-11-20", "5,095 to 5,105 IOPS"],
        ),
        (detected(), ["Standard_D2s_v3 in westeurope", "/dev/sda", "not found"]),
    ],
    ids=["doubt", "two units", "tier", "drift", "detected"],
)
def test_text_markdown_and_html_have_the_same_words(answer: Answer, said: list[str]) -> None:
    for surface in (answer.to_text(160), answer.to_markdown().replace("\\", ""), answer.to_html().html):
        plain = surface.replace("<wbr>", "").replace('<span class="nb">', "").replace("</span>", "")
        assert [
            words for words in said if words not in plain.replace("\u00a0", " ").replace("\u200b", "")
        ] == []
    assert len(answer._repr_html_()) < 30_000 and len(repr(answer).splitlines()) <= 10


def test_every_statement_is_a_row_and_one_of_each_limit_counts() -> None:
    answer = size("E8ds_v4")
    rows = answer.to_frame()
    cached = rows[rows["limit"] == "cached_bytes_per_s"]
    assert list(cached["value"]) == [484_442_112, 485_000_000] and list(cached["counts"]) == [True, False]
    assert rows.groupby("limit")["counts"].sum().max() == 1 and set(rows["unit"]) == {
        "iops",
        "bytes_per_s",
        "bytes",
    }
    known = answer.figures.set_index("name")
    assert known.loc["temp_iops"].tolist() == [38_000, "iops", "edsv4-series@1827cf35"]
    ultra = CatalogAnswer(catalog.provisioned_rules("UltraSSD", DAY)).to_frame().set_index("limit")
    assert ultra.loc["max_iops_per_gib", "unit"] == "iops_per_gib" and ultra["counts"].all()
    assert ultra.loc["max_bytes_per_s_per_iops", "unit"] == "bytes_per_s_per_iops"


def test_sizes_and_rates_are_shown_exactly_where_that_is_short() -> None:
    shown = CatalogAnswer(catalog.disk_tier("P80", DAY)).to_text().replace("\u00a0", " ")
    assert " 32,767 GiB " in shown
    assert " 83.88608 MB/s " in size("L8s_v2").to_text().replace("\u00a0", " ")


def test_csv_of_the_command_line_is_the_frame() -> None:
    done = CliRunner().invoke(app, ["catalog", "show", "E8ds_v4", "--as-of", DAY, "--format", "csv"])
    rows, frame = list(csv.DictReader(io.StringIO(done.stdout))), size("E8ds_v4").to_frame()
    assert list(rows[0]) == list(frame) and [int(row["value"]) for row in rows] == list(frame["value"])


def test_a_drift_has_its_interval_and_its_ratio() -> None:
    equal = PROBED | {
        "key": "read_bytes_per_s",
        "documented": "2e8",
        "measured": "2e8",
        "low": "1.99e8",
        "high": "2.01e8",
    }
    answer = DriftAnswer([PROBED, equal])
    rows = answer.to_frame()
    assert list(rows["differs"]) == [True, False] and list(rows["ratio"]) == [1.02, 1]
    assert json.loads(json.dumps(answer.to_dict()))["drift"][0]["ratio"] == 1.02
    axes = answer.plot()
    assert list(axes.lines[0].get_xdata()) == [1.019, 1.021]
    assert [text.get_text() for text in axes.get_yticklabels()] == [
        "P30, Reads, IOPS cap",
        "P30, Reads, MB/s cap",
    ]
    many = DriftAnswer([PROBED] * 300)
    assert len(many._repr_html_()) < 30_000 and "200 older rows are left out" in many._repr_html_()
    assert many.to_html().html.count("5,095") == 300


def test_a_table_without_a_probe_says_how_one_comes_into_it() -> None:
    empty = DriftAnswer([])
    assert "Nothing is kept" in empty.to_text() and empty.to_frame().empty
    with pytest.raises(InputError, match="no probe is kept"):
        empty.plot()


def test_what_the_service_does_not_tell_is_not_known_and_what_does_not_apply_is_empty() -> None:
    answer = detected()
    assert answer.setup.vm_size == "Standard_D2s_v3"
    lines = {line.split()[0]: line for line in answer.to_text().splitlines()}
    assert lines["data-0"].count("not known") == 2 and "not known" not in lines["os"]
    assert lines["temp"].split() == ["temp", "not", "known", "not", "found"]
    frame = answer.to_frame().set_index("disk")
    assert frame.loc["os", "devices"] == "/dev/sda" and frame["provisioned_iops"].isna().all()
    assert frame["devices"].isna().tolist() == [False, True, True]
