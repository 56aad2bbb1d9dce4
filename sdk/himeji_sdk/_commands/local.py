"""The command that plays games on this machine."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import click
from himeji.rules import Game
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from himeji_sdk._bot_loader import load_bot
from himeji_sdk._commands import cli_options
from himeji_sdk._local_play import Played, play as play_here
from himeji_sdk._stdout import bot_output
from himeji_sdk._terminal_view import LiveView, Screen

_SEED_BITS = 32  # short enough to be typed again


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT...")
@cli_options.ruleset
@cli_options.rule_options
@cli_options.components
@click.option("--seed", type=click.IntRange(0), help="The same seed is the same deal.")
@click.option("--games", type=click.IntRange(1), default=1, help="How many; seeds count up.")
@cli_options.limit
@click.option("--watch", is_flag=True, help="Draw the board after each choice.")
@click.option(
    "--delay",
    type=click.FloatRange(0),
    default=0.5,
    show_default=True,
    help="Seconds between two drawings in a terminal.",
)
@click.option(
    "--save", type=click.Path(path_type=Path, dir_okay=False), help="Write a replay of the game."
)
@cli_options.as_json
def play(  # noqa: PLR0913 - one parameter per option
    *,
    bots: tuple[str, ...],
    ruleset: str,
    options: dict[str, str],
    seed: int | None,
    games: int,
    limit: float | None,
    watch: bool,
    delay: float,
    save: Path | None,
    as_json: bool,
) -> None:
    """Play on this machine, one BOT per seat.

    A BOT is the name of an installed one, FILE or FILE.py, FILE.py:NAME or MODULE:NAME.
    """
    if save is not None and games > 1:
        raise click.UsageError("--save writes one game: leave --games out")
    first = secrets.randbits(_SEED_BITS) if seed is None else seed
    new_view = _view_factory(delay) if watch and not as_json else None
    with bot_output(to_stderr=as_json):
        found = [load_bot(bot) for bot in bots]
        one = partial(play_here, found, ruleset=ruleset, options=options, limit=limit)
        played = [
            one(seed=number, watch=new_view() if new_view else None)
            for number in _progress(range(first, first + games), quiet=as_json or watch)
        ]
    if save is not None:
        played[0].replay().save(save)
    if as_json:
        click.echo(json.dumps([_facts(game) for game in played]))
    else:
        _print_result(played, save)


def _view_factory(delay: float) -> Callable[[], Callable[[Game], None]]:
    """Makes a view per game; in a terminal it draws at a pace that people can follow."""
    screen = Screen(delay if sys.stdout.isatty() else 0.0)
    return lambda: LiveView(screen)


def _progress(numbers: range, *, quiet: bool) -> Iterator[int]:
    """The same numbers, with a progress bar in a terminal if there are several."""
    console = Console(stderr=True)
    if quiet or len(numbers) == 1 or not console.is_terminal:
        yield from numbers
        return
    with Progress(console=console, transient=True) as bar:
        yield from bar.track(numbers, description="playing")


def _facts(played: Played) -> dict[str, object]:
    return {
        "seed": played.seed,
        "ruleset": played.game.ruleset.name,
        "bots": played.names,
        "scores": played.scores,
        "ranking": played.ranking,
        "breakdown": played.game.breakdown(),
        "actions": played.actions,
    }


def _print_result(played: list[Played], save: Path | None) -> None:
    """The result of a game, or the sum of many."""
    rival = ("rival",) if played[0].game.ruleset.has_rival else ()
    count = len(played)
    table = Table("seat", "bot", *(("points", "rank") if count == 1 else ("mean points", "first")))
    for seat, name in enumerate(played[0].names + rival):
        points = _mean(game.scores[seat] for game in played)
        if count == 1:
            table.add_row(str(seat), name, f"{points:g}", str(played[0].ranking[seat]))
        else:
            first = sum(game.ranking[seat] == 1 for game in played)
            table.add_row(str(seat), name, f"{points:.1f}", f"{first} of {count}")
    Console().print(table)
    many = f" --games {count}" if count > 1 else ""
    click.echo(f"the same deal again: --seed {played[0].seed}{many}")
    if save is not None:
        click.echo(f"replay in {save}: himeji show {save}")


def _mean(numbers: Iterable[int]) -> float:
    values = list(numbers)
    return sum(values) / len(values)
