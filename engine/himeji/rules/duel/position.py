"""A position of Duel as readable JSON; docs/positions.md explains every key."""

from __future__ import annotations

from typing import Any

from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES, GOODS, SIDE_NAMES
from himeji.rules.duel.constants import (
    ACTIVATION_SLOTS,
    COLOURS,
    COLUMN_NAMES,
    COLUMNS,
    DECK_NAMES,
    FRAME_NAMES,
    INFLUENCE_CARDS,
    LOCATION_NAMES,
    SLOT_NAMES,
    STACK_NAMES,
    YARD_NAMES,
    YARDS,
)
from himeji.rules.duel.state import DuelGame
from himeji.rules.position_reader import head

KEYS = (
    *("ruleset", "revision", "seats", "options", "round", "turn", "starter", "set_up", "over"),
    *("start_cards", "activation", "locations", "decks", "unseen_cards", "lantern_cards"),
    *("lantern_deck", "gardens", "yards", "paths", "merchandise", "clans", "pending"),
)
ACTIVATION_NAMES = SLOT_NAMES[:ACTIVATION_SLOTS]
ZONE_NAMES = COLOUR_NAMES[:COLOURS]


def describe(game: DuelGame) -> dict[str, Any]:
    """The position with names instead of numbers."""
    rules, names = game.rules, game.tables.names
    return {
        **head(game),
        "starter": game.starter,
        "set_up": game.drafting,
        "over": game.over,
        "start_cards": [names[card] or None for card in game.offers],
        "activation": _named(game, ACTIVATION_NAMES, game.slots),
        "locations": {
            name: {
                "tile": names[game.locations[number]],
                "tokens": [COLOUR_NAMES[colour] for colour in game.stacks[number]],
            }
            for number, name in enumerate(LOCATION_NAMES)
        },
        "decks": {
            name: {"top": names[game.tops[deck]] or None, "below": game.below[deck]}
            for deck, name in enumerate(DECK_NAMES)
        },
        "unseen_cards": [names[card] for card in sorted(game.unseen)],
        "lantern_cards": [names[card] or None for card in game.display],
        "lantern_deck": [names[card] for card in sorted(game.lanterns)],
        "gardens": _named(game, COLUMN_NAMES, game.gardens),
        "yards": _named(game, YARD_NAMES, game.yards),
        "paths": {
            side: _named(game, FRAME_NAMES, game.social[2 * number : 2 * number + 2])
            for number, side in enumerate(SIDE_NAMES)
        },
        "merchandise": {
            name: {
                "top": names[game.wares[stack]] or None,
                "below": [names[tile] for tile in sorted(game.hidden_wares[stack])],
            }
            for stack, name in enumerate(STACK_NAMES)
        },
        "clans": [clan(game, seat) for seat in range(game.clans)],
        "pending": [rules.codec.to_json(step) for step in game.stack],
    }


def _named(game: DuelGame, keys: tuple[str, ...], numbers: Any) -> dict[str, str]:
    names = game.tables.names
    return {key: names[number] for key, number in zip(keys, numbers, strict=True)}


def masked(mask: int) -> list[int]:
    """The influence cards of a mask."""
    return [number for number in range(1, INFLUENCE_CARDS + 1) if mask >> (number - 1) & 1]


def clan(game: DuelGame, seat: int) -> dict[str, Any]:
    """What a seat has."""
    names = game.tables.names
    path = game.paths[seat]
    return {
        **{GOOD_NAMES[good]: game.goods[seat * GOODS + good] for good in game.rules.goods},
        "tokens": {name: game.tokens[seat * COLOURS + n] for n, name in enumerate(ZONE_NAMES)},
        "zones": {
            name: [names[card] for card in game.zones[seat * COLOURS + n]]
            for n, name in enumerate(ZONE_NAMES)
        },
        "cards": [names[card] for card in masked(game.cards[seat])],
        "improved": [names[card] for card in masked(game.improved[seat])],
        "merchandise": [names[tile] for tile in game.bought[seat]],
        "garden_seals": {
            name: game.garden_seals[seat * COLUMNS + n] for n, name in enumerate(COLUMN_NAMES)
        },
        "yard_seals": {
            name: game.yard_seals[seat * YARDS + n] for n, name in enumerate(YARD_NAMES)
        },
        "path": SIDE_NAMES[path - 1] if path else None,
        "courtier": game.courtiers[seat],
    }
