"""A castle position as readable JSON; docs/positions.md explains every key."""

from __future__ import annotations

from typing import Any

from himeji.rules.castle.constants import (
    COURTIER_PLACES,
    GARDEN_NAMES,
    PLACE_NAMES,
    ROOMS,
    SPACE_NAMES,
    YARD_TILE_NAMES,
    YARDS,
)
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES, GOODS, SIDE_NAMES
from himeji.rules.position_reader import head

KEYS = (
    *("ruleset", "revision", "seats", "options", "round", "turn", "deal", "set_up", "over"),
    *("turn_order", "markers", "bridges", "hand", "spaces", "tiles", "rooms", "decks"),
    *("daimyo", "gardens", "yard_tiles", "pairs", "clans", "pending"),
)
YARD_NAMES = tuple(f"yard-{number + 1}" for number in range(YARDS))


def describe(game: CastleGame) -> dict[str, Any]:
    """The position with names instead of numbers."""
    rules, names = game.rules, game.tables.names
    return {
        **head(game),
        "deal": game.deal,
        "set_up": game.drafting,
        "over": game.over,
        "turn_order": list(game.order),
        "markers": list(game.markers),
        "bridges": {
            COLOUR_NAMES[colour]: {
                "left": game.left[colour] or None,
                "centre": list(game.centre[colour]),
                "right": game.right[colour] or None,
            }
            for colour in rules.colours
        },
        "hand": _hand(game),
        "spaces": {
            space.name: [_die(die) for die in game.spaces[number]]
            for number, space in enumerate(game.tables.spaces)
            if space.area != "domain"
        },
        "tiles": {
            slot: names[tile] for slot, tile in zip(game.tables.slot_names, game.tiles, strict=True)
        },
        "rooms": {SPACE_NAMES[room]: names[game.rooms[room]] or None for room in range(ROOMS)},
        "decks": {
            rules.pile_names[pile]: [names[card] for card in sorted(game.unseen[pile])]
            for pile in rules.decks
        },
        "daimyo": {
            "card": names[game.daimyo],
            "slots": [seat - 1 if seat else None for seat in game.slots],
        },
        "gardens": {
            name: names[card] for name, card in zip(GARDEN_NAMES, game.gardens, strict=True)
        },
        "yard_tiles": {
            name: names[tile] for name, tile in zip(YARD_TILE_NAMES, game.yard_tiles, strict=True)
        },
        "pairs": [
            {
                "resource": names[game.pairs[at]] or None,
                "action": names[game.pairs[at + 1]] or None,
            }
            if game.pairs[at] or game.pairs[at + 1]
            else None
            for at in range(0, len(game.pairs), 2)
        ],
        "clans": [clan(game, seat) for seat in range(game.clans)],
        **{section.key: section.describe(game) for section in rules.sections},
        "pending": [rules.codec.to_json(step) for step in game.stack],
    }


def _die(die: int) -> str:
    return f"{COLOUR_NAMES[die >> 3]} {die & 7}"


def _hand(game: CastleGame) -> dict[str, Any] | None:
    if not game.hand:
        return None
    return {"die": _die(game.hand), "side": SIDE_NAMES[game.hand_side]}


def clan(game: CastleGame, seat: int) -> dict[str, Any]:
    names, at = game.tables.names, seat * COURTIER_PLACES
    return {
        **{GOOD_NAMES[good]: game.goods[seat * GOODS + good] for good in game.rules.goods},
        "courtiers": {name: game.courtiers[at + n] for n, name in enumerate(PLACE_NAMES)},
        "gardeners": [name for n, name in enumerate(GARDEN_NAMES) if game.gardeners[seat] >> n & 1],
        "warriors": {name: game.warriors[seat * YARDS + n] for n, name in enumerate(YARD_NAMES)},
        "action_card": names[game.action_card[seat]] or None,
        "lantern": [names[card] for card in game.lanterns[seat]],
        "dice": {
            COLOUR_NAMES[colour]: game.domain_dice[seat * 4 + colour] or None
            for colour in game.rules.colours
        },
        **{
            key: value
            for section in game.rules.sections
            for key, value in section.describe_clan(game, seat).items()
        },
    }
