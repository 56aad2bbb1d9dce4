"""The page about scaling: what 100,000 games at once would need, computed from measured figures.

python -m loadtest.scaling writes docs/scaling.md from docs/capacity.json, as `make capacity` with
--publish does at its end.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from himeji_server.limits import Limits
from himeji_server.store import keys

from loadtest import costs as measured, page
from loadtest.needs import BUSY, PACKED, REPLICAS, SEATS, SHARD_BYTES, WORDS, Costs, Need

DOCS: Final = Path(__file__).parents[1] / "docs"
NAME: Final = "scaling.md"

GAMES: Final = 100_000
THINKING: Final = (2.0, 5.0, 20.0)
"""Mean seconds of a bot for each decision: three sites of the same size."""


def write(figures: dict[str, Any], folder: Path) -> None:
    """Write the page into a folder."""
    (folder / NAME).write_text(text(figures), encoding="utf-8")


def text(figures: dict[str, Any]) -> str:
    """The whole page."""
    costs = Costs.of(figures)
    needs = [Need(costs, GAMES, think) for think in THINKING]
    ceiling = BUSY / (WORDS * costs.word)
    buckets = keys.BUCKETS
    most = buckets * BUSY / (costs.redis + costs.redis_hearing)
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

The processor time of a decision at the server is that of everything it causes while games go on and
follow each other: rules, commit, receipt, the next question. It is taken from the games that were
held, where a process had about as much to do at once as it would have here, less what games take in
which nobody moves: bots whose presence is renewed, and games that are looked at for missed bells.
That was measured with both bots at one process; where they are at two, the game is looked at twice.

What hearing adds, and what Redis does, was measured at two server processes with one Redis,
{measured.APART_TABLES} games at once and no thinking, every bot with one game on a stream of its
own: with the seats of each game at different processes, against seats at the same one. It is the
bell, the look-up of the game, and playing on to where it is. Of two seats that are spread over many
processes hardly ever both are at one, so every decision is taken to be heard once.

Messages are counted without the frames of HTTP/2 and TCP around them. What is measured on one
machine, over loopback, is taken to cost the same over a network.

## What comes out

{_table(head, _beside(needs))}

## Where it ends, and what would be done about it

1. **Finished games.** They are kept, in memory, packed. The row of days says for how long that
   goes well, and it is the next bottleneck: the other rows can be met by machines, and this one
   needs more of them every few days. Games that ended some hours ago would move, as the packed
   field that they are already, to files or an object store, and replays be read from there;
   results and ratings stay.
2. **Words about bots.** That a bot has a seat in a game, or a new stream, is published on one
   channel for every process, up to {WORDS} times a game. It is all that a process hears of games
   at others, and the one thing here that grows with games *and* with processes. A word costs each
   process {costs.word * 1e6:.1f} µs, so that beyond **{ceiling:,.0f} games that begin a second**,
   {ceiling * costs.decisions:,.0f} decisions with games of this length, a process does nothing but
   listen, however many there are. On a Redis Cluster each word goes over the bus to every node; a
   process listens at any one of them, and together they pass on what the last row says. It would
   end as it did with the bells of games: the presence of a bot would name the process of its
   stream, and the word be rung there alone.
3. **Processor time of a decision** at the servers, {costs.server * 1e6:.0f} µs and
   {costs.hearing * 1e6:.0f} µs to hear of it, is {_share(costs)} of what server and Redis need
   together. It divides by processes without end: a change of a game rings at the processes that
   follow it, and nowhere else. A spectator at a third process costs another hearing. Bots of one
   game at one process would save the hearing, but a bot has one stream for all its games, so no
   balancer can bring that about.
4. **Redis.** Games live in {buckets} buckets, each in one slot, so at most {buckets} primaries
   share them. A primary spends {costs.redis * 1e6:.0f} µs on a decision, and
   {costs.redis_hearing * 1e6:.0f} µs on its bell and look-up: with {buckets} of them that is
   {most:,.0f} decisions a second, less what games take in which nobody moves. Bells are
   published in the slot of their game, so nothing of them goes over the bus of a cluster; each
   process listens on {buckets} channels for them, over one connection to each primary. An fsync
   took {costs.fsync * 1e3:.2f} ms here and is shared by all commits that wait for it, so a slower
   disk makes answers slower, and not fewer. A disk must take the log of its primary, the row of
   MB/s, and the same again while the log is rewritten.
5. **Connections.** {SEATS * GAMES:,} bots are as many TCP connections, and a process takes
   {Limits.streams:,} streams ([limits.md](limits.md)), so {SEATS * GAMES / Limits.streams:.0f}
   processes are the fewest, however slowly bots think; a balancer needs two sockets for each.
6. **What is one for a whole ladder**: its pairing and its table are in one slot. They are not on
   the way of a move and are written once a game, but {needs[0].ends:,.0f} games
   that end a second on *one* ladder are more than they were ever measured with.
"""


def _share(costs: Costs) -> str:
    server, store = costs.server + costs.hearing, costs.redis + costs.redis_hearing
    return f"{server / (server + store):.0%}"


def _measured(costs: Costs) -> list[tuple[str, str]]:
    return [
        ("processor time of a decision at the server, µs", f"{costs.server * 1e6:.0f}"),
        ("to hear of it where the other seat is, µs", f"{costs.hearing * 1e6:.0f}"),
        ("processor time of a decision at Redis, µs", f"{costs.redis * 1e6:.0f}"),
        ("of its bell and look-up at Redis, µs", f"{costs.redis_hearing * 1e6:.0f}"),
        ("of a game in which nobody moves, at the server, µs/s", f"{costs.waiting * 1e6:.0f}"),
        ("the same at Redis, µs/s", f"{costs.redis_waiting * 1e6:.0f}"),
        ("of a word about a bot at every process, µs", f"{costs.word * 1e6:.1f}"),
        ("bytes between bot and server for a decision", f"{costs.client_bytes:,.0f}"),
        ("bytes between server and Redis for a decision", f"{costs.redis_bytes:,.0f}"),
        ("bytes of its bell and look-up", f"{costs.hearing_bytes:,.0f}"),
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
        ("processes that hear of a decision besides its own", "one"),
        ("a process, of Redis too, may use of a processor", f"{BUSY:.0%}"),
        ("replicas of each primary", f"{REPLICAS}"),
        ("memory of a primary for games", f"{SHARD_BYTES / 1e9:.0f} GB"),
        ("a finished game, packed, against a live one", f"{PACKED:.0%}"),
        ("words about bots for a game, at most", f"{WORDS}"),
    ]


def _beside(needs: list[Need]) -> list[tuple[str, ...]]:
    """The rows of several needs, side by side."""
    columns = [dict(each.rows()) for each in needs]
    return [(name, *(column[name] for column in columns)) for name in columns[0]]


def _table(head: tuple[str, ...], rows: list[Any]) -> str:
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


if __name__ == "__main__":
    write(json.loads((DOCS / page.FIGURES).read_text(encoding="utf-8")), DOCS)
