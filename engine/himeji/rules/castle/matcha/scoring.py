"""Scoring with Matcha (M-11.1)."""

from __future__ import annotations

from himeji.rules.castle.constants import COURTIER, GARDENER, WARRIOR
from himeji.rules.castle.matcha.constants import AT_ENTRANCE, GEISHA_PLACES, TEA_ROOMS
from himeji.rules.castle.matcha.state import MatchaGame
from himeji.rules.constants import CHASEN
from himeji.rules.scoring import ScoreLine, resources

MEMBER_OF_ROOM = (GARDENER, WARRIOR, COURTIER)  # by room of the tea house, as in TEA_ROOMS


def resources_and_chasen(game: MatchaGame, seat: int) -> int:
    """Chasen count like the other resources (M-11.1)."""
    return resources(game, seat) + game.tables.resource_points[game.has(seat, CHASEN)]


def geishas(game: MatchaGame, seat: int) -> int:
    """Each geisha by its place; in a room for every own member of the room's kind (M-11.1)."""
    points = 0
    for place in range(AT_ENTRANCE, GEISHA_PLACES):
        found = game.geishas[seat * GEISHA_PLACES + place]
        if found:
            points += found * geisha_worth(game, seat, place)
    return points


def geisha_worth(game: MatchaGame, clan: int, place: int) -> int:
    """What one geisha of the clan is worth in a place (M-11.1)."""
    worth = game.tea_garden.geisha_points[place]
    if place in TEA_ROOMS:
        worth *= game.members_out(clan, MEMBER_OF_ROOM[TEA_ROOMS.index(place)])
    return worth


def with_matcha(lines: tuple[ScoreLine, ...]) -> tuple[ScoreLine, ...]:
    """The lines of a ruleset with Matcha."""
    changed = [
        ScoreLine(line.name, "M-11.1", resources_and_chasen) if line.points is resources else line
        for line in lines
    ]
    return (*changed, ScoreLine("geishas", "M-11.1", geishas))
