"""Positions of Duel that cannot be: refused, each with its reason and its key."""

import json

import pytest
from himeji import rules
from himeji.rules.errors import HimejiError, ImpossiblePosition, InvalidRequest

from tests.rules.duel.conftest import exhaust, give, load, pending


def reasons(position):
    with pytest.raises(ImpossiblePosition) as refusal:
        load(position)
    return list(refusal.value.reasons)


def put(*keys):
    """A change that sets the value at a path of keys; the last argument is the value."""
    *path, last, value = keys

    def change(position):
        table = position
        for key in path:
            table = table[key]
        table[last] = value

    return change


def both(*changes):
    def change(position):
        for each in changes:
            each(position)

    return change


TRUE = True
OVER, SET_UP = put("over", TRUE), put("set_up", TRUE)
L1 = ("locations", "L1", "tokens")
IMPOSSIBLE = {
    "white tokens: 5 instead of 4": put("clans", 1, "tokens", "white", 3),
    "locations.L1.tokens: a stack has at most 3": put(*L1, ["white", "white"]),
    "locations.L1.tokens: the first token has the colour": put(*L1, ["coral"]),
    "clans[0].tokens: 5, after 0 turns of the round a seat has 6": both(
        put("clans", 0, "tokens", "coral", 1), put(*L1, ["black"])
    ),
    "clans[1].tokens: a seat begins with 2": both(
        put("clans", 1, "tokens", "coral", 3), put("clans", 1, "tokens", "black", 1)
    ),
    "clans[0]: 11 coins and seals, 10 fit": both(
        put("clans", 0, "coin", 6), put("clans", 0, "seal", 5)
    ),
    "clans[0].food: 8 is not a whole number from 0 to 7": put("clans", 0, "food", 8),
    "clans[0].swap: 3 is not": put("clans", 0, "swap", 3),
    "clans[0].courtier: 8 is not": put("clans", 0, "courtier", 8),
    "clans[0]: 9 Clan Seals on the board, a seat has 8": both(
        put("clans", 0, "yard_seals", "basic", 5),
        put("clans", 0, "yard_seals", "elite", 3),
        put("clans", 0, "garden_seals", "G1", 1),
    ),
    "garden_seals.G3: 3, 2 fit": both(
        put("clans", 0, "garden_seals", "G3", 2), put("clans", 1, "garden_seals", "G3", 1)
    ),
    "yard_seals.elite: 4, 3 fit": both(
        put("clans", 0, "yard_seals", "elite", 2), put("clans", 1, "yard_seals", "elite", 2)
    ),
    "clans: the seats have different paths": both(
        put("clans", 0, "path", "left"), put("clans", 1, "path", "left")
    ),
    "clans: the first move of a courtier picks the paths": put("clans", 0, "courtier", 1),
    "activation-trade lies in two places": put("activation", "A1", "activation-trade"),
    "activation-courtier is nowhere": put("activation", "A1", "activation-trade"),
    "location-coral-1 is nowhere": put("locations", "L1", "tile", "location-coral-2"),
    "flag-03 lies in two places": put("decks", "D_MID", "top", "flag-03"),
    "weapon-01 is nowhere": put("decks", "D_MID", "top", "flag-03"),
    "unseen_cards: 33, below the tops lie 32": put("decks", "D_MID", "below", 10),
    "decks.D_MID: the top card of a deck shows": put("decks", "D_MID", "top", None),
    "lantern_cards: the display is refilled": put("lantern_cards", 0, None),
    "merchandise.common: the top tile shows": put("merchandise", "common", "top", None),
    "clans[0].zones.coral: start-black-coin is of another colour": both(
        put("clans", 0, "zones", "black", []),
        put("clans", 0, "zones", "coral", ["start-black-coin"]),
    ),
    "clans[0].zones: 0 start cards": put("clans", 0, "zones", "black", []),
    "gardens: the tiles lie otherwise": both(
        put("gardens", "G1", "garden-8"),
    ),
    "yards.basic: 'elite-1' is not a basic-yard": put("yards", "basic", "elite-1"),
    "yards: a tile is missing": put("yards", "basic", None),
    "round: 0, rounds are": put("round", 0),
    "over: a finished game has had 24 turns": both(OVER, put("pending", [])),
    "pending: the game is over and something": OVER,
    "set_up: it is true just while": SET_UP,
    "start_cards: they are there just during": put("start_cards", ["start-coral-coin", None, None]),
    "turn: a turn is pending that has not begun": put("turn", 0),
    "pending[0]: no turn of the round has begun": put("turn", 0),
    "pending[0]: turn 1 is not that of seat 1": put(
        "pending", [{"step": "move-token", "seat": 1, "swap": True}]
    ),
    "pending[0]: it is the turn of seat 0": put(
        "pending", [{"step": "well", "seat": 1, "amount": 1, "rule": "D-5.5"}]
    ),
    "pending: a token is moved before anything else": put(
        "pending",
        [
            {"step": "move-token", "seat": 0, "swap": True},
            {"step": "well", "seat": 0, "amount": 1, "rule": "D-5.5"},
        ],
    ),
    "pending[0]: not all turns have been played": put(
        "pending", [{"step": "last-exchange", "seat": 0}]
    ),
    "pending[0]: unknown step 'dance'": put("pending", [{"step": "dance"}]),
    "pending[0]: step well has seat, amount, rule": put("pending", [{"step": "well"}]),
    "pending[0]: slots: ['A9'] is not": put(
        "pending", [{"step": "adjacent", "seat": 0, "slots": ["A9"]}]
    ),
    "pending[0]: there is no seat 4": put("pending", [{"step": "choose-zone", "seat": 4}]),
    "options.moon: unknown key": put("options", "moon", "full"),
    "moon: unknown key": put("moon", 1),
    "clans[0].moon: unknown key": put("clans", 0, "moon", 1),
    "clans[0].path: 'up' is neither left, right nor null": put("clans", 0, "path", "up"),
    "clans[0].cards: flag-03 is named twice": put("clans", 0, "cards", ["flag-03", "flag-03"]),
    "clans: expected 2 objects": put("clans", []),
    "seats: 3 is not one of 2": put("seats", 3),
    "locations.L1.tokens: expected colours": put(*L1, ["green"]),
    "lantern_cards: 4 entries": put("lantern_cards", [None] * 4),
    "starter: 2 is not": put("starter", 2),
    "unseen_cards: null is not a influence-card": put("unseen_cards", [None]),
    "clans[0].zones.coral: null is not a lantern-card or": put(
        "clans", 0, "zones", "coral", [None]
    ),
}


