"""Turns that are thought out at the page, by the law: nothing of chance can be seen before."""

import random
from types import SimpleNamespace

import pytest
from himeji import render, rules
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
        assert [choice["action"] for choice in plan["choices"]] == game.legal()
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


def test_an_action_that_goes_to_chance_cannot_be_tried(monkeypatch):
    monkeypatch.setattr(turn_preview, "is_asked", lambda *_: True)
    game, chooser = rules.new_game("solo", 1, seed=1), random.Random(1)
    while True:
        choices = turn_preview.describe(_turn(game), 1, (), "")["choices"]
        found = [choice["action"] for choice in choices if choice["reveals"]]
        if found:
            break
        game.apply(chooser.choice(game.legal()))
    with pytest.raises(InvalidRequest, match="goes to chance"):
        turn_preview.preview(_View(game), None, 4, found[:1])
