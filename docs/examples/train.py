"""Learn to play in a minute: a linear policy does more of what went well. `train.py [GAMES]`."""

import sys

import numpy as np
from himeji_bots.random import RandomBot
from himeji_sdk import Bot, play, rl

GAMES, BATCH, RATE = int(sys.argv[1]) if len(sys.argv) > 1 else 3000, 10, 0.05
env, rng = rl.SeatEnv("base", seats=2, reward="rank"), np.random.default_rng(1)
weights, usual = np.zeros((env.action_space.n, len(env.schema))), 0.0


def policy(observation, legal):
    """How likely each of the legal actions is to be taken."""
    likely = np.exp(weights[legal] @ observation)
    return likely / likely.sum()


class Learned(Bot):
    """Takes what the policy likes best; `himeji_sdk.run` would play it online."""

    def choose(self, game, legal):
        return legal[policy(env.schema.observe(game, game.to_move), legal).argmax()]


for batch in range(GAMES // BATCH):
    change = np.zeros_like(weights)
    for number in range(BATCH):
        (observation, info), steps, over = env.reset(seed=batch * BATCH + number), [], False
        while not over:
            legal = info["action_mask"].nonzero()[0]
            likely = policy(observation, legal)
            taken = rng.choice(len(legal), p=likely)
            steps.append((legal, np.outer(np.eye(len(legal))[taken] - likely, observation)))
            observation, reward, over, _, info = env.step(legal[taken])
        for legal, towards in steps:
            change[legal] += (reward - usual) * towards
        usual += 0.02 * (reward - usual)
    weights += RATE / BATCH * change

wins = [play([Learned(), RandomBot(seed)], seed=seed).ranking[0] == 1 for seed in range(100)]
wins += [play([RandomBot(seed), Learned()], seed=seed).ranking[1] == 1 for seed in range(100)]
print(f"after {GAMES} games it won {sum(wins)} of {len(wins)} against the random bot")