@pytest.mark.parametrize("reason", IMPOSSIBLE, ids=lambda reason: reason.replace(":", ""))
def test_an_impossible_position_is_refused_with_its_reason(first_turn, reason):
    position = first_turn()
    IMPOSSIBLE[reason](position)
    if reason.startswith("options"):
        with pytest.raises(InvalidRequest, match="moon"):
            load(position)
        return
    found = reasons(position)
    assert any(each.startswith(reason) for each in found), found


STEPS = {
    "no Location lies between these slots": {"step": "adjacent", "slots": ["A1", "A5"]},
    "seat 0 has no flag-01 with its price side up": {"step": "scroll", "card": "flag-01"},
    "seat 0 has no garden-1 with its price side up": {
        "step": "scroll-effects",
        "card": "garden-1",
    },
    "it costs 2 coins or seals, seat 0 has 0": {"step": "pay-pieces", "amount": 2, "rule": "D-6.1"},
    "it costs 2 of any resource, seat 0 has 0": {
        "step": "pay-resources",
        "amount": 2,
        "rule": "D-6.5",
    },
    "a payment in any mix is 1 to 5": {"step": "pay-pieces", "amount": 6, "rule": "D-6.1"},
    "a payment in any resources is 1 to 5": {"step": "pay-resources", "amount": 0, "rule": "D-6.5"},
    "no icon gives so much": {"step": "well", "amount": 16, "rule": "D-5.5"},
    "seat 0 has no Clan Seal in the basic yard": {"step": "yard-reward", "yard": "basic"},
    "no start card is on offer": {"step": "pick-start"},
    "no icon lowers a price so much (D-6.9)": {"step": "trade", "discount": 2, "optional": True},
    "there is no rule D-6.10": {"step": "well", "amount": 1, "rule": "D-6.10"},
}


@pytest.mark.parametrize("reason", STEPS)
def test_a_pending_step_that_does_not_fit_is_refused_with_its_reason(first_turn, reason):
    position = pending(first_turn(), {"seat": 0, **STEPS[reason]})
    assert any(each.startswith(f"pending[0]: {reason}") for each in reasons(position))


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ({"step": "stow", "coins": 0, "seals": 0}, "no icon gives so much"),
        ({"step": "choose-piece", "amount": 0, "rule": "D-6.1"}, "no icon gives so much"),
        ({"step": "improve", "amount": 0, "optional": True}, "no icon gives so much"),
        ({"step": "choose-resource", "amount": 0, "rule": "D-6.1"}, "no icon gives so much"),
    ],
)
def test_a_pending_gain_has_a_size(first_turn, step, reason):
    position = pending(first_turn(), {"seat": 0, **step})
    assert reasons(position) == [f"pending[0]: {reason}"]


