"""The report's verdicts: the right words for what was published, short, escaped, and silent without a VM."""

import json
import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from readback import foreign
from shipped_reports import shown
from sides import side

from azbenchlib import Report, judge
from azbenchlib.answers.document import Bars
from azbenchlib.answers.verdict_overview import certainty
from azbenchlib.dataset import importing, manifest
from azbenchlib.dataset.dataset import Dataset
from azbenchlib.dataset.manifest import Manifest, ManifestSetup
from azbenchlib.dataset.setups import Assumed
from azbenchlib.model.notation import parse_disks
from azbenchlib.model.setup import VM, Setup
from azbenchlib.report.part import Part
from azbenchlib.report.to_json import record
from azbenchlib.verdict import text as verdict_words
from azbenchlib.views.limits import Limits

DATASETS = Path(__file__).parents[2] / "datasets"
LOCAL_DISKS, ULTRA = DATASETS / "azure-local-disks-2020", DATASETS / "ultra-disk-2019"


def words(html: str) -> str:
    bare = re.sub(r"<(style|title)\b.*?</\1>|<[^>]+>", " ", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(bare).replace("\u00a0", " ")).strip()


def cards(folder: Path | str) -> list[str]:
    html = Report([str(folder)]).cards().html
    return [words(card) for card in re.findall(r"<article.*?</article>", html, re.DOTALL)]


@pytest.fixture(scope="module")
def local() -> list[str]:
    return cards(LOCAL_DISKS)


def one(found: list[str], *parts: str) -> str:
    (card,) = [card for card in found if all(part in card for part in parts)]
    return card


def test_the_share_of_large_ios_says_how_a_disk_counts_them(tmp_path: Path) -> None:
    """144 I/Os of 1 MiB are 576 of the 500 of a P10; those of 8 KiB on an Ultra disk count once."""
    for depth in (1, 2, 4):
        job = foreign.Job({"write": foreign.flow(143.0 + depth / 2, depth)}, "large", 1 << 20, depth)
        (tmp_path / f"qd{depth}.json").write_text(foreign.fio([job], at=foreign.MOMENT + 60 * depth))
    report = Report([str(tmp_path)], vm="Standard_D8s_v5", disks=["P10"])
    counted = "each I/O counts as 4"
    assert f"115 % of the disk limit of 500 IOPS ({counted})." in words(report.header().html)
    assert f"500 IOPS, {counted}" in words(report.cards().html)
    answer = judge(str(tmp_path), vm="Standard_D8s_v5", disks=["P10"])
    assert "Each I/O counts as 4 against the limit in IOPS." in answer.to_text(120)
    single = judge(str(tmp_path / "qd4.json"), vm="Standard_D8s_v5", disks=["P10"]).to_text(120)
    assert f"of 3,500 IOPS ({counted})" in single.replace("\N{NO-BREAK SPACE}", " ")
    (disk_iops,) = (row for row in answer.to_dict()["verdicts"][0]["limits"] if row["label"] == "disk_iops")
    assert disk_iops["counted"] == 4
    assert "counts as" not in words(Report([str(ULTRA)]).cards().html)


def test_a_lead_says_how_near_the_limit_rates_stopped(tmp_path: Path) -> None:
    """Rates that no more depth raises are probably held by the limit, though they are not at it."""
    for depth in (4, 8, 16, 32, 64, 128):
        job = foreign.Job({"write": foreign.flow(152.0 - depth / 64, depth)}, "large", 1 << 20, depth)
        (tmp_path / f"qd{depth}.json").write_text(foreign.fio([job], at=foreign.MOMENT + 60 * depth))
    report = Report([str(tmp_path)], vm="Standard_D8s_v5", disks=["P10"])
    assert "stop at 94 % of 170 MB/s while their burst credits last." in words(report.header().html)


def test_no_lead_calls_a_run_close_to_a_limit_that_may_be_above_one(tmp_path: Path) -> None:
    """10,758 IOPS of a P40, which has 7,500, are no case of 42 % of the VM."""
    for depth in (1, 2, 4, 8, 16, 32):
        job = foreign.Job({"write": foreign.flow(336.2 * depth, depth)}, "swept", 4096, depth)
        (tmp_path / f"{depth}.json").write_text(foreign.fio([job], at=foreign.MOMENT + 60 * depth))
    lead = words(Report([str(tmp_path)], vm="Standard_D16s_v5", disks=["P40"]).header().html)
    assert "cannot tell between latency at this queue depth and a limit above the documented one." in lead
    assert "is closest" not in lead


