"""Positions of the castle family as messages and back; castle.proto says what each list means."""

from himeji.rules.castle.checks import faults
from himeji.rules.castle.constants import (
    COURTIER_PLACES,
    DIPLOMAT_PILE,
    DOMAIN_SPACE,
    ROOMS,
    STEWARD_PILE,
    YARDS,
)
from himeji.rules.castle.reader import MOST_DEALS
from himeji.rules.castle.ruleset import CastleRuleset
from himeji.rules.castle.solo.constants import SOLITAIRE_PILE
from himeji.rules.castle.state import CastleGame
from himeji.rules.chance import Chance
from himeji.rules.constants import (
    CHASEN,
    COIN,
    COLOUR_NAMES,
    FOOD,
    GOODS,
    INFLUENCE,
    IRON,
    LEFT,
    PEARL,
    RIGHT,
    SEAL,
    VP,
)
from himeji.rules.position_reader import MOST_HELD, settle
from himeji.v1.castle_pb2 import CastlePosition
from himeji.v1.position_pb2 import Position
from himeji.wire import castle_matcha as matcha
from himeji.wire.message_reader import Deck, MessageReader, read_pending

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


DECKS = (
    Deck(STEWARD_PILE, "steward", "unseen_stewards"),
    Deck(DIPLOMAT_PILE, "diplomat", "unseen_diplomats"),
    Deck(SOLITAIRE_PILE, "solitaire", "unseen_solitaires", "solitaire_top"),
    *matcha.DECKS,
)


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
    for deck in DECKS:
        getattr(out, deck.unseen).extend(game.unseen[deck.pile])
        if deck.top:
            setattr(out, deck.top, game.tops[deck.pile])
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
    matcha.write(game, out)
    out.offered_resources.extend(game.pairs[0::2])
    out.offered_actions.extend(game.pairs[1::2])


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
    reasons = CastleMessageReader(game, position.castle).read()
    reasons += read_pending(game, position)
    settle(game, reasons, faults(game))
    return game


class CastleMessageReader(MessageReader):
    """Reads the lists of a message into a game and remembers what does not fit."""

    def __init__(self, game: CastleGame, message: CastlePosition) -> None:
        super().__init__(message, game.tables)
        self.game = game
        self.message = message

    def read(self) -> list[str]:
        """Every reason why the message is no position; the rules have not been asked yet."""
        game, clans = self.game, self.game.clans
        game.round = self.number("round", game.rules.rounds)
        game.turn = self.number("turns_begun", clans * game.rules.turns)
        game.deal, game.drafting = self.number("deal_attempt", MOST_DEALS), self.message.drafting
        game.order = tuple(self.permutation("turn_order", clans))
        game.markers = tuple(self.permutation("marker_order", clans))
        for good, field in GOOD_FIELDS.items():
            held = clans if good in game.rules.goods else 0
            numbers = self.numbers(field, held, min(game.caps[good], MOST_HELD))
            game.goods[good::GOODS] = numbers or [0] * clans
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
        for colour in range(COLOURS):
            dice = (
                bridges[colour * BRIDGE : (colour + 1) * BRIDGE] + game.domain_dice[colour::COLOURS]
            )
            if colour not in game.rules.colours and any(dice):
                self.reasons.append(f"bridge_dice: {COLOUR_NAMES[colour]} dice are not played with")
        if message.hand_value:
            game.hand = self.die(message.hand_colour, message.hand_value, "hand_value")
            game.hand_side = int(message.hand_side) - 1
            if game.hand_side not in (LEFT, RIGHT):
                self.reasons.append(f"hand_side: there is no side {message.hand_side}")
                game.hand_side = LEFT
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
        matcha.read(game, message, self)
        game.gardens = tuple(self.cards("garden_cards", 6, ("garden",)))
        game.yard_tiles = tuple(self.cards("yard_tiles", 4, ("yard-tile",)))
        action = ("start-action", *castle)
        game.action_card = self.cards("domain_cards", game.clans, action, gaps=True)
        lanterns = self.cards(
            "lantern_cards", len(message.lantern_clans), (*action, *game.rules.lantern_kinds)
        )
        game.lanterns = self.grouped("lantern_clans", game.clans, lanterns)
        pairs = len(message.offered_resources)
        resources = self.cards("offered_resources", pairs, ("start-resource",), gaps=True)
        actions = self.cards("offered_actions", pairs, ("start-action",), gaps=True)
        game.pairs = tuple(card for pair in zip(resources, actions, strict=True) for card in pair)

    def read_decks(self) -> None:
        """Cards that nobody has seen, those that lie on top, and those put under a deck."""
        game, message = self.game, self.message
        for deck in DECKS:
            game.unseen[deck.pile] = self.unseen(deck.unseen, (deck.kind,))
            if deck.top:
                game.lay_on_top(deck.pile, self.card(deck.top, deck.kind))
        under = self.cards("under_solitaires", len(message.under_solitaires), ("solitaire",))
        game.under = tuple(under)

    def is_daimyo(self, number: int) -> bool:
        """Whether a number is that of a daimyo card."""
        return number in self.game.tables.kinds["daimyo"]
