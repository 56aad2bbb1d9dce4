"""One seat of a table as a Gymnasium environment; bots play the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, SupportsInt

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from himeji import render, rules
from himeji.rules import Game
from himeji.rules.errors import IllegalAction, InvalidRequest, UnknownAction
from numpy.typing import NDArray

from himeji_sdk._bot import AnyBot
from himeji_sdk.rl._opponents import Opponents
from himeji_sdk.rl._rewards import find_reward
from himeji_sdk.rl._schema import schema
from himeji_sdk.rl._spaces import action_mask, action_space, observation_space

Observation = NDArray[np.float32]
Step = tuple[Observation, float, bool, bool, dict[str, Any]]


class SeatEnv(gymnasium.Env[Observation, SupportsInt]):
    """A game from one seat. Each observation comes with `info["action_mask"]`.

    The opponents are bots of any kind, in the order of the seats after this one; without any, all
    play at random, by the seed of the environment. The seat is the one given, or another one in
    each game. An illegal action ends the game with the reward's `illegal`, and `info["illegal"]`
    says why.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - as the base class has it

    def __init__(  # noqa: PLR0913 - settings, all but two by name
        self,
        ruleset: str = "base",
        seats: int = 2,
        *,
        opponents: Sequence[AnyBot] | None = None,
        seat: int | None = None,
        reward: str = "rank",
        options: Mapping[str, str] | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.render_mode = render_mode
        self.schema = schema(ruleset, seats, options)
        self.observation_space = observation_space(self.schema)
        self.action_space = action_space(rules.ruleset(ruleset))
        self.game: Game | None = None
        """The game, None before the first reset. Whoever plays on it leaves the environment."""
        if seat is not None and not 0 <= seat < seats:
            raise InvalidRequest(
                f"seats are counted from 0 to {seats - 1}, there is no seat {seat}"
            )
        self.seat = seat or 0
        """The seat of the present game."""
        self._seats = range(seats) if seat is None else (seat,)
        self._reward = find_reward(reward)
        self._opponents = Opponents(opponents, seats - 1)
        self._open = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a game; the first observation is that of the seat's first decision."""
        super().reset(seed=seed)
        deal, others = self.np_random.integers(1 << 62, size=2).tolist()
        self.seat = int(self.np_random.choice(self._seats))
        self.game = rules.new_game(
            self.schema.ruleset, self.schema.seats, seed=deal, options=self.schema.options
        )
        self._open = True
        self._opponents.sit(self.game, self.seat, others)
        self._opponents.play_on(self.game)
        return self._observation(self.game), self._info(self.game)

    def step(self, action: SupportsInt) -> Step:
        """Play an action, and what the others answer, until the seat is asked again."""
        game = self._game()
        if not self._open:
            raise ResetNeeded("the game is over: call reset")
        try:
            game.apply(int(action))
        except (IllegalAction, UnknownAction) as refusal:
            self._open = False
            info = self._info(game) | {"illegal": refusal.message}
            return self._observation(game), self._reward.illegal, True, False, info
        self._opponents.play_on(game)
        self._open = not game.over
        reward = self._reward.of(game, self.seat) if game.over else 0.0
        return self._observation(game), reward, game.over, False, self._info(game)

    def action_masks(self) -> NDArray[np.bool_]:
        """The mask of the present decision, under the name by which maskable learners ask."""
        return action_mask(self._game(), self.seat).astype(np.bool_)

    def render(self) -> str | None:
        """The position as text."""
        return render.text(self._game()) if self.render_mode == "ansi" else None

    def _game(self) -> Game:
        if self.game is None:
            raise ResetNeeded("no game has begun: call reset")
        return self.game

    def _observation(self, game: Game) -> Observation:
        return self.schema.observe(game, self.seat)

    def _info(self, game: Game) -> dict[str, Any]:
        info: dict[str, Any] = {"seat": self.seat, "action_mask": action_mask(game, self.seat)}
        if game.over:
            info |= {"scores": game.scores(), "ranking": game.ranking()}
        return info
