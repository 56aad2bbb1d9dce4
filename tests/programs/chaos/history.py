"""Records what clients sent and were told, and checks it against the logs of their games."""

import asyncio
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from himeji.v1.game_pb2 import EndReason
from himeji.v1.game_service_pb2 import LogCause

from tests.server.replays import faults_of

BY_THE_RULES = (EndReason.END_REASON_FINISHED, EndReason.END_REASON_OUTLASTED)
POLL_SECONDS = 0.02
"""Pause between two looks at the counts; short, because games go on meanwhile."""


class AcknowledgedAnswer(NamedTuple):
    """An Accepted as its client saw it."""

    game_id: str
    seat: int
    decision: int
    played: tuple[int, ...]
    version: int


@dataclass
class History:
    """Everything that clients sent and were told."""

    games: dict = field(default_factory=dict)  # game id: commitment, as CreateGame answered
    seats: dict = field(default_factory=dict)  # (game id, seat): bot, as JoinGame answered
    sent: defaultdict = field(default_factory=lambda: defaultdict(set))  # (game, decision): actions
    acknowledged: list = field(default_factory=list)
    resigned: set = field(default_factory=set)  # (game id, seat), as acknowledged
    results: defaultdict = field(default_factory=lambda: defaultdict(list))  # game id: as seen
    unexpected: list = field(default_factory=list)  # (game id, an error that nothing explains)
    counts: Counter = field(default_factory=Counter)
    max_answers: float = math.inf  # clients stop here until the next disruption has happened

    async def wait_for_disruption(self):
        """Wait while disruptions are late, so that no game ends before they have happened."""
        while self.counts["answers"] >= self.max_answers:  # noqa: ASYNC110 - many clients wait
            await asyncio.sleep(POLL_SECONDS)

    def add_accepted(self, seat, accepted):
        self.counts["duplicate receipts" if accepted.duplicate else "answers"] += 1
        self.acknowledged.append(
            AcknowledgedAnswer(
                accepted.game_id,
                seat,
                accepted.decision_id,
                tuple(accepted.played),
                accepted.version,
            )
        )


def voided(replays):
    """The ids of the games that were voided because the store lost a part of them."""
    return {
        game_id
        for game_id, replay in replays.items()
        if replay.game.result.end_reason == EndReason.END_REASON_NO_CONTEST
    }


def violations(history, replays, *, may_void=False):
    """Every broken guarantee as a sentence; `replays` are the responses of GetReplay by game id.

    If games may be voided, a voided one is only checked for a consistent log: the loss was noticed,
    and everybody was told.
    """
    void = voided(replays) if may_void else set()
    found = [
        f"unexpected: {game_id}: {error}"
        for game_id, error in history.unexpected
        if game_id not in void
    ]
    answers = defaultdict(list)
    for each in history.acknowledged:
        answers[each.game_id].append(each)
    for game_id, commitment in history.games.items():
        replay = replays.get(game_id)
        if replay is None:
            found.append(f"{game_id}: the game is lost")
            continue
        faults = (
            faults_of(replay)
            if game_id in void
            else _game_violations(history, replay, commitment, answers[game_id])
        )
        found += [f"{game_id}: {sentence}" for sentence in faults]
    return found


def _game_violations(history, replay, commitment, answers):
    game = replay.game
    yield from faults_of(replay)
    if game.result.end_reason not in BY_THE_RULES:
        yield f"it ended by {EndReason.Name(game.result.end_reason)}"
    if game.chance.commitment != commitment:
        yield "the commitment is another than at its creation"
    for seat, held in enumerate(game.seats):
        if history.seats.get((game.game_id, seat), held.bot) != held.bot:
            yield f"seat {seat} has another bot than JoinGame answered"
        if (game.game_id, seat) in history.resigned and not held.end_reason:
            yield f"the resignation of seat {seat} is lost"
        resigned = held.end_reason == EndReason.END_REASON_RESIGNED
        if held.end_reason and not resigned:
            yield f"seat {seat} was lost by {EndReason.Name(held.end_reason)}"
    if any(result != game.result for result in history.results[game.game_id]):
        yield "a client was told another result"
    yield from _answer_violations(replay, answers)
    yield from _log_violations(history, replay)


def _answer_violations(replay, answers):
    """Each acknowledged answer is in the log, at one version."""
    log = {entry.version: entry for entry in replay.log}
    versions = defaultdict(set)
    for each in answers:
        entry = log.get(each.version)
        answer = f"decision {each.decision}, played {each.played}, version {each.version}"
        if entry is None:
            yield f"an acknowledged answer is lost: {answer}"
        elif (entry.cause, entry.seat, tuple(entry.actions)) != (
            LogCause.LOG_CAUSE_ANSWER,
            each.seat,
            each.played,
        ):
            yield f"an acknowledged answer was replaced: {answer}"
        versions[each.decision].add(each.version)
    for decision, found in versions.items():
        if len(found) > 1:
            yield f"decision {decision} was acknowledged at versions {sorted(found)}"


def _log_violations(history, replay):
    """Each answer in the log was sent, to the decision that was open, once."""
    decision, asked = 0, None
    for entry in replay.log:
        if entry.cause == LogCause.LOG_CAUSE_ANSWER:
            sent = history.sent[replay.game.game_id, decision]
            if not any(each[: len(entry.actions)] == tuple(entry.actions) for each in sent):
                yield f"version {entry.version}: nobody sent {list(entry.actions)} to {decision}"
            asked = None
        if entry.cause != LogCause.LOG_CAUSE_SEAT_LOST or entry.seat == asked:
            decision = entry.version
