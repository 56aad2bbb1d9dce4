"""Runs an arena: starts everything it needs in order, announces it, and stops it in reverse."""

import asyncio
import platform
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import himeji
from himeji.rules.errors import StoreUnavailable

from himeji_server import log, metrics
from himeji_server.accounts.accounts import Accounts
from himeji_server.ladder import ladders
from himeji_server.ladder.tournament_migration import index_older_tournaments
from himeji_server.launch import data_folder, token_file, worker_pool
from himeji_server.launch.embedded_redis import EmbeddedRedis
from himeji_server.launch.house_bots import HouseBots
from himeji_server.launch.runtime import AsyncFunction, run_in_background, run_until_signalled
from himeji_server.launch.server_process import serving
from himeji_server.names import ADMINISTRATOR, HOUSE, LOCAL
from himeji_server.rpc import grpc_server
from himeji_server.settings import HOST, Settings
from himeji_server.startup_errors import StartRefusedError
from himeji_server.store import Store, StoreImpairedError, StoreRefusedError, without_password
from himeji_server.store.index_migration import index_older_games
from himeji_server.store.ladder import LadderStore
from himeji_server.store.leases import Leases


@dataclass(frozen=True)
class Arena:
    """A running arena, as its announcement describes it."""

    settings: Settings
    port: int
    data: str
    redis: str
    token: str
    metrics_ports: tuple[int, ...] = ()
    http_port: int | None = None

    def announcement(self) -> str:
        """The text that is printed when the arena is ready."""
        mode, python = self.settings.mode, platform.python_version()
        rows = {
            "address": f"{HOST}:{self.port}",
            "data": self.data,
            "redis": self.redis,
            "token": self.token,
            "house": ", ".join(f"{HOUSE}/{bot}" for bot in self.settings.house),
            "metrics": ", ".join(f"http://{HOST}:{port}/metrics" for port in self.metrics_ports),
            "rules": f"{himeji.ENGINE_FORM}, Python {python}",
            "next": f"{_command()} health --port {self.port}   (in a second terminal)",
            "page": f"http://{HOST}:{self.http_port}" if self.http_port else "",
            "stop": "Ctrl-C",
        }
        lines = [f"  {name:<9}{value}" for name, value in rows.items() if value]
        return "\n".join([f"Himeji {himeji.__version__}: the arena is open ({mode} mode)", *lines])


def _command() -> str:
    """How to call `himeji` in a second terminal in this folder."""
    called = Path(sys.argv[0]).absolute()
    if called.name != "himeji" or shutil.which("himeji") == str(called):
        return "himeji"
    here = Path.cwd()
    return str(called.relative_to(here) if called.is_relative_to(here) else called)


def run(settings: Settings, announce: Callable[[str], None]) -> None:
    """Run an arena until SIGINT or SIGTERM; raises StartRefusedError when it cannot start."""
    log.configure(settings.log_format)
    run_until_signalled(lambda: _serve(settings, announce))


@asynccontextmanager
async def open_arena(settings: Settings) -> AsyncIterator[Arena]:
    """Run an arena until the block ends; everything that it started has ended then."""
    async with AsyncExitStack() as stack:
        # First of all, so that no Redis is started if the port is in use.
        grpc_server.check_port(settings.port)
        redis = await stack.enter_async_context(_running_redis(settings))
        store = await _connect(redis.url, settings)
        stack.push_async_callback(store.close)
        redis_text = f"{store.display_url} (speaks Redis {await store.version()})"
        accounts = Accounts(store, settings.accounts, dev=settings.dev)
        token = await _prepare(store, accounts, settings)
        await stack.enter_async_context(run_in_background(*redis.tasks))
        if settings.processes > 1:
            pool = await stack.enter_async_context(worker_pool.running(settings, redis.url))
            port, http_port, metrics_ports = pool.port, pool.http_port, pool.metrics_ports
        else:
            metrics_ports = stack.enter_context(metrics.served(settings.metrics_port))
            ports = await stack.enter_async_context(serving(settings, store, accounts))
            port, http_port = ports.grpc, ports.http
        shared = ladders.read(settings.ladders).shared
        house = HouseBots(accounts, Leases(store), settings.house, f"{HOST}:{port}", shared)
        await stack.enter_async_context(run_in_background(house.keep_running))
        # Stopped first: a bot that ends in good order still sends messages to the arena.
        stack.push_async_callback(house.stop)
        yield Arena(settings, port, redis.data, redis_text, token, metrics_ports, http_port)


@dataclass(frozen=True)
class _Redis:
    """The Redis of an arena: its address, where its data are, and the tasks that supervise it."""

    url: str
    data: str
    tasks: tuple[AsyncFunction, ...] = ()


@asynccontextmanager
async def _running_redis(settings: Settings) -> AsyncIterator[_Redis]:
    """The Redis that the settings name, or else an embedded one that runs until the block ends."""
    if settings.redis is not None:
        yield _Redis(settings.redis, "in the Redis below")
        return
    with data_folder.locked(settings.data) as folder:
        refuse = settings.ranked and not settings.accept_data_loss
        redis = EmbeddedRedis(folder / "redis", refuse_data_loss=refuse)
        await redis.start()
        try:
            yield _Redis(redis.url, str(folder), (redis.keep_running, redis.record_sizes))
        finally:
            await redis.stop()


async def _connect(url: str, settings: Settings) -> Store:
    """Connect to the Redis and check that it suits the settings; raises StartRefusedError."""
    store: Store | None = None
    try:
        store = await Store.connect(url)
        await store.check_version()
        await store.check_writable()
        if settings.ranked:
            await store.check_durability()
    except (StoreRefusedError, StoreUnavailable) as error:
        if store is not None:
            await store.close()
        raise StartRefusedError(_redis_problem(without_password(url), error)) from error
    return store


async def _prepare(store: Store, accounts: Accounts, settings: Settings) -> str:
    """Bring old data up to date, and create the arena's own owners and token files.

    Returns the files for the announcement.
    """
    files: dict[Path, str] = {}
    if settings.dev:
        files[settings.data.expanduser().absolute() / token_file.NAME] = LOCAL
    if settings.admin_token_file is not None:
        files[settings.admin_token_file.expanduser().absolute()] = ADMINISTRATOR
    try:
        await index_older_games(store)
        await index_older_tournaments(LadderStore(store))
        await accounts.prepare()
        for path, owner in files.items():
            await token_file.ensure_token(path, accounts, owner)
    except (StoreRefusedError, StoreUnavailable) as error:
        raise StartRefusedError(_redis_problem("the address given", error)) from error
    return ", ".join(map(str, files)) or "no file (--admin-token-file makes one)"


def _redis_problem(url: str, error: Exception) -> str:
    if isinstance(error, StoreUnavailable) and not isinstance(error, StoreImpairedError):
        return f"the Redis at {url} does not answer: start it, or correct --redis"
    return f"the Redis at {url} will not do: {error}"


async def _serve(settings: Settings, announce: Callable[[str], None]) -> None:
    async with open_arena(settings) as arena:
        announce(arena.announcement())
        await asyncio.Event().wait()
