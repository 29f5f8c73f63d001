"""The commands of az that a measurement needs, each as an argument list, and how what they make is called.

Nothing here runs anything. Source of the flags: `az COMMAND --help`, azure-cli 2.91, 2026. What az would
choose by itself and has changed over the years is always said: size, image, security type, network
security group, public address, what becomes of the disks.
"""

import secrets
import shlex
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from azbenchlib.campaign.files.disk_spec import DiskSpec
from azbenchlib.campaign.files.spec import SetupSpec

RUN = "azbench-run"  # tag of every thing of a run in a group of the user's: what its name begins with

RUN_PREFIX = r"azb[0-9a-f]{10}"  # of the names of a run's things


@dataclass(frozen=True, kw_only=True)
class Naming:
    """How the things of a run are called and tagged."""

    # What their names begin with; empty in a group that is the run's own, where nothing else lies
    prefix: str = ""
    # What each carries, by name, where there is a prefix
    tags: Mapping[str, str] = field(default_factory=dict)

    def called(self, name: str) -> str:
        """The name of a thing in Azure."""
        return f"{self.prefix}-{name}" if self.prefix else name

    @property
    def options(self) -> list[str]:
        """What is added to the commands of az that create something."""
        tags = {RUN: self.prefix, **self.tags}
        return ["--tags", *(f"{name}={value}" for name, value in tags.items())] if self.prefix else []


PLAIN = Naming()


def new_prefix() -> str:
    """What the names of another run's things begin with: nothing else in Azure is called so."""
    return f"azb{secrets.token_hex(5)}"


Command = list[str]

NETWORK, SUBNET = "azbench-network", "azbench-subnet"
NAT, NAT_ADDRESS = "azbench-nat", "azbench-address"
CONTAINER = "results"
VM_TYPE = "providers/Microsoft.Compute/virtualMachines"
USER = "azbench"
NOBODY = "nobody@azbench"  # whose SSH key it is
# The built-in role Contributor: deleting a group takes the right to delete all that is in it.
# Source: Microsoft Learn, "Azure built-in roles" and "Delete resource groups", 2026.
CONTRIBUTOR = "b24988ac-6180-42a0-ab88-20f7382dd24c"
# What Azure Monitor is asked for: at most 20 metrics a call. Those of data disks are split by LUN; the others
# have no such dimension. VM Remote and VM Local are its names of the uncached and the cached path.
# Source: azure-monitor-docs, microsoft-compute-virtualmachines-metrics.md, 2026-07-31.
_RATES = ("Read Operations/Sec", "Write Operations/Sec", "Read Bytes/sec", "Write Bytes/sec", "Queue Depth")
_SHARES = ("IOPS Consumed Percentage", "Bandwidth Consumed Percentage")
_CREDITS = ("Used Burst IO Credits Percentage", "Used Burst BPS Credits Percentage")
DISK_METRICS = tuple(f"Data Disk {name}" for name in (*_RATES, "Latency", *_SHARES, *_CREDITS))
VM_METRICS = (
    *(f"OS Disk {name}" for name in (*_RATES, *_SHARES)),
    *(f"Temp Disk {name}" for name in _RATES[:2]),
    *(f"VM {path} {name}" for path in ("Uncached", "Cached") for name in _SHARES),
    *(f"VM {path} {name}" for path in ("Remote", "Local") for name in _CREDITS),
)
MOST_LUNS = 64  # without --top, Azure answers ten series, and other disks are lost
# What writes or computes behind a measurement's back, on Ubuntu and Debian.
_TIMERS = (
    *("apt-daily.timer", "apt-daily-upgrade.timer", "apt-daily.service", "apt-daily-upgrade.service"),
    *("unattended-upgrades.service", "man-db.timer", "motd-news.timer", "fstrim.timer", "e2scrub_all.timer"),
    *("dpkg-db-backup.timer", "logrotate.timer", "update-notifier-download.timer", "fwupd-refresh.timer"),
)
# What cloud-init holds, before the packages, and installs on the VM. It goes on without those that
# a distribution does not have (iozone3 is in Ubuntu's multiverse); fio is what matters, and the first script
# looks for it.
HELD = f"""#cloud-config
bootcmd:
- [systemctl, mask, --now, {", ".join(_TIMERS)}]
"""
CLOUD_CONFIG = f"""{HELD}package_update: true
packages: [fio, iozone3, mdadm]
"""


