"""A battle: games are played while processes die, and then every promise is checked."""

import asyncio
import math
import random
from dataclasses import dataclass, field

from himeji.v1 import game_service_pb2 as games
from himeji.v1.game_pb2 import SeatPlan

from tests.programs.chaos.clients import Caller, Streamer
from tests.programs.chaos.history import Ledger, violations, voided

STREAMERS = 5
CALLERS = 2


@dataclass(frozen=True)
class Plan:
    """How much of everything; all of it is bounded by counts."""

    games: int = 6
    blows: tuple[str, ...] = ()
    answers_between: int = 40  # acknowledged answers between two blows
    seed: int = 1
    may_void: bool = False  # whether a game may be called off because its log was lost in part


@dataclass
class Report:
    """What happened and what was wrong."""

    ledger: Ledger
    violations: list[str] = field(default_factory=list)

    @property
    def counts(self):
        return self.ledger.counts


async def fight(arena_field, plan, blows=None):
    """Play all games of a plan while its blows fall; the report."""
    ledger, chooser = Ledger(), random.Random(plan.seed)
    fighters = [
        *(Streamer(arena_field, f"local/s{n}", ledger, plan.seed) for n in range(STREAMERS)),
        *(Caller(arena_field, f"local/c{n}", ledger, plan.seed) for n in range(CALLERS)),
    ]
    try:
        async with asyncio.TaskGroup() as group:
            storm = group.create_task(_storm(arena_field, plan, ledger, blows or BLOWS))
            await _sit_down(fighters, plan, ledger, chooser)
            await asyncio.gather(*(fighter.fight() for fighter in fighters))
            storm.cancel()
    finally:
        report = Report(ledger)
    replays = await _replays(fighters[0], ledger)
    report.violations = violations(ledger, replays, may_void=plan.may_void)
    report.violations += arena_field.dead() + arena_field.tracebacks()
    ledger.counts["games"] = len(ledger.games)
    ledger.counts["games voided"] = len(voided(replays))
    ledger.counts["versions"] = sum(len(replay.log) for replay in replays.values())
    for fighter in fighters:
        await fighter.doors.close()
    return report


async def _sit_down(fighters, plan, ledger, chooser):
    """Create the games and take their seats, through whatever falls meanwhile."""
    for number in range(plan.games):
        seats = 2 + number % 3
        request = games.CreateGameRequest(
            request_id=f"game {plan.seed} {number}",
            ruleset="base",
            seats=[SeatPlan()] * seats,
            untimed=number % 2 == 1,
        )
        game = (await fighters[0].call("CreateGame", request)).game
        ledger.games[game.game_id] = game.chance.commitment
        players = chooser.sample(fighters, seats)
        for seat, fighter in enumerate(players):
            await fighter.sit(game.game_id, seat)
        if number % 4 == 2:  # somebody gives up in the middle
            players[0].giving_up[game.game_id] = 5


async def _storm(arena_field, plan, ledger, blows):
    """Let each blow fall when so many more answers were acknowledged."""
    for number, blow in enumerate(plan.blows):
        ledger.most = (number + 2) * plan.answers_between
        while ledger.counts["answers"] < (number + 1) * plan.answers_between:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        await blows[blow](arena_field)
        ledger.counts[f"blows: {blow}"] += 1
    ledger.most = math.inf


async def _restart(arena):
    await arena.kill()
    await arena.start()


async def first_arena(arena_field):
    await _restart(arena_field.arenas[0])


async def last_arena(arena_field):
    await _restart(arena_field.arenas[-1])


async def all_arenas(arena_field):
    for arena in arena_field.arenas:
        await arena.kill()
    await asyncio.gather(*(arena.start() for arena in arena_field.arenas))


async def the_redis(arena_field):
    await arena_field.kill_redis()
    await asyncio.sleep(0.3)
    await arena_field.start_redis()


async def everything(arena_field):
    for arena in arena_field.arenas:
        await arena.kill()
    await arena_field.kill_redis()
    await arena_field.start_redis()
    await asyncio.gather(*(arena.start() for arena in arena_field.arenas))


async def save(arena_field):
    await arena_field.save()


BLOWS = {
    "first arena": first_arena,
    "last arena": last_arena,
    "all arenas": all_arenas,
    "redis": the_redis,
    "everything": everything,
    "save": save,
}


async def _replays(fighter, ledger):
    found = {}
    for game_id in ledger.games:
        request = games.GetReplayRequest(game_id=game_id)
        answer = await fighter.call("GetReplay", request, expected="UNKNOWN_GAME".__eq__)
        if answer is not None:
            found[game_id] = answer.replay
    return found
