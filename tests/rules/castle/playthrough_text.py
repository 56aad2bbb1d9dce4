"""A castle game told in words: its position and its events, for playthroughs that people read."""

import json
from itertools import groupby

from himeji.rules.castle.constants import DIE_PLACE_NAMES, GARDEN_NAMES, PLACE_NAMES
from himeji.rules.castle.matcha.constants import (
    GEISHA_PLACE_NAMES,
    MATCHA_SPACE_NAMES,
    MATCHA_WORKER_NAMES,
)
from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES

YARDS = ("yard-1", "yard-2", "yard-3")


def tell_position(game):
    """The board and the clans, in a dozen lines."""
    position = json.loads(game.to_json())
    yield f"round {position['round']}, turn order {', '.join(map(str, position['turn_order']))}"
    yield "bridges    " + "   ".join(_bridge(*bridge) for bridge in position["bridges"].items())
    tiles = {slot: tile.removeprefix("die-tile-") for slot, tile in position["tiles"].items()}
    yield "tiles      " + ", ".join(f"{slot} {tile}" for slot, tile in tiles.items())
    yield "rooms      " + _pairs(position["rooms"])
    yield "gardens    " + _pairs(position["gardens"])
    yield "yards      " + _pairs(position["yard_tiles"])
    yield f"daimyo     {position['daimyo']['card']}"
    placed = {space: " on ".join(reversed(d)) for space, d in position["spaces"].items() if d}
    yield "dice       " + (_pairs(placed) or "none placed")
    if position["pairs"]:
        pairs = [f"{p['resource']} + {p['action']}" for p in position["pairs"] if p]
        yield "pairs      " + ", ".join(pairs)
    if "tea" in position:
        yield from _tea(position["tea"])
    if "solitaire" in position:
        yield f"solitaire  {_solitaire(position)}"
    for seat, clan in enumerate(position["clans"]):
        yield f"clan {seat}     " + _clan(clan)


def _tea(tea):
    yield f"pond       {', '.join(tea['lilies'])}"
    yield "ceremonies " + _pairs(tea["ceremonies"])
    yield "outskirts  " + _pairs(tea["outskirts"])
    if tea["offered"]:
        yield "offered    " + ", ".join(tile or "taken" for tile in tea["offered"])


def _solitaire(position):
    deck, unseen = position["solitaire"], len(position["decks"]["solitaire"])
    under = ", ".join(deck["under"]) or "nothing"
    return f"top {deck['top'] or 'none'}, {unseen} unseen, under them {under}"


def _pairs(table):
    return ", ".join(f"{key}: {value or 'none'}" for key, value in table.items())


def _bridge(colour, bridge):
    centre = " ".join(map(str, bridge["centre"]))
    return f"{colour} [{bridge['left'] or ' '}] {centre} [{bridge['right'] or ' '}]"


def _clan(clan):
    goods = ", ".join(f"{clan[good]} {good}" for good in GOOD_NAMES if clan.get(good))
    away = [f"{n} at {place}" for place, n in clan["courtiers"].items() if n and place != "domain"]
    geishas = clan.get("geishas", {})
    away += [f"{n} geisha at {place}" for place, n in geishas.items() if n and place != "domain"]
    away += [f"gardener in {garden}" for garden in clan["gardeners"]]
    away += [f"{n} in {yard}" for yard, n in clan["warriors"].items() if n]
    shining = ", ".join(clan["lantern"]) or "dark"
    cards = f"{clan['action_card'] or 'no card'}{_tile(clan)}; lantern {shining}"
    return "; ".join(part for part in (goods or "nothing", ", ".join(away), cards) if part)


def _tile(clan):
    return f" and {clan['ceremony']}" if clan.get("ceremony") else ""


def tell_events(game, events):
    """The events in words, one line each; rolls of a colour and draws of a pile share a line."""
    for (kind, what, rule), group in groupby(
        events, key=lambda event: (event.kind, event.a, event.rule)
    ):
        if kind == "roll":
            values = " ".join(str(event.b) for event in group)
            yield f"{COLOUR_NAMES[what]} dice roll {values} ({rule})"
        elif kind == "draw":
            drawn = ", ".join(_drawn(game, what, event.b) for event in group)
            yield f"draw for {game.rules.pile_names[what]}: {drawn} ({rule})"
        else:
            yield from (f"{_words(game, event)} ({rule})" for event in group)


def _words(game, event):
    who = f"seat {event.seat}" if event.seat < game.seats else "the rival"
    return _WORDS[event.kind](game, who, event.a, event.b)


def _drawn(game, pile, card):
    return (
        f"seat {card}" if game.rules.pile_names[pile] == "turn-order" else game.tables.names[card]
    )


def _member(_, who, worker, place):
    if MATCHA_WORKER_NAMES[worker] == "courtier":
        start, end = divmod(place, len(PLACE_NAMES))
        return f"{who}: a courtier goes from {PLACE_NAMES[start]} to {PLACE_NAMES[end]}"
    if MATCHA_WORKER_NAMES[worker] == "geisha":
        start, end = divmod(place, len(GEISHA_PLACE_NAMES))
        return f"{who}: a geisha goes from {GEISHA_PLACE_NAMES[start]} to {GEISHA_PLACE_NAMES[end]}"
    home = (GARDEN_NAMES, YARDS)[worker - 1]
    return f"{who}: a {MATCHA_WORKER_NAMES[worker]} goes to {home[place]}"


def _card(game, who, card, shines):
    where = ("is the action card", "shines in the Lantern Area", "leaves the game")
    return f"{who}: {game.tables.names[card]} {where[shines]}"


def _die(die):
    return f"{COLOUR_NAMES[die >> 3]} {die & 7}"


_WORDS = {
    "gain": lambda _, who, good, amount: f"{who} gains {amount} {GOOD_NAMES[good]}",
    "lost": lambda _, who, good, amount: f"{who} has no room for {amount} {GOOD_NAMES[good]}",
    "pay": lambda _, who, good, amount: f"{who} pays {amount} {GOOD_NAMES[good]}",
    "score": lambda game, who, line, n: f"{who} scores {n} for {game.rules.scoring[line].name}",
    "over": lambda _, who, rank, points: f"{who} ends as number {rank} with {points} points",
    "die-taken": lambda _, who, die, side: (
        f"{who} takes {_die(die)} from the {DIE_PLACE_NAMES[side]}"
    ),
    "die-placed": lambda _, who, die, space: (
        f"{who} places {_die(die)} on {MATCHA_SPACE_NAMES[space]}"
    ),
    "member-moved": _member,
    "card-moved": _card,
    "influence-moved": lambda _, who, position, __: f"{who}: influence goes to {position}",
    "round-began": lambda _, __, number, ___: f"round {number} begins",
    "turn-order-set": lambda _, who, place, __: f"{who} is number {place + 1} in turn order",
    "solitaire-read": lambda game, who, card, used: (
        f"{who} {('turns over', 'takes the die of')[used]} {game.tables.names[card]}"
    ),
    "effect": lambda game, who, card, row: f"{who} uses {game.tables.names[card]}, row {row + 1}",
}
