"""Placing a die: the difference in coins and stacking (B-2.5, B-2.6)."""

import json

import pytest
from himeji.rules.constants import COIN
from himeji.rules.errors import IllegalAction

from tests.rules.castle.boards import lay_tiles

TILES = (
    "coral-food black-food white-food "  # beside the top rows of the steward rooms
    "coral-iron black-iron "  # upper tiles of the diplomat rooms
    "coral-pearl white-pearl white-iron "  # beside the middle rows
    "black-pearl white-any "  # lower tiles of the diplomat rooms
    "black-any coral-any coral-coin "  # beside the bottom rows
    "black-coin white-coin"  # the Well
)


@pytest.fixture
def table(first_turn):
    """Seat 0 at its turn; every die on the coral bridge shows the value given.

    `on` are dice that lie on spaces already; they are taken off the black bridge.
    """

    def build(value, *, coins=0, seals=0, seats=2, on=None):
        position = first_turn(seats)
        on = on or {}
        placed = sum(map(len, on.values()))
        position["bridges"]["coral"] = {
            "left": value,
            "centre": [value] * (seats - 1),
            "right": value,
        }
        black = [4] * (seats + 1 - placed)
        position["bridges"]["black"] = {
            "left": black.pop() if black else None,
            "right": black.pop() if black else None,
            "centre": black,
        }
        lay_tiles(position, dict(zip(position["tiles"], TILES.split(), strict=True)))
        position["spaces"] |= {space: [f"black {v}" for v in dice] for space, dice in on.items()}
        position["turn"] = placed + 1
        position["clans"][0] |= {"coin": coins, "seal": seals}
        return position

    return build


def paid_for_the_die(game):
    """Coins that the placement itself moved, from its events."""
    sign = {"gain": 1, "pay": -1}
    return sum(
        sign[event.kind] * event.b
        for event in game.events_since(0)
        if event.rule == "B-2.5" and event.a == COIN and event.kind in sign
    )


# --- B-2.5 --------------------------------------------------------------------------------------


@pytest.mark.rule("B-2.5", "B-3.1", "B-3.2", "B-3.4", "B-3.5", "B-3.6")
@pytest.mark.parametrize(
    ("space", "printed"),
    [
        *[(f"steward-room-{room}", 3) for room in (1, 2, 3)],
        ("diplomat-room-1", 4),
        *[("outside-left", 5), ("outside-right", 5), ("well", 1), ("domain-coral", 6)],
    ],
)
@pytest.mark.parametrize("value", [1, 3, 4, 6])
def test_the_difference_to_the_printed_value_is_gained_or_paid(
    table, load, do, *, space, printed, value
):
    game = load(table(value, coins=9))
    do(game, "take coral right", f"place {space}")
    assert paid_for_the_die(game) == value - printed


@pytest.mark.rule("B-2.5", "B-3.2")
def test_the_second_diplomat_room_is_printed_4_too(table, load, do):
    position = table(3)
    position["bridges"]["white"] = {"left": 6, "centre": [6], "right": 6}
    game = load(position)
    do(game, "take white right", "place diplomat-room-2")
    assert paid_for_the_die(game) == 2


@pytest.mark.rule("B-2.5", "B-3.6")
@pytest.mark.parametrize("colour", ["black", "white"])
def test_every_row_of_the_domain_is_printed_6(table, load, do, colour):
    position = table(3, coins=2)
    position["bridges"][colour] = {"left": 4, "centre": [4], "right": 4}
    game = load(position)
    do(game, f"take {colour} right", f"place domain-{colour}")
    assert paid_for_the_die(game) == -2


@pytest.mark.rule("B-2.5")
def test_a_higher_die_gains_the_difference_in_coins(table, load, do, clan):
    game = load(table(5))
    do(game, "take coral right", "place steward-room-1")
    assert clan(game, 0)["coin"] == 2


