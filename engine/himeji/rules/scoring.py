"""Scoring: named lines with their rules, the lines that every family has, and the end of a game."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from himeji.rules.constants import COIN, GOODS, RESOURCES, SEAL, VP
from himeji.rules.game import OVER, SCORE


class ScoreLine:
    """A named part of the final score with the rule that gives it."""

    def __init__(self, name: str, rule: str, points: Callable[[Any, int], int]) -> None:
        self.name = name
        self.rule = rule
        self.points = points


def in_play(game: Any, seat: int) -> int:
    """Points gained during play."""
    points: int = game.goods[seat * GOODS + VP]
    return points


def coins_and_seals(game: Any, seat: int) -> int:
    """One point for every so many coins and seals together."""
    at = seat * GOODS
    held: int = game.goods[at + COIN] + game.goods[at + SEAL]
    per_point: int = game.tables.coins_per_point
    return held // per_point


def resources(game: Any, seat: int) -> int:
    """Each resource by how much of it is held."""
    at = seat * GOODS
    points: list[int] = game.tables.resource_points
    return sum([points[game.goods[at + good]] for good in RESOURCES])


def end_game(game: Any, rule: str) -> None:
    """The game is over: note every line of every clan, then the ranks."""
    game.over = True
    for number, line in enumerate(game.ruleset.scoring):
        for clan in range(game.clans):
            game.note(SCORE, clan, number, line.points(game, clan), line.rule)
    scores = game.scores()
    for clan, rank in enumerate(game.ranking()):
        game.note(OVER, clan, rank, scores[clan], rule)
