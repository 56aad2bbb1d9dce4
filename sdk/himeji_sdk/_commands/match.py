"""The command `himeji match`: plays a match on all cores and reports the result."""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import click
from himeji import rules
from himeji.rules.errors import InvalidRequest
from rich.console import Console

from himeji_sdk._commands.progress import progress_bar
from himeji_sdk._stdout import bot_output
from himeji_sdk.match import _report
from himeji_sdk.match._match import Group, Match
from himeji_sdk.match._match_file import MatchFile
from himeji_sdk.match._process_pool import ProcessPool, ProcessPoolError
from himeji_sdk.match._sprt import Sprt
from himeji_sdk.match._tally import Tally

DEFAULT_GAMES: Final = 100
INTERRUPTED: Final = 130  # the exit code of a command that Ctrl-C ended


@dataclass
class _MatchProgress:
    """A match that is being played."""

    match: Match
    tally: Tally
    sprt: Sprt | None
    end: int | None
    """The most groups to play; None: until the test has decided."""

    def add(self, group: Group) -> None:
        scores = self.tally.add(group)
        if self.sprt is not None:
            self.sprt.add(scores[0])

    @property
    def decided(self) -> bool:
        return self.sprt is not None and self.sprt.verdict != ""

    @property
    def complete(self) -> bool:
        return self.decided or self.tally.groups == self.end


@click.command()
@click.argument("bots", nargs=-1, required=True)
@click.option(
    "--games",
    type=click.IntRange(1),
    help=f"Play so many games, rounded up to whole groups (without --sprt: {DEFAULT_GAMES}).",
)
@click.option("--sprt", "test", is_flag=True, help="Stop as soon as it is known who is stronger.")
@click.option("--elo0", default=0.0, show_default=True, help="--sprt: no stronger than this, or")
@click.option(
    "--elo1", default=20.0, show_default=True, help="--sprt: at least this much stronger."
)
@click.option("--alpha", default=0.05, show_default=True, help="--sprt: accepts elo1 wrongly.")
@click.option("--beta", default=0.05, show_default=True, help="--sprt: accepts elo0 wrongly.")
@click.option("--ruleset", default="base", show_default=True, help="The rules.")
@click.option("--seats", type=click.IntRange(1), help="Seats at the table; else one per bot.")
@click.option(
    "--option", "options", multiple=True, metavar="KEY=VALUE", help="An option of the rules."
)
@click.option("--seed", type=click.IntRange(0), help="Repeats the deals of an earlier match.")
@click.option("--cores", type=click.IntRange(1), help="Processes that play; else one per core.")
@click.option(
    "--state",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep the groups in this file, and go on with those that are in it.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def match(  # noqa: PLR0913 - one parameter per option
    *,
    bots: tuple[str, ...],
    games: int | None,
    test: bool,
    elo0: float,
    elo1: float,
    alpha: float,
    beta: float,
    ruleset: str,
    seats: int | None,
    options: tuple[str, ...],
    seed: int | None,
    cores: int | None,
    state: Path | None,
    as_json: bool,
) -> None:
    """Let BOTS play each other over the same deals from every seat.

    A bot is the name of an installed one, FILE.py, FILE.py:NAME or MODULE:NAME, with options as in
    mcts:seconds=0.2. A group is one deal, played once from every seat; scores and intervals are
    those of groups. With more seats than bots the last bot takes the rest. The sequential test
    (--sprt) asks whether the first bot is stronger. Ctrl-C stops with what is known by then.
    """
    file = None if state is None else MatchFile(state)
    seats = seats or max(len(bots), min(rules.ruleset(ruleset).seat_counts))
    requested = Match(bots, ruleset, seats, _options(options), secrets.randbits(31))
    planned = _resumed(requested, seed, file)
    with bot_output(to_stderr=True):
        planned.check()
    size = len(planned.lineups)
    limit = games if games or test else DEFAULT_GAMES
    end = None if limit is None else -(-limit // size)
    sprt = Sprt(elo0, elo1, alpha, beta) if test else None
    progress = _MatchProgress(planned, Tally(planned), sprt, end)
    stopped = _run(progress, file, cores or len(os.sched_getaffinity(0)))
    if as_json:
        found = _report.as_json(planned, progress.tally, sprt, complete=progress.complete)
        click.echo(json.dumps(found, indent=1))
    else:
        _report.print_report(Console(), planned, progress.tally, sprt)
    if stopped:
        if state is not None:
            click.echo(f"stopped; the same command goes on with {state}", err=True)
        sys.exit(INTERRUPTED)


def _resumed(requested: Match, seed: int | None, file: MatchFile | None) -> Match:
    """The match to play: the one in the file, which must be the one that is requested."""
    saved = None if file is None else file.saved()
    seed = seed if seed is not None else (saved or requested).seed
    wanted = replace(requested, seed=seed)
    if saved is not None and saved != wanted:
        raise InvalidRequest(
            f"the file holds another match: {' '.join(saved.bots)} --ruleset {saved.ruleset} "
            f"--seats {saved.seats} --seed {saved.seed}"
        )
    return wanted


def _run(progress: _MatchProgress, file: MatchFile | None, cores: int) -> bool:
    """Play until the match is complete; returns whether Ctrl-C came before."""
    if file is not None:
        file.begin(progress.match)
        for group in file.groups():
            if not progress.complete:
                progress.add(group)
    try:
        with progress_bar() as bar:
            task = bar.add_task("", total=progress.end, completed=progress.tally.groups)
            for group in _groups(progress, cores):
                with _ctrl_c_waits():  # what is told is what is kept
                    if file is not None:
                        file.add(group)
                    progress.add(group)
                bar.update(task, advance=1, description=_status(progress))
    except KeyboardInterrupt:
        return True
    except ProcessPoolError as error:
        raise click.ClickException(str(error)) from error
    finally:
        if file is not None:
            file.close()
    return False


@contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Keep a Ctrl-C back until the block is over."""
    came = []
    handler = signal.signal(signal.SIGINT, lambda *_: came.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if came:
        raise KeyboardInterrupt


def _groups(progress: _MatchProgress, cores: int) -> Iterator[Group]:
    """Play the missing groups, until the match is complete."""
    if progress.complete:
        return
    first = progress.tally.groups
    wanted = cores if progress.end is None else min(cores, progress.end - first)
    with ProcessPool(progress.match, wanted) as pool:
        for group in pool.groups(first, progress.end):
            yield group
            if progress.decided:
                return


def _status(progress: _MatchProgress) -> str:
    standing = progress.tally.standings()[0]
    low, high = standing.interval
    status = f"{standing.bot} {standing.score:.1%} ({low:.1%} to {high:.1%})"
    if progress.sprt is not None:
        status += f"  LLR {progress.sprt.llr:.2f}"
    return status


def _options(texts: tuple[str, ...]) -> dict[str, str]:
    """Options of the rules from KEY=VALUE."""
    found = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals:
            raise InvalidRequest(f"an option is written KEY=VALUE, {text!r} is not")
        found[key] = value
    return found