@pytest.mark.rule("B-2.5")
def test_a_lower_die_pays_the_difference_in_coins(table, load, do, clan):
    game = load(table(1, coins=3))
    do(game, "take coral right", "place steward-room-1")
    assert clan(game, 0)["coin"] == 1


@pytest.mark.rule("B-2.5")
def test_a_space_is_legal_if_the_last_coin_pays_it_and_illegal_with_one_coin_less(
    table, load, do, offers
):
    enough, short = load(table(2, coins=3)), load(table(2, coins=2))
    do(enough, "take coral right")
    do(short, "take coral right")
    assert "place outside-left" in offers(enough)
    assert "place outside-left" not in offers(short)


@pytest.mark.rule("B-2.5")
def test_a_space_that_the_coins_do_not_pay_is_refused_with_its_price(table, load, do):
    game = load(table(2, seals=1))
    do(game, "take coral right")
    sentence = "placing a 2 on steward-room-1 costs 1 coin, seat 0 has 0"
    with pytest.raises(IllegalAction, match=sentence) as refused:
        do(game, "place steward-room-1")
    assert refused.value.rule == "B-2.5"


@pytest.mark.rule("B-2.5")
def test_coins_of_this_turns_lantern_do_not_pay_for_the_die(table, load, do, offers):
    position = table(2, seals=1)
    position["clans"][0]["lantern"] = ["start-resource-1", "decree-1"]  # pearl and coin
    game = load(position)
    do(game, "take coral left")
    assert "place steward-room-1" not in offers(game)


@pytest.mark.rule("B-2.5")
def test_coins_held_pay_before_the_lantern_of_the_turn_is_gained(table, load, do, clan):
    position = table(2, coins=1)
    position["clans"][0]["lantern"] = ["start-resource-1", "decree-1"]
    game = load(position)
    do(game, "take coral left", "place steward-room-1")
    moved = [
        (e.kind, e.rule) for e in game.events_since(0) if e.a == COIN and e.kind in ("gain", "pay")
    ]
    assert moved == [("pay", "B-2.5"), ("gain", "B-5.1")]
    assert clan(game, 0)["coin"] == 1


@pytest.mark.rule("B-2.5", "B-6.3")
def test_seals_exchanged_before_the_space_is_chosen_open_it(table, load, do, offers, clan):
    game = load(table(2, seals=1))
    do(game, "take coral right")
    assert "place steward-room-1" not in offers(game)
    do(game, "exchange 1 seal for 1 coin")
    assert "place steward-room-1" in offers(game)
    do(game, "place steward-room-1")
    assert (clan(game, 0)["coin"], clan(game, 0)["seal"]) == (0, 0)


@pytest.mark.rule("B-2.5")
@pytest.mark.parametrize("seats", [3, 4])
@pytest.mark.parametrize("below", [1, 2, 6])
def test_a_stacked_die_is_compared_with_the_die_below_it(table, load, do, seats, below):
    game = load(table(4, coins=2, seats=seats, on={"outside-left": [below]}))
    do(game, "take coral right", "place outside-left")
    assert paid_for_the_die(game) == 4 - below


@pytest.mark.rule("B-2.5")
def test_a_stacked_die_that_the_coins_do_not_pay_is_refused(table, load, do):
    game = load(table(4, coins=1, seats=3, on={"outside-left": [6]}))
    do(game, "take coral right")
    with pytest.raises(
        IllegalAction, match="placing a 4 on outside-left costs 2 coins, seat 0 has 1"
    ):
        do(game, "place outside-left")


@pytest.mark.rule("B-2.5", "B-2.6")
@pytest.mark.parametrize("seats", [2, 4])
def test_the_well_is_always_1_whatever_lies_in_it(table, load, do, seats):
    game = load(table(4, seats=seats, on={"well": [6, 5, 6]}))
    do(game, "take coral right", "place well")
    assert paid_for_the_die(game) == 3


