"""All seats of a table as a PettingZoo environment, in which one agent acts after the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, SupportsInt

import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.utils import seeding
from himeji import render, rules
from himeji.rules import Game
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from himeji_sdk.rl._rewards import find_reward
from himeji_sdk.rl._schema import schema
from himeji_sdk.rl._spaces import action_mask, action_space, observation_space


class TableEnv(AECEnv):  # type: ignore[misc]
    """A game of all seats, `seat_0`, `seat_1` and so on. The masks are in `infos`.

    An illegal action raises IllegalAction and changes nothing; in `table_env` it ends the game.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "himeji_v1",
        "render_modes": ["ansi"],
        "is_parallelizable": False,
    }

    def __init__(
        self,
        ruleset: str = "base",
        seats: int = 2,
        *,
        reward: str = "rank",
        options: Mapping[str, str] | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.render_mode = render_mode
        self.schema = schema(ruleset, seats, options)
        self.possible_agents = [f"seat_{seat}" for seat in range(seats)]
        self.agents: list[str] = []
        self.observation_spaces = {
            agent: observation_space(self.schema) for agent in self.possible_agents
        }
        self.action_spaces = {
            agent: action_space(rules.ruleset(ruleset)) for agent in self.possible_agents
        }
        self.game: Game | None = None
        """The game, None before the first reset. Whoever plays on it leaves the environment."""
        self._reward = find_reward(reward)
        self._random = seeding.np_random()[0]

    def observation_space(self, agent: str) -> Box:
        """The same for every agent."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """The same for every agent."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game."""
        if seed is not None:
            self._random = seeding.np_random(seed)[0]
        self.game = rules.new_game(
            self.schema.ruleset,
            self.schema.seats,
            seed=int(self._random.integers(1 << 62)),
            options=self.schema.options,
        )
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._ask(self.game)

    def observe(self, agent: str) -> NDArray[np.float32]:
        """The position as an agent sees it."""
        return self.schema.observe(self._running(), self.possible_agents.index(agent))

    def step(self, action: SupportsInt | None) -> None:
        """Play an action of the agent that is asked; None takes an agent out of an ended game."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(f"{agent} is asked, and None is no action")
        game = self._running()
        game.apply(int(action))
        self._cumulative_rewards[agent] = 0.0
        if game.over:
            for seat, each in enumerate(self.agents):
                self.rewards[each] = self._reward.of(game, seat)
                self.terminations[each] = True
        self._ask(game)
        self._accumulate_rewards()

    def render(self) -> str | None:
        """The position as text."""
        return render.text(self.game) if self.game and self.render_mode == "ansi" else None

    def close(self) -> None:
        """There is nothing to close."""

    def _ask(self, game: Game) -> None:
        """Choose the agent that is asked, and give everybody a mask."""
        if game.to_move is not None:
            self.agent_selection = self.possible_agents[game.to_move]
        self.infos = {
            agent: {"action_mask": action_mask(game, seat)}
            for seat, agent in enumerate(self.possible_agents)
        }

    def _running(self) -> Game:
        if self.game is None:
            raise RuntimeError("no game has begun: call reset")
        return self.game


def table_env(ruleset: str = "base", seats: int = 2, **settings: Any) -> Any:
    """A TableEnv with PettingZoo's usual guards: an illegal action loses and ends the game."""
    env: Any = TableEnv(ruleset, seats, **settings)
    illegal = find_reward(settings.get("reward", "rank")).illegal
    env = wrappers.TerminateIllegalWrapper(env, illegal_reward=illegal)
    env = wrappers.AssertOutOfBoundsWrapper(env)
    return wrappers.OrderEnforcingWrapper(env)
