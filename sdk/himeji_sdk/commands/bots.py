"""Commands about bots themselves: list those that are installed, begin a new one."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from himeji_sdk import catalogue, newcomer
from himeji_sdk.commands import shared


@click.command()
@shared.as_json
def bots(*, as_json: bool) -> None:
    """List the bots that are installed."""
    found = catalogue.names()
    if as_json:
        click.echo(json.dumps([{"name": name, "class": place} for name, place in found.items()]))
        return
    table = Table("bot", "class")
    for name, place in found.items():
        table.add_row(name, place)
    Console().print(table)


@click.command()
@click.argument("name")
@shared.as_json
def new(*, name: str, as_json: bool) -> None:
    """Write NAME.py: a bot that plays, with its test, for you to go on from."""
    file = newcomer.write(name, Path())
    if as_json:
        click.echo(json.dumps({"name": name, "file": str(file)}))
        return
    click.echo(f"wrote {file}: one bot and its test. Next:")
    for command, effect in newcomer.next_steps(name):
        click.echo(f"  {command:<40} {effect}")
