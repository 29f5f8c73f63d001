"""`azbench catalog drift`: what a probe found is kept beside what documents say, and read back."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from azbenchlib.cli.catalog import catalog
from azbenchlib.core.errors import InputError
from azbenchlib.core.units import MB
from azbenchlib.dataset.probed import PROBE_FILE, ProbeRecord


@pytest.fixture(autouse=True)
def _own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")


def _run(*arguments: str) -> str:
    done = CliRunner().invoke(catalog, ["drift", *arguments])
    if done.exception:
        raise done.exception
    return done.stdout.replace("\u00a0", " ")


def _probe(folder: Path, iops: float = 5_100.0, probability: float = 0.98, state: str = "known") -> Path:
    """A probe of what resembles a P30, as a dataset folder."""
    values = {"read_iops": iops, "write_iops": 5_000.0, "read_bytes_per_s": 200 * MB, "read_p50_us_4k": 900.0}
    unknown = {
        "key": "write_bytes_per_s",
        "label": "",
        "state": "above",
        "value": None,
        "low": 1e8,
        "high": None,
    }
    figures = [
        {"key": key, "label": key, "state": state, "value": one, "low": 0.999 * one, "high": 1.001 * one}
        for key, one in values.items()
    ]
    p30 = {
        "name": "P30",
        "title": "P30",
        "kind": "disk",
        "iops": 5_000.0,
        "bytes_per_s": 200e6,
        "probability": probability,
    }
    record = {"measured": "2026-11-20", "figures": [*figures, unknown], "sentences": ["-"], "names": [p30]}
    band = {"low": 1.0, "high": 2.0}
    drawn = {
        "runs": [{"run": "a", "title": "a", "iops": 1.0, "nats": 1.0}],
        "roof": [{"ddir": "read", "bs_bytes": 4096, "iops": 1.0, **band}],
        "response": [{"ddir": "read", "queue_depth": 1, "lat_mean_us": 1.0, **band}],
    }
    folder.mkdir()
    (folder / "manifest.json").write_text("{}")
    (folder / PROBE_FILE).write_text(json.dumps({**record, **drawn}))
    return folder


def test_a_probe_is_kept_once_and_read_back_with_day_and_place(tmp_path: Path) -> None:
    assert "Nothing is kept" in _run()
    folder = str(_probe(tmp_path / "mine", 5_100.0))
    said = _run(folder, "--place", "westeurope")
    first_line, _, group, *lines = said.splitlines()
    assert first_line == "1 of 3 limits differ from what documents say"
    assert group == "P30, westeurope, 2026-11-20" and len(lines) == 3
    first = next(line for line in lines if "Reads, IOPS cap" in line)
    assert "5,000 IOPS" in first and "5,100 IOPS" in first and "1.020" in first and first.endswith("differs")
    assert [line.rstrip().endswith("differs") for line in lines].count(True) == 1
    assert _run(folder, "--place", "westeurope") == said == _run()
    assert len(_run(folder, "--place", "northeurope").splitlines()) == len(said.splitlines()) + 4
    kept = json.loads(_run("--format", "json"))["drift"]
    assert len(kept) == 6 and kept[0]["ratio"] == pytest.approx(1.02) and kept[0]["differs"] is True
    assert {row["dataset"] for row in kept} == {"mine"}


def test_the_documented_disk_can_be_named_and_the_limits_with_credits_are_told_apart(tmp_path: Path) -> None:
    folder = str(_probe(tmp_path / "mine", probability=0.3))
    with pytest.raises(InputError, match="--documented-as"):
        _run(folder)
    told = json.loads(_run(folder, "--documented-as", "p30", "--format", "json"))["drift"]
    assert {(row["name"], row["kind"], row["documented"]) for row in told if row["key"] == "read_iops"} == {
        ("P30", "disk", 5_000.0)
    }
    with pytest.raises(InputError, match="'P31'"):
        _run(folder, "--documented-as", "P31")


def test_what_cannot_be_kept_is_told(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "manifest.json").write_text("{}")
    with pytest.raises(InputError, match="is no probe"):
        _run(str(bare))
    with pytest.raises(InputError, match="no cap is known"):
        _run(str(_probe(tmp_path / "open", state="open")))
    with pytest.raises(InputError, match="--place"):
        _run("--place", "westeurope")
    (bare / PROBE_FILE).write_text('{"measured": "2026-11-20", "figures": 3}')
    with pytest.raises(InputError, match="figures"):
        _run(str(bare))
    table = tmp_path / "home" / "azbench" / "catalog" / "drift.csv"
    table.parent.mkdir(parents=True)
    table.write_text("place,name\nhere,P30\n")
    with pytest.raises(InputError, match="is no drift table"):
        _run()


def test_a_record_refuses_what_is_no_figure(tmp_path: Path) -> None:
    text = (_probe(tmp_path / "mine") / PROBE_FILE).read_text()
    assert ProbeRecord.model_validate_json(text).figures
    with pytest.raises(ValueError, match="finite"):
        ProbeRecord.model_validate_json(text.replace("5100.0", "NaN"))
