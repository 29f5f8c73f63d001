"""Channels to a kernel that find a message also where nothing woke them for it.

The descriptor of a ZeroMQ socket tells of changes alone, and a send takes such a tell away: who waits on the
descriptor is not woken then, however many messages come after (source: ZeroMQ, zmq_getsockopt, ZMQ_FD). A
client sends on the socket on which it waits, as when a widget opens, and would wait for good.
"""

from __future__ import annotations

from queue import Empty
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from traitlets import Type

LOOK_S = 5.0  # after which it is looked whether a message is there; a reply takes milliseconds


class PatientChannel(AsyncZMQSocketChannel):
    """A channel that looks now and then."""

    async def get_msg(  # type: ignore[override]  # as the class above is of its own base
        self, timeout: float | None = None
    ) -> dict[str, Any]:
        """The next message.

        Parameters
        ----------
        timeout : float, optional
            Seconds after which :class:`queue.Empty` is raised; None: never.
        """
        while timeout is None or timeout > LOOK_S:
            try:
                return await super().get_msg(LOOK_S)
            except Empty:
                timeout = None if timeout is None else timeout - LOOK_S
        return await super().get_msg(timeout)


class NotReadyError(Exception):
    """A kernel that ended, or was silent for too long, before it could run a cell."""


class PatientClient(AsyncKernelClient):
    """A client with such channels."""

    shell_channel_class = Type(PatientChannel)
    iopub_channel_class = Type(PatientChannel)

    async def _async_wait_for_ready(self, timeout: float | None = None) -> None:
        try:
            await super()._async_wait_for_ready(timeout)
        except RuntimeError as error:
            raise NotReadyError(str(error)) from error

    wait_for_ready = _async_wait_for_ready
