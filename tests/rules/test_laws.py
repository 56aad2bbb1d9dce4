"""Laws of every ruleset with every number of seats, over play that chance and policies vary.

`pytest tests/rules --games 1000` looks further than an ordinary run. What the goods, dice, members
and cards of a family must do stands in its folder (castle/test_conservation.py).
"""

import random
from itertools import pairwise
from pathlib import Path

import pytest
from himeji import rules
from himeji.rules import Fast, Mirror, Scripted
from himeji.rules.errors import GameEnded, IllegalAction, UnknownAction
from hypothesis import given, settings, strategies as st

from tests.rules.playing import every_table, finish, play, policy, positions, seeds
from tests.rules.rulebook import all_rules

RULES = all_rules()
TOO_LONG = 5_000  # decisions: a game that does not end would otherwise be played for ever
few = settings(max_examples=max(1, settings().max_examples // 4))  # for laws that take their time


def public(game):
    """All that a position shows, in both written forms and by the verbs."""
    legal = tuple(game.legal())
    return (game.dumps(), game.to_json(), legal, game.to_move, game.over, game.scores())


# --- deciding ---------------------------------------------------------------------------------


@every_table
@given(seed=seeds)
def test_every_decision_has_a_choice_until_the_game_ends_and_none_after(table, seed):
    game = table.begin(seed)
    table_of_actions = rules.ruleset(table.ruleset).actions.texts
    for number, _ in enumerate(play(game, policy(seed))):
        legal = game.legal()
        assert len(legal) >= 2, "a decision with one answer is not asked"
        assert all(low < high for low, high in pairwise(legal))
        assert table_of_actions.keys() >= set(legal)
        assert game.to_move in range(table.seats)
        assert number < TOO_LONG
    assert game.legal() == []
    assert game.to_move is None
    for action in range(256):
        with pytest.raises((GameEnded, UnknownAction)):
            game.apply(action)


@every_table
@given(data=st.data())
def test_every_legal_action_applies_and_moves_the_game_on(table, data):
    game = data.draw(positions(table))
    before = game.dumps()
    for action in game.legal():
        twin = game.clone()
        twin.apply(action)
        assert twin.dumps() != before


@every_table
@given(data=st.data())
def test_every_other_id_is_refused_with_its_reason_and_changes_nothing(table, data):
    game = data.draw(positions(table))
    before, legal, events = public(game), tuple(game.legal()), game.events_since(0)
    known = rules.ruleset(table.ruleset).actions.texts
    for action in (-1, *range(256)):
        if action in legal:
            continue
        with pytest.raises((IllegalAction, UnknownAction, GameEnded)) as refusal:
            game.apply(action)
        if game.over:
            assert isinstance(refusal.value, GameEnded)
        elif action in known:
            assert isinstance(refusal.value, IllegalAction)
            assert refusal.value.action == action
            assert refusal.value.legal == legal
            assert refusal.value.rule in RULES
        else:
            assert isinstance(refusal.value, UnknownAction)
        assert game.dumps() == before[0], f"the refusal of {action} changed the position"
    assert public(game) == before
    assert game.events_since(0) == events


@every_table
@given(data=st.data())
def test_the_list_of_legal_actions_belongs_to_its_caller(table, data):
    game = data.draw(positions(table))
    twin, before = game.clone(), tuple(game.legal())  # a copy: the list may be the game's own
    for mine in (game, twin):
        mine.legal().append(255)
        assert tuple(game.legal()) == tuple(twin.legal()) == before
        mine.legal().clear()
        assert tuple(game.legal()) == tuple(twin.legal()) == before


@every_table
def test_every_action_has_one_text_and_every_text_one_action(table):
    for action, text in rules.ruleset(table.ruleset).actions.texts.items():
        assert rules.action_text(table.ruleset, action) == text
        assert rules.action_id(table.ruleset, text) == action


# --- chance and copies ------------------------------------------------------------------------


@every_table
@given(seed=seeds)
def test_the_same_key_and_the_same_actions_make_the_same_game(table, seed):
    game, twin = table.begin(seed), table.begin(seed)
    assert table.begin(seed + 1).dumps() != game.dumps()
    for action in play(game, policy(seed)):
        assert twin.dumps() == game.dumps()
        twin.apply(action)
    assert public(twin) == public(game)
    assert twin.events_since(0) == game.events_since(0)


@every_table
@given(data=st.data(), seed=seeds)
def test_playing_a_clone_leaves_the_original_and_the_other_way_round(table, data, seed):
    game = data.draw(positions(table))
    twin, before, events = game.clone(), public(game), game.events_since(0)
    assert public(twin) == before
    finish(twin, policy(seed))
    assert public(game) == before
    assert game.events_since(0) == events
    twin = game.clone()
    finish(game, policy(seed))
    assert public(twin) == before
    assert twin.events_since(0) == []


@every_table
@given(seed=seeds, cut=st.integers(0, 100))
@pytest.mark.parametrize("source", ["keyed", "fast", "scripted"])
def test_a_clone_has_the_same_future_of_its_own(table, source, seed, cut):
    chances = {"fast": Fast(seed), "scripted": Scripted((), Fast(seed)), "keyed": None}
    chance = chances[source]
    game = table.begin(chance=chance) if chance else table.begin(seed)
    twin = None
    for number, action in enumerate(play(game, policy(seed))):
        if number == cut:
            twin = game.clone().clone()
        if twin:
            assert twin.dumps() == game.dumps()
            if number % 20 == cut % 20:
                finish(game.clone(), policy(seed))  # must not use up the chance of the others
            twin.apply(action)
    if twin:
        assert public(twin) == public(game)


@every_table
@given(data=st.data(), seed=seeds)
def test_resampling_keeps_what_is_seen_and_changes_what_is_to_come(table, data, seed):
    game = data.draw(positions(table, most=20))
    before, events = public(game), game.events_since(0)
    futures = [game.resample(random.Random(seed + number)) for number in range(4)]
    again = game.resample(random.Random(seed))
    assert all(public(future) == before for future in [*futures, again])
    for future in [*futures, again]:
        finish(future, lambda legal: legal[-1])
    assert again.dumps() == futures[0].dumps(), "the generator alone decides the future"
    assert len({future.dumps() for future in futures}) > 1
    assert public(game) == before
    assert game.events_since(0) == events


@every_table
@given(data=st.data(), seed=seeds)
def test_a_playout_gives_the_scores_of_a_game_and_leaves_this_one(table, data, seed):
    game = data.draw(positions(table))
    if data.draw(st.booleans()):
        game = game.resample(random.Random(seed))  # its chance can be used up, a key cannot
    before, events, twin = public(game), game.events_since(0), game.clone()
    scores = game.playout(random.Random(seed))
    assert len(scores) == len(game.scores())
    assert scores == game.playout(random.Random(seed))
    assert scores == game.scores() or not game.over
    assert public(game) == before
    assert game.events_since(0) == events
    finish(game, policy(seed))
    finish(twin, policy(seed))
    assert game.dumps() == twin.dumps(), "the playout took from the chance of the game"


# --- writing down -----------------------------------------------------------------------------


@every_table
@few
@given(seed=seeds)
def test_bytes_and_json_give_back_the_position_at_every_step(table, seed):
    game = table.begin(seed)
    for _ in play(game, policy(seed)):
        check_round_trips(game)
    check_round_trips(game)


def check_round_trips(game):
    expected = (*public(game), game.ranking(), game.breakdown())
    for twin in (rules.loads(game.dumps()), rules.from_json(game.to_json())):
        assert (*public(twin), twin.ranking(), twin.breakdown()) == expected


@every_table
@given(seed=seeds, cut=st.integers(0, 250))
def test_a_stored_game_goes_on_with_its_key_as_if_it_had_not_been_stored(table, seed, cut):
    game = table.begin(seed)
    stored = []
    for number, action in enumerate(play(game, policy(seed))):
        if number == cut:
            stored = [
                rules.loads(game.dumps(), seed=seed),
                rules.from_json(game.to_json(), seed=seed),
            ]
        for twin in stored:
            assert twin.dumps() == game.dumps()
            assert twin.legal() == game.legal()
            twin.apply(action)
    assert all(public(twin) == public(game) for twin in stored)


# --- the mirror -------------------------------------------------------------------------------


@every_table
@given(seed=seeds)
def test_a_mirror_that_hears_each_action_equals_the_game_at_every_step(table, seed):
    game = table.begin(seed)
    mirror = Mirror(table.ruleset, table.seats, game.options, seed=5)
    told = 0
    for _ in play(game, policy(seed)):
        news = game.events_since(told)
        mirror.feed(news)
        told += len(news)
        assert mirror.game.dumps() == game.dumps()
        assert mirror.game.legal() == game.legal()
        assert mirror.game.to_move == game.to_move
    mirror.feed(game.events_since(told))
    assert public(mirror.game) == public(game)
    assert mirror.game.events_since(0) == game.events_since(0)


@every_table
@few
@given(seed=seeds, data=st.data())
def test_a_mirror_may_hear_the_events_in_pieces_of_any_size(table, seed, data):
    game = table.begin(seed)
    mirror = Mirror(table.ruleset, table.seats, game.options, seed=5)
    stands = {}
    for _ in play(game, policy(seed)):
        stands[len(game.log)] = public(game)
    events = game.events_since(0)
    stands[len(events)] = public(game)
    largest, told = data.draw(st.sampled_from([1, 2, 7, 40])), 0
    sizes = random.Random(seed)
    while told < len(events):
        size = sizes.randint(1, largest)
        mirror.feed(events[told : told + size])
        told += size
        if told in stands:
            assert public(mirror.game) == stands[told]
    assert public(mirror.game) == public(game)
    assert mirror.game.events_since(0) == events


@every_table
@given(seed=seeds)
def test_a_mirror_does_not_know_the_future_of_the_game(table, seed):
    game = table.begin(seed)
    mirrors = [Mirror(table.ruleset, table.seats, game.options, number) for number in (5, 6)]
    for mirror in mirrors:
        mirror.feed(game.events_since(0))
    ends = []
    for copy in (game, *(mirror.game.clone() for mirror in mirrors)):
        finish(copy, lambda legal: legal[-1])
        ends.append(copy.dumps())
    assert len(set(ends)) == 3


# --- results and reasons ----------------------------------------------------------------------


@every_table
@given(seed=seeds)
def test_every_position_is_scored_line_by_line_and_ranked_by_its_scores(table, seed):
    game = table.begin(seed)
    for _ in play(game, policy(seed)):
        check_results(game)
    check_results(game)


def check_results(game):
    scores, ranks, lines = game.scores(), game.ranking(), game.breakdown()
    assert [sum(points.values()) for points in lines] == scores
    assert all(points.keys() == lines[0].keys() for points in lines)
    assert len(ranks) == len(scores) >= game.seats
    assert all(1 + sum(other < rank for other in ranks) == rank for rank in ranks)
    better = [
        (mine, yours)
        for mine, my_score in zip(ranks, scores, strict=True)
        for yours, your_score in zip(ranks, scores, strict=True)
        if my_score > your_score
    ]
    assert all(mine < yours for mine, yours in better)


@every_table
@given(seed=seeds)
def test_every_event_names_its_kind_and_a_rule_that_exists(table, seed):
    game = table.begin(seed)
    finish(game, policy(seed))
    events = game.events_since(0)
    kinds = set(rules.ruleset(table.ruleset).event_kinds.values())
    assert {event.rule for event in events} <= RULES
    assert {event.kind for event in events} <= kinds
    assert {event.seat for event in events} <= set(range(-1, len(game.scores())))
    assert game.events_since(len(events) - 3) == events[-3:]
    over = [event for event in events if event.kind == "over"]
    assert [event.seat for event in over] == list(range(len(game.scores())))
    assert [event.a for event in over] == game.ranking()
    assert [event.b for event in over] == game.scores()


@every_table
def test_the_laws_are_asked_with_every_value_of_every_option(table):
    met = {pair for seed in range(60) for pair in table.begin(seed).options.items()}
    choices = rules.ruleset(table.ruleset).choices
    assert met == {(name, value) for name, values in choices.items() for value in values}


def test_every_family_says_what_is_conserved_in_it():
    here = Path(__file__).parent
    families = {rules.ruleset(name).family for name in rules.RULESETS}
    missing = [name for name in families if not (here / name / "test_conservation.py").exists()]
    assert not missing, f"families without laws of conservation: {missing}"
