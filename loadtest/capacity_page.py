"""Writes docs/capacity.md and its plots from the figures of one run of `make capacity`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final

from loadtest.plots import Series, plot
from loadtest.resource_usage import COMPONENTS, LOAD, REDIS, SERVER
from loadtest.sizing import IDLE_BOT, LIVE_GAME, SEATS

NAME: Final = "capacity.md"
FIGURES: Final = "capacity.json"
REFUSED: Final = "LIMIT_EXCEEDED"
UNBATCHED: Final = "ratio without batched messages"


def write(figures: dict[str, Any], folder: Path) -> None:
    """Write the page, its plots and the figures themselves into a folder."""
    images = folder / "images"
    images.mkdir(exist_ok=True)
    for name, drawing in plots(figures).items():
        (images / f"capacity-{name}.svg").write_text(drawing, encoding="utf-8")
    (folder / NAME).write_text(text(figures), encoding="utf-8")
    (folder / FIGURES).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def errors(figures: dict[str, Any]) -> str:
    """What makes the run a failure; empty if nothing does."""
    hold, problems = figures["hold"], []
    if hold["errors"]:
        problems.append(f"errors while games were held: {hold['errors']}")
    if hold["min_connected"] < SEATS * hold["pairs"]:
        problems.append(f"only {hold['min_connected']} bots stayed connected")
    problems += [
        f"{processes} process(es), {each['pairs']} games: {each['errors']}"
        for processes, sweep in figures["sweeps"].items()
        for each in sweep
        if each["errors"]
    ]
    return "; ".join(problems)


def plots(figures: dict[str, Any]) -> dict[str, str]:
    """The drawings by name."""
    sweeps, growth = figures["sweeps"], figures["growth"]
    one = next(iter(sweeps.values()))

    def over_games(key: str) -> list[Series]:
        return [
            Series(f"{n} process(es)", [(each["pairs"], each[key]) for each in sweep])
            for n, sweep in sweeps.items()
        ]

    busy = [
        Series(name, [(each["pairs"], each["cpu"].get(name, 0.0)) for each in one])
        for name in COMPONENTS
    ]
    memory = [
        Series(name, [(each["games"], each.get(name, 0) / 1e6) for each in growth])
        for name in (SERVER, REDIS)
    ]
    games = "games at once, played without thinking"
    return {
        "rate": plot("Durable decisions", games, "a second", over_games("rate")),
        "latency": plot("From an answer to the next decision, p99", games, "ms", over_games("p99")),
        "processors": plot("Busy processors", games, "processors", busy),
        "memory": plot("Memory", "idle games, each with two connected bots", "resident MB", memory),
    }


def table(figures: dict[str, Any]) -> str:
    """The measured figures beside the goals, as a table."""
    hold, overload, echo = (figures[key] for key in ("hold", "overload", "echo"))
    surplus = Counter(overload["full"]["surplus"]) + Counter(overload["impatient"]["surplus"])
    per_game, per_redis = (_per_game(figures["growth"], name) for name in (SERVER, REDIS))
    rows = [
        ("live games held, at least", f"{hold['min_live']:,}", "1,000"),
        ("pairs of bots that played them", f"{hold['pairs']:,}", ""),
        ("bots connected, at least", f"{hold['min_connected']:,}", "2,000"),
        ("seconds", f"{hold['seconds']:,.0f}", "600"),
        ("errors", f"{sum(hold['errors'].values()):,}", "0"),
        ("decisions/s", f"{hold['rate']:,.0f}", ""),
        ("p50 and p99, ms", f"{hold['p50']:.0f} and {hold['p99']:.0f}", ""),
        *((f"busy processors, {n}", f"{hold['cpu'][n]:.2f}", "") for n in COMPONENTS),
        *((f"memory, {n}, MB", _megabytes(hold, n), "") for n in COMPONENTS),
        ("memory per game with its two bots, server, kB", f"{per_game:.0f}", ""),
        ("memory of an idle bot, server, kB", f"{echo[IDLE_BOT]:.0f}", "64"),
        ("memory per game, Redis (resident), kB", f"{per_redis:.1f}", ""),
        ("memory per game, Redis (used), kB", f"{echo[LIVE_GAME]:.1f}", "4"),
        ("durable decisions/s with p99 within 100 ms", _responsive(figures["responsive"]), ""),
        ("ratio to a bare gRPC echo", f"{echo['ratio to the echo']:.2f}", "0.5"),
        ("the same without batched messages", f"{echo[UNBATCHED]:.2f}", ""),
        (
            "decisions/s at the peak, before the overload",
            f"{overload['baseline']['rate']:,.0f}",
            "",
        ),
        ("share kept with three times as many bots", f"{overload['kept']:.0%}", "70%"),
        (
            "share kept if refused bots retry every second",
            f"{overload['kept_by_impatient']:.0%}",
            "",
        ),
        ("surplus bots refused with RESOURCE_EXHAUSTED", f"{surplus.get(REFUSED, 0):,}", ""),
        ("surplus bots with any other reply", _other_replies(surplus), "none"),
    ]
    lines = ["| what | measured | goal |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def text(figures: dict[str, Any]) -> str:
    machine = figures["machine"]
    where = (
        f"{machine['processors']} processors, {machine['memory'] / 1e9:.0f} GB, "
        f"{machine['system']}, Python {machine['python']}, rules {machine['rules']}"
    )
    images = "\n\n".join(f"![{name}](images/capacity-{name}.svg)" for name in plots(figures))
    return f"""# Capacity

Generated from the figures of one run of the command below; [load.md](load.md) says how they are
measured. The load ran on the same machine and shared its processors. The rows down to the memory
of the load are of the games that were held.

```text
{figures["command"]}
```

Himeji {machine["himeji"]} on {where}.

{table(figures)}

{images}

{sweeps(figures)}
"""


def sweeps(figures: dict[str, Any]) -> str:
    """The games played without thinking, as a table."""
    lines = [
        "| processes | games | decisions/s | p50 ms | p99 ms | busy: server | Redis | load |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for processes, sweep in figures["sweeps"].items():
        for each in sweep:
            busy = [f"{each['cpu'][name]:.2f}" for name in (SERVER, REDIS, LOAD)]
            times = [f"{each['rate']:,.0f}", f"{each['p50']:.1f}", f"{each['p99']:.1f}"]
            lines.append(f"| {' | '.join([processes, str(each['pairs']), *times, *busy])} |")
    return "\n".join(lines)


def _per_game(growth: list[dict[str, float]], name: str) -> float:
    """Kilobytes that each further game takes."""
    first, last = growth[0], growth[-1]
    return (last.get(name, 0) - first.get(name, 0)) / (last["games"] - first["games"]) / 1e3


def _megabytes(hold: dict[str, Any], name: str) -> str:
    return f"{hold['memory'].get(name, 0) / 1e6:,.0f}"


def _responsive(best: dict[str, float]) -> str:
    return f"{best['rate']:,.0f} (with {best['games']:,.0f} games)" if best else "none"


def _other_replies(surplus: dict[str, int]) -> str:
    rest = {reason: count for reason, count in surplus.items() if reason != REFUSED}
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(rest.items())) or "none"
