"""The observation vector: every position as numbers in a row of one fixed length, each with a name.

A schema belongs to a ruleset, a number of seats and options. It is drawn up from positions of
random games (`_shape.py`) that are the same everywhere, so it only changes when the ruleset does.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from typing import Final

import numpy as np
from himeji.rules import Game, new_game, ruleset as find_ruleset
from numpy.typing import NDArray

from himeji_sdk.rl._entries import Sheet, View, part
from himeji_sdk.rl._shape import shape_of, sight

LIMIT: Final = 8.0
"""No entry is larger, nor smaller than its negative: what would be is cut."""


class Schema:
    """Names and scales of the entries of an observation, and how to fill them in.

    Get one from `schema`, which draws each up only once.
    """

    def __init__(self, name: str, seats: int, options: Mapping[str, str]) -> None:
        rules = find_ruleset(name)
        game = new_game(name, seats, seed=0, options=options)
        self.ruleset = name
        self.revision = rules.revision
        self.seats = seats
        self.options = game.options
        self._sheet = Sheet(seats, clans=len(game.scores()))
        self._me = [self._sheet.add(f"me={seat}") for seat in range(seats)]
        self._whole = part(self._sheet, "", shape_of(rules, seats, game.options))
        self._scales = np.asarray(self._sheet.scales, np.float32)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def names(self) -> list[str]:
        """What each entry tells, such as `clans/0/coin` or `rooms/steward-room-1=steward-04`."""
        return self._sheet.names

    @property
    def scales(self) -> list[int]:
        """What each entry was divided by."""
        return self._sheet.scales

    def observe(self, game: Game, seat: int) -> NDArray[np.float32]:
        """The position as that seat sees it."""
        view = View(self._sheet, seat)
        view.out[self._me[seat]] = 1
        self._whole.write(sight(game), view)
        view.out /= self._scales
        return np.clip(view.out, -LIMIT, LIMIT, out=view.out)

    def to_json(self) -> str:
        """The schema as a document, to be kept with whatever was trained on it."""
        entries = [
            {"name": name, "scale": scale}
            for name, scale in zip(self.names, self.scales, strict=True)
        ]
        facts = {
            "ruleset": self.ruleset,
            "revision": self.revision,
            "seats": self.seats,
            "options": self.options,
            "entries": entries,
        }
        return json.dumps(facts, indent=1, ensure_ascii=False)

    @property
    def digest(self) -> str:
        """Equal for equal schemas: what was trained on one is of no use with another."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:16]


def schema(
    ruleset: str = "base", seats: int = 2, options: Mapping[str, str] | None = None
) -> Schema:
    """The schema of a ruleset with so many seats and these options."""
    chosen = find_ruleset(ruleset).check_options(options or {})
    return _schema(ruleset, seats, tuple(chosen.items()))


@functools.cache
def _schema(ruleset: str, seats: int, options: tuple[tuple[str, str], ...]) -> Schema:
    return Schema(ruleset, seats, dict(options))
