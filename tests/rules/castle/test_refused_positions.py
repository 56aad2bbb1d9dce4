"""Positions that are refused because of what is pending, unread or out of turn (B-8)."""

import json

import pytest
from himeji import rules
from himeji.rules.errors import HimejiError, IllegalAction, ImpossiblePosition

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


# --- pending steps that contradict each other or the position ------------------------------------


def refused(position, *steps, reason):
    """A position with these steps pending is refused with that reason alone."""
    position["pending"] = list(steps)
    assert refusals(position) == (reason,)


def step(name, /, seat=0, **fields):
    return {"step": name, "seat": seat, **fields}


def at_the_end_of_a_round(position, number=1):
    position = at_the_end(position, number)
    position["over"] = False
    return position


def phases(*numbers):
    return [{"step": "phase", "number": number} for number in numbers]


def drafting(seats=2, ruleset="base"):
    return json.loads(rules.new_game(ruleset, seats, seed=1).to_json())


@pytest.mark.rule("B-8")
@pytest.mark.parametrize("rule", ["B-2.9", "B-99", "D-5.1", "S-3", "M-7.5"])
def test_a_pending_step_cites_a_rule_of_the_ruleset(first_turn, rule):
    position = after_one_turn(first_turn())
    resource = step("choose-resource", amount=1, rule=rule)
    refused(position, resource, reason=f"pending[0]: there is no rule {rule}")


@pytest.mark.rule("B-2.3", "B-3.1")
def test_the_effects_of_a_space_wait_for_a_die_that_lies_there(first_turn):
    position = after_one_turn(first_turn())
    entered = step("enter-space", space="well", die="white 4")
    refused(position, entered, reason="pending[0]: no white 4 lies on well (B-2.3)")
    entered = step("enter-space", space="domain-white", die="white 2")
    refused(position, entered, reason="pending[0]: no white 2 lies on domain-white (B-2.3)")
    entered = step("enter-space", space="domain-coral", die="white 2")
    reason = "pending[0]: a white die goes on the white row (B-3.6)"
    refused(position, entered, reason=reason)
    position["pending"] = [step("enter-space", space="well", die="white 2")]
    assert rules.from_json(position, seed=1)


@pytest.mark.rule("B-8")
def test_the_die_of_a_pending_step_has_a_colour_of_the_game(first_turn):
    entered = step("enter-space", space="well", die="green 4")
    reason = "pending[0]: die: 'green 4' is not a die such as “coral 4”"
    refused(after_one_turn(first_turn()), entered, reason=reason)


@pytest.mark.rule("B-3.6", "M-4.4")
def test_no_row_of_an_action_card_lies_beside_a_green_row(first_turn):
    position = after_one_turn(first_turn())
    reason = "pending[0]: no row of a card lies beside green (B-3.6)"
    refused(position, step("action-card-row", line="green"), reason=reason)


@pytest.mark.rule("B-6.2")
def test_a_checkpoint_comes_before_all_else(first_turn):
    position = after_one_turn(first_turn())
    position["clans"][0] |= {"influence": 5, "seal": 3}
    checkpoint = step("checkpoint", steps=2)
    reason = "pending[0]: a checkpoint is paid or not before anything else is done (B-6.2)"
    refused(position, checkpoint, checkpoint, reason=reason)
    reason = "pending[0]: no icon gives so much"
    refused(position, step("checkpoint", steps=16), reason=reason)


@pytest.mark.rule("B-4.5")
def test_one_courtier_waits_for_one_slot(first_turn):
    position = after_one_turn(first_turn())
    position["clans"][0]["courtiers"] |= {"domain": 4, "daimyo": 1}
    position["pending"] = [step("daimyo-slot")] * 2
    reason = "no courtier of the seat waits for a slot (B-4.5)"
    assert refusals(position) == (f"pending[0]: {reason}", f"pending[1]: {reason}")


def waiting(position, room="steward-room-1"):
    """A room waits for its card, which seat 0 has taken."""
    clan = position["clans"][0]
    clan["lantern"].append(clan["action_card"])
    clan["action_card"], position["rooms"][room] = position["rooms"][room], None
    clan["courtiers"] |= {"domain": 3, "gate": 1, room: 1}
    clan["pearl"] = 7
    return position


@pytest.mark.rule("B-4.4")
def test_a_room_gets_one_card(first_turn):
    position = waiting(after_one_turn(first_turn()))
    position["pending"] = [{"step": "refill", "room": "steward-room-1"}] * 2
    assert refusals(position) == tuple(
        f"pending[{n}]: a room gets one card (B-4.4)" for n in (0, 1)
    )


@pytest.mark.rule("B-4.4")
def test_no_courtier_climbs_to_a_room_while_one_waits_for_its_card(first_turn, load, offers):
    position = waiting(after_one_turn(first_turn()))
    courtier = step("courtier", audience=True, climb=True)
    position["pending"] = [{"step": "refill", "room": "steward-room-1"}, courtier]
    game = load(position)
    climbs = {text for text in offers(game) if text.startswith("climb")}
    assert climbs == {"climb steward-room-1 daimyo"}
    with pytest.raises(IllegalAction, match="a room waits for its next card"):
        game.apply(rules.action_id("base", "climb gate steward-room-2"))


