"""The solitaire cards and the rival's numbers, read from a data file."""

from __future__ import annotations

from himeji.rules.castle.components import Component, Tables
from himeji.rules.castle.constants import DIE_PLACE_NAMES, SPACE_NAMES
from himeji.rules.castle.solo.rival_actions import Deed
from himeji.rules.components import Readers, ReadPart, effects
from himeji.rules.constants import COLOUR_NAMES
from himeji.rules.datafile import DataFile, Entry
from himeji.rules.effects import Parse

LEVELS = ("easy", "medium", "hard")
PLACES = 2  # in the turn order: the player's and the rival's


def read_solitaire(card: Component, entry: Entry, parse: Parse) -> None:
    """The bridge side (which die, and where it goes) and the action side."""
    colour, _, side = entry.text("die").partition(" ")
    if colour not in COLOUR_NAMES or side not in DIE_PLACE_NAMES:
        raise entry.fault("die", f"expected a die such as “coral left”, found “{colour} {side}”")
    card.colour, card.side = COLOUR_NAMES.index(colour), DIE_PLACE_NAMES.index(side)
    spaces = entry.texts("spaces")
    unknown = [space for space in spaces if space not in SPACE_NAMES or space.startswith("domain")]
    if unknown or not spaces:
        raise entry.fault("spaces", f"expected spaces of the board, found {unknown or 'none'}")
    card.targets = tuple(SPACE_NAMES.index(space) for space in spaces)
    card.deeds = effects(entry, "actions", entry.texts("actions"), parse)
    strange = [deed.text for deed in card.deeds if not isinstance(deed, Deed)]
    if strange or not card.deeds:
        raise entry.fault("actions", f"expected actions of a rival, found {strange or 'none'}")


def read_rival(tables: Tables, data: DataFile, _parse: Parse) -> None:
    """How the rival starts, and what its coins are worth."""
    for entry in data.entries("difficulty"):
        place = entry.number("turn-order")
        if not 1 <= place <= PLACES:
            raise entry.fault("turn-order", "expected 1 or 2")
        tables.rival_start[entry.one_of("id", LEVELS)] = (
            entry.number("vp"),
            place,
            entry.number("influence"),
        )
        entry.source()
        entry.finish()
    if len(tables.rival_start) != len(LEVELS):
        raise entry.fault("id", f"expected each of {', '.join(LEVELS)} once")
    lots = data.table("rival-coins")
    tables.rival_lots = lots.numbers("lots")
    if len(tables.rival_lots) != PLACES or 0 in tables.rival_lots:
        raise lots.fault("lots", "expected the coins of a lot for first and second in turn order")
    lots.source()
    lots.finish()


RIVAL_KINDS: Readers = {"solitaire": read_solitaire}
RIVAL_BOARD: tuple[ReadPart, ...] = (read_rival,)
