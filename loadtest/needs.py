"""What many games would need, computed from what a decision, a game and a process cost."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from himeji_server.limits import Limits

from loadtest.meters import REDIS, SERVER

SEATS: Final = 2
BUSY: Final = 0.6
"""Of its processor, a process may use so much: the rest is for peaks, and for a lost neighbour."""

REPLICAS: Final = 1
SHARD_BYTES: Final = 16e9
"""Memory of a primary that is filled with games; as much again is free for its log's rewriting."""

FEWEST_SHARDS: Final = 3
PACKED: Final = 0.5
"""A finished game takes so much of what a live one takes, once its log is packed."""

WORDS: Final = 4
"""About bots, for each game: an invitation and a seat, for both of them."""

IDLE_BOT: Final = "server memory per idle bot, kB"
LIVE_GAME: Final = "Redis memory per live game, kB"
_DAY: Final = 86_400


@dataclass(frozen=True)
class Costs:
    """What was measured of one decision, one game and one process."""

    server: float
    """Seconds of processor time of a decision at the server."""
    hearing: float
    """The same at the process where the other seat is, for hearing of it."""
    redis: float
    """The same at Redis."""
    redis_hearing: float
    """The same at Redis, for the bell and the look-up that follows it."""
    waiting: float
    """Seconds of processor time a second at the server for a game in which nobody moves."""
    redis_waiting: float
    """The same at Redis."""
    word: float
    """Seconds of processor time of a process for a word about a bot of another one."""
    client_bytes: float
    """Bytes of messages between a bot and its server for a decision."""
    redis_bytes: float
    """Bytes between server and Redis for it."""
    hearing_bytes: float
    """Bytes of the bell, and of the look-up that follows it."""
    logged_bytes: float
    """Bytes that the log of Redis grows by."""
    fsync: float
    """Seconds of an fsync."""
    decisions: float
    """Decisions of a game."""
    server_game: float
    """Bytes of server memory of a game with its connected bots."""
    server_bot: float
    """Bytes of them for a connected bot."""
    redis_game: float
    process: float
    """Bytes of memory of a server process without games."""

    @classmethod
    def of(cls, figures: dict[str, Any]) -> Costs:
        """Take them from the figures of `make capacity`."""
        echo, growth, hold = (figures[each] for each in ("echo", "growth", "hold"))
        together, apart = (figures["decision"][each] for each in ("together", "apart"))
        waiting = _per_game(growth, f"{SERVER}_busy")
        played = [each for sweep in figures["sweeps"].values() for each in sweep]
        # Games that did not come to their end count least where each table played the most.
        whole = max(played, key=lambda each: each["games"] / each["tables"])
        return cls(
            server=max(0.0, hold["cpu"][SERVER] - hold["tables"] * waiting) / hold["rate"],
            hearing=figures["hearing_us"] / 1e6,
            redis=together["redis_us"] / 1e6,
            redis_hearing=max(0.0, apart["redis_us"] - together["redis_us"]) / 1e6,
            waiting=waiting,
            redis_waiting=_per_game(growth, f"{REDIS}_busy"),
            word=figures["word_us"] / 1e6,
            client_bytes=echo["bytes to the server per decision"]
            + echo["bytes to the client per decision"],
            redis_bytes=_moved(together),
            hearing_bytes=max(0.0, _moved(apart) - _moved(together)),
            logged_bytes=together["logged"],
            fsync=figures["fsync_ms"] / 1e3,
            decisions=whole["decisions"] / max(whole["games"], 1),
            server_game=_per_game(growth, SERVER),
            server_bot=echo[IDLE_BOT] * 1024,
            redis_game=echo[LIVE_GAME] * 1024,
            process=growth[0][SERVER],
        )

    @property
    def table(self) -> float:
        """Bytes of server memory of a game at each further process where it has a seat."""
        return max(0.0, self.server_game - SEATS * self.server_bot)


