"""`make rolling-test`: arenas behind HAProxy are restarted one after the other while bots play.

Clients that follow the published retry policy (docs/protocol.md, section 11), as the SDK's do, must
not see a single call fail, whether arenas are stopped in good order or killed. The control is the
same without retries: if nothing fails there, the restarts prove nothing.
"""

import argparse
import sys
import time
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from tests.programs.rolling_restart.deployment import Arena, Site
from tests.programs.rolling_restart.players import Players

COLUMNS = ("games", "calls", "answers", "streams", "tried again", "failed")
PATIENCE = 60.0
"""Seconds for which a client goes on trying."""

MOST_SHOWN = 10
GAMES_BETWEEN = 2
"""Games that come to their end between two restarts."""


@dataclass(frozen=True)
class Phase:
    """Restarts of one kind under one load."""

    name: str
    end: object
    """How an arena is ended, a method of Arena."""

    rounds: int
    patience: float = PATIENCE
    stream_tables: int = 4
    unary_tables: int = 4
    control: bool = False


def phases(arguments):
    yield Phase("stopped (SIGTERM)", Arena.stop, arguments.rounds)
    yield Phase("killed (SIGKILL)", Arena.kill, 1)
    yield Phase(
        "control: killed, no retries", Arena.kill, 5, patience=0.0, stream_tables=0, control=True
    )


def restart_all(site, phase):
    """Restart every arena in turn, so many times, under load; how often, and what players counted.

    A control has shown what it is for when something has failed.
    """
    restarts = 0
    players = Players(
        site,
        stream_tables=phase.stream_tables,
        unary_tables=phase.unary_tables,
        patience=phase.patience,
    )
    with players:
        players.wait_for_games(GAMES_BETWEEN)
        for _ in range(phase.rounds):
            for arena in site.arenas:
                phase.end(arena)
                arena.start()
                site.wait_until_up(arena)
                players.wait_for_games(GAMES_BETWEEN)
                restarts += 1
            if phase.control and players.tally.failures:
                break
    return restarts, players.tally


def main():
    parser = argparse.ArgumentParser(prog="make rolling-test ARGS=...", description=__doc__)
    parser.add_argument("--rounds", type=int, default=2, help="times that each arena is stopped")
    arguments = parser.parse_args()
    table = Table("restarts", "number", *COLUMNS, "seconds", "verdict")
    console, wrong = Console(width=140), False
    with Site() as site:
        for phase in phases(arguments):
            began = time.monotonic()
            restarts, tally = restart_all(site, phase)
            good = bool(tally.failures) == phase.control
            wrong |= not good
            row = [str(tally.counts[column]) for column in COLUMNS]
            seconds = time.monotonic() - began
            verdict = "as it should be" if good else "BROKEN"
            table.add_row(phase.name, str(restarts), *row, f"{seconds:.0f}", verdict)
            for sentence in [] if phase.control else tally.failures[:MOST_SHOWN]:
                console.print(f"  {sentence}", style="red", highlight=False)
    console.print(table)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
