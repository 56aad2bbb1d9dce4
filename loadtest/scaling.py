"""The page about scaling: what 100,000 games at once would need, computed from measured figures.

python -m loadtest.scaling writes docs/scaling.md from docs/capacity.json, as `make capacity` with
--publish does at its end.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from himeji_server.limits import Limits

from loadtest import page
from loadtest.meters import SERVER

DOCS: Final = Path(__file__).parents[1] / "docs"
NAME: Final = "scaling.md"

GAMES: Final = 100_000
SEATS: Final = 2
THINKING: Final = (2.0, 5.0, 20.0)
"""Mean seconds of a bot for each decision: three sites of the same size."""

BUSY: Final = 0.6
"""Of its processor, a process may use so much: the rest is for peaks, and for a lost neighbour."""

REPLICAS: Final = 1
SHARD_BYTES: Final = 16e9
"""Memory of a primary that is filled with games; as much again is free for its log's rewriting."""

FEWEST_SHARDS: Final = 3
PACKED: Final = 0.5
"""A finished game takes so much of what a live one takes, once its log is packed."""

BELL_BYTES: Final = 60
"""A bell on the wire: game, version, sender, and Redis's own words around them."""

_DAY: Final = 86_400


@dataclass(frozen=True)
class Costs:
    """What was measured of one decision, one game and one process."""

    server: float
    """Seconds of processor time of a decision at the server."""
    redis: float
    """The same at Redis."""
    bell: float
    """The same at every other server process, for hearing of it."""
    client_bytes: float
    """Bytes of messages between a bot and its server for a decision."""
    redis_bytes: float
    """Bytes between server and Redis for it."""
    logged_bytes: float
    """Bytes that the log of Redis grows by."""
    fsync: float
    """Seconds of an fsync."""
    decisions: float
    """Decisions of a game."""
    server_game: float
    """Bytes of server memory of a game with its connected bots."""
    redis_game: float
    process: float
    """Bytes of memory of a server process without games."""

    @classmethod
    def of(cls, figures: dict[str, Any]) -> Costs:
        """Take them from the figures of `make capacity`."""
        echo, growth, per_decision = (figures[each] for each in ("echo", "growth", "redis_bytes"))
        played = [each for sweep in figures["sweeps"].values() for each in sweep]
        # Games that did not come to their end count least where each table played the most.
        whole = max(played, key=lambda each: each["games"] / each["tables"])
        first, last = growth[0], growth[-1]
        return cls(
            server=echo["processor time of a decision, µs"] / 1e6,
            redis=echo["of it in Redis besides, µs"] / 1e6,
            bell=figures["bell_us"] / 1e6,
            client_bytes=echo["bytes to the server per decision"]
            + echo["bytes to the client per decision"],
            redis_bytes=per_decision["received"] + per_decision["sent"],
            logged_bytes=per_decision["logged"],
            fsync=figures["fsync_ms"] / 1e3,
            decisions=whole["decisions"] / max(whole["games"], 1),
            server_game=(last[SERVER] - first[SERVER]) / (last["games"] - first["games"]),
            redis_game=echo["Redis memory per live game, kB"] * 1024,
            process=first[SERVER],
        )


