"""Commands about tournaments: create, show, list and cancel them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click
from google.protobuf.duration_pb2 import Duration
from himeji.v1.game_pb2 import Clock
from himeji.v1.ladder_service_pb2 import (
    Tournament,
    TournamentEntry,
    TournamentState,
    TournamentSystem,
)
from himeji.v1.position_pb2 import OptionValue
from rich.console import Console

from himeji_sdk._client.service_client import LadderClient
from himeji_sdk._commands import cli_options, ladder_output
from himeji_sdk.connection import find_token

SYSTEMS: Final = {
    "round-robin": TournamentSystem.TOURNAMENT_SYSTEM_ROUND_ROBIN,
    "swiss": TournamentSystem.TOURNAMENT_SYSTEM_SWISS,
}


@click.group()
def tournament() -> None:
    """Tournaments: one-off events with a table of their own."""


@tournament.command()
@click.argument("name")
@click.argument("bots", nargs=-1, required=True, metavar="OWNER/BOT[@VERSION]...")
@cli_options.target
@cli_options.token_file
@click.option(
    "--system",
    type=click.Choice(list(SYSTEMS)),
    default="round-robin",
    show_default=True,
    help="Who meets whom.",
)
@cli_options.ruleset
@cli_options.rule_options
@click.option(
    "--seats", type=click.IntRange(2), default=2, show_default=True, help="Seats of a table."
)
@click.option(
    "--rounds", type=click.IntRange(1), default=1, show_default=True, help="How often all meet."
)
@click.option("--bank", type=click.FloatRange(0.001), help="Seconds for a game; else the arena's.")
@click.option("--increment", type=click.FloatRange(0), default=0.0, help="Seconds per decision.")
@click.option(
    "--patience", type=click.FloatRange(0), help="Seconds to wait for a bot; else the arena's."
)
@click.option("--title", default="", help="A title for people.")
@cli_options.as_json
def create(  # noqa: PLR0913 - one parameter per option
    *,
    name: str,
    bots: tuple[str, ...],
    target: str,
    token_file: Path | None,
    system: str,
    ruleset: str,
    options: dict[str, str],
    seats: int,
    rounds: int,
    bank: float | None,
    increment: float,
    patience: float | None,
    title: str,
    as_json: bool,
) -> None:
    """Create the tournament NAME over the bots named; it begins at once (for administrators).

    In a round robin every combination of bots meets in every rotation of the seats, so many rounds
    over. The bots are seated whenever they have a stream. Of a bot without a version the newest one
    plays; it is fixed for the whole tournament.
    """
    clock = None
    if bank is not None:
        clock = Clock(bank=_duration(bank), increment=_duration(increment))
    with LadderClient(target, find_token(file=token_file)) as client:
        made = client.call(
            "CreateTournament",
            tournament=name,
            title=title,
            system=SYSTEMS[system],
            ruleset=ruleset,
            seats=seats,
            options=[OptionValue(name=key, value=value) for key, value in options.items()],
            rounds=rounds,
            entries=[_entry(each) for each in bots],
            clock=clock,
            patience=None if patience is None else _duration(patience),
        ).tournament
    if as_json:
        ladder_output.print_json([made])
    else:
        click.echo(f"{made.name} has begun: {made.games_planned} games")


@tournament.command()
@click.argument("name")
@cli_options.target
@cli_options.token_file
@cli_options.as_json
def show(*, name: str, target: str, token_file: Path | None, as_json: bool) -> None:
    """Show the tournament NAME and its table."""
    with LadderClient(target, find_token(file=token_file)) as client:
        found = client.call("GetTournament", tournament=name)
    if as_json:
        ladder_output.print_json([found])
        return
    Console().print(ladder_output.tournament(_title(found.tournament), found.entrants))


@tournament.command("list")
@cli_options.target
@cli_options.token_file
@cli_options.as_json
def list_tournaments(*, target: str, token_file: Path | None, as_json: bool) -> None:
    """List the tournaments of an arena, the newest first."""
    with LadderClient(target, find_token(file=token_file)) as client:
        found = client.pages("ListTournaments", "tournaments")
    if as_json:
        ladder_output.print_json(found)
        return
    for each in found:
        click.echo(
            f"{each.name}  {_state_text(each.state)}, {each.games_played}/{each.games_planned}"
        )


@tournament.command()
@click.argument("name")
@cli_options.target
@cli_options.token_file
@cli_options.as_json
def cancel(*, name: str, target: str, token_file: Path | None, as_json: bool) -> None:
    """Call the tournament NAME off; its table stays as it is (for administrators)."""
    with LadderClient(target, find_token(file=token_file)) as client:
        found = client.call("CancelTournament", tournament=name).tournament
    if as_json:
        ladder_output.print_json([found])
    else:
        click.echo(f"{found.name} is {_state_text(found.state)}")


def _entry(text: str) -> TournamentEntry:
    bot, at, version = text.partition("@")
    if at and not (version.isdecimal() and int(version)):
        raise click.UsageError(f"{text}: a version is a number from 1, such as {bot}@1")
    return TournamentEntry(bot=bot, bot_version=int(version or 0))


def _title(found: Tournament) -> str:
    played = f"{found.games_played} of {found.games_planned} games"
    return f"{found.name}, {_state_text(found.state)}, {played}"


def _state_text(state: TournamentState.ValueType) -> str:
    return TournamentState.Name(state).removeprefix("TOURNAMENT_STATE_").lower()


def _duration(seconds: float) -> Duration:
    duration = Duration()
    duration.FromMilliseconds(round(seconds * 1000))
    return duration
