"""The handle of a game in an arena: its decisions, answers, end and replay by unary calls."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from himeji.rules import Game
from himeji.rules.errors import IllegalAction, Refused
from himeji.v1.game_pb2 import Decision as DecisionMessage, Game as GameMessage, GameOver, GameState
from himeji.v1.game_service_pb2 import (
    CancelGameRequest,
    GetDecisionRequest,
    GetReplayRequest,
    ResignRequest,
    SubmitActionsRequest,
)

from himeji_sdk._bot import End
from himeji_sdk._client.remote_mirror import RemoteMirror, end_of
from himeji_sdk._client.rpc import RPC_TIMEOUT_SECONDS, RpcClient
from himeji_sdk._client.spectator import Sight, watch_game
from himeji_sdk._replay.replay import Replay

_LONG_POLL_SECONDS: Final = 20.0  # for a decision, in one call


@dataclass(frozen=True)
class Decision:
    """A question to a seat."""

    number: int
    seat: int
    legal: list[int]
    game: Game
    """The position, as the caller's own copy."""

    time_left: float | None
    """Seconds on the seat's clock; None in a game without clocks."""


@dataclass(frozen=True)
class Receipt:
    """An answer that was played and is durable."""

    played: tuple[int, ...]
    charged: float | None
    """Seconds that it took off the clock; None in a game without clocks."""

    time_left: float | None


class OnlineGame:
    """A game in an arena, and the caller's seat in it."""

    def __init__(self, rpc: RpcClient, game: GameMessage, seat: int | None = None) -> None:
        self.game_id = game.game_id
        self.seat = seat
        self.ruleset = game.ruleset
        self.bots = tuple(each.bot or each.plan.name for each in game.seats)
        """Who sat where when the handle was made; empty names are open seats."""
        self.end: End | None = None
        """How the game ended, once `decision`, `submit`, `resign` or `cancel` found out."""
        self._rpc = rpc
        self._game = game
        self._mirror = RemoteMirror(game)
        self._open: DecisionMessage | None = None

    def decision(self, wait: float = 0.0) -> Decision | None:
        """The question to the seat, waited for so many seconds; None if there is none, or the end.

        If it is None, `end` tells whether the game is over.
        """
        until = time.monotonic() + wait
        while self._open is None and self.end is None:
            left = max(0.0, until - time.monotonic())
            request = GetDecisionRequest(game_id=self.game_id, seat=self.seat)
            request.event_count = self._mirror.event_count
            request.wait.FromMilliseconds(round(min(left, _LONG_POLL_SECONDS) * 1000))
            timeout = RPC_TIMEOUT_SECONDS + _LONG_POLL_SECONDS
            answer = self._rpc.call(self._rpc.games.GetDecision, request, timeout)
            self._take_response(answer)
            if not left:
                break
        return None if self._open is None else self._decision_of(self._open)

    def submit(self, *actions: int) -> Receipt:
        """Answer the open decision, with one action or a plan of several; what was played.

        Raises IllegalAction (and nothing was played), StaleDecision and other refusals.
        """
        asked = self._open
        if asked is None:
            raise Refused("no decision is open: ask for one with decision(wait=…)")
        request = SubmitActionsRequest(
            game_id=self.game_id,
            decision_id=asked.decision_id,
            actions=actions,
            event_count=self._mirror.event_count,
        )
        try:
            answer = self._rpc.call(self._rpc.games.SubmitActions, request)
        except IllegalAction:
            raise  # the decision is still open
        except Refused:
            self._open = None
            raise
        self._open = None
        self._take_response(answer)
        accepted = answer.accepted
        timed = accepted.HasField("receipt")
        return Receipt(
            tuple(accepted.played),
            accepted.receipt.charged.ToMilliseconds() / 1000 if timed else None,
            accepted.receipt.left.ToMilliseconds() / 1000 if timed else None,
        )

    def resign(self) -> None:
        """Give the seat up; before the game begins, it is open again for others."""
        request = ResignRequest(game_id=self.game_id, seat=self.seat)
        self._take_game(self._rpc.call(self._rpc.games.Resign, request).game)

    def cancel(self) -> None:
        """Call the game off for all; the caller has created it, and it has not begun."""
        request = CancelGameRequest(request_id=str(uuid.uuid4()), game_id=self.game_id)
        self._take_game(self._rpc.call(self._rpc.games.CancelGame, request).game)

    def _take_game(self, game: GameMessage) -> None:
        self._open = None
        if game.state == GameState.GAME_STATE_OVER:
            self.end = end_of(self.game_id, self.seat or 0, game.result)

    def watch(self) -> Iterator[Sight]:
        """See everything that happens, from the beginning to the end, as a spectator.

        An arena that goes away meanwhile is waited for like in every call.
        """
        return watch_game(self._rpc, self._game, self.seat or 0)

    def replay(self) -> Replay:
        """All it takes to replay the game; after its end, to verify it."""
        return fetch_replay(self._rpc, self.game_id)

    def _take_response(self, answer: Any) -> None:
        """Note the open decision, or the end, that a response carries."""
        if answer.HasField("decision"):
            decision: DecisionMessage = answer.decision
            self._mirror.feed(decision.first_event, decision.events)
            # An owner with several seats gets the decisions of all of them; this handle is for one.
            if self.seat in (None, decision.seat):
                self._open = decision
        elif answer.HasField("game_over"):
            over: GameOver = answer.game_over
            self._mirror.feed(over.first_event, over.events)
            self.end = end_of(self.game_id, self.seat or 0, over.result)

    def _decision_of(self, message: DecisionMessage) -> Decision:
        left = message.clocks.left
        return Decision(
            message.decision_id,
            message.seat,
            list(message.legal_actions),
            self._mirror.game,
            left[message.seat].ToMilliseconds() / 1000 if left else None,
        )


def fetch_replay(rpc: RpcClient, game_id: str) -> Replay:
    """The replay of a game that is known by its id."""
    return Replay(rpc.call(rpc.games.GetReplay, GetReplayRequest(game_id=game_id)).replay)
