"""The page of a game, live, and what a person does at it: take a seat, play, give up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import cycle, islice
from typing import Any, Final
from urllib.parse import parse_qs

from himeji import rules
from himeji.rules.errors import InvalidRequest, UnknownAccount
from himeji.v1.game_pb2 import SeatPlan, SeatPolicy
from himeji.wire.clock import FOR_PEOPLE
from jinja2 import Environment
from markupsafe import Markup
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from himeji_server.accounts.caller import Caller, current_address
from himeji_server.games.commands import NewGame
from himeji_server.games.live_game import GameView
from himeji_server.games.seat_rules import check_seats_of, is_asked, seats_of
from himeji_server.games.use_cases import STANDARD_STRIKES, GameUseCases
from himeji_server.limits import Limits
from himeji_server.rate_limits import too_large
from himeji_server.web import schemas, turn_preview
from himeji_server.web.browser_players import BrowserPlayers, set_cookie
from himeji_server.web.games import GameViews, spectator_facts

CLOCKS: Final = {str(clock.bank_ms // 60_000): clock for clock in FOR_PEOPLE}
"""The clocks that people choose from, by the minutes of their bank."""

NOBODY: Final = "nobody"
"""The seat of somebody who only wants to watch the house play."""

_FRAGMENTS: Final = ("head", "players", "seat", "log")
_PLANNED_FRAGMENTS: Final = ("head", "players", "seat")
"""What depends on a turn that is being planned; the log does not."""

Form = dict[str, list[str]]


class PlayPages:
    """Games with people at them."""

    def __init__(
        self,
        use_cases: GameUseCases,
        games: GameViews,
        guests: BrowserPlayers,
        templates: Environment,
        limits: Limits,
    ) -> None:
        self._use_cases = use_cases
        self._games = games
        self._guests = guests
        self._templates = templates
        self._most_body_bytes = limits.page_body_bytes

    def posts(self) -> dict[str, Callable[[Request], Awaitable[Response]]]:
        return {
            "/play": self._take_seat,
            "/games/{game_id}/actions": self._act,
            "/games/{game_id}/resign": self._resign,
            "/games/{game_id}/cancel": self._cancel,
        }

    # --- looking --------------------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        """A game as it stands, with the visitor's seat."""
        caller = await self._guests.find(request)
        facts = await self._facts(request.path_params["game_id"], caller)
        return HTMLResponse(self._templates.get_template("game.html").render(facts))

    async def news(self, game_id: str, caller: Caller | None) -> dict[str, Any]:
        """The parts of the page that change, as they are now."""
        return self._parts(await self._facts(game_id, caller))

    async def turn(self, request: Request) -> Response:
        """A turn that is being thought out: the board and the choices after some actions."""
        caller = await self._guests.require(request)
        asked: Form = parse_qs(request.url.query)
        decision, actions = _decision(asked), _actions(asked)
        view = await self._use_cases.view(request.path_params["game_id"])
        turn = turn_preview.preview(view, caller, decision, actions)
        board = await asyncio.to_thread(turn.picture)
        plan = turn_preview.describe(turn, decision, actions, board)
        facts = {**await self._spectator_facts(view), "plan": plan, "mine": seats_of(view, caller)}
        parts = self._fragments(facts, _PLANNED_FRAGMENTS)
        return JSONResponse({"decision": decision, "parts": parts | {"board": board}})

    async def _facts(self, game_id: str, caller: Caller | None) -> dict[str, Any]:
        """Everything that the page of a game shows."""
        view = await self._use_cases.view(game_id)
        mine = seats_of(view, caller) if caller is not None else []
        turn, decision = None, view.stored.decision
        if caller is not None and mine and is_asked(view, caller):
            turn = turn_preview.preview(view, caller, decision, ())
        board = await self._games.board(view)
        plan = turn_preview.describe(turn, decision, (), board) if turn is not None else None
        # The drawing is markup of our own, everything in it escaped.
        drawn = Markup(board)  # noqa: S704
        return {**await self._spectator_facts(view), "mine": mine, "plan": plan, "board": drawn}

    async def _spectator_facts(self, view: GameView) -> schemas.SpectatorView:
        connected = await self._use_cases.connected(view)
        return spectator_facts(view, connected.__contains__, self._use_cases.now())

    def _fragments(self, facts: dict[str, Any], names: Sequence[str]) -> dict[str, str]:
        return {name: self._templates.get_template(f"_{name}.html").render(facts) for name in names}

    def _parts(self, facts: dict[str, Any]) -> dict[str, Any]:
        parts, game = self._fragments(facts, _FRAGMENTS), facts["game"]
        return {
            "game": game["game_id"],
            "version": game["version"],
            "state": game["state"],
            "decision": game["decision"],
            "parts": parts | {"board": str(facts["board"])},
        }

    # --- doing ----------------------------------------------------------------------------------

    async def _take_seat(self, request: Request) -> Response:
        """Create a game against the house and sit down; the browser becomes a guest."""
        form = await self._form(request)
        new = _new_game(form)
        caller, secret = await self._guests.find(request), ""
        seat = _seat(form, len(new.plans))
        if caller is None:
            caller, secret = await self._guests.register(current_address())
        if seat is not None:
            await self._use_cases.check_may_sit(caller.bot)
            new.plans[seat].name = caller.bot
        view = await self._use_cases.create(caller, new, "")
        if seat is not None:
            player = await self._use_cases.player(caller)
            await self._use_cases.join(player, view.game_id, seat, b"", "")
        response = RedirectResponse(f"/games/{view.game_id}", 303)
        if secret:
            set_cookie(response, secret)
        return response

    async def _act(self, request: Request) -> Response:
        """Answer a decision with a whole turn."""
        caller, game_id = await self._guests.require(request), request.path_params["game_id"]
        form = await self._form(request)
        _, receipt = await self._use_cases.submit_and_wait(
            caller, game_id, _decision(form), _actions(form)
        )
        return _done(request, game_id, {"played": list(receipt.actions)})

    async def _resign(self, request: Request) -> Response:
        """Give the guest's seats up."""
        caller, game_id = await self._guests.require(request), request.path_params["game_id"]
        await self._use_cases.resign(caller, game_id, None)
        return _done(request, game_id, {})

    async def _cancel(self, request: Request) -> Response:
        """Cancel a game that has not begun and in which the guest has a seat.

        All guests are bots of one owner, so that the owner's right alone would be too much.
        """
        caller, game_id = await self._guests.require(request), request.path_params["game_id"]
        check_seats_of(await self._use_cases.view(game_id), caller)
        await self._use_cases.cancel_own(caller, game_id, "")
        return _done(request, game_id, {})

    async def _form(self, request: Request) -> Form:
        """What a form sent; raises MessageTooLarge, InvalidRequest."""
        announced = request.headers.get("content-length", "0")
        self._check_body_size(int(announced) if announced.isdecimal() else 0)
        body = b""
        try:
            async for chunk in request.stream():
                body += chunk
                self._check_body_size(len(body))
            return parse_qs(body.decode("ascii"))
        except ClientDisconnect:
            raise InvalidRequest("the form was not sent to its end") from None
        except ValueError:
            raise InvalidRequest("this is no form") from None

    def _check_body_size(self, size: int) -> None:
        if size > self._most_body_bytes:
            raise too_large("page_body_bytes", "the form has", size, self._most_body_bytes)


