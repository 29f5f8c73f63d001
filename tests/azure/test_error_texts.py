"""The faults in what az wrote: raw JSON of the service, also broken or within messages, and words."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.azure.az_errors import understood

NO_ROOM = {"code": "ZonalAllocationFailed", "message": "Allocation failed. Try another zone."}
BUSY = {"code": "Conflict", "message": "The operation was canceled."}
SKU = {"code": "SkuNotAvailable", "message": "The requested size is not available in zone '1'."}


def failed(*details: dict, message: str = "At least one resource deployment operation failed.") -> str:
    """A deployment's error as az writes it: words, then the raw JSON of the service, then words."""
    error = {"code": "DeploymentFailed", "message": message, "details": list(details)}
    return f"ERROR: {json.dumps({'status': 'Failed', 'error': error}, indent=2)}  Correlation ID: 55847dba\n"


@pytest.mark.parametrize(
    "said",
    [
        failed(NO_ROOM),
        failed(NO_ROOM, BUSY),
        failed(BUSY, NO_ROOM),
        failed({"code": "Conflict", "message": json.dumps({"error": NO_ROOM}, indent=1)}),
        failed({"code": "ResourceDeploymentFailure", "message": "", "details": [NO_ROOM]}),
        failed(message=json.dumps(NO_ROOM).replace(",", ",\r\n")),
        failed(NO_ROOM)[:-40],  # it ends early
        failed(NO_ROOM).replace("failed. Try", "failed.\nTry"),
        failed(NO_ROOM, message=r"C:\x\Users\u00g"),
        failed(NO_ROOM).replace("At least", r"\At \least \d"),
        "ERROR: (ZonalAllocationFailed) Allocation failed. Try another zone.\nCode: ZonalAllocationFailed\n"
        "Message: Allocation failed. Try another zone.\n",
    ],
)
def test_what_is_the_matter_is_told_in_any_shape(said: str) -> None:
    fault = understood("vm create", said)
    assert fault.code == "ZonalAllocationFailed" and fault.no_room
    assert " ".join(fault.message.split()) == "Allocation failed. Try another zone."


def test_the_message_is_that_of_the_code() -> None:
    assert understood("vm create", failed(SKU, BUSY)).message == SKU["message"]
    nested = failed({"code": "Conflict", "message": json.dumps({"error": SKU})}, BUSY)
    assert understood("vm create", nested).message == SKU["message"]


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        ("OperationNotAllowed", "Too many requests have been received for this subscription.", "busy"),
        (
            "NicReservedForAnotherVm",
            "Nic(s) is reserved for another VM for 180 seconds.",
            "busy",
        ),
        ("VMAgentStatusCommunicationError", "VM has reported a failure when the agent was started.", "busy"),
        ("OperationNotAllowed", "It can be changed 4 times within 24 hours. Please try again later.", ""),
        ("Conflict", "The tier was changed 2 times in the last 24 hours; try again later.", ""),
        ("SkuNotAvailable", "The size is not available. Try again later.", ""),
    ],
)
@pytest.mark.parametrize("shape", ["json", "words"])
def test_what_passes_by_itself_does_so_in_any_shape(code: str, message: str, kind: str, shape: str) -> None:
    words = f"ERROR: ({code}) {message}\nCode: {code}\nMessage: {message}\n"
    fault = understood(
        "disk update", words if shape == "words" else failed({"code": code, "message": message})
    )
    assert (fault.code, fault.passes) == (code, kind)
    assert ("start again tomorrow" in str(fault)) == ("24 hours" in message)


@pytest.mark.parametrize(
    "code", ["TokenIssuedBeforeRevocationTimestamp", "LocationConditionEvaluationSatisfied"]
)
@pytest.mark.parametrize("shape", ["ERROR: (InvalidAuthenticationToken) {}\n", "ERROR: {}\n"])
def test_a_token_that_was_made_void_asks_for_a_new_login(code: str, shape: str) -> None:
    said = "Continuous access evaluation resulted in challenge with result: InteractionRequired and code:"
    fault = understood("vm show", shape.format(f"{said} {code}"))
    assert fault.code == "NotLoggedIn" and fault.passes == "" and "run `az login`" in str(fault)


PIECES = st.sampled_from(
    [
        *('{"error": ', '{"code": "A", ', '"message": ', '"m', '"}', "}", "[", "]", "\\", "\\x", "\n", '"'),
        *("ERROR: ", "(Code) ", "Code: B\n", "Message: m\n", "AADSTS50076 ", "null", "1e999", "\x00", "{"),
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_text_is_too_broken_to_be_told(said: str) -> None:
    fault = understood("vm create", said)
    assert str(fault) and isinstance(fault.message, str)


def test_a_text_that_is_deep_or_long_is_told_soon() -> None:
    for said in ('{"error":' * 20_000, '{"a":[' * 20_000, "{" * 100_000, '{"code":"A","message":"' * 9_000):
        assert str(understood("vm create", said))
