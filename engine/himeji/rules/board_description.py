"""The printed parts that the boards of all families have: caps, and what goods score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from himeji.rules.components import Box
from himeji.rules.constants import GOOD_NAMES, UNLIMITED
from himeji.rules.description import MADE_UP, BoardPart
from himeji.rules.ruleset import Ruleset


def made_up(*, reconstructed: bool) -> tuple[tuple[str, int], ...]:
    """The fact that some of what is printed on a part is not known but reconstructed."""
    return (MADE_UP,) if reconstructed else ()


def goods_parts(rules: Ruleset, box: Box[Any]) -> Iterator[BoardPart]:
    """The caps of goods, and the points of resources, coins and seals at the end."""
    limited = [good for good in rules.goods if box.caps[good] < UNLIMITED]
    caps = tuple((GOOD_NAMES[good], box.caps[good]) for good in limited)
    words = f"The most that a clan can have ({rules.cap_rule})."
    yield BoardPart("caps", "caps", None, words, (), caps)
    rule = rules.scoring_rule("resources")
    words = f"The points of so many units of one resource at the end ({rule})."
    for units, points in enumerate(box.resource_points):
        name = f"resource-{units}"
        yield BoardPart(name, "resource-points", units, words, (), (("points", points),))
    words = f"How many coins and seals, added up, are a point at the end ({rule})."
    per_point = (("per_point", box.coins_per_point),)
    yield BoardPart("coins-and-seals", "score", None, words, (), per_point)
