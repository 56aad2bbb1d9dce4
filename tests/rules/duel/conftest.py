"""Hand-made positions of Duel: a game at its first turn as JSON to edit, and play by texts."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from himeji import rules
from himeji.rules import Game

Position = dict[str, Any]
GOODS = ("food", "iron", "pearl", "coin", "seal", "vp", "swap")


@pytest.fixture
def first_turn() -> Callable[..., Position]:
    """The first turn of a game with the first-game layout: seat 0 begins, nobody holds anything.

    Seat 0 has the start card of the black coin, seat 1 that of the white seal. The decks show
    flag-03, weapon-01 and origami-04, as keyword arguments may change.
    """

    def build(*tops: str, **goods: int) -> Position:
        game = rules.new_game("duel", 2, seed=1, options={"layout": "first-game"})
        while game.drafting:
            game.apply(game.legal()[0])
        position: Position = json.loads(game.to_json())
        for seat, card in enumerate(("start-black-coin", "start-white-seal")):
            clan = position["clans"][seat]
            clan |= dict.fromkeys(GOODS, 0) | {"zones": {"coral": [], "black": [], "white": []}}
            clan["zones"][card.split("-")[1]] = [card]
        position["starter"] = 0
        position["pending"] = [{"step": "move-token", "seat": 0, "swap": True}]
        names = tops or ("flag-03", "weapon-01", "origami-04")
        for deck, card in zip(position["decks"], names, strict=False):
            show(position, deck, card)
        display(position, "lantern-coral-iron", "lantern-white-food", "lantern-black-points")
        position["clans"][0] |= goods
        return position

    return build


def show(position: Position, deck: str, card: str) -> None:
    """Make a card the top of a deck; the one that lay there takes its place."""
    top, unseen = position["decks"][deck]["top"], position["unseen_cards"]
    if card in unseen:
        unseen[unseen.index(card)] = top
    for other in position["decks"].values():
        if other["top"] == card:
            other["top"] = top
    position["decks"][deck]["top"] = card


def display(position: Position, *cards: str) -> None:
    """Lay these lantern cards out; the others are in the deck."""
    everything = [*position["lantern_deck"], *filter(None, position["lantern_cards"])]
    position["lantern_cards"] = [*cards, *[None] * (3 - len(cards))]
    position["lantern_deck"] = sorted(set(everything) - set(cards))


def give(position: Position, seat: int, *cards: str, improved: bool = False) -> None:
    """Give influence cards from below the tops of the decks to a seat."""
    for card in cards:
        position["unseen_cards"].remove(card)
        deck = max(position["decks"].values(), key=lambda each: each["below"])
        deck["below"] -= 1
        position["clans"][seat]["improved" if improved else "cards"].append(card)


def exhaust(position: Position, *decks: str) -> None:
    """Empty decks: all their cards were bought by seat 1."""
    for name in decks:
        deck, unseen = position["decks"][name], position["unseen_cards"]
        position["clans"][1]["cards"] += [deck["top"], *unseen[: deck["below"]]]
        position["unseen_cards"] = unseen[deck["below"] :]
        deck |= {"top": None, "below": 0}


def pending(position: Position, *steps: Position) -> Position:
    """The same position in the middle of seat 0's first turn, with these steps to be done."""
    position["pending"] = list(steps)
    position["clans"][0]["tokens"]["coral"] = 1
    position["locations"]["L2"]["tokens"] = ["coral"]
    return position


def load(position: Position, seed: int = 1) -> Game:
    """The game of a position."""
    return rules.from_json(position, seed=seed)


def do(game: Game, *texts: str) -> Game:
    """Play actions by their texts."""
    for text in texts:
        game.apply(rules.action_id("duel", text))
    return game


def offers(game: Game) -> list[str]:
    """The texts of the legal actions, but for exchanges."""
    texts = [rules.action_text("duel", action) for action in game.legal()]
    return [text for text in texts if not text.startswith("exchange")]


def clan(game: Game, seat: int = 0) -> Position:
    """What a seat has."""
    held: Position = json.loads(game.to_json())["clans"][seat]
    return held


def goods(game: Game, seat: int = 0) -> dict[str, int]:
    """What a seat holds of everything it holds some of."""
    held = clan(game, seat)
    return {good: held[good] for good in GOODS if held[good]}


def told(game: Game, since: int = 0) -> list[str]:
    """The events in words."""
    return [game.ruleset.tell(record, 2) for record in (game.log or [])[since:]]
