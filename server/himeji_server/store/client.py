"""The client of the store: one Redis or a Cluster, its commands, scripts and subscriptions.

redis-py's silent retries are off: a lost command is reported, and only its sender knows whether it
may be sent again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import partial
from typing import Any, Final, Self
from urllib.parse import urlsplit

from redis.asyncio import ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from himeji_server.processor_shares import count_store_command
from himeji_server.store import keys
from himeji_server.store.cluster import Cluster
from himeji_server.store.commands import Argument, AwaitedReply, Receiver, Sender, ask
from himeji_server.store.errors import ImpairmentLog, StoreRefusedError
from himeji_server.store.pipelining import REPLY_SECONDS, Pipeline, Script, ScriptCall
from himeji_server.store.pubsub import PubSub

OLDEST_VERSION: Final = (7, 0)
DURABLE: Final[Mapping[str, str]] = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
}
"""The settings under which an acknowledged write survives anything but the loss of the disk."""

_CONNECT_SECONDS: Final = 3.0


class Store:
    """The client of one Redis, or of a Cluster that is found through one of its nodes."""

    def __init__(self, url: str) -> None:
        """Prepare the connection; raises StoreRefusedError for a URL that names no Redis."""
        self.url = url
        """The address, which may have a password in it: for another client, never for a log."""
        self.display_url = without_password(url)
        self._impairments = ImpairmentLog()
        try:
            self._pool = ConnectionPool.from_url(
                url,
                # The older protocol, in which a server of any age can say how old it is.
                protocol=2,
                retry=Retry(NoBackoff(), 0),
                retry_on_error=[],
                socket_connect_timeout=_CONNECT_SECONDS,
                socket_timeout=REPLY_SECONDS,
            )
            self._sender: Pipeline | Cluster = Pipeline(self._pool, self._impairments)
        except ValueError as error:
            raise StoreRefusedError(
                "its address has to be redis://HOST:PORT, rediss://HOST:PORT or unix:///PATH"
            ) from error

    @property
    def sender(self) -> Sender:
        """Sends commands whose reply nobody awaits."""
        return self._sender

    def log_impairments(self) -> None:
        """Log from now on what is wrong with the store; before, it is the error of a check."""
        self._impairments.enabled = True

    @classmethod
    async def connect(cls, url: str) -> Self:
        """Connect and ping, and find out about a Cluster's nodes; raises like `ping`."""
        store = cls(url)
        try:
            await store.ping()
            await store._find_cluster()
        except BaseException:
            await store.close()
            raise
        return store

    async def ping(self) -> None:
        """Return when Redis answers; raises StoreUnavailable or StoreRefusedError."""
        await self._sender.ping()

    async def _find_cluster(self) -> None:
        """Send commands to the nodes that have their keys, if this Redis is one of a Cluster."""
        if (await self._info("cluster")).get("cluster_enabled") == "1":
            await self._sender.close()
            self._sender = cluster = Cluster(
                self._pool, partial(Pipeline, impairments=self._impairments)
            )
            await cluster.open()

    async def _info(self, section: str) -> dict[str, str]:
        """What Redis says about itself."""
        lines = bytes(await ask(self._sender, "INFO", section)).decode().splitlines()
        facts = (line.partition(":") for line in lines)
        return {name: value for name, colon, value in facts if colon}

    async def version(self) -> str:
        """Give the version of Redis that the server is, or is compatible with."""
        return (await self._info("server"))["redis_version"]

    async def check_version(self) -> None:
        """Raise StoreRefusedError when the server is older than what we use."""
        version = await self.version()
        if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_VERSION:
            oldest = ".".join(map(str, OLDEST_VERSION))
            raise StoreRefusedError(f"it is version {version}, and Himeji needs {oldest} or newer")

    async def check_writable(self) -> None:
        """Raise StoreImpairedError when the server takes no writes, StoreUnavailable if it is gone.

        Writing nothing into a string that is not there is refused like any write, and leaves no
        trace in memory or on disk.
        """
        await ask(self._sender, "SETRANGE", keys.WRITE_PROBE, 0, "")

    async def check_durability(self) -> None:
        """Raise StoreRefusedError, naming each setting that could lose a write."""
        weak: dict[str, None] = {}
        for found in await self._sender.ask_each_primary("CONFIG", "GET", *DURABLE):
            names = dict(zip(found[::2], found[1::2], strict=True))
            for name, needed in DURABLE.items():
                value = bytes(names.get(name.encode(), b"unknown")).decode()
                if value != needed:
                    weak[f"{name} is {value} and has to be {needed}"] = None
        if weak:
            raise StoreRefusedError("; ".join(weak))

    def call(self, *command: Argument) -> asyncio.Future[Any]:
        """Send a command; the future gives Redis's reply, in bytes."""
        count_store_command()
        return ask(self._sender, *command)

    def run(self, script: Script, keys: Sequence[str], *arguments: Argument) -> asyncio.Future[Any]:
        """Run a script; the future gives what it returns, in bytes."""
        count_store_command()
        awaited = AwaitedReply()
        self.start(script, keys, arguments, awaited)
        return awaited.future

    def start(
        self,
        script: Script,
        keys: Sequence[str],
        arguments: Sequence[Argument],
        receiver: Receiver,
    ) -> None:
        """Run a script without a future: the receiver is called with what it returns."""
        ScriptCall(self._sender, script, keys, arguments, receiver).send()

    def moved_slots(self, since: int = 0) -> tuple[int, frozenset[int]]:
        """The slots of a Cluster that moved to another node since a point, and the point now."""
        return self._sender.moved_slots(since)

    def subscribe(
        self, *channels: str, sharded: Sequence[str] = ()
    ) -> AsyncGenerator[tuple[str, str] | None, None]:
        """Channel and text of each message as it comes, and None when some may have been missed.

        Sharded channels belong to a slot, as keys do.
        """
        return PubSub(self._sender.subscription_pools).messages(channels, sharded)

    async def close(self) -> None:
        """Wait for outstanding replies, and close every connection."""
        await self._sender.close()


def without_password(url: str) -> str:
    """Write a URL so that it may be shown: without user, password and query."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "the URL"
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"
