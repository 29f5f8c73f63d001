"""Who is asking: tokens, tenants, subscriptions, operations under way."""

import base64
import json
import time
from typing import TYPE_CHECKING

from .routing import SUBSCRIPTION as SUBSCRIPTION_PATH
from .routing import Answer, ArmError, Json, Request, route

if TYPE_CHECKING:
    from .arm import Arm

SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"
TENANT = "22222222-2222-2222-2222-222222222222"
PRINCIPAL = "33333333-3333-3333-3333-333333333333"


def _token(base: str) -> str:
    """Make an unsigned token; az reads it without checking."""
    now = int(time.time())
    claims = {"tid": TENANT, "oid": PRINCIPAL, "appid": PRINCIPAL, "aud": base, "iss": base}
    parts: list[Json] = [
        {"alg": "RS256", "typ": "JWT"},
        {**claims, "iat": now, "nbf": now, "exp": now + 86400},
    ]
    return (
        ".".join(base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=") for p in parts)
        + ".c2ln"
    )


@route("GET", "/{tenant}/v2.0/.well-known/openid-configuration", "/{tenant}/.well-known/openid-configuration")
def openid(arm: "Arm", request: Request, tenant: str) -> Answer:
    at = f"{arm.base}/{tenant}/oauth2/v2.0"
    urls = {
        "token_endpoint": "token",
        "authorization_endpoint": "authorize",
        "device_authorization_endpoint": "devicecode",
    }
    return Answer(
        {"issuer": f"{arm.base}/{tenant}/v2.0", **{key: f"{at}/{name}" for key, name in urls.items()}}
    )


@route("POST", "/{tenant}/oauth2/v2.0/token")
def token(arm: "Arm", request: Request, tenant: str) -> Answer:
    fault = arm.faults.strike("sign in", request.method, request.path)
    if fault:
        text = f"AADSTS{fault.limit}: A transient error has occurred. Please try again."
        said = {"error": "temporarily_unavailable", "error_description": text}
        return Answer(said, 400) if fault.limit else Answer("Service Unavailable", 503)
    return Answer({"token_type": "Bearer", "expires_in": 86399, "access_token": _token(arm.base)})


@route("GET", "/tenants")
def tenants(arm: "Arm", request: Request) -> Answer:
    return Answer({"value": [{"id": f"/tenants/{TENANT}", "tenantId": TENANT, "displayName": "fake"}]})


def _subscription() -> Json:
    of = {"id": f"/subscriptions/{SUBSCRIPTION}", "subscriptionId": SUBSCRIPTION, "tenantId": TENANT}
    return {**of, "displayName": "fake", "state": "Enabled"}


@route("GET", "/subscriptions")
def subscriptions(arm: "Arm", request: Request) -> Answer:
    return Answer({"value": [_subscription()]})


@route("GET", SUBSCRIPTION_PATH)
def subscription(arm: "Arm", request: Request) -> Answer:
    return Answer(_subscription())


@route("GET", "/operations/{key}")
def operation(arm: "Arm", request: Request, key: str) -> Answer:
    """Tell how an operation stands, or, with `final`, its result; if not prompt, only when asked twice."""
    found = arm.operations.get(key)
    if found is None:
        raise ArmError("NotFound", f"no operation {key}", 404)
    found.polls += 1
    busy = not found.done.is_set() or (found.polls == 1 and not (arm.prompt and found.retry_s == 1))
    headers = {"Retry-After": str(found.retry_s)}
    if "final" in request.query:
        return (
            Answer(None, 202, headers | {"Location": arm.base + request.path + "?final=true"})
            if busy
            else Answer(found.result)
        )
    if busy:
        return Answer({"name": key, "status": "InProgress"}, headers=headers)
    if found.error:
        return Answer({"name": key, "status": "Failed", "error": found.error})
    return Answer({"name": key, "status": "Succeeded", "properties": {"output": found.result}})
