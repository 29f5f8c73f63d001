"""Channels to a kernel: a message is read also where a send took the wake-up for it away."""

import asyncio
import time
from collections.abc import Iterator
from queue import Empty

import nbformat
import pytest
import zmq
import zmq.asyncio
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.session import Session

from azbenchlib.report import channels
from azbenchlib.report.channels import PatientChannel, PatientClient
from azbenchlib.report.execute import IpcKernelManager, run_notebook


@pytest.fixture
def kernel_side() -> Iterator[zmq.Socket]:
    with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
        socket.linger = 0
        yield socket


async def unnoticed(kind: type[AsyncZMQSocketChannel], kernel_side: zmq.Socket, wait_s: float) -> dict | None:
    """What a channel gets where a send, with replies before and after it, took the wake-up away."""
    port = kernel_side.bind_to_random_port("tcp://127.0.0.1")
    session = Session(key=b"")
    with zmq.asyncio.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.linger = 0
        socket.connect(f"tcp://127.0.0.1:{port}")
        channel = kind(socket, session)
        channel.send(session.msg("execute_request"))
        identity = kernel_side.recv_multipart()[0]
        waiting = asyncio.ensure_future(channel.get_msg())
        await asyncio.sleep(0.05)  # it waits on the descriptor now
        session.send(kernel_side, session.msg("execute_reply"), ident=identity)
        while not zmq.Socket.shadow(socket.underlying).getsockopt(zmq.EVENTS) & zmq.POLLIN:
            time.sleep(0.01)  # the loop may not run meanwhile; asking is what takes the wake-up away
        channel.send(session.msg("comm_msg"))
        session.send(kernel_side, session.msg("kernel_info_reply"), ident=identity)
        done, _ = await asyncio.wait([waiting], timeout=wait_s)
        waiting.cancel()
        return waiting.result() if done else None


def test_a_message_is_found_without_a_wake_up(
    kernel_side: zmq.Socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channels, "LOOK_S", 0.1)
    found = asyncio.run(unnoticed(PatientChannel, kernel_side, 60))
    assert found is not None and found["msg_type"] == "execute_reply"


def test_a_channel_of_jupyter_waits_for_good(kernel_side: zmq.Socket) -> None:
    """What the patience is for; where this fails, it is no longer needed."""
    assert asyncio.run(unnoticed(AsyncZMQSocketChannel, kernel_side, 1)) is None


def test_a_timeout_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channels, "LOOK_S", 0.02)

    async def wait() -> None:
        with zmq.asyncio.Context() as context, context.socket(zmq.DEALER) as socket:
            await PatientChannel(socket, Session(key=b"")).get_msg(0.1)

    with pytest.raises(Empty):
        asyncio.run(wait())


def test_notebooks_are_run_through_such_channels(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    clients = []
    made = IpcKernelManager.client

    def client(self, **settings: object) -> object:
        clients.append(made(self, **settings))
        return clients[-1]

    monkeypatch.setattr(IpcKernelManager, "client", client)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print(6 * 7)")])
    (tmp_path / "one.ipynb").write_text(nbformat.writes(notebook))
    done = run_notebook(tmp_path / "one.ipynb", {})
    assert "42" in str(done.cells)
    assert clients and all(type(one) is PatientClient for one in clients)
