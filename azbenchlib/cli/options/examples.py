"""An example of each verb, as its help shows it: each is a command line that is understood as it stands."""

from __future__ import annotations

import typer

EXAMPLES = {
    "read": "azbench read results/*.json --format csv",
    "collect": "azbench collect results/ -o lake --setup e8ds-p30",
    "query": "azbench query lake --percentiles 50,99 --by setup_id,day,ddir",
    "plan": "azbench plan campaigns/ultra-disk.yaml",
    "run": "azbench run campaigns/ultra-disk.yaml --quick",
    "status": "azbench status datasets/ultra-disk",
    "schema": "azbench schema -o azbench.schema.json",
    "cleanup": "azbench cleanup --yes",
    "limits": "azbench limits --vm E8ds_v4 --disk P30x4:ReadOnly --bs 4k,64k",
    "cost": "azbench cost --vm D8s_v5 --disk P30 --region westeurope",
    "advise": "azbench advise --iops 20000 --size 1TiB --region westeurope",
    "size": "azbench size telemetry/ --held-back 60s --size 2TiB --region westeurope",
    "verdict": "azbench verdict results/*.json --vm E8ds_v4 --disk P30",
    "compare": 'azbench compare before/ after/ --fail-if "p99 > +10%"',
    "report": "azbench report results/*.json --vm E8ds_v4 --disk P30 -o report",
    "probe": "azbench probe lab --disk P10",
    "learn": "azbench learn --export course",
    "doctor": "azbench doctor",
    "import": "azbench import results/*.json --name my-disks-2026",
    "catalog show": "azbench catalog show E8ds_v4",
    "catalog drift": "azbench catalog drift",
    "catalog refresh": "azbench catalog refresh --region westeurope",
    "setup detect": "azbench setup detect --format yaml",
    "lab start": "azbench lab start --vm E8ds_v4 --disk P4",
    "lab watch": "azbench lab watch",
    "lab run": "azbench lab run --vm E8ds_v4 --disk P4 job.fio",
    "lab mount": "azbench lab mount disk.img",
}


def below(verb: str) -> str:
    """What stands below the help of a verb."""
    return f"Example: {EXAMPLES[verb]}"


def show(app: typer.Typer, group: str) -> None:
    """Put its example below the help of each verb of a group."""
    for command in app.registered_commands:
        name = command.name or (command.callback.__name__ if command.callback else "")
        command.epilog = below(f"{group} {name}")
