"""Commands for administrators of an arena: delete owners that never played."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import click
from himeji.rules.errors import Refused, UnknownAccount

from himeji_sdk._client.service_client import AccountClient, AdminClient
from himeji_sdk._commands import cli_options
from himeji_sdk.connection import find_token

_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days"}


@click.group()
def admin() -> None:
    """Administration of an arena, with the token of an administrator."""


@admin.group()
def owner() -> None:
    """Owners of bots."""


def _parse_age(_context: click.Context, _option: click.Parameter, text: str | None) -> object:
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,5})([mhd])", text)
    if found is None:
        raise click.BadParameter("an age is a number of minutes, hours or days, such as 7d")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


@owner.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--never-played", is_flag=True, help="Delete every owner that never played.")
@click.option(
    "--older-than",
    callback=_parse_age,
    metavar="AGE",
    help="With --never-played: only those that were created longer ago, such as 30m, 12h or 7d.",
)
@click.option(
    "--explanation", default="never played", show_default=True, help="Why, for the audit log."
)
@cli_options.target
@cli_options.token_file
@cli_options.as_json
def delete(  # noqa: PLR0913 - one parameter per option
    *,
    names: tuple[str, ...],
    never_played: bool,
    older_than: timedelta | None,
    explanation: str,
    target: str,
    token_file: Path | None,
    as_json: bool,
) -> None:
    """Delete the owners NAME, or all that never played, with their bots and tokens.

    Their names are free again. An owner that ever created or joined a game, entered a queue or was
    entered in a tournament stays, and so do the arena's own. The exit code is 1 if an owner stays
    that was named.

    For example: `himeji admin owner delete --never-played --older-than 7d`.
    """
    if bool(names) == never_played:
        raise click.UsageError("name owners, or say --never-played")
    if older_than is not None and not never_played:
        raise click.UsageError("--older-than goes with --never-played")
    token = find_token(file=token_file)
    chosen = list(names) or _never_played(target, token, older_than or timedelta())
    deleted: list[str] = []
    kept: dict[str, str] = {}
    with AdminClient(target, token) as client:
        for name in chosen:
            try:
                client.delete_owner(name, explanation)
                deleted.append(name)
            except (Refused, UnknownAccount) as error:
                kept[name] = error.message
    _print(deleted, kept, as_json=as_json)
    sys.exit(1 if kept and names else 0)


def _never_played(target: str, token: str, age: timedelta) -> list[str]:
    """The owners that never played and are older than this."""
    until = datetime.now(UTC) - age
    with AccountClient(target, token) as client:
        return [
            each.name
            for each in client.pages("ListOwners", "owners")
            if not each.played and each.create_time.ToDatetime(UTC) <= until
        ]


def _print(deleted: list[str], kept: dict[str, str], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"deleted": deleted, "kept": kept}))
        return
    for name, reason in kept.items():
        click.echo(f"{name} stays: {reason}", err=True)
    click.echo(f"deleted {len(deleted)}: {', '.join(deleted)}" if deleted else "deleted none")
