"""Hand-made positions: a game at its first turn as JSON to edit, and play by texts."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from himeji import rules
from himeji.rules import Game

from tests.rules.castle.tea_table import show

Position = dict[str, Any]
GOODS = ("food", "iron", "pearl", "chasen", "coin", "seal", "vp")


@pytest.fixture
def first_turn() -> Callable[..., Position]:
    """A position at the first turn of round 1, the draft behind it, every clan with no goods.

    The turn order is 0, 1, ...; the starting cards are those of the draft with the first choices.
    """

    def build(seats: int = 2, seed: int = 1, ruleset: str = "base", **options: str) -> Position:
        game = rules.new_game(ruleset, seats, seed=seed, options=options)
        while "take" not in rules.action_text(ruleset, game.legal()[-1]):
            game.apply(next(a for a in game.legal() if a > 4))  # 0 to 4 are exchanges
        position: Position = json.loads(game.to_json())
        for clan in position["clans"]:
            clan |= {good: 0 for good in GOODS if good in clan}
        clans = range(len(position["clans"]))
        position["turn_order"] = list(clans)
        position["markers"] = list(reversed(clans))
        position["pending"] = [{"step": "take-die", "seat": 0}]
        return position

    return build


@pytest.fixture
def load() -> Callable[..., Game]:
    """The game of a position; its future comes from a fixed seed."""

    def build(position: Position, seed: int = 1) -> Game:
        return rules.from_json(position, seed=seed)

    return build


@pytest.fixture
def do() -> Callable[..., None]:
    """Apply actions by their texts."""

    def apply(game: Game, *texts: str) -> None:
        for text in texts:
            game.apply(rules.action_id(game.ruleset.name, text))

    return apply


@pytest.fixture
def offers() -> Callable[[Game], set[str]]:
    """The texts of the legal actions."""

    def texts(game: Game) -> set[str]:
        return {rules.action_text(game.ruleset.name, action) for action in game.legal()}

    return texts


@pytest.fixture
def clan() -> Callable[[Game, int], Position]:
    """What a clan of the game holds now, as in the position's JSON."""

    def held(game: Game, seat: int) -> Position:
        position: Position = json.loads(game.to_json())
        found: Position = position["clans"][seat]
        return found

    return held


@pytest.fixture
def tea(first_turn: Callable[..., Position]) -> Callable[..., Position]:
    """A Matcha position at the first turn: plain outskirts cards, every clan with no goods."""

    def build(seats: int = 2, **clan: int) -> Position:
        position = first_turn(seats, 1, "matcha")
        show(position, flower="flower-1", calligraphy="calligraphy-3")
        position["clans"][0] |= clan
        return position

    return build


@pytest.fixture
def acting(tea: Callable[..., Position], load: Callable[..., Game]) -> Callable[..., Game]:
    """A game in the middle of seat 0's first turn, with these steps pending, the last one next."""

    def build(
        *steps: Position,
        change: Callable[[Position], None] | None = None,
        seats: int = 2,
        **clan: int,
    ) -> Game:
        position = tea(seats, **clan)
        bridge = position["bridges"]["coral"]
        position["spaces"]["well"] = [f"coral {bridge['left']}"]
        bridge["left"] = bridge["centre"].pop(0)
        position["pending"] = list(steps)
        if change:
            change(position)
        return load(position)

    return build
