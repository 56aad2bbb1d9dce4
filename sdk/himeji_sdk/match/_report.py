"""The result of a match, as JSON and as a table for people."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from rich.console import Console
from rich.table import Table

from himeji_sdk.match._match import Match
from himeji_sdk.match._sprt import Sprt
from himeji_sdk.match._tally import Standing, Tally


def as_json(match: Match, tally: Tally, sprt: Sprt | None, *, complete: bool) -> dict[str, Any]:
    """The whole result as plain values."""
    standings = tally.standings() if tally.groups else []
    return {
        "match": asdict(match),
        "groups": tally.groups,
        "games": tally.games,
        "complete": complete,
        "standings": [asdict(each) | {"elo": _finite(each.elo)} for each in standings],
        "rival_mean_points": tally.rival_points,
        "sprt": None if sprt is None else _sprt_values(sprt),
        "faults": [
            {
                "bot": match.bots[game.lineup[game.fault.seat]],
                "group": group.number,
                "seed": group.seed,
                "lineup": [match.bots[who] for who in game.lineup],
                **asdict(game.fault),
            }
            for group, game in tally.faults
            if game.fault
        ],
    }


def print_report(console: Console, match: Match, tally: Tally, sprt: Sprt | None) -> None:
    """Print the result as a table and sentences."""
    if not tally.groups:
        console.print("no group was finished")
        return
    table = Table("bot", "score", "95 % interval", "Elo", "first", "mean points", "faults")
    for standing in tally.standings():
        table.add_row(*_cells(standing))
    seats = "1 seat" if match.seats == 1 else f"{match.seats} seats"
    console.print(
        f"{match.ruleset}, {seats}: {tally.games} games in {tally.groups} groups, "
        f"seed {match.seed}",
        highlight=False,
    )
    console.print(table)
    if tally.rival_points is not None:
        console.print(f"mean points of the rival: {tally.rival_points:.1f}", highlight=False)
    if sprt is not None:
        console.print(verdict(match, sprt), highlight=False)
    for number, (group, game) in enumerate(tally.faults):
        if game.fault is not None:
            text = game.fault.report if number == 0 else game.fault.sentence
            console.print(
                f"group {group.number}, deal {group.seed}: {text}", highlight=False, markup=False
            )


def verdict(match: Match, sprt: Sprt) -> str:
    """How the sequential test stands, in a sentence."""
    state = f"LLR {sprt.llr:.2f} ({sprt.lower:.2f} to {sprt.upper:.2f})"
    first = match.bots[0]
    if sprt.verdict == "elo1":
        return f"{first} is stronger: at least {sprt.elo1:g} Elo is accepted, {state}"
    if sprt.verdict == "elo0":
        return f"{first} is not stronger: at most {sprt.elo0:g} Elo is accepted, {state}"
    return f"not decided between {sprt.elo0:g} and {sprt.elo1:g} Elo, {state}"


def _cells(standing: Standing) -> list[str]:
    low, high = standing.interval
    points = "" if standing.mean_points is None else f"{standing.mean_points:.1f}"
    return [
        standing.bot,
        f"{standing.score:.1%}",
        f"{low:.1%} to {high:.1%}",
        f"{standing.elo[0]:+.0f}",
        f"{standing.first} of {standing.games}",
        points,
        str(standing.faults),
    ]


def _finite(values: tuple[float, ...]) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values]


def _sprt_values(sprt: Sprt) -> dict[str, Any]:
    names = ("elo0", "elo1", "alpha", "beta", "lower", "upper", "llr", "verdict")
    return {name: getattr(sprt, name) for name in names}
