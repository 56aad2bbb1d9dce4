"""Measures what a request costs the arena: processor time, and how long it holds the event loop.

Every method gets its largest message, and those whose answers can be large get valid requests on an
arena with hundreds of bots, games and results. Of three tries the cheapest counts.
"""

import asyncio
import tempfile
from pathlib import Path

import grpc

from tests.server import dear_requests
from tests.server.watched_arena import open_watched_arena

STORED = 600
TRIES = 3


async def measure_requests(arena, stored):
    """Each request by its name, with its cost in milliseconds and its status."""
    async with grpc.aio.insecure_channel(arena.address) as channel:
        game_id = await dear_requests.fill(arena, channel, stored)
        caller = dear_requests.Caller(arena, channel)
        requests = [dear_requests.baseline(), *dear_requests.filled_requests()]
        requests += dear_requests.valid_requests(game_id, stored)
        found = {}
        for request in requests:
            costs = []
            for _ in range(TRIES):
                await asyncio.sleep(0.005)  # what comes after an answer belongs to that request
                arena.look()
                status = await caller.send(request)
                costs.append(arena.look())
            best = {name: min(each[name] for each in costs) for name in costs[0]}
            found[request.name] = best | {"status": status}
        return found


def measure(stored=STORED):
    """The cost of every request."""
    with (
        tempfile.TemporaryDirectory(prefix="hj-") as folder,
        open_watched_arena(Path(folder) / "data") as arena,
    ):
        return asyncio.run(measure_requests(arena, stored))


def dearest(found, figure, count=10):
    """The dearest requests by one figure."""
    return sorted(found.items(), key=lambda each: -each[1][figure])[:count]