@dataclass(frozen=True)
class Need:
    """What a number of games needs whose bots think for so long, each seat at another process."""

    costs: Costs
    games: int
    think: float

    @property
    def rate(self) -> float:
        """Decisions a second: each game waits for one seat at a time."""
        return self.games / self.think

    @property
    def ends(self) -> float:
        """Games that end a second, and begin."""
        return self.rate / self.costs.decisions

    @property
    def processes(self) -> int:
        """Server processes: for their processors, and for the streams of the bots."""
        decision = self.costs.server + self.costs.hearing
        busy = self.rate * decision + self.games * self.costs.waiting
        return max(math.ceil(SEATS * self.games / Limits.streams), math.ceil(busy / BUSY))

    @property
    def memory(self) -> float:
        """Bytes of all server processes; a game is in that of both where it has a seat."""
        game = self.costs.server_game + (SEATS - 1) * self.costs.table
        return self.games * game + self.processes * self.costs.process

    @property
    def shards(self) -> int:
        """Primaries: for their processors, and for the memory of live games."""
        decision = self.costs.redis + self.costs.redis_hearing
        busy = self.rate * decision + self.games * self.costs.redis_waiting
        by_memory = math.ceil(self.games * self.costs.redis_game / SHARD_BYTES)
        return max(FEWEST_SHARDS, math.ceil(busy / BUSY), by_memory)

    @property
    def words(self) -> float:
        """Words about bots a second, each of which every process hears."""
        return WORDS * self.ends

    @property
    def group(self) -> float:
        """Commits of a primary that wait for the same fsync, on this disk."""
        return self.rate / self.shards * self.costs.fsync

    @property
    def days(self) -> float:
        """After how many days the finished games, which are kept, have filled the primaries."""
        kept = self.ends * self.costs.redis_game * PACKED * _DAY
        left = self.shards * SHARD_BYTES - self.games * self.costs.redis_game
        return left / kept

    def rows(self) -> list[tuple[str, str]]:
        """Everything, by name."""
        costs, rate = self.costs, self.rate
        live = self.games * costs.redis_game * (1 + REPLICAS)
        return [
            ("decisions/s", f"{rate:,.0f}"),
            ("games that end, a second", f"{self.ends:,.0f}"),
            ("server processes", f"{self.processes:,}"),
            ("memory of the servers, GB", f"{self.memory / 1e9:,.1f}"),
            ("Redis primaries", f"{self.shards:,}"),
            ("with their replicas, nodes", f"{self.shards * (1 + REPLICAS):,}"),
            ("memory of Redis for live games, replicas too, GB", f"{live / 1e9:,.1f}"),
            ("finished games fill the primaries in, days", f"{self.days:,.1f}"),
            ("between bots and servers, Mbit/s", _megabits(rate * costs.client_bytes)),
            ("between servers and Redis, Mbit/s", _megabits(rate * costs.redis_bytes)),
            ("of bells and look-ups besides, Mbit/s", _megabits(rate * costs.hearing_bytes)),
            ("to replicas, Mbit/s", _megabits(rate * costs.logged_bytes * REPLICAS)),
            ("log of each primary, MB/s", f"{rate / self.shards * costs.logged_bytes / 1e6:,.1f}"),
            ("commits of a primary that share an fsync", f"{max(1.0, self.group):,.1f}"),
            ("words about bots, a second", f"{self.words:,.0f}"),
            ("each process hears them with, processors", f"{self.words * costs.word:.3f}"),
            ("Redis passes them on, times a second", f"{self.words * self.processes:,.0f}"),
        ]


def _per_game(growth: list[dict[str, float]], what: str) -> float:
    """What each further game adds."""
    first, last = growth[0], growth[-1]
    return max(0.0, (last[what] - first[what]) / (last["games"] - first["games"]))


def _moved(decision: dict[str, float]) -> float:
    return decision["received"] + decision["sent"]


def _megabits(bytes_a_second: float) -> str:
    return f"{bytes_a_second * 8 / 1e6:,.0f}"
