"""Commands about ladders: join and leave them, and see tables, histories and seasons."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import click
from himeji.rules.errors import MissingToken
from himeji.v1.ladder_service_pb2 import RecomputeResult, Standing
from rich.console import Console
from rich.live import Live

from himeji_sdk._bot_loader import load_bot
from himeji_sdk._client.service_client import LadderClient
from himeji_sdk._commands import cli_options, ladder_output
from himeji_sdk._commands.online import log_to_stderr, print_ends
from himeji_sdk._commands.progress import progress_bar
from himeji_sdk._commands.tournament import tournament
from himeji_sdk._online.run import run as run_online
from himeji_sdk._stdout import bot_output
from himeji_sdk.connection import find_token

DEFAULT_LADDER: Final = "base-2p"
_ladder = click.option(
    "--ladder",
    default=DEFAULT_LADDER,
    show_default=True,
    help="The ladder, as `himeji ladder list` has it.",
)
_any_ladder = click.option("--ladder", default="", help="Only this ladder; else all.")
_most = click.option(
    "--most", type=click.IntRange(1), default=20, show_default=True, help="Entries."
)


@click.group()
def ladder() -> None:
    """Ladders: rated games around the clock."""


def _client(target: str, token_file: Path | None, *, public: bool = False) -> LadderClient:
    try:
        return LadderClient(target, find_token(file=token_file))
    except MissingToken:
        if not public:
            raise
        return LadderClient(target)


@ladder.command("list")
@cli_options.target
@cli_options.as_json
def list_ladders(*, target: str, as_json: bool) -> None:
    """List the ladders of an arena."""
    with LadderClient(target) as client:
        found = client.pages("ListLadders", "ladders")
    if as_json:
        ladder_output.print_json(found)
    else:
        Console().print(ladder_output.ladders(found))


@ladder.command()
@click.argument("bot")
@cli_options.target
@cli_options.token_file
@click.option(
    "--ladder",
    "ladders",
    multiple=True,
    default=(DEFAULT_LADDER,),
    show_default=True,
    help="The ladder; may be given several times.",
)
@click.option(
    "--name", default="", help="The bot's name in the arena; else that of its token, or its own."
)
@cli_options.bot_version
@click.option("--games", type=click.IntRange(1), help="Stop after so many games; else at Ctrl-C.")
@click.option(
    "--at-once", type=click.IntRange(1, 64), default=1, help="Games of a ladder at the same time."
)
@click.option("--invited", is_flag=True, help="Play games that others create with this bot, too.")
@cli_options.invited_from
@cli_options.limit
@click.option(
    "--resign-on-fault", is_flag=True, help="Give up games in which the bot crashes or hangs."
)
@click.option("--quiet", is_flag=True, help="Only say what goes wrong.")
@cli_options.as_json
def join(  # noqa: PLR0913 - one parameter per option
    *,
    bot: str,
    target: str,
    token_file: Path | None,
    ladders: tuple[str, ...],
    name: str,
    bot_version: int | None,
    games: int | None,
    at_once: int,
    invited: bool,
    invited_from: tuple[str, ...],
    limit: float | None,
    resign_on_fault: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run BOT on ladders: an installed bot's name, FILE or FILE.py, FILE.py:NAME or MODULE:NAME.

    The arena pairs it with others, and every game counts. It plays until Ctrl-C, or until
    `himeji ladder leave` takes it out of its queues.
    """
    log_to_stderr(quiet=quiet)
    with bot_output(to_stderr=as_json):
        ends = run_online(
            load_bot(bot),
            target,
            find_token(file=token_file),
            name=name,
            version=bot_version or 0,
            ladders=ladders,
            games=games,
            at_once=at_once,
            invitations=invited,
            invitations_from=invited_from,
            limit=limit,
            resign_on_fault=resign_on_fault,
        )
    print_ends(ends, quiet=quiet, as_json=as_json)


@ladder.command()
@click.argument("bot", default="")
@cli_options.target
@cli_options.token_file
@_any_ladder
@cli_options.as_json
def leave(*, bot: str, target: str, token_file: Path | None, ladder: str, as_json: bool) -> None:
    """Take BOT ("owner/name") out of its queues; games that have begun go on.

    The process that runs it plays these to their end and then stops by itself.
    """
    with _client(target, token_file) as client:
        left = list(client.call("LeaveLadder", bot=bot, ladder=ladder).ladders)
    sentence = f"left {', '.join(left)}" if left else "it was in no queue"
    click.echo(json.dumps({"left": left}) if as_json else sentence)


@ladder.command()
@cli_options.target
@cli_options.token_file
@_ladder
@click.option("--season", type=click.IntRange(1), default=None, help="Else the running one.")
@click.option("--versions", is_flag=True, help="List older versions of a bot beside its newest.")
@click.option("--watch", is_flag=True, help="Show the table anew after every result.")
@cli_options.as_json
def standings(  # noqa: PLR0913 - one parameter per option
    *,
    target: str,
    token_file: Path | None,
    ladder: str,
    season: int | None,
    versions: bool,
    watch: bool,
    as_json: bool,
) -> None:
    """Show the table of a ladder, best first."""
    asked: dict[str, Any] = {"ladder": ladder, "season": season or 0, "show_old_versions": versions}
    with _client(target, token_file, public=True) as client:
        if as_json:
            ladder_output.print_json(client.pages("GetStandings", "standings", **asked))
            return
        if not watch:
            Console().print(_standings(client, asked))
            return
        with Live(_standings(client, asked), console=Console(), auto_refresh=False) as screen:
            for _ in client.results(ladder):
                screen.update(_standings(client, asked), refresh=True)