def _done(request: Request, game_id: str, facts: dict[str, Any]) -> Response:
    """The game's page again, or JSON for a script."""
    if request.headers.get("accept", "").startswith("application/json"):
        return JSONResponse(facts)
    return RedirectResponse(f"/games/{game_id}", 303)


def _text(form: Form, name: str, standard: str = "") -> str:
    return form.get(name, [standard])[0]


def _whole(text: str, name: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise InvalidRequest(f"{name} is a number", {"field": name})
    return int(text)


def _decision(form: Form) -> int:
    return _whole(_text(form, "decision"), "decision")


def _actions(form: Form) -> list[int]:
    return [_whole(each, "action") for each in form.get("action", [])]


def _seat(form: Form, seats: int) -> int | None:
    """The seat that a person wants, None for a spectator."""
    text = _text(form, "seat", "0")
    if text == NOBODY:
        return None
    seat = _whole(text, "seat")
    if seat >= seats:
        raise InvalidRequest(f"the game has the seats 0 to {seats - 1}", {"field": "seat"})
    return seat


def _new_game(form: Form) -> NewGame:
    """A game of a ruleset with its options, the other seats for bots of the house."""
    ruleset = rules.ruleset(_text(form, "ruleset"))
    seats = _whole(_text(form, "seats", str(min(ruleset.seat_counts))), "seats")
    ruleset.check_seats(seats)
    given = {name: _text(form, f"option-{name}") for name in ruleset.choices}
    clock = _text(form, "clock", "60")
    if clock not in CLOCKS:
        raise InvalidRequest(f"a clock is one of {', '.join(CLOCKS)}", {"field": "clock"})
    house = [each for each in form.get("against", []) if each]
    lonely = seats == 1 and _text(form, "seat", "0") != NOBODY
    if not house and not lonely:
        raise UnknownAccount("no bot of the house is here to play against")
    opponents = islice(cycle(house or [""]), seats)
    return NewGame(
        ruleset=ruleset.name,
        options={name: value for name, value in given.items() if value},
        plans=tuple(
            SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name=opponent) for opponent in opponents
        ),
        clock=CLOCKS[clock],
        strike_limit=STANDARD_STRIKES,
    )
