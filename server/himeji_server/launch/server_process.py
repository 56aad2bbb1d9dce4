"""One server process: the gRPC services and the web page, over one store."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import grpc

from himeji_server import metrics
from himeji_server.accounts.accounts import Accounts
from himeji_server.accounts.authorisation import Authoriser
from himeji_server.accounts.open_streams import OpenStreams
from himeji_server.accounts.owner_deletion import OwnerDeletion
from himeji_server.games.assembly import GameAssembly
from himeji_server.ladder import ladders
from himeji_server.ladder.assembly import LadderAssembly
from himeji_server.launch import open_files
from himeji_server.launch.runtime import run_in_background
from himeji_server.processor_shares import ProcessorShares
from himeji_server.rate_limits import ConcurrencyLimit
from himeji_server.rpc import (
    account_service,
    admin_service,
    game_service,
    grpc_server,
    ladder_service,
    play_service,
    rpc_handlers,
    rules_service,
)
from himeji_server.rpc.calls_in_flight import CallsInFlight
from himeji_server.rpc.connection_watch import ConnectionWatch
from himeji_server.rpc.play_service import PlayService
from himeji_server.rpc.readiness import Readiness
from himeji_server.rpc.rules_workers import RulesWorkers
from himeji_server.settings import DRAIN_SECONDS, OPEN_REGISTRATION, Settings
from himeji_server.store import Store


class Ports(NamedTuple):
    """The ports on which a process listens; `http` is None if it serves no page."""

    grpc: int
    http: int | None


@asynccontextmanager
async def serving(settings: Settings, store: Store, accounts: Accounts) -> AsyncIterator[Ports]:
    """Answer calls until the block ends, then drain: end every stream with a last message.

    With several processes, all of them listen on the same ports.
    """
    store.log_impairments()
    async with AsyncExitStack() as stack:
        readiness = Readiness(rpc_handlers.services())
        streams = OpenStreams(accounts.tokens.store)
        games = GameAssembly(store, accounts, settings.limits)
        ladder = LadderAssembly(ladders.read(settings.ladders), store, games.use_cases, accounts)
        authoriser = _authoriser(accounts, settings)
        rules_workers = RulesWorkers(settings.limits)
        stack.push_async_callback(rules_workers.close)
        shares = ProcessorShares(settings.limits)
        playing = play_service.PlayService(games.use_cases, ladder.queue_commands, streams, shares)
        watchers = ConcurrencyLimit("watchers", settings.limits.watchers_per_owner)
        services = {
            account_service.SERVICE: account_service.AccountService(accounts),
            admin_service.SERVICE: admin_service.AdminService(
                games.use_cases,
                ladder.administration,
                OwnerDeletion(store, accounts.requests, accounts.tokens),
            ),
            game_service.SERVICE: game_service.GameService(games.use_cases, streams, watchers),
            ladder_service.SERVICE: ladder_service.LadderService(ladder, streams, watchers),
            play_service.SERVICE: playing,
            rules_service.SERVICE: rules_service.RulesService(
                rules_workers, authoriser.charge, settings.limits
            ),
        }
        limits = replace(settings.limits, connections=open_files.allow(settings.limits.connections))
        calls = CallsInFlight(limits)
        server = grpc_server.build(
            readiness,
            implementations=services,
            authorise=authoriser,
            dev=settings.dev,
            limits=limits,
            calls=calls,
            processor_shares=shares,
            shared_port=settings.processes > 1,
            overload_handlers={play_service.PLAY: playing.overload_handler},
        )
        stack.push_async_callback(server.stop, None)
        port = grpc_server.bind(server, settings.port, shared=settings.processes > 1)
        watch = ConnectionWatch(calls, port)
        tasks = (partial(readiness.monitor, store), streams.monitor, metrics.measure_loop_lag)
        await stack.enter_async_context(
            run_in_background(*tasks, watch.run, *games.background, ladder.loop.run)
        )
        http_port = None
        if settings.http_port is not None:
            # Imported here because it takes a while, and not every arena has a page.
            from himeji_server.web import server as web, site  # noqa: PLC0415

            listener = web.bind_socket(settings.http_port, shared=settings.processes > 1)
            http_port = listener.getsockname()[1]
            parts = site.SiteParts(settings, port, games.use_cases, ladder, accounts)
            await stack.enter_async_context(
                web.serving(site.build(parts), listener, settings.limits)
            )
        stack.push_async_callback(_drain, server, readiness, playing)
        stack.callback(calls.blocks.close)  # else its decoy would listen longer than the server
        await readiness.set(ready=True)
        await server.start()
        yield Ports(port, http_port)


def _authoriser(accounts: Accounts, settings: Settings) -> Authoriser:
    return Authoriser(
        accounts.tokens,
        open_registration=settings.registration == OPEN_REGISTRATION,
        limits=settings.limits,
    )


async def _drain(server: grpc.aio.Server, readiness: Readiness, playing: PlayService) -> None:
    await readiness.drain()
    playing.drain()
    await server.stop(DRAIN_SECONDS)
