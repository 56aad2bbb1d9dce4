"""How a game ended, as a message: scores, ranks, breakdown, and why each seat's part ended."""

from collections.abc import Mapping
from typing import Final

from himeji.rules.game import Game as Engine
from himeji.v1.game_pb2 import EndReason, GameResult

FINISHED: Final = EndReason.END_REASON_FINISHED
WITHOUT_RANKS: Final = (
    EndReason.END_REASON_CANCELLED,
    EndReason.END_REASON_UNSEATED,
    EndReason.END_REASON_NO_CONTEST,
    EndReason.END_REASON_ADJUDICATED,
)


def result(
    engine: Engine | None,
    reason: EndReason.ValueType,
    lost: Mapping[int, tuple[EndReason.ValueType, int]],
) -> GameResult:
    """The result of a game; lost seats come with their reason and when they were lost.

    A lost seat ranks behind all others; of two, the one that was lost earlier ranks last.
    """
    out = GameResult(end_reason=reason)
    if engine is None or reason in WITHOUT_RANKS:
        return out
    scores, ranking, lines = engine.scores(), engine.ranking(), engine.breakdown()
    places = [
        (True, -lost[clan][1]) if clan in lost else (False, ranking[clan])
        for clan in range(len(scores))
    ]
    for clan, score in enumerate(scores):
        rank = 1 + sum(place < places[clan] for place in places)
        seat = out.seats.add(seat=clan, score=score, rank=rank)
        seat.end_reason = lost[clan][0] if clan in lost else reason
        for name, points in lines[clan].items():
            seat.breakdown.add(rule=engine.ruleset.scoring_rule(name), category=name, points=points)
    return out
