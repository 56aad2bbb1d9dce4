"""A bot's copy of a game, rebuilt from what the game tells everybody: its events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from himeji.rules.chance import Chance, Fast, Scripted
from himeji.rules.errors import ChanceExhausted, GameNotStarted, VersionMismatch
from himeji.rules.game import ACTION, DRAW, EVENT_KINDS, ROLL, Event, Game
from himeji.rules.registry import new_game

_ACTION: Final = EVENT_KINDS[ACTION]
_RESULTS: Final = (EVENT_KINDS[ROLL], EVENT_KINDS[DRAW])


class Mirror:
    """Follows a game by its events alone: the past is scripted, the future is its own.

    Events are told in their order, in pieces of any size. The copy stands after the last action
    whose rolls and draws have all been told. Its seed must have nothing to do with the game's.
    """

    def __init__(
        self, name: str, seats: int, options: Mapping[str, str] | None = None, seed: int = 0
    ) -> None:
        self._name = name
        self._seats = seats
        self._options = dict(options or {})
        self._script = Scripted((), Fast(seed))
        self._game: Game | None = None
        self._told: list[Event] = []  # told, and not yet compared with what the copy lived
        self._compared = 0

    @property
    def game(self) -> Game:
        """The copy. Search in clones of it: whoever plays on it leaves the game it follows."""
        if self._game is None:
            raise GameNotStarted("the set-up of the game has not been told to its end")
        return self._game

    def feed(self, events: Sequence[Event]) -> None:
        """Tell what happened next, as `events_since` of the game gives it."""
        self._told.extend(events)
        while self._live():
            pass
        self._compare()

    def _live(self) -> bool:
        """Live through one more action (first: the set-up); False if more must be told before."""
        self._compare()
        told, game = self._told, self._game
        if game is not None and not told:
            return False
        end = 0 if game is None else 1
        while end < len(told) and told[end].kind != _ACTION:
            end += 1
        results = [event.b for event in told[:end] if event.kind in _RESULTS]
        whole = end < len(told)  # the next action is there, so nothing of this one is missing
        if not whole and self._lacks(results):
            return False
        for result in results:
            self._script.feed(result)
        if game is None:
            self._game = new_game(
                self._name, self._seats, chance=self._script, options=self._options
            )
        else:
            self._check_action(told[0])
            game.apply(told[0].a)
        return True

    def _lacks(self, results: list[int]) -> bool:
        """Whether the next action (or the set-up) asks for more chance results than these."""
        end = _EndOfScript()
        script = Scripted(results, end)
        try:
            if self._game is None:
                new_game(self._name, self._seats, chance=script, options=self._options)
            else:
                self._check_action(self._told[0])
                twin = self._game.clone()
                twin.chance = script
                twin.apply(self._told[0].a)
        except ChanceExhausted:
            if not end.reached:
                raise
        return end.reached

    def _check_action(self, event: Event) -> None:
        if event.kind != _ACTION:
            raise VersionMismatch(
                f"event {self._compared} of the game is {event}, this engine expects an action: "
                "the engines differ, or the mirror's own game was played on instead of a clone"
            )

    def _compare(self) -> None:
        """What the copy lived through must be what was told."""
        if self._game is None:
            return
        lived = self._game.events_since(self._compared)
        known = min(len(lived), len(self._told))
        for number in range(known):
            if lived[number] != self._told[number]:
                raise VersionMismatch(
                    f"event {self._compared + number} of the game is {self._told[number]}, "
                    f"this engine makes it {lived[number]}: the engines differ, "
                    "or the mirror's own game was played on instead of a clone"
                )
        del self._told[:known]
        self._compared += known


class _EndOfScript(Chance):
    """Stands after a script and remembers that somebody asked for more."""

    def __init__(self) -> None:
        self.reached = False

    def roll(self, slot: str, sides: int) -> int:
        """There is no result yet."""
        self.reached = True
        raise ChanceExhausted(f"slot {slot} has not been told yet")

    def draw(self, slot: str, cards: list[int], names: Sequence[str], offset: int) -> int:
        """There is no result yet."""
        return self.roll(slot, 0)

    def clone(self) -> Chance:
        return self
