"""Himeji for reinforcement learning: environments, action masks and a vector for every position.

>>> from himeji_sdk import rl
>>> env = rl.SeatEnv(seats=2, reward="rank")
>>> observation, info = env.reset(seed=7)
>>> mask = info["action_mask"]
>>> observation, reward, terminated, truncated, info = env.step(mask.argmax())

`SeatEnv` is a Gymnasium environment of one seat, `table_env` a PettingZoo environment of all seats.
"""

try:
    import gymnasium

    from himeji_sdk.rl._rewards import REWARDS
    from himeji_sdk.rl._schema import Schema, schema
    from himeji_sdk.rl._seat_env import SeatEnv
    from himeji_sdk.rl._spaces import action_mask
    from himeji_sdk.rl._table_env import TableEnv, table_env
except ModuleNotFoundError as missing:
    if missing.name not in ("gymnasium", "numpy", "pettingzoo"):
        raise
    raise ImportError(
        f"himeji_sdk.rl needs {missing.name}, which the extra `rl` brings: pip install 'himeji[rl]'"
    ) from None

__all__ = ["REWARDS", "Schema", "SeatEnv", "TableEnv", "action_mask", "schema", "table_env"]

gymnasium.register("Himeji-v1", entry_point="himeji_sdk.rl:SeatEnv")
