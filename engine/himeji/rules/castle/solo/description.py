"""The solitaire cards and the rival's numbers in words, for those who have no engine."""

from __future__ import annotations

from collections.abc import Iterator

from himeji.rules.castle.constants import DIE_PLACE_NAMES
from himeji.rules.castle.ruleset import CastleRuleset
from himeji.rules.castle.solo.components import SolitaireCard, rival_numbers
from himeji.rules.constants import COLOUR_NAMES
from himeji.rules.description import BoardPart, DescribedEffect, Face
from himeji.rules.effects import describe_face


def solitaire_faces(rules: CastleRuleset, card: SolitaireCard) -> Iterator[Face]:
    """The bridge side and the action side."""
    where = " or ".join(rules.tables.spaces[target].name for target in card.targets)
    die = f"{COLOUR_NAMES[card.colour]} {DIE_PLACE_NAMES[card.side]}"
    effects = (DescribedEffect("take-die", die), DescribedEffect("place-die", where))
    yield Face("bridge", f"{die} to {where}", effects)
    yield describe_face("action", card.actions)


def describe_rival(rules: CastleRuleset) -> Iterator[BoardPart]:
    """How the rival starts and what its coins are worth."""
    rival = rival_numbers(rules.tables)
    words = "How the rival starts: VP, place in the turn order, influence (S-1)."
    for level, start in sorted(rival.start.items()):
        facts = tuple(zip(("vp", "turn_order", "influence"), start, strict=True))
        yield BoardPart(f"rival-{level}", "rival-start", None, words, (), facts)
    words = "The coins of a lot that the rival turns in, by its place in the turn order (S-8)."
    for place, coins in enumerate(rival.lots, start=1):
        yield BoardPart(f"rival-lot-{place}", "rival-lot", place, words, (), (("coins", coins),))
