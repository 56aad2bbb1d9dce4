"""Commands about games that were played: fetch a replay, step through it, check it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from himeji import render
from himeji.rules.errors import HimejiError, InvalidRequest, VersionMismatch

from himeji_sdk._client.client import Client
from himeji_sdk._commands import cli_options
from himeji_sdk._replay.replay import Replay
from himeji_sdk._replay.steps import Moment
from himeji_sdk._replay.viewer import step_through
from himeji_sdk._terminal_view import Screen
from himeji_sdk.connection import find_token

_file = click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))


@click.command()
@click.argument("game_id")
@cli_options.target
@cli_options.token_file
@click.option(
    "--save", type=click.Path(path_type=Path, dir_okay=False), help="Write it to this file."
)
@cli_options.as_json
def replay(
    *, game_id: str, target: str, token_file: Path | None, save: Path | None, as_json: bool
) -> None:
    """Fetch the replay of the game GAME_ID. It is JSON anyway, unless it is saved."""
    with Client(target, find_token(file=token_file)) as client:
        found = client.replay(game_id)
    if save is None:
        click.echo(found.text(), nl=False)
        return
    found.save(save)
    versions = len(found.message.log)
    facts = {"game_id": game_id, "file": str(save), "versions": versions}
    click.echo(json.dumps(facts) if as_json else f"{save}: {game_id}, {versions} versions")


@click.command()
@_file
@cli_options.as_json
def verify(*, file: Path, as_json: bool) -> None:
    """Check the replay in FILE completely: chance, actions, log and result.

    Says what was checked, a line each. At the first thing that is wrong it says so and ends with
    exit code 1.
    """
    checked: list[str] = []
    wrong, verdict = "", "WRONG"
    try:
        for sentence in Replay.load(file).verify():
            checked.append(sentence)
            if not as_json:
                click.echo(f"ok     {sentence}")
    except HimejiError as error:
        wrong = error.message
        if isinstance(error, VersionMismatch):  # maybe true, but not for this version to say
            verdict = "UNKNOWN"
    if as_json:
        click.echo(json.dumps({"verified": not wrong, "checked": checked, "wrong": wrong}))
    else:
        click.echo(f"{verdict}  {wrong}" if wrong else "the replay is true")
    sys.exit(1 if wrong else 0)


@click.command()
@_file
@click.option("--step", type=click.IntRange(0), help="Show the game after so many steps, and stop.")
@click.option(
    "--svg",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="Write the drawing of that step (else of the last one) to this file, - for the terminal.",
)
@cli_options.as_json
def show(*, file: Path, step: int | None, svg: Path | None, as_json: bool) -> None:
    """Step through the replay in FILE: in a terminal by keys, else as a list."""
    found = Replay.load(file)
    moments = list(found.moments())
    chosen = _moment_at(moments, step)
    screen = Screen()
    if svg is not None:
        _write_svg(chosen, svg)
    elif as_json:
        shown = [chosen] if step is not None else moments
        click.echo(json.dumps({**_header(found), "steps": [_facts(each) for each in shown]}))
    elif step is not None:
        screen.draw(chosen.game, [*chosen.happened, f"step {chosen.number}: {chosen.title}"])
    elif screen.is_terminal and sys.stdin.isatty():
        step_through(moments, screen)
    else:
        _print_list(found, moments)


def _moment_at(moments: list[Moment], step: int | None) -> Moment:
    if not moments:
        raise InvalidRequest("nothing is to be seen: the game ended before it began")
    if step is not None and step >= len(moments):
        raise InvalidRequest(f"the game has steps 0 to {len(moments) - 1}, and no step {step}")
    return moments[-1 if step is None else step]


def _write_svg(moment: Moment, file: Path) -> None:
    drawing = render.svg(moment.game)
    if str(file) == "-":
        click.echo(drawing)
        return
    file.write_text(drawing, encoding="utf-8")
    click.echo(f"{file}: step {moment.number}, {moment.title}")


def _header(replay: Replay) -> dict[str, object]:
    game = replay.message.game
    return {
        "game_id": game.game_id,
        "ruleset": game.ruleset,
        "bots": [seat.bot for seat in game.seats],
        "scores": [seat.score for seat in game.result.seats],
        "ranking": [seat.rank for seat in game.result.seats],
    }


def _facts(moment: Moment) -> dict[str, object]:
    return {
        "step": moment.number,
        "title": moment.title,
        "seat": moment.seat,
        "action": moment.action,
        "happened": moment.happened,
        "position": json.loads(moment.game.to_json()),
    }


def _print_list(replay: Replay, moments: list[Moment]) -> None:
    game = replay.message.game
    names = ", ".join(f"seat {seat} {held.bot}" for seat, held in enumerate(game.seats))
    click.echo(f"{game.ruleset}: {names}")
    for moment in moments:
        click.echo(f"{moment.number:>5}  {moment.title}")
    for seat in game.result.seats:
        click.echo(f"seat {seat.seat}: {seat.score} points, number {seat.rank}")
