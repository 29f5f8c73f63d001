"""A probe as an answer: every surface says the same, and a probe that has ended is shown without a run."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from probe_record import record

import azbenchlib as az
from azbenchlib.answers.probe import ProbeAnswer
from azbenchlib.core.errors import InputError
from azbenchlib.dataset.probed import PROBE_FILE

mpl.use("agg")


def answer(folder: Path, **changed: Any) -> ProbeAnswer:
    folder.mkdir(exist_ok=True)
    (folder / PROBE_FILE).write_text(json.dumps(record() | changed))
    return ProbeAnswer.load(folder)


def bare(text: str) -> str:
    """Letters, digits and signs alone, so that layout and escapes do not count."""
    words = unescape(re.sub(r"<style>.*?</style>|<[^>]+>", " ", text, flags=re.DOTALL))
    return re.sub(r"[\s\u200b|*\\#·!-]+", "", words)


SAID = (
    "Reads reach 5,012 IOPS (4,987 to 5,032 IOPS) and 203 MB/s (201 to 206 MB/s). Writes reach a cap that is "
    "open (3,401 to 4,852 IOPS) and 173 MB/s without a cap. The best fit is P30 (5,000 IOPS, 200 MB/s), with "
    "a probability of 87 %.",
    *("no cap up to 173 MB/s", "4,987 to 5,032 IOPS", "whether these are the same for both is open"),
    *("Learning it takes about 4 min.", "No cap found: Writes, MB/s cap", "Nothing that is documented"),
    *("reads of 260 KiB, queue depth 64, 10 s", "0.69 nats halve the possibilities"),
)


def test_every_surface_says_the_same(tmp_path: Path) -> None:
    shown = answer(tmp_path)
    for surface in (shown.to_text(80), shown.to_text(140), shown.to_markdown(), shown._repr_html_()):
        assert [said for said in SAID if bare(said) not in bare(surface)] == []
    assert len(repr(shown).splitlines()) <= 10 and len(shown._repr_html_()) < 30_000
    assert max(map(len, shown.to_text(80).splitlines())) <= 80


def test_json_is_what_was_kept_and_a_row_is_a_property_in_base_units(tmp_path: Path) -> None:
    shown = answer(tmp_path, io_unit=[{"bytes": None, "probability": 1}])
    kept = {name: value for name, value in record().items() if name != "measured"}
    assert shown.to_dict() == {
        "dataset": str(tmp_path),
        **kept,
        "io_unit": [{"bytes": None, "probability": 1}],
    }
    rows = shown.to_frame().set_index("key")
    assert list(rows["unit"]) == ["iops", "iops", "bytes_per_s", "bytes_per_s", "us"]
    assert rows.loc["read_bytes_per_s", "value"] == 203.4e6 and rows.loc["read_iops", "runs"] == "a, b"
    assert rows["value"].isna().tolist() == [False, True, False, True, False]
    assert (
        rows.loc["write_bytes_per_s", "state"] == "above" and rows.loc["write_bytes_per_s", "low"] == 173.2e6
    )


def test_the_lead_says_what_nothing_measured_tells_apart(tmp_path: Path) -> None:
    p30, none = record()["names"]
    other = p30 | {"kind": "provisioned", "probability": 0.09, "alike": True}
    alike = [other | {"name": name, "title": f"{name}, provisioned so"} for name in ("PremiumV2", "UltraSSD")]
    more = [other | {"title": f"{n} × P15"} for n in (2, 3, 4)]
    said = answer(tmp_path, names=[p30 | {"probability": 0.6}, *alike, none]).to_text(200)
    assert bare(
        "with a probability of 60 %; nothing that was measured tells it from PremiumV2, provisioned so, or "
        "from UltraSSD, provisioned so (together 78 %)."
    ) in bare(said)
    said = answer(tmp_path, names=[p30, *alike, *more]).to_text(200)
    assert bare("or from 2 × P15, or from 2 more below") in bare(said)


def test_the_lead_says_at_once_what_reads_and_writes_both_reach(tmp_path: Path) -> None:
    reads = [one for one in record()["figures"] if one["key"] in ("read_iops", "read_bytes_per_s")]
    writes = [one | {"key": one["key"].replace("read", "write")} for one in reads]
    said = answer(tmp_path, figures=[*reads, *writes]).to_text(200)
    assert bare("Reads and writes reach 5,012 IOPS") in bare(said)


def test_each_figure_has_its_interval_and_the_day(tmp_path: Path) -> None:
    known = answer(tmp_path).figures.drop_duplicates("name").set_index("name")
    of_cap = [known.loc[f"Reads, MB/s cap: {what}", "value"] for what in ("Value", "low", "high")]
    assert of_cap == [203.4e6, 201.2e6, 205.8e6]
    assert known.loc["Writes, MB/s cap: no cap up to", "value"] == 173.2e6
    assert known.loc["Reads, MB/s cap: low", "source"] == "probe of 2026-11-25"
    assert known.loc["P30 (5,000 IOPS, 200 MB/s): Probability", "value"] == 0.87


def test_the_most_iops_are_drawn_by_block_size(tmp_path: Path) -> None:
    axes = answer(tmp_path).plot()
    assert [line.get_label() for line in axes.lines] == ["Reads", "Writes"]
    assert axes.lines[0].get_ydata()[0] == pytest.approx(5_012.3) and axes.get_xscale() == "log"


def test_memory_is_the_headline_and_many_names_are_cut(tmp_path: Path) -> None:
    memory = answer(tmp_path, buffered=True, names=[], sentences=["These are figures of memory."])
    assert memory.to_text().startswith("These are figures of memory.\n\nProperties\n")
    assert memory.to_text().count("figures of memory") == 1
    many = answer(tmp_path, names=record()["names"] * 8)
    assert "4 more are less probable; --format json and .to_dict() have all." in many.to_text()
    assert many.to_text().count("Nothing that is documented") == 6


def test_what_is_no_probe_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"is no probe; its folder has no probe\.json, which azbench probe"):
        ProbeAnswer.load("ultra-disk-2019")


@pytest.mark.parametrize(
    ("target", "how", "said"),
    [
        ("/mnt/data", {"raw": True}, "target '/mnt/data': raw is for the target azure"),
        ("lab", {"vm_id": "x"}, "target 'lab': vm_id is for the target azure"),
        ("/mnt/data", {"disk": "P30"}, "disk is for the targets lab and azure"),
        ("/mnt/data", {"vm": "Standard_D2s_v3"}, "vm is for the target lab"),
        ("lab", {"minutes": 0}, r"minutes 0: a number 0\.1 or more is needed"),
        ("lab", {"disk": "P30", "seconds": 0.5}, r"seconds 0\.5: a number between 1 and 600 is needed"),
        ("lab", {}, "say what is emulated"),
        ("lab", {"disk": "P30", "size": 0}, "size '0B' is not above 0"),
        ("lab", {"disk": "P30", "as_of": "soon"}, "soon"),
    ],
)
def test_in_python_what_is_for_another_target_and_out_of_range_is_refused(
    target: str, how: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=said):
        az.probe(target, output=tmp_path / "out", **how)
    assert not list(tmp_path.iterdir())