TAKE = {"step": "take-top", "seat": 0, "deck": "D_LEFT"}
PAY = {"step": "pay-pieces", "seat": 0, "amount": 1, "rule": "D-6.1"}
GIVE = {"step": "pay-resources", "seat": 0, "amount": 1, "rule": "D-6.5"}
SCROLL = {"step": "scroll", "seat": 0, "card": "flag-02"}
WELL = {"step": "well", "seat": 0, "amount": 1, "rule": "D-5.5"}


@pytest.mark.rule("D-6.1", "D-6.5")
@pytest.mark.parametrize(
    "steps",
    [
        *([TAKE, TAKE], [PAY, PAY], [PAY, GIVE], [GIVE, TAKE], [TAKE, WELL], [PAY, WELL]),
        *([SCROLL, SCROLL], [SCROLL, WELL]),
    ],
)
def test_what_is_bought_its_scroll_and_its_price_come_before_all_else(first_turn, steps):
    position = pending(first_turn(coin=5, food=5), *steps)
    give(position, 0, "flag-02")
    assert reasons(position) == [
        "pending: what is bought, its scroll and its price come before all else (D-6.1)"
    ]
    assert load(pending(first_turn(coin=5, food=5), WELL, TAKE, GIVE, PAY))


@pytest.mark.rule("D-9.1")
def test_the_game_ends_after_all_else():
    game = rules.new_game("duel", 2, seed=1)
    while not game.over:
        before = json.loads(game.to_json())
        game.apply(game.legal()[-1])
    end, exchange = {"step": "end-of-game"}, {"step": "last-exchange", "seat": 0}
    before["clans"][0] |= {"coin": 0, "seal": 2, "food": 0}
    for steps in ([exchange, end], [end, end]):
        found = reasons(before | {"pending": steps})
        assert found == ["pending: the game ends once, after all else (D-9.1)"]
    assert load(before | {"pending": [end, exchange]}).to_move == 0


@pytest.mark.rule("D-4.10")
def test_a_seat_picks_one_start_card():
    start = json.loads(rules.new_game("duel", 2, seed=1).to_json())
    end, last, _ = start["pending"]
    start["pending"] = [end, last, last]
    found = reasons(start)
    assert f"clans[{last['seat']}].zones: 0 start cards, a seat picks one (D-4.10)" in found


def test_an_empty_deck_or_stack_gives_nothing_to_take(first_turn):
    position = pending(first_turn(), {"step": "take-top", "seat": 0, "deck": "D_LEFT"})
    exhaust(position, "D_LEFT")
    assert reasons(position) == ["pending[0]: the deck D_LEFT is empty (D-6.1)"]
    position = pending(first_turn(), {"step": "take-ware", "seat": 0, "stack": "luxury"})
    position["merchandise"]["luxury"] = {"top": None, "below": []}
    position["clans"][1]["merchandise"] = ["luxury-1", "luxury-2", "luxury-3"]
    assert reasons(position) == ["pending[0]: the luxury tiles are sold out (D-6.5)"]


def test_all_reasons_are_given_together(first_turn):
    position = first_turn()
    position["clans"][0] |= {"coin": 9, "seal": 9, "courtier": 2}
    position["activation"]["A1"] = "activation-trade"
    position["decks"]["D_MID"]["below"] = 3
    assert len(reasons(position)) >= 5


def test_the_draft_is_checked_too():
    start = json.loads(rules.new_game("duel", 2, seed=1).to_json())
    start["start_cards"][0] = None
    assert any("one is gone for each seat" in each for each in reasons(start))
    start = json.loads(rules.new_game("duel", 2, seed=1).to_json())
    start["turn"] = 1
    assert any("no turn begins during the set-up" in each for each in reasons(start))


def test_a_missing_key_is_named(first_turn):
    for key in first_turn():
        if key not in ("ruleset", "revision"):
            position = first_turn()
            del position[key]
            assert any(each.startswith(key) for each in reasons(position)), key


def test_a_puzzle_that_no_play_would_reach_is_accepted(first_turn):
    position = first_turn(vp=77, coin=10, food=7, iron=7, pearl=7, swap=2)
    give(position, 0, "flag-01", "flag-02", improved=True)
    assert load(position).scores()[0] > 77


@pytest.mark.parametrize("seed", range(3))
def test_spoilt_json_is_refused_but_never_crashes(seed):
    game = rules.new_game("duel", 2, seed=seed)
    for _ in range(60):
        game.apply(game.legal()[seed % 2 - 1])
    whole, refused = json.loads(game.to_json()), 0
    for key in whole:
        for junk in (None, -1, 99, "x", [], {}, [None], {"a": 1}, [[1]], True):
            try:
                rules.from_json(json.loads(json.dumps(whole)) | {key: junk})
            except HimejiError:
                refused += 1
    assert refused > 9 * len(whole) - 10