def account_show() -> Command:
    """Who is logged in, and to which subscription."""
    return ["account", "show"]


def provider_show(namespace: str) -> Command:
    """Whether a resource provider is registered."""
    return ["provider", "show", "--namespace", namespace]


def provider_register(namespace: str) -> Command:
    """Register a resource provider and wait for it."""
    return ["provider", "register", "--namespace", namespace, "--wait"]


def feature_show(feature: str) -> Command:
    """Whether a preview feature, ``Namespace/Name``, is registered."""
    namespace, _, name = feature.partition("/")
    return ["feature", "show", "--namespace", namespace, "--name", name]


def feature_register(feature: str) -> Command:
    """Ask for a preview feature; it takes from minutes to hours."""
    namespace, _, name = feature.partition("/")
    return ["feature", "register", "--namespace", namespace, "--name", name]


def list_sizes(region: str, size: str) -> Command:
    """What a region has of a VM size: zones, capabilities, restrictions."""
    kind = ["--resource-type", "virtualMachines"]
    return ["vm", "list-skus", "--location", region, "--size", size, *kind, "--all"]


def list_disks(region: str) -> Command:
    """What a region has of disk SKUs: zones, restrictions."""
    return ["vm", "list-skus", "--location", region, "--resource-type", "disks", "--all"]


def group_create(group: str, region: str, tags: Mapping[str, str]) -> Command:
    """The resource group that holds everything."""
    pairs = [f"{name}={value}" for name, value in tags.items()]
    return ["group", "create", "--name", group, "--location", region, "--tags", *pairs]


def group_list(tag: str) -> Command:
    """Groups with a tag, ``name=value``."""
    return ["group", "list", "--tag", tag]


def group_tag(group: str, name: str, value: str) -> Command:
    """Change one tag of the group."""
    return ["group", "update", "--name", group, "--set", f"tags.{name}={value}"]


def group_delete(group: str) -> Command:
    """Delete the group with all that is in it; the deletion goes on in Azure."""
    return ["group", "delete", "--name", group, "--yes", "--no-wait"]


def group_show(group: str) -> Command:
    """Whether the group is still there, and its state."""
    return ["group", "show", "--name", group]


def things_in(group: str) -> Command:
    """All that lies in a group, with its tags."""
    return ["resource", "list", "--resource-group", group]


def things_with(tag: str) -> Command:
    """All in the subscription that has a tag of this name."""
    return ["resource", "list", "--tag", tag]


def thing_tag(resource_id: str, tags: Mapping[str, str]) -> Command:
    """Change some tags of one thing."""
    pairs = [f"{name}={value}" for name, value in tags.items()]
    return ["tag", "update", "--resource-id", resource_id, "--operation", "Merge", "--tags", *pairs]


def deployments(group: str) -> Command:
    """What is being created in a group, or was, by templates: so az creates VMs."""
    return ["deployment", "group", "list", "--resource-group", group]


def group_id(subscription: str, group: str) -> str:
    """The resource id of a group."""
    return f"/subscriptions/{subscription}/resourceGroups/{group}"


def permissions(group_id: str) -> Command:
    """What the account that is logged in may do in a group."""
    asked = f"{group_id}/providers/Microsoft.Authorization/permissions?api-version=2022-04-01"
    return ["rest", "--method", "get", "--url", asked]


def network_create(group: str, outbound: str = "default", naming: Naming = PLAIN) -> Command:
    """A network whose VMs reach the outside, for packages and run-commands, but cannot be reached.

    New networks are private by default at the API version that az 2.91 uses. `outbound`: by Azure's default
    way, which policies can forbid; by a NAT gateway; or to Azure's storage alone, by a service endpoint.
    """
    access = str(outbound == "default").lower()
    endpoint = ",service-endpoints:[{service:Microsoft.Storage}]" if outbound == "none" else ""
    subnet = f"[{{name:{SUBNET},address-prefix:10.0.0.0/24,default-outbound-access:{access}{endpoint}}}]"
    place = ["--resource-group", group, "--name", naming.called(NETWORK)]
    addresses = ["--address-prefixes", "10.0.0.0/16", "--subnets", subnet]
    return ["network", "vnet", "create", *place, *addresses, *naming.options]


