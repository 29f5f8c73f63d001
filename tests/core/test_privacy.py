"""What datasets and reports do not tell: who measured, where on their machine, with which secrets."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from azbenchlib.campaign.workloads import fio_options
from azbenchlib.core import privacy, schema

COLUMNS = {name for table in schema.TABLES.values() for name in table.columns}
VALUES = st.sampled_from(["randread", "4k", "1", "0.95", "libaio", "/dev/nvme0n1", "1m:4m", "zipf:1.2"])
ANY = "/home" + "/"  # no file of this project names the home of anybody
GUID = "12345678-90ab-cdef-1234-567890abcdef"


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/srv/people/jane.doe")
    for name in ("LOGNAME", "USER"):
        monkeypatch.setenv(name, "jane.doe")


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"subscription {GUID} of {GUID.upper()}", f"subscription {privacy._ID} of {privacy._ID}"),
        ("owner=jane.doe", "owner=…"),
        ("jane.doe@contoso.com", "…"),
        ("The client 'jane@contoso.com' with object id", "The client '…' with object id"),
        ("The client 'live.com#jane@x.org' does", "The client '…' does"),
        ("by jane_contoso.com#EXT#@tenant.onmicrosoft.com.", "by …."),
        ("O'Neil@x.ie and jürgen@bücher.example", "… and …"),
        ("?upn=jane%40contoso.com&x", "?upn=…&x"),
        (
            "https://a.blob.core.windows.net/c?sv=2024&sig=abc%2Fdef%3D&se=2",
            "https://a.blob.core.windows.net/c?sv=2024&sig=…&se=2",
        ),
        ("AccountKey=abcdefgh==;EndpointSuffix=x", "AccountKey=…;EndpointSuffix=x"),
        ("--admin-password=Secret123!", "--admin-password=…"),
        ('{"access_token": "abcdefghij"}', '{"access_token": "…"}'),
        ("password: x", "password: …"),
        ("Password = 'a b c' and more", "Password = '…' and more"),
        ("az vm create --admin-password x --name v", "az vm create --admin-password … --name v"),
        ("--password=x", "--password=…"),
        ("--password x", "--password …"),
        ("{'password': 'x', 'size': 4}", "{'password': '…', 'size': 4}"),
        ('{"password": "x y", "size": 4}', '{"password": "…", "size": 4}'),
        ('{"password": 1234, "token": null}', '{"password": "…", "token": null}'),
        ('"{\\"client_secret\\": \\"x\\"}"', '"{\\"client_secret\\": \\"…\\"}"'),
        ("Authorization: Bearer x", "Authorization: Bearer …"),
        ("-H 'Authorization: Basic dXNlcjpwdw=='", "-H 'Authorization: Basic …'"),
        ('"Authorization": "x"', '"Authorization": "…"'),
        ("got Bearer abc.def123 back", "got Bearer … back"),
        ("https://user:secret@host/x", "https://…@host/x"),
        ("https://a.net/c?sv=1&sig=ab&se=2", "https://a.net/c?sv=1&sig=…&se=2"),
        ("sas:\n  sig: abc\n  sv: 1", "sas:\n  sig: …\n  sv: 1"),
        ("AWS_SECRET_ACCESS_KEY=x AWS_REGION=y", "AWS_SECRET_ACCESS_KEY=… AWS_REGION=y"),
        ("export AZURE_CLIENT_SECRET=x", "export AZURE_CLIENT_SECRET=…"),
        ("PGPASSWORD=x psql", "PGPASSWORD=… psql"),
        ("AZURE_STORAGE_KEY='x'", "AZURE_STORAGE_KEY='…'"),
        ("--account-key x --sas-token y", "--account-key … --sas-token …"),
        ("http_s3_key=x http_pass=y", "http_s3_key=… http_pass=…"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nrest", "…\nrest"),
        ("a -----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", "a …"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "…"),
        ("/srv/people/jane.doe/ds/raw", "~/ds/raw"),
        ("cannot open '/srv/people/jane.doe': no", "cannot open '~': no"),
        ("/srv/people/jane.doe2/x", "/srv/people/jane.doe2/x"),
        (f"{ANY}joe/x and /Users/Ann/y", "~/x and ~/y"),
        ("C:\\Users\\Ann\\y", "~\\y"),
        ("/media/jane.doe/stick", "/media/…/stick"),
        (f"file://{ANY}joe", "file://~"),
    ],
)
def test_what_is_taken_out(text: str, left: str) -> None:
    assert privacy.masked(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "fio --filename=/dev/nvme0n1 --rw=randread --bs=4k",
        "randread-4k-qd1, 3,508 IOPS at p99 1.2 ms",
        "azure-cli@2.91.0, fio-3.33",
        "/home/azureuser/azbench",
        "Standard_E8ds_v4/P30x4:ReadOnly",
        "lat_key=1",
        "raw/data/test.json",
        "sha256:" + "ab" * 32,
        "https://learn.microsoft.com/azure?view=x",
        "a token bucket of 3,500 tokens; the key is run_id",
        "Basic information of a B-series VM",
        "nbd://127.0.0.1:10809/p30?x=a@b",
        "https://host:8080/x and ssh:user@host:22",
        "sort_key=iops_mean, by_key=run_id",
        "signed=1 design: 4k, signal: SIGKILL",
        '{"token": null, "passes": 3}',
        "--numjobs 4 --password-file",
    ],
)
def test_what_stays(text: str) -> None:
    assert privacy.masked(text) == text


@given(st.text(), st.sampled_from(["jane.doe@contoso.com", GUID, "/srv/people/jane.doe/x"]), st.text())
def test_what_stands_before_and_behind_hides_nothing(before: str, secret: str, behind: str) -> None:
    left = privacy.masked(f"{before} {secret} {behind}")
    assert secret not in left and "jane.doe/" not in left and "jane.doe@" not in left


@given(st.sampled_from(sorted({*fio_options.OPTIONS, *COLUMNS})), st.sampled_from("=:"), VALUES)
def test_no_option_of_a_benchmark_and_no_column_is_masked(name: str, sign: str, value: str) -> None:
    for text in (f"{name}{sign}{value}", f"--{name} {value}", json.dumps({name: value})):
        assert privacy.masked(text) == text
    assert privacy.everywhere(privacy.masked, {name: value}) == {name: value}


def test_the_words_of_a_command_are_masked_with_what_follows_an_option() -> None:
    words = ["vm", "create", "--admin-password", "x", "--name", "v", "--sas-token", "-y"]
    assert privacy.masked_words(words) == [*words[:3], "…", "--name", "v", "--sas-token", "…"]


def test_what_a_key_calls_a_secret_is_one() -> None:
    document = {"clientSecret": "x", "client_secret": "x", "AccountKey": "x", "keys": ["x"], "rw": "randread"}
    masked = privacy.everywhere(privacy.masked, document)
    assert masked == document | dict.fromkeys(("clientSecret", "client_secret", "AccountKey"), "…")


@pytest.mark.long
def test_masking_takes_time_in_proportion_to_the_text() -> None:
    """What is quadratic in its input does not come to an end here."""
    for piece in ("password", "password: ", "--a", "token=", "-----BEGIN PRIVATE KEY-----", "://a:", "sig="):
        privacy.masked(piece * 20_000)
    for piece in ("Authorization: ", "Bearer ", "secret-", 'token="', "signature", "key=A1", "\\'"):
        privacy.masked(piece * 20_000)
    for piece in ("a", "a@", "a.", ANY, "'", "#", "key=", "C:\\Users\\", "eyJ", "client '", "%40"):
        privacy.masked(piece * 200_000)


def test_masking_twice_changes_nothing_more() -> None:
    text = f"client 'jane@x.org' {GUID} {ANY}joe/y?sig=abcdefg"
    assert privacy.masked(privacy.masked(text)) == privacy.masked(text)


def test_paths_below_a_folder_are_relative_to_it() -> None:
    text = "/srv/ds/raw/a.json of /srv/ds, not /srv/ds2/x or /srv/d"
    assert privacy.beside(text, Path("/srv/ds")) == "raw/a.json of ., not /srv/ds2/x or /srv/d"
    assert privacy.beside("/a/b", Path("/")) == "/a/b"


def test_every_text_of_a_document_is_masked() -> None:
    document = {"a": ["jane@x.org", {"b": "/srv/people/jane.doe"}], "c": (1, None, 2.5, True)}
    masked = privacy.everywhere(privacy.masked, document)
    assert masked == {"a": ["…", {"b": "~"}], "c": [1, None, 2.5, True]}
    assert not re.search("jane", json.dumps(masked))


def test_a_home_that_is_the_whole_disk_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/")
    assert privacy.masked("/etc/x") == "/etc/x"
