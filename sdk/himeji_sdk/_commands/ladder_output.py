"""Ladders as tables for people, and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

import click
from google.protobuf.json_format import MessageToDict
from himeji.v1.game_pb2 import EndReason
from himeji.v1.ladder_service_pb2 import RecomputeResult
from rich import box
from rich.table import Table

from himeji_sdk._client.remote_mirror import reason_text

_BY_THE_RULES: Final = (EndReason.END_REASON_FINISHED, EndReason.END_REASON_OUTLASTED)
_NO_WRAP: Final = frozenset({"bot", "ladder", "game", "clock"})  # never on two lines
_NUMBERS: Final = frozenset(
    {"place", "seats", "season", "bots", "waiting", "playing", "rating", "mean", "±", "games"}
    | {"ranks", "rank", "score", "won", "tied", "lost", "margin", "points"}
)


def _table(*columns: str, title: str | None = None) -> Table:
    """A table that fits a terminal without truncating anything."""
    table = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in columns:
        table.add_column(
            name,
            justify="right" if name in _NUMBERS else "left",
            no_wrap=name in _NO_WRAP,
            overflow="fold",
            min_width=max(map(len, name.split())),
        )
    return table


def _reasons(counts: Iterable[Any]) -> str:
    """How games ended, other than by the rules."""
    others = [each for each in counts if each.end_reason not in _BY_THE_RULES]
    return ", ".join(f"{each.count} {_reason_words(each.end_reason)}" for each in others)


def _reason_words(reason: EndReason.ValueType) -> str:
    return reason_text(reason).replace("_", " ")


def ladders(found: Iterable[Any]) -> Table:
    table = _table("ladder", "ruleset", "seats", "clock", "season", "bots", "waiting", "playing")
    for each in found:
        bank, increment = each.clock.bank.seconds, each.clock.increment.ToMilliseconds() / 1000
        options = ", ".join(f"{option.name}={option.value}" for option in each.options)
        table.add_row(
            each.name if each.accepting else f"{each.name} (closed)",
            f"{each.ruleset} {options}".strip(),
            str(each.seats),
            f"{bank}+{increment:g} s",
            str(each.season),
            str(each.rated_bots),
            str(each.waiting),
            str(each.playing),
        )
    return table


def standings(title: str, rows: Iterable[Any]) -> Table:
    columns = ("place", "bot", "rating", "mean", "±", "games", "ranks", "score", "lost otherwise")
    table = _table(*columns, title=title)
    for row in rows:
        table.add_row(
            str(row.place),
            _bot(row),
            f"{row.rating.conservative:.1f}",
            f"{row.rating.mean:.1f}",
            f"{row.rating.uncertainty:.1f}",
            str(row.games),
            _shares(row.rank_counts),
            f"{row.mean_score:.1f}",
            _reasons(row.end_reasons),
        )
    return table


def _bot(row: Any) -> str:
    return f"{row.bot} v{row.bot_version}" if row.bot_version > 1 else str(row.bot)


def _shares(counts: Iterable[int]) -> str:
    """Rank counts as percentages, the first rank first."""
    found = list(counts)
    return " ".join(f"{100 * count / max(1, sum(found)):.0f}%" for count in found)


def history(bot: str, entries: Iterable[Any]) -> Table:
    columns = ("when", "ladder", "game", "against", "rank", "score", "mean", "lost by")
    table = _table(*columns, title=bot)
    for entry in entries:
        result, own = entry.result, entry.result.seats[entry.seat]
        others = [seat.bot for number, seat in enumerate(result.seats) if number != entry.seat]
        ended = result.result.seats[entry.seat]
        table.add_row(
            f"{result.end_time.ToDatetime():%m-%d %H:%M}",
            result.ladder,
            result.game_id,
            "\n".join(others),
            str(ended.rank),
            str(ended.score),
            f"{own.after.mean:.1f} ({own.after.mean - own.before.mean:+.1f})",
            "" if ended.end_reason in _BY_THE_RULES else _reason_words(ended.end_reason),
        )
    return table


def head_to_head(one: str, other: str, found: Iterable[Any]) -> Table:
    columns = ("ladder", "games", "won", "tied", "lost", "margin")
    table = _table(*columns, title=f"{one} and {other}")
    for each in found:
        counts = (each.games, each.wins, each.ties, each.losses)
        table.add_row(each.ladder, *map(str, counts), f"{each.mean_margin:+.1f}")
    return table


def seasons(ladder: str, found: Iterable[Any]) -> Table:
    table = _table("season", "title", "from", "to", "games", title=ladder)
    for each in found:
        ended = each.end_time.ToDatetime().date().isoformat() if each.HasField("end_time") else ""
        began = each.start_time.ToDatetime().date().isoformat()
        table.add_row(str(each.number), each.title, began, ended, str(each.games))
    return table


def tournament(title: str, entrants: Iterable[Any]) -> Table:
    columns = ("place", "bot", "points", "games", "ranks", "score", "lost otherwise")
    table = _table(*columns, title=title)
    for row in entrants:
        table.add_row(
            str(row.place),
            _bot(row),
            f"{row.points:g}",
            str(row.games),
            _shares(row.rank_counts),
            f"{row.mean_score:.1f}",
            _reasons(row.end_reasons),
        )
    return table


def print_json(messages: list[Any]) -> None:
    """Print messages as JSON, with every field under its name in the contract."""
    click.echo(json.dumps([_as_dict(each) for each in messages], indent=1))


def print_recomputed(result: RecomputeResult, rows: Iterable[Any]) -> None:
    """Print the result of a recomputation as JSON, with the rows that differ instead of a count."""
    found = _as_dict(result) | {"differences": [_as_dict(each) for each in rows]}
    click.echo(json.dumps([found], indent=1))


def _as_dict(message: Any) -> dict[str, Any]:
    return MessageToDict(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
