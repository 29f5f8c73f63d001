"""A fake Azure Resource Manager: state, log and dispatch. The handlers are in the modules named by topic."""

import json
import re
import threading
import traceback
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from . import (  # noqa: F401  each registers its routes
    attaching,
    catalogue,
    deployments,
    disks,
    groups,
    identity,
    machines,
    monitor,
    run_commands,
    storage,
)
from .faults import PAGE, Fault, Faults
from .operations import accepted, now
from .rights import check_rights
from .roles import documented
from .routing import Answer, ArmError, Json, Operation, Request, find_route
from .skus import all_skus
from .vm import Network, Vm

SOON_S = 2.0  # what is done within it is answered without a poll, which would cost az a second


@dataclass(frozen=True)
class Logged(Request):
    """A request with what it was answered; `said` is the body as JSON, for what it shows changes later."""

    status: int = 0
    said: str = "null"
    told: dict[str, str] = field(default_factory=dict)  # headers


class Arm:
    """One subscription. Set `prompt` to False to make every operation asynchronous, as most are in Azure."""

    def __init__(self, base: str, images: Path) -> None:
        self.base, self.images = base, images
        self.network = Network("", 0, "")  # what VMs reach of it
        self.lock = threading.RLock()
        self.faults = Faults()
        self.machines: dict[str, Vm] = {}
        self._threads: list[threading.Thread] = []
        self.let_go = threading.Event()
        self.reset()

    def reset(self) -> None:
        """Make the subscription empty and forget all faults; VMs end."""
        with self.lock:
            for machine in self.machines.values():
                machine.stop()
        self.let_go.set()
        for thread in self._threads:
            thread.join()
        with self.lock:
            for image in self.images.iterdir():
                if image.name != "network":
                    image.unlink()
            self.prompt = True
            self.deletion_s = 0.0  # that a group is still to be seen, unless it is let go before
            self.let_go = threading.Event()  # what is held, a deletion or a request, goes on
            self.resources: dict[str, Json] = {}
            self.operations: dict[str, Operation] = {}
            self.log: list[Logged] = []
            self.machines.clear()
            self.blobs: dict[str, dict[str, bytes]] = {}
            self.readable: dict[str, tuple[str, Path]] = {}  # disks by accounts: the signature, the image
            self._threads.clear()
            self.custom_data: dict[str, bytes] = {}
            self.invoked: dict[str, Operation] = {}
            self.skus = all_skus()
            self.actions = frozenset[str]().union(*documented())  # what the user of az may do
            self.not_actions: list[str] = []  # of them, what is excepted
            self.actions_used: set[str] = set()
            self.unaware = False  # whether scripts of a VM that was stopped go on as running
            self.blob_role = True  # whether the user may write blobs
            self.quotas: dict[str, tuple[int, int]] = {}  # used and limit
            self.metrics: dict[str, float] = {}  # of every VM and disk at any time
            self.metrics_late = 0  # answers of Azure Monitor that have no figure yet
            self.providers: dict[str, str] = {}
            self.features: dict[str, str] = {}
            self.faults.planned.clear()

    # --- state, for handlers and tests ----------------------------------------------------------------------

    def find(self, resource_id: str) -> Json | None:
        return self.resources.get(resource_id.lower())

    def get(self, resource_id: str) -> Json:
        """Give a resource, or refuse as Azure does."""
        found = self.find(resource_id)
        if found is None:
            before, _, name = resource_id.rpartition("/providers/")
            where = f"under resource group '{before.rpartition('/')[2]}'"
            more = "For more details please go to https://aka.ms/ARMResourceNotFoundFix"
            text = f"The Resource '{name}' {where} was not found. {more}"  # test_vm_managed_disk, 2022
            raise ArmError("ResourceNotFound", text, 404)
        return found

    def group(self, path: str) -> Json:
        """Give the group of a path, or refuse as Azure does."""
        prefix = re.match(r"/subscriptions/[^/]+/resourceGroups/([^/]+)", path, re.IGNORECASE)
        found = self.find(prefix[0]) if prefix else None
        if prefix and found is None:
            raise ArmError("ResourceGroupNotFound", f"Resource group '{prefix[1]}' could not be found.", 404)
        return found or {}

    def put(self, resource_id: str, body: Json) -> Json:
        """Create or replace a resource."""
        kinds = resource_id.rpartition("/providers/")[2].split("/")
        made = {key: value for key, value in body.items() if key not in ("apiVersion", "dependsOn")}
        made["properties"] = dict(body.get("properties") or {})
        if kinds[0] != "Microsoft.Authorization":
            made["properties"]["provisioningState"] = "Succeeded"
        if kinds[0] == "Microsoft.Network":
            made["etag"] = f'W/"{uuid.uuid4()}"'
        if "/providers/" not in resource_id:
            kinds = ["Microsoft.Resources", "resourceGroups", kinds[-1]]
        its_id = re.sub("/resourcegroups/", "/resourceGroups/", resource_id, flags=re.IGNORECASE)
        made |= {"id": its_id, "name": kinds[-1], "type": "/".join([kinds[0], *kinds[1::2]])}
        self.resources[resource_id.lower()] = made
        return made

    def below(self, prefix: str) -> list[Json]:
        """Give the resources directly below an id or a type."""
        pattern = re.compile(re.escape(prefix.lower().rstrip("/")) + "/[^/]+")
        return [value for key, value in self.resources.items() if pattern.fullmatch(key)]

    def sku(self, name: str, location: str) -> Json | None:
        """Give what `az vm list-skus` says of a size or a kind of disk; tests may change it."""
        fits = (s for s in self.skus if (s["name"], s["locations"]) == (name, [location]))
        return next(fits, None)

    def bodies(self, method: str, path: str) -> list[Any]:
        """Give the bodies of the requests whose path the regular expression finds, in order."""
        return [r.body for r in self.log if r.method == method and re.search(path, r.path, re.IGNORECASE)]

    # --- operations -----------------------------------------------------------------------------------------

    def start(self, work: Callable[[], Any]) -> Operation:
        """Do work in the background; what it returns is the result, a refusal its failure."""
        operation = Operation()

        def run() -> None:
            try:
                operation.result = work()
            except ArmError as refusal:
                operation.error = refusal.error
            except Exception as error:
                traceback.print_exc()
                operation.error = {"code": "FakeCrash", "message": repr(error)}
            operation.ended = now()
            operation.done.set()

        thread = threading.Thread(target=run, daemon=True)
        self._threads.append(thread)
        thread.start()
        return operation

    def _settle(self, request: Request, answer: Answer) -> Answer:
        """Answer with the operation's result if it is there soon, else with where to ask for it."""
        operation = answer.operation
        if operation is None:
            return answer
        late = self.faults.strike("wait", request.method, request.path, request.command)
        if late is None and self.prompt and operation.done.wait(SOON_S) and operation.error is None:
            return Answer(operation.result, headers=answer.headers)
        operation.retry_s = late.limit if late else 1
        return accepted(self, request, answer, operation)

    # --- requests -------------------------------------------------------------------------------------------

    def _handle(self, request: Request) -> Answer:
        check_rights(self, request)
        self.faults.check(request)
        fault = self.faults.strike("fail", request.method, request.path, request.command)
        if fault:
            return _accepted_in_vain(request, fault)
        handler = find_route(self, request)
        if "/providers/" in request.path:
            self.group(request.path)
        return handler()

    def answer(self, request: Request) -> Answer:
        """Handle a request and log it."""
        page = self.faults.strike("hold", request.method, request.path, request.command, str(request.body))
        if page:
            self.let_go.wait()
        if page is None or not page.limit:
            page = self.faults.strike("page", request.method, request.path, request.command)
        if page:
            self.log.append(Logged(**asdict(request), status=page.limit))
            return Answer(PAGE, page.limit)
        try:
            with self.lock:
                answer = self._handle(request)
            answer = self._settle(request, answer)
        except ArmError as refusal:
            headers = {"Retry-After": "1"} if refusal.status == 429 else {}
            answer = Answer({"error": refusal.error}, refusal.status, headers)
        except Exception as error:
            traceback.print_exc()
            answer = Answer({"error": {"code": "FakeCrash", "message": repr(error)}}, 501)
        said = json.dumps(answer.body)
        self.log.append(Logged(**asdict(request), status=answer.status, said=said, told=answer.headers))
        return answer


def _accepted_in_vain(request: Request, fault: Fault) -> Answer:
    """Accept a request whose operation fails."""
    assert fault.error is not None
    operation = Operation(error=fault.error.error)
    operation.done.set()
    if request.method != "PUT":
        return Answer(None, 202, operation=operation)
    status = 202 if "/disks/" in request.path.lower() else 201
    return Answer({"properties": {"provisioningState": "Accepted"}}, status, operation=operation)
