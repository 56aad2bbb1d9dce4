"""Commands about the rules: rulesets and their actions."""

import json
from collections.abc import Sequence

import click
from himeji import rules
from himeji.rules.description import BoardPart, Component
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
                "reconstructed": _reconstructed(each.describe_components()),
                "reconstructed_board_parts": _reconstructed(each.describe_board()),
            }
            for each in known
        ]
        click.echo(json.dumps(facts, indent=1))
        return
    table = Table(
        *("ruleset", "seats", Column("options", overflow="fold"), "revision"),
        Column("reconstructed", no_wrap=True),
    )
    for each in known:
        seats = ", ".join(map(str, each.seat_counts))
        choices = "; ".join(f"{key}={'|'.join(values)}" for key, values in each.choices.items())
        table.add_row(each.name, seats, choices or "none", each.revision, _counts(each))
    Console().print(table)


def _reconstructed(described: Sequence[Component | BoardPart]) -> int:
    """How many of them are not public, in whole or in part, and were made up here."""
    return sum(each.reconstructed for each in described)


def _counts(ruleset: Ruleset) -> str:
    described: dict[str, Sequence[Component | BoardPart]] = {
        "components": ruleset.describe_components(),
        "board parts": ruleset.describe_board(),
    }
    lines = [
        f"{_reconstructed(each)} of {len(each)} {kind}"
        for kind, each in described.items()
        if _reconstructed(each)
    ]
    return "\n".join(lines) or "none"


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
