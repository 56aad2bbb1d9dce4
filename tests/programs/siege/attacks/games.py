"""Attacks by games and lists of games, with a token for playing."""

import asyncio
import itertools

from himeji.v1 import game_service_pb2 as games
from himeji.v1.game_pb2 import SeatPlan, SeatPolicy

from tests.programs.siege.arena import HONEST_OWNER, hostile_bot
from tests.programs.siege.attacks.attack import (
    NO_PACING,
    SOURCE,
    UNLIMITED,
    Attack,
    limit_values,
)
from tests.programs.siege.page_requests import get
from tests.programs.siege.stored_games import TOURNAMENT

SERVICE = "/himeji.v1.GameService"


class InvitationFlood(Attack):
    """Invites a bot to games without end, timed and untimed, to fill its owner's quota."""

    name = "invitation flood"
    limits = limit_values(games_per_owner=32)
    control = limit_values(inviting_games_per_pair=UNLIMITED)
    symptom = "RESOURCE_EXHAUSTED LIMIT_EXCEEDED: your bots are in"
    AT_ONCE = 16

    async def run(self, target):
        victim = SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name=f"{HONEST_OWNER}/streamer")
        own = SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name=hostile_bot())
        kinds = itertools.cycle((True, False))
        async with self.channels(target) as (channel,):
            method = channel.unary_unary(
                f"{SERVICE}/CreateGame", response_deserializer=games.CreateGameResponse.FromString
            )

            async def invite():
                create = games.CreateGameRequest(
                    ruleset="base", seats=[victim, own], untimed=next(kinds)
                )
                made = await self.ask(method, create.SerializeToString(), target.token)
                if made is not None:
                    join = games.JoinGameRequest(game_id=made.game.game_id, bot=hostile_bot())
                    body = join.SerializeToString()
                    await self.call(channel, f"{SERVICE}/JoinGame", body, target.token)

            await self.repeat(target, self.AT_ONCE, invite)


class ListStorm(Attack):
    """Asks for lists of games that do not exist, 64 times at once, by call and by page."""

    name = "list storm"
    control = limit_values(games_read_per_page=UNLIMITED, **NO_PACING)
    symptom = "thousands of games were read in one page"
    finished_games = 10_000
    CALLS_AT_ONCE = 48
    PAGES_AT_ONCE = 16
    WHOLE = "a list that one page went through"

    async def run(self, target):
        path = f"{SERVICE}/ListGames"
        nobody = games.ListGamesRequest(bot="nobody/nobody").SerializeToString()
        nothing = games.ListGamesRequest(ruleset="base", tournament=TOURNAMENT).SerializeToString()
        async with self.channels(target) as (channel,):

            async def ask():
                for body in (nobody, nothing):
                    await self.call(channel, path, body, target.token)

            async def look():
                self.told[
                    await get(target.page, "/games?state=playing&ruleset=matcha", SOURCE)
                ] += 1

            # Alone, because without a limit hardly any of those at once are answered in time.
            answer = await self.call(channel, path, nothing, target.token)
            if answer is not None and not _page_token(answer):
                self.told[self.WHOLE] += 1
            await asyncio.gather(
                self.repeat(target, self.CALLS_AT_ONCE, ask),
                self.repeat(target, self.PAGES_AT_ONCE, look),
            )

    def harm(self, told):
        """Whoever asks is answered at once, if only that it was too often, or with a short page."""
        if told[self.WHOLE]:
            return "thousands of games were read in one page"
        at_once, answered = self.CALLS_AT_ONCE + self.PAGES_AT_ONCE, sum(told.values()) - 1
        return f"{answered} answers to {at_once} questions at once" if answered < at_once else ""


def _page_token(answer):
    return games.ListGamesResponse.FromString(answer).next_page_token


ATTACKS = (InvitationFlood, ListStorm)
