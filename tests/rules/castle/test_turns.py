"""Rounds and turns (B-2.1 to B-2.3)."""

import json
import random
import re
from pathlib import Path

import pytest
from himeji import rules
from himeji.rules import Scripted, seeded
from himeji.rules.constants import COIN, PEARL, SEAL
from himeji.rules.errors import IllegalAction


def first_answers(game):
    """Play the last answer of every decision until the next turn begins; the seat that played."""
    seat = game.to_move
    game.apply(game.legal()[-1])
    while not game.over and not rules.action_text("base", game.legal()[-1]).startswith("take"):
        game.apply(game.legal()[-1])
    return seat


@pytest.fixture
def last_turn(first_turn):
    """Seat 1 at the last turn of a round of two seats, four dice left on the bridges."""

    def build(round_number=1):
        position = first_turn()
        position |= {"round": round_number, "turn": 6}
        position["bridges"] = {
            "coral": {"left": 1, "centre": [], "right": 6},
            "black": {"left": 2, "centre": [], "right": None},
            "white": {"left": None, "centre": [], "right": 3},
        }
        position["spaces"]["well"] = ["coral 1", "black 1", "black 2", "white 1", "white 2"]
        position["pending"] = [{"step": "take-die", "seat": 1}]
        return position

    return build


# --- B-2.1 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-2.1")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_in_a_round_the_seats_take_turns_in_turn_order_three_times(first_turn, load, seats):
    position = first_turn(seats)
    position["turn_order"] = order = [*range(1, seats), 0]
    position["pending"] = [{"step": "take-die", "seat": 1}]
    game = load(position)
    assert [first_answers(game) for _ in range(3 * seats)] == order * 3
    assert json.loads(game.to_json())["round"] == 2


@pytest.mark.rule("B-2.1")
def test_three_dice_are_left_on_the_bridges_when_the_round_ends(last_turn, load, do):
    position = last_turn()
    position["gardens"]["coral stone"] = "garden-stone-7"
    position["gardens"]["white stone"] = "garden-stone-9"
    position["clans"][0]["gardeners"] = ["coral stone"]
    game = load(position)
    do(game, "take coral right", "place well")
    assert game.to_move == 0  # the garden step has begun, the round is over
    bridges = json.loads(game.to_json())["bridges"].values()
    dice = [die for bridge in bridges for die in (bridge["left"], bridge["right"]) if die]
    assert sorted(dice) == [1, 2, 3]


@pytest.mark.rule("B-2.1", "B-8")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_game_has_three_rounds_of_three_turns_for_every_seat(seats):
    game, dice = rules.new_game("base", seats, seed=2), random.Random(2)
    while not game.over:
        game.apply(dice.choice(game.legal()))
    events = game.events_since(0)
    assert [event.a for event in events if event.kind == "round-began"] == [1, 2, 3]
    turns = [event.seat for event in events if event.kind == "die-taken"]
    assert [turns.count(seat) for seat in range(seats)] == [9] * seats


# --- B-2.2 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-2.2")
def test_the_dice_of_a_round_are_laid_ascending_with_the_lowest_on_the_left(last_turn, do):
    rolls = [6, 1, 3, 2, 2, 5, 4, 3, 1]
    game = rules.from_json(last_turn(), chance=Scripted(rolls, seeded(1)))
    do(game, "take coral right", "place well")
    position = json.loads(game.to_json())
    assert position["round"] == 2
    assert position["bridges"] == {
        "coral": {"left": 1, "centre": [3], "right": 6},
        "black": {"left": 2, "centre": [2], "right": 5},
        "white": {"left": 1, "centre": [3], "right": 4},
    }


@pytest.mark.rule("B-2.2")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_first_dice_lie_ascending_too(seats):
    for seed in range(20):
        for bridge in json.loads(rules.new_game("base", seats, seed=seed).to_json())[
            "bridges"
        ].values():
            dice = [bridge["left"], *bridge["centre"], bridge["right"]]
            assert dice == sorted(dice)
            assert set(dice) <= set(range(1, 7))


@pytest.mark.rule("B-2.2")
def test_every_round_rolls_the_dice_of_every_colour(last_turn, load, do):
    game = load(last_turn(2))
    do(game, "take coral right", "place well")
    rolls = [event for event in game.events_since(0) if event.kind == "roll"]
    assert [event.a for event in rolls] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert {event.rule for event in rolls} == {"B-2.2"}


# --- B-2.3 --------------------------------------------------------------------------------------


@pytest.fixture
def table(first_turn):
    """Seat 0 with the icons pearl and coin in its Lantern Area; the Well gives two food."""
    position = first_turn()
    for bridge in position["bridges"].values():
        bridge |= {"left": 5, "centre": [5], "right": 5}
    position["tiles"] |= {"11": "die-tile-coral-food", "12": "die-tile-black-food"}
    position["clans"][0]["lantern"] = ["start-resource-1", "decree-1"]
    return position


