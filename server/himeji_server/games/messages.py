"""What is told of a game, as messages of the contract."""

from __future__ import annotations

from collections.abc import Callable, Collection

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from himeji.rules.chance import Recorded
from himeji.rules.game import Game as Engine
from himeji.v1.game_pb2 import (
    Accepted,
    Decision,
    EndReason,
    Game,
    GameOver,
    GameResult,
    GameState,
    Want,
)
from himeji.v1.game_service_pb2 import GameUpdate, LogEntry, Replay
from himeji.wire.chain import NOBODY, ChainEntry, chance_key, first_link, link
from himeji.wire.events import add_events
from himeji.wire.positions import to_position

from himeji_server.games.live_game import LiveGame
from himeji_server.games.receipts import Receipt
from himeji_server.store.game_records import OVER, PLAYING, WAITING

Wants = Collection[int]
# Looked up once: by name, each costs a microsecond.
WANT_POSITION = Want.WANT_POSITION
WANT_ACTION_TEXTS = Want.WANT_ACTION_TEXTS
WANT_EVENT_TEXTS = Want.WANT_EVENT_TEXTS
STATES = {
    WAITING: GameState.GAME_STATE_WAITING,
    PLAYING: GameState.GAME_STATE_PLAYING,
    OVER: GameState.GAME_STATE_OVER,
}


def game_message(game: LiveGame, connected: Callable[[str], bool]) -> Game:
    """A game without its position; after its end, with the key of its chance."""
    stored, out = game.stored, Game()
    out.CopyFrom(game.header)
    out.state, out.version = STATES[stored.state], stored.version
    for seat, held in enumerate(stored.seats):
        each = out.seats[seat]
        each.ready = bool(held.bot)
        if held.bot:
            each.ClearField("plan")
            each.bot, each.bot_version = held.bot, held.bot_version
        # Else it is open, or meant for a bot that has not answered its seating.
        each.house = each.bot.startswith("house/")
        each.connected = bool(each.bot) and connected(each.bot)
        each.strikes = held.strikes
        each.end_reason = EndReason.ValueType(held.lost)
    if stored.state == PLAYING:
        out.to_move = stored.seat
    if stored.state == OVER:
        out.result.CopyFrom(GameResult.FromString(stored.result))
    _reveal(game, out)
    out.create_time.FromMilliseconds(stored.created)
    if stored.started:
        out.start_time.FromMilliseconds(stored.started)
    if stored.ended:
        out.end_time.FromMilliseconds(stored.ended)
    return out


def _reveal(game: LiveGame, out: Game) -> None:
    """The seats' entropy once the game has begun; the secret and the key once it is over."""
    stored = game.stored
    entropy = [seat.entropy for seat in stored.seats]
    if stored.state != WAITING and stored.started:
        out.chance.seat_entropy.extend(entropy)
    if stored.state == OVER:
        out.chance.secret = stored.secret
        out.chance.key = chance_key(stored.secret, entropy)


def known_events(game: LiveGame, claimed: int) -> int:
    """How many events a client has: as it says, or none if it claims more than there are."""
    return claimed if 0 <= claimed <= game.event_count else 0


def write_decision(out: Decision, game: LiveGame, events: int, wants: Wants, now: int) -> None:
    """The open decision of a game that is played, with the events after the first `events`."""
    stored, engine, events = game.stored, _play(game), known_events(game, events)
    legal = engine.legal()
    out.game_id, out.decision_id, out.seat = game.game_id, stored.decision, stored.seat
    out.kind = engine.ruleset.step_parts(engine.stack[-1])[0] + 1
    out.legal_actions.extend(legal)
    out.strikes = stored.seats[stored.seat].strikes
    out.first_event = events
    add_events(out, (engine.log or [])[events:])
    if WANT_ACTION_TEXTS in wants:
        out.action_texts.extend(engine.ruleset.actions.text(action) for action in legal)
    if WANT_EVENT_TEXTS in wants:
        add_event_texts(game, out, events)
    if WANT_POSITION in wants:
        out.position.CopyFrom(to_position(engine))
    write_clocks(game, out, now)


