"""Positions that are refused because of what is pending, unread or out of turn (B-8)."""

import json

import pytest
from himeji import rules
from himeji.rules.errors import HimejiError, ImpossiblePosition

COLOURS = ("coral", "black", "white")


def refusals(position):
    with pytest.raises(ImpossiblePosition) as caught:
        rules.from_json(position, seed=1)
    assert caught.value.reasons
    return caught.value.reasons


def after_one_turn(position):
    """Seat 0 has placed a white die on the Well; what follows it is still pending."""
    position["bridges"]["white"] = {"left": 2, "centre": [], "right": 3}
    position["spaces"]["well"] = ["white 2"]
    return position


def at_the_end(position, number=3):
    position |= {"over": True, "pending": [], "round": number, "turn": 6}
    lone = {"left": 1, "centre": [], "right": None}
    position["bridges"] = {colour: dict(lone) for colour in COLOURS}
    position["spaces"]["well"] = [f"{colour} 4" for colour in COLOURS for _ in range(2)]
    return position


@pytest.mark.rule("B-8")
def test_a_value_that_cannot_be_read_does_not_hide_what_is_impossible(first_turn):
    position = first_turn()
    position["clans"][0]["food"] = 8
    position["clans"][1]["courtiers"]["gate"] = 1
    position["spaces"]["well"] = ["coral 3"]
    reasons = refusals(position)
    for words in ("clans[0].food", "clans[1].courtiers", "coral dice"):
        assert any(words in reason for reason in reasons), words


@pytest.mark.rule("B-8", "B-7.3")
@pytest.mark.parametrize("number", [1, 2])
def test_a_game_that_ended_before_round_three_is_refused(first_turn, number):
    assert refusals(at_the_end(first_turn(), number))


@pytest.mark.rule("B-8", "B-7.3")
def test_a_game_that_ended_before_its_last_turn_is_refused(first_turn):
    position = at_the_end(first_turn())
    position["turn"] = 5
    position["spaces"]["well"].pop()
    position["bridges"]["white"]["right"] = 4
    assert refusals(position)


@pytest.mark.rule("B-8", "B-6.2")
def test_an_influence_marker_beyond_the_last_position_is_refused(first_turn):
    position = first_turn()
    position["clans"][0]["influence"] = 21
    assert any("clans[0].influence" in reason for reason in refusals(position))


@pytest.mark.rule("B-8")
@pytest.mark.parametrize("good", ["food", "seal", "coin", "influence"])
def test_an_amount_that_is_null_is_refused(first_turn, good):
    position = first_turn()
    position["clans"][0][good] = None
    assert any(f"clans[0].{good}" in reason for reason in refusals(position))


@pytest.mark.rule("B-8")
@pytest.mark.parametrize("key", ["turn", "set_up", "over", "pairs", "options", "deal"])
def test_a_key_that_is_null_is_refused(first_turn, key):
    position = first_turn()
    position[key] = None
    assert any(reason.startswith(f"{key}:") for reason in refusals(position))


@pytest.mark.rule("B-8")
def test_a_hand_that_is_not_an_object_is_refused(first_turn):
    position = first_turn()
    position["hand"] = "coral 4"
    assert any(reason.startswith("hand") for reason in refusals(position))


@pytest.mark.rule("B-8")
def test_a_missing_hand_is_named(first_turn):
    position = first_turn()
    del position["hand"]
    assert "hand: missing" in refusals(position)


@pytest.mark.rule("B-8")
@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("bridges", "green"), {"left": 1, "centre": [], "right": None}),
        (("bridges", "coral", "middle"), [3]),
        (("spaces", "tea-house"), ["coral 1"]),
        (("decks", "plant"), []),
        (("daimyo", "name"), "x"),
        (("clans", 0, "courtiers", "tower"), 0),
        (("clans", 0, "warriors", "yard-4"), 2),
        (("clans", 0, "dice", "green"), 3),
    ],
)
def test_an_unknown_key_deep_in_the_position_is_named(first_turn, path, value):
    position = first_turn()
    *way, key = path
    table = position
    for step in way:
        table = table[step]
    table[key] = value
    assert any("unknown key" in reason for reason in refusals(position))


@pytest.mark.rule("B-8", "B-1.1")
@pytest.mark.parametrize("seats", [5, "two"])
def test_a_wrong_number_of_seats_is_repeated_in_the_refusal(first_turn, seats):
    position = first_turn()
    position["seats"] = seats
    with pytest.raises(HimejiError) as caught:
        rules.from_json(position)
    assert str(seats) in str(caught.value)


@pytest.mark.rule("B-8", "B-2.1")
def test_two_turns_at_once_are_refused(first_turn):
    position = first_turn()
    position["pending"] = [{"step": "take-die", "seat": 1}, {"step": "take-die", "seat": 0}]
    assert refusals(position)


