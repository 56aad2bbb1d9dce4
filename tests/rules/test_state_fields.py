"""The table of state fields names everything that a position consists of, once."""

import random
from types import GetSetDescriptorType

import pytest
from himeji import rules
from himeji.rules.packing import GroupsField, ListField, StateTable, TupleField, Unpacker

from tests.rules.playing import every_table

# What a packed position holds beside the table, and what follows from the rest.
FRAME = {"ruleset", "seats", "options", "stack"}
DERIVED = {"rules", "tables", "caps", "clans", "stacking", "beside", "well", "tea_garden"}
OF_THE_OBJECT = {"chance", "answers", "log", "to_move"}


def fields_of(game):
    return game.ruleset.state.fields


def attributes(game):
    """The data attributes of a game, whether its class is compiled or not."""
    if hasattr(game, "__dict__"):
        return {*vars(game), "to_move"}
    kind = type(game)
    names = [name for name in dir(kind) if not name.startswith("_")]
    return {name for name in names if isinstance(getattr(kind, name), GetSetDescriptorType)}


def somewhere(table, seed):
    """A game after a number of random decisions."""
    game, rng = table.begin(seed), random.Random(seed)
    for _ in range(rng.randrange(60)):
        if not game.over:
            game.apply(rng.choice(game.legal()))
    return game


@every_table
def test_every_attribute_is_in_the_table_or_known_to_be_elsewhere(table):
    game = table.begin(0)
    names = [field.name for field in fields_of(game)]
    assert len(set(names)) == len(names)
    known = {*names} | FRAME | DERIVED | OF_THE_OBJECT
    assert attributes(game) - known == set()
    assert {*names} - attributes(game) == set()


@every_table
def test_a_clone_copies_every_field_and_shares_no_list(table):
    for seed in range(20):
        game = somewhere(table, seed)
        twin = game.clone()
        assert type(twin) is type(game)
        for field in fields_of(game):
            mine, its = getattr(game, field.name), getattr(twin, field.name)
            assert its == mine, field.name
            assert type(its) is type(mine), field.name
            if isinstance(mine, list):
                assert its is not mine, f"{field.name} would change in both games"


@every_table
def test_a_field_is_of_the_kind_that_the_table_says(table):
    game = somewhere(table, 7)
    again = rules.loads(game.dumps(), seed=1)
    for field in fields_of(game):
        for value in (getattr(game, field.name), getattr(again, field.name)):
            if isinstance(field, TupleField):
                assert isinstance(value, tuple), field.name
            elif isinstance(field, ListField | GroupsField):
                assert isinstance(value, list), field.name
            else:
                assert isinstance(value, int), field.name


def test_a_list_that_only_an_expansion_has_must_be_empty():
    game, table = rules.new_game("base", 2, seed=1), StateTable((), (), (), spare_lists=2)
    table.fill(game, Unpacker(b"\0\0"))
    with pytest.raises(ValueError, match="no such list"):
        table.fill(game, Unpacker(b"\0\1\7"))
