"""Receipts: what is told of an answer that stands, the first time and every time after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from himeji.rules.errors import AlreadyDecided
from himeji.v1.game_pb2 import StopReason

from himeji_server.games.live_game import GivenAnswer
from himeji_server.store.game_records import Entry

NO_ENTRY: Final = Entry(0, "", 0, 0, 0, 0, 0)
"""The entry of an answer that is not committed yet."""


@dataclass(slots=True)
class Receipt:
    """An answer that stands: what was played, why no further, and its entry in the log."""

    decision: int
    actions: tuple[int, ...]
    stop: StopReason.ValueType
    entry: Entry
    duplicate: bool = False


def receipt_again(decision: int, standing: GivenAnswer, actions: Sequence[int]) -> Receipt:
    """The receipt of an answer that stands; raises AlreadyDecided for another answer."""
    played, stop = standing.actions, StopReason.ValueType(standing.entry.stop)
    # The log has what was played; a plan that was cut short began with it and went on.
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
