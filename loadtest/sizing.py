"""Computes what a site with many games needs, from the costs of a decision, a game, a process."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

from himeji_server.limits import Limits

from loadtest.resource_usage import REDIS, SERVER

SEATS: Final = 2
MAX_BUSY: Final = 0.6
"""Share of its processor that a process may use; the rest is for peaks and for a lost process."""

REPLICAS: Final = 1
PRIMARY_BYTES: Final = 16e9
"""Memory of a primary that games may fill; the rewriting of its log needs as much again."""

MIN_PRIMARIES: Final = 3
PACKED_SHARE: Final = 0.5
"""Size of a finished game, whose log is packed, as a share of a live one."""

BROADCASTS_PER_GAME: Final = 4
"""Messages about bots to all processes: an invitation and a seat, for two bots."""

IDLE_BOT: Final = "server memory per idle bot, kB"
LIVE_GAME: Final = "Redis memory per live game, kB"
_DAY: Final = 86_400


@dataclass(frozen=True)
class UnitCosts:
    """The measured costs of one decision, one game and one process."""

    server: float
    """Seconds of processor time of a decision at the server."""
    notification: float
    """The same at the process of the other seat, which is notified and reads the change."""
    redis: float
    """Seconds of processor time of a decision at Redis."""
    redis_notification: float
    """The same for the notification and the read that follows it."""
    idle_game: float
    """Seconds of processor time a second at the server for a game in which nobody moves."""
    redis_idle_game: float
    """The same at Redis."""
    broadcast: float
    """Seconds of processor time of a process for a message about a bot that it does not have."""
    client_bytes: float
    """Bytes of messages between a bot and its server for a decision."""
    redis_bytes: float
    """Bytes between server and Redis for a decision."""
    notification_bytes: float
    """Bytes of the notification and of the read that follows it."""
    logged_bytes: float
    """Bytes that Redis appends to its log for a decision."""
    fsync: float
    """Seconds."""
    decisions: float
    """Decisions of a game."""
    server_game: float
    """Bytes of server memory of a game with its connected bots."""
    server_bot: float
    """Bytes of them for one connected bot."""
    redis_game: float
    """Bytes of Redis memory of a live game."""
    process: float
    """Bytes of memory of a server process without games."""

    @classmethod
    def from_figures(cls, figures: dict[str, Any]) -> UnitCosts:
        """Take them from the figures of `make capacity`."""
        echo, growth, hold = (figures[each] for each in ("echo", "growth", "hold"))
        together, apart = (figures["decision"][each] for each in ("together", "apart"))
        idle_game = _per_game(growth, f"{SERVER}_busy")
        played = [each for sweep in figures["sweeps"].values() for each in sweep]
        # The run in which each pair played the most games has the fewest unfinished ones.
        longest = max(played, key=lambda each: each["games"] / each["pairs"])
        return cls(
            server=max(0.0, hold["cpu"][SERVER] - hold["pairs"] * idle_game) / hold["rate"],
            notification=figures["notification_us"] / 1e6,
            redis=together["redis_us"] / 1e6,
            redis_notification=max(0.0, apart["redis_us"] - together["redis_us"]) / 1e6,
            idle_game=idle_game,
            redis_idle_game=_per_game(growth, f"{REDIS}_busy"),
            broadcast=figures["broadcast_us"] / 1e6,
            client_bytes=echo["bytes to the server per decision"]
            + echo["bytes to the client per decision"],
            redis_bytes=_moved(together),
            notification_bytes=max(0.0, _moved(apart) - _moved(together)),
            logged_bytes=together["logged"],
            fsync=figures["fsync_ms"] / 1e3,
            decisions=longest["decisions"] / max(longest["games"], 1),
            server_game=_per_game(growth, SERVER),
            server_bot=echo[IDLE_BOT] * 1024,
            redis_game=echo[LIVE_GAME] * 1024,
            process=growth[0][SERVER],
        )

    @property
    def remote_game(self) -> float:
        """Bytes of server memory of a game at each further process where it has a seat."""
        return max(0.0, self.server_game - SEATS * self.server_bot)


@dataclass(frozen=True)
class SiteSize:
    """What a number of games needs if each seat is connected to another process."""

    costs: UnitCosts
    games: int
    think: float
    """Mean seconds of a bot before each answer."""

    @property
    def rate(self) -> float:
        """Decisions a second: each game waits for one seat at a time."""
        return self.games / self.think

    @property
    def games_per_second(self) -> float:
        """Games that end a second, and as many that begin."""
        return self.rate / self.costs.decisions

    @property
    def processes(self) -> int:
        """Server processes, limited by processor time or by the number of streams."""
        decision = self.costs.server + self.costs.notification
        busy = self.rate * decision + self.games * self.costs.idle_game
        return max(math.ceil(SEATS * self.games / Limits.streams), math.ceil(busy / MAX_BUSY))

    @property
    def memory(self) -> float:
        """Bytes of all server processes; each game is held by both processes of its seats."""
        game = self.costs.server_game + (SEATS - 1) * self.costs.remote_game
        return self.games * game + self.processes * self.costs.process

    @property
    def primaries(self) -> int:
        """Redis primaries, limited by processor time or by the memory of live games."""
        decision = self.costs.redis + self.costs.redis_notification
        busy = self.rate * decision + self.games * self.costs.redis_idle_game
        by_memory = math.ceil(self.games * self.costs.redis_game / PRIMARY_BYTES)
        return max(MIN_PRIMARIES, math.ceil(busy / MAX_BUSY), by_memory)

    @property
    def broadcasts(self) -> float:
        """Messages about bots a second, each received by every process."""
        return BROADCASTS_PER_GAME * self.games_per_second

    @property
    def commits_per_fsync(self) -> float:
        """Commits of a primary that share an fsync, on the measured disk."""
        return self.rate / self.primaries * self.costs.fsync

    @property
    def days_until_full(self) -> float:
        """Days until finished games, which are kept, have filled the primaries."""
        kept = self.games_per_second * self.costs.redis_game * PACKED_SHARE * _DAY
        left = self.primaries * PRIMARY_BYTES - self.games * self.costs.redis_game
        return left / kept

    def rows(self) -> list[tuple[str, str]]:
        costs, rate = self.costs, self.rate
        live = self.games * costs.redis_game * (1 + REPLICAS)
        log = rate / self.primaries * costs.logged_bytes
        return [
            ("decisions/s", f"{rate:,.0f}"),
            ("games that end, a second", f"{self.games_per_second:,.0f}"),
            ("server processes", f"{self.processes:,}"),
            ("memory of the servers, GB", f"{self.memory / 1e9:,.1f}"),
            ("Redis primaries", f"{self.primaries:,}"),
            ("nodes, with replicas", f"{self.primaries * (1 + REPLICAS):,}"),
            ("memory of Redis for live games, with replicas, GB", f"{live / 1e9:,.1f}"),
            ("days until finished games fill the primaries", f"{self.days_until_full:,.1f}"),
            ("between bots and servers, Mbit/s", _megabits(rate * costs.client_bytes)),
            ("between servers and Redis, commits, Mbit/s", _megabits(rate * costs.redis_bytes)),
            ("the same, notifications, Mbit/s", _megabits(rate * costs.notification_bytes)),
            ("to replicas, Mbit/s", _megabits(rate * costs.logged_bytes * REPLICAS)),
            ("log of each primary, MB/s", f"{log / 1e6:,.1f}"),
            ("commits of a primary for each fsync", f"{max(1.0, self.commits_per_fsync):,.1f}"),
            ("broadcasts about bots, a second", f"{self.broadcasts:,.0f}"),
            ("processors of each process for them", f"{self.broadcasts * costs.broadcast:.3f}"),
            ("deliveries of them by Redis, a second", f"{self.broadcasts * self.processes:,.0f}"),
        ]


def _per_game(growth: list[dict[str, float]], name: str) -> float:
    """What each further game adds."""
    first, last = growth[0], growth[-1]
    return max(0.0, (last[name] - first[name]) / (last["games"] - first["games"]))


def _moved(decision: dict[str, float]) -> float:
    return decision["received"] + decision["sent"]


def _megabits(bytes_a_second: float) -> str:
    return f"{bytes_a_second * 8 / 1e6:,.0f}"
