"""Positions of Duel as messages: impossible ones are refused with the field, all at once."""

import pytest
from himeji import rules
from himeji.rules.errors import ImpossiblePosition, InvalidRequest
from himeji.v1.position_pb2 import Position
from himeji.wire.positions import from_position, to_position


def some_position(decisions=60, options=None):
    game = rules.new_game("duel", 2, seed=3, options=options or {})
    for _ in range(decisions):
        game.apply(game.legal()[-1])
    return to_position(game)


def test_the_option_travels_with_the_position():
    position = some_position(options={"layout": "first-game"})
    assert [(each.name, each.value) for each in position.options] == [("layout", "first-game")]
    game = from_position(position, rules.seeded(1))
    assert game.options == {"layout": "first-game"}


def test_the_lists_are_what_the_contract_says_of_them():
    position = some_position()
    game, duel = from_position(position, rules.seeded(1)), position.duel
    assert len(duel.token_locations) == len(duel.token_colours)
    assert len(duel.token_locations) + sum(duel.seat_tokens) == 12
    assert len(duel.unseen_influence) == sum(duel.deck_cards_below)
    owned = list(duel.owned_cards)
    assert len(owned) + len(duel.unseen_influence) + sum(map(bool, duel.deck_tops)) == 36
    assert len(duel.owned_seats) == len(duel.owned_improved) == len(owned)
    assert list(duel.coins) == [game.has(seat, 4) for seat in (0, 1)]
    assert list(duel.swap_tiles) == [game.has(seat, 8) for seat in (0, 1)]


def turn_round(numbers):
    numbers[:] = reversed(numbers)


@pytest.mark.parametrize(
    ("field", "spoil"),
    [
        ("food", lambda p: p.duel.food.__setitem__(0, 8)),
        ("coins", lambda p: p.duel.coins.__setitem__(1, -1)),
        ("swap_tiles", lambda p: p.duel.swap_tiles.append(1)),
        ("starting_seat", lambda p: setattr(p.duel, "starting_seat", 2)),
        ("activation_tiles", lambda p: p.duel.activation_tiles.pop()),
        ("activation_tiles", lambda p: p.duel.activation_tiles.__setitem__(0, 1)),
        ("location_tiles", lambda p: p.duel.location_tiles.__setitem__(0, 0)),
        ("token_locations", lambda p: p.duel.token_locations.__setitem__(0, 6)),
        ("token_colours", lambda p: p.duel.token_colours.__setitem__(0, 3)),
        ("token_colours", lambda p: p.duel.token_colours.pop()),
        ("seat_tokens", lambda p: p.duel.seat_tokens.pop()),
        ("deck_tops", lambda p: p.duel.deck_tops.__setitem__(0, 9999)),
        ("deck_cards_below", lambda p: p.duel.deck_cards_below.__setitem__(0, 13)),
        ("unseen_cards", lambda p: p.duel.unseen_influence.pop()),
        ("lantern_display", lambda p: p.duel.lantern_display.__setitem__(0, 1)),
        ("unseen_lanterns", lambda p: p.duel.unseen_lanterns.append(1)),
        ("zone_places", lambda p: p.duel.zone_places.__setitem__(0, 6)),
        ("zone_cards", lambda p: p.duel.zone_cards.pop()),
        ("garden_tiles", lambda p: p.duel.garden_tiles.__setitem__(0, 1)),
        ("garden_seals", lambda p: p.duel.garden_seals.__setitem__(0, 3)),
        ("yard_tiles", lambda p: p.duel.yard_tiles.pop()),
        ("yard_seals", lambda p: p.duel.yard_seals.__setitem__(0, 6)),
        ("social_tiles", lambda p: p.duel.social_tiles.__setitem__(0, 2)),
        ("paths", lambda p: p.duel.paths.__setitem__(0, 3)),
        ("courtiers", lambda p: p.duel.courtiers.__setitem__(0, 8)),
        ("merchandise_tops", lambda p: p.duel.merchandise_tops.__setitem__(0, 1)),
        ("unseen_common", lambda p: p.duel.unseen_common.append(1)),
        ("bought_seats", lambda p: (p.duel.bought_seats.append(7), p.duel.bought_tiles.append(92))),
        ("owned_cards", lambda p: p.duel.owned_cards.__setitem__(0, p.duel.owned_cards[1])),
        ("owned_improved", lambda p: p.duel.owned_improved.pop()),
        ("owned_seats", lambda p: p.duel.owned_seats.__setitem__(0, 5)),
        ("offered_starts", lambda p: p.duel.offered_starts.append(52)),
        ("round", lambda p: setattr(p.duel, "round", 3)),
        ("turns_begun", lambda p: setattr(p.duel, "turns_begun", -1)),
        ("points", lambda p: p.duel.points.__setitem__(0, 1 << 30)),
        ("yard_tiles", lambda p: turn_round(p.duel.yard_tiles)),
        ("merchandise_tops", lambda p: turn_round(p.duel.merchandise_tops)),
        ("pending", lambda p: p.pending.add(kind=999)),
        ("pending", lambda p: p.pending.add(kind=3, seat=7, arguments=[1])),
    ],
)
def test_a_spoilt_message_is_refused_with_the_field(field, spoil):
    position = some_position()
    spoil(position)
    with pytest.raises(ImpossiblePosition) as caught:
        from_position(position, rules.seeded(1))
    assert any(field in reason for reason in caught.value.reasons), caught.value.reasons


def test_a_position_of_duel_has_its_part_in_duel():
    position = some_position()
    base = to_position(rules.new_game("base", 2, seed=1))
    foreign = Position(ruleset="duel", seats=2, castle=base.castle)
    with pytest.raises(InvalidRequest, match="has its part in duel"):
        from_position(foreign, rules.seeded(1))
    assert position.WhichOneof("family") == "duel"
