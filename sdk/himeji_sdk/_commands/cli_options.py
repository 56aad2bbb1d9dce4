"""Options of several commands, each with one name, one text and one meaning."""

from __future__ import annotations

from pathlib import Path

import click
from himeji.components import VARIABLE, use_folder

from himeji_sdk.connection import DEFAULT_TARGET

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of words.")
target = click.option(
    "--target",
    default=DEFAULT_TARGET,
    show_default=True,
    envvar="HIMEJI_TARGET",
    show_envvar=True,
    help="The arena's address.",
)
token_file = click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file with your token. Without it: HIMEJI_TOKEN, then the file that "
    "HIMEJI_TOKEN_FILE names, then the token of an arena's data folder (.himeji/token).",
)
ruleset = click.option(
    "--ruleset", default="base", show_default=True, help="The rules; `himeji rulesets` lists them."
)


def _use_components(_context: click.Context, _option: click.Parameter, folder: Path | None) -> None:
    if folder is not None:
        use_folder(folder)


components = click.option(
    "--components",
    type=click.Path(path_type=Path),
    envvar=VARIABLE,
    show_envvar=True,
    expose_value=False,
    is_eager=True,
    callback=_use_components,
    help="A folder with data files of components in place of the packaged ones.",
)
bot_version = click.option(
    "--bot-version",
    type=click.IntRange(1),
    help="The version of the bot that plays; else its newest.",
)
invited_from = click.option(
    "--invited-from",
    multiple=True,
    metavar="OWNER",
    help="As --invited, but only games of this owner; may be given several times.",
)
limit = click.option(
    "--limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="A bot that takes longer for one choice hangs, and is reported.",
)


def _parse_pairs(
    _context: click.Context, _option: click.Parameter, texts: tuple[str, ...]
) -> object:
    pairs = [text.partition("=") for text in texts]
    if not all(name and equals and value for name, equals, value in pairs):
        raise click.BadParameter("an option of a ruleset is given as NAME=VALUE")
    return {name: value for name, _, value in pairs}


rule_options = click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_parse_pairs,
    help="An option of the ruleset, such as difficulty=hard; once per option.",
)