@pytest.mark.rule("B-8", "B-1.7", "B-6.3")
def test_a_set_up_that_is_not_over_when_turns_are_taken_is_refused(first_turn):
    position = first_turn()
    position["set_up"] = True
    assert refusals(position)


@pytest.mark.rule("B-8", "B-1.7")
def test_starting_pairs_on_offer_after_the_set_up_are_refused(first_turn):
    position = first_turn()
    position["pairs"] = [{"resource": "start-resource-9", "action": "start-action-1a"}]
    assert refusals(position)


@pytest.mark.rule("B-8")
def test_a_position_that_no_play_reaches_but_that_breaks_no_invariant_is_accepted(first_turn):
    """Puzzles may leave starting cards out, lay tiles freely and give the turn to any seat."""
    position = first_turn()
    position["pending"] = [{"step": "take-die", "seat": 1}]
    position["clans"][0]["lantern"] = []
    position["clans"][0]["courtiers"] |= {"domain": 4, "daimyo": 1}
    tiles = position["tiles"]
    tiles["6"], tiles["12"] = tiles["12"], tiles["6"]  # diplomat-room-1: black and black
    assert rules.from_json(position, seed=1).to_move == 1


@pytest.mark.rule("B-8")
@pytest.mark.parametrize(
    "step",
    [
        {"step": "phase", "number": 99},
        {"step": "pick-pair", "seat": 0},
        {"step": "light-row", "seat": 0, "card": "decree-1"},
        {"step": "offer", "seat": 0, "card": "decree-1", "place": 0, "rule": "B-3.6"},
        {"step": "offer", "seat": 0, "card": "steward-12", "place": 5, "rule": "B-3.6"},
        {
            "step": "room-rows",
            "seat": 0,
            "room": "steward-room-1",
            "card": "decree-1",
            "rows": ["top"],
        },
        {
            "step": "room-rows",
            "seat": 0,
            "room": "diplomat-room-1",
            "card": "diplomat-10",
            "rows": ["bottom"],
        },
    ],
)
def test_a_pending_step_that_cannot_be_done_is_refused_and_does_not_crash(first_turn, step):
    position = after_one_turn(first_turn())
    position["pending"] = [step]
    assert refusals(position)


@pytest.mark.rule("B-8", "B-4.4")
def test_a_room_that_waits_for_a_card_of_an_empty_deck_is_refused(first_turn):
    position = after_one_turn(first_turn())
    position["clans"][1]["lantern"] += position["decks"]["steward"]
    position["decks"]["steward"] = []
    position["clans"][0]["lantern"].append(position["clans"][0]["action_card"])
    position["clans"][0]["action_card"] = position["rooms"]["steward-room-1"]
    position["rooms"]["steward-room-1"] = None
    position["clans"][0]["courtiers"] |= {"domain": 4, "steward-room-1": 1}
    position["pending"] = [
        {"step": "refill", "room": "steward-room-1"},
        {"step": "light-row", "seat": 0, "card": position["clans"][0]["action_card"]},
    ]
    assert refusals(position)


@pytest.mark.rule("B-8")
@pytest.mark.parametrize(
    "step",
    [
        {"step": "daimyo-slot", "seat": 0},  # no courtier of the seat is on the floor
        {"step": "checkpoint", "seat": 0, "steps": 1},  # the marker stands before no checkpoint
        {"step": "activate-gardens", "seat": 0, "gardens": ["coral stone"]},  # no gardener there
        {"step": "courtier", "seat": 0, "audience": False, "climb": False},
        {"step": "light-row", "seat": 0, "card": "start-action-1a"},
        {"step": "choose-resource", "seat": 0, "amount": 1000, "rule": "B-5.2"},
        {"step": "seals-at-cap", "seat": 0, "amount": 999, "rule": "B-5.2"},
        {"step": "last-exchange", "seat": 0},  # in round 1
        {"step": "end-of-draft"},  # after the draft
    ],
)
def test_a_pending_step_that_does_not_fit_the_position_is_refused(first_turn, step):
    position = after_one_turn(first_turn())
    position["pending"] = [step]
    assert refusals(position)


@pytest.mark.rule("B-8", "B-4.5")
def test_a_position_that_was_accepted_is_accepted_again_after_an_action(first_turn):
    position = after_one_turn(first_turn())
    position["pending"] = [{"step": "daimyo-slot", "seat": 0}]
    try:
        game = rules.from_json(position, seed=1)
    except ImpossiblePosition:
        return
    game.apply(game.legal()[0])
    rules.from_json(json.loads(game.to_json()), seed=1)
