"""Tournaments without a store: pairings and standings."""

import itertools
from collections import Counter

import pytest
from himeji.v1.game_pb2 import EndReason, GameResult
from himeji_server.ladder.tournament_pairing import (
    FinishedGame,
    count_byes,
    count_game,
    forfeit,
    planned_games,
    round_robin,
    standings,
    swiss,
    tallies_of,
)

BOTS = [f"o{number}/b" for number in range(7)]


def played(*bots, ranks=None):
    """A game in which the bots rank in this order, or as told."""
    result = GameResult(end_reason=EndReason.END_REASON_FINISHED)
    for seat, rank in enumerate(ranks or range(1, len(bots) + 1)):
        reason = EndReason.END_REASON_FINISHED
        result.seats.add(seat=seat, rank=rank, score=100 - rank, end_reason=reason)
    return FinishedGame(tuple(bots), result)


def count_results(bots, seats, finished, byes):
    """The tallies of bots after these games and byes."""
    counted = sum(map(count_game, finished), count_byes(byes, seats))
    return tallies_of(bots, counted)


def swiss_round(bots, seats, done, byes, seed):
    """The next Swiss round after these games and byes."""
    tallies = count_results(bots, seats, done, byes)
    return swiss(bots, seats, tallies, [game.bots for game in done], seed)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_in_a_round_robin_every_combination_meets_in_every_rotation(seats):
    games = round_robin(BOTS, seats).games
    assert len(games) == len(set(games)) == planned_games(7, seats, 1, swiss=False)
    met = Counter(frozenset(each) for each in games)
    assert met == {frozenset(each): seats for each in itertools.combinations(BOTS, seats)}
    places = Counter((bot, seat) for each in games for seat, bot in enumerate(each))
    assert len(set(places.values())) == 1, "everybody has every seat as often"


def test_in_a_swiss_round_everybody_plays_once_or_sits_out():
    plan = swiss_round(BOTS, 2, [], [], "x")
    assert sorted([*itertools.chain(*plan.games), *plan.byes]) == sorted(BOTS)
    assert len(plan.byes) == 1
    assert len(swiss_round(BOTS, 4, [], [], "x").byes) == 3


def test_in_swiss_like_standings_meet_that_have_not_met():
    done = [played("o0/b", "o1/b"), played("o2/b", "o3/b")]
    plan = swiss_round(BOTS[:4], 2, done, [], "x")
    assert {frozenset(each) for each in plan.games} == {
        frozenset({"o0/b", "o2/b"}),
        frozenset({"o1/b", "o3/b"}),
    }


def test_over_a_whole_swiss_tournament_nobody_meets_twice_while_there_are_others():
    bots, done, byes = BOTS[:6], [], []
    for number in range(3):
        plan = swiss_round(bots, 2, done, byes, f"{number}")
        done += [played(*sorted(each)) for each in plan.games]
    met = Counter(frozenset(game.bots) for game in done)
    assert max(met.values()) == 1


def test_nobody_sits_out_twice_before_everybody_did():
    bots, done, byes = BOTS[:5], [], []
    for number in range(5):
        plan = swiss_round(bots, 2, done, byes, f"{number}")
        done += [played(*each) for each in plan.games]
        byes += plan.byes
    assert sorted(byes) == bots
    seats = count_results(bots, 2, done, byes)["o0/b"].seat
    assert abs(seats[0] - seats[1]) <= 1


def test_points_are_one_for_every_seat_behind_and_half_for_a_shared_rank():
    tallies = count_results(
        BOTS[:3], 3, [played(*BOTS[:3]), played(*BOTS[:3], ranks=[1, 1, 3])], []
    )
    assert [tallies[bot].points for bot in BOTS[:3]] == [2 + 1.5, 1 + 1.5, 0]
    assert count_results(BOTS[:1], 3, [], [BOTS[0]])[BOTS[0]].points == 1.0


def test_who_did_not_come_gets_nothing_and_those_who_came_rank_before():
    result = forfeit(["o1/b", "o2/b"], BOTS[:3])
    assert [seat.rank for seat in result.seats] == [1, 2, 2]
    tallies = count_results(BOTS[:3], 3, [FinishedGame(tuple(BOTS[:3]), result)], [])
    assert [tallies[bot].points for bot in BOTS[:3]] == [2, 0, 0]
    nobody = count_results(
        BOTS[:2], 2, [FinishedGame(tuple(BOTS[:2]), forfeit(BOTS[:2], BOTS[:2]))], []
    )
    assert [nobody[bot].points for bot in BOTS[:2]] == [0, 0]


def test_equal_points_share_a_place():
    versions = dict.fromkeys(BOTS[:3], 2)
    tallies = count_results(versions, 2, [played("o0/b", "o1/b"), played("o2/b", "o1/b")], [])
    rows = standings(versions, 2, tallies)
    assert [(row.bot, row.place) for row in rows] == [("o0/b", 1), ("o2/b", 1), ("o1/b", 3)]
    assert rows[0].bot_version == 2
    assert list(rows[2].rank_counts) == [0, 2]
