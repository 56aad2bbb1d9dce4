"""`make siege`: attack an arena of its own in every known way while honest clients use it.

Fails if an honest call fails, becomes much slower than in the same run before, or the arena's
memory grows beyond its bounds; and if a control does not show what its attack is about: the same
attack on an arena whose one limit against it is raised. The same bounds hold for both.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from loadtest.arena import ArenaFailedError, raise_on_sigterm
from tests.programs.siege.arena_server import unknown_limits
from tests.programs.siege.attacks import ATTACKS
from tests.programs.siege.measurements import MB, Bounds
from tests.programs.siege.scenario import Scenario

SHORT = ("guessing tokens", "slow page clients")
"""The attacks of the short form, which is a test of `make test`."""

CONTROL = "control: "
AS_EXPECTED, NOT_DEFENDED, NOT_SHOWN = "as expected", "NOT DEFENDED", "NOT SHOWN"
console = Console(width=None if sys.stdout.isatty() else 150)


def parse_arguments():
    parser = argparse.ArgumentParser(prog="make siege ARGS=...", description=__doc__)
    parser.add_argument("--only", action="append", choices=list(ATTACKS), help="this attack alone")
    parser.add_argument("--short", action="store_true", help=f"only {' and '.join(SHORT)}, once")
    parser.add_argument("--seconds", type=float, help="how long each attack lasts (3; short: 1.5)")
    parser.add_argument("--tries", type=int, default=1, help="the best of so many tries counts")
    parser.add_argument(
        "--ratio", type=float, default=Bounds.latency_ratio, help="bound of p99 / its baseline"
    )
    parser.add_argument("--without-controls", action="store_true", help="only the attacks")
    parser.add_argument("--json", type=Path, help="write all figures to this file, too")
    arguments = parser.parse_args()
    arguments.names = arguments.only or (SHORT if arguments.short else list(ATTACKS))
    arguments.seconds = arguments.seconds or (1.5 if arguments.short else 3.0)
    return arguments


class Siege:
    """A run of several attacks: the rows of its table, and whether it failed."""

    def __init__(self, arguments):
        self._arguments = arguments
        self._bounds = Bounds(latency_ratio=arguments.ratio)
        self.rows = []

    @property
    def failed(self):
        return any(row["verdict"] != AS_EXPECTED for row in self.rows)

    def run(self):
        for name in self._arguments.names:
            attack = ATTACKS[name]()
            self._attack(name, attack, {}, control=False)
            if attack.control and not self._arguments.without_controls:
                self._attack(f"{CONTROL}{name}", attack, attack.control, control=True)

    def _attack(self, title, attack, limits, *, control):
        """Attack, again while that is not as expected and tries are left; adds a row."""
        for _ in range(self._arguments.tries):
            began = time.monotonic()
            row = self._try(attack, limits, control=control)
            seconds = time.monotonic() - began
            row |= {"attack": title, "seconds": round(seconds, 1)}
            console.print(f"{title}: {row['verdict']} ({seconds:.0f} s)", highlight=False)
            for violation in row["violations"]:
                console.print(f"  {violation}", highlight=False)
            if row["verdict"] == AS_EXPECTED:
                break
        self.rows.append(row)

    def _try(self, attack, limits, *, control):
        if unknown := unknown_limits({**attack.limits, **limits}):
            violations = [f"there is no limit {each}" for each in unknown]
            return {"violations": violations, "verdict": "NO SUCH LIMIT", "control": control}
        seconds = self._arguments.seconds
        times = 1 if control or self._arguments.short else 2
        # As long as the attacks together: a p99 grows with the number of calls.
        scenario = Scenario(attack, limits, seconds=seconds, baseline_seconds=times * seconds)
        try:
            outcome = scenario.run(times=times)
        except ArenaFailedError as error:
            violations, facts = [f"the arena died: {str(error)[-300:]}"], {}
            verdict = NOT_SHOWN if control else NOT_DEFENDED
        else:
            violations, facts = outcome.violations(self._bounds), facts_of(outcome)
            verdict = verdict_of(outcome, self._bounds, attack.symptom if control else "")
        return {"violations": violations, "verdict": verdict, "control": control, **facts}


def verdict_of(outcome, bounds, symptom=""):
    """An attack must break no bound; a control must show the symptom, whatever else is broken."""
    if symptom:
        return AS_EXPECTED if outcome.shows(symptom, bounds) else NOT_SHOWN
    return NOT_DEFENDED if outcome.violations(bounds) else AS_EXPECTED


def facts_of(outcome):
    """The figures of an outcome: milliseconds and megabytes."""
    before, meanwhile = outcome.calls_before, outcome.calls_meanwhile
    return {
        "calls": len(meanwhile.calls),
        "p50": [round(each.percentile(0.5), 1) for each in (before, meanwhile)],
        "p99": [round(each.percentile(0.99), 1) for each in (before, meanwhile)],
        "page p99": [round(each.percentile(0.99, page=True), 1) for each in (before, meanwhile)],
        "memory": [outcome.idle // MB, *(each.peak // MB for each in outcome.attacks)],
        "memory after": outcome.after // MB,
        "log kB/s": [round(each.log_rate / 1024) for each in (outcome.before, outcome.attacks[0])],
        "told": dict(outcome.attacks[0].told.most_common()),
        "failures": dict(outcome.calls_since.failures().most_common()),
    }


def table_of(rows):
    table = Table(title="honest calls in ms, memory of the server in MB", title_justify="left")
    for heading in ("attack", "p50", "p99", "page p99", "idle → peaks → after"):
        table.add_column(heading, no_wrap=True)
    table.add_column("what the attacker was told")
    table.add_column("verdict")
    for row in rows:
        pairs = [" → ".join(map(str, row.get(name, ()))) for name in ("p50", "p99", "page p99")]
        memory = [*row.get("memory", ()), row.get("memory after", "")]
        told = ", ".join(f"{n:,} {text}" for text, n in list(row.get("told", {}).items())[:4])
        table.add_row(row["attack"], *pairs, " → ".join(map(str, memory)), told, row["verdict"])
    return table


def main():
    raise_on_sigterm()
    arguments = parse_arguments()
    siege = Siege(arguments)
    siege.run()
    console.print(table_of(siege.rows))
    if arguments.json:
        arguments.json.write_text(json.dumps(siege.rows, indent=1, ensure_ascii=False))
    sys.exit(1 if siege.failed else 0)


if __name__ == "__main__":
    main()
