"""Reading a position of Duel from JSON: every fault is collected, none is hidden by another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from himeji.rules.chance import Chance
from himeji.rules.constants import SIDE_NAMES
from himeji.rules.duel.checks import faults
from himeji.rules.duel.constants import (
    CARDS_PER_KIND,
    COLOURS,
    COLUMN_NAMES,
    DECK_NAMES,
    DISPLAY,
    FRAME_NAMES,
    LOCATION_NAMES,
    RETURN,
    SEATS,
    STACK_NAMES,
    TOP_SPACE,
    TURNS,
    YARD_NAMES,
)
from himeji.rules.duel.position import ACTIVATION_NAMES, KEYS, ZONE_NAMES, clan
from himeji.rules.duel.setup import STARTS
from himeji.rules.duel.state import DuelGame
from himeji.rules.position_reader import PositionReader, settle

if TYPE_CHECKING:
    from himeji.rules.duel.ruleset import DuelRuleset

INFLUENCE = ("influence-card",)
LANTERN = ("lantern-card",)
MANY = 99  # more than anything that is counted; the checks say what is possible


def parse(rules: DuelRuleset, position: Mapping[str, Any], chance: Chance) -> DuelGame:
    """The game of a position; an impossible one is refused with every reason that is found."""
    reader = DuelReader(rules, position)
    game = reader.read(chance)
    settle(game, reader.reasons, faults(game))
    return game


class DuelReader(PositionReader):
    """Reads a position of Duel into a game."""

    def __init__(self, rules: DuelRuleset, position: Mapping[str, Any]) -> None:
        super().__init__(rules, rules.tables, position)
        self.rules = rules

    def read(self, chance: Chance) -> DuelGame:
        """The game as far as it can be read; valid only if there are no reasons against it."""
        position = self.position
        options = self.options()
        game = self.rules.empty(self.seats(), chance, options)
        self.known(position, KEYS, "")
        game.round = self.number(position, "round", "", RETURN)
        game.turn = self.number(position, "turn", "", TURNS)
        game.starter = self.number(position, "starter", "", SEATS - 1)
        game.drafting = self.flag(position, "set_up", "")
        game.over = self.flag(position, "over", "")
        self.read_castle(game)
        self.read_cards(game)
        self.read_grounds(game)
        self.read_clans(game)
        game.stack = self.pending(game)
        return game

    def shown(self, key: str, kinds: Sequence[str], most: int) -> list[int]:
        """Components in a row, null where none lies."""
        found = [self.component(card, key, kinds) for card in self.items(self.position, key, "")]
        if len(found) > most:
            self.fault(key, f"{len(found)} entries, there are at most {most}")
        return found[:most]

    def read_castle(self, game: DuelGame) -> None:
        """Activation tiles, Locations with their tokens, decks."""
        game.slots = self.cards("activation", ACTIVATION_NAMES, ("activation-tile",))
        locations = self.table(self.position, "locations", "", LOCATION_NAMES)
        tiles = []
        for number, name in enumerate(LOCATION_NAMES):
            path = f"locations.{name}."
            place = self.table(locations, name, "locations.", ("tile", "tokens"))
            tiles.append(self.component(place.get("tile", ""), f"{path}tile", ("location-tile",)))
            tokens = self.items(place, "tokens", path)
            if all(token in ZONE_NAMES for token in tokens):
                game.stacks[number] = tuple(ZONE_NAMES.index(token) for token in tokens)
            else:
                self.fault(f"{path}tokens", f"expected colours of {', '.join(ZONE_NAMES)}")
        game.locations = tuple(tiles)
        decks = self.table(self.position, "decks", "", DECK_NAMES)
        for number, name in enumerate(DECK_NAMES):
            path = f"decks.{name}."
            deck = self.table(decks, name, "decks.", ("top", "below"))
            game.tops[number] = self.component(deck.get("top", ""), f"{path}top", INFLUENCE)
            game.below[number] = self.number(deck, "below", path, CARDS_PER_KIND)

    def read_cards(self, game: DuelGame) -> None:
        """Cards that nobody has yet."""
        game.unseen = tuple(sorted(self.listed(self.position, "unseen_cards", "", INFLUENCE)))
        display = self.shown("lantern_cards", LANTERN, DISPLAY)
        game.display = display + [0] * (DISPLAY - len(display))
        game.lanterns = tuple(sorted(self.listed(self.position, "lantern_deck", "", LANTERN)))
        game.offers = tuple(self.shown("start_cards", ("start-card",), STARTS))

    def read_grounds(self, game: DuelGame) -> None:
        """Gardens, yards, paths and merchandise."""
        game.gardens = tuple(self.cards("gardens", COLUMN_NAMES, ("garden-tile",)))
        yards = self.table(self.position, "yards", "", YARD_NAMES)
        game.yards = tuple(
            self.component(yards.get(name, ""), f"yards.{name}", (f"{name}-yard",))
            for name in YARD_NAMES
        )
        paths, social = self.table(self.position, "paths", "", SIDE_NAMES), []
        for side in SIDE_NAMES:
            frames = self.table(paths, side, "paths.", FRAME_NAMES)
            for frame in FRAME_NAMES:
                where = f"paths.{side}.{frame}"
                social.append(self.component(frames.get(frame, ""), where, ("social-tile",)))
        game.social = tuple(social)
        wares = self.table(self.position, "merchandise", "", STACK_NAMES)
        for number, name in enumerate(STACK_NAMES):
            path, kinds = f"merchandise.{name}.", (f"{name}-merchandise",)
            stack = self.table(wares, name, "merchandise.", ("top", "below"))
            game.wares[number] = self.component(stack.get("top", ""), f"{path}top", kinds)
            game.hidden_wares[number] = tuple(sorted(self.listed(stack, "below", path, kinds)))

    def read_clan(self, game: DuelGame, seat: int, held: Mapping[str, Any], path: str) -> None:
        self.known(held, clan(game, seat), path)
        self.goods(game, seat, held, path)
        counted = (
            ("tokens", ZONE_NAMES, game.tokens),
            ("garden_seals", COLUMN_NAMES, game.garden_seals),
            ("yard_seals", YARD_NAMES, game.yard_seals),
        )
        for key, names, into in counted:
            table = self.table(held, key, path, names)
            for number, name in enumerate(names):
                amount = self.number(table, name, f"{path}{key}.", MANY)
                into[seat * len(names) + number] = amount
        zones = self.table(held, "zones", path, ZONE_NAMES)
        for number, name in enumerate(ZONE_NAMES):
            cards = self.listed(zones, name, f"{path}zones.", (*LANTERN, "start-card"))
            game.zones[seat * COLOURS + number] = tuple(cards)
        game.cards[seat] = self.mask(held, "cards", path)
        game.improved[seat] = self.mask(held, "improved", path)
        kinds = tuple(f"{name}-merchandise" for name in STACK_NAMES)
        game.bought[seat] = tuple(self.listed(held, "merchandise", path, kinds))
        side = held.get("path", "")
        if side is not None and side not in SIDE_NAMES:
            self.fault(f"{path}path", f"{side!r} is neither left, right nor null")
        game.paths[seat] = SIDE_NAMES.index(side) + 1 if side in SIDE_NAMES else 0
        game.courtiers[seat] = self.number(held, "courtier", path, TOP_SPACE)

    def mask(self, held: Mapping[str, Any], key: str, path: str) -> int:
        """Influence cards as a mask; a card that is named twice is refused."""
        mask = 0
        for card in self.listed(held, key, path, INFLUENCE):
            if card and mask >> (card - 1) & 1:
                self.fault(f"{path}{key}", f"{self.box.names[card]} is named twice")
            elif card:
                mask |= 1 << (card - 1)
        return mask
