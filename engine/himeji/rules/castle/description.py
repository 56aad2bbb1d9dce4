"""The castle family in words and numbers: its components and its kinds of steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from himeji.rules import description
from himeji.rules.castle.components import FACES, Component, Row
from himeji.rules.castle.constants import DIE_PLACE_NAMES, ROW_NAMES, SPACE_NAMES
from himeji.rules.components import describe_component
from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES, count
from himeji.rules.effects import describe_face

if TYPE_CHECKING:
    from himeji.rules.castle.ruleset import CastleRuleset

TILES: Final = ("lily", "ceremony")  # kinds that do not say so in the data files

# --- components -------------------------------------------------------------------------------


def describe_components(rules: CastleRuleset) -> list[description.Component]:
    """Every card copy and tile, ascending by number."""
    return [
        describe_component(each, _kind(each.kind), _faces(each), _facts(each))
        for each in rules.tables.components
    ]


def _kind(name: str) -> str:
    """What a component is, with the word card or tile."""
    if name.endswith("-tile"):
        return name
    return f"{name}-tile" if name in TILES else f"{name}-card"


def _faces(card: Component) -> Iterator[description.Face]:
    """From top to bottom, front before back."""
    names = ROW_NAMES if len(card.rows) == len(ROW_NAMES) else card.row_names or ("first", "second")
    for name, row in zip(names if len(card.rows) > 1 else ("front",), card.rows, strict=False):
        yield _row(name, row)
    if card.gives:
        yield describe_face("front", card.gives)
    for number, slot in enumerate(card.slots, start=1):
        yield describe_face(f"slot-{number}", (slot,))
    for name, face in zip(FACES if len(card.faces) > 1 else ("reward",), card.faces, strict=False):
        yield describe_face(name, (face,))
    if card.deeds:
        where = " or ".join(SPACE_NAMES[target] for target in card.targets)
        die = f"{COLOUR_NAMES[card.colour]} {DIE_PLACE_NAMES[card.side]}"
        effects = (description.Effect("take-die", die), description.Effect("place-die", where))
        yield description.Face("bridge", f"{die} to {where}", effects)
        yield describe_face("action", card.deeds)
    if card.lantern:
        # A decree has nothing else to show; every other card shines with its back.
        yield describe_face("back" if card.rows or card.gives else "front", card.lantern)


def _row(name: str, row: Row) -> description.Face:
    face = describe_face(name, row.gives)._replace(dark=row.dark)
    if not row.cost:
        return face
    price = description.Effect("", GOOD_NAMES[row.cost_good], row.cost)
    bought = description.Effect("pay", costs=(price,), parts=face.effects)
    text = f"for {count(row.cost, row.cost_good)}: {face.text}"
    return face._replace(text=text, effects=(bought,))


def _facts(card: Component) -> Iterator[tuple[str, int]]:
    """The numbers on a component, and which of its rows serves which line of a domain (B-3.6)."""
    if card.diamond:
        yield "diamond", 1
    for line, row in enumerate(card.row_of_line):
        yield f"row_of_{COLOUR_NAMES[line]}_line", row
    if card.food:
        yield "plant" if card.plant else "stone", 1
        yield from (("food_cost", card.food), ("points", card.points))
    if card.kind == "die-tile":
        yield COLOUR_NAMES[card.colour], 1
    if card.decree:
        yield "decree", card.decree


# --- steps ------------------------------------------------------------------------------------

STEP_WORDS: Final = {
    "take-die": "Take a die from the end of a bridge (B-2.3).",
    "place-die": "Place the die in hand (B-2.5).",
    "enter-space": "The effects of the space in which a die was placed (B-2.3).",
    "room-rows": "Perform one of the card's rows beside a tile of the die's colour, "
    "or be done (B-3.1).",
    "parts": "Choose what comes first of several things that happen at once (B-2.8).",
    "seals-at-cap": "Exchange seals or go on, before seals are lost at their cap (B-6.3).",
    "choose-resource": "Choose one unit of a resource.",
    "checkpoint": "Pay the seals of a checkpoint, or stop before it (B-6.2).",
    "choose-castle-row": "Choose a castle row that an icon points at, or be done (B-5.3, B-5.4).",
    "offer": "Perform a row of a card or a garden, or be done (B-2.7).",
    "choose-domain-row": "Choose a row of the own domain, or be done (B-5.5).",
    "action-card-row": "Offers the row of the action card beside a line of the domain (B-3.6).",
    "choose-worker": "Choose a worker action of Outside the Walls, or be done (B-3.4).",
    "courtier": "Use a half of COURTIER that is still open, or be done (B-4.1).",
    "gardener": "Place a gardener, or be done (B-4.6).",
    "warrior": "Place a warrior, or be done (B-4.7).",
    "yard-tiles": "Use one of the yard's tiles, or be done (B-4.7).",
    "refill": "A room gets its next card (B-4.4).",
    "light-row": "Choose a light row of the card that was taken (B-4.4).",
    "daimyo-slot": "Choose a slot of the daimyo card (B-4.5).",
    "phase": "One of the things at the end of a round or of the game (B-7.1 to B-7.3).",
    "gardens-of-seat": "Fixes which gardens of a seat are activated (B-7.2).",
    "activate-gardens": "Activate one of the gardens, or be done (B-7.2).",
    "last-exchange": "Exchange seals for the last time, or be done (B-6.3).",
    "pick-pair": "Pick a starting pair (B-1.7).",
    "geisha": "Use a half of GEISHA that is still open, or be done (M-7.1).",
    "free-walk": "Move a geisha one step without chasen, or be done (M-8.2).",
    "overlook": "Take the water lilies or use the tile of the overlook, or be done (M-7.5).",
    "choose-outskirts-card": "Choose the outskirts card of path step 1 (M-7.5).",
    "take-outskirts-card": "The card joins the Lantern Area, the next is revealed (M-7.6).",
    "curtains": "Perform a curtain of the outskirts cards, or be done (M-5.3).",
    "own-ceremony": "Use the ceremony tile of the own domain, or be done (M-5.6).",
    "choose-action": "Choose a worker action or GEISHA, or be done (M-5.3).",
    "light-rows": "Choose a light castle row of a card not yet used, or be done (M-8.2).",
    "one-yard-tile": "Use one of the yard tiles, or be done (M-8.2).",
    "stone-gardens": "Choose a stone garden not yet used, or be done (M-8.2).",
    "free-climb": "Climb one floor without pearl, or be done (M-8.2).",
    "gardens-and-pond-of-seat": "Fixes which gardens of a seat are activated, and the pond "
    "(M-10.2).",
    "activate-gardens-and-pond": "Activate one of the gardens or the pond, or be done (M-10.2).",
    "pick-pair-and-tile": "Pick a starting pair with its ceremony tile (M-3.8).",
    "keep-start": "Keep one of two starting cards or ceremony tiles (M-12.1).",
    "take-kept": "What was kept comes to the player (M-12.1).",
    "rival-walk": "Choose a step for a geisha of the rival (M-12.5).",
    "rival-discard": "Choose an outskirts card that leaves the game (M-12.4).",
    "rival-deeds": "The actions of the solitaire cards that were turned over (S-5).",
    "rival-garden": "Choose one of equal gardens for the rival's gardener (S-7).",
    "rival-climber": "Choose which of the rival's equal courtiers climbs (S-7).",
    "rival-room": "Choose the room where a climb of the rival ends (S-7).",
    "rival-gardens": "The rival's part of the garden step (S-8).",
    "end-of-draft": "The set-up ends and the left-over pair leaves the game (B-1.7).",
}
FIELD_WORDS: Final = {
    "space": "the space",
    "die": "the die",
    "room": "the room",
    "card": "the card",
    "rows": "the rows still to be performed",
    "rule": "the rule by which it is granted",
    "effects": "the effects",
    "amount": "how many are to come",
    "steps": "the steps still to be walked",
    "icon": "the icon",
    "place": "the row of the card, from 0",
    "line": "the line of the domain",
    "workers": "the worker actions on offer",
    "audience": "whether an audience is still open",
    "climb": "whether a climb is still open",
    "tiles": "the tiles still to be used",
    "number": "which one, from 0, in the order in which they happen",
    "gardens": "the gardens: still to be activated, to choose from, or already used",
    "entrance": "whether an entrance is still open",
    "walk": "whether a walk is still open",
    "deck": "the deck",
    "cards": "the cards",
    "curtains": "the curtains on offer",
    "limit": "how many of them",
    "rooms": "the rooms already used",
    "pond": "whether the pond is still to be activated",
    "kind": "what is kept",
    "spared": "where one geisha must stay, the domain for none",
    "deeds": "the actions still to be done",
    "floors": "how many floors it climbs",
    "start": "where it climbs from",
}


def describe_steps(rules: CastleRuleset) -> list[description.StepKind]:
    """Every kind of step, ascending, with the meaning of the numbers that describe one."""
    return rules.codec.describe(STEP_WORDS, FIELD_WORDS)
