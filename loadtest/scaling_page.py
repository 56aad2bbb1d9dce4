"""Writes docs/scaling.md: what 100,000 games at once would need, computed from measured figures.

python -m loadtest.scaling_page writes it from docs/capacity.json, as `make capacity
ARGS=--publish` does at its end.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from himeji_server.limits import Limits
from himeji_server.store import keys

from loadtest import capacity_page, cost_measurements
from loadtest.sizing import (
    BROADCASTS_PER_GAME,
    MAX_BUSY,
    PACKED_SHARE,
    PRIMARY_BYTES,
    REPLICAS,
    SEATS,
    SiteSize,
    UnitCosts,
)

DOCS: Final = Path(__file__).parents[1] / "docs"
NAME: Final = "scaling.md"

GAMES: Final = 100_000
THINK_SECONDS: Final = (2.0, 5.0, 20.0)
"""Mean seconds of a bot for each decision: three sites with the same number of games."""


def write(figures: dict[str, Any], folder: Path) -> None:
    """Write the page into a folder."""
    (folder / NAME).write_text(text(figures), encoding="utf-8")


def text(figures: dict[str, Any]) -> str:
    costs = UnitCosts.from_figures(figures)
    sites = [SiteSize(costs, GAMES, think) for think in THINK_SECONDS]
    ceiling = MAX_BUSY / (BROADCASTS_PER_GAME * costs.broadcast)
    buckets = keys.BUCKETS
    most = buckets * MAX_BUSY / (costs.redis + costs.redis_notification)
    head = ("mean seconds a bot thinks", *(f"{each.think:g} s" for each in sites))
    return f"""# Scaling: what {GAMES:,} games at once would need

This is a computation; nobody has run such a site. `loadtest/scaling_page.py` computes it from the
figures of one machine in [capacity.md](capacity.md), and `make capacity ARGS=--publish` writes it
again with them. Measured with

```text
{figures["command"]}
```

## What goes in

{_table(("measured", "value"), _measured(costs))}

{_table(("assumed", "value"), _assumed())}

The processor time of a decision at the server includes everything it causes while games follow each
other: rules, commit, receipt and the next decision. It comes from the games that were held, where a
process had about as much to do at once as it would have here, minus what idle games cost: renewing
the presence of bots, and polling games for missed notifications. It was measured with both bots at
one process; with bots at two, both processes poll the game.

The cost of a notification, and that of Redis, was measured at two server processes with one Redis,
{cost_measurements.PAIRS} games at once without thinking, every bot with one game on a stream of its
own: the seats of each game at different processes, compared with seats at the same one. It is the
cost of receiving the notification, reading the change and playing it. With many processes, two
seats are hardly ever at the same one, so each decision is taken to notify one other process.

Messages are counted without the frames of HTTP/2 and TCP around them. What is measured on one
machine, over loopback, is taken to cost the same over a network.

## What comes out

{_table(head, _side_by_side(sites))}

## Where it ends, and what would be done about it

1. **Finished games.** They are kept in memory, packed. The row of days says how long that works,
   and it is the next bottleneck: more machines satisfy the other rows once, and this one needs
   more of them every few days. Games that ended some hours ago would move, packed as they are, to
   files or an object store, from which replays are read; results and ratings stay.
2. **Broadcasts about bots.** When a bot gets a seat in a game, or a new stream, that is published
   on one channel to every process, up to {BROADCASTS_PER_GAME} times a game. Nothing else about
   games at other processes reaches a process, and nothing else here grows with games *and* with
   processes. A broadcast costs each process {costs.broadcast * 1e6:.1f} µs, so beyond
   **{ceiling:,.0f} games that begin a second**, {ceiling * costs.decisions:,.0f} decisions with
   games of this length, a process does nothing but receive broadcasts, however many processes
   there are. On a Redis Cluster each broadcast goes over the bus to every node; a process
   subscribes at any one of them, and together they deliver what the last row says. The remedy is
   that of game notifications: the presence of a bot would name the process of its stream, and only
   that process would be notified.
3. **Processor time of a decision** at the servers, {costs.server * 1e6:.0f} µs and
   {costs.notification * 1e6:.0f} µs for its notification, is {_server_share(costs)} of what server
   and Redis need together. It divides by processes without limit: only the processes that follow a
   game are notified of its changes. A spectator at a third process costs another notification.
   Bots of one game at one process would save it, but a bot has one stream for all its games, so no
   balancer can arrange that.
