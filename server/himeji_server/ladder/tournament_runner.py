"""The tournament runner: makes the games of tournaments and moves on when they are over.

Each step follows from the store alone, and the id of a game follows from its place in the
tournament. So a runner may die between any two steps, and several runners at once do the same.
"""

import hashlib
import json
from dataclasses import replace
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
    FinishedGame,
    RoundPairings,
    forfeit,
    round_robin,
    swiss,
)
from himeji_server.store.game_records import OVER, WAITING
from himeji_server.store.ladder import LadderStore
from himeji_server.store.tournaments import (
    GameRecord,
    Progress,
    ProgressState,
    TournamentRecord,
)

READY_MS: Final = 10_000
"""How long a bot has to answer a seating; then the game is created again, within its patience."""

STRIKES: Final = 3
POLL_MS: Final = 500
GameKey = tuple[int, int]
"""The round of a game, and its number in the round."""

_log = structlog.get_logger(__name__)


class TournamentRunner:
    """Runs all tournaments of a store."""

    def __init__(self, store: LadderStore, use_cases: GameUseCases) -> None:
        self._games = store.games
        self._tournaments = store.tournaments
        self._use_cases = use_cases
        self._last_run = 0

    async def run_once(self, now: int) -> None:
        """Advance every tournament, unless that was done a moment ago."""
        if now < self._last_run + POLL_MS:
            return
        self._last_run = now
        for name in await self._tournaments.names():
            progress = await self._tournaments.progress(name)
            record = await self._tournaments.get(name)
            if progress.state is ProgressState.PLAYING and record is not None:
                await self._advance(record, progress, now)

    async def _advance(self, record: TournamentRecord, progress: Progress, now: int) -> None:
        """Update the games of the running round, start those that can, and end the round."""
        pairings = (await self.pairings(record, progress.round)).games
        games = await self._tournaments.games(record.name)
        busy: set[str] = set()  # a bot plays one game of a tournament at a time
        waiting: list[GameKey] = []
        for number, bots in enumerate(pairings):
            key = (progress.round, number)
            game = games.get(key, GameRecord())
            if game.game_id and not game.result:
                games[key] = game = await self._update_game(record, key, game, now)
            if game.game_id and not game.result:
                busy.update(bots)
            elif not game.result:
                waiting.append(key)
        for key in waiting:
            bots = pairings[key[1]]
            if busy.isdisjoint(bots):
                game = games.get(key, GameRecord())
                games[key] = game = await self._start_game(record, key, game, now)
                busy.update(bots if game.game_id else ())
        round_games = [games.get((progress.round, number)) for number in range(len(pairings))]
        if all(game is not None and game.result for game in round_games):
            await self._end_round(record, progress, now)

    async def _end_round(self, record: TournamentRecord, progress: Progress, now: int) -> None:
        if progress.round < record.rounds:
            progress = replace(progress, round=progress.round + 1)
        else:
            progress = replace(progress, state=ProgressState.OVER, ended=now)
        await self._tournaments.save_progress(record.name, progress)

    # --- rounds ---------------------------------------------------------------------------------

    async def pairings(self, record: TournamentRecord, number: int) -> RoundPairings:
        """The pairings of a round: computed when they are first needed, then stored for good."""
        text = await self._tournaments.plan(record.name, number)
        if not text:
            new = await self._new_pairings(record, number)
            text = json.dumps([new.games, new.byes])
            text = await self._tournaments.save_plan(record.name, number, text)
        games, byes = json.loads(text)
        return RoundPairings(tuple(tuple(bots) for bots in games), tuple(byes))

    async def _new_pairings(self, record: TournamentRecord, number: int) -> RoundPairings:
        bots = [bot for bot, _ in record.bots]
        if record.system == TournamentSystem.TOURNAMENT_SYSTEM_ROUND_ROBIN:
            return round_robin(bots, record.seats)
        finished, byes = await self.finished_games(record, number - 1)
        return swiss(bots, record.seats, finished, byes, f"{record.name} {number}")

    async def finished_games(
        self, record: TournamentRecord, rounds: int
    ) -> tuple[list[FinishedGame], list[str]]:
        """The games of the first rounds that are over, and the byes of these rounds."""
        games = await self._tournaments.games(record.name)
        found: list[FinishedGame] = []
        byes: list[str] = []
        for number in range(1, rounds + 1):
            pairings = await self.pairings(record, number)
            byes += pairings.byes
            for index, bots in enumerate(pairings.games):
                text = games.get((number, index), GameRecord()).result
                if text:
                    found.append(FinishedGame(bots, GameResult.FromString(bytes.fromhex(text))))
        return found, byes

    # --- games ----------------------------------------------------------------------------------

    async def _update_game(
        self, record: TournamentRecord, key: GameKey, game: GameRecord, now: int
    ) -> GameRecord:
        """The game as it is now, with its result if it is over; without an id if it failed."""
        try:
            stored = await self._games.head(game.game_id)
        except UnknownGame:
            return await self._save(record, key, replace(game, game_id=""))
        if stored.state == WAITING and now > stored.created + READY_MS:
            await self._use_cases.cancel(game.game_id, EndReason.END_REASON_UNSEATED)
            return game
        if stored.state != OVER:
            return game
        if GameResult.FromString(stored.result).seats:
            return await self._save(record, key, replace(game, result=stored.result.hex()))
        again = replace(
            game,
            game_id="",
            attempt=game.attempt + 1,
            since=game.since or now,
            silent=tuple(unanswered(stored)),
        )
        return await self._save(record, key, again)

    async def _start_game(
        self, record: TournamentRecord, key: GameKey, game: GameRecord, now: int
    ) -> GameRecord:
        """Create the game if the versions that entered are connected; forfeit it after too long."""
        bots = (await self.pairings(record, key[0])).games[key[1]]
        entered = dict(record.bots)
        connected = await self._use_cases.connected_versions(bots)
        absent = tuple(bot for bot in bots if connected.get(bot) != entered[bot])
        missing = absent or game.silent
        if game.since and missing and now > game.since + record.patience:
            result = forfeit(missing, bots).SerializeToString().hex()
            return await self._save(record, key, replace(game, result=result))
        if absent:
            return await self._save(record, key, replace(game, since=game.since or now))
        game_id = _game_id(record.name, key, game.attempt)
        await self._use_cases.seat_bots(_new_game(record, bots), game_id)
        _log.info("seated", tournament=record.name, game=game_id, bots=list(bots))
        return await self._save(record, key, replace(game, game_id=game_id))

    async def _save(self, record: TournamentRecord, key: GameKey, game: GameRecord) -> GameRecord:
        await self._tournaments.save_game(record.name, key, game)
        return game


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