def test_a_sentence_begins_with_a_capital_where_blocks_were_swept(tmp_path: Path) -> None:
    for kib in (4, 8, 16):
        job = foreign.Job({"read": foreign.flow(5_050.0, 32)}, "swept", kib << 10, 32)
        (tmp_path / f"{kib}.json").write_text(foreign.fio([job], at=foreign.MOMENT + 60 * kib))
    report = Report([str(tmp_path)], vm="Standard_D8s_v5", disks=["P30"])
    assert " Random reads (QD 32, from 4 KiB on) stop at 5,000 IOPS" in words(report.header().html)
    assert "Random reads, QD 32, 4 to 16 KiB" in words(report.cards().html)


def test_the_temp_disk_of_the_e8ds_is_bound_by_throughput_not_iops(local: list[str]) -> None:
    card = one(local, "E8ds_v4, temp disk", "59,200 IOPS 484 MB/s")
    assert "Bound by the temp disk limit of 484 MB/s, not by that of 77,000 IOPS Bound, ≥ 99 %" in card
    assert "At 8 KiB that is 59,136 IOPS." in card
    assert re.search(r"Temp disk MB/s 484 MB/s \d 100 % Temp disk IOPS 77,000 IOPS \d 77 %", card)
    assert "What to change An E16ds_v4 gives up to 968 MB/s, its own limit: USD " in card
    cached = one(local, "ReadWrite cache", "60,100 IOPS")
    assert "Bound by the VM cached limit of 484 MB/s, not by that of 77,000 IOPS" in cached


def test_the_sources_of_limits_stand_once_below_the_cards() -> None:
    said = words(shown("cards", LOCAL_DISKS))
    notes = said.partition("Sources of the limits")[2]
    assert "Standard_E8ds_v4 (cached_bytes_per_s, cached_iops, uncached_iops" in notes
    assert notes.count("sku-api-2026-08-17") == 2 == said.count("sku-api") and "as of" not in notes


def test_the_source_of_a_disks_limit_is_its_row_in_the_catalogue() -> None:
    """With the day of the row's source, not that of the report."""
    output = Path(__file__).parents[1] / "data" / "fio" / "randrw.json"
    for disk, columns in (("P30", "iops, bytes_per_s"), ("P30:burst", "on_demand_burst_iops")):
        said = words(Report(str(output), vm="Standard_D8s_v5", disks=disk).cards().html)
        notes = said.partition("Sources of the limits")[2]
        assert f"P30 ({columns}" in notes and ": premium-2023-03 of 2023-03-16" in notes
    (bars,) = [
        part
        for part in judge(output, vm="Standard_D8s_v5", disks="P30").document.walk()
        if isinstance(part, Bars)
    ]
    assert "P30 iops, premium-2023-03 of 2023-03-16" in {bar.of.source for bar in bars.bars}


def test_a_tie_names_both(local: list[str]) -> None:
    card = one(local, "16,300 IOPS")
    assert "Bound by the temp disk limit of 16,000 IOPS and 131 MB/s at once" in card
    assert "At 8 KiB both limits meet" in card


def test_a_burst_says_that_the_base_was_not_seen(local: list[str]) -> None:
    card = one(local, "3,499 IOPS")
    assert "Bound by the disk burst limit of 3,500 IOPS, not by that of 170 MB/s Bound, 98 %" in card
    assert "so this run of 60 s cannot show the base of 120 IOPS." in card
    assert "Next run Run for 36 min, until the credits are spent (then 120 IOPS are expected)." in card


def test_what_is_not_known_is_said_with_the_run_that_would_tell(local: list[str]) -> None:
    card = one(local, "261,000 IOPS")
    assert "Probably no documented limit explains the rate" in card
    assert "No limit is documented for this I/O on this setup." in card
    assert "Next run Spread the same load over 32 jobs (" in card


