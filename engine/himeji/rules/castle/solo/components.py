"""The solitaire cards and the rival's numbers, read from a data file."""

from __future__ import annotations

from collections.abc import Sequence

from himeji.rules.castle.components import Component, Tables
from himeji.rules.castle.constants import DIE_PLACE_NAMES
from himeji.rules.castle.solo.rival_actions import RivalAction
from himeji.rules.components import Readers, effects
from himeji.rules.constants import COLOUR_NAMES
from himeji.rules.datafile import DataFile, Entry
from himeji.rules.effects import Effect, Parse

RIVAL = "rival"  # in `Tables.boards`
LEVELS = ("easy", "medium", "hard")
PLACES = 2  # in the turn order: the player's and the rival's


class SolitaireCard(Component):
    """A solitaire card: its bridge side and its action side."""

    def __init__(self, number: int, kind: str, entry: Entry) -> None:
        super().__init__(number, kind, entry)
        self.side = 0  # where on the bridge of `colour` it looks for a die
        self.targets: tuple[int, ...] = ()  # spaces for that die, the first free one
        self.actions: tuple[Effect, ...] = ()  # of the rival, top to bottom


def solo_component(number: int, kind: str, entry: Entry) -> Component:
    """A component of a box with solitaire cards."""
    make = SolitaireCard if kind == "solitaire" else Component
    return make(number, kind, entry)


class RivalNumbers:
    """How the rival starts, and what its coins are worth."""

    def __init__(self) -> None:
        self.start: dict[str, tuple[int, int, int]] = {}  # VP, place, influence (S-1)
        self.lots: list[int] = []  # coins for a lot, by place in the turn order (S-8)


def rival_numbers(tables: Tables) -> RivalNumbers:
    """The numbers of the rival in a ruleset that has one."""
    numbers: RivalNumbers = tables.boards[RIVAL]
    return numbers


def solitaire_kinds(space_names: Sequence[str]) -> Readers:
    """The reader of solitaire cards that show these spaces."""

    def read(card: SolitaireCard, entry: Entry, parse: Parse) -> None:
        read_solitaire(card, entry, parse, space_names)

    return {"solitaire": read}


def read_solitaire(
    card: SolitaireCard, entry: Entry, parse: Parse, space_names: Sequence[str]
) -> None:
    """The bridge side (which die, and where it goes) and the action side."""
    colour, _, side = entry.text("die").partition(" ")
    if colour not in COLOUR_NAMES or side not in DIE_PLACE_NAMES:
        raise entry.fault("die", f"expected a die such as “coral left”, found “{colour} {side}”")
    card.colour, card.side = COLOUR_NAMES.index(colour), DIE_PLACE_NAMES.index(side)
    spaces = entry.texts("spaces")
    unknown = [space for space in spaces if space not in space_names or space.startswith("domain")]
    if unknown or not spaces:
        raise entry.fault("spaces", f"expected spaces of the board, found {unknown or 'none'}")
    card.targets = tuple(space_names.index(space) for space in spaces)
    card.actions = effects(entry, "actions", entry.texts("actions"), parse)
    strange = [action.text for action in card.actions if not isinstance(action, RivalAction)]
    if strange or not card.actions:
        raise entry.fault("actions", f"expected actions of a rival, found {strange or 'none'}")


def read_rival(tables: Tables, data: DataFile, _parse: Parse) -> None:
    """How the rival starts, and what its coins are worth."""
    rival = tables.boards[RIVAL] = RivalNumbers()
    for entry in data.entries("difficulty"):
        place = entry.number("turn-order")
        if not 1 <= place <= PLACES:
            raise entry.fault("turn-order", "expected 1 or 2")
        rival.start[entry.one_of("id", LEVELS)] = (
            entry.number("vp"),
            place,
            entry.number("influence"),
        )
        entry.source()
        entry.finish()
    if len(rival.start) != len(LEVELS):
        raise entry.fault("id", f"expected each of {', '.join(LEVELS)} once")
    lots = data.table("rival-coins")
    rival.lots = lots.numbers("lots")
    if len(rival.lots) != PLACES or 0 in rival.lots:
        raise lots.fault("lots", "expected the coins of a lot for first and second in turn order")
    lots.source()
    lots.finish()
