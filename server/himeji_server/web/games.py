"""The data of the pages about games: lists, one game, its replay, its pictures."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

import himeji
from google.protobuf.timestamp_pb2 import Timestamp
from himeji import render, rules
from himeji.rules.errors import HimejiError, InvalidRequest, NotFound
from himeji.rules.game import ACTION, Game as Engine, Record
from himeji.rules.ruleset import Ruleset
from himeji.v1.game_pb2 import EndReason, Game as GameMessage, GameResult, SeatResult
from himeji.v1.game_service_pb2 import Replay as ReplayMessage
from himeji.wire.clock import time_left
from himeji.wire.verification import checks

from himeji_server.accounts.caller import Caller
from himeji_server.games.live_game import GameView, LoggedAction
from himeji_server.games.messages import game_message, replay_message
from himeji_server.games.use_cases import GameFilter, GameUseCases
from himeji_server.store.game_records import OVER, PLAYING, WAITING
from himeji_server.web import schemas

VISITOR: Final = Caller("", "", frozenset())
"""Whoever looks at the page: nobody in particular."""

EVENTS_SHOWN: Final = 80
RIVAL: Final = "the rival"
STATES: Final = (WAITING, PLAYING, OVER)
_MOST_PICTURES: Final = 64


class GameViews:
    """What can be seen of games."""

    def __init__(self, use_cases: GameUseCases) -> None:
        self._use_cases = use_cases
        self._pictures: OrderedDict[tuple[str, int], str] = OrderedDict()

    async def listed(self, query: dict[str, str]) -> schemas.Games:
        """Games, the newest first, that fit what is wanted."""
        state = query.get("state", "")
        if state and state not in STATES:
            raise InvalidRequest(f"a state is one of {', '.join(STATES)}", {"field": "state"})
        wanted = GameFilter(
            state=state,
            ruleset=query.get("ruleset", ""),
            ladder=query.get("ladder", ""),
            tournament=query.get("tournament", ""),
            bot=query.get("bot", ""),
            owner=query.get("owner", ""),
        )
        size = _number(query.get("page_size", "0"), "page_size")
        token = query.get("page_token", "")
        views, following = await self._use_cases.list_games(VISITOR, wanted, size, token)
        connected = await self._use_cases.connected(*views)
        games: list[schemas.Game] = []
        for view in views:
            games.append(game_facts(view, connected.__contains__))
            await asyncio.sleep(0)  # a page of 500 games takes 100 ms: others are served in between
        return {"games": games, "next_page_token": following}

    async def watched(self, game_id: str, events: int | None = None) -> schemas.SpectatorView:
        """A game as it stands, with its events after the first so many; by default the last."""
        view = await self._use_cases.view(game_id)
        connected = await self._use_cases.connected(view)
        return spectator_facts(view, connected.__contains__, self._use_cases.now(), events)

    async def replay(self, game_id: str) -> schemas.Replay:
        """A game moment by moment; after its end, checked completely."""
        view = await self._use_cases.view(game_id)
        connected = await self._use_cases.connected(view)
        game = game_facts(view, connected.__contains__)
        message = replay_message(view, himeji.__version__)
        return await asyncio.to_thread(
            _replay_facts, view, game, message, is_over=view.stored.state == OVER
        )

    async def replay_file(self, game_id: str) -> ReplayMessage:
        """The replay as the file that every tool reads."""
        view = await self._use_cases.view(game_id)
        return replay_message(view, himeji.__version__)

    async def picture(self, game_id: str, moment: int) -> str:
        """The board at a moment of a game."""
        key = (game_id, moment)
        if key not in self._pictures:
            view = await self._use_cases.view(game_id)
            played = view.logged_actions()
            if not view.has_position or not 0 <= moment <= len(played):
                raise NotFound(f"{game_id} has the moments 0 to {len(played)}")
            self._keep(key, await asyncio.to_thread(_drawn, view, played[:moment]))
        self._pictures.move_to_end(key)
        return self._pictures[key]

    async def board(self, view: GameView) -> str:
        """The board as it stands, "" before the game begins."""
        if not view.has_position:
            return ""
        key = (view.game_id, len(view.logged_actions()))
        if key not in self._pictures:
            self._keep(key, await asyncio.to_thread(render.svg, view.copy()))
        return self._pictures[key]

    def _keep(self, key: tuple[str, int], picture: str) -> None:
        self._pictures[key] = picture
        while len(self._pictures) > _MOST_PICTURES:
            self._pictures.popitem(last=False)


def _number(text: str, field: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise InvalidRequest(f"{field} is a number", {"field": field})
    return int(text)


# --- one game -----------------------------------------------------------------------------------


def game_facts(view: GameView, connected: Callable[[str], bool], now: int = 0) -> schemas.Game:
    """A game, with the clocks as they stand if the time is given."""
    message, stored = game_message(view, connected), view.stored
    return {
        "game_id": view.game_id,
        "ruleset": message.ruleset,
        "title": rules.ruleset(message.ruleset).title,
        "options": {option.name: option.value for option in message.options},
        "ladder": message.ladder,
        "tournament": message.tournament,
        "rated": message.rated,
        "state": stored.state,
        "version": stored.version,
        "decision": stored.decision,
        "create_time": moment_text(message.create_time),
        "end_time": moment_text(message.end_time) if stored.ended else "",
        "end_reason": reason_text(message.result.end_reason),
        "seats": _seats(view, message, now),
    }


def _seats(view: GameView, message: GameMessage, now: int) -> list[schemas.Seat]:
    """The seats, and the rival where the game has one."""
    results = {seat.seat: seat for seat in message.result.seats}
    position = view.copy() if view.has_position else None
    scores = position.scores() if position is not None else []
    clans = max(len(message.seats), len(scores), len(results))
    lines = _lines(position, message.result)
    return [
        {
            **_sitter(message, clan),
            "asked": view.stored.state == PLAYING and view.stored.seat == clan,
            "clock_ms": _clock(view, clan, now),
            "score": _score(clan, results, scores),
            "rank": results[clan].rank if clan in results else None,
            "breakdown": lines[clan] if clan < len(lines) else [],
        }
        for clan in range(clans)
    ]


def _sitter(message: GameMessage, clan: int) -> schemas.Seat:
    """Who sits there; what depends on the position is filled in by the caller."""
    seat = message.seats[clan] if clan < len(message.seats) else None
    planned = seat.plan.name if seat is not None else ""
    name = RIVAL if seat is None else seat.bot or planned or "an open seat"
    result = next((each for each in message.result.seats if each.seat == clan), None)
    reason = result.end_reason if result is not None else seat.end_reason if seat else 0
    return {
        "seat": clan,
        "name": name,
        "bot": seat.bot if seat is not None else "",
        "bot_version": seat.bot_version if seat is not None else 0,
        "house": seat is not None and seat.house,
        "connected": seat is not None and seat.connected,
        "strikes": seat.strikes if seat is not None else 0,
        "end_reason": reason_text(reason),
        "asked": False,
        "clock_ms": None,
        "score": None,
        "rank": None,
        "breakdown": [],
    }


def _score(clan: int, results: dict[int, SeatResult], scores: Sequence[int]) -> int | None:
    if clan in results:
        return results[clan].score
    return scores[clan] if clan < len(scores) else None


def _clock(view: GameView, clan: int, now: int) -> int | None:
    stored = view.stored
    if not view.header.HasField("clock") or clan >= len(stored.seats):
        return None
    left, runs = stored.seats[clan].left, now and clan == stored.seat
    return time_left(left, stored.asked, now) if runs else left


def _lines(engine: Engine | None, result: GameResult) -> list[list[schemas.ScoreLine]]:
    """The points by line, of the result once there is one."""
    if result.seats:
        return [
            [{"category": x.category, "rule": x.rule, "points": x.points} for x in seat.breakdown]
            for seat in result.seats
        ]
    if engine is None:
        return []
    rule = engine.ruleset.scoring_rule
    return [
        [{"category": name, "rule": rule(name), "points": n} for name, n in lines.items()]
        for lines in engine.breakdown()
    ]


def spectator_facts(
    view: GameView, connected: Callable[[str], bool], now: int, events: int | None = None
) -> schemas.SpectatorView:
    """A game with its last events in words."""
    count = view.event_count
    first = max(0, count - EVENTS_SHOWN) if events is None else min(max(events, 0), count)
    return {
        "game": game_facts(view, connected, now),
        "question": _question(view),
        "last_action": _last_action(view),
        "event_count": count,
        "first_event": first,
        "events": _events(view, first),
    }


def _question(view: GameView) -> str:
    if view.stored.state != PLAYING or not view.has_position:
        return ""
    position = view.copy()
    return position.stack[-1].question(position)


def _last_action(view: GameView) -> str:
    for record in reversed(view.events()):
        if record[0] == ACTION:
            return view.event_text(record)
    return ""


def _events(view: GameView, first: int) -> list[schemas.GameEvent]:
    seats, ruleset = len(view.stored.seats), view.ruleset
    return [
        event_facts(ruleset, seats, first + number, record)
        for number, record in enumerate(view.events(first))
    ]


def event_facts(ruleset: Ruleset, seats: int, number: int, record: Record) -> schemas.GameEvent:
    """An event in words."""
    kind, seat, _, _, rule = record
    return {
        "number": number,
        "kind": ruleset.event_kinds[kind],
        "seat": seat if seat >= 0 else None,
        "text": ruleset.tell(record, seats),
        "rule": rule,
    }


# --- replays ------------------------------------------------------------------------------------


def _drawn(view: GameView, played: Sequence[LoggedAction]) -> str:
    """The board after so many actions, played anew."""
    engine = view.restart()
    for each in played:
        engine.apply(each.action)
    return render.svg(engine)


def _replay_facts(
    view: GameView, game: schemas.Game, message: ReplayMessage, *, is_over: bool
) -> schemas.Replay:
    moments, turns = _moments(view) if view.has_position else ([], [])
    found = _checked(message) if is_over else []
    return {
        "game": game,
        "clans": [seat["name"] for seat in game["seats"]],
        "moments": moments,
        "turns": turns,
        "verified": all(each["passed"] for each in found) if is_over else None,
        "checks": found,
    }


def _moments(view: GameView) -> tuple[list[schemas.Moment], list[schemas.Turn]]:
    """Play the log once more, and note the scores on the way."""
    engine = view.restart()
    setup: schemas.Moment = {
        "number": 0,
        "version": 1,
        "seat": None,
        "action": None,
        "text": "the set-up",
        "turn": 0,
        "scores": engine.scores(),
    }
    moments, turns = [setup], list[schemas.Turn]()
    for number, each in enumerate(view.logged_actions(), start=1):
        seat = engine.to_move if engine.to_move is not None else 0
        if not turns or turns[-1]["seat"] != seat:
            turns.append({"number": len(turns) + 1, "seat": seat, "first_moment": number})
        engine.apply(each.action)
        moments.append(
            {
                "number": number,
                "version": each.version,
                "seat": seat,
                "action": each.action,
                "text": engine.ruleset.actions.text(each.action),
                "turn": len(turns),
                "scores": engine.scores(),
            }
        )
    return moments, turns


def _checked(message: ReplayMessage) -> list[schemas.Check]:
    """Everything that a replay promises, worked out again, up to the first thing that is wrong."""
    found: list[schemas.Check] = []
    try:
        for text in checks(message):
            found.append({"passed": True, "text": text})  # noqa: PERF401 - kept when one fails
    except HimejiError as error:
        found.append({"passed": False, "text": error.message})
    return found


# --- words --------------------------------------------------------------------------------------


def moment_text(time: Timestamp) -> str:
    """A time as JSON writes it."""
    return time.ToJsonString()


def reason_text(reason: int) -> str:
    """An end reason in small letters, "" for none."""
    if not reason:
        return ""
    return EndReason.Name(EndReason.ValueType(reason)).removeprefix("END_REASON_").lower()