def test_limits_far_above_or_below_the_rate_have_no_bar() -> None:
    """A run at twice the base limit burst: the base says nothing of it."""
    for html in (shown("cards", name) for name in ("azure-local-disks-2020", "ultra-disk-2019")):
        used = [int(text) for text in re.findall(r'class="pct num">(\d+)', html)]
        assert used and max(used) <= 200


def test_setups_at_one_limit_are_told_together() -> None:
    said = words(shown("header", LOCAL_DISKS)).replace(" ,", ",")
    assert (
        "On E8ds_v4 the temp disk, the OS disk (ReadWrite cache) and the ephemeral OS disk all stop at "
        "484 MB/s, not at 77,000 IOPS."
    ) in said
    assert "E8ds_v4 (OS disk, no cache) stops at 3,500 IOPS while its burst credits last." in said


def test_a_load_beside_other_datasets_says_whose_it_is_in_a_whole_sentence() -> None:
    several = ("premium-ssd-emulated-2026", "ultra-disk-2019")
    head, cards = words(shown("header", *several)), words(shown("cards", *several))
    assert "Random reads (D4as_v5, P30 without cache, 4 KiB, QD 32) stop at 5,000 IOPS" in head
    assert "Random reads, D4as_v5, P30 without cache, 4 KiB, QD 1" in cards
    assert "D4as_v5, P30" not in words(shown("cards", "premium-ssd-emulated-2026"))


def test_the_lead_links_to_the_cards_that_it_names() -> None:
    both = ("ultra-disk-2019", "zone-redundant-disks-2022")
    head, found = shown("header", *both), shown("cards", *both)
    links = re.findall(r'href="#(card-\d+)"', head)
    assert links and all(f'id="{name}"' in found for name in links)
    assert "<h1>Disks of E32-8s_v3 and D4as_v4: 7\u00a0setups</h1>" in head


def test_ultra_disks_turn_from_mbps_to_iops_to_the_vm() -> None:
    found = cards(ULTRA)
    assert [re.findall(r"Bound by .*? Bound", card)[0] for card in found] == [
        "Bound by the disk limit of 50 MB/s, not by that of 10,000 IOPS Bound",
        "Bound by the disk limit of 10,000 IOPS, not by that of 100 MB/s Bound",
        "Bound by the VM uncached limit of 768 MB/s, not by that of 51,200 IOPS Bound",
    ]
    assert "≈ 6,250 IOPS" in found[0]


def test_hundreds_of_runs_stay_short() -> None:
    said = words(shown("cards", "iozone-host-cache-2012"))
    assert len(said) < 3200 and "Bound by the page cache" in said and "No limit known" not in said
    grouped = words(Limits(["iozone-host-cache-2012"]).cards().html)
    served = re.findall(r"The page cache served \d+ of 169 runs", grouped)
    assert len(served) == grouped.count("run with direct=1") == 4
    ratio = "10.1 times slower with host caching ReadWrite than with None"
    assert grouped.count(ratio) == 1 and "4 similar findings" in grouped
    assert "caching_ratio" in shown("trust", "iozone-host-cache-2012")


def test_limits_come_before_other_causes_in_the_notebook() -> None:
    html = Limits([str(LOCAL_DISKS)]).cards().html
    grouped = [words(card) for card in re.findall(r"<section.*?</section>", html, re.DOTALL)]
    at_limit = [re.match(r"Bound by [^%]*(IOPS|MB/s) limit", card) is not None for card in grouped]
    assert any(at_limit) and at_limit == sorted(at_limit, reverse=True)
    assert one(grouped, "Bound by latency at this queue depth").count("QD 1") == 6


def test_without_a_vm_the_lead_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "ours"
    (folder / "raw").mkdir(parents=True)
    shutil.copy(Path(__file__).parents[1] / "data" / "fio" / "randrw.json", folder / "raw")
    here = ManifestSetup(
        setup_id="this-machine", environment="local", disks=[{"disk": "dir", "role": "data"}]
    )
    title = "Measured on this machine"
    manifest.save(folder, Manifest(name="ours", title=title, about="", measured="today", setups=[here]))
    report = Report([str(folder)])
    assert "No documented limits: the VM size is unknown. Add --vm and --disk" in words(report.header().html)
    said = words(report.cards().html)
    assert "Probably bound by the page cache" in said and "Not the disk" in said  # as its lead has it
    both = Report([str(folder), str(LOCAL_DISKS)])
    assert "no_documented_limit" in both.trust().html.partition('id="d1-findings"')[2]


