"""Chance: every roll and draw is asked for by the name of its slot, from one of three sources.

`Keyed` is the official one: a result depends on the key and the slot's name alone, so that other
play never shifts other draws, and any language can verify it with HMAC-SHA256. `Fast` is for
search. `Scripted` repeats known results, for replays and mirrors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from himeji.rules.errors import ChanceExhausted, InvalidRequest

KEY_BYTES = 32
_WORD = 0xFFFFFFFF


class Chance:
    """What a game asks of chance. A slot is named once in a game and never asked for twice."""

    def roll(self, slot: str, sides: int) -> int:
        """The face, 1 to `sides`, that the die of this slot shows."""
        raise NotImplementedError

    def draw(self, slot: str, cards: list[int], names: Sequence[str], offset: int) -> int:
        """The card at place `offset` of the shuffled pile that holds just `cards`.

        `names[card]` is the card's id. Piles cut from one shuffle share a slot: the offset of a
        pile's top card is the number of cards in the piles before it.
        """
        raise NotImplementedError

    def clone(self) -> Chance:
        """A source that will give the same results as this one, independent of it."""
        raise NotImplementedError


class Keyed(Chance):
    """Official chance: `HMAC-SHA256(key, slot)` decides, as the published vectors show."""

    def __init__(self, key: bytes) -> None:
        if len(key) != KEY_BYTES:
            raise InvalidRequest(f"a chance key has {KEY_BYTES} bytes, this one has {len(key)}")
        self.key = key
        block = key.ljust(64, b"\0")
        # HMAC's two halves with the key already in them: three times as fast as hmac.digest.
        self._inner = hashlib.sha256(bytes([byte ^ 0x36 for byte in block]))
        self._outer = hashlib.sha256(bytes([byte ^ 0x5C for byte in block]))
        self._known: dict[str, bytes] = {}

    def roll(self, slot: str, sides: int) -> int:
        """The digest as one big-endian number, modulo the sides (bias below 2**-250), plus one."""
        return int.from_bytes(self._digest(slot), "big") % sides + 1

    def draw(self, slot: str, cards: list[int], names: Sequence[str], offset: int) -> int:
        """The cards in the order of the digests of `slot/name`; the one at `offset`."""
        order = sorted([(self._digest(f"{slot}/{names[card]}"), card) for card in cards])
        return order[offset][1]

    def clone(self) -> Chance:
        """The key decides everything, so the source may be shared."""
        return self

    def _digest(self, text: str) -> bytes:
        digest = self._known.get(text)
        if digest is None:
            inner, outer = self._inner.copy(), self._outer.copy()
            inner.update(text.encode())
            outer.update(inner.digest())
            digest = outer.digest()
            self._known[text] = digest
        return digest


class Fast(Chance):
    """Quick chance for search: the generator sfc32, small enough to be copied with every clone."""

    def __init__(self, seed: int) -> None:
        self._a = seed & _WORD
        self._b = (seed >> 32) & _WORD
        self._c = (seed >> 64) & _WORD
        self._d = 1
        for _ in range(12):  # the generator's own rule: the first words only mix the seed
            self._next()

    def below(self, limit: int) -> int:
        """A number from 0 up to, not including, `limit`."""
        return (self._next() * limit) >> 32

    def roll(self, slot: str, sides: int) -> int:
        """Any face, equally likely."""
        return self.below(sides) + 1

    def draw(self, slot: str, cards: list[int], names: Sequence[str], offset: int) -> int:
        """Any of the cards, equally likely."""
        return cards[self.below(len(cards))]

    def clone(self) -> Chance:
        """The same generator in the same state."""
        twin = Fast(0)
        twin._a, twin._b, twin._c, twin._d = self._a, self._b, self._c, self._d
        return twin

    def _next(self) -> int:
        out = (self._a + self._b + self._d) & _WORD
        self._d = (self._d + 1) & _WORD
        self._a = self._b ^ (self._b >> 9)
        self._b = (self._c + (self._c << 3)) & _WORD
        self._c = (((self._c << 21) | (self._c >> 11)) + out) & _WORD
        return out


class Scripted(Chance):
    """Known results in their order; when they are used up, `after` goes on, or the game stops."""

    def __init__(self, results: Sequence[int], after: Chance | None = None) -> None:
        self._results = list(results)
        self._used = 0
        self._after = after

    def feed(self, result: int) -> None:
        """Add a result that became known."""
        self._results.append(result)

    def roll(self, slot: str, sides: int) -> int:
        """The next result, which must be a face of the die."""
        if self._used == len(self._results):
            return self._source(slot).roll(slot, sides)
        result = self._results[self._used]
        if not 1 <= result <= sides:
            raise ChanceExhausted(f"slot {slot} rolls 1 to {sides}, the script says {result}")
        self._used += 1
        return result

    def draw(self, slot: str, cards: list[int], names: Sequence[str], offset: int) -> int:
        """The next result, which must be one of the cards."""
        if self._used == len(self._results):
            return self._source(slot).draw(slot, cards, names, offset)
        result = self._results[self._used]
        if result not in cards:
            raise ChanceExhausted(f"slot {slot} cannot draw card {result}, it is not in the pile")
        self._used += 1
        return result

    def clone(self) -> Chance:
        """The results that are still to come, and what follows them."""
        after = self._after.clone() if self._after is not None else None
        return Scripted(self._results[self._used :], after)

    def _source(self, slot: str) -> Chance:
        if self._after is None:
            raise ChanceExhausted(f"the script of chance results ends before slot {slot}")
        return self._after


class Recorded(Chance):
    """Another source whose results are remembered with their slots, for replays."""

    def __init__(self, source: Chance) -> None:
        self._source = source
        self.results: list[tuple[str, int]] = []

    def roll(self, slot: str, sides: int) -> int:
        """What the source rolls."""
        result = self._source.roll(slot, sides)
        self.results.append((slot, result))
        return result

    def draw(self, slot: str, cards: list[int], names: Sequence[str], offset: int) -> int:
        """What the source draws."""
        result = self._source.draw(slot, cards, names, offset)
        self.results.append((slot, result))
        return result

    def clone(self) -> Chance:
        """The source alone: what a copy of a game does is not remembered."""
        return self._source.clone()


def seeded(seed: int) -> Keyed:
    """Official chance from a small number, for examples, tests and matches on one's own machine."""
    return Keyed(hashlib.sha256(f"himeji/seed/{seed}".encode()).digest())
