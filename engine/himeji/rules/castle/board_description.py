"""The printed boards of the castle family, part by part, for those who have no engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from himeji.rules.board_description import goods_parts, made_up
from himeji.rules.castle.components import FACES
from himeji.rules.castle.constants import DOMAIN_SPACE, WELL_SPACE, YARD_TILE_NAMES
from himeji.rules.description import BoardPart
from himeji.rules.effects import describe_face

if TYPE_CHECKING:
    from himeji.rules.castle.ruleset import CastleRuleset

FLOORS: Final = ("gate", "steward-floor", "diplomat-floor", "daimyo-floor")


def describe_board(rules: CastleRuleset) -> list[BoardPart]:
    """Every printed part, kind by kind, and the numbers that hold for the whole game."""
    parts = (_spaces, _domain_rows, _yards, _slots, _track, _floors, _prices)
    board = [each for part in parts for each in part(rules)]
    own = [each for part in rules.own_board for each in part(rules)]
    return [*board, *goods_parts(rules, rules.tables), *_game(rules), *own]


def _spaces(rules: CastleRuleset) -> Iterator[BoardPart]:
    """The spaces for dice but for those of the domains, which are told with their rows."""
    shared = [space for space in rules.tables.spaces if space.area != "domain"]
    for number, space in enumerate(shared, start=1):
        faces = tuple(
            describe_face(f"offer-{n}", (offer,)) for n, offer in enumerate(space.offers, start=1)
        )
        if space.gives:
            faces = (describe_face("front", space.gives),)
        words = rules.kinds_of_area[space.area].text
        facts = (("printed", space.printed), *made_up(reconstructed=space.reconstructed))
        yield BoardPart(space.name, "space", number, words, faces, facts)


def _domain_rows(rules: CastleRuleset) -> Iterator[BoardPart]:
    for colour, cells in enumerate(rules.tables.cells):
        space = rules.tables.spaces[DOMAIN_SPACE + colour]
        member = rules.tables.members[colour]
        words = (
            f"The {member} row of a domain: the first cell is always visible, and "
            f"one more for each {member} that has left (B-3.6)."
        )
        faces = tuple(describe_face(f"cell-{n}", (cell,)) for n, cell in enumerate(cells, start=1))
        facts = (
            ("printed", space.printed),
            *made_up(reconstructed=rules.tables.row_reconstructed(colour)),
        )
        yield BoardPart(space.name, "domain-row", colour + 1, words, faces, facts)


def _yards(rules: CastleRuleset) -> Iterator[BoardPart]:
    words = "A training yard: the iron that a warrior costs, and its value (B-4.7, B-7.4)."
    for yard, iron in enumerate(rules.tables.yard_iron):
        name = f"yard-{yard + 1}"
        tiles = ((f"{face}_tile", int(f"{name} {face}" in YARD_TILE_NAMES)) for face in FACES)
        facts = (("iron", iron), ("value", rules.tables.yard_value[yard]), *tiles)
        yield BoardPart(name, "yard", yard + 1, words, (), facts)


def _slots(rules: CastleRuleset) -> Iterator[BoardPart]:
    words = "A place for a die tile: the space it belongs to, and the row beside it (B-1.4)."
    for slot, name in enumerate(rules.tables.slot_names):
        room, row = rules.tables.slot_room[slot], rules.tables.slot_row[slot]
        facts = (("space", (room if room >= 0 else WELL_SPACE) + 1), ("row", row))
        yield BoardPart(f"slot-{name}", "die-tile-slot", slot + 1, words, (), facts)


def _track(rules: CastleRuleset) -> Iterator[BoardPart]:
    words = "A position of the Passage of Time: what entering it costs, and its points at the end."
    for position, points in enumerate(rules.tables.track_points):
        facts = (("seals", rules.tables.checkpoint[position]), ("points", points))
        name = f"passage-of-time-{position}"
        yield BoardPart(name, "track-position", position, words, (), facts)


def _floors(rules: CastleRuleset) -> Iterator[BoardPart]:
    words = "A floor: the points of each courtier on it at the end (B-7.4)."
    for floor, points in enumerate(rules.tables.courtier_points):
        yield BoardPart(FLOORS[floor], "floor", floor, words, (), (("points", points),))


def _prices(rules: CastleRuleset) -> Iterator[BoardPart]:
    coins = (("coins", rules.tables.audience_coins),)
    yield BoardPart("audience", "price", 0, "What an audience costs (B-4.2).", (), coins)
    words = "What a climb of so many floors costs (B-4.3)."
    for floors, pearl in enumerate(rules.tables.climb_pearl[1:], start=1):
        yield BoardPart(f"climb-{floors}", "price", floors, words, (), (("pearl", pearl),))


def _game(rules: CastleRuleset) -> Iterator[BoardPart]:
    words = "How long the game is, in turns per clan and round (B-2.1)."
    length = (("rounds", rules.rounds), ("turns", rules.turns), ("colours", len(rules.colours)))
    yield BoardPart("length", "game", None, words, (), length)
    words = (
        "Dice of each colour, and dice that a space of the board takes, by clans (B-1.1, B-2.6)."
    )
    for clans in sorted(seats + rules.rivals for seats in rules.seat_counts):
        dice, stacked = rules.dice_per_colour[clans], rules.stacking[clans]
        facts = (("dice_per_colour", dice), ("dice_per_space", stacked))
        yield BoardPart(f"with-{clans}-clans", "table", clans, words, (), facts)
