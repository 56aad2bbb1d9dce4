"""A connection to one Redis: every command goes through it, and its refusals become ours.

redis-py's silent retries are off: a command that was lost on the way is reported, and whoever
sent it knows whether it may be sent again.
"""

import asyncio
import hashlib
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from functools import partial
from importlib import resources
from typing import Any, Final, Self
from urllib.parse import urlsplit

import structlog
from himeji.rules.errors import StoreUnavailable
from redis.asyncio import ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    ClusterDownError,
    NoPermissionError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)

from himeji_server import metrics
from himeji_server.store import keys
from himeji_server.store.cluster import REDIRECTIONS, Cluster
from himeji_server.store.pubsub import PubSub
from himeji_server.store.raw_connection import RawConnection
from himeji_server.store.sending import Argument, Then, answer_of, settle

OLDEST_VERSION: Final = (7, 0)
DURABLE: Final[Mapping[str, str]] = {
    "appendonly": "yes",
    "appendfsync": "always",
    "no-appendfsync-on-rewrite": "no",
    "maxmemory-policy": "noeviction",
}
"""The settings under which an acknowledged write survives anything but the loss of the disk."""

MOST_AT_ONCE: Final = 96
"""Commands in one batch: with more, all that is under way is one batch, and somebody waits idle."""

_CONNECT_SECONDS: Final = 3.0
_ANSWER_SECONDS: Final = 3.0
_COPY_MILLISECONDS: Final = 2000

_SECONDS_BETWEEN_COMPLAINTS: Final = 60.0

_IMPAIRMENTS: Final[Mapping[type[RedisError], str]] = {
    AuthenticationError: "it refuses the user name or the password given in --redis",
    AuthorizationError: "it refuses the user name or the password given in --redis",
    NoPermissionError: "its user may not run the commands that Himeji needs",
    ReadOnlyError: "it takes no writes, for it is a replica",
    OutOfMemoryError: "it takes no writes, for its memory is full",
    ClusterDownError: "its cluster is down",
}
_IMPAIRMENT_CODES: Final[Mapping[str, str]] = {
    "MISCONF": "it takes no writes, for it cannot save them on its disk",
    "NOREPLICAS": "it takes no writes, for it misses replicas",
}
"""Those for which redis-py has no class, by the first word of what Redis says."""

_log = structlog.get_logger(__name__)

_Call = tuple[tuple[Argument, ...], Then]


class StoreRefusedError(Exception):
    """A Redis that answers, but not to us or not as we need it; the sentence says why."""


