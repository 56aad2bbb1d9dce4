"""The games that both worlds play: actions up to the cut, and the results of chance up to it."""

import random
from typing import NamedTuple

from himeji import rules
from himeji.rules.chance import Recorded, seeded

ENTROPY = b"the entropy of a seat"


class Deal(NamedTuple):
    """One game, up to its cut."""

    ruleset: str
    seats: int
    actions: tuple[int, ...]
    asked: tuple[int, ...]
    """The seat that is asked before each action, and after the last one."""

    results: tuple[int, ...]


def deal(ruleset, seats, cut, seed):
    """A random game of `cut` decisions; ends one decision early rather than with the game."""
    chooser, chance = random.Random(seed), Recorded(seeded(seed))
    game = rules.new_game(ruleset, seats, chance=chance)
    actions, asked = [], [game.to_move]
    for _ in range(cut):
        action = chooser.choice(game.legal())
        trial = game.clone()
        trial.apply(action)
        if trial.over:
            break
        game.apply(action)
        actions.append(action)
        asked.append(game.to_move)
    results = tuple(result for _, result in chance.results)
    return Deal(ruleset, seats, tuple(actions), tuple(asked), results)


def with_last_result_open(ruleset, seats, seed):
    """A game that is cut where chance was just asked, without the result: that differs."""
    for cut in range(1, 80):
        before, after = (deal(ruleset, seats, each, seed) for each in (cut - 1, cut))
        if len(after.results) > len(before.results):
            return after._replace(results=before.results)
    raise ValueError(f"{ruleset} asks nothing of chance")


def deals(count, seed):
    """So many games of all rulesets, with cuts all over their length."""
    tables = [(each.name, max(each.seat_counts)) for each in rules.RULESETS.values()]
    chooser = random.Random(seed)
    return [deal(*tables[n % len(tables)], chooser.randrange(80), seed + n) for n in range(count)]
