"""The short notation of disks: what contradicts itself, or what a disk cannot have, is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.core.errors import InputError
from azbenchlib.model.notation import parse_disk

PARTS = {
    "host caching": ["None", "ReadOnly", "readwrite"],
    "bursting": ["burst", "noburst"],
    "hit": ["hit=0.5", "hit=1"],
    "IOPS": ["100iops", "2kiops"],
    "MBps": ["100MBps", "50mbps"],
    "size": ["512GiB", "1TiB"],
    "redundancy": ["ZRS", "lrs"],
}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("P30:ReadOnly:ReadWrite", ("ReadOnly", "ReadWrite")),
        ("P30:ReadOnly:ReadOnly", ("ReadOnly", "host caching")),
        ("P30:burst:noburst", ("burst", "noburst")),
        ("P30:100iops:200iops", ("100iops", "200iops")),
        ("ultra:128GiB/100iops/10MBps/20MBps", ("10MBps", "20MBps")),
        ("P30/512GiB:256GiB", ("512GiB", "256GiB")),
        ("P30:ReadOnly:hit=0.5:hit=0.6", ("hit=0.5", "hit=0.6")),
        ("temp:ReadWrite", ("ReadWrite", "no host caching", "P30")),
        ("nvme:ReadOnly", ("ReadOnly", "no host caching")),
        ("ultra:128GiB/10000iops/50MBps:ReadOnly", ("no host caching", "ReadOnly")),
        ("pv2:128GiB/3000iops/125MBps:hit=0.5", ("no host caching", "hit=0.5")),
        ("E30:burst", ("on-demand bursting", "Premium SSD")),
        ("temp:burst", ("on-demand bursting",)),
        ("ultra:128GiB:noburst", ("noburst",)),
        ("P30:ZRS:LRS", ("ZRS", "LRS", "redundancy")),
        ("Premium_ZRS/1TiB:LRS", ("Premium_ZRS", "LRS", "redundancy")),
        ("pv2:1TiB:ZRS", ("Premium SSD v2 has no ZRS", "it has: LRS")),
        ("temp:ZRS", ("has no ZRS", "leave it out")),
        ("os:temp", ("no OS disk", "os:P4")),
    ],
)
def test_what_cannot_be_is_refused_with_its_words(text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as refused:
        parse_disk(text)
    assert all(word in str(refused.value) for word in (text, *words))


@pytest.mark.parametrize(
    "text", ["P30:ReadOnly:hit=0.9", "P40:burst", "E30:noburst", "temp", "ultra:128GiB/1kiops/9MBps"]
)
def test_what_can_be_is_taken(text: str) -> None:
    assert parse_disk(text).name == text


@given(
    st.lists(st.sampled_from([(what, word) for what, words in PARTS.items() for word in words]), max_size=5)
)
def test_each_thing_is_stated_once_in_any_order(parts: list[tuple[str, str]]) -> None:
    text = ":".join(["P40", *(word for _, word in parts)])
    stated = [what for what, _ in parts]
    if len(set(stated)) < len(stated):
        with pytest.raises(InputError, match="both state the"):
            parse_disk(text)
    else:
        assert parse_disk(text).name == text