4. **Redis.** Games live in {buckets} buckets, each in one slot, so at most {buckets} primaries
   share them. A primary spends {costs.redis * 1e6:.0f} µs on a decision, and
   {costs.redis_notification * 1e6:.0f} µs on its notification and the read that follows: with
   {buckets} of them that is {most:,.0f} decisions a second, less the cost of idle games.
   Notifications are published in the slot of their game, so none of them goes over the bus of a
   cluster; each process subscribes to {buckets} channels for them, over one connection to each
   primary. An fsync took {costs.fsync * 1e3:.2f} ms here and is shared by all commits that wait
   for it, so a slower disk makes answers slower, but not fewer. A disk must take the log of its
   primary, the row of MB/s, and the same again while the log is rewritten.
5. **Connections.** {SEATS * GAMES:,} bots are as many TCP connections, and a process takes
   {Limits.streams:,} streams ([limits.md](limits.md)), so {SEATS * GAMES / Limits.streams:.0f}
   processes are the minimum, however slowly bots think; a balancer needs two sockets for each bot.
6. **What exists once for a whole ladder**: its pairing and its standings are in one slot. They are
   not on the path of a move and are written once a game, but {sites[0].games_per_second:,.0f} games
   that end a second on *one* ladder are more than they were ever measured with.
"""


def _server_share(costs: UnitCosts) -> str:
    server, store = costs.server + costs.notification, costs.redis + costs.redis_notification
    return f"{server / (server + store):.0%}"


def _measured(costs: UnitCosts) -> list[tuple[str, str]]:
    return [
        ("processor time of a decision at the server, µs", _microseconds(costs.server)),
        (
            "of its notification at the process of the other seat, µs",
            _microseconds(costs.notification),
        ),
        ("processor time of a decision at Redis, µs", _microseconds(costs.redis)),
        (
            "of its notification and the read that follows, µs",
            _microseconds(costs.redis_notification),
        ),
        ("of an idle game at the server, µs/s", _microseconds(costs.idle_game)),
        ("of an idle game at Redis, µs/s", _microseconds(costs.redis_idle_game)),
        ("of a broadcast about a bot at every process, µs", f"{costs.broadcast * 1e6:.1f}"),
        ("bytes between bot and server for a decision", f"{costs.client_bytes:,.0f}"),
        ("bytes between server and Redis for a decision", f"{costs.redis_bytes:,.0f}"),
        ("bytes of its notification and the read", f"{costs.notification_bytes:,.0f}"),
        ("bytes in the log of Redis for a decision", f"{costs.logged_bytes:,.0f}"),
        ("an fsync of this disk, ms", f"{costs.fsync * 1e3:.2f}"),
        ("decisions of a game (base, two seats, played at random)", f"{costs.decisions:.0f}"),
        ("server memory of a game with its two bots, kB", f"{costs.server_game / 1e3:.0f}"),
        ("of it for a bot, kB", f"{costs.server_bot / 1e3:.0f}"),
        ("Redis memory of a live game, kB", f"{costs.redis_game / 1e3:.1f}"),
        ("memory of a server process without games, MB", f"{costs.process / 1e6:.0f}"),
    ]


def _assumed() -> list[tuple[str, str]]:
    return [
        ("games at once", f"{GAMES:,}, of two seats, all bots connected"),
        ("decisions a game waits for at a time", "one"),
        ("other processes notified of a decision", "one"),
        ("share of a processor that a process, of Redis too, may use", f"{MAX_BUSY:.0%}"),
        ("replicas of each primary", f"{REPLICAS}"),
        ("memory of a primary for games", f"{PRIMARY_BYTES / 1e9:.0f} GB"),
        ("size of a finished game, packed, against a live one", f"{PACKED_SHARE:.0%}"),
        ("broadcasts about bots for a game, at most", f"{BROADCASTS_PER_GAME}"),
    ]


def _side_by_side(sites: list[SiteSize]) -> list[tuple[str, ...]]:
    """The rows of several sites, a column for each."""
    columns = [dict(each.rows()) for each in sites]
    return [(name, *(column[name] for column in columns)) for name in columns[0]]


def _microseconds(seconds: float) -> str:
    return f"{seconds * 1e6:.0f}"


def _table(head: tuple[str, ...], rows: list[Any]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


if __name__ == "__main__":
    write(json.loads((DOCS / capacity_page.FIGURES).read_text(encoding="utf-8")), DOCS)
