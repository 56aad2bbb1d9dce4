"""The spaces that both environments share: observations, action ids and their mask."""

from __future__ import annotations

import numpy as np
from gymnasium.spaces import Box, Discrete
from himeji.rules import Game
from himeji.rules.ruleset import Ruleset
from numpy.typing import NDArray

from himeji_sdk.rl._schema import LIMIT, Schema

Mask = NDArray[np.int8]


def observation_space(schema: Schema) -> Box[np.float32]:
    """All observations of a schema."""
    return Box(-LIMIT, LIMIT, (len(schema),), np.float32)


def action_space(ruleset: Ruleset) -> Discrete:
    """All action ids of a ruleset, those that no action has among them."""
    return Discrete(1 + max(ruleset.actions.texts))


def action_mask(game: Game, seat: int | None = None) -> Mask:
    """1 for every action that is legal now; all 0 if another seat than this one is asked."""
    mask: Mask = np.zeros(1 + max(game.ruleset.actions.texts), np.int8)
    if seat is None or seat == game.to_move:
        mask[game.legal()] = 1
    return mask
