"""The site: its pages and its JSON, both from the same facts, and how refusals look."""

from __future__ import annotations

import platform
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import himeji
from google.protobuf import json_format
from grpc import StatusCode
from himeji.rules.errors import HimejiError, NotFound
from himeji.wire.errors import STATUS_CODES
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route as StarletteRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from himeji_server.accounts.accounts import Accounts
from himeji_server.games.client_errors import as_error
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.assembly import LadderAssembly
from himeji_server.settings import HOST, Settings
from himeji_server.web import openapi, rulesets, schemas
from himeji_server.web.browser_players import BrowserPlayers
from himeji_server.web.games import GameViews
from himeji_server.web.ladders import LadderViews
from himeji_server.web.middleware import SecurityMiddleware
from himeji_server.web.play_pages import PlayPages
from himeji_server.web.route import Route
from himeji_server.web.template_filters import environment

STATIC: Final = Path(__file__).with_name("static")
STATUS: Final[Mapping[StatusCode, int]] = {
    StatusCode.INVALID_ARGUMENT: 400,
    StatusCode.OUT_OF_RANGE: 400,
    StatusCode.UNAUTHENTICATED: 401,
    StatusCode.PERMISSION_DENIED: 403,
    StatusCode.NOT_FOUND: 404,
    StatusCode.ALREADY_EXISTS: 409,
    StatusCode.ABORTED: 409,
    StatusCode.FAILED_PRECONDITION: 409,
    StatusCode.RESOURCE_EXHAUSTED: 429,
    StatusCode.UNIMPLEMENTED: 501,
    StatusCode.UNAVAILABLE: 503,
}
"""How HTTP says what gRPC says; anything else is 500."""

_NEWEST: Final = 40
"""Games on the first page: looking for those that are played alone would pass by all that ended."""

_PAGED: Final = {"page_token": "Where the list goes on, as the page before said."}
_GAME: Final = {"game_id": "The id of a game."}
_LOOKING_BACK: Final = "private, max-age=86400, immutable"  # the past of a game does not change


@dataclass(frozen=True)
class SiteParts:
    """What the site stands on: the same as the services of the contract."""

    settings: Settings
    port: int
    use_cases: GameUseCases
    ladder: LadderAssembly
    accounts: Accounts


def build(parts: SiteParts) -> ASGIApp:
    """The whole site behind its guard."""
    return SecurityMiddleware(Site(parts).app(), parts.settings.limits)


