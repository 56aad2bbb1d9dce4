"""The data of the pages about ladders and bots."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from himeji import rules
from himeji.v1 import ladder_service_pb2 as pb

from himeji_server.accounts.accounts import Accounts
from himeji_server.games.use_cases import GameFilter, GameUseCases
from himeji_server.ladder.queries import LadderQueries, paginate
from himeji_server.names import HOUSE
from himeji_server.store.accounts import BotVersion
from himeji_server.web import schemas
from himeji_server.web.games import VISITOR, game_facts, moment_text, reason_text

RATED_GAMES: Final = 200
"""How many rated games of a bot its plot, its end reasons and its records cover, the last ones."""

LAST_GAMES: Final = 12
OPPONENTS: Final = 8
VERSIONS: Final = 50
MAX_LADDERS: Final = 500


class LadderViews:
    """Loads the data of the pages about ladders and bots."""

    def __init__(self, queries: LadderQueries, use_cases: GameUseCases, accounts: Accounts) -> None:
        self._queries = queries
        self._use_cases = use_cases
        self._accounts = accounts

    async def ladders(self) -> schemas.LadderList:
        found, _ = await self._queries.list_ladders(MAX_LADDERS, "")
        return {"ladders": [_ladder(each) for each in found]}

    async def standings(self, name: str, page_token: str = "") -> schemas.StandingsPage:
        """A ladder with a page of its standings in the current season."""
        ladder = await self._queries.ladder(name)
        standings = await self._queries.standings(name, ladder.season, old_versions=False)
        rows, next_page_token = paginate(standings, 0, page_token, "page standings", name)
        return {
            "ladder": _ladder(ladder),
            "games": await self._queries.games_of_season(name, ladder.season),
            "standings": [_standing(each) for each in rows],
            "next_page_token": next_page_token,
        }

    async def house_bots(self) -> list[str]:
        """The house bots that are connected, so that they can be invited."""
        bots, _ = await self._accounts.bots.list_bots(HOUSE, 0, "", show_retired=False)
        names = [str(bot.name) for bot in bots]
        connected = await self._use_cases.connected_bots(names)
        return [name for name in names if name in connected]

    async def bot(self, name: str) -> schemas.BotProfile:
        """A bot with its versions, ratings and last games."""
        found = await self._accounts.bots.get(name)
        owner = await self._accounts.owner(found.name.owner)
        versions, _ = await self._accounts.bots.versions(name, VERSIONS, "")
        history, _ = await self._queries.history(name, "", 0, RATED_GAMES, "")
        rated = [_rated_game(each) for each in history]
        played = GameFilter(bot=name)
        games, _ = await self._use_cases.list_games(VISITOR, played, LAST_GAMES, "")
        connected = await self._use_cases.connected(*games)
        return {
            "name": name,
            "owner": owner.name,
            "owner_name": owner.display_name,
            "description": found.description,
            "retired": bool(found.retired),
            "connected": await self._use_cases.is_connected(name),
            "create_time": _time(found.created),
            "versions": [_version(each) for each in versions],
            "ratings": await self._ratings(name, rated),
            "end_reasons": dict(Counter(game["end_reason"] for game in rated).most_common()),
            "rated_games": rated,
            "games": [game_facts(game, connected.__contains__) for game in games],
            "records": await self._records(name, [each.result for each in history]),
        }

    async def _ratings(
        self, bot: str, rated: list[schemas.RatedGame]
    ) -> list[schemas.LadderRating]:
        """The standing of the bot's newest rated version on each ladder that it played."""
        found: list[schemas.LadderRating] = []
        for ladder in sorted({game["ladder"] for game in rated}):
            season = await self._queries.season_number(ladder, 0)
            standings = await self._queries.standings(ladder, season, old_versions=False)
            found += [
                {"ladder": ladder, "standing": _standing(each)}
                for each in standings
                if each.bot == bot
            ]
        return found

    async def _records(
        self, bot: str, results: Sequence[pb.RatedResult]
    ) -> list[schemas.HeadToHead]:
        """The results against the most frequent opponents."""
        met = Counter(seat.bot for each in results for seat in each.seats if seat.bot != bot)
        opponents = [opponent for opponent, _ in met.most_common(OPPONENTS)]
        return [
            {
                "opponent": opponent,
                "ladder": each.ladder,
                "games": each.games,
                "wins": each.wins,
                "ties": each.ties,
                "losses": each.losses,
                "mean_margin": each.mean_margin,
            }
            for opponent, each in await self._queries.records_against(bot, opponents, results)
        ]


def _ladder(message: pb.Ladder) -> schemas.LadderSummary:
    return {
        "name": message.name,
        "ruleset": message.ruleset,
        "title": rules.ruleset(message.ruleset).title,
        "seats": message.seats,
        "options": {option.name: option.value for option in message.options},
        "bank_seconds": message.clock.bank.ToMilliseconds() / 1000,
        "increment_seconds": message.clock.increment.ToMilliseconds() / 1000,
        "season": message.season,
        "accepting": message.accepting,
        "waiting": message.waiting,
        "playing": message.playing,
        "rated_bots": message.rated_bots,
    }


def _rating(message: pb.Rating) -> schemas.RatingSummary:
    return {
        "mean": message.mean,
        "uncertainty": message.uncertainty,
        "conservative": message.conservative,
    }


def _standing(message: pb.Standing) -> schemas.Standing:
    return {
        "place": message.place,
        "bot": message.bot,
        "bot_version": message.bot_version,
        "house": message.house,
        "rating": _rating(message.rating),
        "games": message.games,
        "rank_counts": list(message.rank_counts),
        "mean_score": message.mean_score,
        "end_reasons": {reason_text(x.end_reason): x.count for x in message.end_reasons},
        "last_game_time": moment_text(message.last_game_time),
    }


def _version(version: BotVersion) -> schemas.BotVersionSummary:
    return {
        "number": version.number,
        "label": version.label,
        "create_time": _time(version.created),
    }


def _rated_game(entry: pb.HistoryEntry) -> schemas.RatedGame:
    result, seat = entry.result, entry.seat
    own, held = result.result.seats[seat], result.seats[seat]
    return {
        "game_id": result.game_id,
        "ladder": result.ladder,
        "bot_version": held.bot_version,
        "seat": seat,
        "rank": own.rank,
        "score": own.score,
        "end_reason": reason_text(own.end_reason),
        "before": _rating(held.before),
        "after": _rating(held.after),
        "opponents": [each.bot for number, each in enumerate(result.seats) if number != seat],
        "end_time": moment_text(result.end_time),
    }


def _time(milliseconds: int) -> str:
    message = pb.Standing().last_game_time
    message.FromMilliseconds(milliseconds)
    return moment_text(message)
