"""The site: routes of the HTML pages and of the JSON API, both from the same data, and errors."""

from __future__ import annotations

import platform
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import himeji
from google.protobuf import json_format
from himeji.rules.errors import HimejiError
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp

from himeji_server import pagination
from himeji_server.accounts.accounts import Accounts
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.assembly import LadderAssembly
from himeji_server.processor_shares import ProcessorShares
from himeji_server.settings import HOST, Settings
from himeji_server.web import openapi, rulesets, schemas
from himeji_server.web.browser_players import BrowserPlayers
from himeji_server.web.error_pages import ErrorPages
from himeji_server.web.games import GameViews
from himeji_server.web.ladders import LadderViews
from himeji_server.web.middleware import SecurityMiddleware
from himeji_server.web.openapi import Route
from himeji_server.web.play_pages import PlayPages
from himeji_server.web.server_sent_events import EventStreams
from himeji_server.web.static_files import StaticFiles
from himeji_server.web.template_filters import environment

_NEWEST: Final = 40
"""Games on the home page, of any state: a search for those in progress alone would read all that
ended."""

_PAGE_TOKEN: Final = {"page_token": "Where the list goes on, as the page before said."}
_GAME_ID: Final = {"game_id": "The id of a game."}
_IMMUTABLE: Final = "private, max-age=86400, immutable"  # the past of a game does not change
_LEAST_COMPRESSED_BYTES: Final = 1024
_COMPRESSION_LEVEL: Final = 5
"""A board of 83 kB becomes 8 kB in 0.6 ms; level 9 takes 1.5 ms for 6 % less."""


@dataclass(frozen=True)
class SiteParts:
    """What the site uses: the same use cases as the gRPC services."""

    settings: Settings
    port: int
    use_cases: GameUseCases
    ladder: LadderAssembly
    accounts: Accounts


def build(parts: SiteParts) -> ASGIApp:
    """The whole site, wrapped in its middleware."""
    limits = parts.settings.limits
    site = Site(parts)
    compressed = GZipMiddleware(site.app(), _LEAST_COMPRESSED_BYTES, _COMPRESSION_LEVEL)
    return SecurityMiddleware(
        compressed, limits, ProcessorShares.of_page(limits), site.errors.respond
    )


