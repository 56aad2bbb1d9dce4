"""Views of games as messages of the contract."""

from __future__ import annotations

from collections.abc import Callable, Collection

from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
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
from himeji.v1.game_service_pb2 import (
    GameUpdate,
    GetDecisionRequest,
    LogEntry,
    Replay,
    SubmitActionsRequest,
    WatchGameRequest,
)
from himeji.v1.play_service_pb2 import Resume
from himeji.wire.chain import NOBODY, ChainEntry, chance_key, first_link, is_house, link
from himeji.wire.clock import deadline, time_left
from himeji.wire.events import add_events
from himeji.wire.positions import to_position

from himeji_server.games.answers import Receipt
from himeji_server.games.live_game import GameView
from himeji_server.store.game_records import OVER, PLAYING, WAITING

Wants = Collection[int]
HasEventCount = GetDecisionRequest | SubmitActionsRequest | WatchGameRequest | Resume
# Looked up once: by name, each costs a microsecond.
WANT_POSITION = Want.WANT_POSITION
WANT_ACTION_TEXTS = Want.WANT_ACTION_TEXTS
WANT_EVENT_TEXTS = Want.WANT_EVENT_TEXTS
STATES = {
    WAITING: GameState.GAME_STATE_WAITING,
    PLAYING: GameState.GAME_STATE_PLAYING,
    OVER: GameState.GAME_STATE_OVER,
}


def game_message(view: GameView, connected: Callable[[str], bool]) -> Game:
    """A game without its position; after its end, with the key of its chance."""
    stored, out = view.stored, Game()
    out.CopyFrom(view.header)
    out.state, out.version = STATES[stored.state], stored.version
    for seat, held in enumerate(stored.seats):
        each = out.seats[seat]
        each.ready = bool(held.bot)
        if held.bot:
            each.ClearField("plan")
            each.bot, each.bot_version = held.bot, held.bot_version
        # Else it is open, or meant for a bot that has not answered its seating.
        each.house = is_house(each.bot)
        each.connected = bool(each.bot) and connected(each.bot)
        each.strikes = held.strikes
        each.end_reason = EndReason.ValueType(held.lost)
    if stored.state == PLAYING:
        out.to_move = stored.seat
    if stored.state == OVER:
        out.result.CopyFrom(GameResult.FromString(stored.result))
    _reveal(view, out)
    out.create_time.FromMilliseconds(stored.created)
    if stored.started:
        out.start_time.FromMilliseconds(stored.started)
    if stored.ended:
        out.end_time.FromMilliseconds(stored.ended)
    return out


def _reveal(view: GameView, out: Game) -> None:
    """The seats' entropy once the game has begun; the secret and the key once it is over."""
    stored = view.stored
    entropy = [seat.entropy for seat in stored.seats]
    if stored.state != WAITING and stored.started:
        out.chance.seat_entropy.extend(entropy)
    if stored.state == OVER:
        out.chance.secret = stored.secret
        out.chance.key = chance_key(stored.secret, entropy)


def event_count(request: HasEventCount) -> int | None:
    """How many events a client says it has; None if it wants none of the past."""
    return request.event_count if request.HasField("event_count") else None


def _first_event(view: GameView, known: int | None) -> int:
    """The first event to send to a client that has so many, or wants none of the past (None).

    A client that claims more than there are gets them all.
    """
    if known is None:
        return view.event_count
    return known if 0 <= known <= view.event_count else 0


def write_decision(
    out: Decision, view: GameView, known: int | None, wants: Wants, now: int
) -> None:
    """The open decision of a game that is played, with the events that the client lacks."""
    stored, events = view.stored, _first_event(view, known)
    legal = view.legal()
    out.game_id, out.decision_id, out.seat = view.game_id, stored.decision, stored.seat
    out.kind = view.step_kind() + 1
    out.legal_actions.extend(legal)
    out.strikes = stored.seats[stored.seat].strikes
    out.first_event = events
    add_events(out, view.events(events))
    if WANT_ACTION_TEXTS in wants:
        out.action_texts.extend(view.ruleset.actions.text(action) for action in legal)
    if WANT_EVENT_TEXTS in wants:
        add_event_texts(view, out, events)
    if WANT_POSITION in wants:
        out.position.CopyFrom(to_position(view.copy()))
    write_clocks(view, out, now)


