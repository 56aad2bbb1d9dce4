"""Scoring: one line for each thing that gives points at the end (B-7.4)."""

from __future__ import annotations

from himeji.rules.castle.constants import AT_GATE, COURTIER_PLACES, FLOOR_OF_PLACE, GARDENS, YARDS
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import INFLUENCE
from himeji.rules.scoring import ScoreLine, coins_and_seals, in_play, resources


def passage_of_time(game: CastleGame, seat: int) -> int:
    """What is printed where the influence marker stands."""
    return game.tables.track_points[game.has(seat, INFLUENCE)]


def courtiers(game: CastleGame, seat: int) -> int:
    """Each courtier on the board, by its floor."""
    at, points = seat * COURTIER_PLACES, 0
    for place in range(AT_GATE, COURTIER_PLACES):
        points += game.courtiers[at + place] * game.tables.courtier_points[FLOOR_OF_PLACE[place]]
    return points


def warriors(game: CastleGame, seat: int) -> int:
    """The yards' values of all warriors, times the courtiers inside the castle."""
    at = seat * COURTIER_PLACES
    inside = sum(game.courtiers[at + AT_GATE + 1 : at + COURTIER_PLACES])
    values = 0
    for yard in range(YARDS):
        values += game.warriors[seat * YARDS + yard] * game.tables.yard_value[yard]
    return values * inside


def gardens(game: CastleGame, seat: int) -> int:
    """The points of the gardens that hold a gardener."""
    mask, points = game.gardeners[seat], 0
    for garden in range(GARDENS):
        if mask >> garden & 1:
            points += game.tables.of(game.gardens[garden]).points
    return points


BASE_SCORING = (
    ScoreLine("play", "B-7.4", in_play),
    ScoreLine("coins and seals", "B-7.4", coins_and_seals),
    ScoreLine("resources", "B-7.4", resources),
    ScoreLine("passage of time", "B-7.4", passage_of_time),
    ScoreLine("courtiers", "B-7.4", courtiers),
    ScoreLine("warriors", "B-7.4", warriors),
    ScoreLine("gardens", "B-7.4", gardens),
)
