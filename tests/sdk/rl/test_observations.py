"""Observations: for every ruleset a vector of one length, complete, and seen from the seat."""

import json
import random
import subprocess
import sys

import numpy as np
import pytest
from himeji import rules
from himeji_sdk import rl
from himeji_sdk.rl._entries import UNKNOWN
from himeji_sdk.rl._schema import LIMIT
from himeji_sdk.rl._shape import Shape

TABLES = [(name, seats) for name, each in rules.RULESETS.items() for seats in each.seat_counts]


def positions(name, seats, games, choose=random.Random.choice):
    """Every position of some games that are none of those from which schemas are made."""
    for seed in range(5000, 5000 + games):
        game, rng = rules.new_game(name, seats, seed=seed), random.Random(seed)
        while not game.over:
            yield game
            game.apply(choose(rng, game.legal()))
        yield game


def described(game):
    return json.loads(game.to_json())


def entries(schema, game, seat):
    """The entries of an observation that are not 0, by name, as the numbers that they stand for."""
    vector = schema.observe(game, seat)
    return {schema.names[n]: vector[n] * schema.scales[n] for n in vector.nonzero()[0]}


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_every_position_of_every_ruleset_has_an_entry_for_all_that_it_holds(name, seats):
    schema = rl.schema(name, seats)
    assert len(set(schema.names)) == len(schema) == len(schema.scales)
    for game in positions(name, seats, 6):
        vector = schema.observe(game, game.to_move or 0)
        assert vector.shape == (len(schema),)
        assert vector.dtype == np.float32
        assert np.abs(vector).max() < LIMIT
        assert vector[UNKNOWN] == 0, game.to_json()


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_two_positions_of_a_game_that_differ_look_different(name, seats):
    schema = rl.schema(name, seats)
    seen = {}
    for game in positions(name, seats, 2):
        seat = game.to_move or 0
        public = game.to_json()
        vector = schema.observe(game, seat).tobytes()
        assert seen.setdefault(vector, public) == public
    assert len(seen) > 20


def test_what_was_not_foreseen_is_counted():
    schema = rl.schema("base", 2)
    game = rules.new_game("base", 2, seed=1)
    position = described(game) | {"moon": "full", "round": "first"}

    class Strange:
        """A game, and its ruleset, with a position of another kind."""

        def describe(self, _):
            return position

        ruleset = property(lambda self: self)

    assert schema.observe(Strange(), 0)[UNKNOWN] == 2


def test_numbers_words_and_lists_are_written_as_the_page_says():
    game = rules.new_game("base", 2, seed=7)
    rng = random.Random(1)
    for _ in range(40):
        game.apply(rng.choice(game.legal()))
    position, seen = described(game), entries(rl.schema("base", 2), game, 1)
    assert seen["round"] == position["round"]
    assert seen["rooms/steward-room-2=" + position["rooms"]["steward-room-2"]] == 1
    for card in position["decks"]["diplomat"]:
        assert seen[f"decks/diplomat={card}"] == 1
    assert sum(name.startswith("decks/diplomat=") for name in seen) == len(
        position["decks"]["diplomat"]
    )
    for place, dice in position["spaces"].items():
        for die in dice:
            assert seen[f"spaces/{place}={die}"] == dice.count(die)
    asked = position["pending"][-1]
    assert seen[f"asked/step={asked['step']}"] == 1
    assert seen[f"asked/seat=clan-{(asked['seat'] - 1) % 2}"] == 1


@pytest.mark.parametrize("seats", [2, 4])
def test_clan_0_is_the_seat_that_looks(seats):
    schema = rl.schema("base", seats)
    for game in positions("base", seats, 1):
        position = described(game)
        for seat in range(seats):
            seen = entries(schema, game, seat)
            assert seen[f"me={seat}"] == 1
            for clan in range(seats):
                coins = position["clans"][(seat + clan) % seats]["coin"]
                assert seen.get(f"clans/{clan}/coin", 0) == coins
            first = (position["turn_order"][0] - seat) % seats
            assert seen[f"turn_order/0=clan-{first}"] == 1


def test_the_top_of_a_stack_is_told_apart():
    game = described(rules.new_game("base", 2, seed=1))
    shape = Shape()
    for dice in (["coral 1", "white 2"], ["white 2", "coral 1"]):
        shape.see({"well": dice, "set": sorted(dice)})
    assert shape.table["well"].ordered
    assert not shape.table["set"].ordered
    assert "well" in game["spaces"]
    assert any(name.startswith("spaces/well/last=") for name in rl.schema("base", 2).names)


def test_a_schema_is_the_same_in_every_process_and_in_both_forms_of_the_rules():
    code = "from himeji_sdk import rl; print(rl.schema('base', 2).digest)"
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"HIMEJI_PURE": pure, "PYTHONHASHSEED": pure},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for pure in ("0", "1")
    }
    assert told == {rl.schema("base", 2).digest}


def test_a_schema_can_be_kept_as_a_document():
    schema = rl.schema("base", 3)
    document = json.loads(schema.to_json())
    assert document["ruleset"] == "base"
    assert document["revision"] == rules.ruleset("base").revision
    assert [entry["name"] for entry in document["entries"]] == schema.names
    assert schema.digest != rl.schema("base", 2).digest
    assert rl.schema("base", 3) is schema
