"""A mirror of a game in an arena, fed by the events in the arena's messages."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from himeji import rules
from himeji.rules import Game, Mirror
from himeji.v1.game_pb2 import EndReason, Event, Game as GameMessage, GameResult
from himeji.wire.events import from_events
from himeji.wire.positions import from_options

from himeji_sdk._bot import End, Start


class MissingEventsError(Exception):
    """Events were lost on the way, so that the mirror needs all of them again."""


class RemoteMirror:
    """A game as its events so far show it. Its future chance is its own, by a fresh seed."""

    def __init__(self, game: GameMessage) -> None:
        """Raises UnknownRuleset, VersionMismatch for a game that this engine does not play."""
        self._ruleset = rules.ruleset(game.ruleset)
        self._ruleset.check_revision(game.revision, "game")
        options = from_options(game.options)
        seed = secrets.randbits(96)
        self._mirror = Mirror(game.ruleset, len(game.seats), options, seed)
        self.event_count = 0

    @property
    def game(self) -> Game:
        """The position, as the caller's own copy."""
        return self._mirror.game.clone()

    def feed(self, first: int, events: Sequence[Event]) -> None:
        """Apply events, of which the first has this number; skip those that are known.

        Raises MissingEventsError if they do not follow on what is known.
        """
        if first > self.event_count:
            raise MissingEventsError(f"events {self.event_count} to {first - 1} are missing")
        fresh = events[self.event_count - first :]
        self._mirror.feed(from_events(self._ruleset, fresh))
        self.event_count += len(fresh)


def start_of(game: GameMessage, seat: int) -> Start:
    """The argument of a bot's `on_start`."""
    names = tuple(each.bot or each.plan.name for each in game.seats)
    return Start(game.ruleset, seat, names, from_options(game.options), game.game_id)


def end_of(game_id: str, seat: int, result: GameResult) -> End:
    """The argument of a bot's `on_end`."""
    return End(
        seat,
        reason_text(result.end_reason),
        tuple(each.score for each in result.seats),
        tuple(each.rank for each in result.seats),
        game_id,
    )


def reason_text(reason: EndReason.ValueType) -> str:
    """An end reason in small letters, such as "no_contest"; unknown ones by their number."""
    known = reason in EndReason.values()
    return EndReason.Name(reason).removeprefix("END_REASON_").lower() if known else str(reason)
