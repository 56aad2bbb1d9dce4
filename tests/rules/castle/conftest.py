"""Hand-made positions: a game at its first turn as JSON to edit, and play by texts."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from himeji import rules
from himeji.rules import Game

from tests.rules.castle.matcha_positions import show

Position = dict[str, Any]
GOODS = ("food", "iron", "pearl", "chasen", "coin", "seal", "vp")
FULL: dict[str, tuple[int | None, list[int], int | None]] = {
    "coral": (2, [3], 5),
    "black": (1, [3], 6),
    "white": (2, [4], 6),
    "green": (2, [3], 6),
}


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


@pytest.fixture
def solitaire(first_turn: Callable[..., Position]) -> Callable[..., Position]:
    """A position at the player's first turn against the rival, the deck in a known order."""

    def build(cards: Sequence[str] = ("solitaire-9",), ruleset: str = "solo") -> Position:
        position = first_turn(1, 1, ruleset, difficulty="easy")
        deck = sorted([position["solitaire"]["top"], *position["decks"]["solitaire"]])
        rest = [card for card in deck if card not in cards]
        position["decks"]["solitaire"] = []
        position["solitaire"] = {"top": cards[0], "under": [*cards[1:], *rest]}
        return position

    return build


@pytest.fixture
def rivals_turn(
    solitaire: Callable[..., Position], load: Callable[..., Game]
) -> Callable[..., Game]:
    """The game after a turn of the rival, or where it waits for a choice of the player.

    Dice that are not on a bridge lie where `placed` says, the others in the Well.
    """

    def build(
        cards: Sequence[str],
        bridges: dict[str, tuple[int | None, list[int], int | None]] | None = None,
        placed: dict[str, str] | None = None,
        change: Callable[[Position], None] | None = None,
        ruleset: str = "solo",
    ) -> Game:
        position, missing = solitaire(cards, ruleset), []
        for colour in position["bridges"]:
            left, centre, right = (FULL | (bridges or {}))[colour]
            position["bridges"][colour] = {"left": left, "centre": centre, "right": right}
            missing += [colour] * (3 - len(centre) - bool(left) - bool(right))
        position["turn"] = len(missing)
        for space, die in (placed or {}).items():
            position["spaces"][space] = [die]
            missing.remove(die.split()[0])
        position["spaces"]["well"] = [f"{colour} 1" for colour in missing]
        position["turn_order"] = [1, 0] if position["turn"] % 2 == 0 else [0, 1]
        position["pending"] = []
        if change:
            change(position)
        return load(position)

    return build
