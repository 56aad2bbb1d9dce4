"""Answers of bots, and the receipts for those that stand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from himeji.rules.errors import AlreadyDecided
from himeji.v1.game_pb2 import StopReason

from himeji_server.games.live_game import GameView, GivenAnswer
from himeji_server.store.game_records import Entry

NO_ENTRY: Final = Entry(0, "", 0, 0, 0, 0, 0)
"""The entry of an answer that is not committed yet."""


class Answer(ABC):
    """A bot's answer to a decision; subclasses pass its outcome on to the sender."""

    __slots__ = ("actions", "bot", "decision", "game_id")

    def __init__(self, game_id: str, bot: str, decision: int, actions: Sequence[int]) -> None:
        self.game_id = game_id
        self.bot = bot
        self.decision = decision
        self.actions = actions

    @abstractmethod
    def accepted(self, view: GameView, receipt: Receipt) -> None:
        """The answer stands; called before the new view is published."""

    @abstractmethod
    def rejected(self, error: Exception) -> None:
        """The answer does not stand, or nobody knows whether it does."""


@dataclass(slots=True)
class Receipt:
    """An answer that stands: what was played, why no further, and its entry in the log."""

    decision: int
    actions: tuple[int, ...]
    stop: StopReason.ValueType
    entry: Entry
    duplicate: bool = False


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
