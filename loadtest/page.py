"""The page about capacity and its plots, written from the figures of one run and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

from loadtest.meters import COMPONENTS, LOAD, REDIS, SERVER
from loadtest.needs import IDLE_BOT, LIVE_GAME
from loadtest.plots import Line, plot

NAME: Final = "capacity.md"
FIGURES: Final = "capacity.json"
REFUSED: Final = "LIMIT_EXCEEDED"
ONE_BY_ONE: Final = "ratio with a message for each thing"
_SEATS: Final = 2


def write(figures: dict[str, Any], folder: Path) -> None:
    """Write the page, its plots and the figures themselves into a folder."""
    images = folder / "images"
    images.mkdir(exist_ok=True)
    for name, drawing in plots(figures).items():
        (images / f"capacity-{name}.svg").write_text(drawing, encoding="utf-8")
    (folder / NAME).write_text(text(figures), encoding="utf-8")
    (folder / FIGURES).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def errors(figures: dict[str, Any]) -> str:
    """What went wrong that must not; empty if nothing did."""
    hold, wrong = figures["hold"], []
    if hold["errors"]:
        wrong.append(f"errors while games were held: {hold['errors']}")
    if hold["least_connected"] < _SEATS * hold["tables"]:
        wrong.append(f"only {hold['least_connected']} bots stayed connected")
    wrong += [
        f"{processes} process(es), {each['tables']} games: {each['errors']}"
        for processes, sweep in figures["sweeps"].items()
        for each in sweep
        if each["errors"]
    ]
    return "; ".join(wrong)


def plots(figures: dict[str, Any]) -> dict[str, str]:
    """The drawings by name."""
    sweeps, growth = figures["sweeps"], figures["growth"]
    one = next(iter(sweeps.values()))

    def over_games(key: str) -> list[Line]:
        return [
            Line(f"{n} process(es)", [(each["tables"], each[key]) for each in sweep])
            for n, sweep in sweeps.items()
        ]

    busy = [
        Line(name, [(each["tables"], each["cpu"].get(name, 0.0)) for each in one])
        for name in COMPONENTS
    ]
    memory = [
        Line(name, [(each["games"], each.get(name, 0) / 1e6) for each in growth])
        for name in (SERVER, REDIS)
    ]
    games = "games at once, played without thinking"
    return {
        "rate": plot("Durable decisions", games, "a second", over_games("rate")),
        "latency": plot("From an answer to the next question, p99", games, "ms", over_games("p99")),
        "processors": plot("Processors that are busy", games, "processors", busy),
        "memory": plot(
            "Memory", "games that wait, each with two connected bots", "resident MB", memory
        ),
    }


def table(figures: dict[str, Any]) -> str:
    """What was measured, beside what was aimed at, as a table."""
    hold, overload, echo, sane = (figures[key] for key in ("hold", "overload", "echo", "sane"))
    guests = Counter(overload["full"]["guests"]) + Counter(overload["impatient"]["guests"])
    per_game, per_redis = (_per_game(figures["growth"], name) for name in (SERVER, REDIS))
    rows = [
        ("live games held, at least", f"{hold['least_live']:,}", "1,000"),
        ("tables at which they followed each other", f"{hold['tables']:,}", ""),
        ("bots connected meanwhile, at least", f"{hold['least_connected']:,}", "2,000"),
        ("for seconds", f"{hold['seconds']:,.0f}", "600"),
        ("errors meanwhile", f"{sum(hold['errors'].values()):,}", "0"),
        ("decisions/s meanwhile", f"{hold['rate']:,.0f}", ""),
        ("p50 and p99 meanwhile, ms", f"{hold['p50']:.0f} and {hold['p99']:.0f}", ""),
        *((f"processors busy meanwhile, {n}", f"{hold['cpu'][n]:.2f}", "") for n in COMPONENTS),
        *((f"memory meanwhile, {n}, MB", _megabytes(hold, n), "") for n in COMPONENTS),
        ("memory per game with its two bots, server, kB", f"{per_game:.0f}", ""),
        ("memory of an idle bot, server, kB", f"{echo[IDLE_BOT]:.0f}", "64"),
        ("memory per game, Redis (resident), kB", f"{per_redis:.1f}", ""),
        ("memory per game, Redis (used), kB", f"{echo[LIVE_GAME]:.1f}", "4"),
        ("durable decisions/s with p99 within 100 ms", _sane(sane), ""),
        ("ratio to a bare gRPC echo", f"{echo['ratio to the echo']:.2f}", "0.5"),
        ("the same with a message for each thing", f"{echo[ONE_BY_ONE]:.2f}", ""),
        ("decisions/s at the peak, before the overload", f"{overload['calm']['rate']:,.0f}", ""),
        ("of them kept when three times as many bots come", f"{overload['kept']:.0%}", "70%"),
        (
            "of them kept when those come again every second, not as advised",
            f"{overload['kept_by_impatient']:.0%}",
            "",
        ),
        ("the others: refused as RESOURCE_EXHAUSTED", f"{guests.get(REFUSED, 0):,}", ""),
        ("the others: anything else", _otherwise(guests), "none"),
    ]
    lines = ["| what | measured | aim |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def text(figures: dict[str, Any]) -> str:
    """The whole page."""
    machine = figures["machine"]
    where = (
        f"{machine['processors']} processors, {machine['memory'] / 1e9:.0f} GB, "
        f"{machine['system']}, Python {machine['python']}, rules {machine['rules']}"
    )
    images = "\n\n".join(f"![{name}](images/capacity-{name}.svg)" for name in plots(figures))
    return f"""# Capacity

Written by one run of the command below, from its figures alone; [load.md](load.md) says how they
are measured. The load ran on the same machine and used its processors, too.

```text
{figures["command"]}
```

Himeji {machine["himeji"]} on {where}.

{table(figures)}

{images}

{sweeps(figures)}
"""


def sweeps(figures: dict[str, Any]) -> str:
    """What was played without thinking, as a table."""
    lines = [
        "| processes | games | decisions/s | p50 ms | p99 ms | busy: server | Redis | load |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for processes, sweep in figures["sweeps"].items():
        for each in sweep:
            busy = [f"{each['cpu'][name]:.2f}" for name in (SERVER, REDIS, LOAD)]
            times = [f"{each['rate']:,.0f}", f"{each['p50']:.1f}", f"{each['p99']:.1f}"]
            lines.append(f"| {' | '.join([processes, str(each['tables']), *times, *busy])} |")
    return "\n".join(lines)


def _per_game(growth: list[dict[str, float]], name: str) -> float:
    """Kilobytes that each further game takes."""
    first, last = growth[0], growth[-1]
    return (last.get(name, 0) - first.get(name, 0)) / (last["games"] - first["games"]) / 1e3


def _megabytes(hold: dict[str, Any], name: str) -> str:
    return f"{hold['memory'].get(name, 0) / 1e6:,.0f}"


def _sane(sane: dict[str, float]) -> str:
    return f"{sane['rate']:,.0f} (of {sane['games']:,.0f} games)" if sane else "none"


def _otherwise(guests: dict[str, int]) -> str:
    rest = {reason: count for reason, count in guests.items() if reason != REFUSED}
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(rest.items())) or "none"
