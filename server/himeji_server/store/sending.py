"""What sends commands to a Redis, one or many, and how to wait for an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

Argument = str | bytes | int | float
Then = Callable[[Any], None]
"""Called with the answer of the store, or with the exception that came instead."""


class Sender(Protocol):
    """Sends commands to one Redis, or to those of a Cluster."""

    def send(self, command: tuple[Argument, ...], then: Then) -> None:
        """Send a command. There is no way to take it back: what was sent is carried out."""
        ...

    async def close(self) -> None:
        """Send nothing more, wait for what is under way, and close every connection."""
        ...


class CopyingSender(Sender, Protocol):
    """Sends commands to a node of a Cluster, which may have replicas."""

    copies: int
    """How many replicas must have what was written before anybody hears of it."""


def answer_of(sender: Sender, *command: Argument) -> asyncio.Future[Any]:
    """Send a command; its answer, which raises what came instead."""
    answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    sender.send(command, partial(settle, answer))
    return answer


def settle(waited_for: asyncio.Future[Any], result: Any) -> None:
    """Give a result, or raise an exception, to whoever still waits for it."""
    if waited_for.done():
        return
    if isinstance(result, Exception):
        waited_for.set_exception(result)
    else:
        waited_for.set_result(result)
