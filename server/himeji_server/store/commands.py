"""Commands on their way to Redis, and who receives the replies."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

Argument = str | bytes | int | float
Command = tuple[Argument, ...]


class Receiver(Protocol):
    """Receives the reply to one command."""

    def receive(self, reply: Any) -> None:
        """Called once, from the event loop, with Redis's reply or with the error instead of it."""
        ...


class Sender(Protocol):
    """Sends commands to one Redis, or to the nodes of a Cluster."""

    def send(self, command: Command, receiver: Receiver) -> None:
        """Send a command. It cannot be taken back: what was sent is executed."""
        ...

    async def close(self) -> None:
        """Send nothing more, wait for outstanding replies, and close every connection."""
        ...


class ReplicatedSender(Sender, Protocol):
    """Sends commands to a node of a Cluster, which may have replicas."""

    replicas: int
    """How many replicas must have acknowledged a write before its reply is delivered."""


class AwaitedReply:
    """A receiver that a coroutine waits for."""

    __slots__ = ("future",)

    def __init__(self) -> None:
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def receive(self, reply: Any) -> None:
        """Resolve the future, unless whoever waited was cancelled."""
        if self.future.done():
            return
        if isinstance(reply, Exception):
            self.future.set_exception(reply)
        else:
            self.future.set_result(reply)


class IgnoredReply:
    """A receiver for a reply that says nothing."""

    __slots__ = ()

    def receive(self, reply: Any) -> None:
        """Drop the reply."""


def ask(sender: Sender, *command: Argument) -> asyncio.Future[Any]:
    """Send a command; the future gives its reply, or raises the error instead of it."""
    awaited = AwaitedReply()
    sender.send(command, awaited)
    return awaited.future
