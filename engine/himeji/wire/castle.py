"""Positions of the castle family as messages and back; castle.proto says what each list means."""

from himeji.rules.castle.checks import faults
from himeji.rules.castle.constants import (
    COURTIER_PLACES,
    DIPLOMAT_PILE,
    DOMAIN_SPACE,
    PILE_NAMES,
    ROOMS,
    STEWARD_PILE,
    YARDS,
)
from himeji.rules.castle.matcha.constants import CALLIGRAPHY_PILE, FLOWER_PILE
from himeji.rules.castle.reader import LANTERN_KINDS
from himeji.rules.castle.ruleset import CastleRuleset
from himeji.rules.castle.solo.constants import SOLITAIRE_PILE
from himeji.rules.castle.state import CastleGame
from himeji.rules.chance import Chance
from himeji.rules.constants import CHASEN, COIN, FOOD, GOODS, INFLUENCE, IRON, PEARL, SEAL, VP
from himeji.rules.position_reader import settle
from himeji.v1.castle_pb2 import CastlePosition
from himeji.v1.position_pb2 import Position
from himeji.wire.message_reader import MessageReader, read_pending

BRIDGE = 5  # places of a bridge: left, three in the centre, right
COLOURS = 4
GOOD_FIELDS = {
    FOOD: "food",
    IRON: "iron",
    PEARL: "pearl",
    CHASEN: "chasen",
    COIN: "coins",
    SEAL: "seals",
    VP: "points",
    INFLUENCE: "influence",
}


DECK_FIELDS = {
    STEWARD_PILE: "unseen_stewards",
    DIPLOMAT_PILE: "unseen_diplomats",
    SOLITAIRE_PILE: "unseen_solitaires",
    FLOWER_PILE: "unseen_flowers",
    CALLIGRAPHY_PILE: "unseen_calligraphies",
}
TOP_FIELDS = {
    SOLITAIRE_PILE: "solitaire_top",
    FLOWER_PILE: "flower_top",
    CALLIGRAPHY_PILE: "calligraphy_top",
}


def write(game: CastleGame, position: Position) -> None:
    """Fill the castle part of a position message."""
    out = position.castle
    out.round, out.turns_begun, out.deal_attempt = game.round, game.turn, game.deal
    out.drafting = game.drafting
    out.turn_order.extend(game.order)
    out.marker_order.extend(game.markers)
    for good in game.rules.goods:
        getattr(out, GOOD_FIELDS[good]).extend(game.goods[good::GOODS])
    _write_dice(game, out)
    out.die_tiles.extend(game.tiles)
    out.room_cards.extend(game.rooms)
    out.daimyo_card = game.daimyo
    out.daimyo_slots.extend(game.slots)
    for pile, field in DECK_FIELDS.items():
        getattr(out, field).extend(game.unseen[pile])
    for pile, field in TOP_FIELDS.items():
        setattr(out, field, game.tops[pile])
    out.under_solitaires.extend(game.under)
    out.garden_cards.extend(game.gardens)
    out.gardeners.extend(game.gardeners)
    out.yard_tiles.extend(game.yard_tiles)
    out.warriors.extend(game.warriors)
    out.courtiers.extend(game.courtiers)
    out.domain_cards.extend(game.action_card)
    for clan, cards in enumerate(game.lanterns):
        out.lantern_clans.extend([clan] * len(cards))
        out.lantern_cards.extend(cards)
    _write_tea(game, out)
    out.offered_resources.extend(game.pairs[0::2])
    out.offered_actions.extend(game.pairs[1::2])


def _write_tea(game: CastleGame, out: CastlePosition) -> None:
    """The extension board of Matcha; everything is empty without it."""
    out.geishas.extend(game.geishas)
    out.water_lilies.extend(game.lilies)
    out.tea_house_tiles.extend(game.ceremonies[:-1])
    out.overlook_tile = game.ceremonies[-1] if game.ceremonies else 0
    out.domain_tiles.extend(game.domain_tiles)
    out.offered_ceremonies.extend(game.pair_tiles)


def _write_dice(game: CastleGame, out: CastlePosition) -> None:
    for colour in range(COLOURS):
        centre = game.centre[colour]
        out.bridge_dice.extend([game.left[colour], *centre, *[0] * (3 - len(centre))])
        out.bridge_dice.append(game.right[colour])
    if game.hand:
        out.hand_colour = (game.hand >> 3) + 1  # type: ignore[assignment]
        out.hand_value = game.hand & 7
        out.hand_side = game.hand_side + 1  # type: ignore[assignment]
    for space, dice in enumerate(game.spaces):
        for die in dice:
            out.placed_spaces.append(_wire_space(space))  # type: ignore[arg-type]
            out.placed_colours.append((die >> 3) + 1)  # type: ignore[arg-type]
            out.placed_values.append(die & 7)
    out.domain_dice.extend(game.domain_dice)


def _wire_space(space: int) -> int:
    """Domain rows have numbers among the spaces of the rules, but none in the contract."""
    return space + 1 if space < DOMAIN_SPACE else space + 1 - COLOURS


def read(
    rules: CastleRuleset, position: Position, options: dict[str, str], chance: Chance
) -> CastleGame:
    """The game of a position message; refuses an impossible one with every reason found."""
    game = rules.empty(position.seats, chance, options)
    reasons = _Reader(game, position.castle).read()
    reasons += read_pending(game, position)
    settle(game, reasons, faults(game))
    return game


