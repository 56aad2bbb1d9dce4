"""Checks a replay completely: the dice follow from the key, and nothing but the rules decided.

Nothing in the file is believed that can be worked out again: the commitment, the key, every result
of chance, every position, the hash chain and the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Final, NoReturn

from himeji import rules
from himeji.rules import Keyed
from himeji.rules.chance import KEY_BYTES, Recorded
from himeji.rules.errors import HimejiError, InvalidRequest, VersionMismatch
from himeji.rules.game import Game as Engine, stand_in
from himeji.v1.game_pb2 import EndReason, Game, GameResult, GameState
from himeji.v1.game_service_pb2 import LogCause, LogEntry, Replay
from himeji.wire.chain import (
    NOBODY,
    ChainEntry,
    chance_key,
    commitment,
    first_link,
    is_house,
    link,
)
from himeji.wire.positions import from_options
from himeji.wire.results import WITHOUT_RANKS, result

Lost = dict[int, tuple[EndReason.ValueType, int]]
_MOST_ENTROPY: Final = 32
_OF_TWO: Final = 2  # a game in which one seat is left is over
_CAUSES: Final = frozenset(LogCause.values()) - {LogCause.LOG_CAUSE_UNSPECIFIED}
_END_REASONS: Final = frozenset(EndReason.values()) - {EndReason.END_REASON_UNSPECIFIED}


def checks(replay: Replay) -> Iterator[str]:
    """Check one thing after the other; a sentence for each, or InvalidRequest."""
    yield _rules(replay)
    check_causes(replay)
    _check_end_reasons(replay)
    yield _commitment(replay)
    yield _key(replay)
    yield _versions(replay)
    yield _chain(replay)
    retelling = _Retelling(replay)
    yield retelling.actions()
    yield retelling.chance()
    yield retelling.result()


def _wrong(check: str, sentence: str) -> NoReturn:
    raise InvalidRequest(f"{check}: {sentence}", {"check": check})


def _rules(replay: Replay) -> str:
    game = replay.game
    ruleset = rules.ruleset(game.ruleset)
    ruleset.check_revision(game.revision, "replay")
    try:
        ruleset.check_seats(len(game.seats))
        options = ruleset.check_options(from_options(game.options))
    except InvalidRequest as error:
        _wrong("rules", error.message)
    if game.state != GameState.GAME_STATE_OVER:
        _wrong("rules", "the game is not over, so its secret is not known: download it later")
    shown = ", ".join(f"{name}={value}" for name, value in options.items())
    return f"rules: {game.ruleset} {game.revision}, {len(game.seats)} seats" + (
        f", {shown}" if shown else ""
    )


def check_causes(replay: Replay) -> None:
    """Raise VersionMismatch if the log has a kind of entry that this version does not know."""
    for entry in replay.log:
        if entry.cause not in _CAUSES:
            raise _newer(f"its log has at version {entry.version} an entry of an unknown kind")


def _check_end_reasons(replay: Replay) -> None:
    """Raise VersionMismatch if something ended for a reason that this version does not know.

    One that is unknown by its name is 0 when it is read from JSON.
    """
    ended = (LogCause.LOG_CAUSE_SEAT_LOST, LogCause.LOG_CAUSE_STOPPED)
    reasons = [entry.end_reason for entry in replay.log if entry.cause in ended]
    reasons.append(replay.game.result.end_reason)
    if not _END_REASONS.issuperset(reasons):
        raise _newer("it has an end for an unknown reason")


def _newer(what: str) -> VersionMismatch:
    return VersionMismatch(f"the replay was made by a newer arena, {what}: update himeji")


def _is_local(replay: Replay) -> bool:
    """Whether it was played in-process, where nobody had to be convinced of the key."""
    chance = replay.game.chance
    return not (replay.game.game_id or chance.commitment or chance.secret)


def _commitment(replay: Replay) -> str:
    chance = replay.game.chance
    if _is_local(replay):
        return "commitment: none, whoever played this game on their own machine chose the key"
    if commitment(chance.secret) != chance.commitment:
        _wrong("commitment", "it is not the SHA-256 of the secret")
    return f"commitment: {chance.commitment.hex()[:16]}… is the SHA-256 of the secret"


def _key(replay: Replay) -> str:
    chance, seats = replay.game.chance, len(replay.game.seats)
    if _is_local(replay):
        if len(chance.key) != KEY_BYTES:
            _wrong("key", f"it has {len(chance.key)} bytes instead of {KEY_BYTES}")
        return f"key: {chance.key.hex()[:16]}…, as it was chosen"
    entropy = list(chance.seat_entropy)
    if not entropy and not _begun(replay):
        entropy = [b""] * seats  # a game that never began shows none
    if len(entropy) != seats:
        _wrong("key", f"{len(entropy)} seats added entropy, the game has {seats}")
    if max(map(len, entropy)) > _MOST_ENTROPY:
        _wrong("key", f"a seat adds up to {_MOST_ENTROPY} bytes of entropy")
    if _begun(replay) and chance_key(chance.secret, entropy) != chance.key:
        _wrong("key", "it does not follow from the secret and the entropy of the seats")
    added = sum(map(bool, entropy))
    sentence = f"key: it follows from the secret and the entropy of {added} of {seats} seats"
    return sentence + _house_entropy(replay.game, entropy)


def _house_entropy(game: Game, entropy: Sequence[bytes]) -> str:
    """Check that seats of the house added nothing, if the game was made under that rule."""
    house = [n for n, seat in enumerate(game.seats) if seat.house or is_house(seat.bot)]
    adding = [seat for seat in house if entropy[seat]]
    if adding and game.chance.house_adds_no_entropy:
        _wrong("key", f"seat {adding[0]} is one of the house and added entropy")
    if adding:
        return ", of the house among them: the game was made before the rule that it adds none"
    return ", none of the house" if house else ""


def _begun(replay: Replay) -> bool:
    return any(entry.cause == LogCause.LOG_CAUSE_START for entry in replay.log)


def _versions(replay: Replay) -> str:
    for number, entry in enumerate(replay.log, start=1):
        if entry.version != number:
            _wrong("versions", f"entry {number} of the log is version {entry.version}")
    if replay.game.version != len(replay.log):
        _wrong(
            "versions",
            f"the game is at version {replay.game.version}, the log ends at {len(replay.log)}",
        )
    return f"versions: 1 to {len(replay.log)} without a gap"


def _chain(replay: Replay) -> str:
    chain = first_link(replay.game.game_id, replay.game.chance.commitment)
    for entry in replay.log:
        chain = link(chain, words_of(entry).text())
        if entry.chain != chain:
            _wrong("chain", f"version {entry.version} or an entry before it was altered")
    return f"chain: {len(replay.log)} links, the last is {chain.hex()[:16]}…"


def words_of(entry: LogEntry) -> ChainEntry:
    """An entry of the log in the words that the chain covers."""
    seat = entry.seat if entry.HasField("seat") else NOBODY
    return ChainEntry(entry.version, entry.cause, seat, tuple(entry.actions), entry.end_reason)


class _Retelling:
    """The game, played once more by the log."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._game = replay.game
        self._chance = Recorded(Keyed(_derived_key(replay)))
        self._play: Engine | None = None
        self._lost: Lost = {}
        self._stopped: EndReason.ValueType | None = None
        self._played = 0

    def actions(self) -> str:
        """Live through the log."""
        for entry in self._replay.log:
            if self._is_over():
                self._fail(entry, "the game was over before it")
            self._LIVE[entry.cause](self, entry)
        if not self._is_over():
            _wrong("actions", "the log ends before the game does")
        return f"actions: all {self._played} were legal"

    def chance(self) -> str:
        """Compare every result of chance with what its slot gives by the key."""
        told = [(each.slot, each.result) for each in self._replay.chance]
        for number, (said, derived) in enumerate(zip_longest(told, self._chance.results), start=1):
            if said != derived:
                _wrong("chance", f"result {number} is {_shown(said)}, by the key {_shown(derived)}")
        return f"chance: all {len(told)} results follow from the key by their slots"

    def result(self) -> str:
        game, expected = self._game, result(self._play, self._reason(), self._lost)
        for seat, held in enumerate(game.seats):
            if held.end_reason != self._lost.get(seat, (0, 0))[0]:
                _wrong("result", f"the log does not end the part of seat {seat} like that")
        if game.result.end_reason != expected.end_reason:
            said, right = (
                EndReason.Name(each.end_reason).removeprefix("END_REASON_").lower()
                for each in (game.result, expected)
            )
            _wrong("result", f"the game ended as {said}, by its log as {right}")
        for told, right_seat in zip_longest(game.result.seats, expected.seats):
            if told != right_seat:
                seat = (told or right_seat).seat
                _wrong("result", f"points or rank of seat {seat} are not those of the log")
        scores = ", ".join(str(each.score) for each in expected.seats)
        return f"result: {scores or 'no ranks'}" + (f", ranks {_ranks(expected)}" if scores else "")

    # --- one entry of the log -------------------------------------------------------------------

    def _start(self, entry: LogEntry) -> None:
        if self._play is not None:
            self._fail(entry, "the game has begun before")
        self._play = rules.new_game(
            self._game.ruleset,
            len(self._game.seats),
            chance=self._chance,
            options=from_options(self._game.options),
        )

    def _answer(self, entry: LogEntry) -> None:
        engine = self._begun_play(entry)
        if entry.seat in self._lost or not entry.HasField("seat") or not entry.actions:
            self._fail(entry, "a seat that plays answers, with an action at least")
        for action in entry.actions:
            self._apply(engine, entry, action)

    def _stand_in(self, entry: LogEntry) -> None:
        engine = self._begun_play(entry)
        if entry.seat not in self._lost:
            self._fail(entry, "the stand-in plays for lost seats alone")
        for action in entry.actions:
            if engine.to_move == entry.seat and action != stand_in(engine):
                self._fail(entry, f"the stand-in does not play {action} here")
            self._apply(engine, entry, action)

    def _lose(self, entry: LogEntry) -> None:
        self._begun_play(entry)
        if not entry.HasField("seat") or not 0 <= entry.seat < len(self._game.seats):
            self._fail(entry, "it names no seat")
        if entry.seat in self._lost or entry.actions:
            self._fail(entry, "a seat is lost once, and without an action")
        self._lost[entry.seat] = (entry.end_reason, entry.version)

    def _stop(self, entry: LogEntry) -> None:
        if entry.end_reason not in WITHOUT_RANKS or entry.actions:
            self._fail(entry, "a game is not stopped like that")
        self._stopped = entry.end_reason

    _LIVE: Final[dict[int, Callable[[_Retelling, LogEntry], None]]] = {
        LogCause.LOG_CAUSE_START: _start,
        LogCause.LOG_CAUSE_ANSWER: _answer,
        LogCause.LOG_CAUSE_STAND_IN: _stand_in,
        LogCause.LOG_CAUSE_SEAT_LOST: _lose,
        LogCause.LOG_CAUSE_STOPPED: _stop,
    }

    def _apply(self, engine: Engine, entry: LogEntry, action: int) -> None:
        if engine.to_move != entry.seat:
            asked = "nobody" if engine.to_move is None else f"seat {engine.to_move}"
            self._fail(entry, f"seat {entry.seat} plays, but {asked} is asked")
        try:
            engine.apply(action)
        except HimejiError as refusal:
            self._fail(entry, refusal.message)
        self._played += 1

    def _begun_play(self, entry: LogEntry) -> Engine:
        if self._play is None:
            self._fail(entry, "the game has not begun")
        return self._play

    def _is_over(self) -> bool:
        rules_end = self._play is not None and self._play.over
        return rules_end or self._stopped is not None or self._outlasted()

    def _outlasted(self) -> bool:
        return bool(self._lost) and len(self._game.seats) - len(self._lost) < _OF_TWO

    def _reason(self) -> EndReason.ValueType:
        if self._stopped is not None:
            return self._stopped
        outlasted = self._outlasted() and not (self._play is not None and self._play.over)
        return EndReason.END_REASON_OUTLASTED if outlasted else EndReason.END_REASON_FINISHED

    def _fail(self, entry: LogEntry, sentence: str) -> NoReturn:
        _wrong("actions", f"version {entry.version}: {sentence}")


def _derived_key(replay: Replay) -> bytes:
    if _is_local(replay):
        return replay.game.chance.key
    return chance_key(replay.game.chance.secret, replay.game.chance.seat_entropy)


def _shown(each: tuple[str, int] | None) -> str:
    return "none" if each is None else f"{each[1]} for {each[0]}"


def _ranks(expected: GameResult) -> str:
    return ", ".join(str(each.rank) for each in expected.seats)