@pytest.mark.rule("B-2.3")
def test_the_die_taken_is_placed_next(table, load, do, offers):
    game = load(table)
    do(game, "take coral right")
    assert game.to_move == 0
    assert offers(game) == {
        *("place steward-room-1", "place steward-room-2"),
        *("place diplomat-room-2", "place outside-left", "place outside-right", "place well"),
    }


@pytest.mark.rule("B-2.3")
def test_coins_come_first_then_the_lantern_then_the_effects_of_the_space(table, load, do):
    game = load(table)
    do(game, "take coral left", "place well")
    gains = [
        (event.a, event.b, event.rule) for event in game.events_since(0) if event.kind == "gain"
    ]
    assert [gains[0], *gains[1:3], gains[-1]] == [
        (COIN, 4, "B-2.5"),
        (PEARL, 1, "B-5.1"),
        (COIN, 1, "B-5.1"),
        (SEAL, 1, "B-3.5"),
    ]


@pytest.mark.rule("B-2.3")
def test_a_die_from_the_left_end_gains_the_lantern(table, load, do, clan):
    game = load(table)
    do(game, "take coral left", "place outside-left")
    assert (clan(game, 0)["pearl"], clan(game, 0)["coin"]) == (1, 1)


@pytest.mark.rule("B-2.3")
def test_a_die_from_the_right_end_gains_no_lantern(table, load, do, clan):
    game = load(table)
    do(game, "take coral right", "place outside-left")
    assert (clan(game, 0)["pearl"], clan(game, 0)["coin"]) == (0, 0)


@pytest.mark.rule("B-2.3")
def test_only_the_owner_of_the_turn_gains_its_lantern(table, load, do, clan):
    game = load(table)
    do(game, "take coral left", "place outside-left")
    assert clan(game, 1)["iron"] == 0


@pytest.mark.rule("B-2.3")
def test_there_is_no_pass(table, load, do, offers):
    game = load(table)
    assert "done" not in offers(game)
    with pytest.raises(IllegalAction) as refused:
        do(game, "done")
    assert refused.value.rule == "B-2.3"
    do(game, "take coral right")
    assert "done" not in offers(game)


@pytest.mark.rule("B-2.3")
def test_the_well_accepts_a_die_that_no_other_space_accepts(table, load, do, offers):
    table["bridges"]["coral"] = {"left": 1, "centre": [1], "right": 1}
    table["clans"][0]["seal"] = 1
    game = load(table)
    do(game, "take coral right")
    assert offers(game) == {"place well", "exchange 1 seal for 1 coin"}


@pytest.mark.rule("B-2.3")
def test_the_turn_ends_when_the_effects_of_the_space_are_done(table, load, do, offers):
    game = load(table)
    do(game, "take coral right", "place outside-left", "done")
    assert game.to_move == 1
    assert "take coral left" in offers(game)


@pytest.mark.rule("B-2.3")
def test_an_answer_to_another_question_is_refused_with_the_legal_ones(table, load, do):
    game = load(table)
    before = game.to_json()
    with pytest.raises(IllegalAction, match="seat 0 is asked to take a die") as refused:
        do(game, "place well")
    assert refused.value.rule == "B-2.3"
    assert refused.value.action == rules.action_id("base", "place well")
    assert list(refused.value.legal) == game.legal()
    assert game.to_json() == before


# --- rule ids -------------------------------------------------------------------------------------

RULES = Path(__file__).parents[3] / "docs" / "rules" / "base.md"
PARAGRAPHS = set(re.findall(r"^- \*\*(B-\d+\.\d+)\*\*", RULES.read_text(), re.MULTILINE))


@pytest.mark.rule("B-8")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_every_event_of_a_game_cites_a_paragraph_of_the_rules(seats):
    game, dice = rules.new_game("base", seats, seed=seats), random.Random(seats)
    while not game.over:
        game.apply(dice.choice(game.legal()))
    assert {event.rule for event in game.events_since(0)} <= PARAGRAPHS


@pytest.mark.rule("B-8")
def test_every_refusal_cites_a_paragraph_of_the_rules_and_changes_nothing():
    game, dice = rules.new_game("base", 3, seed=9), random.Random(9)
    actions = list(rules.ruleset("base").actions.texts)
    while not game.over:
        action, before = dice.choice(actions), game.to_json()
        if action not in game.legal():
            with pytest.raises(
                IllegalAction, match=r"seat \d is asked to .+ and tried “"
            ) as refused:
                game.apply(action)
            assert refused.value.rule in PARAGRAPHS
            assert game.to_json() == before
        game.apply(dice.choice(game.legal()))
