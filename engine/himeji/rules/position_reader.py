"""Reading JSON from outside, value by value: every fault is noted, and reading goes on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from himeji.rules.clans import ClanGame
from himeji.rules.components import Box
from himeji.rules.constants import GOOD_NAMES, GOODS
from himeji.rules.errors import ImpossiblePosition
from himeji.rules.game import Game, Step
from himeji.rules.ruleset import Ruleset

MOST_HELD = 1 << 20  # of a good without a cap, so that no gain in play is ever lost
_MISSING = object()


class Reader:
    """Collects reasons why a position is none. A value that cannot be read becomes a stand-in."""

    def __init__(self) -> None:
        self.reasons: list[str] = []

    def fault(self, where: str, problem: str) -> None:
        self.reasons.append(f"{where}: {problem}")

    def known(self, table: Mapping[str, Any], keys: Collection[str], path: str) -> None:
        """Refuse keys that mean nothing: a misspelt one must not be lost in silence."""
        for key in table:
            if key not in keys:
                self.fault(f"{path}{key}", "unknown key")

    def number(self, table: Mapping[str, Any], key: str, path: str, most: int) -> int:
        """A whole number from 0 to `most`."""
        value = table.get(key, _MISSING)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
            return value
        self._wrong(value, path + key, f"a whole number from 0 to {most}")
        return 0

    def optional(self, table: Mapping[str, Any], key: str, path: str, most: int) -> int:
        """A whole number from 1 to `most`, or null for none, which is 0."""
        value = table.get(key, _MISSING)
        if value is None:
            return 0
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most:
            return value
        self._wrong(value, path + key, f"a whole number from 1 to {most} or null")
        return 0

    def flag(self, table: Mapping[str, Any], key: str, path: str) -> bool:
        value = table.get(key, _MISSING)
        if isinstance(value, bool):
            return value
        self._wrong(value, path + key, "true or false")
        return False

    def table(
        self, table: Mapping[str, Any], key: str, path: str, keys: Collection[str]
    ) -> Mapping[str, Any]:
        """An object with some of these keys."""
        value = table.get(key, _MISSING)
        if isinstance(value, Mapping):
            self.known(value, keys, f"{path}{key}.")
            return value
        self._wrong(value, path + key, "an object")
        return {}

    def items(self, table: Mapping[str, Any], key: str, path: str) -> list[Any]:
        value = table.get(key, _MISSING)
        if isinstance(value, list):
            return value
        self._wrong(value, path + key, "a list")
        return []

    def permutation(self, table: Mapping[str, Any], key: str, path: str, count: int) -> list[int]:
        """Every number below `count` once."""
        value = self.items(table, key, path)
        whole = all(isinstance(each, int) and not isinstance(each, bool) for each in value)
        if whole and sorted(value) == list(range(count)):
            return value
        self.fault(path + key, f"expected each of the numbers 0 to {count - 1} once")
        return list(range(count))

    def _wrong(self, value: Any, where: str, expected: str) -> None:
        if value is _MISSING:
            self.fault(where, "missing")
        else:
            self.fault(where, f"{value!r} is not {expected}")


class PositionReader(Reader):
    """Reads what positions of all families have: seats, components, pending steps."""

    def __init__(self, ruleset: Ruleset, box: Box[Any], position: Mapping[str, Any]) -> None:
        super().__init__()
        self.ruleset = ruleset
        self.box = box
        self.position = position

    def options(self) -> dict[str, str]:
        """The options of the game."""
        options = self.table(self.position, "options", "", tuple(self.ruleset.choices))
        return {str(key): str(value) for key, value in options.items()}

    def seats(self) -> int:
        """The number of seats, or the smallest one if it cannot be read."""
        seats = self.position.get("seats")
        if seats in self.ruleset.seat_counts and not isinstance(seats, bool):
            return int(seats)
        counts = ", ".join(map(str, self.ruleset.seat_counts))
        self.fault("seats", f"{seats!r} is not one of {counts}")
        return self.ruleset.seat_counts[0]

    def goods(self, game: ClanGame, seat: int, held: Mapping[str, Any], path: str) -> None:
        """What a clan holds of each good."""
        for good in self.ruleset.goods:
            most = min(game.caps[good], MOST_HELD)
            game.goods[seat * GOODS + good] = self.number(held, GOOD_NAMES[good], path, most)

    def component(self, value: Any, where: str, kinds: Sequence[str]) -> int:
        """A component of one of the kinds."""
        number = self.box.numbers.get(value, 0) if isinstance(value, str) else 0
        if number and self.box.of(number).kind in kinds:
            return number
        if value is not None:
            self.fault(where, f"{value!r} is not a {' or '.join(kinds)}")
        return 0

    def listed(
        self, table: Mapping[str, Any], key: str, path: str, kinds: Sequence[str]
    ) -> list[int]:
        """A list of components."""
        where, values = f"{path}{key}", self.items(table, key, path)
        if any(value is None for value in values):
            self.fault(where, f"null is not a {' or '.join(kinds)}")
        return [self.component(value, where, kinds) for value in values]

    def cards(
        self, key: str, keys: Sequence[str], kinds: Sequence[str], *, gaps: bool = False
    ) -> list[int]:
        """One component for each of the keys of a table; null is none, where gaps are allowed."""
        table = self.table(self.position, key, "", keys)
        found = []
        for name in keys:
            where = f"{key}.{name}"
            value = table.get(name, "")
            found.append(self.component(value, where, kinds))
            if value is None and not gaps:
                self.fault(where, "is empty")
        return found

    def read_clans(self, game: ClanGame) -> None:
        """What each clan has."""
        clans = self.items(self.position, "clans", "")
        if len(clans) != game.clans or not all(isinstance(held, Mapping) for held in clans):
            self.fault("clans", f"expected {game.clans} objects")
            return
        for seat, held in enumerate(clans):
            self.read_clan(game, seat, held, f"clans[{seat}].")

    def read_clan(self, game: Any, seat: int, held: Mapping[str, Any], path: str) -> None:
        """One clan: a family reads its own."""
        raise NotImplementedError

    def pending(self, game: Game) -> list[Step]:
        """The stack of pending steps."""
        steps: list[Step] = []
        for number, written in enumerate(self.items(self.position, "pending", "")):
            try:
                step = self.ruleset.codec.from_json(written if isinstance(written, Mapping) else {})
            except ValueError as problem:
                self.fault(f"pending[{number}]", str(problem))
                continue
            if step.seat >= game.seats:
                self.fault(f"pending[{number}]", f"there is no seat {step.seat}")
            steps.append(step)
        return steps


def head(game: Game) -> dict[str, Any]:
    """What the JSON form of every position begins with, and a reader asks for first."""
    return {
        "ruleset": game.ruleset.name,
        "revision": game.ruleset.revision,
        "seats": game.seats,
        "options": dict(game.options),
        "round": game.round,
        "turn": game.turn,
    }


def twice(places: Iterable[tuple[int, str]], names: Sequence[str], rule: str) -> list[str]:
    """Every component that lies in two places."""
    found, seen = [], dict[int, str]()
    for number, place in places:
        if number in seen:
            name = names[number]
            found.append(f"{name} lies in two places: {seen[number]} and {place} ({rule})")
        seen[number] = place
    return found


def step_faults(game: ClanGame) -> list[str]:
    """Every pending step that does not fit the position."""
    found, known = [], game.ruleset.rule_ids()
    for number, step in enumerate(game.stack):
        fault = step.fault(game) if step.seat < game.clans else ""
        if step.rule not in known:
            fault = f"there is no rule {step.rule}"
        if fault:
            found.append(f"pending[{number}]: {fault}")
    return found


def settle(game: Game, reasons: list[str], faults: list[str]) -> None:
    """Refuse a game that was read with faults, else let it stand at its next decision.

    A fault of the rules that speaks of a value which could not even be read is left out.
    """
    unread = {_path(reason) for reason in reasons}
    # By path, not by fault: a hostile position has thousands of faults in a few places.
    heard = {path for path in {*map(_path, faults)} if not _concerns(path, unread)}
    found = reasons + [fault for fault in faults if _path(fault) in heard]
    if found:
        raise ImpossiblePosition(found)
    if game.over:
        return
    try:
        game.advance()
    except (LookupError, NotImplementedError, StopIteration):
        # Steps say what they need (Step.fault); this is for what they could not foresee.
        raise ImpossiblePosition(["pending: the position cannot go on from here"]) from None


def _path(reason: str) -> str:
    return reason.partition(":")[0]


def _concerns(path: str, unread: set[str]) -> bool:
    return any(path.startswith(each) or each.startswith(path) for each in unread)