class Site:
    """The handlers of all routes."""

    def __init__(self, parts: SiteParts) -> None:
        self._settings = parts.settings
        self._address = f"{HOST}:{parts.port}"
        self._templates = environment()
        self._players = BrowserPlayers(parts.accounts, parts.use_cases, dev=parts.settings.dev)
        self._games = GameViews(parts.use_cases)
        self._ladders = LadderViews(parts.ladder.queries, parts.use_cases, parts.accounts)
        limits = parts.settings.limits
        self._play_pages = PlayPages(
            parts.use_cases, self._games, self._players, self._templates, limits
        )
        self._events = EventStreams(parts.use_cases, self._players, self._play_pages.news, limits)
        self._static = StaticFiles()
        self.errors = ErrorPages(self._templates)

    def app(self) -> Starlette:
        """The application: all routes, and the error handler."""
        pages = [StarletteRoute(path, handler) for path, handler in self._pages().items()]
        posts = [
            StarletteRoute(path, handler, methods=["POST"])
            for path, handler in self._play_pages.posts().items()
        ]
        api = [StarletteRoute(each.path, each.handler, name=each.name) for each in self.api()]
        respond = self.errors.respond
        return Starlette(
            routes=[*pages, *posts, *api],
            exception_handlers={
                HimejiError: respond,
                HTTPException: respond,
                Exception: respond,
            },
        )

    # --- pages ----------------------------------------------------------------------------------

    def _pages(self) -> dict[str, Callable[[Request], Awaitable[Response]]]:
        html = self._html
        return {
            "/": html("home.html", self._arena),
            "/play": html("play.html", self._play_form),
            "/ladders": html("ladders.html", lambda _: self._ladders.ladders()),
            "/ladders/{ladder}": html("ladder.html", self._standings),
            "/bots/{owner}/{bot}": html("bot.html", self._bot),
            "/games": html("games.html", self._game_list),
            "/games/{game_id}": self._play_pages.page,
            "/games/{game_id}/turn": self._play_pages.turn,
            "/games/{game_id}/replay": html("replay.html", self._replay),
            "/rulesets": html("rulesets.html", _rulesets),
            "/rulesets/{ruleset}": html("ruleset.html", _ruleset),
            "/rulesets/{ruleset}/components": html("components.html", _ruleset),
            "/rulesets/{ruleset}/actions": html("actions.html", _ruleset),
            "/events": self._events.open,
            "/static/{name}": self._static.handle,
        }

    def _html(
        self, template: str, load: Callable[[Request], Awaitable[Any]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """A handler that renders a template with the data that `load` gives."""

        async def handle(request: Request) -> Response:
            content = {"query": dict(request.query_params)} | await load(request)
            return page(self._templates, template, content)

        return handle

    async def _arena(self, _request: Request) -> schemas.ArenaOverview:
        newest = await self._games.listed({"page_size": str(_NEWEST)})
        return {
            "version": himeji.__version__,
            "engine": f"{himeji.ENGINE_FORM}, Python {platform.python_version()}",
            "mode": self._settings.mode,
            "address": self._address,
            "rulesets": rulesets.summaries()["rulesets"],
            "house": await self._ladders.house_bots(),
            "games": newest["games"],
            "ladders": (await self._ladders.ladders())["ladders"],
        }

    async def _play_form(self, _request: Request) -> dict[str, Any]:
        return {
            "may_play": self._players.allowed,
            "house": await self._ladders.house_bots(),
            **rulesets.summaries(),
        }

    async def _standings(self, request: Request) -> schemas.StandingsPage:
        return await self._ladders.standings(
            request.path_params["ladder"], request.query_params.get("page_token", "")
        )

    async def _bot(self, request: Request) -> schemas.BotProfile:
        return await self._ladders.bot("{owner}/{bot}".format(**request.path_params))

    async def _game_list(self, request: Request) -> schemas.Games:
        return await self._games.listed(dict(request.query_params))

    async def _spectator_view(self, request: Request) -> schemas.SpectatorView:
        return await self._games.watched(request.path_params["game_id"])

    async def _replay(self, request: Request) -> schemas.Replay:
        return await self._games.replay(request.path_params["game_id"])

    # --- JSON -----------------------------------------------------------------------------------

    def api(self) -> list[Route]:
        """Every route of `/api`, with its description."""
        bot = {"owner": "The owner of a bot.", "bot": "The bot's own name."}
        most = self._settings.limits.games_read_per_page
        filters = {
            "state": "waiting, playing or over.",
            "ruleset": "The name of a ruleset.",
            "ladder": "The name of a ladder.",
            "tournament": "The name of a tournament.",
            "bot": "A bot that takes part, as owner/name.",
            "owner": "The owner of a bot that takes part.",
            "page_size": f"How many, {pagination.STANDARD_SIZE} by default, {most} at most.",
        }
        ladder, ruleset = {"ladder": "The name of a ladder."}, {"ruleset": filters["ruleset"]}
        moment = {"moment": "How many actions were played before, 0 for the set-up."}
        file, svg = "/replay.json", "/boards/{moment:int}.svg"
        game = "/api/games/{game_id}"
        return [
            _json_route("/api/arena", "arena", self._arena, schemas.ArenaOverview),
            _json_route(
                "/api/ladders", "ladders", lambda _: self._ladders.ladders(), schemas.LadderList
            ),
            _json_route(
                "/api/ladders/{ladder}",
                "ladder",
                self._standings,
                schemas.StandingsPage,
                ladder | _PAGE_TOKEN,
            ),
            _json_route("/api/bots/{owner}/{bot}", "bot", self._bot, schemas.BotProfile, bot),
            _json_route(
                "/api/games", "games", self._game_list, schemas.Games, filters | _PAGE_TOKEN
            ),
            _json_route(game, "game", self._spectator_view, schemas.SpectatorView, _GAME_ID),
            _json_route(f"{game}/replay", "replay", self._replay, schemas.Replay, _GAME_ID),
            _json_route("/api/rulesets", "rulesets", _rulesets, schemas.Rulesets),
            _json_route("/api/rulesets/{ruleset}", "ruleset", _ruleset, schemas.Ruleset, ruleset),
            Route(
                f"{game}{file}",
                "replay_file",
                "The replay file that `himeji verify` reads.",
                self._replay_file,
                parameters=_GAME_ID,
                media_type="application/json",
            ),
            Route(
                f"{game}{svg}",
                "board",
                "The board at a moment of the game.",
                self._board,
                parameters=_GAME_ID | moment,
                media_type="image/svg+xml",
            ),
            Route("/api/openapi.json", "openapi", "This document.", self._openapi),
        ]

    async def _replay_file(self, request: Request) -> Response:
        game_id = request.path_params["game_id"]
        text = json_format.MessageToJson(await self._games.replay_file(game_id), indent=1)
        name = f'attachment; filename="{game_id}.json"'
        return Response(f"{text}\n", 200, {"content-disposition": name}, "application/json")

    async def _board(self, request: Request) -> Response:
        picture = await self._games.picture(
            request.path_params["game_id"], request.path_params["moment"]
        )
        return Response(picture, 200, {"cache-control": _IMMUTABLE}, "image/svg+xml")

    async def _openapi(self, _request: Request) -> Response:
        return JSONResponse(openapi.document(self.api()))


def page(templates: Environment, template: str, content: Mapping[str, Any]) -> Response:
    """Render a template as an HTML response."""
    return HTMLResponse(templates.get_template(template).render(content))


def _json_route(
    path: str,
    name: str,
    load: Callable[[Request], Awaitable[Any]],
    schema: type,
    parameters: Mapping[str, str] | None = None,
) -> Route:
    """A route that answers with the data that `load` gives, described by their schema."""

    async def handle(request: Request) -> Response:
        return JSONResponse(await load(request))

    summary = (schema.__doc__ or "").strip()
    return Route(path, name, summary, handle, schema, parameters=parameters or {})


async def _rulesets(_request: Request) -> schemas.Rulesets:
    return rulesets.summaries()


async def _ruleset(request: Request) -> schemas.Ruleset:
    return rulesets.details(request.path_params["ruleset"])
