"""The tournament runner: makes the games of tournaments and moves on when they are over.

Each step follows from the store alone, and the id of a game follows from its place in the
tournament. So a runner may die between any two steps, and several runners at once do the same: what
a runner remembers of a tournament is of one version of it, and so is each of its changes.
"""

import asyncio
import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Final

import structlog
from himeji.rules.errors import UnknownGame
from himeji.v1.game_pb2 import EndReason, GameResult, SeatPlan, SeatPolicy
from himeji.v1.ladder_service_pb2 import TournamentSystem
from himeji.wire.clock import Clock

from himeji_server.games.commands import NewGame
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.ready_check import unanswered
from himeji_server.ladder.tournament_pairing import (
    Counted,
    FinishedGame,
    count_byes,
    count_game,
    forfeit,
    round_robin,
    swiss,
    tallies_of,
)
from himeji_server.store.game_records import OVER, WAITING
from himeji_server.store.ladder import LadderStore
from himeji_server.store.tournaments import (
    PLAYED,
    GameRecord,
    Progress,
    ProgressState,
    TournamentRecord,
)
from himeji_server.tasks import in_slices

READY_MS: Final = 10_000
"""How long a bot has to answer a seating; then the game is created again, within its patience."""

STRIKES: Final = 3
POLL_MS: Final = 500
CHANGES_AT_ONCE: Final = 500
"""How many waiting games a step changes: the ladders wait for it."""

GameKey = tuple[int, int]
"""The round of a game, and its number in the round."""

_log = structlog.get_logger(__name__)


class _ChangedMeanwhileError(Exception):
    """Another process has changed the tournament since this one read it."""


@dataclass
class _RunningRound:
    """The round of a tournament that is being played, as of a version of the tournament.

    Kept from one step to the next, and by this process alone: a step that finds another version in
    the store reads the round anew. Games that are over are in neither `playing` nor `waiting`.
    """

    record: TournamentRecord
    progress: Progress
    version: int
    pairings: tuple[tuple[str, ...], ...] = ()
    playing: dict[int, GameRecord] = field(default_factory=dict)
    waiting: dict[int, GameRecord] = field(default_factory=dict)

    def put(self, number: int, game: GameRecord) -> None:
        """Take over what a game is now."""
        self.playing.pop(number, None)
        self.waiting.pop(number, None)
        if not game.result:
            (self.playing if game.game_id else self.waiting)[number] = game


