"""Labels say of themselves what they are and what people call them; no other module takes them apart."""

import re

import pytest
from package_source import PACKAGE, sentences

from azbenchlib.advisor.verify import PlaceLimit
from azbenchlib.model.labels import Label

TAKEN_APART = re.compile(
    r"""endswith\(\(?["']_?(iops|mbps)"""
    r"""|["']_burst_?["'] in|replace\(["']_?burst|removesuffix\(f?["']_(burst|"""
    r"""iops|mbps)|label\.(r?partition|startswith|endswith|removesuffix|split|replace)\("""
)
LIMITS = [label for label in Label if label.is_limit]
WIRE_FORMS = re.compile("|".join(sorted(map(re.escape, LIMITS), key=len, reverse=True)))


def test_scope_quantity_and_burst_are_what_the_value_says() -> None:
    for label in Label:
        parts = [label.scope, "burst" if label.burst else None, label.quantity]
        if label.is_limit:
            assert "_".join(part for part in parts if part) == label
            assert not label.base.burst and label.base == f"{label.scope}_{label.quantity}"
            assert Label.of(label.scope or "", label.quantity or "", label.burst) is label
        else:
            assert parts == [None, None, None] and label.base is label
        assert Label.named(label.value) is label
    assert len(LIMITS) == 16
    assert Label.named("disk_iops ") is None


def test_a_label_is_its_wire_form_wherever_a_text_or_a_key_is_expected() -> None:
    assert all(hash(label) == hash(label.value) and f"{label}" == label.value for label in Label)


def test_no_two_labels_have_one_name_and_no_name_is_a_wire_form() -> None:
    names = [label.display_name for label in (*Label, *PlaceLimit)]
    assert len(set(names)) == len(names)
    assert not any("_" in name for name in names)


@pytest.mark.parametrize(
    ("label", "name", "phrase", "with_figure"),
    [
        (Label.DISK_MBPS, "disk MB/s", "the disk MB/s limit", "the disk limit of 768 MB/s"),
        (
            Label.VM_UNCACHED_BURST_MBPS,
            "VM uncached burst MB/s",
            "the VM uncached burst MB/s limit",
            "the VM uncached burst limit of 768 MB/s",
        ),
        (Label.TEMP_IOPS, "temp disk IOPS", "the temp disk IOPS limit", "the temp disk limit of 768 MB/s"),
        (Label.PAGE_CACHE, "page cache", "the page cache", "the page cache"),
        (Label.UNKNOWN, "unknown cause", "an unknown cause", "an unknown cause"),
    ],
)
def test_a_name_and_its_phrases(label: Label, name: str, phrase: str, with_figure: str) -> None:
    assert (label.display_name, label.phrase(), label.phrase("768 MB/s")) == (name, phrase, with_figure)


def test_a_phrase_has_the_name() -> None:
    for label in Label:
        assert label.display_name in label.phrase()
        assert not label.is_limit or label.owner in label.phrase("1 IOPS")
    on_demand = Label.DISK_BURST_IOPS.phrase(on_demand=True)
    assert on_demand == "the disk on-demand burst IOPS limit"


def test_no_label_is_taken_apart() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] in (
            "model",
            "sizing",
            "advisor",
            "lab",
            "verdict",
            "report",
            "cli",
            "views",
        ):
            found = TAKEN_APART.search(path.read_text(encoding="utf-8"))
            assert found is None, (path, found)


def test_no_sentence_of_the_package_has_a_wire_form() -> None:
    """A text for people has several words; a key is a word by itself."""
    for place, text in sentences():
        assert len(text.split()) < 3 or not WIRE_FORMS.search(text), (place, text)