def test_every_point_of_the_roofline_can_be_read_and_lies_inside(local: list[str]) -> None:
    html = Limits([str(LOCAL_DISKS)]).roofline().html
    wide, _ = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    hovers = [unescape(text).replace("\u00a0", " ") for text in re.findall(r"<title>(.*?)</title>", wide)]
    assert len(hovers) == 10  # the L8s_v2 has no documented limit
    assert (
        "E8ds_v4, OS disk, no cache, 8 KiB random writes, QD 1,024: 3,499 IOPS. "
        "Bound by the disk burst IOPS limit"
    ) in hovers
    label = re.search(r'aria-label="([^"]*)"', wide)
    assert label is not None and "E8ds_v4, OS disk, no cache: 3,500 IOPS at 4 KiB" in words(label[1])  # burst
    assert "Measured: E8as_v4, temp disk: 5,500 IOPS at 8 KiB" in words(label[1])
    assert "Runs of which no limit is documented or no block size is known are left out." in html


@pytest.mark.long  # test_report.py has this of the whole page
def test_hostile_labels_stay_text(tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    shutil.copytree(LOCAL_DISKS, folder)
    evil = "<script>alert(1)</script>\"'>{{ 7*7 }}"
    described = json.loads((folder / "manifest.json").read_text())
    described["setups"][1]["label"] = evil
    described["setups"][2]["vm_size"] = evil
    (folder / "manifest.json").write_text(json.dumps(described))
    report = Report([str(folder)])
    html = report.cards().html + report.limits().html + report.trust().html
    assert "<script" not in html and "{{ 7*7 }}" in html
    assert words(html).count("alert(1)") >= 2


def test_certainty_is_never_rounded_up() -> None:
    told = Part(Dataset.load(LOCAL_DISKS), LOCAL_DISKS).verdicts
    for one_run in told:
        said = certainty(one_run.judged).text
        figure = float(said.replace("\u00a0", " ").removeprefix("≥ ").split(" %")[0])
        assert figure <= min(100 * one_run.judged.probability, 99)
        assert figure > 100 * one_run.judged.probability - 1
        assert ("certain" in said) == (one_run.judged.probability >= verdict_words.PROBABLY)


def test_a_vm_whose_disks_are_not_stated_has_a_card_and_no_roofline(tmp_path: Path) -> None:
    fixture = Path(__file__).parents[1] / "data" / "fio" / "group_jsonplus.json"
    found = Dataset.load(fixture, assumed=Assumed(Setup(VM(size="Standard_D16ds_v5"))))
    with importing.as_folders([found]) as (folder,):
        html = Limits([str(folder)]).roofline().html + Report([str(folder)]).cards().html
    assert "D16ds_v5" in words(html)


def _long_run(tmp_path: Path, disk: str) -> str:
    """The card of an hour at 1,843 IOPS, whose samples nobody kept."""
    ios = 1843 * 3600
    read = {
        "total_ios": ios,
        "io_bytes": ios * 4096,
        "iops": 1843.0,
        "bw_bytes": 1843 * 4096,
        "runtime": 3_600_000,
    }
    options = {"rw": "randread", "bs": "4k", "iodepth": "64", "direct": "1", "ioengine": "libaio"}
    job = {"jobname": "hour", "error": 0, "job options": {**options, "runtime": "3600"}, "read": read}
    path = tmp_path / "hour.json"
    path.write_text(json.dumps({"fio version": "fio-3.33", "timestamp": 1_700_000_000, "jobs": [job]}))
    setup = Setup(VM(size="Standard_D16ds_v5"), parse_disks([disk]))
    with importing.as_folders([Dataset.load(path, assumed=Assumed(setup))]) as (folder,):
        return words(Report([str(folder)]).cards().html)


def test_a_card_tells_two_phases_that_only_the_mean_shows(tmp_path: Path) -> None:
    said = _long_run(tmp_path, "P4")
    assert "until its credits are spent, then by its base: they give 3,500 IOPS for 30 min, then 120" in said


def test_percentiles_of_a_whole_run_are_not_told_as_those_of_its_last_phase(tmp_path: Path) -> None:
    (tmp_path / "hour").mkdir()
    rates = [*[3_500] * 20, *[120] * 20]
    log = "".join(f"{60_000 * minute}, {rate}, 0, 0, 0\n" for minute, rate in enumerate(rates, 1))
    (tmp_path / "hour" / "hour_iops.1.log").write_text(log)
    ios = 60 * sum(rates)
    read = {"runtime": 2_400_000, "total_ios": ios, "io_bytes": ios * 4096, "iops": ios / 2_400}
    read |= {"clat_ns": {"N": ios, "percentile": {"50.000000": 18_219_008, "99.000000": 557_842_432}}}
    options = {"rw": "randread", "bs": "4k", "iodepth": "64", "direct": "1", "write_iops_log": "hour"}
    job = {"jobname": "hour", "error": 0, "job options": options, "read": read}
    document = {"fio version": "fio-3.33", "timestamp": 1_700_000_000, "jobs": [job]}
    (tmp_path / "hour" / "hour.json").write_text(json.dumps(document))
    said = words(Report([str(tmp_path / "hour")], vm="Standard_D16ds_v5", disks=["P4"]).cards().html)
    assert "120 IOPS" in said
    assert "3,500 IOPS for 20 min, then 120 IOPS for 20 min" in said
    assert "Completion latency, over all phases of the run" in said


def test_a_card_tells_what_is_not_stated_and_no_credits_where_there_are_none(tmp_path: Path) -> None:
    assert "Not stated What the disk is provisioned with is not stated (" in _long_run(tmp_path, "ultra:1TiB")
    assert "credits" not in _long_run(tmp_path, "P60:burst")


# fio does not print whether the I/O was direct
ABOVE = """\
load: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=64
fio-3.33
load: (groupid=0, jobs=1): err= 0: pid=7: Fri Nov 10 10:00:00 2023
  read: IOPS=52.0k, BW=203MiB/s (213MB/s)(714GiB/3600000msec)
"""


def test_a_rate_above_every_limit_is_in_the_lead_and_in_the_roofline(tmp_path: Path) -> None:
    path = tmp_path / "load.txt"
    path.write_text(ABOVE)
    setup = Setup(VM(size="Standard_D16ds_v5"), parse_disks(["P30"]))
    with importing.as_folders([Dataset.load(path, assumed=Assumed(setup))]) as (folder,):
        lead = words(Report([str(folder)]).header().html)
        limits = Limits([str(folder)]).roofline().html.replace("\u00a0", " ")
    assert "reached 130 % of the VM uncached burst limit of 40,000 IOPS." in lead
    assert "Measured: 4 KiB, QD 64: 52,000 IOPS at 4 KiB." in limits


def test_where_a_limit_binds_page_lead_and_json_have_the_next_part() -> None:
    dataset = Dataset.load(DATASETS / "premium-ssd-emulated-2026")
    (bound,) = [one for one in record([dataset])["setups"] if one["verdict"]["binding"] == ["disk_iops"]]
    change = bound["change"]
    assert (change["part"], change["tier"], change["iops"]) == ("disk", "P40", 6_400.0)
    assert change["binding"] == ["vm_uncached_iops"] and change["instead"]["sku"] == "PremiumV2_LRS"
    report = Report([str(dataset.place)])
    said = f"A P40 gives up to 6,400 IOPS, for USD {change['price']['more_per_month']:.0f} more a month."
    assert said in words(report.header().html)
    card = words(report.cards().html)
    assert "A P40 gives up to 6,400 IOPS, then the VM uncached IOPS limit binds: USD " in card
    assert f"gives as much for USD {change['instead']['price']['per_month']:.0f} a month." in card


@pytest.mark.parametrize(("rw", "verb"), [("randread", "stop"), ("randrw", "stops")])
def test_a_workload_has_the_verb_of_its_number(rw: str, verb: str, tmp_path: Path) -> None:
    side(tmp_path / "runs", (5_050.0,), rw=rw)
    report = Report([str(tmp_path)], vm="Standard_D8s_v5", disks=["P30"])
    lead = words(report.header().html)
    assert re.search(rf"(?:Random reads|Mixed random I/O) \(4 KiB, QD 32\) {verb} at 5,000 IOPS", lead), lead
