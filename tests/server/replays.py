"""A replay checked from nothing: by the published formulas and the rules, without the server."""

import hashlib
import hmac

from himeji import rules
from himeji.rules.chance import Keyed, Recorded
from himeji.rules.errors import HimejiError
from himeji.rules.game import stand_in
from himeji.v1.game_pb2 import EndReason, GameState
from himeji.v1.game_service_pb2 import LogCause

NO_RANKS = (
    EndReason.END_REASON_CANCELLED,
    EndReason.END_REASON_UNSEATED,
    EndReason.END_REASON_NO_CONTEST,
    EndReason.END_REASON_ADJUDICATED,
)


def faults_of(replay):
    """Everything that is wrong with the replay of a game that is over; empty if nothing is."""
    found = list(_faults_of_the_chain(replay))
    if replay.game.state != GameState.GAME_STATE_OVER:
        return [*found, "the game is not over"]
    if replay.game.result.end_reason in NO_RANKS:
        return found
    try:
        return found + list(_faults_of_the_play(replay))
    except HimejiError as error:
        return [*found, f"the log cannot be played: {error}"]


def text_of(entry):
    """The words of an entry, as docs/protocol.md writes them for the chain."""
    seat = entry.seat if entry.HasField("seat") else -1
    actions = ",".join(map(str, entry.actions)) or "-"
    return f"{entry.version} {entry.cause} {seat} {actions} {entry.end_reason}"


def _faults_of_the_chain(replay):
    chance = replay.game.chance
    if chance.secret and hashlib.sha256(chance.secret).digest() != chance.commitment:
        yield "the secret is not the one that was committed to"
    link = hashlib.sha256(
        b"himeji/v1/log " + replay.game.game_id.encode() + b" " + chance.commitment
    ).digest()
    for number, entry in enumerate(replay.log, start=1):
        if entry.version != number:
            yield f"version {number} is missing: the log has {entry.version} there"
        link = hashlib.sha256(link + text_of(entry).encode()).digest()
        if entry.chain != link:
            yield f"the link of version {entry.version} is another"
    if replay.game.version != len(replay.log):
        yield f"the game is at version {replay.game.version}, its log has {len(replay.log)}"


def _key(chance):
    message = b"himeji/v1/seat-entropy" + b"".join(
        bytes([len(each)]) + each for each in chance.seat_entropy
    )
    return hmac.digest(chance.secret, message, "sha256")


def _faults_of_the_key(game):
    if game.chance.key != _key(game.chance):
        yield "the key does not follow from the secret and the seats' entropy"
    if not game.chance.house_adds_no_entropy:
        yield "the game was not made under the rule that the house adds no entropy"
    for seat, entropy in zip(game.seats, game.chance.seat_entropy, strict=True):
        if seat.bot.startswith("house/") and entropy:
            yield f"{seat.bot}, a bot of the house, added entropy"


def _faults_of_the_play(replay):
    game = replay.game
    yield from _faults_of_the_key(game)
    options = {option.name: option.value for option in game.options}
    chance = Recorded(Keyed(game.chance.key))
    play, lost = None, {}
    for entry in replay.log:
        if entry.cause == LogCause.LOG_CAUSE_START:
            play = rules.new_game(game.ruleset, len(game.seats), chance=chance, options=options)
        elif entry.cause == LogCause.LOG_CAUSE_SEAT_LOST:
            lost[entry.seat] = entry
        if play is not None:
            yield from _faults_of_an_entry(play, entry, lost)
    if play is None:
        yield "the game never began"
        return
    if [(each.slot, each.result) for each in replay.chance] != chance.results:
        yield "the results of chance are others"
    yield from _faults_of_the_end(game, play, lost)


def _faults_of_an_entry(play, entry, lost):
    stands_in = entry.cause == LogCause.LOG_CAUSE_STAND_IN
    for action in entry.actions:
        if play.to_move != entry.seat:
            yield f"version {entry.version}: seat {play.to_move} is asked, not {entry.seat}"
        if stands_in != (entry.seat in lost):
            yield f"version {entry.version}: the wrong one answered for seat {entry.seat}"
        if stands_in and action != stand_in(play):
            yield f"version {entry.version}: the stand-in does not play {action}"
        play.apply(action)


def _faults_of_the_end(game, play, lost):
    result = game.result
    if play.over != (result.end_reason == EndReason.END_REASON_FINISHED):
        yield f"ended by {EndReason.Name(result.end_reason)}, by the rules over: {play.over}"
    clans = range(len(play.scores()))  # the seats, and the rival where there is one
    if not play.over and len(clans) - len(lost) != 1:
        yield "ended by the loss of seats, and not all clans but one are lost"
    if [seat.score for seat in result.seats] != play.scores():
        yield f"scores are {play.scores()}, the result says others"
    for seat in result.seats:
        expected = lost[seat.seat].end_reason if seat.seat in lost else result.end_reason
        if seat.end_reason != expected:
            yield f"seat {seat.seat} ended by another reason"
        if sum(line.points for line in seat.breakdown) != seat.score:
            yield f"the points of seat {seat.seat} do not add up"
    best = sorted(
        clans,
        key=lambda s: (s in lost, -lost[s].version if s in lost else play.ranking()[s]),
    )
    if [result.seats[seat].rank for seat in best] != list(range(1, len(best) + 1)):
        yield "the ranks are others"
