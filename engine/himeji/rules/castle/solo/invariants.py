"""What must hold for the solitaire cards of a box, checked whenever a data file is read."""

from __future__ import annotations

from himeji.rules.castle.components import Tables
from himeji.rules.castle.solo.components import SolitaireCard


def _cards(tables: Tables) -> list[SolitaireCard]:
    return [card for card in tables.all_of("solitaire") if isinstance(card, SolitaireCard)]


def _a_deck(tables: Tables) -> bool:
    return "solitaire" in tables.kinds


def _solitaire_spaces(tables: Tables) -> bool:
    return all(
        target < len(tables.spaces) and tables.spaces[target].area != "domain"
        for card in _cards(tables)
        for target in card.targets
    )


def _solitaire_dice(tables: Tables) -> bool:
    return all(card.colour < len(tables.cells) for card in _cards(tables))


SOLO_BOX = {
    "there is a solitaire card": _a_deck,
    "a solitaire card shows spaces of the board, no domain": _solitaire_spaces,
    "a solitaire card shows a die of a bridge that is played with": _solitaire_dice,
}