def game_over_message(
    view: GameView, seat: int | None, known: int | None, wants: Wants
) -> GameOver:
    """The end of a game, for a seat or a spectator."""
    events = _first_event(view, known)
    full = game_message(view, lambda _bot: False)
    out = GameOver(
        game_id=view.game_id,
        seat=seat,
        version=view.stored.version,
        result=full.result,
        chance=full.chance,
        rated=view.header.rated and bool(full.result.seats),
        first_event=events,
    )
    if view.has_position:
        add_events(out, view.events(events))
        if WANT_EVENT_TEXTS in wants:
            add_event_texts(view, out, events)
        if WANT_POSITION in wants:
            out.position.CopyFrom(to_position(view.copy()))
    return out


def update_message(view: GameView, known: int | None, wants: Wants, now: int) -> GameUpdate:
    """A game at its version, for spectators, without its seats."""
    events = _first_event(view, known)
    stored, out = view.stored, GameUpdate(game_id=view.game_id, first_event=events)
    out.version, out.state = stored.version, STATES[stored.state]
    if view.has_position:
        add_events(out, view.events(events))
        if WANT_EVENT_TEXTS in wants:
            add_event_texts(view, out, events)
        if WANT_POSITION in wants:
            out.position.CopyFrom(to_position(view.copy()))
    if stored.state == PLAYING:
        out.to_move = stored.seat
        out.kind = view.step_kind() + 1
        write_clocks(view, out, now)
    return out


def add_event_texts(view: GameView, out: Decision | GameOver | GameUpdate, events: int) -> None:
    """Say each event in words."""
    for message, record in zip(out.events, view.events(events), strict=True):
        message.text = view.event_text(record)


def write_clocks(view: GameView, out: Decision | GameUpdate, now: int) -> None:
    """What each seat has left, the asked one less the time since it was asked."""
    stored = view.stored
    if not view.header.HasField("clock"):
        return
    clocks = out.clocks
    for seat, held in enumerate(stored.seats):
        runs = seat == stored.seat
        left = time_left(held.left, stored.asked, now) if runs else held.left
        _set_milliseconds(clocks.left.add(), left)
    _set_milliseconds(clocks.deadline, deadline(stored.seats[stored.seat].left, stored.asked))


def _set_milliseconds(span: Duration | Timestamp, milliseconds: int) -> None:
    """What FromMilliseconds does, without what it costs."""
    span.seconds, rest = divmod(milliseconds, 1000)
    span.nanos = rest * 1_000_000


def write_accepted(out: Accepted, view: GameView, receipt: Receipt) -> None:
    """An answer that stands."""
    entry = receipt.entry
    out.game_id, out.decision_id = view.game_id, receipt.decision
    out.played.extend(receipt.actions)
    out.stop, out.version, out.duplicate = receipt.stop, entry.version, receipt.duplicate
    if entry.refusal:
        out.rule, _, out.message = entry.refusal.partition(" ")
    if view.header.HasField("clock"):
        times = out.receipt
        _set_milliseconds(times.charged, entry.charged)
        _set_milliseconds(times.added, entry.added)
        _set_milliseconds(times.left, entry.left)


def replay_message(view: GameView, engine_version: str) -> Replay:
    """All it takes to replay a game, with the hash chain of its log."""
    out = Replay(format=1, engine_version=engine_version)
    out.game.CopyFrom(game_message(view, lambda _bot: False))
    chain = first_link(view.game_id, view.header.chance.commitment)
    for entry in view.log:
        chain = link(chain, entry.text)
        parsed = ChainEntry.parse(entry.text)
        message = LogEntry(
            version=parsed.version,
            cause=parsed.cause,
            seat=None if parsed.seat == NOBODY else parsed.seat,
            actions=parsed.actions,
            end_reason=parsed.end_reason,
            chain=chain,
        )
        message.commit_time.FromMilliseconds(entry.time)
        if view.header.HasField("clock") and entry.charged:
            message.charged.FromMilliseconds(entry.charged)
        out.log.append(message)
    if view.has_position:
        for slot, drawn in view.chance_results():
            out.chance.add(slot=slot, result=drawn)
    return out