@pytest.mark.rule("B-2.5")
def test_the_space_shows_the_die_placed_on_top(table, load, do):
    game = load(table(4, coins=2, seats=3, on={"outside-left": [6]}))
    do(game, "take coral right", "place outside-left")
    assert json.loads(game.to_json())["spaces"]["outside-left"] == ["black 6", "coral 4"]
    placed = [event for event in game.events_since(0) if event.kind == "die-placed"]
    assert [(event.seat, event.rule) for event in placed] == [(0, "B-2.3")]


# --- B-2.6 --------------------------------------------------------------------------------------

MAIN_BOARD = ["steward-room-1", "diplomat-room-1", "outside-left", "outside-right"]


@pytest.mark.rule("B-2.6")
@pytest.mark.parametrize("space", MAIN_BOARD)
def test_with_two_seats_a_space_holds_one_die(table, load, do, offers, space):
    game = load(table(6, on={space: [2]}))
    do(game, "take coral right")
    assert f"place {space}" not in offers(game)
    with pytest.raises(IllegalAction, match=f"no further die fits on {space}") as refused:
        do(game, f"place {space}")
    assert refused.value.rule == "B-2.6"


@pytest.mark.rule("B-2.6")
@pytest.mark.parametrize("seats", [3, 4])
@pytest.mark.parametrize("space", MAIN_BOARD)
def test_with_three_or_four_seats_a_second_die_may_lie_on_the_first(
    table, load, do, offers, *, seats, space
):
    game = load(table(6, seats=seats, on={space: [2]}))
    do(game, "take coral right")
    assert f"place {space}" in offers(game)


@pytest.mark.rule("B-2.6")
@pytest.mark.parametrize("seats", [3, 4])
@pytest.mark.parametrize("space", MAIN_BOARD)
def test_a_third_die_is_refused(table, load, do, seats, space):
    game = load(table(6, seats=seats, on={space: [2, 2]}))
    do(game, "take coral right")
    with pytest.raises(IllegalAction, match=f"no further die fits on {space}") as refused:
        do(game, f"place {space}")
    assert refused.value.rule == "B-2.6"


@pytest.mark.rule("B-2.6")
def test_a_seat_may_stack_on_its_own_die(first_turn, load, do, offers):
    position = first_turn(3)
    for bridge in position["bridges"].values():
        bridge |= {"left": 6, "centre": [6, 6], "right": 6}
    position["clans"][0]["seal"] = 1  # so that every decision is asked
    game = load(position)
    do(game, "take coral right", "place outside-left", "done")
    for _ in (1, 2):
        do(game, "take white right", "place well")
    do(game, "take black right")
    assert "place outside-left" in offers(game)


@pytest.mark.rule("B-2.6", "B-3.6")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_dice_are_never_stacked_on_a_domain(table, load, do, offers, seats):
    position = table(6, seats=seats)
    position["bridges"]["coral"]["centre"].pop()
    position["turn"] = 2
    position["clans"][0]["dice"]["coral"] = 1
    game = load(position)
    do(game, "take coral right")
    assert "place domain-coral" not in offers(game)
    with pytest.raises(IllegalAction, match="no further die fits on domain-coral") as refused:
        do(game, "place domain-coral")
    assert refused.value.rule == "B-2.6"


@pytest.mark.rule("B-2.6", "B-3.6")
def test_a_die_on_the_domain_of_another_seat_does_not_matter(table, load, do, offers):
    position = table(6)
    position["bridges"]["coral"]["centre"].pop()
    position["turn"] = 2
    position["clans"][1]["dice"]["coral"] = 1
    game = load(position)
    do(game, "take coral right")
    assert "place domain-coral" in offers(game)


@pytest.mark.rule("B-2.6")
@pytest.mark.parametrize("seats", [2, 3, 4])
def test_the_well_has_no_limit(table, load, do, offers, seats):
    game = load(table(6, seats=seats, on={"well": [1] * (seats + 1)}))
    do(game, "take coral right")
    assert "place well" in offers(game)
