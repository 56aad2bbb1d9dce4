"""Games by unary calls: for tools, people and bots that want to hold the loop themselves."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import NamedTuple, Self

from himeji.v1.account_service_pb2 import WhoAmIRequest
from himeji.v1.game_pb2 import Game as GameMessage, GameState, SeatPlan, SeatPolicy
from himeji.v1.game_service_pb2 import (
    CreateGameRequest,
    GetGameRequest,
    JoinGameRequest,
    ListGamesRequest,
)

from himeji_sdk._client.online_game import OnlineGame, fetch_replay
from himeji_sdk._client.rpc import RpcClient, new_entropy
from himeji_sdk._replay.replay import Replay
from himeji_sdk.connection import find_target


class Account(NamedTuple):
    """Whom a token belongs to."""

    owner: str
    bot: str
    """The only bot that the token plays; empty if it plays all of the owner's."""


class Client:
    """An arena, as the owner of a token uses it.

    A call that finds the arena away is tried again for `patience` seconds; no call does anything
    twice. What the arena refuses is raised as the same class that local play raises.
    """

    def __init__(
        self, target: str | None = None, token: str | None = None, *, patience: float = 10.0
    ) -> None:
        """Without a target and a token, those of the environment, or of an arena started here."""
        self.target = find_target(target)
        self._rpc = RpcClient(self.target, token, patience)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._rpc.channel.close()

    def who_am_i(self) -> Account:
        """Whom the token belongs to."""
        answer = self._rpc.call(self._rpc.accounts.WhoAmI, WhoAmIRequest())
        return Account(answer.owner.name, answer.token.bot)

    def create_game(
        self,
        ruleset: str = "base",
        *,
        seats: int | Sequence[str] = 2,
        options: Mapping[str, str] | None = None,
        clock: tuple[float, float] | None = None,
        untimed: bool = False,
    ) -> OnlineGame:
        """Create a game.

        Say for whom each seat is: "" for anybody, "ada" for a bot of hers, "house/random" for one
        bot, which is invited; a number means so many seats for anybody. `clock` is what each seat
        has for the game and gets per decision, in seconds; without one it is the arena's choice.
        """
        names = [""] * seats if isinstance(seats, int) else seats
        request = CreateGameRequest(
            request_id=str(uuid.uuid4()),
            ruleset=ruleset,
            seats=[_seat_plan(name) for name in names],
            untimed=untimed,
        )
        for name, value in (options or {}).items():
            request.options.add(name=name, value=value)
        if clock is not None:
            request.clock.bank.FromMilliseconds(round(clock[0] * 1000))
            request.clock.increment.FromMilliseconds(round(clock[1] * 1000))
        return OnlineGame(self._rpc, self._rpc.call(self._rpc.games.CreateGame, request).game)

    def join(
        self,
        game: OnlineGame | str,
        *,
        seat: int | None = None,
        bot: str = "",
        version: int = 0,
    ) -> OnlineGame:
        """Take a seat for a bot ("owner/name"; not needed with a token that is bound to one).

        `version` is that of the bot, 0 the newest.
        """
        request = JoinGameRequest(
            request_id=str(uuid.uuid4()),
            game_id=game if isinstance(game, str) else game.game_id,
            seat=seat,
            bot=bot,
            bot_version=version,
            entropy=new_entropy(bot),
        )
        answer = self._rpc.call(self._rpc.games.JoinGame, request)
        return OnlineGame(self._rpc, answer.game, answer.seat)

    def game(self, game_id: str, seat: int | None = None) -> OnlineGame:
        """A game that exists; with the seat that is meant, where the caller has several."""
        answer = self._rpc.call(self._rpc.games.GetGame, GetGameRequest(game_id=game_id))
        return OnlineGame(self._rpc, answer.game, seat)

    def games(self, *, bot: str = "", owner: str = "", most: int = 20) -> list[OnlineGame]:
        """Games that are being played now, the newest first.

        If a bot or an owner is named, only those in which it, or a bot of that owner, has a seat.
        """
        playing = GameState.GAME_STATE_PLAYING
        request = ListGamesRequest(page_size=most, state=playing, bot=bot, owner=owner)
        found: list[GameMessage] = []
        while True:
            page = self._rpc.call(self._rpc.games.ListGames, request)
            found += page.games
            if not page.next_page_token or len(found) >= most:
                return [OnlineGame(self._rpc, game) for game in found[:most]]
            request.page_token = page.next_page_token

    def replay(self, game_id: str) -> Replay:
        """All it takes to replay a game; after its end, to verify it."""
        return fetch_replay(self._rpc, game_id)


def is_full_bot_name(name: str) -> bool:
    """Whether a name is "owner/bot", and not that of an owner or of a bot alone."""
    return "/" in name


def _seat_plan(name: str) -> SeatPlan:
    bot = is_full_bot_name(name)
    policy = SeatPolicy.SEAT_POLICY_BOT if bot else SeatPolicy.SEAT_POLICY_OWNER
    return SeatPlan(policy=policy, name=name) if name else SeatPlan()
