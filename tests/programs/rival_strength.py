"""Plays the same deals against the rival at every difficulty and compares the difficulties.

python -m tests.programs.rival_strength planner:width=4 600 --seed 4202

The deals are those of `himeji match` with the same seed. A folder of other components, named by
HIMEJI_COMPONENTS, shows what another deck would be like (docs/operations.md).
"""

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise
from statistics import mean, stdev
from typing import NamedTuple

from himeji import components
from himeji.rules.constants import INFLUENCE
from himeji_sdk import play
from himeji_sdk._bot_loader import find_bot
from himeji_sdk.match import Match

LEVELS = ("easy", "medium", "hard")
RIVAL = 1


class Result(NamedTuple):
    """One game against the rival."""

    points: int
    rivals_points: int
    rivals_points_in_play: int
    rivals_marker: int  # its position on the Passage of Time at the end
    lost: int  # 100 if the bot lost, so that means are percentages


def play_deal(bot, ruleset, seed, number):
    """One deal at every difficulty."""
    match = Match((bot,), ruleset, seats=1, seed=seed)
    results = []
    for level in LEVELS:
        player = find_bot(bot).bot(seed=match.bot_seed(number, 0, 0))
        options = {"difficulty": level}
        game = play([player], ruleset=ruleset, seed=match.deal(number), options=options).game
        lost = 100 * (game.ranking()[0] > 1)
        in_play = game.breakdown()[RIVAL]["play"]
        results.append(Result(*game.scores(), in_play, game.has(RIVAL, INFLUENCE), lost))
    return results


def lead_of(result):
    return result.rivals_points - result.points


def with_interval(values):
    """The mean of values and its 95 % interval."""
    return f"{mean(values):.1f} ± {1.96 * stdev(values) / len(values) ** 0.5:.1f}"


def show_levels(levels):
    sys.stdout.write("| difficulty | points | rival's points | in play | marker | lost |\n")
    sys.stdout.write("|---|---|---|---|---|---|\n")
    for level, results in levels.items():
        *means, _ = [f"{mean(values):.1f}" for values in zip(*results, strict=True)]
        lost = with_interval([each.lost for each in results])
        sys.stdout.write(f"| {level} | {' | '.join(means)} | {lost} % |\n")


def show_steps(levels):
    """What a step of difficulty gives the rival, deal by deal."""
    sys.stdout.write("\n| step | rival's points | its lead | lost |\n|---|---|---|---|\n")
    for (low, easier), (high, harder) in pairwise(levels.items()):
        deals = list(zip(easier, harder, strict=True))
        points = with_interval([b.rivals_points - a.rivals_points for a, b in deals])
        lead = with_interval([lead_of(b) - lead_of(a) for a, b in deals])
        lost = with_interval([b.lost - a.lost for a, b in deals])
        sys.stdout.write(f"| {low} to {high} | {points} | {lead} | {lost} % |\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("bot", help="who plays, as `himeji match` names it")
    parser.add_argument("deals", type=int, help="how many deals; each is played three times")
    parser.add_argument("--ruleset", default="solo", help="solo (default) or matcha-solo")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the deals")
    parser.add_argument("--cores", type=int, default=os.cpu_count(), help="processes that play")
    given = parser.parse_args()
    task = partial(play_deal, given.bot, given.ruleset, given.seed)
    with ProcessPoolExecutor(given.cores, initializer=components.use_environment) as pool:
        deals = list(pool.map(task, range(given.deals), chunksize=5))
    levels = dict(zip(LEVELS, zip(*deals, strict=True), strict=True))
    show_levels(levels)
    show_steps(levels)


if __name__ == "__main__":
    main()
