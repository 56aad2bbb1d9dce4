"""Plays a replay step by step: each action, what followed from it, and the position after."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from himeji import rules
from himeji.rules import Game, Scripted
from himeji.rules.errors import InvalidRequest, Refused
from himeji.v1.game_service_pb2 import LogCause, LogEntry, Replay
from himeji.wire.positions import from_options
from himeji.wire.verification import check_causes

from himeji_sdk._client.remote_mirror import reason_text


@dataclass(frozen=True)
class Moment:
    """Where a game stands after one more thing happened in it."""

    number: int
    """How many moments lie before; 0 is the set-up."""

    title: str
    """What happened, in a few words."""

    happened: tuple[str, ...]
    """Everything that followed from it, in words."""

    game: Game
    """The position after it, as the caller's own copy."""

    seat: int | None = None
    """Whose part in the game it is about, None for nobody's."""

    action: int | None = None
    """The action that was played, None for what is none: the set-up, a lost seat, a stop."""


def moments(replay: Replay) -> Iterator[Moment]:
    """All moments of a game, of one that is not over as well."""
    ruleset = rules.ruleset(replay.game.ruleset)
    ruleset.check_revision(replay.game.revision, "replay")
    check_causes(replay)
    player = _ReplayPlayer(replay)
    try:
        for entry in replay.log:
            yield from player.play_entry(entry)
    except Refused as error:
        raise InvalidRequest(f"the replay contradicts itself: {error.message}") from None


class _ReplayPlayer:
    """Plays the log of a replay with the chance results that stand in it."""

    def __init__(self, replay: Replay) -> None:
        self._game: Game | None = None
        self._replay = replay
        self._number = self._log_count = 0

    def play_entry(self, entry: LogEntry) -> Iterator[Moment]:
        if entry.cause == LogCause.LOG_CAUSE_START:
            yield self._start()
        seat = entry.seat if entry.HasField("seat") else None
        for action in entry.actions:
            yield self._play(action, seat, entry.cause)
        if entry.cause == LogCause.LOG_CAUSE_SEAT_LOST:
            yield self._moment(f"seat {seat} is lost: {reason_text(entry.end_reason)}", seat)
        elif entry.cause == LogCause.LOG_CAUSE_STOPPED and self._game is not None:
            yield self._moment(f"the game is stopped: {reason_text(entry.end_reason)}")

    def _start(self) -> Moment:
        game = self._replay.game
        chance = Scripted([each.result for each in self._replay.chance])
        options = from_options(game.options)
        self._game = rules.new_game(game.ruleset, len(game.seats), chance=chance, options=options)
        return self._moment("the game begins")

    def _play(self, action: int, seat: int | None, cause: LogCause.ValueType) -> Moment:
        game = self._started()
        game.apply(action)
        who = "the stand-in" if cause == LogCause.LOG_CAUSE_STAND_IN else f"seat {seat}"
        title = f"{who}: {game.ruleset.actions.text(action)}"
        return self._moment(title, seat, action)

    def _moment(self, title: str, seat: int | None = None, action: int | None = None) -> Moment:
        game = self._started()
        fresh = (game.log or [])[self._log_count :]
        self._log_count += len(fresh)
        happened = tuple(game.ruleset.tell(record, game.seats) for record in fresh)
        self._number += 1
        return Moment(self._number - 1, title, happened, game.clone(), seat, action)

    def _started(self) -> Game:
        if self._game is None:
            raise InvalidRequest("the replay contradicts itself: it plays before the game begins")
        return self._game
