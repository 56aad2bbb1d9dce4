"""What a mirror refuses, and what it gives to a bot (its law is in test_laws.py)."""

import random

import pytest
from himeji.rules import Mirror
from himeji.rules.errors import (
    ChanceExhausted,
    GameEnded,
    GameNotStarted,
    IllegalAction,
    InvalidRequest,
    VersionMismatch,
)

from tests.rules.playing import TABLES, finish, policy

TABLE = TABLES[0]


@pytest.fixture
def told():
    """All events of a finished game."""
    game = TABLE.begin(14)
    finish(game, policy(14))
    return game.events_since(0)


@pytest.fixture
def mirror():
    return Mirror(TABLE.ruleset, TABLE.seats, seed=1)


def first(events, kind):
    return next(number for number, event in enumerate(events) if event.kind == kind)


def test_a_mirror_has_no_game_before_the_whole_set_up_is_told(mirror, told):
    start = first(told, "action")
    last_result = max(n for n in range(start) if told[n].kind in ("roll", "draw"))
    mirror.feed(told[:last_result])
    with pytest.raises(GameNotStarted, match="set-up"):
        mirror.game  # noqa: B018
    mirror.feed(told[last_result:start])
    assert mirror.game.to_move is not None


def test_a_mirror_waits_for_the_draws_of_an_action(mirror, told):
    begun = max(n for n, event in enumerate(told[:-1]) if event.kind == "roll")
    action = max(n for n in range(begun) if told[n].kind == "action")
    mirror.feed(told[:action])
    before = mirror.game.dumps()
    mirror.feed(told[action:begun])
    assert mirror.game.dumps() == before
    mirror.feed(told[begun : begun + 1])
    assert mirror.game.dumps() != before


def test_an_empty_piece_changes_nothing(mirror, told):
    mirror.feed([])
    mirror.feed(told[: first(told, "action") + 1])
    before = mirror.game.dumps()
    mirror.feed([])
    assert mirror.game.dumps() == before


@pytest.mark.parametrize("size", [1, 1000])
def test_a_roll_that_no_die_shows_is_refused(mirror, told, size):
    roll = first(told, "roll")
    told[roll] = told[roll]._replace(b=7)
    with pytest.raises(ChanceExhausted, match="the script says 7"):
        feed_in_pieces(mirror, told, size)


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("kind", ["gain", "draw"])
def test_an_event_that_the_engine_would_not_make_is_refused(mirror, told, kind, size):
    gain = first(told, "action") + first(told[first(told, "action") :], kind)
    told[gain] = told[gain]._replace(a=told[gain].a + 1)
    with pytest.raises(VersionMismatch, match=f"event {gain} of the game is"):
        feed_in_pieces(mirror, told, size)


@pytest.mark.parametrize("size", [1, 1000])
def test_a_missing_event_is_noticed(mirror, told, size):
    del told[first(told, "gain")]
    with pytest.raises(VersionMismatch):
        feed_in_pieces(mirror, told, size)


@pytest.mark.parametrize("size", [1, 1000])
def test_a_draw_that_nobody_asked_for_is_noticed(mirror, told, size):
    action = first(told, "action")
    told.insert(action, told[first(told, "draw")])
    with pytest.raises(VersionMismatch, match=f"event {action} of the game"):
        feed_in_pieces(mirror, told, size)


def test_an_illegal_action_is_refused(mirror, told):
    action = first(told, "action")
    told[action] = told[action]._replace(a=5)
    with pytest.raises(IllegalAction):
        mirror.feed(told[: action + 1])


def test_nothing_can_follow_the_end(mirror, told):
    mirror.feed(told)
    assert mirror.game.over
    with pytest.raises(GameEnded):
        mirror.feed([told[first(told, "action")]])


def test_a_mirror_of_a_game_that_cannot_be_is_refused():
    with pytest.raises(InvalidRequest):
        Mirror(TABLE.ruleset, 99).feed([])
    with pytest.raises(InvalidRequest):
        Mirror(TABLE.ruleset, TABLE.seats, {"moon": "full"}).feed([])


def test_playing_on_the_mirror_instead_of_a_clone_is_noticed(mirror, told):
    start = first(told, "action")
    mirror.feed(told[:start])
    mirror.game.apply(next(a for a in mirror.game.legal() if a != told[start].a))
    with pytest.raises(VersionMismatch, match="instead of a clone"):
        mirror.feed(told[start:])


def test_searching_in_clones_does_not_disturb_what_is_told_later(mirror, told):
    rng = random.Random(3)
    for event in told:
        mirror.feed([event])
        if event.kind == "die-placed":
            mirror.game.playout(rng)
            finish(mirror.game.clone(), policy(1))
            finish(mirror.game.resample(rng), policy(2))
    assert mirror.game.events_since(0) == told


def feed_in_pieces(mirror, events, size):
    for start in range(0, len(events), size):
        mirror.feed(events[start : start + size])
