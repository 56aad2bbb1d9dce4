"""`make rolling-test`: restart arenas behind HAProxy one after the other while bots play.

Clients that follow the published retry policy (docs/protocol.md, section 11), as the SDK's do, must
not see a single call fail, whether arenas are stopped gracefully or killed. The control is the same
without retries: if nothing fails there, the restarts prove nothing.
"""

import argparse
import sys
import time
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from tests.programs.rolling_restart.deployment import BalancedArena, BalancedDeployment
from tests.programs.rolling_restart.players import Players

COLUMNS = ("games", "calls", "answers", "streams", "retried", "failed")
RETRY_SECONDS = 60.0
"""How long a client retries."""

MAX_SHOWN = 10
GAMES_BETWEEN = 2
"""Games that end between two restarts."""


@dataclass(frozen=True)
class Phase:
    """Restarts of one kind under one load."""

    name: str
    end: object
    """How an arena is ended: a method of BalancedArena."""

    rounds: int
    retry_seconds: float = RETRY_SECONDS
    stream_pairs: int = 4
    unary_pairs: int = 4
    control: bool = False


def phases(arguments):
    yield Phase("stopped (SIGTERM)", BalancedArena.stop, arguments.rounds)
    yield Phase("killed (SIGKILL)", BalancedArena.kill, 1)
    yield Phase(
        "control: killed, no retries",
        BalancedArena.kill,
        5,
        retry_seconds=0.0,
        stream_pairs=0,
        control=True,
    )


def restart_all(deployment, phase):
    """Restart every arena in turn, `phase.rounds` times; returns the number and the counts.

    A control ends as soon as something has failed.
    """
    restarts = 0
    players = Players(
        deployment,
        stream_pairs=phase.stream_pairs,
        unary_pairs=phase.unary_pairs,
        retry_seconds=phase.retry_seconds,
    )
    with players:
        players.wait_for_games(GAMES_BETWEEN)
        for _ in range(phase.rounds):
            for arena in deployment.arenas:
                phase.end(arena)
                arena.start()
                deployment.wait_until_up(arena)
                players.wait_for_games(GAMES_BETWEEN)
                restarts += 1
            if phase.control and players.counts.failures:
                break
    return restarts, players.counts


def main():
    parser = argparse.ArgumentParser(prog="make rolling-test ARGS=...", description=__doc__)
    parser.add_argument("--rounds", type=int, default=2, help="how often each arena is stopped")
    arguments = parser.parse_args()
    table = Table("restarts", "number", *COLUMNS, "seconds", "verdict")
    console, failed = Console(width=140), False
    with BalancedDeployment() as deployment:
        for phase in phases(arguments):
            began = time.monotonic()
            restarts, counts = restart_all(deployment, phase)
            good = bool(counts.failures) == phase.control
            failed |= not good
            row = [str(counts.by_name[column]) for column in COLUMNS]
            seconds = time.monotonic() - began
            verdict = "as expected" if good else "BROKEN"
            table.add_row(phase.name, str(restarts), *row, f"{seconds:.0f}", verdict)
            for failure in [] if phase.control else counts.failures[:MAX_SHOWN]:
                console.print(f"  {failure}", style="red", highlight=False)
    console.print(table)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
