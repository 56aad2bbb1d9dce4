"""Rows of castle cards as a reader says them, and what a castle picture explains."""

from __future__ import annotations

from typing import Final

from himeji.render.phrases import amount, phrases
from himeji.rules.castle.components import Row
from himeji.rules.constants import GOOD_NAMES

LEGEND: Final = {
    "food": "food",
    "iron": "iron",
    "pearl": "pearl",
    "chasen": "chasen",
    "any": "any of these three",
    "coin": "coin",
    "seal": "Daimyo Seal",
    "vp": "VP, a point",
    "influence": "influence",
    "lantern": "Lantern",
    "well": "Well",
    "courtier": "COURTIER",
    "gardener": "GARDENER",
    "warrior": "WARRIOR",
    "geisha": "GEISHA",
    "lilies": "water lilies",
    "curtain yellow": "curtain",
    "castle-row any": "castle row",
    "domain-row": "domain row",
}
"""What a drawing explains, by the word of the vocabulary."""


def price(row: Row) -> str:
    """What a row costs, empty if nothing."""
    return amount(row.cost, GOOD_NAMES[row.cost_good]) if row.cost else ""


def row_phrase(row: Row) -> str:
    """A row with its price."""
    return f"{price(row)} → {phrases(row.gives)}" if row.cost else phrases(row.gives)
