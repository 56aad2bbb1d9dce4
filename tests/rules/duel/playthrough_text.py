"""A game of Duel told in words: its position and its events, for playthroughs that people read."""

import json

from himeji.rules.constants import GOOD_NAMES


def tell_position(game):
    """The board and the seats, in some twenty lines."""
    position = json.loads(game.to_json())
    yield f"round {position['round']}, turn {position['turn']}, starter {position['starter']}"
    yield "activation  " + _pairs(position["activation"])
    places = {
        name: f"{place['tile'].removeprefix('location-')}{_stack(place['tokens'])}"
        for name, place in position["locations"].items()
    }
    yield "locations   " + _pairs(places)
    decks = {name: f"{d['top']} over {d['below']}" for name, d in position["decks"].items()}
    yield "decks       " + _pairs(decks)
    yield f"lanterns    {', '.join(card or 'none' for card in position['lantern_cards'])}"
    yield "gardens     " + _pairs(position["gardens"])
    yield "yards       " + _pairs(position["yards"])
    yield "paths       " + _pairs(
        {s: " then ".join(p.values()) for s, p in position["paths"].items()}
    )
    yield "merchandise " + _pairs({n: w["top"] for n, w in position["merchandise"].items()})
    if position["start_cards"]:
        yield f"start cards {', '.join(card or 'picked' for card in position['start_cards'])}"
    for seat, clan in enumerate(position["clans"]):
        yield f"seat {seat}      " + _clan(clan)


def _pairs(table):
    return ", ".join(f"{key}: {value or 'none'}" for key, value in table.items())


def _stack(tokens):
    return "".join(f" < {token}" for token in tokens)


def _clan(clan):
    goods = ", ".join(f"{clan[good]} {good}" for good in GOOD_NAMES if clan.get(good))
    tokens = "tokens " + " ".join(f"{n} {colour}" for colour, n in clan["tokens"].items())
    zones = [f"{colour} {', '.join(cards)}" for colour, cards in clan["zones"].items() if cards]
    seals = {**clan["garden_seals"], **clan["yard_seals"]}
    placed = [f"{n} in {place}" for place, n in seals.items() if n]
    path = f"courtier on {clan['courtier']} of {clan['path']}" if clan["path"] else ""
    cards = [f"{key} {', '.join(clan[key])}" for key in ("cards", "improved", "merchandise")]
    parts = (goods or "nothing", tokens, *zones, ", ".join(placed), path)
    return "; ".join([part for part in parts if part] + [card for card in cards if card[-1] != " "])


def tell_events(game, events):
    """The events in words, one line each."""
    kinds = {name: kind for kind, name in game.rules.event_kinds.items()}
    for event in events:
        record = (kinds[event.kind], event.seat, event.a, event.b, event.rule)
        yield f"{game.rules.tell(record, 2)} ({event.rule})"