class _Reader(MessageReader):
    """Reads the lists of a message into a game and remembers what does not fit."""

    def __init__(self, game: CastleGame, message: CastlePosition) -> None:
        super().__init__(message, game.tables)
        self.game = game
        self.message = message

    def read(self) -> list[str]:
        """Every reason why the message is no position; the rules have not been asked yet."""
        game, clans = self.game, self.game.clans
        game.round, game.turn = self.message.round, self.message.turns_begun
        game.deal, game.drafting = self.message.deal_attempt, self.message.drafting
        game.order = tuple(self.permutation("turn_order", clans))
        game.markers = tuple(self.permutation("marker_order", clans))
        for good in game.rules.goods:
            most = game.tables.caps[good]
            game.goods[good::GOODS] = self.numbers(GOOD_FIELDS[good], clans, most)
        game.warriors = self.numbers("warriors", clans * YARDS, 5)
        game.courtiers = self.numbers("courtiers", clans * COURTIER_PLACES, 5)
        game.gardeners = self.numbers("gardeners", clans, 63)
        game.slots = self.numbers("daimyo_slots", 3, clans)
        self.read_dice()
        self.read_cards()
        return self.reasons

    def read_dice(self) -> None:
        """Bridges, hand, spaces and domains."""
        game, message = self.game, self.message
        bridges = self.numbers("bridge_dice", COLOURS * BRIDGE, 6)
        for colour in range(COLOURS):
            left, *centre, right = bridges[colour * BRIDGE : (colour + 1) * BRIDGE]
            game.left[colour], game.right[colour] = left, right
            game.centre[colour] = tuple(value for value in centre if value)
        game.domain_dice = self.numbers("domain_dice", game.clans * COLOURS, 6)
        if message.hand_value:
            game.hand = self.die(message.hand_colour, message.hand_value, "hand_value")
            game.hand_side = max(int(message.hand_side) - 1, 0)
        places = {_wire_space(n): n for n, s in enumerate(game.tables.spaces) if s.area != "domain"}
        lists = (message.placed_spaces, message.placed_colours, message.placed_values)
        if len({len(numbers) for numbers in lists}) != 1:
            self.reasons.append("placed_spaces, placed_colours, placed_values: unequal lengths")
            return
        for space, colour, value in zip(*lists, strict=True):
            if space not in places:
                self.reasons.append(f"placed_spaces: there is no space {space}")
            else:
                place = places[space]
                die = self.die(colour, value, "placed_values")
                game.spaces[place] = (*game.spaces[place], die)

    def die(self, colour: int, value: int, field: str) -> int:
        """A die of a colour that is played with."""
        if colour - 1 not in self.game.rules.colours or not 1 <= value <= 6:
            self.reasons.append(f"{field}: there is no die of colour {colour} with value {value}")
            return 0
        return (colour - 1) * 8 + value

    def read_cards(self) -> None:
        """Everything that lies on the board and before the clans."""
        game, message = self.game, self.message
        tiles = tuple(self.cards("die_tiles", len(game.tables.slot_names), ("die-tile",)))
        if not self.reasons:
            game.set_tiles(tiles)
        castle = ("steward", "diplomat")
        game.rooms = self.cards("room_cards", ROOMS, castle, gaps=True)
        game.daimyo = message.daimyo_card if self.is_daimyo(message.daimyo_card) else 0
        self.read_decks()
        self.read_tea()
        game.gardens = tuple(self.cards("garden_cards", 6, ("garden",)))
        game.yard_tiles = tuple(self.cards("yard_tiles", 4, ("yard-tile",)))
        action = ("start-action", *castle)
        game.action_card = self.cards("domain_cards", game.clans, action, gaps=True)
        lanterns = self.cards(
            "lantern_cards", len(message.lantern_clans), (*action, *LANTERN_KINDS)
        )
        game.lanterns = self.grouped("lantern_clans", game.clans, lanterns)
        pairs = len(message.offered_resources)
        resources = self.cards("offered_resources", pairs, ("start-resource",), gaps=True)
        actions = self.cards("offered_actions", pairs, ("start-action",), gaps=True)
        game.pairs = tuple(card for pair in zip(resources, actions, strict=True) for card in pair)

    def read_decks(self) -> None:
        """Cards that nobody has seen, those that lie on top, and those put under a deck."""
        game, message = self.game, self.message
        for pile, field in DECK_FIELDS.items():
            game.unseen[pile] = self.unseen(field, (PILE_NAMES[pile],))
        for pile, field in TOP_FIELDS.items():
            game.lay_on_top(pile, self.card(field, PILE_NAMES[pile]))
        under = self.cards("under_solitaires", len(message.under_solitaires), ("solitaire",))
        game.under = tuple(under)

    def read_tea(self) -> None:
        """The extension board of Matcha, where the ruleset has one."""
        game, message = self.game, self.message
        there = bool(game.geishas)
        tiles = ("ceremony",)
        game.geishas = tuple(self.numbers("geishas", len(game.geishas), 5))
        game.lilies = tuple(self.cards("water_lilies", 3 * there, ("lily",)))
        rooms = self.cards("tea_house_tiles", 3 * there, tiles)
        overlook = [self.card("overlook_tile", "ceremony")] * there
        game.ceremonies = (*rooms, *overlook)
        domains = self.cards("domain_tiles", game.clans * there, tiles, gaps=True)
        game.domain_tiles = tuple(domains)
        offered = len(message.offered_ceremonies) * there
        game.pair_tiles = tuple(self.cards("offered_ceremonies", offered, tiles, gaps=True))

    def card(self, field: str, kind: str) -> int:
        """One component of a kind, or none."""
        number: int = getattr(self.message, field)
        if number and number not in self.game.tables.kinds.get(kind, ()):
            self.reasons.append(f"{field}: not a {kind}")
            return 0
        return number

    def is_daimyo(self, number: int) -> bool:
        """Whether a number is that of a daimyo card."""
        return number in self.game.tables.kinds["daimyo"]