@dataclass(frozen=True)
class Need:
    """What a number of games needs whose bots think for so long."""

    costs: Costs
    games: int
    think: float

    @property
    def rate(self) -> float:
        """Decisions a second: each game waits for one seat at a time."""
        return self.games / self.think

    @property
    def hearing(self) -> float:
        """Processors that each server process needs to hear every bell of the site."""
        return self.rate * self.costs.bell

    @property
    def processes(self) -> int | None:
        """Server processes as the arena is now; None if no number would do."""
        left = BUSY - self.hearing
        return self._processes(left) if left > 0 else None

    @property
    def processes_by_address(self) -> int:
        """Server processes if bells rang only where somebody listens."""
        return self._processes(BUSY)

    def _processes(self, busy: float) -> int:
        """Server processes that have so much of a processor each for decisions, and the streams."""
        streams = math.ceil(SEATS * self.games / Limits.streams)
        return max(streams, math.ceil(self.rate * self.costs.server / busy))

    @property
    def shards(self) -> int:
        """Primaries: for their processors, and for the memory of live games."""
        by_processor = math.ceil(self.rate * self.costs.redis / BUSY)
        by_memory = math.ceil(self.games * self.costs.redis_game / SHARD_BYTES)
        return max(FEWEST_SHARDS, by_processor, by_memory)

    @property
    def group(self) -> float:
        """Commits of a primary that wait for the same fsync, on this disk."""
        return self.rate / self.shards * self.costs.fsync

    @property
    def days(self) -> float:
        """After how many days the finished games, which are kept, have filled the primaries."""
        kept = self.rate / self.costs.decisions * self.costs.redis_game * PACKED * _DAY
        left = self.shards * SHARD_BYTES - self.games * self.costs.redis_game
        return left / kept

    def rows(self) -> list[tuple[str, str]]:
        """Everything, by name."""
        costs, rate = self.costs, self.rate
        processes = self.processes
        count = processes or self.processes_by_address
        bells = rate * count * BELL_BYTES
        memory = self.games * costs.server_game + count * costs.process
        return [
            ("decisions/s", f"{rate:,.0f}"),
            ("games that end, a second", f"{rate / costs.decisions:,.0f}"),
            ("each server process hears bells with, processors", f"{self.hearing:.2f}"),
            ("server processes, as it is", f"{processes:,}" if processes else "no number would do"),
            ("server processes, with bells by address", f"{self.processes_by_address:,}"),
            ("memory of the servers, GB", f"{memory / 1e9:,.1f}"),
            ("Redis primaries", f"{self.shards:,}"),
            ("with their replicas, nodes", f"{self.shards * (1 + REPLICAS):,}"),
            (
                "memory of Redis for live games, replicas too, GB",
                f"{self.games * costs.redis_game * (1 + REPLICAS) / 1e9:,.1f}",
            ),
            ("finished games fill the primaries in, days", f"{self.days:,.1f}"),
            ("between bots and servers, Mbit/s", _megabits(rate * costs.client_bytes)),
            ("between servers and Redis, Mbit/s", _megabits(rate * costs.redis_bytes)),
            ("of bells besides, as it is, Mbit/s", _megabits(bells)),
            (
                "to replicas, Mbit/s",
                _megabits(rate * costs.logged_bytes * REPLICAS),
            ),
            ("log of each primary, MB/s", f"{rate / self.shards * costs.logged_bytes / 1e6:,.1f}"),
            ("commits of a primary that share an fsync", f"{max(1.0, self.group):,.1f}"),
            (
                "bells that each node gets over the cluster's bus, a second",
                f"{rate * (1 - 1 / (self.shards * (1 + REPLICAS))):,.0f}",
            ),
        ]


def write(figures: dict[str, Any], folder: Path) -> None:
    """Write the page into a folder."""
    (folder / NAME).write_text(text(figures), encoding="utf-8")


