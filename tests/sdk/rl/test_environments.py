"""The environments: PettingZoo's and Gymnasium's own checks, masks, rewards, opponents."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from himeji import rules
from himeji.rules.errors import IllegalAction, InvalidRequest
from himeji_sdk import BotFault, rl
from pettingzoo.test import api_test, seed_test

TABLES = [(name, seats) for name, each in rules.RULESETS.items() for seats in each.seat_counts]


def first(_, legal):
    return legal[0]


def finish(env, seed, choose=lambda mask, rng: rng.choice(mask.nonzero()[0])):
    """Play an episode of a seat to its end; the last step and how many there were."""
    rng = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    steps, over = 0, False
    while not over:
        _, reward, over, truncated, info = env.step(choose(info["action_mask"], rng))
        steps += 1
        assert not truncated
        assert over or reward == 0
    return reward, info, steps


@pytest.mark.long
@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_pettingzoo_finds_no_fault_in_the_table(name, seats):
    api_test(rl.table_env(name, seats), num_cycles=400)


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_the_same_seed_gives_the_same_table(name, seats):
    seed_test(lambda: rl.table_env(name, seats), num_cycles=200)


@pytest.mark.parametrize(("name", "seats"), TABLES)
@pytest.mark.parametrize("opponent", [None, first], ids=["random", "bot"])
def test_gymnasium_finds_no_fault_in_a_seat(name, seats, opponent):
    opponents = None if opponent is None else [opponent] * (seats - 1)
    env = gymnasium.make(
        "Himeji-v1", ruleset=name, seats=seats, opponents=opponents, render_mode="ansi"
    )
    check_env(env.unwrapped)


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_the_mask_is_what_is_legal_until_the_game_is_over(name, seats):
    env = rl.SeatEnv(name, seats)
    _, info = env.reset(seed=3)
    over = False
    while not over:
        assert list(info["action_mask"].nonzero()[0]) == env.game.legal()
        assert env.game.to_move == env.seat == info["seat"]
        assert (env.action_masks() == info["action_mask"]).all()
        _, _, over, _, info = env.step(env.game.legal()[-1])
    assert not info["action_mask"].any()
    assert info["scores"] == env.game.scores()


def test_only_the_seat_that_is_asked_has_a_mask():
    env = rl.TableEnv(seats=3)
    env.reset(seed=1)
    for _ in range(40):
        asked = env.agent_selection
        legal = env.game.legal()
        assert list(env.infos[asked]["action_mask"].nonzero()[0]) == legal
        assert not any(
            info["action_mask"].any() for agent, info in env.infos.items() if agent != asked
        )
        env.step(legal[0])


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_ranks_are_rewarded_evenly_from_1_to_minus_1(seats):
    env = rl.TableEnv(seats=seats, reward="rank")
    env.reset(seed=seats)
    while not all(env.terminations.values()):
        env.step(env.game.legal()[0])
    ranks = env.game.ranking()
    steps = {rank: 1 - 2 * (rank - 1) / (seats - 1) for rank in range(1, seats + 1)}
    assert [env.rewards[f"seat_{seat}"] for seat in range(seats)] == pytest.approx(
        [steps[rank] for rank in ranks]
    )


def test_a_shared_rank_is_worth_the_mean_of_both():
    class Shared:
        def ranking(self):
            return [1, 1, 3]

    assert [rl.REWARDS["rank"].of(Shared(), seat) for seat in range(3)] == [0.5, 0.5, -1]


def test_the_margin_is_that_to_the_best_of_the_others():
    class Over:
        def scores(self):
            return [12, 30, 17]

    assert [rl.REWARDS["margin"].of(Over(), seat) for seat in range(3)] == [-18, 13, -13]


def test_a_seat_is_rewarded_at_the_end_for_its_own_result():
    env = rl.SeatEnv(seats=3, seat=2, reward="margin", opponents=[first, first])
    reward, info, steps = finish(env, 5)
    assert steps > 10
    scores = info["scores"]
    assert reward == scores[2] - max(scores[0], scores[1])


def test_an_illegal_action_ends_a_seat_s_game_with_the_reason():
    env = rl.SeatEnv()
    _, info = env.reset(seed=1)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, over, truncated, info = env.step(illegal)
    assert (reward, over, truncated) == (-1.0, True, False)
    assert "legal are" in info["illegal"]
    with pytest.raises(ResetNeeded, match="call reset"):
        env.step(illegal)


def test_an_illegal_action_ends_a_table_s_game_unless_the_guards_are_off():
    env = rl.table_env(reward="margin")
    env.reset(seed=1)
    agent = env.agent_selection
    illegal = int(np.flatnonzero(env.infos[agent]["action_mask"] == 0)[0])
    env.step(illegal)
    assert all(env.terminations.values())
    assert env.rewards[agent] == -100
    bare = rl.TableEnv()
    bare.reset(seed=1)
    before = bare.game.dumps()
    with pytest.raises(IllegalAction):
        bare.step(illegal)
    assert bare.game.dumps() == before


def test_opponents_sit_after_the_learner_in_their_order():
    told = []

    class Named:
        def __init__(self, name):
            self.name = name

        def choose(self, game, legal):
            return legal[0]

        def on_start(self, start):
            told.append((self.name, start.seat, start.seats))

        def on_end(self, end):
            told.append((self.name, end.seat, end.rank))

    env = rl.SeatEnv(seats=3, seat=1, opponents=[Named("next"), Named("last")])
    _, info, _ = finish(env, 2)
    table = ("last", "learner", "next")
    ranks = info["ranking"]
    assert told == [
        ("next", 2, table),
        ("last", 0, table),
        ("next", 2, ranks[2]),
        ("last", 0, ranks[0]),
    ]


def test_an_opponent_is_not_shown_the_future():
    futures = []

    def peeks(game, legal):
        futures.append((game.dumps(), type(game.chance).__name__, tuple(game.playout(_Bits()))))
        return legal[0]

    env = rl.SeatEnv(seat=1, opponents=[peeks])
    env.reset(seed=4)
    assert futures
    assert {kind for _, kind, _ in futures} == {"Fast"}


class _Bits:
    def getrandbits(self, count):
        return 7


def test_the_learner_s_seat_changes_from_game_to_game_unless_it_is_given():
    env = rl.SeatEnv(seats=4)
    assert {env.reset(seed=seed)[1]["seat"] for seed in range(20)} == {0, 1, 2, 3}
    fixed = rl.SeatEnv(seats=4, seat=3)
    assert {fixed.reset(seed=seed)[1]["seat"] for seed in range(4)} == {3}


def test_a_bot_that_errs_is_reported_as_everywhere():
    env = rl.SeatEnv(opponents=[lambda _, __: 100_000])
    with pytest.raises(BotFault, match="100000, which is not legal"):
        finish(env, 1)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"opponents": [first, first]}, "there are 1 other seats, and 2 opponents"),
        ({"seat": 2}, "seats are counted from 0 to 1, there is no seat 2"),
        ({"reward": "luck"}, r"there is no reward 'luck' \(there are: rank, margin\)"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_sentence(settings, sentence):
    with pytest.raises(InvalidRequest, match=sentence):
        rl.SeatEnv(**settings)


def test_nothing_can_be_asked_of_a_table_before_its_game():
    with pytest.raises(ResetNeeded):
        rl.SeatEnv().step(0)
    with pytest.raises(RuntimeError, match="call reset"):
        rl.TableEnv().observe("seat_0")


@pytest.mark.parametrize("missing", ["gymnasium", "numpy", "pettingzoo"])
def test_without_the_extra_the_import_says_in_one_sentence_what_to_install(missing):
    code = f"import sys; sys.modules[{missing!r}] = None; import himeji_sdk.rl"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] == (
        f"ImportError: himeji_sdk.rl needs {missing}, which the extra `rl` brings: "
        "pip install 'himeji[rl]'"
    )


def test_the_sdk_itself_does_not_need_the_extra():
    blocked = "; ".join(
        f"sys.modules[{each!r}] = None" for each in ("gymnasium", "numpy", "pettingzoo")
    )
    code = f"import sys; {blocked}; import himeji_sdk, himeji_sdk._cli"
    subprocess.run([sys.executable, "-c", code], check=True)
