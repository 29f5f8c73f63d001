"""A lake in Azure's object store, tried on Azurite, Microsoft's emulator of it."""

import base64
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from many_runs import write_runs

from azbenchlib import Lake
from azbenchlib.core.errors import InputError, OutputError

AZURITE = Path(__file__).parents[2] / ".tools" / "azurite" / "node_modules" / ".bin" / "azurite-blob"
LISTENS = re.compile(r"successfully listens on (http://\S+)")


@pytest.fixture(scope="module")
def account() -> Iterator[str]:
    """The connection string of an account of its own."""
    if not AZURITE.exists():
        pytest.skip("no Azurite: scripts/install-azurite")
    key = base64.b64encode(os.urandom(32)).decode()
    command = [AZURITE, "--inMemoryPersistence", "--blobPort", "0", "--silent", "--disableTelemetry"]
    environment = {**os.environ, "AZURITE_ACCOUNTS": f"lake:{key}"}
    with subprocess.Popen(
        [*command, "--skipApiVersionCheck"], env=environment, stdout=subprocess.PIPE, text=True
    ) as running:
        try:
            assert running.stdout
            found = next(match for line in running.stdout if (match := LISTENS.search(line)))
            yield (
                f"DefaultEndpointsProtocol=http;AccountName=lake;AccountKey={key};"
                f"BlobEndpoint={found[1]}/lake;"
            )
        finally:
            running.terminate()
            running.communicate()


@pytest.fixture
def container(account: str, monkeypatch: pytest.MonkeyPatch) -> str:
    import fsspec

    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", account)
    fsspec.filesystem("abfs").mkdir("results", exist_ok=True)
    return "abfs://results"


def test_a_lake_in_azure_answers_as_one_in_a_folder(container: str, tmp_path: Path) -> None:
    outputs = write_runs(tmp_path / "outputs", 6)
    here, there = Lake(tmp_path / "lake"), Lake(f"{container}/team/lake")
    here.collect(*outputs, setup_id="a/b")
    for some in (outputs[:4], outputs[3:]):
        there.collect(*some, setup_id="a/b")
    assert there.collect(*outputs).there_already == 6
    by = ["setup_id", "day", "ddir", "lat_kind", "rw"]
    whole = here.percentiles(by).to_csv()
    assert there.percentiles(by).to_csv() == whole
    assert there.percentiles(by, processes=1).to_csv() == whole
    counted = "SELECT setup_id, count(*) AS n, sum(n) AS ios FROM histograms GROUP BY ALL"
    assert there.query(counted).equals(here.query(counted))


def test_a_query_reads_nothing_else_in_the_account(container: str, tmp_path: Path) -> None:
    import fsspec

    fsspec.filesystem("abfs").pipe_file("results/secret/mine.csv", b"a\n1\n")
    lake = Lake(f"{container}/own")
    lake.collect(*write_runs(tmp_path / "outputs", 1))
    with pytest.raises(InputError, match="disabled by configuration"):
        lake.query("FROM read_csv('abfs://results/secret/mine.csv')")
    with pytest.raises(OutputError, match=r"holds mine\.csv and is no lake"):
        Lake(f"{container}/secret").collect(*write_runs(tmp_path / "outputs", 1))


def test_what_azure_refuses_is_a_sentence(container: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no lake"):
        Lake("abfs://nothing/lake").query("SELECT 1")
    with pytest.raises(OutputError, match="The specified container does not exist"):
        Lake("abfs://nothing/lake").collect(*write_runs(tmp_path / "outputs", 1))


def test_an_account_that_is_not_told_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from adlfs import AzureBlobFileSystem

    AzureBlobFileSystem.clear_instance_cache()
    for name in [name for name in os.environ if name.startswith("AZURE_STORAGE")]:
        monkeypatch.delenv(name)
    with pytest.raises(InputError, match="AZURE_STORAGE_CONNECTION_STRING"):
        Lake("abfs://container/lake").query("SELECT 1")
