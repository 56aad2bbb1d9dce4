"""Measures the engine, compiled or pure, and prints the figures as JSON.

`make bench` runs it once for each form, because a process imports only one; it prints null if this
process has another form than the one asked for. Times are processor time, which other work on the
machine disturbs little.
"""

import json
import random
import statistics
import sys
from time import process_time

import himeji
from himeji import rules

RULESETS = ("base", "duel")  # one of each family
REPEATS = 7
GAMES = 40  # per repeat
POSITIONS = 300  # per repeat, spread over random games


def figure(samples, unit):
    """The median of the repeats, with the lowest and the highest."""
    return {
        "median": statistics.median(samples),
        "low": min(samples),
        "high": max(samples),
        "unit": unit,
    }


def repeated(measure, unit):
    measure()  # the first run warms caches and is not counted
    return figure([measure() for _ in range(REPEATS)], unit)


def new_games(setup):
    return [rules.new_game(*setup, seed=seed) for seed in range(GAMES)]


def random_play(setup):
    """Random play called from Python: (decisions/s, games/s, decisions of a game)."""
    games, below = new_games(setup), random.Random(1).random
    decisions = 0
    start = process_time()
    for game in games:
        while not game.over:
            legal = game.legal()
            game.apply(legal[int(below() * len(legal))])
            decisions += 1
    spent = process_time() - start
    return decisions / spent, GAMES / spent, decisions / GAMES


def set_up(setup):
    """Microseconds to set up a game; each seed only once, so that nothing is cached."""
    set_up.seed += GAMES
    seeds = range(set_up.seed, set_up.seed + GAMES)
    start = process_time()
    for seed in seeds:
        rules.new_game(*setup, seed=seed)
    return (process_time() - start) / GAMES * 1e6


set_up.seed = 10_000


def playouts(setup):
    """Decisions/s inside `playout`, whose decisions are counted by playing the same games again."""
    games = new_games(setup)
    start = process_time()
    for number, game in enumerate(games):
        game.playout(random.Random(number))
    spent = process_time() - start
    return sum(playout_length(game, random.Random(n)) for n, game in enumerate(games)) / spent


def playout_length(game, rng):
    """How many decisions `game.playout(rng)` makes: the same generator, the same choices."""
    twin = game.clone()
    dice = rules.Fast(rng.getrandbits(96))
    twin.chance, decisions = dice, 0
    while not twin.over:
        legal = twin.legal()
        twin.apply(legal[dice.below(len(legal))])
        decisions += 1
    return decisions


def positions(setup):
    """Positions of random games, each with one legal action."""
    rng, found = random.Random(2), []
    while len(found) < POSITIONS:
        game = rules.new_game(*setup, seed=len(found))
        while not game.over and len(found) < POSITIONS:
            action = rng.choice(game.legal())
            if rng.random() < 0.2:
                found.append((game.clone(), action))
            game.apply(action)
    return found


def microseconds(calls):
    start = process_time()
    for call in calls:
        call()
    return (process_time() - start) / len(calls) * 1e6


def verbs(setup):
    """legal, apply, clone and dumps in µs each, over the same positions."""
    places = positions(setup)

    def applied():
        twins = [(game.clone(), action) for game, action in places]
        start = process_time()
        for twin, action in twins:
            twin.apply(action)
        return (process_time() - start) / len(twins) * 1e6

    return {
        "legal": repeated(lambda: microseconds([game.legal for game, _ in places]), "µs"),
        "apply": repeated(applied, "µs"),
        "clone": repeated(lambda: microseconds([game.clone for game, _ in places]), "µs"),
        "dumps": repeated(lambda: microseconds([game.dumps for game, _ in places]), "µs"),
        "state": figure([len(game.dumps()) for game, _ in places], "bytes"),
    }


def measure(setup):
    random_play(setup)
    plays = [random_play(setup) for _ in range(REPEATS)]
    return {
        "random play": figure([play[0] for play in plays], "decisions/s"),
        "random games": figure([play[1] for play in plays], "games/s"),
        "game length": figure([play[2] for play in plays], "decisions"),
        "playout": repeated(lambda: playouts(setup), "decisions/s"),
        "set-up": repeated(lambda: set_up(setup), "µs"),
        **verbs(setup),
    }


def main():
    if sys.argv[1] != himeji.ENGINE_FORM:
        sys.stdout.write("null")
        return
    setups = [(name, seats) for name in RULESETS for seats in rules.ruleset(name).seat_counts]
    figures = {f"{name}, {seats} seats": measure((name, seats)) for name, seats in setups}
    sys.stdout.write(json.dumps(figures))


if __name__ == "__main__":
    main()
