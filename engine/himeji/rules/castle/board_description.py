"""The printed boards of the castle family, part by part, for those who have no engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from himeji.rules.board_description import goods_parts, made_up
from himeji.rules.castle.components import FACES
from himeji.rules.castle.constants import DOMAIN_SPACE, WELL_SPACE, WORKER_NAMES, YARD_TILE_NAMES
from himeji.rules.castle.matcha.constants import GEISHA_PLACE_NAMES
from himeji.rules.description import BoardPart
from himeji.rules.effects import describe_face

if TYPE_CHECKING:
    from himeji.rules.castle.ruleset import CastleRuleset

FLOORS: Final = ("gate", "steward-floor", "diplomat-floor", "daimyo-floor")

SPACE_WORDS: Final = {
    "castle": "A room of the castle: the die's colour must be on a tile beside it (B-3.1, B-3.2).",
    "outside": "Outside the Walls: one of the worker actions (B-3.4).",
    "tea-fields": "Tea Fields: any colour, GEISHA (M-5.1).",
    "outskirts": "Outskirts: any colour, the curtains in line with the die (M-5.3).",
    "well": "The Well: any number of dice; a seal and the rewards of both tiles (B-3.5).",
}


def describe_board(rules: CastleRuleset) -> list[BoardPart]:
    """Every printed part, kind by kind, and the numbers that hold for the whole game."""
    parts = (_spaces, _domain_rows, _yards, _slots, _track, _floors, _prices)
    board = [each for part in parts for each in part(rules)]
    game = (*_game(rules), *_tea_garden(rules), *_rival(rules))
    return [*board, *goods_parts(rules, rules.tables), *game]


def _spaces(rules: CastleRuleset) -> Iterator[BoardPart]:
    """The spaces for dice but for those of the domains, which are told with their rows."""
    shared = [space for space in rules.tables.spaces if space.area != "domain"]
    for number, space in enumerate(shared, start=1):
        faces = tuple(
            describe_face(f"offer-{n}", (offer,)) for n, offer in enumerate(space.offers, start=1)
        )
        if space.area == "well":
            faces = (describe_face("front", (rules.well_seal,)),)
        words = SPACE_WORDS.get(space.area, "A space for dice.")
        facts = (("printed", space.printed), *made_up(reconstructed=space.reconstructed))
        yield BoardPart(space.name, "space", number, words, faces, facts)


def _domain_rows(rules: CastleRuleset) -> Iterator[BoardPart]:
    for colour, cells in enumerate(rules.tables.cells):
        space = rules.tables.spaces[DOMAIN_SPACE + colour]
        words = (
            f"The {WORKER_NAMES[colour]} row of a domain: the first cell is always visible, and "
            f"one more for each {WORKER_NAMES[colour]} that has left (B-3.6)."
        )
        faces = tuple(describe_face(f"cell-{n}", (cell,)) for n, cell in enumerate(cells, start=1))
        facts = (
            ("printed", space.printed),
            *made_up(reconstructed=space.reconstructed or rules.tables.cells_reconstructed[colour]),
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
    yield BoardPart("length", "game", 0, words, (), length)
    words = (
        "Dice of each colour, and dice that a space of the board takes, by clans (B-1.1, B-2.6)."
    )
    for clans in sorted(seats + rules.rivals for seats in rules.seat_counts):
        dice, stacked = rules.dice_per_colour[clans], rules.stacking[clans]
        facts = (("dice_per_colour", dice), ("dice_per_space", stacked))
        yield BoardPart(f"with-{clans}-clans", "table", clans, words, (), facts)


def _tea_garden(rules: CastleRuleset) -> Iterator[BoardPart]:
    """Where geishas walk, and what it costs; nothing without Matcha."""
    tables = rules.tables
    words = "A place of the tea garden: how many geishas of a clan fit (0 any), and their points; "
    words += "in a room for each own member of its kind (M-7.5, M-11.1)."
    for place, points in enumerate(tables.geisha_points[1:], start=1):
        facts = (("limit", tables.geisha_limit[place]), ("points", points))
        yield BoardPart(GEISHA_PLACE_NAMES[place], "tea-place", place, words, (), facts)
    if tables.walk_chasen:
        prices = (
            ("entrance_coins", tables.entrance_coins),
            ("one_step_chasen", tables.walk_chasen[1]),
            ("two_steps_chasen", tables.walk_chasen[2]),
            ("overlook_tile_coins", tables.overlook_coins),
            ("domain_tile_seals", tables.domain_tile_seals),
        )
        words = "What geishas and ceremony tiles cost (M-7.2, M-7.3, M-8.3)."
        yield BoardPart("tea-prices", "tea-price", 0, words, (), prices)


def _rival(rules: CastleRuleset) -> Iterator[BoardPart]:
    """How a rival starts and what its coins are worth; nothing without one."""
    words = "How the rival starts: VP, place in the turn order, influence (S-1)."
    for number, (level, start) in enumerate(sorted(rules.tables.rival_start.items())):
        facts = tuple(zip(("vp", "turn_order", "influence"), start, strict=True))
        yield BoardPart(f"rival-{level}", "rival-start", number, words, (), facts)
    words = "The coins of a lot that the rival turns in, by its place in the turn order (S-8)."
    for place, coins in enumerate(rules.tables.rival_lots, start=1):
        yield BoardPart(f"rival-lot-{place}", "rival-lot", place, words, (), (("coins", coins),))
