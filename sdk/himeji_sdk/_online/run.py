"""`run`: plays a bot online, under its name in the arena, in the games that it is to play."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from himeji.rules.errors import HimejiError

from himeji_sdk._bot import AnyBot, End, bot_factory
from himeji_sdk._client.client import Client, is_full_bot_name
from himeji_sdk._online.ladder_queues import LadderQueues
from himeji_sdk._online.run_options import RunOptions
from himeji_sdk._online.runner import Runner
from himeji_sdk.connection import find_target, find_token

PATIENCE_SECONDS: Final = 20.0


def run(  # noqa: PLR0913 - every option has a value that works
    bot: AnyBot,
    target: str | None = None,
    token: str | None = None,
    *,
    name: str = "",
    version: int = 0,
    against: Sequence[str] = (),
    ladders: Sequence[str] = (),
    ruleset: str = "base",
    options: Mapping[str, str] | None = None,
    games: int | None = None,
    at_once: int = 1,
    invitations: bool = False,
    invitations_from: Sequence[str] = (),
    patience: float = PATIENCE_SECONDS,
    limit: float | None = None,
    resign_on_fault: bool = False,
) -> list[End]:
    """Play online until `games` games are over, or a signal says stop; how they ended.

    Without a target and a token, those of the environment (HIMEJI_TARGET, HIMEJI_TOKEN) are used,
    or those of an arena in development mode that was started in this folder.

    The bot plays every game in which it gets a seat: by `Client.join`, by invitation (with
    `invitations` from everybody, with `invitations_from` from these owners and its own; untimed
    games of other owners are left out), or by games that are created for it: `against` names the
    bots of the other seats, such as ["house/random"], `ruleset` and `options` what is played,
    `at_once` how many of these games run at the same time. On `ladders`, such as ["base-2p"], it is
    paired by the arena, `at_once` games of each at a time, and rated; it leaves their queues when
    it stops.

    Give an object, and it is asked one question at a time; give a class, and each game gets an
    object and a thread of its own. `name` is the bot's name in the arena, "owner/name" or "name";
    without one it is the token's bot, or named like the class; `version` is the version of the bot
    that plays, 0 the newest. An arena that does not answer is given `patience` seconds at the
    start, and any time later. SIGINT and SIGTERM stop after the current decision.

    A bot that crashes, answers against the rules or takes longer than `limit` seconds for a choice
    stops the run by BotFault, with the question still open; with `resign_on_fault` it gives the
    game up and plays the others on (unless it is one object for all games, and hangs). Without a
    limit a bot that outlasts its clock is reported in the log. Raises InvalidToken,
    VersionMismatch, TakenOver and what else another try would not mend.
    """
    factory = bot_factory(bot)
    target, secret = find_target(target), find_token(token)
    with Client(target, secret, patience=patience) as client:
        full_name = _full_name(client, name, factory.name)
        run_options = RunOptions(
            name=full_name,
            version=version,
            games=(games or 1) if against else games,
            invitations=invitations,
            invitations_from=tuple(invitations_from),
            patience=patience,
            limit=limit,
            resign_on_fault=resign_on_fault,
        )
        runner = Runner(factory, target, secret, run_options)
        runner.queues = LadderQueues(ladders, at_once)
        if against:
            setup = _GameSetup(ruleset, options or {}, against)
            challenges = _Challenges(client, runner, run_options, setup)
            runner.on_capacity = lambda: challenges.top_up(run_options.games or 1, at_once)
        return runner.run()


class _GameSetup(NamedTuple):
    """What is played, and against whom."""

    ruleset: str
    options: Mapping[str, str]
    against: Sequence[str]


class _Challenges:
    """Creates games for a bot, so many at once, and rotates its seat from game to game."""

    def __init__(
        self, client: Client, runner: Runner, options: RunOptions, setup: _GameSetup
    ) -> None:
        self._client = client
        self._runner = runner
        self._bot = options.name
        self._version = options.version
        self._setup = setup
        self._created = 0

    def top_up(self, games: int, at_once: int) -> None:
        """Create the games that are missing, each in a thread: a call may take long."""
        runner = self._runner
        while self._created - runner.lost_games < min(games, len(runner.finished) + at_once):
            threading.Thread(target=self._create, args=(self._created,), daemon=True).start()
            self._created += 1

    def _create(self, number: int) -> None:
        seats = list(self._setup.against)
        own_seat = number % (len(seats) + 1)
        seats.insert(own_seat, self._bot)
        try:
            game = self._client.create_game(
                self._setup.ruleset, seats=seats, options=self._setup.options
            )
            self._client.join(game, seat=own_seat, bot=self._bot, version=self._version)
        except HimejiError as error:
            self._runner.fail(error)


def _full_name(client: Client, name: str, fallback: str) -> str:
    """The bot's name as "owner/bot"."""
    account = client.who_am_i()
    if is_full_bot_name(name):
        return name
    if account.bot and not name:
        return account.bot
    return f"{account.owner}/{name or _slug(fallback)}"


def _slug(name: str) -> str:
    """A class's or a function's name as bots are named: RandomBot is random-bot."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "-", name).strip("-").lower()
    return words[:32].strip("-") or "bot"
