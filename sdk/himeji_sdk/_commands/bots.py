"""Commands about bots themselves: list those that are installed, begin a new one."""

from __future__ import annotations

import json
import keyword
import re
from pathlib import Path
from typing import Final

import click
from himeji.rules.errors import InvalidRequest
from rich.console import Console
from rich.table import Table

from himeji_sdk._bot_loader import installed_bots
from himeji_sdk._commands import cli_options

TEMPLATE: Final = Path(__file__).parents[1] / "template.py"
_FILE_STEM: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")


@click.command()
@cli_options.as_json
def bots(*, as_json: bool) -> None:
    """List the bots that are installed."""
    found = installed_bots()
    if as_json:
        click.echo(json.dumps([{"name": name, "class": place} for name, place in found.items()]))
        return
    table = Table("bot", "class")
    for name, place in found.items():
        table.add_row(name, place)
    Console().print(table)


@click.command()
@click.argument("name")
@cli_options.as_json
def new(*, name: str, as_json: bool) -> None:
    """Write NAME.py: a bot that plays, with its test, for you to go on from."""
    file = _write_bot(name, Path())
    if as_json:
        click.echo(json.dumps({"name": name, "file": str(file)}))
        return
    click.echo(f"wrote {file}: one bot and its test. Next:")
    for command, effect in _next_steps(name):
        click.echo(f"  {command:<40} {effect}")


def _write_bot(name: str, folder: Path) -> Path:
    """Write a copy of template.py under the bot's name; never overwrites a file.

    Raises InvalidRequest.
    """
    file = folder / f"{name}.py"
    if not _FILE_STEM.fullmatch(name) or keyword.iskeyword(name):
        raise InvalidRequest(f"{name!r} is no name for a bot: small letters, digits and _ are")
    if name in installed_bots():
        raise InvalidRequest(f"there is an installed bot {name!r} already: take another name")
    class_name = "".join(word.capitalize() for word in name.split("_"))
    source = TEMPLATE.read_text(encoding="utf-8")
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(source.replace("MyBot", class_name).replace("mybot", name))
    except FileExistsError:
        raise InvalidRequest(f"{file} exists already: take another name, or move it away") from None
    return file


def _next_steps(name: str) -> list[tuple[str, str]]:
    """What to type next, and what for."""
    return [
        (f"himeji play {name} greedy --watch", "a game here, drawn choice by choice"),
        (f"python {name}.py", "its test"),
        (f"himeji doctor {name}", "is it fit for an arena?"),
        (f"himeji run {name} --against house/greedy", "a game online (himeji serve)"),
    ]
