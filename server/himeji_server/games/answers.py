"""Answers of bots: what is played of them, and the receipts for those that stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from himeji.rules.errors import AlreadyDecided, IllegalAction, UnknownAction
from himeji.rules.game import DRAW, ROLL, Game as Engine
from himeji.v1.game_pb2 import StopReason

from himeji_server.games.live_game import GameView, GivenAnswer
from himeji_server.store.game_records import Entry

NO_ENTRY: Final = Entry(0, "", 0, 0, 0, 0, 0)
"""The entry of an answer that is not committed yet."""

# Looked up once: by name, each costs a microsecond.
_ALL_PLAYED: Final = StopReason.STOP_REASON_ALL_PLAYED
_GAME_OVER: Final = StopReason.STOP_REASON_GAME_OVER
_ILLEGAL: Final = StopReason.STOP_REASON_ILLEGAL_ACTION
_NOT_YOURS: Final = StopReason.STOP_REASON_NOT_YOUR_DECISION
_REVEALED: Final = StopReason.STOP_REASON_CHANCE_REVEALED


class Answer:
    """A bot's answer to a decision; subclasses pass its outcome on to the sender."""

    __slots__ = ("actions", "bot", "decision", "game_id")

    def __init__(self, game_id: str, bot: str, decision: int, actions: Sequence[int]) -> None:
        self.game_id = game_id
        self.bot = bot
        self.decision = decision
        self.actions = actions

    def accepted(self, view: GameView, receipt: Receipt) -> None:
        """The answer stands; called before the new view is published."""
        raise NotImplementedError

    def rejected(self, error: Exception) -> None:
        """The answer does not stand, or nobody knows whether it does."""
        raise NotImplementedError


@dataclass(slots=True)
class Receipt:
    """An answer that stands: what was played, why no further, and its entry in the log."""

    decision: int
    actions: tuple[int, ...]
    stop: StopReason.ValueType
    entry: Entry
    duplicate: bool = False


class PlayedPrefix(NamedTuple):
    """How much of an answer was played, and why no more."""

    played: tuple[int, ...]
    stop: StopReason.ValueType
    refusal: IllegalAction | UnknownAction | None = None


def play_prefix(engine: Engine, actions: Sequence[int]) -> PlayedPrefix:
    """Play the longest prefix that is legal, stays the seat's, and reveals no chance before it."""
    seat = engine.to_move
    played: list[int] = []
    for action in actions:
        if engine.over:
            return PlayedPrefix(tuple(played), _GAME_OVER)
        if engine.to_move != seat:
            return PlayedPrefix(tuple(played), _NOT_YOURS)
        events = len(engine.log or ())
        try:
            engine.apply(action)
        except (IllegalAction, UnknownAction) as refusal:
            return PlayedPrefix(tuple(played), _ILLEGAL, refusal)
        played.append(action)
        if len(played) < len(actions) and _reveals_chance(engine, events):
            return PlayedPrefix(tuple(played), _REVEALED)
    return PlayedPrefix(tuple(played), _ALL_PLAYED)


def _reveals_chance(engine: Engine, events: int) -> bool:
    """Whether a roll or a draw is among the events after the first so many."""
    return any(record[0] in (ROLL, DRAW) for record in (engine.log or [])[events:])


def repeated_receipt(decision: int, standing: GivenAnswer, actions: Sequence[int]) -> Receipt:
    """The receipt of an answer that was given before; raises AlreadyDecided for another answer."""
    played, stop = standing.actions, StopReason.ValueType(standing.entry.stop)
    # The log has what was played; an answer that was cut short began with it and went on.
    whole = stop == StopReason.STOP_REASON_ALL_PLAYED
    if tuple(actions[: len(played)]) != played or whole != (len(actions) == len(played)):
        raise AlreadyDecided(
            f"decision {decision} was answered before with {', '.join(map(str, played))}",
            {"decision_id": str(decision), "played": ",".join(map(str, played))},
        )
    return standing_receipt(decision, standing)


def standing_receipt(decision: int, standing: GivenAnswer) -> Receipt:
    """The receipt of an answer that stands, once more."""
    stop = StopReason.ValueType(standing.entry.stop)
    return Receipt(decision, standing.actions, stop, standing.entry, duplicate=True)
