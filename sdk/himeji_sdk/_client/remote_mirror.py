"""A game that is followed from afar: a mirror, fed by the events that an arena tells."""

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
    """Events were lost on the way, so the mirror has to be told everything again."""


class Following:
    """What is known of a game by its events. The future in it is its own, by a fresh seed."""

    def __init__(self, game: GameMessage) -> None:
        """Raises UnknownRuleset, VersionMismatch for a game that this engine does not play."""
        self._ruleset = rules.ruleset(game.ruleset)
        self._ruleset.check_revision(game.revision)
        options = from_options(game.options)
        seed = secrets.randbits(96)
        self._mirror = Mirror(game.ruleset, len(game.seats), options, seed)
        self.count = 0
        """How many events are known."""

    @property
    def game(self) -> Game:
        """A copy of the position, for whoever wants to play in it."""
        return self._mirror.game.clone()

    def take(self, first: int, events: Sequence[Event]) -> None:
        """Take events in, of which the first has this number; those that are known are skipped."""
        if first > self.count:
            raise MissingEventsError(f"events {self.count} to {first - 1} were not told")
        fresh = events[self.count - first :]
        self._mirror.feed(from_events(self._ruleset, fresh))
        self.count += len(fresh)


def start_of(game: GameMessage, seat: int) -> Start:
    """What a bot is told of a game before it begins."""
    names = tuple(each.bot or each.plan.name for each in game.seats)
    return Start(game.ruleset, seat, names, from_options(game.options), game.game_id)


def end_of(game_id: str, seat: int, result: GameResult) -> End:
    """What a bot is told of a game at its end."""
    return End(
        seat,
        reason_text(result.end_reason),
        tuple(each.score for each in result.seats),
        tuple(each.rank for each in result.seats),
        game_id,
    )


def reason_text(reason: EndReason.ValueType) -> str:
    """An end reason in small letters, as people read it."""
    known = reason in EndReason.values()
    return EndReason.Name(reason).removeprefix("END_REASON_").lower() if known else str(reason)
