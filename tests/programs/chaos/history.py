"""What clients saw, and the checker that compares it with the logs of their games."""

import asyncio
import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from himeji.v1.game_pb2 import EndReason
from himeji.v1.game_service_pb2 import LogCause

from tests.server.replays import faults_of

BY_THE_RULES = (EndReason.END_REASON_FINISHED, EndReason.END_REASON_OUTLASTED)


class Acknowledged(NamedTuple):
    """An Accepted as its client saw it."""

    game_id: str
    seat: int
    decision: int
    played: tuple[int, ...]
    version: int


@dataclass
class Ledger:
    """Everything that clients sent and were told."""

    games: dict = field(default_factory=dict)  # game id: commitment, as CreateGame answered
    seats: dict = field(default_factory=dict)  # (game id, seat): bot, as JoinGame answered
    sent: defaultdict = field(default_factory=lambda: defaultdict(set))  # (game, decision): plans
    acknowledged: list = field(default_factory=list)
    resigned: set = field(default_factory=set)  # (game id, seat), as acknowledged
    overs: defaultdict = field(default_factory=lambda: defaultdict(list))  # game id: results seen
    surprises: list = field(default_factory=list)  # (game id, a refusal that nothing explains)
    counts: Counter = field(default_factory=Counter)
    most: float = math.inf  # answers, as long as the next blow has not fallen

    async def in_step(self):
        """Wait while blows are behind: games that are quicker than kills would end before them."""
        while self.counts["answers"] >= self.most:  # noqa: ASYNC110 - of many fighters
            await asyncio.sleep(0.02)

    def accept(self, seat, accepted):
        self.counts["duplicate receipts" if accepted.duplicate else "answers"] += 1
        played = tuple(accepted.played)
        game_id, decision = accepted.game_id, accepted.decision_id
        self.acknowledged.append(Acknowledged(game_id, seat, decision, played, accepted.version))


def voided(replays):
    """The ids of the games that were called off because the store lost a part of them."""
    return {
        game_id
        for game_id, replay in replays.items()
        if replay.game.result.end_reason == EndReason.END_REASON_NO_CONTEST
    }


def violations(ledger, replays, *, may_void=False):
    """Every promise that was broken, as sentences; `replays` has what GetReplay gave by game id.

    Of a game that was voided, where that may be, nothing is asked but that its log is sound: the
    loss was noticed, and everybody was told.
    """
    void = voided(replays) if may_void else set()
    found = [
        f"surprise: {game_id}: {surprise}"
        for game_id, surprise in ledger.surprises
        if game_id not in void
    ]
    answers = defaultdict(list)
    for each in ledger.acknowledged:
        answers[each.game_id].append(each)
    for game_id, commitment in ledger.games.items():
        replay = replays.get(game_id)
        if replay is None:
            found.append(f"{game_id}: the game is lost")
            continue
        faults = (
            faults_of(replay)
            if game_id in void
            else _of_game(ledger, replay, commitment, answers[game_id])
        )
        for sentence in faults:
            found.append(f"{game_id}: {sentence}")  # noqa: PERF401 - a sentence each
    return found


def _of_game(ledger, replay, commitment, answers):
    game = replay.game
    yield from faults_of(replay)
    if game.result.end_reason not in BY_THE_RULES:
        yield f"it ended by {EndReason.Name(game.result.end_reason)}"
    if game.chance.commitment != commitment:
        yield "the commitment is another than at its creation"
    for seat, held in enumerate(game.seats):
        if ledger.seats.get((game.game_id, seat), held.bot) != held.bot:
            yield f"seat {seat} has another bot than was told"
        if (game.game_id, seat) in ledger.resigned and not held.end_reason:
            yield f"the resignation of seat {seat} is lost"
        resigned = held.end_reason == EndReason.END_REASON_RESIGNED
        if held.end_reason and not resigned:
            yield f"seat {seat} was lost by {EndReason.Name(held.end_reason)}"
    if any(result != game.result for result in ledger.overs[game.game_id]):
        yield "somebody was told another result"
    yield from _of_answers(ledger, replay, answers)


def _of_answers(ledger, replay, answers):
    log = {entry.version: entry for entry in replay.log}
    versions = defaultdict(set)
    for each in answers:
        entry = log.get(each.version)
        told = f"decision {each.decision}, played {each.played}, version {each.version}"
        if entry is None:
            yield f"an acknowledged answer is lost: {told}"
        elif (entry.cause, entry.seat, tuple(entry.actions)) != (
            LogCause.LOG_CAUSE_ANSWER,
            each.seat,
            each.played,
        ):
            yield f"an acknowledged answer was replaced: {told}"
        versions[each.decision].add(each.version)
    for decision, found in versions.items():
        if len(found) > 1:
            yield f"decision {decision} was acknowledged at versions {sorted(found)}"
    yield from _of_entries(ledger, replay)


def _of_entries(ledger, replay):
    """Each answer in the log is one that was sent, to the decision that was open, once."""
    decision, asked = 0, None
    for entry in replay.log:
        if entry.cause == LogCause.LOG_CAUSE_ANSWER:
            plans = ledger.sent[replay.game.game_id, decision]
            if not any(plan[: len(entry.actions)] == tuple(entry.actions) for plan in plans):
                yield f"version {entry.version}: nobody sent {list(entry.actions)} to {decision}"
            asked = None
        if entry.cause != LogCause.LOG_CAUSE_SEAT_LOST or entry.seat == asked:
            decision = entry.version