def address_create(group: str, naming: Naming = PLAIN) -> Command:
    """A public address, for a NAT gateway alone."""
    place = ["--resource-group", group, "--name", naming.called(NAT_ADDRESS)]
    kind = ["--sku", "Standard", "--allocation-method", "Static"]
    return ["network", "public-ip", "create", *place, *kind, *naming.options]


def nat_create(group: str, naming: Naming = PLAIN) -> Command:
    """A NAT gateway, through which VMs reach the outside, and nobody reaches them."""
    place = ["--resource-group", group, "--name", naming.called(NAT)]
    address = ["--public-ip-addresses", naming.called(NAT_ADDRESS)]
    return ["network", "nat", "gateway", "create", *place, *address, *naming.options]


def nat_use(group: str, naming: Naming = PLAIN) -> Command:
    """Have the subnet reach the outside through the NAT gateway."""
    place = ["--resource-group", group, "--vnet-name", naming.called(NETWORK), "--name", SUBNET]
    return ["network", "vnet", "subnet", "update", *place, "--nat-gateway", naming.called(NAT)]


def list_usage(region: str) -> Command:
    """How much of each quota of a region is used."""
    return ["vm", "list-usage", "--location", region]


def vm_create(
    group: str,
    name: str,
    setup: SetupSpec,
    subnet: str | None = None,
    install: bool = True,
    naming: Naming = PLAIN,
) -> Command:
    """A VM without a public address, into which nobody can log in; `subnet`: the id of one that is there.

    `install`: whether it gets the tools; else its image has them. In a group that is not the run's own,
    it has no identity, for it deletes nothing there.
    """
    network = ["--vnet-name", naming.called(NETWORK), "--subnet", SUBNET]
    network = ["--subnet", subnet] if subnet else network
    return [
        *("vm", "create", "--resource-group", group, "--name", name),
        *("--image", setup.image, "--size", setup.vm, "--security-type", setup.security_type),
        *(("--zone", setup.zone) if setup.zone else ()),
        *_os_disk(setup),
        *(("--ultra-ssd-enabled", "true") if setup.has_ultra else ()),
        *(("--disk-controller-type", setup.controller) if setup.controller else ()),
        *(("--priority", "Spot", "--eviction-policy", "Delete") if setup.priority == "spot" else ()),
        *network,
        *("--public-ip-address", "", "--nsg", ""),
        *("--admin-username", USER, "--authentication-type", "ssh", "--ssh-key-values", nobodys_key()),
        *("--custom-data", CLOUD_CONFIG if install else HELD),
        *(() if naming.prefix else ("--assign-identity", "[system]")),
        *("--os-disk-delete-option", "Delete", "--nic-delete-option", "Delete"),
        *naming.options,
    ]


def vm_show(group: str, name: str) -> Command:
    """What a VM is, with the disks that are attached to it."""
    return ["vm", "show", "--resource-group", group, "--name", name]


def disk_show(group: str, name: str) -> Command:
    """What a managed disk is, with what was bought of it."""
    return ["disk", "show", "--resource-group", group, "--name", name]


def disks_read(group: str) -> Command:
    """Managed disks that an address with a signature makes readable, by name."""
    return ["disk", "list", "--resource-group", group, "--query", "[?diskState=='ActiveSAS'].name"]


def vm_state(group: str, name: str) -> Command:
    """Whether a VM runs."""
    place = ["--resource-group", group, "--name", name]
    return ["vm", "get-instance-view", *place, "--query", "instanceView.statuses[].code"]


def role_assign(principal: str, scope: str) -> Command:
    """Let an identity do in a group what it likes, and nowhere else."""
    whom = ["--assignee-object-id", principal, "--assignee-principal-type", "ServicePrincipal"]
    return ["role", "assignment", "create", *whom, "--role", CONTRIBUTOR, "--scope", scope]


def resource_manager() -> Command:
    """Where the resource manager of the cloud is that az is set to."""
    return ["cloud", "show", "--query", "endpoints.resourceManager"]


