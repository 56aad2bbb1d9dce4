"""Hand-made boards: where die tiles and castle cards lie, and what a clan holds."""

import json

GOODS = ("food", "iron", "pearl", "coin", "seal", "vp", "influence")
ROOM_TILES = (
    {"diamond-1": "white-any", "3": "coral-coin", "8": "black-coin"}  # steward-room-1
    | {"diamond-2": "black-food", "4": "coral-iron", "9": "white-coin"}  # steward-room-2
    | {"diamond-3": "coral-pearl", "5": "white-food", "10": "black-any"}  # steward-room-3
    | {"1": "black-pearl", "6": "white-iron"}  # diplomat-room-1
    | {"2": "white-pearl", "7": "coral-any"}  # diplomat-room-2
    | {"11": "coral-food", "12": "black-iron"}  # the Well
)
"""Each room has tiles of three colours, and a diplomat room of two."""
ROW_TILES = (
    {"diamond-1": "coral-food", "diamond-2": "black-food", "diamond-3": "white-food"}  # top rows
    | {"1": "coral-any", "2": "black-iron"}  # upper tiles of the diplomat rooms
    | {"3": "coral-pearl", "4": "white-iron", "5": "coral-iron"}  # middle rows
    | {"6": "white-any", "7": "coral-coin"}  # lower tiles of the diplomat rooms
    | {"8": "black-any", "9": "black-pearl", "10": "white-pearl"}  # bottom rows
    | {"11": "black-coin", "12": "white-coin"}  # the Well
)
"""Some rooms have two tiles of a colour, others none of one."""


def lay_tiles(position, tiles):
    """Lay die tiles by slot; each is named by a colour and a gift."""
    position["tiles"] = {slot: f"die-tile-{tiles[slot]}" for slot in position["tiles"]}


def lay_rooms(position, cards):
    """Lay castle cards into the rooms, in their order; all others go to their decks."""
    decks = position["decks"]
    every = [*position["rooms"].values(), *decks["steward"], *decks["diplomat"]]
    position["rooms"] = dict(zip(position["rooms"], cards, strict=True))
    for kind in ("steward", "diplomat"):
        decks[kind] = sorted(c for c in every if c.startswith(kind) and c not in cards)


def goods(game, seat=0):
    """What a clan holds, without what it has none of."""
    held = json.loads(game.to_json())["clans"][seat]
    return {good: held[good] for good in GOODS if held[good]}
