"""Playing in-process: one method is a bot, and no bot sees more than its mirror."""

import inspect
import random
import threading

import pytest
from himeji import rules
from himeji.rules.errors import InvalidRequest
from himeji_bots.random import RandomBot
from himeji_sdk import Bot, BotFault, play
from himeji_sdk._bot import Question, bot_factory


class First(Bot):
    def choose(self, game, legal):
        return legal[0]


def last(_game, legal):
    return legal[-1]


class Plain:
    """No child of Bot, and all the same a bot."""

    def choose(self, game, legal):
        return legal[len(legal) // 2]


@pytest.mark.parametrize(
    "bots", [[First(), last], [First, Plain], [Plain(), last, First, RandomBot]]
)
def test_an_object_a_function_and_a_class_are_bots(bots):
    played = play(bots, seed=3)
    assert played.game.over
    assert played.scores == played.game.scores()
    assert min(played.ranking) == 1


def test_the_same_seed_and_the_same_answers_are_the_same_game():
    one, two = (play([RandomBot(1), RandomBot(2)], seed=9) for _ in range(2))
    assert one.actions == two.actions
    assert one.game.to_json() == two.game.to_json()


def test_without_a_seed_the_game_is_another_one_and_tells_its_seed():
    one, two = (play([First, First]) for _ in range(2))
    assert one.seed != two.seed
    again = play([First, First], seed=one.seed)
    assert again.actions == one.actions
    assert again.game.to_json() == one.game.to_json()


def test_the_actions_of_a_game_are_legal_in_the_engine_alone():
    played = play([RandomBot(1), RandomBot(2), RandomBot(3)], seed=4)
    game = rules.new_game("base", 3, seed=4)
    for action in played.actions:
        game.apply(action)
    assert game.to_json() == played.game.to_json()


def test_options_of_the_ruleset_are_checked():
    with pytest.raises(InvalidRequest, match="no option"):
        play([First, First], seed=1, options={"colour": "blue"})


def test_a_bot_may_play_on_the_position_it_is_given():
    class Vandal(Bot):
        def choose(self, game, legal):
            answer = legal[0]
            game.apply(legal[-1])
            game.stack.clear()
            legal.clear()
            return answer

    assert play([Vandal(), First], seed=5).actions == play([First, First], seed=5).actions


@pytest.mark.long
def test_no_bot_sees_the_games_chance():
    """Whatever a bot can reach from its position, the coming dice are not in it."""
    seen = []

    class Spy(Bot):
        def choose(self, game, legal):
            seen.append((game, game.clone()))
            return legal[0]

    played = play([Spy(), Spy()], seed=11)
    key = rules.seeded(11).key
    for game, _ in seen:
        assert key not in _reachable_bytes(game)
    # Played on by the same answers, the bot's futures are not the game's own.
    ends = set()
    for _, start in seen[: len(seen) // 4]:
        game = start
        while not game.over:
            game.apply(game.legal()[0])
        ends.add(game.to_json())
    assert played.game.to_json() not in ends


def _reachable_bytes(thing, depth=6):
    """All byte strings that attributes lead to."""
    if isinstance(thing, bytes):
        return {thing}
    if depth == 0 or isinstance(thing, str | int | float | type(None)):
        return set()
    inside = thing.values() if isinstance(thing, dict) else thing
    if not isinstance(thing, dict | list | tuple | set):
        # Compiled objects have no dictionary; their attributes are descriptors of the class.
        names = {
            name for kind in type(thing).__mro__ for name in list(vars(kind)) if _holds(kind, name)
        }
        inside = [*getattr(thing, "__dict__", {}).values()]
        inside += [getattr(thing, name) for name in names if hasattr(thing, name)]
    return set().union(*(_reachable_bytes(each, depth - 1) for each in list(inside)))


def _holds(kind, name):
    place = vars(kind)[name]
    stored = inspect.isgetsetdescriptor(place) or inspect.ismemberdescriptor(place)
    return stored and not name.startswith("__")


def test_the_search_for_keys_finds_one_where_it_is():
    game = rules.new_game("base", 2, seed=11)
    assert rules.seeded(11).key in _reachable_bytes(game)


def test_a_bot_is_told_of_the_beginning_and_of_the_end():
    told = []

    class Listener(First):
        def on_start(self, start):
            told.append(start)

        def on_end(self, end):
            told.append(end)

    played = play([Listener(), last], seed=2)
    start, end = told
    assert (start.ruleset, start.seat, start.seats) == ("base", 0, ("Listener", "last"))
    assert (end.seat, end.reason) == (0, "finished")
    assert (list(end.scores), list(end.ranks)) == (played.scores, played.ranking)
    assert (end.score, end.rank) == (played.scores[0], played.ranking[0])


def test_a_class_gets_an_object_for_each_seat():
    made = []

    class Counted(First):
        def __init__(self):
            made.append(self)

    play([Counted, Counted], seed=2)
    assert len(made) == 2


def test_a_crash_is_reported_with_position_question_and_legal_actions():
    class Careless(Bot):
        def choose(self, game, legal):
            return 1 // (len(game.legal()) - len(legal))

    with pytest.raises(BotFault) as caught:
        play([First, Careless()], seed=1)
    fault, report = caught.value, str(caught.value)
    assert isinstance(fault.__cause__, ZeroDivisionError)
    assert fault.sentence.startswith("Careless crashed (seat 1): ZeroDivisionError")
    assert "in choose" in report
    assert "bot.py" not in report, "the report shows the author's code, not ours"
    assert "BRIDGE" in report
    for action in fault.legal:
        assert f"{action:>6}  {rules.action_text('base', action)}\n" in report
    again = rules.from_json(fault.position)
    assert again.legal() == list(fault.legal)
    assert fault.rule in report
    assert fault.rule.startswith("B-")


def test_an_illegal_answer_is_reported_with_the_rule_that_forbids_it():
    with pytest.raises(BotFault) as caught:
        play([lambda _game, _legal: 3, First], seed=1)
    fault = caught.value
    assert 3 not in fault.legal
    assert fault.rule == "B-6.3"
    assert "answered 3, which is not legal" in fault.sentence
    assert "seals cannot be exchanged during set-up" in fault.sentence


def test_a_hang_is_reported_with_position_legal_actions_rule_and_the_line_it_is_at():
    release = threading.Event()

    class Hangs(Bot):
        def choose(self, game, legal):
            release.wait(60)
            return legal[0]

    try:
        with pytest.raises(BotFault) as caught:
            play([First, Hangs()], seed=1, limit=0.2)
    finally:
        release.set()
    fault, report = caught.value, str(caught.value)
    assert fault.kind == "hung"
    assert fault.sentence.startswith("Hangs has not answered for 0.")
    assert "release.wait(60)" in report
    assert "bot.py" not in report, "the report shows the author's code, not ours"
    assert "BRIDGE" in report
    assert fault.legal == tuple(rules.from_json(fault.position).legal())
    assert fault.rule.startswith("B-")


def test_a_limit_that_is_kept_changes_nothing():
    assert play([First, last], seed=5, limit=60).actions == play([First, last], seed=5).actions


def test_a_mistake_within_the_limit_is_the_mistake_that_it_is():
    with pytest.raises(BotFault, match="answered 3, which is not legal") as caught:
        play([lambda _game, _legal: 3, First], seed=1, limit=60)
    assert caught.value.kind == "illegal"


def test_a_game_can_be_watched_choice_by_choice():
    seen = []
    played = play([First, last], seed=5, watch=lambda game: seen.append(game.to_json()))
    assert len(seen) == len(played.actions) + 1
    assert seen[0] == rules.new_game("base", 2, seed=5).to_json()
    assert seen[-1] == played.game.to_json()


@pytest.mark.parametrize("answer", [None, "take coral left", 1.0, [1]])
def test_an_answer_that_is_no_number_is_a_fault(answer):
    with pytest.raises(BotFault, match="which is no action id"):
        play([lambda _game, _legal: answer, First], seed=1)


def test_an_unknown_action_is_a_fault():
    with pytest.raises(BotFault, match="answered 99999, which is not legal"):
        play([lambda _game, _legal: 99999, First], seed=1)


def test_a_bot_that_leaves_the_program_is_a_fault():
    def leave(_game, _legal):
        raise SystemExit(3)

    with pytest.raises(BotFault, match="SystemExit"):
        play([leave, First], seed=1)


def test_a_crash_before_or_after_the_game_is_a_fault_too():
    class Bad(First):
        def on_end(self, end):
            raise KeyError("what")

    with pytest.raises(BotFault, match="crashed in on_end"):
        play([Bad, First], seed=1)


@pytest.mark.parametrize("thing", [7, object(), object, "random"])
def test_what_cannot_choose_is_refused_in_one_sentence(thing):
    with pytest.raises(InvalidRequest, match=r"choose\(game, legal\)"):
        play([thing, First], seed=1)


def test_a_bot_is_told_what_its_clock_shows_when_it_is_asked():
    asked = First()
    game = rules.new_game("base", 2, seed=1)
    player = bot_factory(asked).new_player()
    player.answer(Question(game, 0, game.legal(), time_left=30.0))
    assert asked.time_left <= 30.0
    player.answer(Question(game, 0, game.legal(), time_left=0.0))
    assert asked.time_left == 0.0
    player.answer(Question(game, 0, game.legal()))
    assert asked.time_left is None


def test_the_random_bot_plays_every_legal_action_sooner_or_later():
    bot, legal = RandomBot(1), [3, 5, 8]
    assert {bot.choose(None, legal) for _ in range(100)} == set(legal)
    one, two = RandomBot(4), RandomBot(4)
    many = list(range(50))
    assert [one.choose(None, many) for _ in range(20)] == [
        two.choose(None, many) for _ in range(20)
    ]


def test_the_random_bot_leaves_the_global_generator_alone():
    before = random.getstate()
    play([RandomBot(1), RandomBot(2)], seed=1)
    assert random.getstate() == before
