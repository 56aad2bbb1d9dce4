"""The numbers of Duel and their names: slots, locations, decks, columns, piles, actions.

State is kept in flat lists of small numbers. This module, with the numbers that all families share,
is the one place that says which number means what; everything else uses the names.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final

from himeji.rules.actions import Block, spread
from himeji.rules.constants import COIN, COLOUR_NAMES, SEAL, SIDE_NAMES, count

SEATS: Final = 2
COLOURS: Final = 3  # coral, black, white
TOKENS: Final = 2  # of each colour and seat, at the start
TURNS: Final = 12  # of a round, both seats together
OUTGOING: Final = 1
RETURN: Final = 2
ROUND_NAMES: Final = ("", "outgoing", "return")
STACK: Final = 3  # tokens on one location

# Action slots: six for activation tiles, then the three influence decks.
ACTIVATION_SLOTS: Final = 6
DECKS: Final = 3
SLOT_NAMES: Final = ("A1", "A2", "A3", "A4", "A5", "A6", "D_LEFT", "D_MID", "D_RIGHT")
DECK_NAMES: Final = SLOT_NAMES[ACTIVATION_SLOTS:]
LOCATIONS: Final = 6
LOCATION_NAMES: Final = ("L1", "L2", "L3", "L4", "L5", "L6")

COLUMNS: Final = 6
STONE_COLUMNS: Final = 3  # the first three; the others are plant columns
COLUMN_NAMES: Final = ("G1", "G2", "G3", "G4", "G5", "G6")
BASIC: Final = 0
ELITE: Final = 1
YARDS: Final = 2
YARD_NAMES: Final = ("basic", "elite")
TILE_SPACES: Final = 3  # of a social tile
LEVELS: Final = 4  # gate, light tile, grey tile, top space
TOP_SPACE: Final = 7  # of a path; 0 is the gate
FRAME_NAMES: Final = ("light", "grey")
COMMON: Final = 0
LUXURY: Final = 1
STACKS: Final = 2  # of merchandise
STACK_NAMES: Final = ("common", "luxury")
DISPLAY: Final = 3  # lantern cards face up

KIND_NAMES: Final = ("flag", "weapon", "origami")  # of influence cards
CARDS_PER_KIND: Final = 12
INFLUENCE_CARDS: Final = 36  # components 1 to 36; in a mask, card n is bit n - 1
INFLUENCE_NAMES: Final = tuple(f"{k}-{n:02}" for k in KIND_NAMES for n in range(1, 13))
FLAG: Final = 0
KATANA: Final = 1
KABUTO: Final = 2
WHITE_CRANE: Final = 3
BLUE_CRANE: Final = 4
ICONS: Final = 5
ICON_NAMES: Final = ("flag", "katana", "kabuto", "white crane", "blue crane")

# The six actions, as activation tiles show them.
ACTION_NAMES: Final = ("garden", "training", "courtier", "trade", "lantern", "improve")

# Piles that are drawn from, as events and chance slots name them.
PILE_NAMES: Final = (
    "starting-player",
    "influence",
    "lantern",
    "start",
    "activation",
    "location",
    "basic-yard",
    "elite-yard",
    "social",
    "garden",
    "common",
    "luxury",
)
STARTING_PLAYER_PILE: Final = 0
INFLUENCE_PILE: Final = 1
LANTERN_PILE: Final = 2
START_PILE: Final = 3
ACTIVATION_PILE: Final = 4
LOCATION_PILE: Final = 5
YARD_PILE: Final = 6  # plus the yard
SOCIAL_PILE: Final = 8
GARDEN_PILE: Final = 9
MERCHANDISE_PILE: Final = 10  # plus the stack

# Events of the family, after those that every game has (himeji.rules.game).
TOKEN_PLACED: Final = 16
TOKEN_TAKEN: Final = 17
TILES_SWAPPED: Final = 18
COMPONENT_GAINED: Final = 19
CARD_IMPROVED: Final = 20
SEAL_PLACED: Final = 21
COURTIER_MOVED: Final = 22
DISCARDED: Final = 23
ROUND_BEGAN: Final = 24
ZONE_ACTIVATED: Final = 25

# Actions of the family, beside the common ones. Ids are frozen: a new word takes a new id.
CHOOSE_COIN: Final = 13
CHOOSE_SEAL: Final = 14
CHOOSE_SWAP: Final = 15
CHOOSE_VP: Final = 16
LOSE_COIN: Final = 17
LOSE_SEAL: Final = 18
DISCARD_COIN: Final = 19
DISCARD_SEAL: Final = 20
PLACE: Final = 24  # plus colour * LOCATIONS + location
TAKE: Final = 42  # plus the location
SWAP_TILES: Final = 48  # plus the place of the pair in SWAPS
DECLINE: Final = 64  # plus the slot
DO: Final = 73  # plus the slot
BUY: Final = 82  # plus the deck
TRADE: Final = 85  # plus the deck, then DECKS + the stack of merchandise
GARDEN: Final = 90  # plus the column
TRAIN: Final = 96  # plus the yard
REWARD: Final = 98  # plus the reward's place on the yard tile
CLIMB: Final = 100  # plus side * 2 + spaces - 1
ZONE: Final = 104  # plus the colour
LANTERN_CARD: Final = 107  # plus the place in the display
PICK: Final = 110  # plus the place of the start card
FIRST: Final = 113  # plus the word of the part that is taken first
IMPROVE: Final = 130  # plus the number of the card - 1
PAY_PIECES: Final = 168  # plus the place of the payment in PIECE_PAYMENTS
PAY_ANY: Final = 188  # plus the place of the payment in ANY_PAYMENTS
DECK_WELL: Final = 243  # instead of a card; empty decks are alike, so none is named

MOST_PAID: Final = 5  # units of one payment that leaves a choice
SWAPS: Final = tuple(combinations(range(ACTIVATION_SLOTS), 2))
PART_NAMES: Final = (
    "gains",
    "any",
    "pieces",
    "coin/seal",
    "lantern",
    "lantern-card",
    "improve",
    "buy",
    "free-card",
    "well",
    "garden",
    "training",
    "courtier",
    "trade",
)


def _piece_payments() -> tuple[tuple[int, int], ...]:
    return tuple(
        (amount - seals, seals) for amount in range(1, MOST_PAID + 1) for seals in range(amount + 1)
    )


def _any_payments() -> tuple[tuple[int, int, int], ...]:
    return tuple(
        (food, iron, amount - food - iron)
        for amount in range(1, MOST_PAID + 1)
        for food in range(amount, -1, -1)
        for iron in range(amount - food, -1, -1)
    )


PIECE_PAYMENTS: Final = _piece_payments()
"""Coins and seals of every payment in any mix of them, by amount, in the order of the ids."""
ANY_PAYMENTS: Final = _any_payments()
"""Food, iron and pearl of every payment in any resources, by amount, in the order of the ids."""


def _ranges(first: int, payments: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    return tuple(
        tuple(first + n for n, parts in enumerate(payments) if sum(parts) == amount)
        for amount in range(MOST_PAID + 1)
    )


PAYING_PIECES: Final = _ranges(PAY_PIECES, PIECE_PAYMENTS)
"""The ids of the payments of each amount."""
PAYING_ANY: Final = _ranges(PAY_ANY, ANY_PAYMENTS)


def _sum(goods: tuple[int, ...], amounts: tuple[int, ...]) -> str:
    parts = zip(goods, amounts, strict=True)
    return " ".join([count(amount, good) for good, amount in parts if amount])


def action_texts() -> dict[int, str]:
    """The action table of Duel."""
    colours = COLOUR_NAMES[:COLOURS]
    places = [f"{colour} {location}" for colour in colours for location in LOCATION_NAMES]
    blocks: list[Block] = [
        (PLACE, "place {}", places),
        (TAKE, "take {}", LOCATION_NAMES),
        (SWAP_TILES, "swap {}", [f"{SLOT_NAMES[a]} {SLOT_NAMES[b]}" for a, b in SWAPS]),
        (DECLINE, "decline {}", SLOT_NAMES),
        (DO, "do {}", SLOT_NAMES),
        (BUY, "card {}", DECK_NAMES),
        (TRADE, "trade for {}", (*DECK_NAMES, *STACK_NAMES)),
        (GARDEN, "garden {}", COLUMN_NAMES),
        (TRAIN, "train {}", YARD_NAMES),
        (REWARD, "reward {}", "12"),
        (CLIMB, "climb {}", [f"{side} {spaces}" for side in SIDE_NAMES for spaces in (1, 2)]),
        (ZONE, "lantern {}", colours),
        (LANTERN_CARD, "lantern card {}", "123"),
        (PICK, "pick start card {}", "123"),
        (FIRST, "first {}", PART_NAMES),
        (IMPROVE, "improve {}", INFLUENCE_NAMES),
        (PAY_PIECES, "pay {}", [_sum((COIN, SEAL), pair) for pair in PIECE_PAYMENTS]),
        (PAY_ANY, "pay {}", [_sum((0, 1, 2), units) for units in ANY_PAYMENTS]),
    ]
    texts = {
        CHOOSE_COIN: "choose coin",
        CHOOSE_SEAL: "choose seal",
        CHOOSE_SWAP: "choose swap tile",
        CHOOSE_VP: "choose vp",
        LOSE_COIN: "lose the coin",
        LOSE_SEAL: "lose the seal",
        DISCARD_COIN: "discard a coin",
        DISCARD_SEAL: "discard a seal",
        DECK_WELL: "well of an empty deck",
    }
    return spread(blocks, texts)