def text(figures: dict[str, Any]) -> str:
    """The whole page."""
    costs = Costs.of(figures)
    needs = [Need(costs, GAMES, think) for think in THINKING]
    ceiling = BUSY / costs.bell
    head = ("for bots that think, on the mean", *(f"{each.think:g} s" for each in needs))
    return f"""# Scaling: what {GAMES:,} games at once would need

Paper: nobody has run this. It is computed by `loadtest/scaling.py` from the figures of one machine
that [capacity.md](capacity.md) has, and is written anew with them by `make capacity
ARGS=--publish`. Measured with

```text
{figures["command"]}
```

## What goes in

{_table(("measured", "value"), _measured(costs))}

{_table(("assumed", "value"), _assumed())}

The processor time of a decision is that of everything it causes while games go on: rules, commit,
receipt, the next question. Messages are counted without the frames of HTTP/2 and TCP around them.
What is measured on one machine, over loopback, is taken to cost the same over a network.

## What comes out

{_table(head, _beside(needs))}

## Where it ends, and what would be done about it

1. **Bells.** Every commit is published on one channel, and every server process reads every
   message, to find that almost none is about a game of its own. That takes {costs.bell * 1e6:.1f}
   µs of each process for each decision of the whole site, so beyond **{ceiling:,.0f} decisions a
   second** a process does nothing but listen, however many there are; on a Redis Cluster each
   message goes over the bus to every node besides. This is the next bottleneck. A process that
   has a seat or a spectator of a game would say so beside the game, and the commit would ring at
   those alone: on a channel of each process, or by sharded pub/sub in the slot of the game. Then
   processes grow with the decisions, as in the second row of them, and two or three hear of each.
2. **Finished games.** They are kept, in memory, packed. The row of days says for how long that
   goes well. Games that ended some hours ago would move, as the packed field that they are
   already, to files or an object store, and replays be read from there; results and ratings stay.
3. **Processor time of a decision** at the servers, {costs.server * 1e6:.0f} µs, is
   {_share(costs)} of what server and Redis need together. It divides by processes without end
   once bells are mended, because no process knows of another.
4. **Redis.** Games live in 64 buckets, each in one slot, so at most 64 primaries share them. A
   primary spends {costs.redis * 1e6:.0f} µs on a decision. An fsync took {costs.fsync * 1e3:.2f}
   ms here and is shared by all commits that wait for it, so a slower disk makes answers slower,
   and not fewer. A disk must take the log of its primary, the row of MB/s, and the same again
   while the log is rewritten.
5. **Connections.** {SEATS * GAMES:,} bots are as many TCP connections, and a process takes
   {Limits.streams:,} streams ([limits.md](limits.md)), so {SEATS * GAMES / Limits.streams:.0f}
   processes are the fewest, however slowly bots think; a balancer needs two sockets for each.
6. **What is one for a whole ladder**: its pairing and its table are in one slot. They are not on
   the way of a move and are written once a game, but {needs[0].rate / costs.decisions:,.0f} games
   that end a second on *one* ladder are more than they were ever measured with.
"""


def _share(costs: Costs) -> str:
    return f"{costs.server / (costs.server + costs.redis):.0%}"


def _measured(costs: Costs) -> list[tuple[str, str]]:
    return [
        ("processor time of a decision at the server, µs", f"{costs.server * 1e6:.0f}"),
        ("processor time of a decision at Redis, µs", f"{costs.redis * 1e6:.0f}"),
        ("processor time of a bell at each other process, µs", f"{costs.bell * 1e6:.1f}"),
        ("bytes between bot and server for a decision", f"{costs.client_bytes:,.0f}"),
        ("bytes between server and Redis for a decision", f"{costs.redis_bytes:,.0f}"),
        ("bytes in the log of Redis for a decision", f"{costs.logged_bytes:,.0f}"),
        ("an fsync of this disk, ms", f"{costs.fsync * 1e3:.2f}"),
        ("decisions of a game (base, two seats, played at random)", f"{costs.decisions:.0f}"),
        ("server memory of a game with its two bots, kB", f"{costs.server_game / 1e3:.0f}"),
        ("Redis memory of a live game, kB", f"{costs.redis_game / 1e3:.1f}"),
        ("memory of a server process without games, MB", f"{costs.process / 1e6:.0f}"),
    ]


def _assumed() -> list[tuple[str, str]]:
    return [
        ("games at once", f"{GAMES:,}, of two seats, all bots connected"),
        ("decisions a game waits for at a time", "one"),
        ("a process, of Redis too, may use of a processor", f"{BUSY:.0%}"),
        ("replicas of each primary", f"{REPLICAS}"),
        ("memory of a primary for games", f"{SHARD_BYTES / 1e9:.0f} GB"),
        ("a finished game, packed, against a live one", f"{PACKED:.0%}"),
        ("a bell on the wire", f"{BELL_BYTES} bytes"),
    ]


def _beside(needs: list[Need]) -> list[tuple[str, ...]]:
    """The rows of several needs, side by side."""
    columns = [dict(each.rows()) for each in needs]
    return [(name, *(column[name] for column in columns)) for name in columns[0]]


def _table(head: tuple[str, ...], rows: list[Any]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _megabits(bytes_a_second: float) -> str:
    return f"{bytes_a_second * 8 / 1e6:,.0f}"


if __name__ == "__main__":
    write(json.loads((DOCS / page.FIGURES).read_text(encoding="utf-8")), DOCS)
