"""VM sizes, disks and regions as people state them: understood in many spellings, or refused."""

import re
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.azure import catalog, regions
from azbenchlib.azure.catalog import files as catalog_files
from azbenchlib.core.errors import InputError
from azbenchlib.core.name_forms import TakenForWarning
from azbenchlib.core.units import GIB
from azbenchlib.model.notation import parse_disk, stated_setup

SIZES = catalog.vm_sizes()
DISKS = {
    "4xP30": ("Premium_LRS", "P30", None, 4),
    "P30 x4": ("Premium_LRS", "P30", None, 4),
    "4 x p30": ("Premium_LRS", "P30", None, 4),
    "P30*4": ("Premium_LRS", "P30", None, 4),
    "P30\u00d74": ("Premium_LRS", "P30", None, 4),
    "P\u00a030": ("Premium_LRS", "P30", None, 1),
    "Premium SSD P30": ("Premium_LRS", "P30", None, 1),
    "P30 (Premium SSD)": ("Premium_LRS", "P30", None, 1),
    "E10": ("StandardSSD_LRS", "E10", None, 1),
    "PremiumV2_LRS": ("PremiumV2_LRS", None, None, 1),
    "premiumv2": ("PremiumV2_LRS", None, None, 1),
    "premium_v2": ("PremiumV2_LRS", None, None, 1),
    "premium ssd v2 1 TiB": ("PremiumV2_LRS", None, 1024, 1),
    "ultra disk": ("UltraSSD_LRS", None, None, 1),
    "UltraSSD_LRS 128GiB": ("UltraSSD_LRS", None, 128, 1),
    "2 x nvme": (None, None, None, 2),
    "temp disk": (None, None, None, 1),
}
BY_SIZE = {
    "Premium SSD 1TB": ("Premium_LRS", "P30", 1024, 1),
    "4x Premium SSD 1TiB": ("Premium_LRS", "P30", 1024, 4),
    "std ssd 512GB": ("StandardSSD_LRS", "E20", 512, 1),
    "StandardSSD_ZRS/256GiB": ("StandardSSD_ZRS", "E15", 256, 1),
    "Premium SSD/1TB": ("Premium_LRS", "P30", 1024, 1),
    "hdd 1TiB": ("Standard_LRS", "S30", 1024, 1),
}
REGIONS = {
    "westeurope": "westeurope",
    "West Europe": "westeurope",
    "WEST-EUROPE": "westeurope",
    "(Europe) West Europe": "westeurope",
    "North Europe (Dublin)": "northeurope",
    "China North 3": "chinanorth3",
}
TAKEN_FOR = {
    "Frankfurt": "germanywestcentral",
    "Amsterdam": "westeurope",
    "US East 2": "eastus2",
    "Frankfurt, Germany": "germanywestcentral",
}


def drawn(text: str) -> tuple[str | None, str | None, float | None, int]:
    disk = parse_disk(text)
    return disk.sku, disk.tier, disk.size_bytes and disk.size_bytes / GIB, disk.count


@given(st.sampled_from(SIZES), st.sampled_from(["", "_", "-", " ", "\u00a0"]), st.booleans(), st.booleans())
def test_a_size_is_understood_in_every_spelling(size: str, sign: str, short: bool, low: bool) -> None:
    text = size.removeprefix("Standard_") if short else size
    text = text.replace("_", sign)
    assert stated_setup(text.lower() if low else text).vm.size == size


def test_a_size_is_understood_as_the_portal_shows_it() -> None:
    assert catalog.vm("Standard D8s v5 (8 vcpus, 32 GiB memory)").size == "Standard_D8s_v5"


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("Standard_D8s_v55", "Standard_D8s_v5"),
        ("D8s_v50", "Standard_D8s_v5"),
        ("E32_8s_v55", "Standard_E32-8s_v5"),
        ("Standrad_E8ds_v5", "Standard_E8ds_v5"),
    ],
)
def test_a_size_that_there_is_not_is_refused_with_the_nearest(text: str, near: str) -> None:
    with pytest.raises(InputError, match=rf"no VM size '{text}'.*nearest: .*{near}\b"):
        stated_setup(text, ["P30"])


