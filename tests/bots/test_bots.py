"""The bots: each plays every ruleset at every table, and the stronger ones are stronger."""

import pytest
from himeji import rules
from himeji.rules.errors import InvalidRequest
from himeji_bots import castle, duel, evaluation, mcts, planner
from himeji_bots.evaluation import estimate, lead
from himeji_bots.mcts import MctsBot
from himeji_bots.planner import PlannerBot
from himeji_sdk import play
from himeji_sdk._bot_loader import find_bot, installed_bots, load_bot
from himeji_sdk.match import Match, MatchRunner, Tally

QUICK = ("random", "greedy", "planner:width=2", "mcts:iterations=2")
TABLES = [(name, seats) for name, known in rules.RULESETS.items() for seats in known.seat_counts]


@pytest.mark.parametrize("bot", QUICK)
@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_every_bot_plays_every_ruleset_at_every_table(bot, ruleset, seats):
    assert play([load_bot(bot)] * seats, ruleset=ruleset, seed=3).game.over


@pytest.mark.parametrize("bot", QUICK)
def test_a_bot_with_a_seed_plays_the_same_game_again(bot):
    first, again = (
        play([find_bot(bot).bot(seed=seat) for seat in range(2)], seed=5) for _ in range(2)
    )
    assert first.actions == again.actions


def test_every_reference_bot_is_known_by_name():
    assert {"random", "greedy", "planner", "mcts"} <= installed_bots().keys()


def score(stronger, weaker, groups, ruleset="base"):
    """The score of a bot over so many groups, the same ones each time."""
    match = Match((stronger, weaker), ruleset=ruleset, seed=2)
    runner, tally = MatchRunner(match), Tally(match)
    for number in range(groups):
        tally.add(runner.play(number))
    return tally.standings()[0].score


@pytest.mark.parametrize("ruleset", ["base", "matcha", "duel"])
def test_greedy_beats_random(ruleset):
    assert score("greedy", "random", 10, ruleset) >= 0.95


def test_the_planner_beats_greedy():
    assert score("planner:width=3", "greedy", 5) >= 0.65


def test_the_tree_search_beats_greedy():
    assert score("mcts:iterations=6", "greedy", 4) >= 0.75


@pytest.mark.parametrize("ruleset", ["solo", "matcha-solo"])
def test_alone_at_the_table_the_planner_looks_to_the_end_of_its_turn_and_no_further(
    monkeypatch, ruleset
):
    game, judged = rules.new_game(ruleset, 1, seed=3), []
    while game.turn < 2:
        game.apply(game.legal()[-1])

    def judge(after):
        judged.append(after.turn - game.turn)
        return estimate(after)

    monkeypatch.setattr(planner, "estimate", judge)
    assert PlannerBot(width=3, seed=1).choose(game, game.legal()) in game.legal()
    assert set(judged) <= {0, 1, 2}  # this turn, a choice for the rival, the next turn
    assert 0 in judged


# --- the tree search ----------------------------------------------------------------------------


class Ticking:
    """A clock that moves a little whenever it is read."""

    def __init__(self, tick):
        self.now, self.tick = 0.0, tick

    def monotonic(self):
        self.now += self.tick
        return self.now


@pytest.mark.parametrize(
    ("time_left", "seconds"), [(None, 1.0), (1000.0, 1.0), (4.0, 0.1), (0.0, 0.0)]
)
def test_the_tree_search_takes_its_seconds_or_a_small_part_of_its_clock(
    monkeypatch, time_left, seconds
):
    clock = Ticking(0.05)
    monkeypatch.setattr(mcts, "time", clock)
    monkeypatch.setattr(mcts, "PAUSE", 10**9)  # it never makes up its mind early
    bot = MctsBot(seconds=1.0, seed=1)
    bot.time_left = time_left
    game = rules.new_game("base", 2, seed=1)
    assert bot.choose(game, game.legal()) in game.legal()
    assert seconds - 0.06 <= clock.now - 2 * clock.tick <= seconds + 0.06


def test_the_tree_search_stops_when_the_rest_could_change_nothing(monkeypatch):
    monkeypatch.setattr(mcts, "PAUSE", 1)
    bot, game = MctsBot(iterations=200, seed=1), rules.new_game("base", 2, seed=1)
    done = []
    monkeypatch.setattr(bot, "_iterate", counted(bot._iterate, done))
    early = bot.choose(game.clone(), game.legal())
    assert 100 < len(done) < 200
    monkeypatch.setattr(mcts, "PAUSE", 10**9)
    assert MctsBot(iterations=200, seed=1).choose(game, game.legal()) == early


def counted(function, calls):
    def call(*arguments):
        calls.append(1)
        return function(*arguments)

    return call


def test_the_tree_is_kept_as_long_as_the_game_follows_it():
    bot, game = MctsBot(iterations=20, seed=1), rules.new_game("base", 2, seed=1)
    game.apply(bot.choose(game.clone(), game.legal()))
    kept = bot._tree
    assert bot._root(game) is kept
    game.apply(game.legal()[0])
    assert bot._root(game) is not kept


@pytest.mark.parametrize("wrong", ["mcts:seconds=0", "mcts:iterations=0", "planner:width=0"])
def test_a_search_without_a_budget_is_refused(wrong):
    with pytest.raises(InvalidRequest, match=r"more than zero|at least 1"):
        load_bot(wrong)


def test_without_an_estimate_the_tree_search_plays_games_to_the_end(monkeypatch):
    monkeypatch.setattr(evaluation, "ESTIMATES", {})
    assert score("mcts:iterations=2", "random", 1) == 1.0


@pytest.mark.parametrize("seat", [0, 1])
def test_a_seat_of_duel_has_twelve_turns_of_its_own(seat):
    game = rules.new_game("duel", 2, seed=seat)
    seen = {duel.turns_left(game, seat)}
    while not game.over:
        game.apply(game.legal()[-1])
        seen.add(duel.turns_left(game, seat))
    assert seen == set(range(13))


# --- the evaluation -----------------------------------------------------------------------------


def test_a_family_without_an_estimate_is_judged_by_its_points(monkeypatch):
    monkeypatch.setattr(evaluation, "ESTIMATES", {})
    game = rules.new_game("base", 3, seed=1)
    assert estimate(game) == [0.0, 0.0, 0.0]
    assert play([load_bot("greedy")] * 2, seed=3).game.over


def test_at_the_end_the_estimate_is_the_score():
    played = play([load_bot("random")] * 2, seed=3)
    assert estimate(played.game) == played.scores


def test_the_lead_is_over_the_best_other_clan():
    assert lead([5.0, 9.0, 2.0], 0) == -4.0
    assert lead([5.0, 9.0, 2.0], 1) == 4.0
    assert lead([5.0], 0) == 5.0


def test_a_clan_has_nine_turns_of_its_own():
    game = rules.new_game("base", 2, seed=1)
    seen = set()
    while not game.over:
        seen.add((castle.turns_left(game, game.to_move), game.drafting))
        game.apply(game.legal()[-1])
    assert {left for left, drafting in seen if drafting} == {9}
    assert {left for left, drafting in seen if not drafting} == set(range(9))
