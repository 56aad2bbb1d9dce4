"""`make ladder-sim`: print the tables of docs/ladder.md."""

import argparse
import json
import sys

from himeji_server.ladder.queue_pairing import Policy

from tests.programs.ladder_sim.accuracy import MILESTONES, measure
from tests.programs.ladder_sim.rating_systems import SYSTEMS, VARIANTS

POLICIES = {
    "standard": Policy(),
    "nobody waits": Policy(least_worth=0.0),
    "no wide pairings": Policy(wide_share=0.0),
    "half of all pairings wide": Policy(wide_share=0.5),
    "all pairings wide": Policy(wide_share=1.0),
    "no anchors": Policy(anchor_share=0.0),
    "a fifth of all tables anchored": Policy(anchor_share=0.2),
    "half of all tables anchored": Policy(anchor_share=0.5),
}


def rows(report, names, kind):
    found = {}
    for name in names:
        values = [getattr(report, kind)(name, games) for games in MILESTONES]
        found[name] = values
    return found


def show(title, found):
    sys.stdout.write(f"\n{title}\n\n| | {' | '.join(map(str, MILESTONES))} |\n")
    sys.stdout.write(f"|---|{'---|' * len(MILESTONES)}\n")
    for name, values in found.items():
        cells = ["-" if value is None else f"{value:.2f}" for value in values]
        sys.stdout.write(f"| {name} | {' | '.join(cells)} |\n")
    sys.stdout.flush()


def compare_systems(runs):
    """Print the accuracy of all systems on the same games."""
    out = {}
    makers = SYSTEMS | VARIANTS
    for seats in (2, 3, 4):
        report = measure(makers, runs=runs, seats=seats)
        for kind, title in (("correlation", "rank correlation"), ("coverage", "within 2 sigma")):
            out[f"{title}, {seats} seats"] = found = rows(report, makers, kind)
            show(f"{title} after so many games per bot, {seats} seats", found)
    return out


def compare_policies(runs):
    """Print the effect of the parameters of matchmaking, with two seats."""
    only = {"Himeji": SYSTEMS["Himeji"]}
    correlations, mixing = {}, {}
    for name, policy in POLICIES.items():
        report = measure(only, runs=runs, seats=2, policy=policy)
        correlations[name] = rows(report, only, "correlation")["Himeji"]
        mixing[name] = report.mixing()
    show("rank correlation by the parameters of matchmaking, 2 seats", correlations)
    sys.stdout.write("\nslow bots meet fast ones, 1.00 = as often as by blind pairing\n\n")
    for name, value in mixing.items():
        sys.stdout.write(f"| {name} | {value:.2f} |\n")
    return {"correlation by policy": correlations, "mixing by policy": mixing}


def main():
    parser = argparse.ArgumentParser(prog="make ladder-sim ARGS=...", description=__doc__)
    parser.add_argument("--runs", type=int, default=40, help="simulated ladders to average over")
    parser.add_argument("--json", action="store_true", help="write the figures as JSON at the end")
    given = parser.parse_args()
    found = compare_systems(given.runs) | compare_policies(given.runs)
    if given.json:
        sys.stdout.write(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
