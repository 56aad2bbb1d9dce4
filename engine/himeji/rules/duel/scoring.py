"""Scoring: one line for each thing that gives points at the end (D-9.1)."""

from __future__ import annotations

from himeji.rules.duel.constants import (
    BASIC,
    BLUE_CRANE,
    COLUMNS,
    ELITE,
    FLAG,
    KABUTO,
    KATANA,
    WHITE_CRANE,
    YARDS,
)
from himeji.rules.duel.state import DuelGame
from himeji.rules.scoring import ScoreLine, coins_and_seals, in_play, resources


def icons(game: DuelGame, seat: int, icon: int) -> int:
    """An icon on improved cards, under own clan seals in gardens, and on merchandise."""
    found = 0
    cards = game.improved[seat]
    while cards:
        low = cards & -cards
        found += game.tables.of(low.bit_length()).icons[icon]
        cards ^= low
    at = seat * COLUMNS
    for column in range(COLUMNS):
        found += game.garden_seals[at + column] * game.tables.column_icons[column][icon]
    for tile in game.bought[seat]:
        found += game.tables.of(tile).icons[icon]
    return found


def flags(game: DuelGame, seat: int) -> int:
    """Flags, each by the level of the courtier."""
    return icons(game, seat, FLAG) * game.tables.level_points[game.level(seat)]


def katanas(game: DuelGame, seat: int) -> int:
    """Katanas, each by the own clan seals in the Basic yard."""
    return icons(game, seat, KATANA) * by_yard(game, seat, game.tables.katana_points)


def kabutos(game: DuelGame, seat: int) -> int:
    """Kabutos, each by the own clan seals in both yards, those in the Elite yard twice."""
    return icons(game, seat, KABUTO) * by_yard(game, seat, game.tables.kabuto_points)


def by_yard(game: DuelGame, seat: int, points: list[int]) -> int:
    """The own clan seals in the yards, each with the points of its yard."""
    at, seals = seat * YARDS, game.yard_seals
    return seals[at + BASIC] * points[BASIC] + seals[at + ELITE] * points[ELITE]


def cranes(game: DuelGame, seat: int) -> int:
    """Blue cranes times white cranes."""
    return icons(game, seat, BLUE_CRANE) * icons(game, seat, WHITE_CRANE)


DUEL_SCORING = (
    ScoreLine("play", "D-9.1", in_play),
    ScoreLine("coins and seals", "D-9.1", coins_and_seals),
    ScoreLine("resources", "D-9.1", resources),
    ScoreLine("flags", "D-9.1", flags),
    ScoreLine("katanas", "D-9.1", katanas),
    ScoreLine("kabutos", "D-9.1", kabutos),
    ScoreLine("cranes", "D-9.1", cranes),
)
