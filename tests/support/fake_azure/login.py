"""An `az` that is logged in to the fake Azure and can reach nothing else."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waiting import PATIENCE_S

from .arm import Arm
from .faults import Faults
from .identity import PRINCIPAL, SUBSCRIPTION, TENANT

ROOT = Path(__file__).parents[3]
STARTS_S = 60.0  # within which az is loaded
CONFIG = """[cloud]
name = FakeCloud
[core]
instance_discovery = false
collect_telemetry = false
encrypt_token_cache = false
survey_message = false
no_color = true
[extension]
use_dynamic_install = no
"""


def find_az() -> Path | None:
    """Give the az to test with: $AZBENCH_AZ, that of `make azure`, or the first on PATH."""
    candidates = (os.environ.get("AZBENCH_AZ"), ROOT / ".tools/bin/az", shutil.which("az"))
    return next((Path(found) for found in candidates if found and Path(found).exists()), None)


def write_config(folder: Path, base: str) -> None:
    """Make an AZURE_CONFIG_DIR that knows the fake cloud and is logged in."""
    folder.mkdir()
    endpoints = {
        "resource_manager": base,
        "management": base + "/",
        "active_directory": base,
        "active_directory_resource_id": base + "/",
        "active_directory_graph_resource_id": base + "/",
        "microsoft_graph_resource_id": base + "/",
        "vm_image_alias_doc": base + "/aliases.json",
    }
    lines = ["[FakeCloud]", *(f"endpoint_{name} = {url}" for name, url in endpoints.items())]
    folder.joinpath("clouds.config").write_text("\n".join(lines) + "\n")
    folder.joinpath("config").write_text(CONFIG)
    subscription = {
        "id": SUBSCRIPTION,
        "name": "fake",
        "state": "Enabled",
        "isDefault": True,
        "tenantId": TENANT,
        "homeTenantId": TENANT,
        "managedByTenants": [],
        "environmentName": "FakeCloud",
        "user": {"name": PRINCIPAL, "type": "servicePrincipal"},
    }
    profile = {"installationId": PRINCIPAL, "subscriptions": [subscription]}
    folder.joinpath("azureProfile.json").write_text(json.dumps(profile))
    entry = {"client_id": PRINCIPAL, "tenant": TENANT, "client_secret": "not a secret"}
    folder.joinpath("service_principal_entries.json").write_text(json.dumps([entry]))


def environment(config: Path, certificate: Path) -> Mapping[str, str]:
    """Give the variables for a process that calls az; a call to anywhere else fails at once."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AZURE_", "ARM_"))}
    nowhere = "http://127.0.0.1:1"
    return kept | {
        "AZURE_CONFIG_DIR": str(config),
        "REQUESTS_CA_BUNDLE": str(certificate),
        "HTTPS_PROXY": nowhere,
        "HTTP_PROXY": nowhere,
        "NO_PROXY": "localhost,127.0.0.1",
    }


@contextmanager
def warm(az_path: Path, config: Path, folder: Path) -> Iterator[Path]:
    """The same az, whose calls are forks of one that is loaded (`fake_azure.warm_az`); the program to call.

    Only for calls with this AZURE_CONFIG_DIR; others start az as it is.
    """
    folder.mkdir()
    python = az_path.resolve().with_name("python")
    command = [str(python), "-I", str(Path(__file__).with_name("warm_az.py")), str(folder), str(az_path)]
    variables = {**os.environ, "AZURE_CONFIG_DIR": str(config)}
    client, deadline = folder / "az", time.monotonic() + STARTS_S
    with subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL) as process:
        try:
            while not client.exists() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
            yield client if client.exists() else az_path
        finally:
            process.terminate()


def refused(az_path: Path, argvs: Sequence[Sequence[str]]) -> list[str]:
    """Ask azure-cli's own parser about argument lists (without "az"): why it refuses each, or ""."""
    python = az_path.resolve().with_name("python")
    check = Path(__file__).with_name("parse_check.py")
    lines = "".join(json.dumps(list(argv)) + "\n" for argv in argvs)
    done = subprocess.run(
        [str(python), "-I", str(check)], input=lines, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@dataclass(frozen=True)
class Azure:
    """A fake Azure with one empty subscription, and the real az logged in to it."""

    az_path: Path
    environment: Mapping[str, str]
    arm: Arm

    @property
    def faults(self) -> Faults:
        return self.arm.faults

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run az, come what may."""
        command = [str(self.az_path), *arguments]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=PATIENCE_S
        )

    def az(self, *arguments: str) -> Any:
        """Run az, which must succeed, and give what it prints as JSON."""
        done = self.run(*arguments, "--output", "json")
        assert done.returncode == 0, f"az {' '.join(arguments)}\n{done.stderr}"
        return json.loads(done.stdout) if done.stdout.strip() else None
