"""The program az: what it says understood, what it is given checked, which program it is; no Azure needed."""

import hashlib
import json
import os
import time
from pathlib import Path

import az_program
import pytest

from azbenchlib.azure import az as deadlines
from azbenchlib.azure import retries
from azbenchlib.azure.az import Az
from azbenchlib.azure.az_errors import AzError, understood
from azbenchlib.azure.retries import Patience
from azbenchlib.core.errors import InputError, OutputError

SUBSCRIPTION = "11111111-1111-1111-1111-111111111111"


def arm(code: str, message: str) -> str:
    """An error of the resource manager as az 2.91 writes it."""
    return f"ERROR: ({code}) {message}\nCode: {code}\nMessage: {message}\n"


def sign_in(number: int, message: str = "Something.") -> str:
    """An error of the sign-in service as az 2.91 writes it: it always ends with the advice to log in."""
    return (
        f"ERROR: AADSTS{number}: {message} Trace ID: 3 Correlation ID: 4 Timestamp: 2026-11-22 09:00:00Z\n"
        "Run the command below to authenticate interactively; additional arguments may be added as needed:\n"
        'az logout\naz login --tenant "2222" --scope "https://management.core.windows.net//.default"\n'
    )


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program in the place of az: notes its arguments, then does what is in the file `script`."""
    path = tmp_path / "az"
    path.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >>{tmp_path}/given\n. {tmp_path}/script\n')
    path.chmod(0o755)
    (tmp_path / "script").write_text("echo '{}'\n")
    return path


# --- what a failure means


@pytest.mark.parametrize(
    "said",
    [
        "ERROR: Please run 'az login' to setup account.",
        "ERROR: No subscription found. Run 'az account set' to select a subscription.",
        "ERROR: User 'jane@example.com' does not exist in MSAL token cache. Run `az login`.",
        "ERROR: Can't find token from MSAL cache.\nTo re-authenticate, please run:\naz login",
        *map(sign_in, (700082, 50173, 70043, 50076, 50078, 50079, 50158, 70008, 50132, 65001, 7000222)),
    ],
)
def test_what_a_new_login_mends_is_told_so(said):
    found = understood("account show", said)
    assert found.code == "NotLoggedIn"
    assert str(found) == "az is not logged in; run `az login`, then start again"


@pytest.mark.parametrize("number", [90033, 90006, 90012, 90024, 90055, 50033, 50196, 70012, 80002])
def test_a_sign_in_service_that_is_not_to_be_had_is_no_missing_login(number):
    found = understood("group show", sign_in(number, "The service is not available."))
    assert found.passes == "sign-in"
    assert f"AADSTS{number}: The service is not available." in str(found)
    assert "try again in some minutes" in str(found)
    assert "az login" not in str(found)


@pytest.mark.parametrize("number", [53003, 50057, 700016, 90002])
def test_a_sign_in_that_is_refused_for_another_reason_is_told_with_its_code(number):
    found = understood("group show", sign_in(number, "Refused by somebody."))
    assert (found.code, found.passes) == (f"AADSTS{number}", "")
    assert "Refused by somebody." in str(found)
    assert f"https://login.microsoftonline.com/error?code={number}" in str(found)


@pytest.mark.parametrize(
    "said",
    [
        arm("VMExtensionProvisioningError", "stderr: bash: run az login first, AADSTS700082"),
        "ERROR: the script said: please run az login",
        'ERROR: {"error": {"code": "Conflict", "message": "no subscription found in the cache"}}',
    ],
)
def test_words_about_a_login_within_another_fault_are_not_taken_for_it(said):
    assert understood("vm create", said).code != "NotLoggedIn"


@pytest.mark.parametrize(
    ("code", "message", "advice"),
    [
        (
            "OperationNotAllowed",
            "Cannot modify extensions in the VM when the VM is not running.",
            "the VM was stopped",
        ),
        (
            "OperationNotAllowed",
            "The maximum number of managed Run commands (max=25, current=25) has been exceeded.",
            "25 run-commands on a VM at most",
        ),
        (
            "OperationNotAllowed",
            "Operation could not be completed as it results in exceeding approved Total Cores quota.",
            "ask for more quota",
        ),
        (
            "OperationNotAllowed",
            "The maximum number of data disks allowed to be attached to a VM of this size is 4.",
            "room for more data disks",
        ),
        ("QuotaExceeded", "Current Limit: 10", "ask for more quota"),
        ("Conflict", "Run command extension execution is in progress.", "start again in some minutes"),
        (
            "RequestDisallowedByPolicy",
            "Resource 'n' was disallowed by policy. Policy identifiers: 'Subnets should be private'.",
            "with outbound: nat or none, or a subnet of yours with subnet:",
        ),
        ("RequestDisallowedByPolicy", "Resource 'd' was disallowed by policy.", "ask whoever administers it"),
        ("ScopeLocked", "The scope cannot perform delete operation.", "remove the lock"),
    ],
)
def test_advice_goes_by_code_and_message(code, message, advice):
    said = str(understood("vm run-command create", arm(code, message)))
    assert advice in said
    assert ("Azure portal, Quotas" in said) == ("quota" in advice)


def test_an_unknown_reason_gets_no_advice():
    said = str(understood("disk delete", arm("OperationNotAllowed", "Disk d is attached to VM v.")))
    assert said == "az disk delete: OperationNotAllowed: Disk d is attached to VM v"


# --- what az is given


@pytest.mark.parametrize(
    "arguments",
    [
        ["vm", "create", "--image", "@/etc/passwd"],
        ["vm", "create", "--image=@/etc/passwd"],
        ["group", "create", "--tags", "tool=azbench", "owner=@/etc/passwd"],
        ["disk", "update", "--set", "tier=@/etc/passwd"],
        ["vm", "create", "--image", "@nothing-there"],
        ["vm", "create", "--size", "--yes"],
        ["vm", "create", "--size", "-g"],
        ["vm", "create", "--size", "--ids=/subscriptions/x", "--name", "v"],
        ["group", "delete", "--name", "g", "--yes", "-y"],
        ["disk", "create", "--zone", "--no-wait", "--yes"],
    ],
)
def test_a_value_that_az_would_take_for_a_file_or_an_option_never_reaches_it(program, arguments):
    with pytest.raises(InputError, match=r"begin with [@-]"):
        Az(path=str(program)).json(*arguments)
    assert not program.with_name("given").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["vm", "create", "--nsg", "", "--ssh-key-values", "ssh-ed25519 AAAA nobody@azbench"],
        ["vm", "run-command", "invoke", "--scripts", "#!/bin/sh\nx=1; mail -s y a@b"],
        ["group", "delete", "--name", "g", "--yes", "--no-wait"],
        ["group", "create", "--tags", "tool=azbench", "owner=jane@example.com"],
    ],
)
def test_other_values_arrive_as_they_are_with_the_subscription(program, arguments):
    Az(path=str(program)).within(SUBSCRIPTION).json(*arguments)
    given = program.with_name("given").read_text()
    rest = ["--subscription", SUBSCRIPTION, "--output", "json", "--only-show-errors"]
    assert given == "".join(f"{word}\n" for word in [*arguments, *rest])


# --- what is done about failures


def test_a_call_that_the_sign_in_service_could_not_be_had_for_is_made_again(program, monkeypatch):
    monkeypatch.setattr(retries, "FIRST_TRY_PAUSE_S", 0)
    busy = program.with_name("busy")
    busy.write_text(sign_in(90033))
    program.with_name("script").write_text(f"cat {busy} >&2 && rm {busy} && exit 1\necho '[1]'\n")
    assert Az(path=str(program)).json("group", "list") == [1]


def test_a_sign_in_service_that_stays_away_is_given_up(program, monkeypatch):
    busy = program.with_name("busy")
    busy.write_text(sign_in(90033))
    program.with_name("script").write_text(f"cat {busy} >&2; exit 1\n")
    with pytest.raises(AzError) as caught:
        Az(path=str(program), patience=Patience(limits_s={"sign-in": 0})).json("group", "list")
    assert caught.value.code == "AADSTS90033"


PAGE = "ERROR: Operation returned an invalid status 'Bad Gateway'\n"
RESET = "ERROR: ('Connection aborted.', RemoteDisconnected('closed'))\n"
PORTAL = "ERROR: The command failed with an unexpected error.\nERROR: Unable to deserialize to object: type\n"
AAZ_PORTAL = "ERROR: Expect <class 'dict'>, got <html><head></head></html> (<class 'str'>)\n"
STORAGE_PAGE = "ERROR: <html><head></head></html>\nErrorCode:None\n"
STORAGE_PORTAL = "ERROR: Required Content-Range response header is missing or malformed\n"
STORAGE_FAULT = "ERROR: The server encountered an internal error.\nErrorCode:InternalError\n"
AWAY = "ERROR: HTTPSConnectionPool(host='x', port=443): Max retries exceeded (Name or service not known)\n"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (arm("AnotherOperationInProgress", "x"), "busy"),
        (arm("Conflict", "Run command extension execution is in progress."), "busy"),
        (arm("OperationNotAllowed", "The VM is being updated."), "busy"),
        (arm("TooManyRequests", "x"), "busy"),
        (arm("InternalServerError", "x"), "busy"),
        (arm("ExpiredAuthenticationToken", "x"), "token"),
        (arm("ResourceNotFound", "x"), "not there yet"),
        ("ERROR: HTTP Error: 503\n", "sign-in"),
        *((said, "network") for said in (PAGE, RESET, PORTAL, AAZ_PORTAL, AWAY)),
        *((said, "network") for said in (STORAGE_PAGE, STORAGE_PORTAL)),
        (STORAGE_FAULT, "busy"),
        ("ERROR: The specified blob does not exist.\nErrorCode:BlobNotFound\n", ""),
        (arm("OperationNotAllowed", "exceeding approved Total Cores quota. Please try another size"), ""),
        (arm("Conflict", "The account name is taken."), ""),
        (arm("RequestDisallowedByPolicy", "a policy is in progress"), ""),
        (arm("AuthorizationFailed", "x"), ""),
        ("ERROR: Please run 'az login' to setup account.", ""),
        ("ERROR: No disk with the name 'd' was found", ""),
    ],
)
def test_what_passes_by_itself_and_what_does_not(said, kind):
    assert understood("vm create", said).passes == kind


def test_what_passes_is_waited_for_and_told_once_and_an_hour_is_a_limit(tmp_path, monkeypatch):
    told: list[str] = []
    monkeypatch.setattr(retries, "FIRST_TRY_PAUSE_S", 0.001)
    patience = Patience(limits_s=retries.WHILE_MEASURING, tell=told.append)
    az = az_program.program(tmp_path, AWAY, AWAY, PORTAL, arm("Conflict", "is in progress"), [1])
    assert az.patiently(patience).json("group", "show") == [1]
    away, portal, conflict = told
    assert "Max retries exceeded" in away and away.startswith(
        "waiting, for 120 minutes at most: az group show"
    )
    assert "deserialize" in portal and "in progress" in conflict
    for limit_s in (1.0, 10.0, 100.0):  # in which there is time for two calls, however busy this machine is
        with pytest.raises(AzError, match="Max retries"):
            short = Patience(limits_s={"network": limit_s})
            az_program.program(tmp_path, AWAY).patiently(short).json("group", "show")
        if len(az_program.given(tmp_path)) > 1:
            break
    assert len(az_program.given(tmp_path)) > 1
    with pytest.raises(AzError, match="AuthorizationFailed"):
        az_program.program(tmp_path, arm("AuthorizationFailed", "x")).patiently(patience).json(
            "group", "show"
        )
    assert len(az_program.given(tmp_path)) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_log_that_cannot_be_written_is_named(program):
    with pytest.raises(OutputError, match=r"^/dev/full: cannot be written: No space left on device"):
        Az(path=str(program), log=Path("/dev/full")).json("version")
    assert Az(path=str(program), log=Path("/dev/full"), must_log=False).json("version") == {}


def test_ids_and_owners_are_masked_in_the_log(program, tmp_path):
    program.with_name("script").write_text(f"echo 'ERROR: (Odd) of {SUBSCRIPTION}' >&2; exit 1\n")
    with pytest.raises(AzError) as caught:
        Az(path=str(program), log=tmp_path / "log").within(SUBSCRIPTION).json(
            "group", "create", "--tags", "owner=me"
        )
    (entry,) = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert SUBSCRIPTION not in json.dumps(entry) + str(caught.value)
    assert "owner=…" in entry["command"]


def test_which_az(tmp_path, monkeypatch):
    own = tmp_path / "own"
    own.mkdir()
    (own / "az").write_text("#!/bin/sh\n")
    (own / "az").chmod(0o755)
    monkeypatch.delenv("AZBENCH_AZ", raising=False)
    monkeypatch.setenv("PATH", os.pathsep.join(["", ".", str(own)]))
    monkeypatch.chdir(own)
    assert Az.find().path == str(own / "az")
    monkeypatch.setenv("AZBENCH_AZ", "./az")  # who names a file means it
    assert Az.find().path == str(own / "az")


def test_a_script_is_logged_once_and_named_by_its_hash_then(tmp_path: Path) -> None:
    """Each piece of an output is fetched by the same functions with another last line."""
    program = tmp_path / "az"
    program.write_text("#!/bin/sh\necho '{}'\n")
    program.chmod(0o755)
    log = tmp_path / "out" / "az.log.jsonl"
    az = Az(path=str(program), log=log)
    functions = "\n".join(f"step_{i}() {{ echo {i}; }}" for i in range(300))
    for i in range(50):
        az.within("x").json("vm", "run-command", "invoke", "--scripts", f"{functions}\nchunk {i}\n")
    scripts = [json.loads(line)["command"][5] for line in log.read_text().splitlines()]
    assert scripts[0] == f"{functions}\nchunk 0\n"
    digest = hashlib.sha256(functions.encode()).hexdigest()
    assert scripts[1:] == [
        f"[{len(functions)} characters as above, sha256 {digest}]\nchunk {i}\n" for i in range(1, 50)
    ]
    assert log.stat().st_size < 3 * len(functions)


def test_the_log_names_nobody(tmp_path: Path) -> None:
    program = tmp_path / "az"
    refusal = "(AuthorizationFailed) The client 'jane.doe@contoso.com' with object id '{0}' has no rights"
    program.write_text(
        f'#!/bin/sh\necho "{refusal.format("0" * 8 + "-0000" * 3 + "-" + "0" * 12)}" >&2; exit 1\n'
    )
    program.chmod(0o755)
    log = tmp_path / "az.log.jsonl"
    with pytest.raises(AzError) as error:
        Az(path=str(program), log=log).json(
            "storage", "copy", "--url", "https://a.example/c?sv=1&sig=abc%2Fdef"
        )
    for text in (log.read_text(), str(error.value)):
        assert "jane" not in text and "abc%2Fdef" not in text
    assert "AuthorizationFailed" in log.read_text()


@pytest.mark.parametrize("what", ["link", "pipe"])
def test_the_log_is_not_written_into_something_else(tmp_path: Path, what: str) -> None:
    program, log, other = tmp_path / "az", tmp_path / "az.log.jsonl", tmp_path / "other"
    program.write_text("#!/bin/sh\necho '{}'\n")
    program.chmod(0o755)
    other.write_text("mine")
    if what == "link":
        log.symlink_to(other)
    else:
        os.mkfifo(log)
    with pytest.raises(OutputError, match=r"az\.log\.jsonl: cannot be written"):
        Az(path=str(program), log=log).json("version")
    assert other.read_text() == "mine"


# --- how long it may take


def test_a_call_that_never_ends_is_given_up(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all that it started: az of most packages is a shell script around a Python."""
    monkeypatch.setitem(deadlines.CALL_LIMITS_S, "vm create", 0.5)
    (tmp_path / "script").write_text("sleep 600 & wait\n")
    az = Az(path=str(program), log=tmp_path / "log")
    with pytest.raises(AzError, match=r"az vm create: was ended: no answer came within 0.5.s") as told:
        az.json("vm", "create", "--name", "x")
    assert not told.value.passes
    assert '"status": 124' in (tmp_path / "log").read_text()


def test_no_call_is_waited_for_beyond_the_end_of_the_run(program: Path, tmp_path: Path) -> None:
    (tmp_path / "script").write_text("sleep 600 & wait\n")
    az = Az(path=str(program))
    az.end.at, az.end.why = time.monotonic() + 0.5, "max_hours 1 is reached"
    with pytest.raises(AzError, match="az vm create: was ended: max_hours 1 is reached"):
        az.within(SUBSCRIPTION).patiently(Patience()).json("vm", "create", "--name", "x")
    az.end.forget()
    (tmp_path / "script").write_text("echo '{}'\n")
    assert az.within(SUBSCRIPTION).json("group", "delete") == {}


def test_the_longest_words_say_how_long_a_call_may_take() -> None:
    assert deadlines.longest_s(["vm", "create", "--name", "x"]) == deadlines.CALL_LIMITS_S["vm create"]
    assert deadlines.longest_s(["vm", "disk", "attach"]) == deadlines.CALL_LIMITS_S["vm"]
    assert deadlines.longest_s(["other"]) == deadlines.CALL_LIMITS_S[""]
