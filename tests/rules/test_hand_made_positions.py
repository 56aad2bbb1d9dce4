"""Whatever is changed in a position by hand: it is refused with reasons, or it can be played.

`pytest --positions 10000 tests/rules/test_hand_made_positions.py` tries more than an ordinary run,
always the same ones first. mutations.py says what is changed, fuzzing.py what must hold.
"""

import functools
import random

import pytest

from tests.conftest import NOTE
from tests.rules.fuzzing import (
    as_message,
    examine,
    examine_message,
    read,
    report,
    report_message,
    taken,
)
from tests.rules.mutations import World, case, spoil
from tests.rules.playing import TABLES, every_table

FEWEST = 0.2  # of the positions must be possible, else play is hardly tried
A_FEW = 60

world_of = functools.cache(World)


@pytest.fixture(scope="module")
def positions(request):
    """How many positions of each table are changed."""
    return -(-request.config.getoption("--positions") // len(TABLES))


@pytest.fixture
def tell(positions, record_property):
    """Tells how many positions were possible, in a long run."""
    return lambda text: record_property(NOTE, text) if positions > A_FEW else None


@every_table
@pytest.mark.rule("B-8")
def test_a_changed_position_is_refused_with_reasons_or_played_to_its_end(table, positions, tell):
    world, played = world_of(table), 0
    for number in range(positions):
        each = case(world, number)
        try:
            played += examine(each.position(world), number)
        except Exception:  # noqa: BLE001 - whatever it is, it is told with what repeats it
            pytest.fail(report(each, world, number), pytrace=False)
    tell(f"{table}: {played} of {positions} changed positions were played")


@every_table
@pytest.mark.rule("B-8")
def test_a_changed_message_is_refused_with_reasons_or_played_to_its_end(table, positions, tell):
    world, played = world_of(table), 0
    for number in range(positions):
        rng = random.Random(f"{table} message {number}")
        message = as_message(rng.choice(world.positions))
        for _ in range(rng.choice((1, 1, 2))):
            spoil(message, rng)
        try:
            played += examine_message(message, number)
        except Exception:  # noqa: BLE001 - whatever it is, it is told with what repeats it
            pytest.fail(report_message(message, number), pytrace=False)
    tell(f"{table}: {played} of {positions} changed messages were played")


@every_table
def test_many_changed_positions_are_possible(table):
    world = world_of(table)
    found = [taken(read(case(world, number).position(world))) for number in range(A_FEW)]
    assert len([game for game in found if game]) >= FEWEST * A_FEW
