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
