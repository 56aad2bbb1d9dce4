"""Monte Carlo tree search over what everybody knows: it looks as far ahead as its time allows.

Every iteration draws another future (`resample`) and walks down the tree by actions. Where the tree
ends it goes on with what looks best to the end of that turn, and adds all actions that it passes.
The tree is one for all futures: its nodes are sequences of actions, so nothing is planned on a card
that only one of the futures shows. Every seat is taken to play for itself. Positions are judged by
the estimate of their family; without one, by a random game to the end.
"""

import math
import random
import time
from typing import Final, NamedTuple

from himeji.rules import Game
from himeji_sdk import Bot

from himeji_bots.evaluation import estimate, has_estimate, lead

SCALE: Final = 12.0
"""A lead of so many points is a game three quarters won."""

CURIOSITY: Final = 0.05
"""How much a rarely tried action is preferred; the higher, the broader and the less deep."""

SHARE: Final = 40
"""With a clock, a decision takes at most one part in so many of the time that is left."""

GROWTH: Final = 12
"""So many actions are added in one iteration at most: a turn has about seven."""

PAUSE: Final = 50
"""After so many iterations it asks whether more of them could still change its mind."""


class Node:
    """What is known about a position: how often it was met, and what was won there by whom."""

    __slots__ = ("children", "total", "visits")

    def __init__(self, won: list[float]) -> None:
        self.visits = 1
        self.total = won.copy()
        self.children: dict[int, Node] = {}

    def learn(self, won: list[float]) -> None:
        """Count what every seat has won once more."""
        self.visits += 1
        for seat, part in enumerate(won):
            self.total[seat] += part

    def merit(self, seat: int) -> tuple[int, float]:
        """What speaks for coming here: how often it was tried, then what it brought."""
        return self.visits, self.total[seat] / self.visits


class Choice(NamedTuple):
    """A decision on the way down the tree."""

    node: Node
    legal: list[int]
    seat: int

    def best(self) -> Node:
        """The child that looks best to the seat."""
        children = [self.node.children[action] for action in self.legal]
        return max(children, key=lambda child: child.total[self.seat] / child.visits)


class MctsBot(Bot):
    """Searches for `seconds` per decision, or for so many `iterations`."""

    name = "mcts"

    def __init__(
        self, seconds: float = 1.0, iterations: int | None = None, seed: int | None = None
    ) -> None:
        if seconds <= 0 or (iterations is not None and iterations < 1):
            raise ValueError("seconds and iterations are more than zero")
        self._seconds = seconds
        self._iterations = iterations
        self._random = random.Random(seed)  # noqa: S311 - a game, no secret
        self._foreseen = b""
        self._tree: Node | None = None

    def choose(self, game: Game, legal: list[int]) -> int:
        """Search, and take what was tried most."""
        root = self._root(game)
        self._search(root, game)
        seat = game.to_move or 0
        best = max(legal, key=lambda action: root.children[action].merit(seat))
        self._foresee(game, best, root.children[best])
        return best

    # --- the tree is kept as long as the game follows it ----------------------------------------

    def _root(self, game: Game) -> Node:
        if self._tree is not None and self._foreseen == game.dumps():
            return self._tree
        return Node([0.0] * game.seats)

    def _foresee(self, game: Game, action: int, child: Node) -> None:
        after = game.clone()
        after.apply(action)
        self._foreseen, self._tree = after.dumps(), child

    # --- the search -----------------------------------------------------------------------------

    def _search(self, root: Node, game: Game) -> None:
        """Iterate until the budget is spent, or until the rest of it could change nothing."""
        began, done = time.monotonic(), 0
        while True:
            self._iterate(root, game.resample(self._random))
            done += 1
            left = self._iterations_left(done, time.monotonic() - began)
            if left <= 0 or (done % PAUSE == 0 and _decided(root, left)):
                return

    def _iterations_left(self, done: int, passed: float) -> float:
        if self._iterations is not None:
            return self._iterations - done
        seconds = self._seconds
        if self.time_left is not None:
            seconds = min(seconds, self.time_left / SHARE)
        return done * (seconds / passed - 1) if passed else math.inf

    def _iterate(self, root: Node, game: Game) -> None:
        """Walk down one future, and learn on the way back.

        A node learns what its best child is worth, not what was tried: who comes here will choose.
        """
        path: list[Choice] = []
        self._descend(root, path, game).learn(self._outlook(game))
        for choice in reversed(path):
            best = choice.best()
            choice.node.learn([part / best.visits for part in best.total])

    def _descend(self, node: Node, path: list[Choice], game: Game) -> Node:
        """Follow the tree to its end, then the best new actions to the end of that turn."""
        grower, grown = None, 0
        while (seat := game.to_move) is not None and grower in (None, seat) and grown < GROWTH:
            legal = game.legal()
            new = [action for action in legal if action not in node.children]
            if new:
                grower, grown = seat, grown + 1
                self._expand(node, game, new)
            path.append(Choice(node, legal, seat))
            action = _tried_next(node, legal, seat)
            game.apply(action)
            node = node.children[action]
        return node

    def _expand(self, node: Node, game: Game, new: list[int]) -> None:
        """Add actions, each with its outlook."""
        for action in new:
            after = game.clone()
            after.apply(action)
            node.children[action] = Node(self._outlook(after))

    def _outlook(self, game: Game) -> list[float]:
        """How much of the game each seat has won, 0 to 1."""
        points = estimate(game) if has_estimate(game) else game.playout(self._random)
        return [1 / (1 + math.exp(-lead(points, seat) / SCALE)) for seat in range(game.seats)]


def _tried_next(node: Node, legal: list[int], seat: int) -> int:
    """The action that looks best to the seat, or was tried too seldom to tell (UCB1)."""
    logarithm = math.log(node.visits)
    best, best_worth = legal[0], -1.0
    for action in legal:
        child = node.children[action]
        visits = child.visits
        worth = child.total[seat] / visits + CURIOSITY * math.sqrt(logarithm / visits)
        if worth > best_worth:
            best, best_worth = action, worth
    return best


def _decided(root: Node, left: float) -> bool:
    """Whether no other action can be tried as often as the first one any more."""
    visits = sorted(child.visits for child in root.children.values())
    return len(visits) < 2 or visits[-1] - visits[-2] > left