class TournamentRunner:
    """Runs all tournaments of a store."""

    def __init__(self, store: LadderStore, use_cases: GameUseCases) -> None:
        self._games = store.games
        self._tournaments = store.tournaments
        self._use_cases = use_cases
        self._last_run = 0
        self._rounds: dict[str, _RunningRound] = {}

    async def run_once(self, now: int) -> None:
        """Advance every tournament, unless that was done a moment ago."""
        if now < self._last_run + POLL_MS:
            return
        self._last_run = now
        names = await self._tournaments.playing()
        self._rounds = {name: self._rounds[name] for name in names if name in self._rounds}
        for name in names:
            try:
                current = await self._running_round(name)
                if current is not None:
                    await self._advance(current, now)
            except _ChangedMeanwhileError:
                self._rounds.pop(name, None)

    async def _running_round(self, name: str) -> _RunningRound | None:
        """The round of a tournament that is being played; None if the tournament has ended."""
        head = await self._tournaments.head(name)
        current = self._rounds.get(name)
        if current is not None and current.version == head.version:
            return current
        record = await self._tournaments.get(name)
        if record is None:
            return None
        if head.progress.state is not ProgressState.PLAYING:
            await self._tournaments.remove_ended(record, head.progress.state)
            return None
        current = _RunningRound(record, *head)
        current.pairings = await self._pairings(current)
        count = len(current.pairings)
        async for number, game in self._tournaments.games(name, head.progress.round, count):
            current.put(number, game)
        self._rounds[name] = current
        return current

    async def _advance(self, current: _RunningRound, now: int) -> None:
        """Update the games of the running round, start those that can, and end the round."""
        busy: set[str] = set()  # a bot plays one game of a tournament at a time
        for number in sorted(current.playing):
            await self._update_game(current, number, now)
            if number in current.playing:
                busy.update(current.pairings[number])
        idle = {bot for bot, _ in current.record.bots} - busy
        if current.waiting and len(idle) >= current.record.seats:
            await self._start_games(current, idle, now)
        if not current.playing and not current.waiting:
            await self._end_round(current, now)

    async def _end_round(self, current: _RunningRound, now: int) -> None:
        progress = current.progress
        if progress.round < current.record.rounds:
            progress = replace(progress, round=progress.round + 1)
        else:
            progress = replace(progress, state=ProgressState.OVER, ended=now)
        await self._tournaments.save_progress(current.record, current.version, progress)

    # --- rounds ---------------------------------------------------------------------------------

    async def _pairings(self, current: _RunningRound) -> tuple[tuple[str, ...], ...]:
        """The games of a round. Those of a Swiss one are stored for good when they are computed."""
        record, number = current.record, current.progress.round
        bots = [bot for bot, _ in record.bots]
        if record.system == TournamentSystem.TOURNAMENT_SYSTEM_ROUND_ROBIN:
            return round_robin(bots, record.seats).games
        *earlier, plan = await self._tournaments.plans(record.name, range(1, number + 1))
        if plan:
            return _games_of(plan)
        tallies = tallies_of(bots, await self._tournaments.counters(record.name))
        earlier_games = [game async for each in in_slices(earlier) for game in _games_of(each)]
        seed = f"{record.name} {number}"
        # The search for pairings that have not met may take long.
        new = await asyncio.to_thread(swiss, bots, record.seats, tallies, earlier_games, seed)
        plan, byes = json.dumps([new.games, new.byes]), count_byes(new.byes, record.seats)
        version = current.version
        if not await self._tournaments.save_plan(record.name, version, number, plan, byes):
            raise _ChangedMeanwhileError
        current.version += 1
        return new.games

    # --- games ----------------------------------------------------------------------------------

    async def _update_game(self, current: _RunningRound, number: int, now: int) -> None:
        """Save the result of a game that is over, or that it failed."""
        game = current.playing[number]
        try:
            stored = await self._games.head(game.game_id)
        except UnknownGame:
            await self._save(current, number, replace(game, game_id=""))
            return
        if stored.state == WAITING and now > stored.created + READY_MS:
            await self._use_cases.cancel(game.game_id, EndReason.END_REASON_UNSEATED)
        if stored.state != OVER:
            return
        if GameResult.FromString(stored.result).seats:
            await self._save(current, number, replace(game, result=stored.result.hex()))
            return
        again = replace(
            game,
            game_id="",
            attempt=game.attempt + 1,
            since=game.since or now,
            silent=tuple(unanswered(stored)),
        )
        await self._save(current, number, again)

    async def _start_games(self, current: _RunningRound, idle: set[str], now: int) -> None:
        """Create the games whose bots are idle and connected; note or forfeit those of others."""
        entered = dict(current.record.bots)
        connected = await self._use_cases.connected_versions(idle)
        present = {bot for bot in idle if connected.get(bot) == entered[bot]}

        def can_change(number: int) -> bool:
            bots, since = current.pairings[number], current.waiting[number].since
            is_due = not since or now > since + current.record.patience
            return idle.issuperset(bots) and (is_due or present.issuperset(bots))

        waiting = in_slices(sorted(current.waiting))
        numbers = [number async for number in waiting if can_change(number)]
        for number in numbers[:CHANGES_AT_ONCE]:
            if idle.issuperset(current.pairings[number]):
                await self._start_game(current, number, present, now)
                if number in current.playing:
                    idle.difference_update(current.pairings[number])

    async def _start_game(
        self, current: _RunningRound, number: int, present: set[str], now: int
    ) -> None:
        """Create the game if the versions that entered are connected; forfeit it after too long."""
        record, game, bots = current.record, current.waiting[number], current.pairings[number]
        absent = tuple(bot for bot in bots if bot not in present)
        missing = absent or game.silent
        if game.since and missing and now > game.since + record.patience:
            result = forfeit(missing, bots).SerializeToString().hex()
            await self._save(current, number, replace(game, result=result))
        elif absent:
            if not game.since:
                await self._save(current, number, replace(game, since=now))
        else:
            game_id = _game_id(record.name, (current.progress.round, number), game.attempt)
            await self._use_cases.seat_bots(_new_game(record, bots), game_id)
            _log.info("seated", tournament=record.name, game=game_id, bots=list(bots))
            await self._save(current, number, replace(game, game_id=game_id))

    async def _save(self, current: _RunningRound, number: int, game: GameRecord) -> None:
        """Save a game; with its result, it counts for the standings."""
        counted = count_result(current.pairings[number], game.result) if game.result else {}
        place = (current.progress.round, number)
        if not await self._tournaments.save_game(
            current.record.name, current.version, place, game, counted
        ):
            raise _ChangedMeanwhileError
        current.version += 1
        current.put(number, game)


def count_result(bots: tuple[str, ...], result: str) -> Counted:
    """What a game adds to the counters of a tournament; the result as a GameRecord has it."""
    counted = count_game(FinishedGame(bots, GameResult.FromString(bytes.fromhex(result))))
    counted[PLAYED] = 1
    return counted


def _games_of(plan: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(bots) for bots in json.loads(plan)[0])


def _game_id(name: str, key: GameKey, attempt: int) -> str:
    text = f"tournament {name} {key[0]} {key[1]} {attempt}"
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _new_game(record: TournamentRecord, bots: tuple[str, ...]) -> NewGame:
    versions = dict(record.bots)
    policy = SeatPolicy.SEAT_POLICY_BOT
    return NewGame(
        ruleset=record.ruleset,
        options=record.options,
        plans=tuple(SeatPlan(policy=policy, name=bot) for bot in bots),
        clock=Clock(record.bank, record.increment),
        strike_limit=STRIKES,
        tournament=record.name,
        meant_for=tuple((bot, versions[bot]) for bot in bots),
    )
