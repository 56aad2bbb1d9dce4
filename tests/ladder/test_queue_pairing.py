"""Pairing: every sentence of docs/ladder.md about who meets whom."""

import itertools
import random
from collections import Counter

from himeji_server.ladder.queue_pairing import (
    Candidate,
    Meetings,
    Policy,
    pair_key,
    pairings,
    worth,
)
from himeji_server.ladder.rating import BEGINNER, Rating
from hypothesis import given, settings, strategies as st

PLAIN = Policy(wide_share=0, anchor_share=0)
NOBODY_MET = Meetings()


def bot(name, mean=25.0, uncertainty=2.0, **more):
    rating = Rating(mean, uncertainty)
    return Candidate(**({"bot": name, "rating": rating, "games": 30, "seed": name} | more))


def owners(game):
    return [name.partition("/")[0] for name in game]


def made(waiting, seats=2, meetings=NOBODY_MET, policy=PLAIN, **more):
    return pairings(waiting, seats, meetings, policy, **more)


def test_near_ratings_meet():
    waiting = [bot("a/x", 20), bot("b/x", 21), bot("c/x", 30), bot("d/x", 31)]
    assert {frozenset(game) for game in made(waiting)} == {
        frozenset({"a/x", "b/x"}),
        frozenset({"c/x", "d/x"}),
    }


def test_a_well_known_opponent_is_worth_more_than_an_unknown_one():
    me = bot("a/x", uncertainty=8)
    assert worth(me, bot("b/x", uncertainty=1)) > worth(me, bot("c/x", uncertainty=8))
    assert worth(me, bot("b/x", 25)) > worth(me, bot("c/x", 35))


def test_the_bot_with_the_fewest_games_chooses_first():
    waiting = [bot("a/x", 25, games=50), bot("b/x", 25.5, games=9), bot("c/x", 26, games=2)]
    (game,) = made(waiting)
    assert set(game) == {"b/x", "c/x"}


def test_two_bots_of_one_owner_never_share_a_game():
    assert made([bot("a/x", waited=99), bot("a/y", waited=99)]) == []
    waiting = [bot("a/x"), bot("a/y"), bot("b/x"), bot("c/x")]
    for game in made(waiting, 3):
        assert len(set(owners(game))) == 3


def test_house_bots_may_meet_each_other():
    house = [bot(f"house/{name}", free=8) for name in ("p", "q", "r")]
    (game,) = made([bot("a/x", games=0), *house], 4)
    assert owners(game).count("house") == 3


def test_a_newcomer_without_company_is_seated_with_the_house_at_once():
    (game,) = made([bot("a/new", 25, 8.3, games=0, waited=0), bot("house/random", 10, free=8)])
    assert set(game) == {"a/new", "house/random"}


def test_others_wait_a_moment_for_company_before_the_house_fills_in():
    house = bot("house/random", free=8)
    assert made([bot("a/x", waited=0.1), house]) == []
    assert len(made([bot("a/x", waited=PLAIN.house_after), house])) == 1


def test_a_stated_share_of_games_has_an_anchor():
    policy = Policy(wide_share=0, anchor_share=0.2)
    house = bot("house/greedy", free=1)
    with_anchor = 0
    for number in range(600):
        pool = [bot("a/x", seed=f"a{number}"), bot("b/x", seed=f"b{number}"), house]
        with_anchor += "house/greedy" in made(pool, policy=policy)[0]
    assert 80 < with_anchor < 165, "about one in five"


def test_a_stated_share_of_games_is_paired_without_regard_to_rating():
    policy = Policy(wide_share=0.15, anchor_share=0)
    far = 0
    for number in range(600):
        pool = [bot("a/x", 25, games=1, seed=f"a{number}"), bot("b/x", 26), bot("c/x", 45)]
        far += "c/x" in made(pool, policy=policy)[0]
    assert 25 < far < 75, "half of the wide pairings go to the far one"


def test_pairing_again_without_a_change_gives_the_same_result():
    pool = [bot("a/x", 25, games=1), bot("b/x", 26), bot("c/x", 45)]
    assert len({made(pool, policy=Policy())[0] for _ in range(20)}) == 1


