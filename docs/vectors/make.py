"""Write the golden vectors of official chance: `python docs/vectors/make.py > chance.json`."""

import json
import sys

from himeji.rules.chance import Keyed, seeded

KEYS = [bytes(32), bytes(range(32)), seeded(7).key, bytes([255]) * 32]
SLOTS = [
    "castle/round-1/die/coral/1",
    "castle/round-3/die/white/5",
    "solo/round-2/solitaire",
    "",
    "slot with ünïcode ♦",
]
SIDES = [1, 2, 6, 20]
PILES = {
    "castle/deal-1/steward": [f"steward-{n:02}" for n in range(1, 16)],
    "castle/deal-2/diplomat": [f"diplomat-{n:02}" for n in range(1, 13)],
    "castle/turn-order": ["seat-0", "seat-1", "seat-2", "seat-3"],
    "duel/influence": [f"flag-{n:02}" for n in range(1, 13)],
    "one": ["alone"],
}


def vectors() -> dict[str, object]:
    """Every key with every slot, die and pile."""
    rolls = [
        {"key": key.hex(), "slot": slot, "sides": sides, "result": Keyed(key).roll(slot, sides)}
        for key in KEYS
        for slot in SLOTS
        for sides in SIDES
    ]
    orders = []
    for key in KEYS:
        for slot, cards in PILES.items():
            pile = list(range(len(cards)))
            drawn = [Keyed(key).draw(slot, pile, cards, place) for place in pile]
            result = [cards[card] for card in drawn]
            orders.append({"key": key.hex(), "slot": slot, "cards": cards, "result": result})
    seeds = [{"seed": seed, "key": seeded(seed).key.hex()} for seed in (0, 1, 7, 2**64)]
    return {"version": 1, "seeds": seeds, "rolls": rolls, "orders": orders}


if __name__ == "__main__":
    json.dump(vectors(), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")