def metrics(resource: str, names: Sequence[str], begun: datetime, ended: datetime, by_lun: bool) -> Command:
    """Metrics of a VM, a figure a minute."""
    moments = [f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in (begun, ended)]
    split = ["--filter", "LUN eq '*'", "--top", str(MOST_LUNS)] if by_lun else []
    return [
        *("monitor", "metrics", "list", "--resource", resource, "--metrics", *names),
        *("--start-time", moments[0], "--end-time", moments[1], "--interval", "1m"),
        *("--aggregation", "Average", *split),
    ]


def vm_delete(group: str, name: str) -> Command:
    """Delete a VM with its OS disk; data disks stay."""
    return ["vm", "delete", "--resource-group", group, "--name", name, "--yes"]


def auto_shutdown(group: str, name: str, hhmm: str) -> Command:
    """Stop the VM at a time of day (UTC), should nobody be there to delete it."""
    return ["vm", "auto-shutdown", "--resource-group", group, "--name", name, "--time", hhmm]


def disk_create(group: str, name: str, disk: DiskSpec, zone: str | None, naming: Naming = PLAIN) -> Command:
    """An empty managed disk."""
    return [
        *("disk", "create", "--resource-group", group, "--name", name),
        *("--sku", str(disk.sku), "--size-gb", str(disk.size_gib)),
        *(("--zone", zone) if zone and not str(disk.sku).endswith("_ZRS") else ()),
        *_bought(disk),
        *(("--tier", disk.tier) if disk.tier else ()),
        *(("--enable-bursting", "true") if disk.bursting else ()),
        *(("--performance-plus", "true") if disk.performance_plus else ()),
        *(("--logical-sector-size", str(disk.sector)) if disk.sector else ()),
        *naming.options,
    ]


def disk_update(group: str, name: str, disk: DiskSpec) -> Command:
    """Change what is bought of a disk's performance."""
    tier = ["--set", f"tier={disk.tier}"] if disk.tier else []  # it has no --tier
    return ["disk", "update", "--resource-group", group, "--name", name, *_bought(disk), *tier]


def disk_attach(group: str, vm: str, name: str, lun: int, disk: DiskSpec) -> Command:
    """Attach a managed disk at a LUN."""
    place = ["--resource-group", group, "--vm-name", vm, "--name", name]
    fast = ["--enable-write-accelerator"] if disk.write_accelerator else []
    return ["vm", "disk", "attach", *place, "--lun", str(lun), "--caching", disk.caching or "None", *fast]


def disk_detach(group: str, vm: str, name: str) -> Command:
    """Detach a managed disk from a running VM."""
    return ["vm", "disk", "detach", "--resource-group", group, "--vm-name", vm, "--name", name]


def disk_grant(group: str, name: str, seconds: int) -> Command:
    """Let whoever has the answer, an address with a signature, read a disk that is attached to no VM."""
    what = ["--access-level", "Read", "--duration-in-seconds", str(seconds)]
    return ["disk", "grant-access", "--resource-group", group, "--name", name, *what]


def disk_revoke(group: str, name: str) -> Command:
    """Make that signature void; a disk with one can neither be attached nor deleted."""
    return ["disk", "revoke-access", "--resource-group", group, "--name", name]


def disk_delete(group: str, name: str) -> Command:
    """Delete a managed disk; one that is not there is no fault."""
    return ["disk", "delete", "--resource-group", group, "--name", name, "--yes"]


def script_start(group: str, vm: str, name: str, script: str, timeout_s: int) -> Command:
    """Start a script on the VM that runs on without us (managed run-command)."""
    place = ["--resource-group", group, "--vm-name", vm, "--run-command-name", name]
    mode = ["--async-execution", "true", "--timeout-in-seconds", str(timeout_s)]
    return ["vm", "run-command", "create", *place, *mode, "--script", script]


def script_delete(group: str, vm: str, name: str) -> Command:
    """Forget a script that ended; Azure keeps 25 on a VM at most."""
    place = ["--resource-group", group, "--vm-name", vm, "--run-command-name", name]
    return ["vm", "run-command", "delete", *place, "--yes", "--no-wait"]


