"""Every surface that shows a limit to a person calls it by its one name, and JSON by its wire form."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from azbenchlib.cli import app
from azbenchlib.model.labels import Label

SETTINGS = {"COLUMNS": "160", "NO_COLOR": "1"}
DAY = ("--as-of", "2026-11-20")
LIMITS = [label for label in Label if label.is_limit]
WIRE_FORM = re.compile(r"\b(disk|vm_uncached|vm_cached|temp|nvme)_(burst_)?(iops|mbps)\b")
# Setups whose ceilings have every label among them.
SETUPS = (
    ("--vm", "E8ds_v4", "--disk", "P30x8"),
    ("--vm", "E8ds_v4", "--disk", "P30x8:ReadOnly"),
    ("--vm", "D2s_v3", "--disk", "P4"),
    ("--vm", "D8s_v5", "--disk", "P20x8:ReadOnly"),
    ("--vm", "D2s_v5", "--disk", "P30x4"),
    ("--vm", "E8ds_v4", "--disk", "temp"),
    ("--vm", "L8s_v3", "--disk", "nvme"),
    ("--vm", "D2s_v3", "--disk", "P30"),
)


def answers(*arguments: str) -> tuple[str, str]:
    """Give the text and the JSON of a verb."""
    texts = []
    for form in ((), ("--format", "json")):
        done = CliRunner().invoke(app, [*arguments, *form], env=SETTINGS)
        assert done.exit_code == 0, done.exception
        texts.append(done.stdout)
    return texts[0], texts[1]


def labels_in(value: object) -> Iterator[Label]:
    """Give all labels of limits in a document."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from labels_in(part)
            yield from labels_in(key)
    elif isinstance(value, list):
        for part in value:
            yield from labels_in(part)
    elif isinstance(value, str) and (label := Label.named(value)) and label.is_limit:
        yield label


def test_limits_calls_all_labels_by_their_names() -> None:
    seen: set[Label] = set()
    for setup in SETUPS:
        text, document = answers("limits", *setup, *DAY, "--read-share", "70%", "--bs", "4k,64k,1M")
        bound = {label for row in json.loads(document)["ceilings"] for label in labels_in(row["binding"])}
        assert bound and not WIRE_FORM.search(text), text
        for label in bound:
            assert label.display_name in text, (setup, label)
        seen |= bound
    assert {label.scope for label in seen} == {label.scope for label in LIMITS}
    assert any(label.burst for label in seen)


@pytest.mark.parametrize(
    "arguments",
    [
        ("verdict", "ultra-disk-2019", *DAY),
        ("verdict", "azure-local-disks-2020", *DAY),
        ("verdict", "premium-ssd-emulated-2026", *DAY),
        ("advise", "--iops", "20000", "--size", "1TiB", "--region", "westeurope", *DAY),
        ("plan", "campaigns/ultra-disk.yaml"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
@pytest.mark.sampled(3)
def test_a_verb_has_names_in_its_text_and_wire_forms_in_its_json(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    text, document = answers(*arguments)
    named = [label for label in LIMITS if label.display_name in text]
    assert named and not WIRE_FORM.search(text), WIRE_FORM.search(text)
    assert set(labels_in(json.loads(document)))