@pytest.mark.parametrize("text", DISKS)
def test_a_disk_is_understood_as_people_write_it(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert drawn(text) == DISKS[text]


@pytest.mark.parametrize("text", BY_SIZE)
def test_a_tier_that_a_size_was_taken_for_is_said(text: str) -> None:
    with pytest.warns(TakenForWarning, match=f"taken for {BY_SIZE[text][1]} "):
        assert drawn(text) == BY_SIZE[text]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("P31", "no disk tier 'P31'; nearest: .*P30"),
        ("P30x", "'P30x' is not a disk"),
        ("Standard SSD P30", "is not a disk; nearest: Standard SSD"),
        ("standrad ssd 1TiB", "is not a disk; nearest: Standard SSD"),
        ("ultar:1TiB", "is not a disk; nearest: Ultra Disk"),
        ("premium", "state the size of the Premium SSD"),
        ("pv2 1TB", "whole GiB"),
        ("", "'' is not a disk"),
    ],
)
def test_a_disk_that_there_is_not_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        parse_disk(text)


@pytest.mark.parametrize("text", REGIONS)
def test_a_region_is_understood_by_its_names(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert regions.understood(text) == REGIONS[text]


@pytest.mark.parametrize("text", TAKEN_FOR)
def test_a_region_that_a_place_was_taken_for_is_said(text: str) -> None:
    with pytest.warns(TakenForWarning, match=f"taken for {TAKEN_FOR[text]} "):
        assert regions.understood(text) == TAKEN_FOR[text]


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("westeurop", "westeurope"),
        ("us-east-2", "eastus2"),
        ("Frankfrut", "germanywestcentral"),
        ("eus2", "eastus2"),
        ("europe-west4", "westeurope"),
    ],
)
def test_a_region_that_there_is_not_is_refused_with_the_nearest(text: str, near: str) -> None:
    with pytest.raises(InputError, match=rf"no region '{text}' is known; nearest: .*\b{near}\b"):
        regions.understood(text)


@given(st.sampled_from(sorted(regions.known())))
def test_every_region_is_understood_by_its_display_name(name: str) -> None:
    display_name = regions.known()[name].display_name
    assert regions.understood(display_name) == name
    assert regions.understood(re.sub(" ", "", display_name).lower()) == name


@given(st.text(max_size=40))
def test_any_text_is_a_name_or_is_refused_in_a_sentence(text: str) -> None:
    for understand in (parse_disk, regions.understood, catalog.vm):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TakenForWarning)
            try:
                understand(text)
            except InputError as error:
                assert len(str(error)) < 2_000


def test_a_region_of_ones_own_is_known_by_all_its_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As docs/advice.md shows it."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(InputError):
        regions.understood("Dammam")
    path = tmp_path / "azbench" / "catalog" / "regions.csv"
    path.parent.mkdir(parents=True)
    path.write_text(
        "name,display_name,location,cities,geography,source\n"
        "saudiarabiaeast,Saudi Arabia East,,Dammam,Saudi Arabia,my own\n"
    )
    for text in ("saudiarabiaeast", "Saudi Arabia East"):
        assert regions.understood(text) == "saudiarabiaeast"
    with pytest.warns(TakenForWarning):
        assert regions.understood("Dammam") == "saudiarabiaeast"
    assert regions.understood("US DoD East") == "usdodeast"


def test_every_region_has_a_source() -> None:
    rows = catalog_files.read(catalog_files.DATA / regions.REGIONS_FILE)
    assert all(row["source"] for row in rows)
    assert all("city" in row["source"] for row in rows if row["cities"])
