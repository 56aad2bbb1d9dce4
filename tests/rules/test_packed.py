"""Packed positions from anywhere: garbage is refused with one kind of error, never a crash."""

import random

import pytest
from himeji import rules
from himeji.rules.errors import HimejiError, InvalidRequest, UnknownRuleset, VersionMismatch

TABLES = [(each.name, seats) for each in rules.RULESETS.values() for seats in each.seat_counts]


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_spoilt_bytes_are_refused_or_read_but_never_crash(ruleset, seats):
    rng = random.Random(seats)
    game = rules.new_game(ruleset, seats, seed=1)
    for _ in range(25):
        game.apply(game.legal()[0])
    whole, refused = game.dumps(), 0
    for _ in range(600):
        spoilt = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            spoilt[rng.randrange(len(spoilt))] = rng.randrange(256)
        try:
            rules.loads(bytes(spoilt), seed=1)
        except HimejiError:
            refused += 1
    assert refused > 100


def test_bytes_that_are_cut_off_or_too_long_are_refused():
    whole = rules.new_game("base", 2, seed=1).dumps()
    for length in range(len(whole)):
        with pytest.raises((InvalidRequest, UnknownRuleset, VersionMismatch)):
            rules.loads(whole[:length], seed=1)
    with pytest.raises(InvalidRequest):
        rules.loads(whole + b"\0", seed=1)