def game_over_message(game: LiveGame, seat: int | None, events: int, wants: Wants) -> GameOver:
    """The end of a game, for a seat or a spectator."""
    events = known_events(game, events)
    full = game_message(game, lambda _bot: False)
    out = GameOver(
        game_id=game.game_id,
        seat=seat,
        version=game.stored.version,
        result=full.result,
        chance=full.chance,
        rated=game.header.rated and bool(full.result.seats),
        first_event=events,
    )
    if game.engine is not None:
        add_events(out, (game.engine.log or [])[events:])
        if WANT_EVENT_TEXTS in wants:
            add_event_texts(game, out, events)
        if WANT_POSITION in wants:
            out.position.CopyFrom(to_position(game.engine))
    return out


def update_message(game: LiveGame, events: int, wants: Wants, now: int) -> GameUpdate:
    """A game at its version, for spectators."""
    events = known_events(game, events)
    stored, out = game.stored, GameUpdate(game_id=game.game_id, first_event=events)
    out.version, out.state = stored.version, STATES[stored.state]
    out.seats.extend(game_message(game, lambda _bot: False).seats)
    if game.engine is not None:
        add_events(out, (game.engine.log or [])[events:])
        if WANT_EVENT_TEXTS in wants:
            add_event_texts(game, out, events)
        if WANT_POSITION in wants:
            out.position.CopyFrom(to_position(game.engine))
    if stored.state == PLAYING:
        out.to_move = stored.seat
        out.kind = _play(game).ruleset.step_parts(_play(game).stack[-1])[0] + 1
        write_clocks(game, out, now)
    return out


def add_event_texts(game: LiveGame, out: Decision | GameOver | GameUpdate, events: int) -> None:
    """Say each event in words."""
    engine = _play(game)
    for message, record in zip(out.events, (engine.log or [])[events:], strict=True):
        message.text = engine.ruleset.tell(record, engine.seats)


def write_clocks(game: LiveGame, out: Decision | GameUpdate, now: int) -> None:
    """What each seat has left, the asked one less the time since it was asked."""
    stored = game.stored
    if not game.header.HasField("clock"):
        return
    clocks = out.clocks
    for seat, held in enumerate(stored.seats):
        running = max(0, now - stored.asked) if seat == stored.seat else 0
        _set_milliseconds(clocks.left.add(), max(0, held.left - running))
    _set_milliseconds(clocks.deadline, stored.asked + stored.seats[stored.seat].left)


def _set_milliseconds(span: Duration | Timestamp, milliseconds: int) -> None:
    """What FromMilliseconds does, without what it costs."""
    span.seconds, rest = divmod(milliseconds, 1000)
    span.nanos = rest * 1_000_000


def write_accepted(out: Accepted, game: LiveGame, receipt: Receipt) -> None:
    """An answer that stands."""
    entry = receipt.entry
    out.game_id, out.decision_id = game.game_id, receipt.decision
    out.played.extend(receipt.actions)
    out.stop, out.version, out.duplicate = receipt.stop, entry.version, receipt.duplicate
    if entry.refusal:
        out.rule, _, out.message = entry.refusal.partition(" ")
    if game.header.HasField("clock"):
        times = out.receipt
        _set_milliseconds(times.charged, entry.charged)
        _set_milliseconds(times.added, entry.added)
        _set_milliseconds(times.left, entry.left)


def replay_message(game: LiveGame, engine_version: str) -> Replay:
    """All it takes to replay a game, with the hash chain of its log."""
    out = Replay(format=1, engine_version=engine_version)
    out.game.CopyFrom(game_message(game, lambda _bot: False))
    chain = first_link(game.game_id, game.header.chance.commitment)
    for entry in game.log:
        chain = link(chain, entry.text)
        words = ChainEntry.parse(entry.text)
        line = LogEntry(
            version=words.version,
            cause=words.cause,
            seat=None if words.seat == NOBODY else words.seat,
            actions=words.actions,
            end_reason=words.end_reason,
            chain=chain,
        )
        line.commit_time.FromMilliseconds(entry.time)
        if game.header.HasField("clock") and entry.charged:
            line.charged.FromMilliseconds(entry.charged)
        out.log.append(line)
    if game.engine is not None and isinstance(game.engine.chance, Recorded):
        for slot, drawn in game.engine.chance.results:
            out.chance.add(slot=slot, result=drawn)
    return out


def _play(game: LiveGame) -> Engine:
    if game.engine is None:
        raise RuntimeError(f"{game.game_id} has not begun")
    return game.engine
