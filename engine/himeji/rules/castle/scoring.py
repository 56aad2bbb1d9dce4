"""Scoring: one line for each thing that gives points at the end (B-7.4)."""

from __future__ import annotations

from himeji.rules.castle.constants import (
    AT_GATE,
    COURTIER,
    COURTIER_PLACES,
    FLOOR_OF_PLACE,
    GARDENER,
    GARDENS,
    WARRIOR,
    YARDS,
)
from himeji.rules.castle.matcha.constants import AT_ENTRANCE, GEISHA_PLACES, TEA_ROOMS
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import CHASEN, INFLUENCE
from himeji.rules.scoring import ScoreLine, coins_and_seals, in_play, resources

MEMBER_OF_ROOM = (GARDENER, WARRIOR, COURTIER)  # by room of the tea house, as in TEA_ROOMS


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


def players_coins_and_seals(game: CastleGame, clan: int) -> int:
    """As above, but the coins of a rival give nothing (S-9)."""
    return coins_and_seals(game, clan) if clan < game.seats else 0


def without_rivals_coins(lines: tuple[ScoreLine, ...]) -> tuple[ScoreLine, ...]:
    """The same lines, where only the player scores coins and seals (S-9)."""
    return tuple(
        ScoreLine(line.name, line.rule, players_coins_and_seals)
        if line.points is coins_and_seals
        else line
        for line in lines
    )


def resources_and_chasen(game: CastleGame, seat: int) -> int:
    """Chasen count like the other resources (M-11.1)."""
    return resources(game, seat) + game.tables.resource_points[game.has(seat, CHASEN)]


def geishas(game: CastleGame, seat: int) -> int:
    """Each geisha by its place; in a room for every own member of the room's kind (M-11.1)."""
    points = 0
    for place in range(AT_ENTRANCE, GEISHA_PLACES):
        found = game.geishas[seat * GEISHA_PLACES + place]
        if found:
            points += found * geisha_worth(game, seat, place)
    return points


def geisha_worth(game: CastleGame, clan: int, place: int) -> int:
    """What one geisha of the clan is worth in a place (M-11.1)."""
    worth = game.tables.geisha_points[place]
    if place in TEA_ROOMS:
        worth *= game.members_out(clan, MEMBER_OF_ROOM[TEA_ROOMS.index(place)])
    return worth


def with_tea(lines: tuple[ScoreLine, ...]) -> tuple[ScoreLine, ...]:
    """The lines of a ruleset with Matcha."""
    changed = [
        ScoreLine(line.name, "M-11.1", resources_and_chasen) if line.points is resources else line
        for line in lines
    ]
    return (*changed, ScoreLine("geishas", "M-11.1", geishas))


BASE_SCORING = (
    ScoreLine("play", "B-7.4", in_play),
    ScoreLine("coins and seals", "B-7.4", coins_and_seals),
    ScoreLine("resources", "B-7.4", resources),
    ScoreLine("passage of time", "B-7.4", passage_of_time),
    ScoreLine("courtiers", "B-7.4", courtiers),
    ScoreLine("warriors", "B-7.4", warriors),
    ScoreLine("gardens", "B-7.4", gardens),
)
