"""The printed boards of a ruleset with Matcha: the reader of each part, and their description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from himeji.rules.castle.board import (
    BASE_AREAS,
    BASE_OFFERS,
    COMMON_BOARD,
    ReadDomainRows,
    ReadSpaces,
)
from himeji.rules.castle.matcha.components import read_tea_garden, tea_garden_of
from himeji.rules.castle.matcha.constants import (
    GEISHA_PLACE_NAMES,
    MATCHA_SPACE_NAMES,
    MATCHA_WORKER_NAMES,
)
from himeji.rules.castle.ruleset import CastleRuleset
from himeji.rules.description import BoardPart

AREAS: Final = (*BASE_AREAS, "domain", "tea-fields", "tea-fields", "outskirts", "outskirts")
MATCHA_BOARD: Final = (
    ReadSpaces(MATCHA_SPACE_NAMES, AREAS, {**BASE_OFFERS, "tea-fields": 1}, MATCHA_WORKER_NAMES),
    ReadDomainRows(MATCHA_WORKER_NAMES),
    *COMMON_BOARD,
    read_tea_garden,
)


def describe_tea_garden(rules: CastleRuleset) -> Iterator[BoardPart]:
    """Where geishas walk, and what it costs."""
    garden = tea_garden_of(rules.tables)
    words = "A place of the tea garden: how many geishas of a clan fit (0 any), and their points; "
    words += "in a room for each own member of its kind (M-7.5, M-11.1)."
    for place, points in enumerate(garden.geisha_points[1:], start=1):
        facts = (("limit", garden.geisha_limit[place]), ("points", points))
        yield BoardPart(GEISHA_PLACE_NAMES[place], "tea-place", place, words, (), facts)
    prices = (
        ("entrance_coins", garden.entrance_coins),
        ("one_step_chasen", garden.walk_chasen[1]),
        ("two_steps_chasen", garden.walk_chasen[2]),
        ("overlook_tile_coins", garden.overlook_coins),
        ("domain_tile_seals", garden.domain_tile_seals),
    )
    words = "What geishas and ceremony tiles cost (M-7.2, M-7.3, M-8.3)."
    yield BoardPart("tea-prices", "tea-price", None, words, (), prices)
