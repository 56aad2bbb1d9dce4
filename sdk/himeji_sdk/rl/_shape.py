"""What positions of a ruleset can look like, found out by looking at many of them.

A position is what `Ruleset.describe` tells: tables, lists, numbers and words. The shape keeps, for
each place in it, which words and how large numbers were seen there. Nothing in this module knows a
ruleset, so that a new one has observations as soon as it is registered.
"""

from __future__ import annotations

import collections
import itertools
import random
from collections.abc import Collection, Mapping
from typing import Any, Final

from himeji.rules import Game, new_game
from himeji.rules.ruleset import Ruleset

GAMES: Final = 60
"""Games whose positions are looked at; their seeds are 0, 1, 2, …"""

IDENTITY: Final = ("ruleset", "revision", "seats", "options")
"""Keys that are the same in every position of a game; a schema is made for one value of them."""


def sight(game: Game) -> dict[str, Any]:
    """A position as it is looked at: the step that is asked apart from those that wait."""
    position = game.ruleset.describe(game)
    for key in IDENTITY:
        position.pop(key, None)
    pending = position.pop("pending", [])
    position["asked"] = pending[-1] if pending else None
    position["waiting"] = [step["step"] for step in pending[:-1]]
    return position


class Shape:
    """What was seen at one place of many positions."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        self.numbers: set[int] = set()
        self.table: dict[str, Shape] = {}
        self.entry: Shape | None = None
        """Of a list: what was seen in any of its entries."""
        self.lengths: set[int] = set()
        self.gaps = False
        """Of a list: whether an entry was ever empty, so that its place tells something."""
        self.copies = 1
        """Of a list of words: how often the same one was in it."""
        self.ordered = False
        """Of a list of words: whether two of them were ever seen in both orders."""
        self._neighbours: set[tuple[str, str]] = set()

    def see(self, value: Any) -> None:
        """Take in what stands there in one more position; None is nothing."""
        if isinstance(value, str):
            self.words.add(value)
        elif isinstance(value, int):
            self.numbers.add(int(value))
        elif isinstance(value, dict):
            for key, each in value.items():
                self.table.setdefault(key, Shape()).see(each)
        elif isinstance(value, list):
            self.lengths.add(len(value))
            self.gaps = self.gaps or None in value
            self.entry = self.entry or Shape()
            for each in value:
                self.entry.see(each)
            self._see_words([each for each in value if isinstance(each, str)])

    def _see_words(self, words: list[str]) -> None:
        known = set(words)
        self.words |= known
        if len(known) < len(words):
            self.copies = max(self.copies, *[words.count(each) for each in known])
        for pair in itertools.pairwise(words):
            self._neighbours.add(pair)
            self.ordered = self.ordered or (pair[0] != pair[1] and pair[::-1] in self._neighbours)

    def complete(self, kinds: Collection[frozenset[str]]) -> None:
        """Add what chance alone kept from being seen.

        A component stands for all of its kind, a step for all steps, a rule for all rules. Two
        entries of a table that had a word in common (spaces of the board, with their dice) may
        hold all words of each other.
        """
        inner = list(self.table.values())
        for each in inner if self.entry is None else [*inner, self.entry]:
            each.complete(kinds)
        for kind in kinds:
            if not kind.isdisjoint(self.words):
                self.words |= kind
        for one, other in itertools.combinations([each for each in inner if each.words], 2):
            if not one.words.isdisjoint(other.words):
                one.words = other.words = one.words | other.words


def shape_of(ruleset: Ruleset, seats: int, options: Mapping[str, str]) -> Shape:
    """The shape of the positions of a ruleset; the same at every call, on every machine."""
    shape = Shape()
    tried: collections.Counter[int] = collections.Counter()
    for seed in range(GAMES):
        game = new_game(ruleset.name, seats, seed=seed, options=options)
        dice = random.Random(seed)  # noqa: S311 - a game, no secret
        shape.see(sight(game))
        while not game.over:
            # Whatever was tried least leads to what was not seen yet.
            action = min(game.legal(), key=lambda each: (tried[each], dice.random()))
            tried[action] += 1
            game.apply(action)
            shape.see(sight(game))
    shape.complete(_kinds(ruleset))
    return shape


def _kinds(ruleset: Ruleset) -> list[frozenset[str]]:
    """Words of which one can stand wherever another one does."""
    components: dict[str, set[str]] = collections.defaultdict(set)
    for component in ruleset.describe_components():
        components[component.kind].add(component.id)
    steps = [step.name for step in ruleset.describe_steps()]
    rule_ids = [rule.id for rule in ruleset.describe_rules()]
    return [frozenset(words) for words in (*components.values(), steps, rule_ids)]
