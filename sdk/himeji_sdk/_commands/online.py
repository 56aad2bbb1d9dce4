"""Commands about games online: run a bot in them, and watch one."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from pathlib import Path

import click
from himeji.rules.errors import NotFound

from himeji_sdk._bot import End
from himeji_sdk._bot_loader import load_bot
from himeji_sdk._client.client import Client
from himeji_sdk._client.online_game import OnlineGame
from himeji_sdk._client.spectator import Sight
from himeji_sdk._commands import cli_options
from himeji_sdk._online.run import PATIENCE_SECONDS, run as run_online
from himeji_sdk._stdout import bot_output
from himeji_sdk._terminal_view import Screen
from himeji_sdk.connection import find_token


@click.command()
@click.argument("bot")
@cli_options.target
@cli_options.token_file
@click.option(
    "--name", default="", help="The bot's name in the arena; else that of its token, or its own."
)
@cli_options.bot_version
@click.option(
    "--against",
    multiple=True,
    metavar="OWNER/BOT",
    help="Create games with this bot in another seat, such as house/random; once per seat.",
)
@cli_options.ruleset
@cli_options.rule_options
@click.option(
    "--games",
    type=click.IntRange(1),
    help="Stop after so many games (with --against: 1; else play until Ctrl-C).",
)
@click.option("--at-once", type=click.IntRange(1), default=1, help="Created games at a time.")
@click.option("--invited", is_flag=True, help="Play games that others create with this bot.")
@cli_options.invited_from
@cli_options.limit
@click.option(
    "--resign-on-fault", is_flag=True, help="Give up games in which the bot crashes or hangs."
)
@click.option(
    "--patience",
    type=click.FloatRange(0),
    default=PATIENCE_SECONDS,
    show_default=True,
    help="Seconds to wait for an arena that does not answer at the start.",
)
@click.option("--quiet", is_flag=True, help="Only say what goes wrong.")
@cli_options.as_json
def run(  # noqa: PLR0913 - one parameter per option
    *,
    bot: str,
    target: str,
    token_file: Path | None,
    name: str,
    bot_version: int | None,
    against: tuple[str, ...],
    ruleset: str,
    options: dict[str, str],
    games: int | None,
    at_once: int,
    invited: bool,
    invited_from: tuple[str, ...],
    limit: float | None,
    resign_on_fault: bool,
    patience: float,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run BOT online: an installed bot's name, FILE or FILE.py, FILE.py:NAME or MODULE:NAME.

    It plays until Ctrl-C, which stops it after the current decision, comes back by itself when the
    connection is lost, and goes on where it was.
    """
    log_to_stderr(quiet=quiet)
    with bot_output(to_stderr=as_json):
        ends = run_online(
            load_bot(bot),
            target,
            find_token(file=token_file),
            name=name,
            version=bot_version or 0,
            against=against,
            ruleset=ruleset,
            options=options,
            games=games,
            at_once=at_once,
            invitations=invited,
            invitations_from=invited_from,
            patience=patience,
            limit=limit,
            resign_on_fault=resign_on_fault,
        )
    print_ends(ends, quiet=quiet, as_json=as_json)


@click.command()
@click.argument("game_id", required=False)
@cli_options.target
@cli_options.token_file
@cli_options.as_json
def watch(*, game_id: str | None, target: str, token_file: Path | None, as_json: bool) -> None:
    """Watch the game GAME_ID in the terminal, or the newest one that is being played.

    With --json, a line for each thing that happens.
    """
    with Client(target, find_token(file=token_file)) as client:
        game = client.game(game_id) if game_id else _newest(client)
        screen = Screen()
        for sight in game.watch():
            if as_json:
                click.echo(json.dumps(_facts(game, sight)))
            else:
                _draw(screen, game, sight)


def _newest(client: Client) -> OnlineGame:
    found = client.games(most=1)
    if not found:
        raise NotFound("no game is being played: name one that is over, or try again later")
    return found[0]


def _draw(screen: Screen, game: OnlineGame, sight: Sight) -> None:
    names = ", ".join(f"seat {seat} {name or 'open'}" for seat, name in enumerate(game.bots))
    below = [*sight.happened, f"{game.game_id}: {names}"]
    if sight.end is not None:
        below.append(f"over: {sight.end.reason}, {_points(sight.end)}")
    if sight.game is None:
        click.echo("\n".join(below))
    else:
        screen.draw(sight.game, below)


def _points(end: End) -> str:
    return " : ".join(map(str, end.scores)) or "without ranks"


def _facts(game: OnlineGame, sight: Sight) -> dict[str, object]:
    return {
        "game_id": game.game_id,
        "happened": sight.happened,
        "position": json.loads(sight.game.to_json()) if sight.game is not None else None,
        "end": asdict(sight.end) if sight.end is not None else None,
    }


def log_to_stderr(*, quiet: bool) -> None:
    """Write the SDK's log to standard error, as plain lines."""
    logger = logging.getLogger("himeji_sdk")
    logger.setLevel(logging.WARNING if quiet else logging.INFO)
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(message)s"))
    logger.handlers = [handler]


def print_ends(ends: list[End], *, quiet: bool, as_json: bool) -> None:
    """Print how the games ended."""
    first = sum(end.rank == 1 for end in ends)
    if as_json:
        click.echo(json.dumps([asdict(end) for end in ends]))
    elif not quiet:
        click.echo(f"{len(ends)} {'game' if len(ends) == 1 else 'games'} over, first in {first}")
