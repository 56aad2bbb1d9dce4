"""Positions as messages: every position of random play survives, impossible ones are refused."""

import random

import pytest
from himeji import rules
from himeji.rules.errors import ImpossiblePosition, InvalidRequest, UnknownRuleset, VersionMismatch
from himeji.v1.position_pb2 import Position
from himeji.wire.positions import from_position, to_position

TABLES = [(each.name, seats) for each in rules.RULESETS.values() for seats in each.seat_counts]


def some_position(seats=2, decisions=20):
    game = rules.new_game("base", seats, seed=3)
    for _ in range(decisions):
        game.apply(game.legal()[-1])
    return to_position(game)


@pytest.mark.parametrize(("ruleset", "seats"), TABLES)
def test_a_position_survives_the_wire_at_every_step(ruleset, seats):
    rng = random.Random(seats)
    for seed in range(4):
        game = rules.new_game(ruleset, seats, seed=seed)
        while not game.over:
            game.apply(rng.choice(game.legal()))
            message = Position.FromString(to_position(game).SerializeToString())
            again = from_position(message, game.chance)
            assert again.dumps() == game.dumps()
            assert again.legal() == game.legal()
            assert again.to_move == game.to_move


def test_a_game_that_came_over_the_wire_goes_on_like_the_original():
    game = rules.new_game("base", 4, seed=9)
    for _ in range(30):
        game.apply(game.legal()[0])
    again = from_position(to_position(game), game.chance)
    while not game.over:
        action = game.legal()[-1]
        game.apply(action)
        again.apply(action)
        assert again.dumps() == game.dumps()
    assert again.scores() == game.scores()


def spoil_hand(castle):
    castle.hand_value, castle.hand_colour, castle.hand_side = 3, 1, 3


@pytest.mark.parametrize(
    ("field", "spoil"),
    [
        ("turn_order", lambda p: p.castle.turn_order.append(0)),
        ("marker_order", lambda p: p.castle.marker_order.pop()),
        ("food", lambda p: p.castle.food.__setitem__(0, 8)),
        ("influence", lambda p: p.castle.influence.__setitem__(0, 21)),
        ("coins", lambda p: p.castle.coins.__setitem__(1, -1)),
        ("courtiers", lambda p: p.castle.courtiers.pop()),
        ("bridge_dice", lambda p: p.castle.bridge_dice.__setitem__(0, 7)),
        ("placed_spaces", lambda p: p.castle.placed_spaces.append(99)),
        ("room_cards", lambda p: p.castle.room_cards.__setitem__(0, 9999)),
        ("die_tiles", lambda p: p.castle.die_tiles.__setitem__(0, 0)),
        ("garden_cards", lambda p: p.castle.garden_cards.__setitem__(0, 1)),
        ("lantern_clans", lambda p: p.castle.lantern_clans.__setitem__(0, 7)),
        ("daimyo", lambda p: setattr(p.castle, "daimyo_card", 1)),
        ("pending", lambda p: p.pending.add(kind=999)),
        ("pending", lambda p: p.pending.add(kind=1)),
        ("pending", lambda p: p.pending.add(kind=1, seat=7)),
        ("pending", lambda p: p.pending.add(kind=5, seat=0, arguments=[-3])),
        ("pending", lambda p: p.pending.add(kind=15, seat=0, arguments=[0])),
        ("set_up", lambda p: p.pending.add(kind=26)),
        ("round", lambda p: setattr(p.castle, "round", 4)),
        ("turns_begun", lambda p: setattr(p.castle, "turns_begun", -1)),
        ("deal_attempt", lambda p: setattr(p.castle, "deal_attempt", -1)),
        ("coins", lambda p: p.castle.coins.__setitem__(0, 1 << 30)),
        ("chasen", lambda p: p.castle.chasen.extend([0, 0])),
        ("bridge_dice: green", lambda p: p.castle.bridge_dice.__setitem__(19, 3)),
        ("bridge_dice: green", lambda p: p.castle.domain_dice.__setitem__(3, 3)),
        ("hand_side", lambda p: spoil_hand(p.castle)),
        ("pending", lambda p: p.pending.add(kind=3, seat=0, arguments=[7, 0])),
        ("pending", lambda p: p.pending.add(kind=3, seat=0, arguments=[7, 99])),
    ],
)
def test_a_spoilt_message_is_refused_with_the_field(field, spoil):
    position = some_position()
    spoil(position)
    with pytest.raises(ImpossiblePosition) as caught:
        from_position(position, rules.seeded(1))
    assert any(field in reason for reason in caught.value.reasons)


def test_all_faults_of_a_message_are_reported_together():
    position = some_position()
    position.castle.food[0] = 8
    position.castle.iron[1] = 9
    position.castle.round = 9
    position.castle.pearl.pop()
    with pytest.raises(ImpossiblePosition) as caught:
        from_position(position, rules.seeded(1))
    assert len(caught.value.reasons) >= 3


def test_a_position_of_nobody_knows_what_is_refused():
    with pytest.raises(UnknownRuleset):
        from_position(Position(ruleset="chess"), rules.seeded(1))
    with pytest.raises(VersionMismatch):
        from_position(Position(ruleset="base", revision="0-0"), rules.seeded(1))
    with pytest.raises(InvalidRequest, match="castle"):
        from_position(Position(ruleset="base"), rules.seeded(1))


def test_the_set_up_ends_once_and_last():
    position = some_position(decisions=0)
    position.pending.add(kind=26)
    with pytest.raises(ImpossiblePosition, match="set_up"):
        from_position(position, rules.seeded(1))


@pytest.mark.parametrize(("ruleset", "unseen"), [("solo", 8), ("matcha-solo", 11)])
def test_the_visible_solitaire_card_is_named_from_the_shuffle_on(ruleset, unseen):
    game = rules.new_game(ruleset, 1, seed=3, options={"difficulty": "easy"})
    position = to_position(game)
    [drawn] = [e.b for e in game.events_since(0) if (e.kind, e.a) == ("draw", 10)]
    assert position.castle.solitaire_top == drawn
    assert len(position.castle.unseen_solitaires) == unseen
    position.castle.solitaire_top = 0
    with pytest.raises(ImpossiblePosition, match=r"solitaire\.top"):
        from_position(position, rules.seeded(1))


@pytest.mark.parametrize("field", ["overlook_tile", "flower_top", "calligraphy_top"])
def test_nothing_is_missing_on_the_extension_board(field):
    position = to_position(rules.new_game("matcha", 2, seed=3))
    position.castle.ClearField(field)
    with pytest.raises(ImpossiblePosition, match="nothing lies there"):
        from_position(position, rules.seeded(1))
