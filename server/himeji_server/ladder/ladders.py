"""The ladders of an arena: one per ruleset and seat count by default, changed by a TOML file."""

import itertools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from himeji import rules
from himeji.rules.errors import HimejiError, UnknownLadder
from himeji.rules.ruleset import Ruleset
from himeji.wire.clock import LADDER, Clock

from himeji_server.names import NAME
from himeji_server.startup_errors import StartRefusedError

DIFFICULTY: Final = "difficulty"
"""The option whose values are ladders of their own, because results do not compare across them."""

_KEYS: Final[dict[str, type | tuple[type, ...]]] = {
    "ruleset": str,
    "seats": int,
    "options": dict,
    "bank": (int, float),
    "increment": (int, float),
    "strike_limit": int,
    "ready": (int, float),
    "trusted": bool,
    "accepting": bool,
}


@dataclass(frozen=True)
class Ladder:
    """A kind of game with standings of its own."""

    name: str
    ruleset: str
    seats: int
    options: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = LADDER
    strike_limit: int = 3
    ready: int = 10_000
    """Milliseconds that a bot has to answer a seating."""

    trusted: bool = False
    accepting: bool = True


class Ladders:
    """The ladders of an arena by their names."""

    def __init__(self, ladders: Mapping[str, Ladder]) -> None:
        self._ladders = dict(sorted(ladders.items()))

    def __getitem__(self, name: str) -> Ladder:
        """The ladder of that name; raises UnknownLadder."""
        if name not in self._ladders:
            raise UnknownLadder(f"there is no ladder {name}", {"ladder": name})
        return self._ladders[name]

    @property
    def names(self) -> list[str]:
        return list(self._ladders)

    def names_of(self, ladder: str) -> list[str]:
        """The name of a ladder, or all names for ""; raises UnknownLadder."""
        return [self[ladder].name] if ladder else self.names

    @property
    def shared(self) -> list[str]:
        """The ladders that bots can enter and on which they meet other bots."""
        return [
            name for name, ladder in self._ladders.items() if ladder.accepting and ladder.seats > 1
        ]


def defaults() -> dict[str, Ladder]:
    """A ladder for every ruleset, seat count and difficulty that is registered."""
    return {
        ladder.name: ladder
        for ruleset in rules.RULESETS.values()
        for ladder in _ladders_of(ruleset)
    }


def _ladders_of(ruleset: Ruleset) -> list[Ladder]:
    counts = ruleset.seat_counts
    levels = ruleset.choices.get(DIFFICULTY, ("",))
    found = []
    for seats, level in itertools.product(counts, levels):
        name = ruleset.name + (f"-{seats}p" if len(counts) > 1 else "")
        name += f"-{level}" if level else ""
        options = ruleset.check_options({DIFFICULTY: level} if level else {})
        found.append(Ladder(name, ruleset.name, seats, options))
    return found


def read(file: Path | None) -> Ladders:
    """The default ladders with those of a file added or replaced; raises StartRefusedError."""
    if file is None:
        return Ladders(defaults())
    try:
        found = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StartRefusedError(f"{file} cannot be read as a file of ladders: {error}") from error
    only = found.pop("only", False)
    ladders = {} if only is True else defaults()
    for name, entry in found.items():
        ladders[name] = _ladder(file, name, entry, ladders.get(name))
    if not ladders:
        raise StartRefusedError(f"{file} names no ladder")
    return Ladders(ladders)


def _ladder(file: Path, name: str, entry: Any, before: Ladder | None) -> Ladder:
    """One ladder of the file; keys that it leaves out are those of the default of that name."""
    place = f"{file}, ladder {name}"
    if not isinstance(entry, dict) or re.fullmatch(NAME, name) is None:
        raise StartRefusedError(f"{place}: a ladder is a table with a name of small letters")
    for key, value in entry.items():
        if key not in _KEYS or not isinstance(value, _KEYS[key]):
            known = ", ".join(_KEYS)
            raise StartRefusedError(f"{place}: {key} is not one of {known}, or of another kind")
    given = {key: _milliseconds(value) if key in _TIMES else value for key, value in entry.items()}
    standard = before.clock if before is not None else LADDER
    clock = Clock(
        given.pop("bank", standard.bank_ms), given.pop("increment", standard.increment_ms)
    )
    merged = (before.__dict__ if before is not None else {}) | given
    merged |= {"name": name, "clock": clock}
    try:
        if "ruleset" not in merged:
            raise StartRefusedError(f"{place}: it needs a ruleset")
        ruleset = rules.ruleset(merged["ruleset"])
        merged.setdefault("seats", ruleset.seat_counts[0])
        ruleset.check_seats(merged["seats"])
        options = {key: str(value) for key, value in merged.get("options", {}).items()}
        merged["options"] = ruleset.check_options(options)
    except HimejiError as error:
        raise StartRefusedError(f"{place}: {error.message}") from error
    if min(clock.bank_ms, merged.get("strike_limit", 1), merged.get("ready", 1)) < 1:
        raise StartRefusedError(f"{place}: bank, ready and strike_limit are more than 0")
    return Ladder(**merged)


_TIMES: Final = frozenset({"bank", "increment", "ready"})


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
