"""The container of results on Azurite, Microsoft's emulator of storage: the real az here, curl as on a VM."""

import base64
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
from fake_azure.campaigns import on_this_machine

from azbenchlib.azure.az import Az
from azbenchlib.campaign.targets.azure import container
from azbenchlib.campaign.targets.azure.container import Container

pytest_plugins = ("fake_azure.fixtures",)
pytestmark = pytest.mark.slow

AZURITE = Path(__file__).parents[3] / ".tools" / "azurite" / "node_modules" / ".bin" / "azurite-blob"
LISTENS = re.compile(r"successfully listens on (https://\S+)")
ACCOUNT, KEY = container.account_name("g"), base64.b64encode(os.urandom(32)).decode()
# The account itself is the resource manager's, which Azurite is none of.
PROGRAM = """#!/bin/sh
case "$1 $2 $3" in
"storage account create") echo '{{"primaryEndpoints": {{"blob": "{address}/{account}/"}}}}' ;;
"storage account keys") echo '[{{"value": "{key}"}}]' ;;
*) exec {az} "$@" ;;
esac
"""


@pytest.fixture
def made(az_path: Path, tmp_path: Path) -> Iterator[Container]:
    """A container as a run has it."""
    if not AZURITE.exists():
        pytest.skip("no Azurite: scripts/install-azurite")
    authority = trustme.CA()
    served = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    served.private_key_and_cert_chain_pem.write_to_path(tmp_path / "served.pem")
    certificate = ["--cert", tmp_path / "served.pem", "--key", tmp_path / "served.pem"]
    command = [AZURITE, "--inMemoryPersistence", "--blobPort", "0", "--silent", "--disableTelemetry"]
    environment = {**os.environ, "AZURITE_ACCOUNTS": f"{ACCOUNT}:{KEY}"}
    with subprocess.Popen(
        [*command, *certificate, "--skipApiVersionCheck"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    ) as running:
        try:
            assert running.stdout
            found = next(match for line in running.stdout if (match := LISTENS.search(line)))
            path = tmp_path / "az"
            path.write_text(PROGRAM.format(address=found[1], account=ACCOUNT, key=KEY, az=az_path))
            path.chmod(0o755)
            own = {"AZURE_CONFIG_DIR": str(tmp_path / "config"), "REQUESTS_CA_BUNDLE": f"{tmp_path}/ca.pem"}
            az = Az(path=str(path), log=tmp_path / "az.log.jsonl", environment={**os.environ, **own})
            yield container.make(az, "g", "westeurope")
        finally:
            running.terminate()
            running.communicate()


def on_a_vm(folder: Path, made: Container, call: str) -> subprocess.CompletedProcess[str]:
    """Functions of the scripts for VMs, with the signature; curl trusts the server, and pauses are none."""
    (folder / "sleep").write_text("#!/bin/sh\n")
    (folder / "sleep").chmod(0o755)
    secret = made.secret.partition("=")[2]
    head = f"export CURL_CA_BUNDLE={folder}/ca.pem; url='{made.url}' azbench_sas='{secret}'"
    return on_this_machine(folder, f"{head}\n{call}")


def test_what_a_vm_uploads_is_fetched_and_its_signature_lets_it_do_nothing_else(
    made: Container, tmp_path: Path
) -> None:
    """A VM can neither replace what is there, nor read, list or delete."""
    (tmp_path / "out").write_bytes(bytes(range(256)) * 5000)
    done = on_a_vm(tmp_path, made, f"upload {tmp_path}/out setup/data/first/0-abc-.figures")
    assert (done.returncode, done.stderr) == (0, "")
    assert made.names() == ["setup/data/first/0-abc-.figures"]
    assert made.download("setup/data/first/0-abc-.figures", 0, 0) == (tmp_path / "out").read_bytes()
    log = (tmp_path / "az.log.jsonl").read_text()
    assert not [secret for secret in (KEY, "sig=") if secret in log]
    for text in ("first", "second"):
        (tmp_path / text).write_text(text)
    assert on_a_vm(tmp_path, made, f"upload {tmp_path}/first a.figures").returncode == 0
    assert on_a_vm(tmp_path, made, f"upload {tmp_path}/second a.figures").returncode != 0
    asked = "--silent --output /dev/null --write-out '%{http_code} '"
    for options, place in (("", "a.figures"), ("--request DELETE", "a.figures")):
        done = on_a_vm(tmp_path, made, f'curl {options} {asked} "$url/{place}?$azbench_sas"')
        assert done.stdout == "403 ", done.stderr
    listing = f'curl {asked} "$url?restype=container&comp=list&$azbench_sas"'
    assert on_a_vm(tmp_path, made, listing).stdout == "403 "
    assert made.download("a.figures", 0, 0) == b"first"


@pytest.mark.parametrize(("status", "tries"), [(0, 1), (22, 1), (56, 3)])
def test_an_upload_is_tried_again_where_the_network_fails_and_not_where_the_service_refuses(
    tmp_path: Path, status: int, tries: int
) -> None:
    """A run that is taken up uploads again what is there, and the service refuses each."""
    for name, text in {"curl": f"echo tried >>{tmp_path}/tries\nexit {status}", "sleep": ""}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    done = on_this_machine(tmp_path, "url=https://x azbench_sas=sig\nupload /dev/null a.figures")
    assert done.returncode == status
    assert (tmp_path / "tries").read_text().count("tried") == tries
