"""Writes the replay of a local game, in the form of an arena's replays.

A local game has no secret and no commitment, since nobody has to be convinced that its chance was
fair: the replay has the key alone. It has no times either, so the same game gives the same file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import himeji
from himeji.rules import Game, Keyed, new_game
from himeji.rules.chance import Recorded
from himeji.v1.game_pb2 import GameState
from himeji.v1.game_service_pb2 import LogCause, LogEntry, Replay
from himeji.wire.chain import NOBODY, ChainEntry, first_link, link
from himeji.wire.results import FINISHED, result

REPLAY_FORMAT: Final = 1
"""The version of the replay format."""


def write_replay(
    played: Game, chance: Keyed, names: Sequence[str], actions: Sequence[int]
) -> Replay:
    """The replay of a game that was played to its end."""
    recorder = Recorded(chance)
    game = new_game(played.ruleset.name, played.seats, chance=recorder, options=played.options)
    log = [ChainEntry(1, LogCause.LOG_CAUSE_START)]
    for action in actions:
        seat = NOBODY if game.to_move is None else game.to_move
        log.append(ChainEntry(len(log) + 1, LogCause.LOG_CAUSE_ANSWER, seat, (action,)))
        game.apply(action)
    out = Replay(format=REPLAY_FORMAT, engine_version=himeji.__version__)
    _describe(out, game, names)
    out.game.version = len(log)
    out.game.chance.key = chance.key
    out.log.extend(_chained(log))
    for slot, drawn in recorder.results:
        out.chance.add(slot=slot, result=drawn)
    return out


def _describe(out: Replay, game: Game, names: Sequence[str]) -> None:
    out.game.ruleset, out.game.revision = game.ruleset.name, game.ruleset.revision
    for name, value in sorted(game.options.items()):
        out.game.options.add(name=name, value=value)
    for name in names:
        out.game.seats.add(bot=name, ready=True)
    out.game.state = GameState.GAME_STATE_OVER
    out.game.result.CopyFrom(result(game, FINISHED, {}))


def _chained(log: Sequence[ChainEntry]) -> list[LogEntry]:
    """The log entries with their hash chain."""
    chain, out = first_link("", b""), []
    for entry in log:
        chain = link(chain, entry.text())
        seat = None if entry.seat == NOBODY else entry.seat
        out.append(
            LogEntry(
                version=entry.version,
                cause=entry.cause,
                seat=seat,
                actions=entry.actions,
                chain=chain,
            )
        )
    return out