def storage_account(
    group: str, name: str, region: str, by_login: bool = False, naming: Naming = PLAIN
) -> Command:
    """An account for the outputs, into which nobody can look without a key, or not with one either."""
    return [
        *("storage", "account", "create", "--resource-group", group, "--name", name, "--location", region),
        *("--sku", "Standard_LRS", "--kind", "StorageV2", "--https-only", "true"),
        *("--min-tls-version", "TLS1_2", "--allow-blob-public-access", "false"),
        *(("--allow-shared-key-access", "false") if by_login else ()),
        *naming.options,
    ]


def storage_keys(group: str, name: str) -> Command:
    """The keys of an account; they are in the answer alone."""
    return ["storage", "account", "keys", "list", "--resource-group", group, "--account-name", name]


def container_create() -> Command:
    """The container; which account, and its key, az takes from its environment."""
    return ["storage", "container", "create", "--name", CONTAINER]


def container_signature(expiry: str, by_login: bool = False) -> Command:
    """The right to add blobs to the container and to create them, nothing else."""
    rights = ["--permissions", "ac", "--https-only", "--expiry", expiry]
    whose = ["--as-user", "--auth-mode", "login"] if by_login else []
    return ["storage", "container", "generate-sas", "--name", CONTAINER, *rights, *whose]


def blob_list() -> Command:
    """The names of all blobs."""
    every = ["--num-results", "*", "--query", "[].name"]
    return ["storage", "blob", "list", "--container-name", CONTAINER, *every]


def blob_download(name: str, file: str) -> Command:
    """A blob into a file."""
    place = ["--container-name", CONTAINER, "--name", name, "--file", file]
    return ["storage", "blob", "download", *place, "--no-progress"]


def range_download(url: str, file: str, start: int, end: int) -> Command:
    """Bytes of a blob into a file, from one to another; what gives the right is in the environment."""
    what = ["--start-range", str(start), "--end-range", str(end)]
    return ["storage", "blob", "download", "--blob-url", url, "--file", file, *what, "--no-progress"]


def script_show(group: str, vm: str, name: str) -> Command:
    """How far such a script is, and the last 4 KiB of what it said."""
    place = ["--resource-group", group, "--vm-name", vm, "--run-command-name", name]
    return ["vm", "run-command", "show", *place, "--instance-view"]


def script_invoke(group: str, vm: str, script: str) -> Command:
    """Run a short script on the VM and wait for it: the last 4 KiB of what it said."""
    what = ["--command-id", "RunShellScript", "--scripts", script]
    return ["vm", "run-command", "invoke", "--resource-group", group, "--name", vm, *what]


def text(argv: Command) -> str:
    """A command for people, on one line; the key of nobody, another one each time, is left out."""
    shown = ["KEY" if word.endswith(NOBODY) else word for word in argv]
    return shlex.join(["az", *("CLOUD-CONFIG" if word in (CLOUD_CONFIG, HELD) else word for word in shown)])


def nobodys_key() -> str:
    """A public SSH key without a private one: az wants a key, and nobody shall log in."""
    kind = b"ssh-ed25519"
    wire = len(kind).to_bytes(4) + kind + (32).to_bytes(4) + secrets.token_bytes(32)  # RFC 8709, section 4
    return f"{kind.decode()} {b64encode(wire).decode()} {NOBODY}"


def _os_disk(setup: SetupSpec) -> list[str]:
    flags: list[str] = []
    for disk in setup.os_disks:
        if disk.role == "ephemeral_os":
            flags += ["--ephemeral-os-disk", "true", "--os-disk-caching", "ReadOnly"]
            flags += ["--ephemeral-os-disk-placement", disk.placement] if disk.placement else []
        else:
            flags += ["--storage-sku", f"os={disk.sku}"] if disk.sku else []
            flags += ["--os-disk-caching", disk.caching] if disk.caching else []
            flags += ["--os-disk-size-gb", str(disk.size_gib)] if disk.size else []
    return flags


def _bought(disk: DiskSpec) -> list[str]:
    flags = ["--disk-iops-read-write", str(disk.iops)] if disk.iops else []
    return flags + (["--disk-mbps-read-write", str(disk.mbps)] if disk.mbps else [])
