"""Play for tests: every table of every ruleset, and three ways to choose among legal actions."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import pytest
from himeji import rules
from himeji.rules import Chance, Game
from hypothesis import strategies as st

Policy = Callable[[list[int]], int]


class Table(NamedTuple):
    """A ruleset and a number of seats that it is played with; the seed chooses the options."""

    ruleset: str
    seats: int

    def begin(self, seed: int | None = None, chance: Chance | None = None) -> Game:
        options = self.options(seed or 0)
        return rules.new_game(self.ruleset, self.seats, seed=seed, chance=chance, options=options)

    def options(self, seed: int) -> dict[str, str]:
        """Three seeds, one for each policy, with the standard options, three with the next."""
        choices = rules.ruleset(self.ruleset).choices
        values = list(product(*choices.values()))
        return dict(zip(choices, values[seed // len(POLICIES) % len(values)], strict=True))

    def __str__(self) -> str:
        return f"{self.ruleset}-{self.seats}"


TABLES = [
    Table(rules.name, seats) for rules in rules.RULESETS.values() for seats in rules.seat_counts
]
every_table = pytest.mark.parametrize("table", TABLES, ids=str)
every_castle_table = pytest.mark.parametrize(
    "table", [table for table in TABLES if rules.ruleset(table.ruleset).family == "castle"], ids=str
)
seeds = st.integers(0, 2**32 - 1)


def uniform(seed: int) -> Policy:
    """Any legal action, equally likely."""
    rng = random.Random(seed)
    return lambda legal: legal[rng.randrange(len(legal))]


def curious(seed: int) -> Policy:
    """What was done least often in this game: it sees corners that uniform play seldom meets."""
    rng, done = random.Random(seed), Counter[int]()

    def choose(legal: list[int]) -> int:
        action = min(legal, key=lambda answer: (done[answer], rng.random()))
        done[action] += 1
        return action

    return choose


def eager(seed: int) -> Policy:
    """Rather a higher id than a lower one: play that seldom declines and saves what it has."""
    rng = random.Random(seed)
    return lambda legal: legal[max(rng.randrange(len(legal)) for _ in range(4))]


POLICIES = (uniform, curious, eager)


def policy(seed: int) -> Policy:
    """All ways in turn."""
    return POLICIES[seed % len(POLICIES)](seed)


def play(game: Game, choose: Policy) -> Iterator[int]:
    """Play to the end; gives each action before it is applied, while the game still waits."""
    while not game.over:
        action = choose(game.legal())
        yield action
        game.apply(action)


def finish(game: Game, choose: Policy) -> list[int]:
    """Play to the end; the actions."""
    return list(play(game, choose))


@st.composite
def positions(draw: st.DrawFn, table: Table, most: int = 0) -> Game:
    """A game somewhere on its way, now and then at its end."""
    seed, steps = draw(seeds), draw(st.integers(0, most or 40 * table.seats))
    game = table.begin(seed)
    for number, _ in enumerate(play(game, policy(seed))):
        if number == steps:
            break
    return game
