"""Positions of Duel as messages and back; duel.proto says what each list means."""

from typing import Final

from himeji.rules.chance import Chance
from himeji.rules.constants import COIN, FOOD, GOODS, IRON, PEARL, SEAL, SWAP, VP
from himeji.rules.duel.checks import faults
from himeji.rules.duel.constants import (
    ACTIVATION_SLOTS,
    CARDS_PER_KIND,
    COLOURS,
    COLUMNS,
    COMMON,
    DECKS,
    DISPLAY,
    LOCATIONS,
    LUXURY,
    RETURN,
    TOP_SPACE,
    TURNS,
    YARD_NAMES,
    YARDS,
)
from himeji.rules.duel.position import masked
from himeji.rules.duel.ruleset import DuelRuleset
from himeji.rules.duel.setup import STARTS
from himeji.rules.duel.state import DuelGame
from himeji.rules.position_reader import MOST_HELD, settle
from himeji.v1.duel_pb2 import DuelPosition
from himeji.v1.position_pb2 import Position
from himeji.wire.message_reader import MessageReader, read_pending

GOOD_FIELDS: Final = {
    FOOD: "food",
    IRON: "iron",
    PEARL: "pearl",
    COIN: "coins",
    SEAL: "seals",
    VP: "points",
    SWAP: "swap_tiles",
}
INFLUENCE: Final = ("influence-card",)
LANTERN: Final = ("lantern-card",)
WARES: Final = ("common-merchandise", "luxury-merchandise")
SOCIAL_TILES: Final = 4
MOST_SEALS: Final = 99  # the checks of the rules say how many fit


def write(game: DuelGame, position: Position) -> None:
    """Fill the Duel part of a position message."""
    out = position.duel
    out.round, out.turns_begun, out.starting_seat = game.round, game.turn, game.starter
    out.drafting = game.drafting
    out.activation_tiles.extend(game.slots)
    out.location_tiles.extend(game.locations)
    for location, stack in enumerate(game.stacks):
        out.token_locations.extend([location] * len(stack))
        out.token_colours.extend(stack)
    out.seat_tokens.extend(game.tokens)
    out.deck_tops.extend(game.tops)
    out.deck_cards_below.extend(game.below)
    out.unseen_influence.extend(game.unseen)
    out.lantern_display.extend(game.display)
    out.unseen_lanterns.extend(game.lanterns)
    for place, cards in enumerate(game.zones):
        out.zone_places.extend([place] * len(cards))
        out.zone_cards.extend(cards)
    out.garden_tiles.extend(game.gardens)
    out.garden_seals.extend(game.garden_seals)
    out.yard_tiles.extend(game.yards)
    out.yard_seals.extend(game.yard_seals)
    out.social_tiles.extend(game.social)
    out.paths.extend(game.paths)
    out.courtiers.extend(game.courtiers)
    out.merchandise_tops.extend(game.wares)
    out.unseen_common.extend(game.hidden_wares[COMMON])
    out.unseen_luxury.extend(game.hidden_wares[LUXURY])
    for good, field in GOOD_FIELDS.items():
        getattr(out, field).extend(game.goods[good::GOODS])
    out.offered_starts.extend(game.offers)
    for seat in range(game.clans):
        _write_owned(game, seat, out)


def _write_owned(game: DuelGame, seat: int, out: DuelPosition) -> None:
    cards = masked(game.cards[seat] | game.improved[seat])
    out.owned_seats.extend([seat] * len(cards))
    out.owned_cards.extend(cards)
    out.owned_improved.extend([bool(game.improved[seat] >> (card - 1) & 1) for card in cards])
    out.bought_seats.extend([seat] * len(game.bought[seat]))
    out.bought_tiles.extend(game.bought[seat])


def read(
    rules: DuelRuleset, position: Position, options: dict[str, str], chance: Chance
) -> DuelGame:
    """The game of a position message; refuses an impossible one with every reason found."""
    game = rules.empty(position.seats, chance, options)
    reasons = DuelMessageReader(game, position.duel).read()
    reasons += read_pending(game, position)
    settle(game, reasons, faults(game))
    return game


