"""Ladders as tables for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from himeji.v1.game_pb2 import EndReason
from rich.table import Table


def reasons(counts: Iterable[Any]) -> str:
    """How games ended, other than by the rules."""
    told = {each.end_reason: each.count for each in counts}
    plain = (EndReason.END_REASON_FINISHED, EndReason.END_REASON_OUTLASTED)
    others = {reason: count for reason, count in told.items() if reason not in plain}
    return ", ".join(f"{count} {end_word(reason)}" for reason, count in others.items())


def end_word(reason: EndReason.ValueType) -> str:
    """An end reason as a word."""
    return EndReason.Name(reason).removeprefix("END_REASON_").lower().replace("_", " ")


def ladders(found: Iterable[Any]) -> Table:
    """The ladders of an arena."""
    table = Table("ladder", "ruleset", "seats", "clock", "season", "bots", "waiting", "games now")
    for each in found:
        bank, increment = each.clock.bank.seconds, each.clock.increment.ToMilliseconds() / 1000
        options = ", ".join(f"{option.name}={option.value}" for option in each.options)
        table.add_row(
            each.name if each.accepting else f"{each.name} (closed)",
            f"{each.ruleset} {options}".strip(),
            str(each.seats),
            f"{bank} s + {increment:g} s",
            str(each.season),
            str(each.rated_bots),
            str(each.waiting),
            str(each.playing),
        )
    return table


def standings(title: str, rows: Iterable[Any]) -> Table:
    """The table of a ladder."""
    table = Table(title=title)
    table.add_column("place", justify="right")
    table.add_column("bot")
    for name in ("rating", "mean", "±", "games", "ranks", "score"):
        table.add_column(name, justify="right")
    table.add_column("lost otherwise")
    for row in rows:
        version = f" v{row.bot_version}" if row.bot_version > 1 else ""
        table.add_row(
            str(row.place),
            f"{row.bot}{version}",
            f"{row.rating.conservative:.1f}",
            f"{row.rating.mean:.1f}",
            f"{row.rating.uncertainty:.1f}",
            str(row.games),
            shares(row.rank_counts),
            f"{row.mean_score:.1f}",
            reasons(row.end_reasons),
        )
    return table


def shares(counts: Iterable[int]) -> str:
    """Rank counts as percentages, the first rank first."""
    found = list(counts)
    return " ".join(f"{100 * count / max(1, sum(found)):.0f}%" for count in found)


def history(bot: str, entries: Iterable[Any]) -> Table:
    """The rated games of a bot."""
    table = Table("when", "ladder", "game", "against", "rank", "score", "mean", title=bot)
    for entry in entries:
        result, own = entry.result, entry.result.seats[entry.seat]
        others = [seat.bot for number, seat in enumerate(result.seats) if number != entry.seat]
        ended = result.result.seats[entry.seat]
        table.add_row(
            result.end_time.ToDatetime().isoformat(" ", "seconds"),
            result.ladder,
            result.game_id,
            ", ".join(others),
            f"{ended.rank} ({end_word(ended.end_reason)})",
            str(ended.score),
            f"{own.before.mean:.2f} to {own.after.mean:.2f}",
        )
    return table


def head_to_head(one: str, other: str, found: Iterable[Any]) -> Table:
    """What two bots did against each other."""
    table = Table("ladder", "games", "won", "tied", "lost", "margin", title=f"{one} and {other}")
    for each in found:
        counts = (each.games, each.wins, each.ties, each.losses)
        table.add_row(each.ladder, *map(str, counts), f"{each.mean_margin:+.1f}")
    return table


def seasons(ladder: str, found: Iterable[Any]) -> Table:
    """The seasons of a ladder."""
    table = Table("season", "title", "from", "to", "games", title=ladder)
    for each in found:
        ended = each.end_time.ToDatetime().date().isoformat() if each.HasField("end_time") else ""
        began = each.start_time.ToDatetime().date().isoformat()
        table.add_row(str(each.number), each.title, began, ended, str(each.games))
    return table


def tournament(title: str, entrants: Iterable[Any]) -> Table:
    """The table of a tournament."""
    table = Table(
        "place", "bot", "points", "games", "ranks", "score", "lost otherwise", title=title
    )
    for row in entrants:
        table.add_row(
            str(row.place),
            row.bot,
            f"{row.points:g}",
            str(row.games),
            shares(row.rank_counts),
            f"{row.mean_score:.1f}",
            reasons(row.end_reasons),
        )
    return table