def test_a_pair_that_met_often_today_does_not_meet_again():
    met = Meetings(today={pair_key("b/x", "a/x"): PLAIN.pair_cap})
    assert made([bot("a/x", waited=99), bot("b/x", waited=99)], meetings=met) == []
    almost = Meetings(today={pair_key("b/x", "a/x"): PLAIN.pair_cap - 1})
    assert len(made([bot("a/x", free=5), bot("b/x", free=5)], meetings=almost)) == 1


def test_the_cap_does_not_count_the_house():
    met = Meetings(today={pair_key("a/x", "house/random"): 10_000})
    assert len(made([bot("a/x", waited=99), bot("house/random")], meetings=met)) == 1


def test_a_bot_plays_as_many_games_at_once_as_it_allows():
    waiting = [bot("a/x", free=3), *(bot(f"{owner}/x") for owner in "bcdef")]
    count = Counter(itertools.chain.from_iterable(made(waiting, policy=Policy(anchor_share=0))))
    assert count["a/x"] <= 3
    assert all(count[f"{owner}/x"] <= 1 for owner in "bcdef")
    lonely = made([bot("a/x", free=9), bot("b/x", free=4)])
    assert len(lonely) == 4


def test_seats_are_balanced_for_each_bot():
    seats = {"a/x": [0, 0, 0], "b/x": [0, 0, 0], "c/x": [0, 0, 0]}
    for number in range(60):
        waiting = [
            bot(name, seats=tuple(counts), seed=f"{name}{number}") for name, counts in seats.items()
        ]
        (game,) = made(waiting, 3)
        for seat, name in enumerate(game):
            seats[name][seat] += 1
    assert all(max(counts) - min(counts) <= 1 for counts in seats.values())


def test_those_who_met_all_the_time_wait_a_while_for_somebody_else():
    recent = {"a/x": [["b/x"]] * 20, "b/x": [["a/x"]] * 20}
    met = Meetings(recent=recent, bot_count=12)
    assert made([bot("a/x", waited=0), bot("b/x", waited=0)], meetings=met) == []
    assert len(made([bot("a/x", waited=6), bot("b/x", waited=0)], meetings=met)) == 1
    third = made([bot("a/x"), bot("b/x"), bot("c/x", 27)], meetings=met)
    assert "c/x" in third[0]


def test_the_only_two_bots_of_a_ladder_do_not_wait_for_anybody_else():
    recent = {"a/x": [["b/x"]] * 20, "b/x": [["a/x"]] * 20}
    assert len(made([bot("a/x"), bot("b/x")], meetings=Meetings(recent=recent, bot_count=2))) == 1


def test_far_ratings_wait_for_nearer_ones_but_not_for_ever():
    far = [bot("a/x", 15), bot("b/x", 40)]
    assert made(far) == []
    assert len(made([bot("a/x", 15, waited=PLAIN.patience), bot("b/x", 40)])) == 1


def test_house_bots_play_among_themselves_only_when_allowed_and_alone():
    house = [bot(f"house/{name}", waited=99, free=8) for name in "pqr"]
    assert made(house) == []
    assert len(made(house, house_only=True)) == 1
    with_guest = made([*house, bot("a/x", waited=99)], house_only=True)
    assert with_guest
    assert all("a/x" in game for game in with_guest)


def test_a_game_of_one_seat_needs_nobody_else():
    assert sorted(made([bot("a/x"), bot("b/x")], 1)) == [("a/x",), ("b/x",)]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_no_pairing_breaks_a_rule_whichever_bots_wait(seed, seats):
    chance = random.Random(seed)
    waiting = [
        Candidate(
            bot=f"{chance.choice(['a', 'b', 'c', 'd', 'e', 'house'])}/{number}",
            rating=BEGINNER if chance.random() < 0.3 else Rating(chance.uniform(5, 45), 2),
            games=chance.randrange(50),
            waited=chance.uniform(0, 10),
            free=chance.randrange(4),
            seed=str(chance.random()),
        )
        for number in range(chance.randrange(12))
    ]
    allowed = {each.bot: each.free for each in waiting}
    for game in pairings(waiting, seats, Meetings(bot_count=len(waiting)), Policy()):
        assert len(game) == len(set(game)) == seats
        guests = [owner for owner in owners(game) if owner != "house"]
        assert guests, "no house-only game was asked for"
        assert len(guests) == len(set(guests))
        for name in game:
            allowed[name] -= 1
    assert min(allowed.values(), default=0) >= 0
