"""The director: makes the games of tournaments, follows them, and goes on after any restart.

Whatever it does next follows from the store alone, and the games have ids that follow from their
places, so that two directors at once do the same.
"""

import asyncio
import hashlib
import json
from dataclasses import replace
from typing import Final

import structlog
from himeji.rules.errors import UnknownGame
from himeji.v1.game_pb2 import EndReason, GameResult, SeatPlan, SeatPolicy
from himeji.v1.ladder_service_pb2 import TournamentSystem

from himeji_server.games.commands import NewGame
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.ready_check import unanswered
from himeji_server.ladder.tournament_systems import (
    Played,
    RoundPairings,
    round_robin,
    swiss,
    without,
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
"""How long a seat of a tournament's game has to answer; then it is seated again, with patience."""

STRIKES: Final = 3
MS_BETWEEN_LOOKS: Final = 500
Place = tuple[int, int]

_log = structlog.get_logger(__name__)


class TournamentRunner:
    """Runs all tournaments of a store."""

    def __init__(self, store: LadderStore, use_cases: GameUseCases) -> None:
        self._store = store
        self._tournaments = store.tournaments
        self._use_cases = use_cases
        self._looked = 0

    async def round(self, now: int) -> None:
        """Take every tournament a step further."""
        if now < self._looked + MS_BETWEEN_LOOKS:
            return
        self._looked = now
        for name in await self._tournaments.names():
            progress = await self._tournaments.progress(name)
            asked = await self._tournaments.get(name)
            if progress.state is ProgressState.PLAYING and asked is not None:
                await self._step(asked, progress, now)

    async def _step(self, asked: TournamentRecord, progress: Progress, now: int) -> None:
        plan = await self.plan(asked, progress.round)
        games = await self._tournaments.games(asked.name)
        busy: set[str] = set()
        waiting: list[Place] = []
        for number, table in enumerate(plan.tables):
            place = (progress.round, number)
            game = games.get(place, GameRecord())
            if game.game_id and not game.result:
                games[place] = game = await self._follow(asked, place, game, now)
            if game.game_id and not game.result:
                busy.update(table)
            elif not game.result:
                waiting.append(place)
        for place in waiting:
            table = plan.tables[place[1]]
            if busy.isdisjoint(table):
                game = await self._begin(asked, place, games.get(place, GameRecord()), now)
                busy.update(table if game.game_id else ())
                games[place] = game
        rounds_games = [games.get((progress.round, n)) for n in range(len(plan.tables))]
        if all(game is not None and game.result for game in rounds_games):
            await self._next_round(asked, progress, now)

    async def _next_round(self, asked: TournamentRecord, progress: Progress, now: int) -> None:
        if progress.round < asked.rounds:
            progress = replace(progress, round=progress.round + 1)
        else:
            progress = replace(progress, state=ProgressState.OVER, ended=now)
        await self._tournaments.save_progress(asked.name, progress)

    # --- plans ----------------------------------------------------------------------------------

    async def plan(self, asked: TournamentRecord, number: int) -> RoundPairings:
        """The plan of a round, which is made when it is first asked for, and then stands."""
        text = await self._tournaments.plan(asked.name, number)
        if not text:
            made = await self._planned(asked, number)
            text = json.dumps([made.tables, made.byes])
            text = await self._tournaments.save_plan(asked.name, number, text)
        tables, byes = json.loads(text)
        return RoundPairings(tuple(tuple(table) for table in tables), tuple(byes))

    async def _planned(self, asked: TournamentRecord, number: int) -> RoundPairings:
        bots = [bot for bot, _ in asked.bots]
        if asked.system == TournamentSystem.TOURNAMENT_SYSTEM_ROUND_ROBIN:
            return round_robin(bots, asked.seats)
        played, byes = await self.played(asked, number - 1)
        return swiss(bots, asked.seats, played, byes, f"{asked.name} {number}")

    async def played(self, asked: TournamentRecord, rounds: int) -> tuple[list[Played], list[str]]:
        """The games that are over in the first rounds, and who sat out in these."""
        games = await self._tournaments.games(asked.name)
        found: list[Played] = []
        byes: list[str] = []
        for number in range(1, rounds + 1):
            plan = await self.plan(asked, number)
            byes += plan.byes
            for seat, table in enumerate(plan.tables):
                text = games.get((number, seat), GameRecord()).result
                if text:
                    found.append(Played(table, GameResult.FromString(bytes.fromhex(text))))
        return found, byes

    # --- games ----------------------------------------------------------------------------------

    async def _follow(
        self, asked: TournamentRecord, place: Place, game: GameRecord, now: int
    ) -> GameRecord:
        """See how a game stands; one that failed is to be made again."""
        try:
            stored = await self._store.games.head(game.game_id)
        except UnknownGame:
            return await self._keep(asked, place, replace(game, game_id=""))
        if stored.state == WAITING and now > stored.created + READY_MS:
            await self._use_cases.commands.cancel(game.game_id, EndReason.END_REASON_UNSEATED)
            return game
        if stored.state != OVER:
            return game
        if GameResult.FromString(stored.result).seats:
            return await self._keep(asked, place, replace(game, result=stored.result.hex()))
        again = replace(
            game,
            game_id="",
            attempt=game.attempt + 1,
            since=game.since or now,
            silent=tuple(unanswered(stored)),
        )
        return await self._keep(asked, place, again)

    async def _begin(
        self, asked: TournamentRecord, place: Place, game: GameRecord, now: int
    ) -> GameRecord:
        """Make a game if all its bots are there; without patience it is lost for the others."""
        table = (await self.plan(asked, place[0])).tables[place[1]]
        holders = await asyncio.gather(*map(self._use_cases.presence.holder, table))
        absent = tuple(bot for bot, holder in zip(table, holders, strict=True) if not holder)
        gone = absent or game.silent
        if game.since and gone and now > game.since + asked.patience:
            result = without(gone, table).SerializeToString().hex()
            return await self._keep(asked, place, replace(game, result=result))
        if absent:
            return await self._keep(asked, place, replace(game, since=game.since or now))
        game_id = _game_id(asked.name, place, game.attempt)
        await self._use_cases.commands.create(_new_game(asked, table), game_id)
        for bot in table:
            await self._use_cases.presence.add_game(bot, game_id)
            await self._use_cases.presence.notify_seated(bot, game_id)
        _log.info("seated", tournament=asked.name, game=game_id, bots=list(table))
        return await self._keep(asked, place, replace(game, game_id=game_id))

    async def _keep(self, asked: TournamentRecord, place: Place, game: GameRecord) -> GameRecord:
        await self._tournaments.save_game(asked.name, place, game)
        return game


def _game_id(name: str, place: Place, attempt: int) -> str:
    text = f"tournament {name} {place[0]} {place[1]} {attempt}"
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _new_game(asked: TournamentRecord, table: tuple[str, ...]) -> NewGame:
    versions = dict(asked.bots)
    policy = SeatPolicy.SEAT_POLICY_BOT
    return NewGame(
        ruleset=asked.ruleset,
        options=asked.options,
        plans=tuple(SeatPlan(policy=policy, name=bot) for bot in table),
        clock=(asked.bank, asked.increment),
        strike_limit=STRIKES,
        tournament=asked.name,
        meant_for=tuple((bot, versions[bot]) for bot in table),
    )