@pytest.mark.rule("B-7.1")
@pytest.mark.parametrize(
    "pending",
    [
        phases(0, 1, 2),
        phases(2, 0),
        phases(1, 0),
        phases(2, 2),
        [*phases(2), step("gardens-of-seat"), *phases(1)],
    ],
)
def test_the_phases_of_the_end_of_a_round_come_one_after_the_other(first_turn, pending):
    reason = "pending: phases come one after the other, all else before them (B-7.1)"
    refused(at_the_end_of_a_round(first_turn()), *pending, reason=reason)


@pytest.mark.rule("B-7.1")
def test_the_last_turn_comes_before_the_end_of_the_round(first_turn):
    position = at_the_end_of_a_round(first_turn())
    entered = step("enter-space", space="well", die="coral 4")
    reason = "pending: the last turn comes before the end of the round (B-7.1)"
    refused(position, *phases(2), entered, reason=reason)


@pytest.mark.rule("B-7.2", "B-7.3")
def test_gardens_are_activated_after_rounds_1_and_2_before_the_next_one(first_turn):
    position, gardens = at_the_end_of_a_round(first_turn()), step("gardens-of-seat")
    reason = "pending[0]: gardens come after rounds 1 and 2 (B-7.2)"
    refused(position, gardens, reason=reason)
    last = at_the_end_of_a_round(first_turn(), 3)
    refused(last, *phases(2), gardens, reason=reason.replace("[0]", "[1]"))
    position["pending"] = [*phases(2), gardens]
    assert rules.from_json(position, seed=1)


@pytest.mark.rule("B-6.3")
def test_the_last_exchange_comes_before_the_final_scoring(first_turn):
    position = at_the_end_of_a_round(first_turn(), 3)
    reason = "pending[0]: the last round is not over (B-6.3)"
    refused(position, step("last-exchange"), reason=reason)


@pytest.mark.rule("B-1.7")
def test_every_seat_picks_one_pair():
    position = drafting()
    end, first, second = position["pending"]
    twice = {**first, "seat": second["seat"]}
    missing = f"clans[{first['seat']}].action_card: missing, and none is to be taken (B-1.7)"
    once = f"pending: seat {second['seat']} takes its starting cards once (B-1.7)"
    position["pending"] = [end, twice, second]
    assert set(refusals(position)) == {missing, once}
    courtier = step("courtier", seat=second["seat"], audience=True, climb=True)
    missing = f"clans[{second['seat']}].action_card: missing, and none is to be taken (B-1.7)"
    refused(position, end, first, second, courtier, reason=missing)


@pytest.mark.rule("B-1.7")
def test_one_pair_more_than_picks_is_laid_out():
    position = drafting()
    position["pairs"][0] = None
    assert refusals(position) == ("pairs: 2 are left, 2 are to be picked (B-1.7)",)
    position = drafting()
    position["pairs"][0]["action"] = None
    assert refusals(position) == ("pairs: 3 pairs, whole or picked, are laid out (B-1.7)",)
    position = drafting()
    position["pairs"].append(None)
    assert refusals(position) == ("pairs: 3 pairs, whole or picked, are laid out (B-1.7)",)


@pytest.mark.rule("M-3.6")
def test_each_pair_that_is_left_has_its_tile():
    for spoil in (list.pop, lambda offered: offered.__setitem__(1, None)):
        position = drafting(ruleset="matcha")
        spoil(position["tea"]["offered"])
        assert refusals(position) == ("tea.offered: each pair that is left has its tile (M-3.6)",)


@pytest.mark.rule("M-12.1")
def test_of_each_kind_one_starting_component_is_kept_and_comes_last():
    position = drafting(1, "matcha-solo")
    end, take, *keeps = position["pending"]
    reason = "pending[1]: of each kind one starting component is kept (M-12.1)"
    refused(position, end, take, *keeps[1:], reason=reason)
    missing = "clans[0].action_card: missing, and none is to be taken (B-1.7)"
    refused(position, end, reason=missing)
    position["pending"] = [end, *keeps, take]
    found = refusals(position)
    assert "pending[4]: what is kept comes to the player once, in the end (M-12.1)" in found
    assert "pending[1]: what is kept comes to the player afterwards (M-12.1)" in found


@pytest.mark.rule("S-5", "S-7")
@pytest.mark.parametrize("below", ["rival-garden", "courtier", "rival-deeds"])
def test_the_choices_of_the_rivals_turn_come_one_after_the_other(solitaire, below):
    garden = step("rival-garden", gardens=["coral plant", "white plant"])
    under = {
        "rival-garden": garden,
        "courtier": step("courtier", audience=True, climb=True),
        "rival-deeds": {"step": "rival-deeds", "deeds": ["2 rival-vp"]},
    }
    pending = (
        [under[below], under[below], garden] if below == "rival-deeds" else [under[below], garden]
    )
    reason = "pending: in the rival's turn its actions are done one after the other (S-5)"
    refused(after_one_turn(solitaire()), *pending, reason=reason)
    position = after_one_turn(solitaire())
    position["pending"] = [under["rival-deeds"], garden]
    assert rules.from_json(position, seed=1)


@pytest.mark.rule("S-6", "S-8")
def test_actions_of_the_rival_are_no_parts_of_a_seats_order(solitaire):
    parts = step("parts", rule="B-5.1", effects=["2 seal", "2 rival-vp"])
    reason = "pending[0]: 2 rival-vp: nothing that a seat is granted"
    refused(after_one_turn(solitaire()), parts, reason=reason)
    reason = "pending[0]: gardens come after rounds 1 and 2 (S-8)"
    refused(after_one_turn(solitaire()), {"step": "rival-gardens"}, reason=reason)
