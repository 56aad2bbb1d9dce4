"""Plays games while disruptions happen, and checks the logs of the games afterwards."""

import asyncio
import math
import random
from collections import defaultdict
from dataclasses import dataclass, field

from himeji.v1 import game_service_pb2 as games
from himeji.v1.game_pb2 import GameState, SeatPlan

from tests.programs.chaos.clients import StreamClient, UnaryClient
from tests.programs.chaos.history import POLL_SECONDS, History, violations, voided

STREAM_CLIENTS = 5
UNARY_CLIENTS = 2
DISRUPTION_COUNT = "disruptions: "
"""Prefix of the counts of disruptions in a report."""


@dataclass(frozen=True)
class Scenario:
    """How many games are played, and what disrupts them; everything is bounded by counts."""

    games: int = 6
    disruptions: tuple[str, ...] = ()
    answers_between: int = 40  # acknowledged answers between two disruptions
    seed: int = 1
    may_void: bool = False  # whether a game may be voided because a part of its log was lost


@dataclass
class Report:
    """The counts and the violations of a scenario."""

    history: History
    violations: list[str] = field(default_factory=list)

    @property
    def counts(self):
        return self.history.counts


async def run(deployment, scenario, disruptions=None):
    """Play all games of a scenario through its disruptions; returns the report."""
    history, rng = History(), random.Random(scenario.seed)
    seed = scenario.seed
    clients = [
        *(StreamClient(deployment, f"local/s{n}", history, seed) for n in range(STREAM_CLIENTS)),
        *(UnaryClient(deployment, f"local/c{n}", history, seed) for n in range(UNARY_CLIENTS)),
    ]
    async with asyncio.TaskGroup() as group:
        disrupting = group.create_task(
            _disrupt(deployment, scenario, history, disruptions or DISRUPTIONS)
        )
        await _create_games(clients, scenario, history, rng)
        await asyncio.gather(*(client.play() for client in clients))
        disrupting.cancel()
    report = Report(history)
    replays = await _replays(clients[0], history)
    report.violations = violations(history, replays, may_void=scenario.may_void)
    report.violations += await _list_violations(clients[0], replays)
    report.violations += deployment.dead() + deployment.tracebacks()
    history.counts["games"] = len(history.games)
    history.counts["games voided"] = len(voided(replays))
    history.counts["versions"] = sum(len(replay.log) for replay in replays.values())
    for client in clients:
        await client.channels.close()
    return report


async def _create_games(clients, scenario, history, rng):
    """Create the games and take their seats, while disruptions happen already."""
    for number in range(scenario.games):
        seats = 2 + number % 3
        request = games.CreateGameRequest(
            request_id=f"game {scenario.seed} {number}",
            ruleset="base",
            seats=[SeatPlan()] * seats,
            untimed=number % 2 == 1,
        )
        game = (await clients[0].call("CreateGame", request)).game
        history.games[game.game_id] = game.chance.commitment
        players = rng.sample(clients, seats)
        for seat, client in enumerate(players):
            await client.join(game.game_id, seat)
        if number % 4 == 2:
            players[0].resign_after[game.game_id] = 5


async def _disrupt(deployment, scenario, history, disruptions):
    """Start the next disruption whenever `answers_between` more answers are acknowledged."""
    for number, name in enumerate(scenario.disruptions):
        history.max_answers = (number + 2) * scenario.answers_between
        while history.counts["answers"] < (number + 1) * scenario.answers_between:  # noqa: ASYNC110
            await asyncio.sleep(POLL_SECONDS)
        await disruptions[name](deployment)
        history.counts[f"{DISRUPTION_COUNT}{name}"] += 1
    history.max_answers = math.inf


async def _restart(arena):
    await arena.kill()
    await arena.start()


async def _restart_first_arena(deployment):
    await _restart(deployment.arenas[0])


async def _restart_last_arena(deployment):
    await _restart(deployment.arenas[-1])


async def _restart_all_arenas(deployment):
    for arena in deployment.arenas:
        await arena.kill()
    await asyncio.gather(*(arena.start() for arena in deployment.arenas))


async def _restart_redis(deployment):
    await deployment.kill_redis()
    await asyncio.sleep(0.3)
    await deployment.start_redis()


async def _restart_everything(deployment):
    for arena in deployment.arenas:
        await arena.kill()
    await deployment.kill_redis()
    await deployment.start_redis()
    await asyncio.gather(*(arena.start() for arena in deployment.arenas))


async def _save_redis(deployment):
    await deployment.save_redis()


DISRUPTIONS = {
    "first arena": _restart_first_arena,
    "last arena": _restart_last_arena,
    "all arenas": _restart_all_arenas,
    "redis": _restart_redis,
    "everything": _restart_everything,
    "save": _save_redis,
}


async def _replays(client, history):
    found = {}
    for game_id in history.games:
        request = games.GetReplayRequest(game_id=game_id)
        response = await client.call("GetReplay", request, expected="UNKNOWN_GAME".__eq__)
        if response is not None:
            found[game_id] = response.replay
    return found


async def _list_violations(client, replays):
    """Lists that do not have exactly the games that belong into them."""
    states, bots = defaultdict(set), defaultdict(set)
    for game_id, replay in replays.items():
        states[replay.game.state].add(game_id)
        for seat in replay.game.seats:
            bots[seat.bot].add(game_id)
    questions = [({"state": each}, states[each]) for each in GameState.values() if each]
    questions += [({"bot": each}, expected) for each, expected in bots.items()]
    questions += [({"owner": "local"}, replays.keys()), ({"owner": "nobody"}, set())]
    return [
        f"the list of {wanted} is wrong about {sorted(listed ^ expected)}"
        for wanted, expected in questions
        if (listed := await _listed(client, wanted)) != expected
    ]


async def _listed(client, wanted):
    """The games of all pages of a list."""
    found, request = set(), games.ListGamesRequest(page_size=3, **wanted)
    while True:
        page = await client.call("ListGames", request)
        found |= {game.game_id for game in page.games}
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token
