"""Games to draw: random play stopped at many points, and the picture of the documentation."""

import random
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from himeji import rules
from himeji.rules import Game
from himeji.rules.castle.base import base_ruleset
from himeji.rules.castle.ruleset import CastleRuleset
from himeji.rules.datafile import packaged

from tests.rules.playing import Table

EAGER = (
    "entrance",
    "walk",
    "curtain",
    "climb",
    "audience",
    "garden",
    "train",
    "daimyo",
    "do ",
    "perform",
    "row",
    "pay",
)
IMAGES = Path(__file__).parents[2] / "docs" / "images"


@pytest.fixture
def walk() -> Callable[..., Iterator[Game]]:
    """The positions of a random game, one in `every` decisions, the first and the last included.

    Members leave their domains eagerly, so that boards fill up.
    """

    def positions(table: Table | int, seed: int, every: int = 9) -> Iterator[Game]:
        table = Table("base", table) if isinstance(table, int) else table
        game, rng, number = table.begin(seed), random.Random(seed), 0
        while not game.over:
            if number % every == 0:
                yield game
            legal, number = game.legal(), number + 1
            eager = [a for a in legal if rules.action_text(table.ruleset, a).startswith(EAGER)]
            game.apply(rng.choice(eager if eager and rng.random() < 0.8 else legal))
        yield game

    return positions


@pytest.fixture
def crowd() -> Game:
    """A four-seat game with as much on the board as it can hold, and more than play would bring."""
    game: Any = rules.new_game("base", seats=4, seed=3)
    while game.drafting:
        game.apply(game.legal()[0])
    for seat in range(4):
        game.courtiers[seat * 8 : seat * 8 + 8] = [0, 1, 0, 2, 0, 0, 0, 2]
        game.gardeners[seat] = 0b11111
        game.warriors[seat * 3 : seat * 3 + 3] = [2, 2, 1]
        game.lanterns[seat] = tuple(range(1, 11))
        game.domain_dice[seat * 4 : seat * 4 + 3] = [4, 5, 6]
    game.slots = [1, 2, 3]
    game.rooms[1] = 0
    game.spaces[0], game.spaces[5] = (5, 12), (21, 13)
    game.spaces[7] = tuple(8 * (n % 3) + n % 6 + 1 for n in range(12))
    return game


@pytest.fixture
def documented() -> dict[str, Any]:
    """The names of docs/images/make.py."""
    return runpy.run_path(str(IMAGES / "make.py"))


@pytest.fixture
def edition() -> Callable[..., CastleRuleset]:
    """The base game with another text in its data file."""

    def build(*changes: tuple[str, str]) -> CastleRuleset:
        text = packaged("base.toml")
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        return base_ruleset(lambda _: text)

    return build
