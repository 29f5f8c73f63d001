"""What is of ssh alone: addresses, keys, hosts that are not what they were."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from ssh_hosts import SshHost, know, ssh_hosts
from ways_to_hosts import nothing_left

from azbenchlib.campaign import experiment
from azbenchlib.campaign.experiment import Todo
from azbenchlib.campaign.workloads.grid import matrix
from azbenchlib.core.errors import AzbenchError, InputError, MissingToolError
from azbenchlib.core.targets import SshAddress, check_target_name, ssh_address

ASKED = Todo(matrix(["4k"], [1], ["randread"], size="1m"))


@pytest.fixture(autouse=True)
def nothing_is_left_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with nothing_left(monkeypatch):
        yield


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshHost]:
    with ssh_hosts(tmp_path / "hosts", monkeypatch, "here") as (one,):
        yield one


def test_a_host_key_that_changed_is_refused_in_words(host: SshHost, tmp_path: Path) -> None:
    host.stop()
    host.new_key()
    host.start()
    with pytest.raises(InputError, match=r"^here: its host key is another one than the one that is known: "):
        experiment.run(ASKED, tmp_path / "ds", target="ssh:here")
    assert list(host.home.iterdir()) == [] and not (tmp_path / "ds").exists()
    (tmp_path / "hosts" / "known_hosts").write_text("")
    with pytest.raises(InputError, match=r"^here: its host key is not known yet: log in once with ssh"):
        experiment.run(ASKED, tmp_path / "ds", target="ssh:here")
    know(tmp_path / "hosts", [host])
    (tmp_path / "hosts" / "key.pub").write_text("")
    with pytest.raises(
        InputError, match=r"^here: it lets nobody in with the keys .* never asks for a password"
    ):
        experiment.run(ASKED, tmp_path / "ds", target="ssh:here")


def test_a_host_that_is_not_there(host: SshHost, tmp_path: Path) -> None:
    host.stop()
    with pytest.raises(AzbenchError, match=r"^here: cannot be reached by ssh: .*refused"):
        experiment.run(ASKED, tmp_path / "ds", target="ssh:here")


def test_a_host_without_fio_is_told_how_to_get_it(
    host: SshHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = host.folder / "sshd_config"
    empty = tmp_path / "bin"
    empty.mkdir()
    for tool in ("sh", "sed", "uname", "readlink", "df", "tail", "stat", "dd", "rm", "cat"):
        (empty / tool).symlink_to(Path("/usr/bin") / tool)
    host.stop()
    config.write_text(config.read_text().replace("SetEnv HOME", f"SetEnv PATH={empty} HOME"))
    host.start()
    if any(Path(place, "fio").exists() for place in ("/usr/local/bin", "/usr/sbin", "/sbin")):
        pytest.skip("fio lies in a folder that is always searched")
    with pytest.raises(MissingToolError, match=r"^here: has no fio; `apt install fio` there"):
        experiment.run(ASKED, tmp_path / "ds", target="ssh:here")


@pytest.mark.parametrize(
    "name",
    [
        "ssh:",
        "ssh:-oProxyCommand=x",
        "ssh:a b",
        "ssh:a:0",
        "ssh:a:99999",
        "ssh:u@-h",
        "ssh:a;b",
        "ssh:u@h@i",
        "sch:a",
    ],
)
def test_addresses_that_are_none(name: str) -> None:
    with pytest.raises(
        InputError, match=r"is no address; write ssh:USER@HOST|the choices are: .*ssh:USER@HOST"
    ):
        check_target_name(name)


def test_addresses() -> None:
    assert ssh_address("ssh:me@there:2222") == SshAddress("there", "me", 2222)
    assert ssh_address("ssh:[::1]:22") == SshAddress("::1", "", 22)
    check_target_name("ssh:10.0.0.4")
    assert SshAddress("there", "me").identity == "me@there:"  # stored plans have its hash
    assert SshAddress("there", "me", 22).identity == "me@there:22"
