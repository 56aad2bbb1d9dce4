"""Turns that are thought out at the page, by the law: nothing of chance can be seen before."""

import random
from types import SimpleNamespace

import pytest
from himeji import render, rules
from himeji.rules.constants import DONE
from himeji.rules.errors import InvalidRequest
from himeji.rules.game import DRAW, ROLL
from himeji_server.web import turn_preview

from tests.rules.playing import every_table, play, policy


class _View:
    """What a preview needs of a view."""

    stored, game_id = SimpleNamespace(decision=4, seat=0), "g"

    def __init__(self, game):
        self._game = game

    def copy(self):
        return self._game.clone()


def _turn(game):
    return turn_preview.PreviewedTurn(turn_preview._copy(_View(game)), game.to_move)


@every_table
def test_choices_are_the_legal_actions_and_say_which_of_them_go_to_chance(table):
    game = table.begin(5)
    for number, _ in enumerate(play(game, policy(5))):
        if number % 6 or game.over:
            continue
        plan = turn_preview.describe(_turn(game), 1, (), "")
        actions = [choice["action"] for choice in plan["choices"]]
        assert sorted(actions) == game.legal()
        assert DONE not in actions[:-1], "to do nothing more comes last"
        for choice in plan["choices"]:
            twin = game.clone()
            twin.log = []
            twin.apply(choice["action"])
            assert choice["reveals"] == any(kind in (ROLL, DRAW) for kind, *_ in twin.log)


@every_table
def test_a_turn_that_is_thought_out_ends_where_the_same_actions_lead(table):
    game, chooser = table.begin(8), random.Random(8)
    for number, _ in enumerate(play(game, policy(8))):
        if number % 15 or game.over:
            continue
        turn, before, tried = _turn(game), game.dumps(), []
        while not turn.complete:
            plan = turn_preview.describe(turn, 1, tried, "")
            open_ones = [each["action"] for each in plan["choices"] if not each["reveals"]]
            if not open_ones:
                break
            tried.append(chooser.choice(open_ones))
            turn.engine.apply(tried[-1])
        assert game.dumps() == before
        twin = game.clone()
        for action in tried:
            twin.apply(action)
        assert turn.engine.dumps() == twin.dumps()
        assert render.svg(turn.engine) == render.svg(twin)


def test_an_action_that_goes_to_chance_is_noted_as_the_last_one_and_not_tried(monkeypatch):
    monkeypatch.setattr(turn_preview, "is_asked", lambda *_: True)
    game, chooser = rules.new_game("solo", 1, seed=1), random.Random(1)
    while True:
        choices = turn_preview.describe(_turn(game), 1, (), "")["choices"]
        found = [choice["action"] for choice in choices if choice["reveals"]]
        if found:
            break
        game.apply(chooser.choice(game.legal()))
    turn = turn_preview.preview(_View(game), None, 4, found[:1])
    assert turn.engine.dumps() == game.dumps()
    plan = turn_preview.describe(turn, 4, found[:1], "")
    assert (plan["complete"], plan["goes_to_chance"], plan["choices"]) == (True, True, [])
    assert plan["steps"] == [game.ruleset.actions.text(found[0])]
    assert "Seat 0 has not confirmed this turn yet" in turn.picture()
    with pytest.raises(InvalidRequest, match="over before"):
        turn_preview.preview(_View(game), None, 4, [found[0], found[0]])


def test_the_board_of_a_turn_that_is_not_confirmed_does_not_say_that_another_seat_decides():
    game, chooser = rules.new_game("base", 2, seed=2), random.Random(2)
    while True:
        seat, turn = game.to_move, _turn(game)
        while not turn.complete:
            choices = turn_preview.describe(turn, 1, (), "")["choices"]
            open_ones = [each["action"] for each in choices if not each["reveals"]]
            if not open_ones:
                break
            turn.engine.apply(chooser.choice(open_ones))
        if turn.complete and not turn.engine.over:
            break
        while game.to_move == seat:
            game.apply(chooser.choice(game.legal()))
    other = turn.engine.to_move
    assert other != seat
    drawn = turn.picture()
    assert f"Seat {seat} has not confirmed this turn yet" in drawn
    assert f"seat {other} is asked" not in drawn.lower()
    assert f"seat {other} is asked" in render.svg(turn.engine).lower()
    assert render.svg(turn.engine).count("decides now") == drawn.count("decides now") == 1
