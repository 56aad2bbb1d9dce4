"""Hand-made Matcha positions: where cards, tiles and geishas lie, and what a clan holds."""

import json


def show(position, **cards):
    """Lay cards on top of the outskirts decks."""
    for deck, card in cards.items():
        old = position["tea"]["outskirts"][deck]
        if card != old:
            position["decks"][deck].remove(card)
            position["decks"][deck].append(old)
            position["tea"]["outskirts"][deck] = card


def held(game, seat=0):
    return json.loads(game.to_json())["clans"][seat]


def at(seat=0, /, **places):
    """A change that puts a seat's geishas there; names with an underscore for the dash."""

    def change(position):
        found = {place.replace("_", "-"): number for place, number in places.items()}
        position["clans"][seat]["geishas"] |= {"domain": 5 - sum(found.values())} | found

    return change


def both(*changes):
    def change(position):
        for each in changes:
            each(position)

    return change


def tiles(**places):
    """A change that lays ceremony tiles: `own`, `overlook`, `room` (the gardeners')."""

    def change(position):
        homes = position["tea"]["ceremonies"]
        slots = {"own": (position["clans"][0], "ceremony"), "overlook": (homes, "overlook")}
        slots["room"] = (homes, "gardeners-room")
        for place, number in places.items():
            table, key = slots[place]
            swap(position, table[key], f"ceremony-{number:02}")
            table[key] = f"ceremony-{number:02}"

    return change


def swap(position, old, new):
    """Where the new tile lay, the old one lies now."""
    homes = position["tea"]["ceremonies"]
    for place, tile in homes.items():
        if tile == new:
            homes[place] = old
    for clan in position["clans"]:
        if clan["ceremony"] == new:
            clan["ceremony"] = old


def lilies(*names):
    def change(position):
        position["tea"]["lilies"] = [f"lily-{name}" for name in names]

    return change


def plain(texts):
    return {text for text in texts if not text.startswith("exchange")}


def at_places(**places):
    found = {place.replace("_", "-"): number for place, number in places.items()}
    empty = dict.fromkeys(["overlook", "step-1", "step-2", "entrance"], 0)
    rooms = {f"{kind}s-room": 0 for kind in ("gardener", "warrior", "courtier")}
    return {"domain": 5 - sum(places.values())} | empty | rooms | found
