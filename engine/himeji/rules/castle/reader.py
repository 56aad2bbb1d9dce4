"""Reading a castle position from JSON: every fault is collected, none is hidden by another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from himeji.rules.castle.checks import faults
from himeji.rules.castle.constants import (
    COURTIER_PLACES,
    GARDEN_NAMES,
    PLACE_NAMES,
    ROOMS,
    SPACE_NAMES,
    YARD_TILE_NAMES,
    YARDS,
)
from himeji.rules.castle.position import KEYS, YARD_NAMES, clan
from himeji.rules.castle.state import CastleGame
from himeji.rules.chance import Chance
from himeji.rules.constants import COLOUR_NAMES, SIDE_NAMES
from himeji.rules.position_reader import PositionReader, settle

if TYPE_CHECKING:
    from himeji.rules.castle.ruleset import CastleRuleset

MOST_DEALS = 1 << 20  # more than are ever dealt


def parse(rules: CastleRuleset, position: Mapping[str, Any], chance: Chance) -> CastleGame:
    """The game of a position; an impossible one is refused with every reason that is found."""
    reader = CastleReader(rules, position)
    game = reader.read(chance)
    settle(game, reader.reasons, faults(game))
    return game


class CastleReader(PositionReader):
    """Reads a position of the castle family into a game."""

    def __init__(self, rules: CastleRuleset, position: Mapping[str, Any]) -> None:
        super().__init__(rules, rules.tables, position)
        self.rules = rules

    def read(self, chance: Chance) -> CastleGame:
        """The game as far as it can be read; valid only if there are no reasons against it."""
        rules, position = self.rules, self.position
        options = self.options()
        game = rules.empty(self.seats(), chance, options)
        self.known(position, (*KEYS, *[section.key for section in rules.sections]), "")
        game.round = self.number(position, "round", "", rules.rounds)
        game.turn = self.number(position, "turn", "", game.clans * rules.turns)
        game.deal = self.number(position, "deal", "", MOST_DEALS)
        game.drafting = self.flag(position, "set_up", "")
        game.over = self.flag(position, "over", "")
        game.order = tuple(self.permutation(position, "turn_order", "", game.clans))
        game.markers = tuple(self.permutation(position, "markers", "", game.clans))
        self.read_dice(game)
        self.read_castle(game)
        self.read_clans(game)
        for section in rules.sections:
            section.read(self, game)
        game.stack = self.pending(game)
        return game

    def die(self, text: Any, where: str) -> int:
        """A die such as "coral 4"."""
        colour, _, value = str(text).partition(" ")
        if colour in COLOUR_NAMES and value in "123456" and len(value) == 1:
            number = COLOUR_NAMES.index(colour)
            if number in self.rules.colours:
                return number * 8 + int(value)
        self.fault(where, f"{text!r} is not a die such as “coral 4”")
        return 0

    def read_dice(self, game: CastleGame) -> None:
        """Bridges, the die in hand and the spaces of the main board."""
        colours = [COLOUR_NAMES[colour] for colour in self.rules.colours]
        bridges = self.table(self.position, "bridges", "", colours)
        for colour in self.rules.colours:
            name = COLOUR_NAMES[colour]
            bridge = self.table(bridges, name, "bridges.", ("left", "centre", "right"))
            path = f"bridges.{name}."
            game.left[colour] = self.optional(bridge, "left", path, 6)
            game.right[colour] = self.optional(bridge, "right", path, 6)
            centre = self.items(bridge, "centre", path)
            if not all(type(value) is int and 1 <= value <= 6 for value in centre):
                self.fault(f"{path}centre", "expected values from 1 to 6")
                centre = []
            game.centre[colour] = tuple(centre)
        if self.position.get("hand", "") is not None:
            hand = self.table(self.position, "hand", "", ("die", "side"))
            game.hand = self.die(hand.get("die"), "hand.die")
            side = hand.get("side")
            if side in SIDE_NAMES:
                game.hand_side = SIDE_NAMES.index(side)
            else:
                self.fault("hand.side", f"{side!r} is neither left nor right")
        board = [n for n, space in enumerate(game.tables.spaces) if space.area != "domain"]
        names = [game.tables.spaces[number].name for number in board]
        spaces = self.table(self.position, "spaces", "", names)
        for number, name in zip(board, names, strict=True):
            dice = self.items(spaces, name, "spaces.")
            game.spaces[number] = tuple(self.die(die, f"spaces.{name}") for die in dice)

    def read_castle(self, game: CastleGame) -> None:
        """Cards and tiles of the main board."""
        tables = game.tables
        tiles = tuple(self.cards("tiles", tables.slot_names, ("die-tile",)))
        if all(tiles):
            game.set_tiles(tiles)
        game.rooms = self.cards("rooms", SPACE_NAMES[:ROOMS], ("steward", "diplomat"), gaps=True)
        decks = self.table(
            self.position, "decks", "", [self.rules.pile_names[p] for p in self.rules.decks]
        )
        for pile in self.rules.decks:
            kind = self.rules.pile_names[pile]
            game.unseen[pile] = tuple(sorted(self.listed(decks, kind, "decks.", (kind,))))
        daimyo = self.table(self.position, "daimyo", "", ("card", "slots"))
        game.daimyo = self.component(daimyo.get("card"), "daimyo.card", ("daimyo",))
        slots = self.items(daimyo, "slots", "daimyo.")
        seats = [seat for seat in slots if seat is not None]
        whole = all(type(seat) is int and seat in range(game.clans) for seat in seats)
        if len(slots) == 3 and whole:
            game.slots = [0 if seat is None else seat + 1 for seat in slots]
        else:
            self.fault("daimyo.slots", "expected three seats or nulls")
        game.gardens = tuple(self.cards("gardens", GARDEN_NAMES, ("garden",)))
        game.yard_tiles = tuple(self.cards("yard_tiles", YARD_TILE_NAMES, ("yard-tile",)))
        pairs: list[int] = []
        for number, pair in enumerate(self.items(self.position, "pairs", "")):
            where = f"pairs[{number}]"
            offered = {"resource": None, "action": None} if pair is None else pair
            if not isinstance(offered, Mapping):
                self.fault(where, f"{pair!r} is neither a pair nor null")
                offered = {}
            self.known(offered, ("resource", "action"), f"{where}.")
            pairs.append(self.component(offered.get("resource", ""), where, ("start-resource",)))
            pairs.append(self.component(offered.get("action", ""), where, ("start-action",)))
        game.pairs = tuple(pairs)

    def read_clan(self, game: CastleGame, seat: int, held: Mapping[str, Any], path: str) -> None:
        self.known(held, clan(game, seat), path)
        self.goods(game, seat, held, path)
        courtiers = self.table(held, "courtiers", path, PLACE_NAMES)
        for n, name in enumerate(PLACE_NAMES):
            count = self.number(courtiers, name, f"{path}courtiers.", 99)
            game.courtiers[seat * COURTIER_PLACES + n] = count
        game.gardeners[seat] = 0
        for name in self.items(held, "gardeners", path):
            if name not in GARDEN_NAMES:
                self.fault(f"{path}gardeners", f"{name!r} is no garden")
            elif game.gardeners[seat] >> GARDEN_NAMES.index(name) & 1:
                self.fault(f"{path}gardeners", f"two gardeners of one clan in {name} (B-4.6)")
            else:
                game.gardeners[seat] |= 1 << GARDEN_NAMES.index(name)
        warriors = self.table(held, "warriors", path, YARD_NAMES)
        for n, name in enumerate(YARD_NAMES):
            count = self.number(warriors, name, f"{path}warriors.", 99)
            game.warriors[seat * YARDS + n] = count
        kinds = ("start-action", "steward", "diplomat")
        card = held.get("action_card", "")
        game.action_card[seat] = self.component(card, f"{path}action_card", kinds)
        lantern_kinds = (*kinds, *self.rules.lantern_kinds)
        game.lanterns[seat] = tuple(self.listed(held, "lantern", path, lantern_kinds))
        colours = [COLOUR_NAMES[colour] for colour in self.rules.colours]
        dice = self.table(held, "dice", path, colours)
        for colour in self.rules.colours:
            value = self.optional(dice, COLOUR_NAMES[colour], f"{path}dice.", 6)
            game.domain_dice[seat * 4 + colour] = value
        for section in self.rules.sections:
            section.read_clan(self, game, seat, held)
