"""What Duel tells about itself: components, events and steps in words."""

import pytest
from himeji import rules
from himeji.rules.description import DescribedEffect as Effect
from himeji.rules.game import ACTION, DRAW, GAIN, LOST, PAY, stand_in

DUEL = rules.ruleset("duel")


def told(name):
    return next(each for each in DUEL.describe_components() if each.id == name)


def faces(name):
    return {face.name: list(face.effects) for face in told(name).faces}


def gain(what, amount):
    return Effect("gain", what, amount)


def test_an_influence_card_tells_price_scroll_and_icons():
    card = told("flag-02")
    assert card.kind == "influence-card"
    assert faces("flag-02") == {
        "front": [
            Effect(
                "pay",
                costs=(Effect("", "seal", 1),),
                parts=(Effect("garden", "discount", 1),),
            )
        ],
        "back": [Effect("icon", "flag", 3)],
    }
    assert dict(card.facts) == {"flag": 1, "price_coin": 2}
    assert dict(told("weapon-04").facts) == {"weapon": 1, "price_coin_or_seal": 2}
    assert [face.text for face in card.faces] == ["for 1 seal: garden -1", "3 flags"]


def test_every_other_kind_of_component_tells_what_is_printed_on_it():
    assert faces("lantern-coral-iron") == {"front": [gain("iron", 1)]}
    assert faces("start-black-coin") == {
        "front": [gain("swap", 1), gain("pearl", 2), gain("seal", 3)],
        "back": [gain("coin", 1)],
    }
    assert faces("activation-trade") == {"front": [Effect("trade")]}
    assert faces("location-white-1") == {"front": [Effect("lantern", "white")]}
    assert faces("garden-8") == {
        "stone": [gain("seal", 2)],
        "plant": [Effect("improve", "", 1)],
    }
    assert faces("elite-1") == {
        "first": [Effect("courtier", "discount", 1)],
        "second": [Effect("improve", "", 2)],
    }
    assert faces("social-1") == {
        "light-1": [gain("coin", 2)],
        "light-3": [gain("iron", 2)],
        "grey-1": [gain("vp", 2)],
        "grey-3": [Effect("lantern", "coral")],
    }
    assert faces("luxury-3") == {
        "front": [Effect("icon", "katana", 1), Effect("icon", "kabuto", 1)]
    }
    assert faces("weapon-12")["front"] == [Effect("well", "", 2)]
    assert faces("flag-06")["front"] == [gain("any", 1), gain("coin/seal", 1)]


def test_reconstructions_are_told_with_the_part_that_was_made_up():
    assert told("flag-08").reconstructed
    assert told("flag-04").reconstructed
    assert "reconstructed: price" in told("flag-04").note
    assert "reconstructed: plant, pairing" in told("garden-4").note
    assert "reconstructed: pairing" in told("garden-1").note
    assert not told("flag-01").reconstructed


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ((ACTION, 1, 24, 0, "D-5.3"), "seat 1: place coral L1"),
        ((DRAW, -1, 1, 1, "D-4.2"), "flag-01 is drawn from the pile influence"),
        ((DRAW, -1, 0, 1, "D-4.10"), "seat 1 is the starting player"),
        ((GAIN, 0, 8, 2, "D-4.10"), "seat 0 gains 2 swap tiles"),
        ((LOST, 0, 4, 1, "D-7.1"), "seat 0 has no room for 1 coin"),
        ((PAY, 0, 5, 2, "D-6.1"), "seat 0 pays 2 seals"),
        ((16, 0, 2, 4, "D-5.3"), "seat 0 places white on L5"),
        ((17, 0, 1, 0, "D-5.3"), "seat 0 takes black from L1"),
        ((18, 1, 0, 5, "D-5.2"), "seat 1 swaps the tiles of A1 and A6"),
        ((19, 0, 3, 0, "D-6.1"), "seat 0: flag-03 comes to the own area"),
        ((20, 0, 3, 0, "D-6.7"), "seat 0 improves flag-03"),
        ((21, 0, 7, 0, "D-6.3"), "seat 0 puts a Clan Seal on the elite yard"),
        ((22, 0, 7, 1, "D-6.4"), "seat 0: the courtier climbs to space 7 of the right path"),
        ((23, 0, 5, 1, "D-7.1"), "seat 0 discards 1 seal"),
        ((24, 1, 2, 0, "D-5.1"), "seat 1 begins the return round"),
        ((25, 1, 0, 0, "D-5.4"), "seat 1: the coral zone shines"),
    ],
)
def test_an_event_reads_like_a_sentence(record, text):
    assert DUEL.tell(record, 2) == text


def test_the_option_is_told_with_its_choices():
    (option,) = DUEL.describe_options()
    assert (option.name, option.choices, option.standard) == (
        "layout",
        ("random", "first-game"),
        "random",
    )


def test_the_lost_seat_declines_what_it_may_decline():
    game = rules.new_game("duel", 2, seed=2)
    declined = 0
    while not game.over:
        action = stand_in(game)
        text = rules.action_text("duel", action)
        assert not text.startswith(("exchange", "do ", "swap", "perform"))
        declined += text.startswith("decline")
        game.apply(action)
    assert declined


def test_the_board_says_what_is_printed_on_it():
    board = {part.id: part for part in DUEL.describe_board()}
    assert dict(board["D_MID"].facts) == {"deck": 1, "locations": 2}
    assert dict(board["L6"].facts) == {"slot_1": 5, "slot_2": 8}
    assert dict(board["G6"].facts) == {
        "plant": 1,
        "food": 5,
        "spaces": 2,
        "white_crane": 1,
        "blue_crane": 1,
    }
    elite = {"iron": 5, "spaces": 3, "katana": 0, "kabuto": 2}
    assert dict(board["elite-yard"].facts) == elite
    assert dict(board["top-space"].facts) == {"points": 3, "reconstructed": 1}
    assert [face.effects for face in board["top-space"].faces] == [(Effect("improve", "", 1),)]
    assert [face.effects for face in board["zone-black"].faces] == [(gain("iron", 1),)]
    assert dict(board["trade-luxury"].facts) == {"any": 5}
    assert dict(board["climb-2"].facts) == {"pearl": 5}
    assert [face.text for face in board["well"].faces] == ["1 any", "1 coin/seal", "1 swap", "1 vp"]
    assert dict(board["domain"].facts) == {"storage": 10, "clan_seals": 8}
    assert dict(board["caps"].facts)["swap"] == 2
