"""The command that examines a bot."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Final

import click
from rich.console import Console

from himeji_sdk._commands import cli_options
from himeji_sdk.doctor import Finding, Settings, examine
from himeji_sdk.doctor._finding import FAULT, OK

_MARKS: Final = {
    OK: click.style("ok     ", fg="green"),
    FAULT: click.style("FAULT  ", fg="red", bold=True),
}
_NO_MARK: Final = click.style("-      ", dim=True)


def _parse_clock(
    _context: click.Context, _option: click.Parameter, text: str
) -> tuple[float, float]:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\+(\d+(?:\.\d+)?)", text)
    if found is None:
        raise click.BadParameter("a clock is given as BANK+INCREMENT in seconds, such as 120+0.5")
    return float(found[1]), float(found[2])


@click.command()
@click.argument("bot")
@cli_options.ruleset
@cli_options.rule_options
@click.option(
    "--games", type=click.IntRange(1), default=6, show_default=True, help="Games for each check."
)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    help="Begin no further game of a check after so long.",
)
@click.option(
    "--limit",
    type=click.FloatRange(0, min_open=True),
    default=30.0,
    show_default=True,
    help="A bot that takes longer for one choice hangs.",
)
@click.option(
    "--clock",
    default="120+0.5",
    show_default=True,
    callback=_parse_clock,
    help="What the bot has for a game, and gets for a choice, in seconds: a ladder's clock.",
)
@click.option("--deterministic", is_flag=True, help="The same seed must give the same choices.")
@cli_options.as_json
def doctor(  # noqa: PLR0913 - one parameter per option
    *,
    bot: str,
    ruleset: str,
    options: dict[str, str],
    games: int,
    seconds: float,
    limit: float,
    clock: tuple[float, float],
    deterministic: bool,
    as_json: bool,
) -> None:
    """Examine BOT: whether it is fit for an arena.

    It plays whole games in a process of its own, at every number of seats, and is put where a lost
    connection would put it. What is wrong is named, with what to do about it, and the exit code
    is 1.
    """
    settings = Settings(
        bot=bot,
        ruleset=ruleset,
        options=options,
        games=games,
        seconds=seconds,
        limit=limit,
        clock=clock,
        deterministic=deterministic,
    )
    with _spinner() as on_progress:
        findings = []
        for finding in examine(settings, on_progress):
            findings.append(finding)
            if not as_json:
                _print_finding(finding)
    faults = [finding for finding in findings if finding.verdict == FAULT]
    if as_json:
        facts = {"bot": bot, "fit": not faults, "findings": [asdict(each) for each in findings]}
        click.echo(json.dumps(facts))
    else:
        _print_summary(bot, faults)
    sys.exit(1 if faults else 0)


@contextmanager
def _spinner() -> Iterator[Callable[[str], None]]:
    """A status line that moves while the bot plays; nothing where there is no terminal."""
    with Console(stderr=True).status("being imported") as status:
        yield status.update


def _print_finding(finding: Finding) -> None:
    click.echo(f"{_MARKS.get(finding.verdict, _NO_MARK)}{finding.check:<12} {finding.sentence}")
    if finding.advice:
        click.echo(f"{'':19} {click.style(finding.advice, italic=True)}")


def _print_summary(bot: str, faults: list[Finding]) -> None:
    for finding in faults:
        if finding.report:
            click.echo(f"\n{finding.report.rstrip()}\n")
    names = ", ".join(finding.check for finding in faults)
    click.echo(f"{bot} is not fit: {names}" if faults else f"{bot} is fit for an arena")