def _standings(client: LadderClient, asked: dict[str, Any]) -> Any:
    first = client.call("GetStandings", **asked)
    rows = client.pages("GetStandings", "standings", **asked)
    title = f"{asked['ladder']}, season {first.season}, {first.games} games"
    if first.pending_voids:
        title += f" ({first.pending_voids} void: the table is being computed without them)"
    return ladder_output.standings(title, rows)


@ladder.command()
@click.argument("bot")
@cli_options.target
@cli_options.token_file
@_any_ladder
@_most
@cli_options.as_json
def history(  # noqa: PLR0913 - one parameter per option
    *, bot: str, target: str, token_file: Path | None, ladder: str, most: int, as_json: bool
) -> None:
    """Show the rated games of BOT ("owner/name"), the newest first."""
    with _client(target, token_file) as client:
        entries = client.pages("GetHistory", "entries", most, bot=bot, ladder=ladder)
    if as_json:
        ladder_output.print_json(entries)
    else:
        Console().print(ladder_output.history(bot, entries))


@ladder.command("head-to-head")
@click.argument("bot")
@click.argument("opponent")
@cli_options.target
@cli_options.token_file
@_any_ladder
@cli_options.as_json
def head_to_head(  # noqa: PLR0913 - one parameter per option
    *, bot: str, opponent: str, target: str, token_file: Path | None, ladder: str, as_json: bool
) -> None:
    """Show what BOT and OPPONENT ("owner/name") did against each other."""
    with _client(target, token_file) as client:
        found = list(
            client.call("GetHeadToHead", bot=bot, opponent=opponent, ladder=ladder).ladders
        )
    if as_json:
        ladder_output.print_json(found)
    else:
        Console().print(ladder_output.head_to_head(bot, opponent, found))


@ladder.command()
@cli_options.target
@cli_options.token_file
@_ladder
@click.option("--season", type=click.IntRange(1), default=None, help="Else the running one.")
@click.option("--repair", is_flag=True, help="Put the computed table in place of a wrong one.")
@cli_options.as_json
def recompute(  # noqa: PLR0913 - one parameter per option
    *,
    target: str,
    token_file: Path | None,
    ladder: str,
    season: int | None,
    repair: bool,
    as_json: bool,
) -> None:
    """Compute a table anew from the log of results, and compare (for administrators).

    The exit code is 1 if the live table was wrong and was not repaired.
    """
    result = RecomputeResult()
    rows: list[Standing] = []
    with _client(target, token_file) as client, progress_bar() as bar:
        task = bar.add_task("results", total=None)
        for message in client.recompute(ladder, season or 0, repair=repair):
            if message.HasField("progress"):
                done, total = message.progress.done, message.progress.total
                bar.update(task, completed=done, total=total)
            rows += message.differences.standings
            result.MergeFrom(message.result)
    if as_json:
        ladder_output.print_recomputed(result, rows)
        sys.exit(1 if rows and not result.repaired else 0)
    if not rows:
        click.echo(f"{ladder}: {result.games} games recomputed, every digit agrees")
        return
    Console().print(ladder_output.standings("rows as computed where they differ", rows))
    if not result.repaired:
        raise click.ClickException(f"{len(rows)} rows of {ladder} are wrong; --repair mends them")
    click.echo(f"{ladder}: {len(rows)} rows repaired")


@ladder.group()
def season() -> None:
    """Seasons of a ladder."""


@season.command("list")
@cli_options.target
@cli_options.token_file
@_ladder
@cli_options.as_json
def list_seasons(*, target: str, token_file: Path | None, ladder: str, as_json: bool) -> None:
    """List the seasons of a ladder, the newest first."""
    with _client(target, token_file) as client:
        found = client.pages("ListSeasons", "seasons", ladder=ladder)
    if as_json:
        ladder_output.print_json(found)
    else:
        Console().print(ladder_output.seasons(ladder, found))


@season.command("start")
@cli_options.target
@cli_options.token_file
@_ladder
@click.option("--title", default="", help="A title for people.")
@click.option(
    "--carry-over",
    type=click.FloatRange(0, 1),
    help="How much of each rating's distance from a beginner is kept; else the arena's choice.",
)
@cli_options.as_json
def start_season(  # noqa: PLR0913 - one parameter per option
    *,
    target: str,
    token_file: Path | None,
    ladder: str,
    title: str,
    carry_over: float | None,
    as_json: bool,
) -> None:
    """End the running season, archive its table and start the next (for administrators)."""
    with _client(target, token_file) as client:
        begun = client.call("StartSeason", ladder=ladder, title=title, carry_over=carry_over).season
    if as_json:
        ladder_output.print_json([begun])
    else:
        click.echo(f"{ladder}: season {begun.number} has begun")


ladder.add_command(tournament)
