"""What stands where on the extension board of Matcha; nothing in a game without it."""

from __future__ import annotations

from himeji.render.page_blocks import Group
from himeji.rules.castle.components import Component
from himeji.rules.castle.matcha.constants import (
    GEISHA_PLACES,
    ON_OVERLOOK,
    OUTSKIRTS_PILES,
    TEA_ROOMS,
)
from himeji.rules.castle.matcha.state import MatchaGame
from himeji.rules.castle.state import CastleGame


def offered_tiles(game: CastleGame) -> tuple[int, ...]:
    """The ceremony tiles of the starting pairs."""
    return game.pair_tiles if isinstance(game, MatchaGame) else ()


def geishas_at(game: MatchaGame, place: int) -> list[Group]:
    """The geishas in a place of the tea garden."""
    counts = [(clan, game.geishas[clan * GEISHA_PLACES + place]) for clan in range(game.clans)]
    return [group for group in counts if group[1]]


def lilies(game: MatchaGame) -> list[Component]:
    """The water lilies in the pond."""
    return [game.tables.of(lily) for lily in game.lilies]


def ceremony_at(game: MatchaGame, place: int) -> tuple[Component, int] | None:
    """The ceremony tile of a place of the tea garden, with the face that lies up (0 is blue)."""
    if place in TEA_ROOMS:
        return game.tables.of(game.ceremonies[TEA_ROOMS.index(place)]), 1
    return (game.tables.of(game.ceremonies[-1]), 0) if place == ON_OVERLOOK else None


def own_ceremony(game: CastleGame, seat: int) -> tuple[Component, int] | None:
    """The ceremony tile of a domain, blue face up, and the seals that it costs."""
    if isinstance(game, MatchaGame) and any(game.domain_tiles[seat:][:1]):
        return game.tables.of(game.domain_tiles[seat]), game.tea_garden.domain_tile_seals
    return None


def outskirts(game: CastleGame) -> list[tuple[Component, int]]:
    """The visible outskirts cards, each with the cards left under it."""
    piles = [pile for pile in OUTSKIRTS_PILES if game.tops[pile]]
    return [(game.tables.of(game.tops[pile]), len(game.unseen[pile])) for pile in piles]
