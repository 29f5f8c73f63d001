"""The report's verdicts: the right words for what was published, short, escaped, and silent without a VM."""

import json
import re
import shutil
from html import unescape
from pathlib import Path

import pytest

from azbenchlib import Report
from azbenchlib.dataset import manifest
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.manifest import Manifest, ManifestSetup
from azbenchlib.report.part import Part
from azbenchlib.report.sections import verdicts
from azbenchlib.verdict import text as verdict_words

DATASETS = Path(__file__).parents[2] / "datasets"
LOCAL_DISKS, ULTRA = DATASETS / "azure-local-disks-2020", DATASETS / "ultra-disk-2019"


def words(html: str) -> str:
    bare = re.sub(r"<(style|title)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(bare).replace("\u00a0", " ")).strip()


def cards(folder: Path | str) -> list[str]:
    html = Report([str(folder)]).verdicts().html
    return [words(card) for card in re.findall(r"<section.*?</section>", html, re.DOTALL)]


@pytest.fixture(scope="module")
def local() -> list[str]:
    return cards(LOCAL_DISKS)


def one(found: list[str], *parts: str) -> str:
    (card,) = [card for card in found if all(part in card for part in parts)]
    return card


def test_the_temp_disk_of_the_e8ds_is_bound_by_throughput_not_iops(local: list[str]) -> None:
    card = one(local, "E8ds_v4, temp disk", "59,200 IOPS, 484 MB/s")
    assert card.startswith("Bound by the temp disk's MB/s limit 99.5 % certain")
    source = "Standard_E8ds_v4 cached_bytes_per_s, sku-api-2026-08-17, as of 2020-07-01"
    assert f"100 % of 484 MB/s {source}" in card
    assert "77 % of 77,000 IOPS" in card
    cached = one(local, "ReadWrite cache", "60,100 IOPS")
    assert cached.startswith("Bound by the VM's cached MB/s limit") and "60,600 IOPS" in cached


def test_a_tie_names_both(local: list[str]) -> None:
    card = one(local, "16,300 IOPS")
    assert "Temp disk's IOPS limit 102 % of 16,000 IOPS" in card
    assert "Temp disk's MB/s limit 102 % of 131 MB/s" in card


def test_a_burst_says_that_the_base_was_not_seen(local: list[str]) -> None:
    card = one(local, "3,499 IOPS")
    assert card.startswith("Bound by the disk's burst IOPS limit") and "100 % of 3,500 IOPS" in card
    assert "so this run of 60 s cannot show the base of 120 IOPS." in card
    assert "Next: run for 36 min, until the credits are spent." in card


def test_what_is_not_known_is_said_with_the_run_that_would_tell(local: list[str]) -> None:
    card = one(local, "261,000 IOPS")
    assert card.startswith(
        "Cannot tell between an unknown cause and the CPU of the host that measures: spread"
    )
    assert "62 % against 37 %" in card and "No limit is documented for this I/O on this setup." in card
    assert "Next:" not in card  # its words say it


def test_runs_that_tell_the_same_share_a_card(local: list[str]) -> None:
    card = one(local, "Bound by latency at this queue depth")
    assert card.count("1 outstanding") == 6
    assert len(local) == 6


def test_limits_come_before_other_causes(local: list[str]) -> None:
    at_limit = [re.match(r"Bound by [^%]*(IOPS|MB/s) limit", card) is not None for card in local]
    assert any(at_limit) and at_limit == sorted(at_limit, reverse=True)


def test_ultra_disks_turn_from_mbps_to_iops_to_the_vm() -> None:
    found = cards(ULTRA)
    assert [card.split(" 9")[0] for card in found] == [
        "Bound by the disk's MB/s limit",
        "Bound by the disk's IOPS limit",
        "Bound by the VM's uncached MB/s limit",
    ]
    assert "6,250 IOPS" in found[0] and "of 50 MB/s" in found[0]
    assert "100 % of 10,000 IOPS as stated, as of 2019-09-01" in found[1]
    assert "102 % of 768 MB/s" in found[2]


def test_hundreds_of_runs_stay_short_and_fast() -> None:
    report = Report([str(DATASETS / "iozone-host-cache-2012")])
    block = report.verdicts()
    assert len(block.html) < 5000 and "<svg" not in block.html
    text = words(block.html)
    assert text.count("Bound by the page cache") == 2 and text.count("run with direct=1") == 2
    ratio = "10.1 times slower with host caching ReadWrite than with None"
    assert text.count(ratio) == 1 and "4 similar findings" in text
    assert "caching_ratio" in report.trust().html


def test_without_a_vm_there_is_one_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "ours"
    (folder / "raw").mkdir(parents=True)
    shutil.copy(Path(__file__).parents[1] / "data" / "fio" / "randrw.json", folder / "raw")
    here = ManifestSetup(
        setup_id="this-machine", environment="local", disks=[{"disk": "dir", "role": "data"}]
    )
    title = "Measured on this machine"
    manifest.save(folder, Manifest(name="ours", title=title, about="", measured="today", setups=[here]))
    report = Report([str(folder), str(LOCAL_DISKS)])
    html = report.verdicts().html
    first = html[: html.index("<h3")]
    assert words(first) == (
        "No documented limit: “Measured on this machine” was not measured on an Azure VM "
        "whose size is stated."
    )
    assert "d0-verdict-doubts" not in report.trust().html and "d1-verdict-doubts" in report.trust().html


def test_every_point_of_the_roofline_can_be_read_and_lies_inside(local: list[str]) -> None:
    html = Report([str(LOCAL_DISKS)]).verdicts().html
    wide, _ = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    hovers = [unescape(text).replace("\u00a0", " ") for text in re.findall(r"<title>(.*?)</title>", wide)]
    assert len(hovers) == 10  # the L8s_v2 has no documented limit
    assert (
        "E8ds_v4, OS disk, no cache, 8 KiB random writes, 1,024 outstanding: 3,499 IOPS. "
        "Bound by the disk's burst IOPS limit"
    ) in hovers
    label = re.search(r'aria-label="([^"]*)"', wide)
    assert label is not None and "E8ds_v4, OS disk, no cache: 3,500 IOPS at 4 KiB" in words(label[1])  # burst
    assert "Measured: E8as_v4, temp disk: 5,500 IOPS at 8 KiB" in words(label[1])
    assert "Runs of which no limit is documented are left out." in html


def test_hostile_labels_stay_text(tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    shutil.copytree(LOCAL_DISKS, folder)
    evil = "<script>alert(1)</script>\"'>{{ 7*7 }}"
    described = json.loads((folder / "manifest.json").read_text())
    described["setups"][1]["label"] = evil
    described["setups"][2]["vm_size"] = evil
    (folder / "manifest.json").write_text(json.dumps(described))
    report = Report([str(folder)])
    html = report.verdicts().html + report.trust().html
    assert "<script" not in html and "{{ 7*7 }}" in html
    assert words(html).count("alert(1)") >= 2


def test_certainty_is_never_rounded_up() -> None:
    told = Part(Dataset.load(LOCAL_DISKS), LOCAL_DISKS).verdicts
    for one_run in told:
        said = verdicts.certainty(one_run.judged)
        figure = float(said.split(" %")[0])
        assert figure <= min(100 * one_run.judged.probability, 99.9)
        assert figure > 100 * one_run.judged.probability - 1
        assert ("certain" in said) == (one_run.judged.probability >= verdict_words.PROBABLY)
