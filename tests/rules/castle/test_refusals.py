"""Refusals say why, with the paragraph that a bot author can read."""

import pytest
from himeji.rules.errors import IllegalAction

# Positions: first_turn() with seed 1; diplomat-room-1 has the tiles black and white.


@pytest.mark.rule("B-3.2")
def test_a_colour_that_a_diplomat_room_refuses_cites_the_paragraph_of_diplomat_rooms(
    first_turn, load, do
):
    game = load(first_turn())
    do(game, "take coral right")
    with pytest.raises(IllegalAction, match="no tile of that room is coral") as refused:
        do(game, "place diplomat-room-1")
    assert refused.value.rule == "B-3.2"


@pytest.mark.rule("B-3.2")
def test_a_row_that_the_die_does_not_light_in_a_diplomat_room_cites_its_paragraph(
    first_turn, load, do
):
    position = first_turn()
    position["bridges"]["black"]["right"] = 6
    game = load(position)
    do(game, "take black right", "place diplomat-room-1")
    with pytest.raises(IllegalAction) as refused:
        do(game, "row diplomat-room-1 second")
    assert refused.value.rule == "B-3.2"


@pytest.mark.rule("B-3.1")
def test_a_row_beside_a_tile_of_another_colour_is_refused_with_that_reason(first_turn, load, do):
    game = load(first_turn())  # steward-room-1 has the tiles coral, coral, white
    do(game, "take coral right", "place steward-room-1")
    with pytest.raises(IllegalAction, match="no tile of the die's colour lies beside that row"):
        do(game, "row steward-room-1 bottom")


@pytest.mark.rule("B-6.3")
def test_the_action_of_an_exchange_cites_the_exchange(first_turn, load, do):
    position = first_turn()
    position["clans"][0]["seal"] = 1
    game = load(position)
    do(game, "exchange 1 seal for 1 coin")
    assert [e.rule for e in game.events_since(0) if e.kind == "action"] == ["B-6.3"]


@pytest.mark.rule("B-6.3")
def test_the_refusal_of_an_exchange_counts_its_seals_in_words(first_turn, load, do):
    game = load(first_turn())
    with pytest.raises(IllegalAction, match="that costs 1 seal, seat 0 has 0"):
        do(game, "exchange 1 seal for 1 coin")