class StoreImpairedError(StoreUnavailable):
    """A Redis that answers, but does not do its work as it is now; the sentence says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__("the store cannot do its work at the moment")
        self.sentence = sentence

    def __str__(self) -> str:
        """For who runs the arena; clients are told the message alone."""
        return self.sentence


class Script:
    """A script beside this module, by the names of the files that it is made of."""

    def __init__(self, *names: str) -> None:
        folder = resources.files(__package__) / "scripts"
        self.text = "\n".join((folder / f"{name}.lua").read_text() for name in names)
        self.digest = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()


class Pipeline:
    """Commands as pipelines: while one batch is under way, the next one gathers.

    Alone, a command goes out at once; under load, many share a round trip and Redis's write to
    disk.

    Where there are replicas, a batch is answered when they have what it wrote: one of them may be
    the next primary. What is not copied in time may be there or not, like all that has no answer.
    """

    def __init__(self, pool: ConnectionPool) -> None:
        self.copies = 0
        self._pool = pool
        self._pipe: RawConnection | None = None
        self._waiting: list[_Call] = []
        self._sender: asyncio.Task[None] | None = None
        self._closed = False

    def send(self, command: tuple[Argument, ...], then: Then) -> None:
        """Send a command; errors come as ours, as NoScriptError for a script, or as REDIRECTIONS.

        There is no way to take it back: what was sent is carried out.
        """
        if self._closed:
            error = StoreUnavailable("the store is not used any more")
            asyncio.get_running_loop().call_soon(then, error)
            return
        self._waiting.append((command, then))
        if self._sender is None:
            self._sender = asyncio.create_task(self._send_all())

    async def ping(self) -> None:
        """Return when Redis answers; raises ours."""
        await answer_of(self, "PING")

    async def of_each_primary(self, *command: Argument) -> list[Any]:
        """The answers of all that take writes: of the one that there is."""
        return [await answer_of(self, *command)]

    def moved(self, since: int) -> tuple[int, frozenset[int]]:
        """The slots that another node has now: there is but one."""
        return since, frozenset()

    def listening(self, in_slots: Sequence[str]) -> list[tuple[ConnectionPool, Sequence[str]]]:
        """Where to listen for what is published in the slots of these channels, or in none."""
        return [(self._pool, in_slots)]

    async def close(self) -> None:
        """Send nothing more, wait for what is under way, and close every connection."""
        self._closed = True
        if self._sender is not None:
            await asyncio.wait({self._sender})
        await self._close_pipe()
        await self._pool.disconnect()

    async def _send_all(self) -> None:
        try:
            while self._waiting:
                await self._converse()
        finally:
            self._sender = None

    async def _converse(self) -> None:
        """Send batch after batch over one connection, until nothing waits.

        The answers to one are told while Redis works on the next.
        """
        sent: list[_Call] = []
        told: list[tuple[Then, Any]] = []
        since = time.perf_counter()
        try:
            pipe = await self._open_pipe()
            while self._waiting:
                sent, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
                since = time.perf_counter()
                commands = [command for command, _ in sent]
                async with asyncio.timeout(_ANSWER_SECONDS):
                    answers = await self._exchange(pipe, commands, told)
                metrics.store_answered(len(sent), since, failed=False)
                told = [(then, each) for (_, then), each in zip(sent, answers, strict=True)]
                sent = []
                if not self._waiting:
                    _tell(told)
        except Exception as error:  # noqa: BLE001 - whatever it is, nobody waits for ever
            if not isinstance(error, RedisError | OSError):
                _log.exception("fault in talking to the store")
            await self._close_pipe()
            # What waits behind a batch without an answer was never sent: it may try again.
            lost, self._waiting = sent + self._waiting, []
            metrics.store_answered(len(lost), since, failed=True)
            _tell(told + [(then, error) for _, then in lost])
        except BaseException:
            await self._close_pipe()  # answers that are still to come would be taken for others
            raise

    async def _exchange(
        self,
        pipe: RawConnection,
        commands: Sequence[tuple[Argument, ...]],
        meanwhile: list[tuple[Then, Any]],
    ) -> list[Any]:
        """One round trip, during which the answers of the one before are told."""
        copies = self.copies
        sent = [*commands, ("WAIT", copies, _COPY_MILLISECONDS)] if copies else commands
        pipe.send(sent)
        _tell(meanwhile)
        replies = await pipe.answers(len(sent))
        if copies:
            copied = replies.pop()
            if not isinstance(copied, int) or copied < copies:
                return [*map(_uncopied, commands, replies)]
        return replies

    async def _open_pipe(self) -> RawConnection:
        if self._pipe is not None and self._pipe.ended:
            await self._close_pipe()
        if self._pipe is None:
            self._pipe = await RawConnection.open(self._pool)
        return self._pipe

    async def _close_pipe(self) -> None:
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            await pipe.close()


def _uncopied(command: tuple[Argument, ...], reply: Any) -> Any:
    """What is told of a command when the replicas do not have all that was written.

    What was read may be lost with it. A redirected command was not carried out, and who has which
    slots must be known to find out which replicas there are.
    """
    if command[0] == "CLUSTER" or isinstance(reply, REDIRECTIONS):
        return reply
    return StoreUnavailable("what was written is not copied yet")


def _tell(answers: list[tuple[Then, Any]]) -> None:
    """Tell each its answer, once."""
    told = answers[:]
    answers.clear()
    for then, answer in told:
        try:
            then(_told(answer))
        except Exception:  # noqa: BLE001 - those behind it must hear their answers
            _log.exception("fault in what follows an answer of the store")


class Store:
    """A connection to one Redis, which may be a Cluster."""

    def __init__(self, url: str) -> None:
        """Prepare the connection; raises StoreRefusedError for a URL that names no Redis."""
        self.place = without_password(url)
        self._complaints: dict[str, float] = {}
        try:
            self._pool = ConnectionPool.from_url(
                url,
                # The older protocol, in which a server of any age can say how old it is.
                protocol=2,
                retry=Retry(NoBackoff(), 0),
                retry_on_error=[],
                socket_connect_timeout=_CONNECT_SECONDS,
                socket_timeout=_ANSWER_SECONDS,
            )
            self._batches: Pipeline | Cluster = Pipeline(self._pool)
        except ValueError as error:
            raise StoreRefusedError(
                "its address has to be redis://HOST:PORT, rediss://HOST:PORT or unix:///PATH"
            ) from error

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
        await self._batches.ping()

    async def _find_cluster(self) -> None:
        """Send commands to the nodes that have their keys, if this Redis is one of a Cluster."""
        if (await self._info("cluster")).get("cluster_enabled") == "1":
            await self._batches.close()
            self._batches = cluster = Cluster(self._pool, Pipeline)
            await cluster.open()

    async def _info(self, section: str) -> dict[str, str]:
        """What Redis says about itself."""
        lines = bytes(await answer_of(self._batches, "INFO", section)).decode().splitlines()
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
        await answer_of(self._batches, "SETRANGE", keys.WRITE_PROBE, 0, "")

    async def check_durability(self) -> None:
        """Raise StoreRefusedError, naming each setting that could lose a write."""
        weak: dict[str, None] = {}
        for found in await self._batches.of_each_primary("CONFIG", "GET", *DURABLE):
            names = dict(zip(found[::2], found[1::2], strict=True))
            for name, needed in DURABLE.items():
                value = bytes(names.get(name.encode(), b"unknown")).decode()
                if value != needed:
                    weak[f"{name} is {value} and has to be {needed}"] = None
        if weak:
            raise StoreRefusedError("; ".join(weak))

    def call(self, *command: Argument) -> asyncio.Future[Any]:
        """Send a command together with others; the answer is that of Redis, in bytes."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._send(command, partial(settle, answer))
        return answer

    def run(self, script: Script, keys: Sequence[str], *arguments: Argument) -> asyncio.Future[Any]:
        """Run a script; the answer is what it returns, in bytes."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.start(script, keys, arguments, partial(settle, answer))
        return answer

    def start(
        self, script: Script, keys: Sequence[str], arguments: Sequence[Argument], then: Then
    ) -> None:
        """Run a script, which is sent whole only where Redis does not know it yet."""

        def answered(answer: Any) -> None:
            if isinstance(answer, NoScriptError):
                self._send(("EVAL", script.text, len(keys), *keys, *arguments), then)
            else:
                then(answer)

        self._send(("EVALSHA", script.digest, len(keys), *keys, *arguments), answered)

    def _send(self, command: tuple[Argument, ...], then: Then) -> None:
        def answered(answer: Any) -> None:
            if isinstance(answer, StoreImpairedError):
                self._complain(answer)
            then(answer)

        self._batches.send(command, answered)

    def _complain(self, error: StoreImpairedError) -> None:
        """Say in the log what is wrong with the store, once in a while and not for every call."""
        now = time.monotonic()
        if self._complaints.get(error.sentence, 0) < now:
            self._complaints[error.sentence] = now + _SECONDS_BETWEEN_COMPLAINTS
            _log.error("store cannot do its work", why=error.sentence)

    def moved(self, since: int = 0) -> tuple[int, frozenset[int]]:
        """The slots of a Cluster that changed hands since a point, and the point that is now."""
        return self._batches.moved(since)

    def listen(
        self, *channels: str, in_slots: Sequence[str] = ()
    ) -> AsyncGenerator[tuple[str, str] | None, None]:
        """Channel and message of each bell as it rings, and None when some may have been missed.

        Channels that are in slots, as keys are, are heard where their slot is.
        """
        return PubSub(self._batches.listening).to(channels, in_slots)

    async def close(self) -> None:
        """Close every connection, after what is under way."""
        await self._batches.close()


def without_password(url: str) -> str:
    """Write a URL so that it may be shown: without user, password and query."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "the URL"
    return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def _told(result: Any) -> Any:
    """An answer as it is passed on: errors become ours, but for those that ask for more."""
    passed_on = (NoScriptError, StoreUnavailable, *REDIRECTIONS)
    if not isinstance(result, Exception) or isinstance(result, passed_on):
        return result
    return _ours(result)


def _ours(error: BaseException) -> StoreRefusedError | StoreUnavailable:
    # A refusal while connecting comes wrapped in a ConnectionError.
    found = [error, error.__cause__]
    for kind, sentence in _IMPAIRMENTS.items():
        if any(isinstance(each, kind) for each in found):
            return StoreImpairedError(sentence)
    if not any(isinstance(each, ResponseError) for each in found):
        return StoreUnavailable("the store does not answer")
    code = str(error).partition(" ")[0]
    if code in _IMPAIRMENT_CODES:
        return StoreImpairedError(_IMPAIRMENT_CODES[code])
    return StoreRefusedError("it refuses a command that Himeji needs")
