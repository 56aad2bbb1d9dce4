"""One arena's life: everything it needs is started in order, announced, and ended in reverse."""

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
from himeji_server.launch import data_folder, token_file, worker_pool
from himeji_server.launch.embedded_redis import EmbeddedRedis
from himeji_server.launch.house_bots import HouseBots
from himeji_server.launch.runtime import Chore, background, until_told
from himeji_server.launch.server_process import serving
from himeji_server.names import ADMINISTRATOR, HOUSE, LOCAL
from himeji_server.rpc import grpc_server
from himeji_server.settings import HOST, Settings
from himeji_server.startup_errors import StartRefusedError
from himeji_server.store import Store, StoreImpairedError, StoreRefusedError, without_password
from himeji_server.store.leases import Leases


@dataclass(frozen=True)
class Arena:
    """An arena that runs: what there is to say about it."""

    settings: Settings
    port: int
    data: str
    redis: str
    token: str
    metrics_ports: tuple[int, ...] = ()
    http_port: int | None = None

    def announcement(self) -> str:
        """Write the block that is shown when the arena is ready."""
        mode, python = self.settings.mode, platform.python_version()
        rows = {
            "address": f"{HOST}:{self.port}",
            "data": self.data,
            "redis": self.redis,
            "token": self.token,
            "house": ", ".join(f"{HOUSE}/{bot}" for bot in self.settings.house),
            "metrics": ", ".join(f"http://{HOST}:{port}/metrics" for port in self.metrics_ports),
            "rules": f"{himeji.ENGINE_FORM}, Python {python}",
            "next": f"{_program()} health --port {self.port}   (in a second terminal)",
            "page": f"http://{HOST}:{self.http_port}" if self.http_port else "",
            "stop": "Ctrl-C",
        }
        lines = [f"  {name:<9}{value}" for name, value in rows.items() if value]
        return "\n".join([f"Himeji {himeji.__version__}: the arena is open ({mode} mode)", *lines])


def _program() -> str:
    """The command line as a second terminal in this folder can call it."""
    called = Path(sys.argv[0]).absolute()
    if called.name != "himeji" or shutil.which("himeji") == str(called):
        return "himeji"
    here = Path.cwd()
    return str(called.relative_to(here) if called.is_relative_to(here) else called)


def run(settings: Settings, announce: Callable[[str], None]) -> None:
    """Run an arena until SIGINT or SIGTERM; raises StartRefusedError when it cannot start."""
    log.configure(settings.log_format)
    until_told(lambda: _live(settings, announce))


@asynccontextmanager
async def arena(settings: Settings) -> AsyncIterator[Arena]:
    """Hold an open arena; everything it started is gone when the block ends."""
    async with AsyncExitStack() as stack:
        # The port comes first, so that a port in use costs nobody a Redis.
        grpc_server.check_port(settings.port)
        home = await stack.enter_async_context(_home(settings))
        store = await _connect(home.url, settings)
        stack.push_async_callback(store.close)
        redis = f"{store.place} (speaks Redis {await store.version()})"
        accounts = Accounts(store, settings.accounts, dev=settings.dev)
        token = await _prepare(accounts, settings)
        await stack.enter_async_context(background(*home.chores))
        if settings.processes > 1:
            several = await stack.enter_async_context(worker_pool.running(settings, home.url))
            port, metrics_ports = several.port, several.metrics_ports
            http_port = several.http_port
        else:
            metrics_ports = stack.enter_context(metrics.served(settings.metrics_port))
            ports = await stack.enter_async_context(serving(settings, store, accounts))
            port, http_port = ports.grpc, ports.http
        shared = ladders.read(settings.ladders).shared
        house = HouseBots(accounts, Leases(store), settings.house, f"{HOST}:{port}", shared)
        await stack.enter_async_context(background(house.keep_running))
        # The first to go: a bot that stops in good order needs an arena to say goodbye to.
        stack.push_async_callback(house.stop)
        yield Arena(settings, port, home.data, redis, token, metrics_ports, http_port)


@dataclass(frozen=True)
class _Home:
    """Where an arena's games are: the Redis, how to name the place, and what keeps it going."""

    url: str
    data: str
    chores: tuple[Chore, ...] = ()


@asynccontextmanager
async def _home(settings: Settings) -> AsyncIterator[_Home]:
    """Hold the Redis that was named, or one of our own in the data folder."""
    if settings.redis is not None:
        yield _Home(settings.redis, "in the Redis below")
        return
    with data_folder.owned(settings.data) as folder:
        redis = EmbeddedRedis(folder / "redis")
        await redis.start()
        try:
            yield _Home(redis.url, str(folder), (redis.keep_running,))
        finally:
            await redis.stop()


async def _connect(url: str, settings: Settings) -> Store:
    """Connect to a Redis that is fit for these settings; raises StartRefusedError."""
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
        raise StartRefusedError(_why_not(without_password(url), error)) from error
    return store


async def _prepare(accounts: Accounts, settings: Settings) -> str:
    """Make the arena's own owners and token files; the files, as the announcement names them."""
    files: dict[Path, str] = {}
    if settings.dev:
        files[settings.data.expanduser().absolute() / token_file.NAME] = LOCAL
    if settings.admin_token_file is not None:
        files[settings.admin_token_file.expanduser().absolute()] = ADMINISTRATOR
    try:
        await accounts.prepare()
        for path, owner in files.items():
            await token_file.keep(path, accounts, owner)
    except (StoreRefusedError, StoreUnavailable) as error:
        raise StartRefusedError(_why_not("the address given", error)) from error
    return ", ".join(map(str, files)) or "no file (--admin-token-file makes one)"


def _why_not(place: str, error: Exception) -> str:
    if isinstance(error, StoreUnavailable) and not isinstance(error, StoreImpairedError):
        return f"the Redis at {place} does not answer: start it, or correct --redis"
    return f"the Redis at {place} will not do: {error}"


async def _live(settings: Settings, announce: Callable[[str], None]) -> None:
    async with arena(settings) as opened:
        announce(opened.announcement())
        await asyncio.Event().wait()