class Site:
    """Pages and JSON."""

    def __init__(self, parts: SiteParts) -> None:
        self._settings = parts.settings
        self._address = f"{HOST}:{parts.port}"
        self._templates = environment()
        self._guests = BrowserPlayers(parts.accounts, dev=parts.settings.dev)
        self._games = GameViews(parts.use_cases)
        self._ladders = LadderViews(parts.ladder.queries, parts.use_cases, parts.accounts)
        self._seats = PlayPages(parts.use_cases, self._games, self._guests, self._templates)

    def app(self) -> Starlette:
        """The routes, with what is said when something is refused."""
        page = [StarletteRoute(path, answer) for path, answer in self._pages().items()]
        posts = [
            StarletteRoute(path, answer, methods=["POST"])
            for path, answer in self._seats.posts().items()
        ]
        api = [StarletteRoute(each.path, each.answer, name=each.name) for each in self.api()]
        static = Mount("/static", StaticFiles(directory=STATIC), name="static")
        return Starlette(
            routes=[*page, *posts, *api, static],
            exception_handlers={
                HimejiError: self._refuse,
                HTTPException: self._refuse,
                Exception: self._refuse,
            },
        )

    # --- pages ----------------------------------------------------------------------------------

    def _pages(self) -> dict[str, Callable[[Request], Awaitable[Response]]]:
        shown = self._shown
        return {
            "/": shown("home.html", self._arena),
            "/play": shown("play.html", self._invitation),
            "/ladders": shown("ladders.html", lambda _: self._ladders.ladders()),
            "/ladders/{ladder}": shown("ladder.html", self._table),
            "/bots/{owner}/{bot}": shown("bot.html", self._bot),
            "/games": shown("games.html", self._listed),
            "/games/{game_id}": self._seats.page,
            "/games/{game_id}/turn": self._seats.turn,
            "/games/{game_id}/news": self._seats.news,
            "/games/{game_id}/replay": shown("replay.html", self._replay),
            "/rulesets": shown("rulesets.html", _rulesets),
            "/rulesets/{ruleset}": shown("ruleset.html", _ruleset),
            "/rulesets/{ruleset}/components": shown("components.html", _ruleset),
            "/rulesets/{ruleset}/actions": shown("actions.html", _ruleset),
        }

    def _shown(
        self, template: str, facts: Callable[[Request], Awaitable[Any]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def page(request: Request) -> Response:
            content = {"query": dict(request.query_params)} | await facts(request)
            return HTMLResponse(self._templates.get_template(template).render(content))

        return page

    async def _arena(self, _request: Request) -> schemas.Arena:
        newest = await self._games.listed({"page_size": str(_NEWEST)})
        return {
            "version": himeji.__version__,
            "engine": f"{himeji.ENGINE_FORM}, Python {platform.python_version()}",
            "mode": self._settings.mode,
            "address": self._address,
            "rulesets": rulesets.summaries()["rulesets"],
            "house": await self._ladders.connected_house_bots(),
            "games": newest["games"],
            "ladders": (await self._ladders.ladders())["ladders"],
        }

    async def _invitation(self, _request: Request) -> dict[str, Any]:
        return {
            "welcome": self._guests.welcome,
            "house": await self._ladders.connected_house_bots(),
            **rulesets.summaries(),
        }

    async def _table(self, request: Request) -> schemas.StandingsPage:
        return await self._ladders.standings(
            request.path_params["ladder"], request.query_params.get("page_token", "")
        )

    async def _bot(self, request: Request) -> schemas.Bot:
        return await self._ladders.bot("{owner}/{bot}".format(**request.path_params))

    async def _listed(self, request: Request) -> schemas.Games:
        return await self._games.listed(dict(request.query_params))

    async def _watched(self, request: Request) -> schemas.Watched:
        return await self._games.watched(request.path_params["game_id"])

    async def _replay(self, request: Request) -> schemas.Replay:
        return await self._games.replay(request.path_params["game_id"])

    # --- JSON -----------------------------------------------------------------------------------

    def api(self) -> list[Route]:
        """Every route of `/api`, as the document describes it."""
        bot = {"owner": "The owner of a bot.", "bot": "The bot's own name."}
        wanted = {
            "state": "waiting, playing or over.",
            "ruleset": "The name of a ruleset.",
            "ladder": "The name of a ladder.",
            "bot": "A bot that takes part, as owner/name.",
            "page_size": "How many, 50 by default, 500 at most.",
        }
        ladder, ruleset = {"ladder": "The name of a ladder."}, {"ruleset": wanted["ruleset"]}
        moment = {"moment": "How many actions were played before, 0 for the set-up."}
        file, svg = "/replay.json", "/boards/{moment:int}.svg"
        tell, game = _told, "/api/games/{game_id}"
        return [
            tell("/api/arena", "arena", self._arena, schemas.Arena),
            tell("/api/ladders", "ladders", lambda _: self._ladders.ladders(), schemas.Ladders),
            tell(
                "/api/ladders/{ladder}",
                "ladder",
                self._table,
                schemas.StandingsPage,
                ladder | _PAGED,
            ),
            tell("/api/bots/{owner}/{bot}", "bot", self._bot, schemas.Bot, bot),
            tell("/api/games", "games", self._listed, schemas.Games, wanted | _PAGED),
            tell(game, "game", self._watched, schemas.Watched, _GAME),
            tell(f"{game}/replay", "replay", self._replay, schemas.Replay, _GAME),
            tell("/api/rulesets", "rulesets", _rulesets, schemas.Rulesets),
            tell("/api/rulesets/{ruleset}", "ruleset", _ruleset, schemas.Ruleset, ruleset),
            Route(
                f"{game}{file}",
                "replay_file",
                "The replay file that `himeji verify` reads.",
                self._file,
                parameters=_GAME,
                media="application/json",
            ),
            Route(
                f"{game}{svg}",
                "board",
                "The board at a moment of the game.",
                self._board,
                parameters=_GAME | moment,
                media="image/svg+xml",
            ),
            Route("/api/openapi.json", "openapi", "This document.", self._document),
        ]

    async def _file(self, request: Request) -> Response:
        game_id = request.path_params["game_id"]
        text = json_format.MessageToJson(await self._games.replay_file(game_id), indent=1)
        name = f'attachment; filename="{game_id}.json"'
        return Response(f"{text}\n", 200, {"content-disposition": name}, "application/json")

    async def _board(self, request: Request) -> Response:
        picture = await self._games.picture(
            request.path_params["game_id"], request.path_params["moment"]
        )
        return Response(picture, 200, {"cache-control": _LOOKING_BACK}, "image/svg+xml")

    async def _document(self, _request: Request) -> Response:
        return JSONResponse(openapi.document(self.api()))

    # --- refusals -------------------------------------------------------------------------------

    async def _refuse(self, request: Request, raised: Exception) -> Response:
        """A page, or JSON where JSON was asked for, that says why."""
        error, status = _error(raised, request)
        facts: schemas.Refusal = {"reason": error.reason, "message": error.message}
        wants_json = request.headers.get("accept", "").startswith("application/json")
        if wants_json or request.url.path.startswith("/api"):
            return JSONResponse(facts, status)
        return page(self._templates, "refusal.html", {**facts, "status": status}, status)


def page(
    templates: Environment, template: str, content: Mapping[str, Any], status: int = 200
) -> Response:
    """A template as a page."""
    return HTMLResponse(templates.get_template(template).render(content), status)


def _error(raised: Exception, request: Request) -> tuple[HimejiError, int]:
    if isinstance(raised, HTTPException):
        return NotFound(f"{raised.detail}: there is nothing here"), raised.status_code
    error = as_error(raised, f"page {request.scope.get('path', '')[:100]}")
    return error, STATUS.get(STATUS_CODES[type(error)], 500)


def _told(
    path: str,
    name: str,
    facts: Callable[[Request], Awaitable[Any]],
    shape: type,
    parameters: Mapping[str, str] | None = None,
) -> Route:
    async def answer(request: Request) -> Response:
        return JSONResponse(await facts(request))

    summary = (shape.__doc__ or "").strip()
    return Route(path, name, summary, answer, shape, parameters=parameters or {})


async def _rulesets(_request: Request) -> schemas.Rulesets:
    return rulesets.summaries()


async def _ruleset(request: Request) -> schemas.Ruleset:
    return rulesets.ruleset_facts(request.path_params["ruleset"])