class DuelMessageReader(MessageReader):
    """Reads the lists of a message into a game and remembers what does not fit."""

    def __init__(self, game: DuelGame, message: DuelPosition) -> None:
        super().__init__(message, game.tables)
        self.game = game
        self.message = message

    def read(self) -> list[str]:
        """Every reason why the message is no position; the rules have not been asked yet."""
        game, message, clans = self.game, self.message, self.game.clans
        game.round, game.turn = self.number("round", RETURN), self.number("turns_begun", TURNS)
        game.drafting = message.drafting
        game.starter = self.number("starting_seat", clans - 1)
        for good, field in GOOD_FIELDS.items():
            most = min(game.caps[good], MOST_HELD)
            game.goods[good::GOODS] = self.numbers(field, clans, most)
        game.tokens = self.numbers("seat_tokens", clans * COLOURS, LOCATIONS)
        game.garden_seals = self.numbers("garden_seals", clans * COLUMNS, MOST_SEALS)
        game.yard_seals = self.numbers("yard_seals", clans * YARDS, MOST_SEALS)
        game.paths = self.numbers("paths", clans, 2)
        game.courtiers = self.numbers("courtiers", clans, TOP_SPACE)
        self.read_board()
        self.read_cards()
        self.read_owned()
        return self.reasons

    def read_board(self) -> None:
        game = self.game
        game.slots = self.cards("activation_tiles", ACTIVATION_SLOTS, ("activation-tile",))
        game.locations = tuple(self.cards("location_tiles", LOCATIONS, ("location-tile",)))
        tokens = len(self.message.token_locations)
        colours = self.numbers("token_colours", tokens, COLOURS - 1)
        game.stacks = self.grouped("token_locations", LOCATIONS, colours)
        game.gardens = tuple(self.cards("garden_tiles", COLUMNS, ("garden-tile",)))
        kinds = [f"{name}-yard" for name in YARD_NAMES]
        game.yards = tuple(self.each("yard_tiles", kinds))
        game.social = tuple(self.cards("social_tiles", SOCIAL_TILES, ("social-tile",)))

    def read_cards(self) -> None:
        """Decks, display, merchandise and start cards."""
        game, message = self.game, self.message
        game.tops = self.cards("deck_tops", DECKS, INFLUENCE, gaps=True)
        game.below = self.numbers("deck_cards_below", DECKS, CARDS_PER_KIND)
        game.unseen = self.unseen("unseen_influence", INFLUENCE)
        game.display = self.cards("lantern_display", DISPLAY, LANTERN, gaps=True)
        game.lanterns = self.unseen("unseen_lanterns", LANTERN)
        game.wares = self.each("merchandise_tops", WARES, gaps=True)
        game.hidden_wares = [
            self.unseen("unseen_common", WARES[:1]),
            self.unseen("unseen_luxury", WARES[1:]),
        ]
        starts = STARTS if message.drafting else 0
        game.offers = tuple(self.cards("offered_starts", starts, ("start-card",), gaps=True))

    def read_owned(self) -> None:
        """What lies before the seats."""
        game, message, clans = self.game, self.message, self.game.clans
        zone_kinds = (*LANTERN, "start-card")
        zone_cards = self.cards("zone_cards", len(message.zone_places), zone_kinds)
        game.zones = self.grouped("zone_places", clans * COLOURS, zone_cards)
        tiles = self.cards("bought_tiles", len(message.bought_seats), WARES)
        game.bought = self.grouped("bought_seats", clans, tiles)
        owned = len(message.owned_seats)
        cards = self.cards("owned_cards", owned, INFLUENCE)
        if len(set(cards)) != owned:
            self.reasons.append("owned_cards: a card is named twice")
        improved = self.numbers("owned_improved", owned, 1)
        shown = [card * 2 + int(side) for card, side in zip(cards, improved, strict=True)]
        for seat, found in enumerate(self.grouped("owned_seats", clans, shown)):
            for each in found:
                mask = game.improved if each % 2 else game.cards
                mask[seat] |= 1 << (each // 2) >> 1
