"""Commands about the rules: rulesets and their actions."""

import json

import click
from himeji import rules
from himeji.rules.ruleset import Ruleset
from rich.console import Console
from rich.table import Column, Table

from himeji_sdk._commands import cli_options


@click.command()
@cli_options.components
@cli_options.as_json
def rulesets(*, as_json: bool) -> None:
    """List the rulesets: seats, options and the revision of their components."""
    known = list(rules.RULESETS.values())
    if as_json:
        facts = [
            {
                "name": each.name,
                "revision": each.revision,
                "seats": list(each.seat_counts),
                "options": {key: list(values) for key, values in each.choices.items()},
                "reconstructed": _reconstructed(each),
            }
            for each in known
        ]
        click.echo(json.dumps(facts, indent=1))
        return
    table = Table(
        *("ruleset", "seats", Column("options", overflow="fold"), "revision"),
        "reconstructed components",
    )
    for each in known:
        seats = ", ".join(map(str, each.seat_counts))
        choices = "; ".join(f"{key}={'|'.join(values)}" for key, values in each.choices.items())
        made_up = _reconstructed(each)
        total = len(each.describe_components())
        count = f"{made_up} of {total}" if made_up else "none"
        table.add_row(each.name, seats, choices or "none", each.revision, count)
    Console().print(table)


def _reconstructed(ruleset: Ruleset) -> int:
    """How many cards and tiles have faces that are not public and were made up here."""
    return sum(each.reconstructed for each in ruleset.describe_components())


@click.command()
@click.argument("ruleset")
@cli_options.components
@cli_options.as_json
def actions(*, ruleset: str, as_json: bool) -> None:
    """Print the action table of a RULESET: every id with its text, one per line."""
    texts = rules.ruleset(ruleset).actions.texts
    if as_json:
        click.echo(json.dumps(texts, indent=1))
        return
    for action, text in texts.items():
        click.echo(f"{action:>4}  {text}")
