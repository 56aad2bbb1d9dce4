"""Influence and Lantern cards (D-8)."""

import json

import pytest
from himeji import rules
from himeji.rules.duel.constants import ICON_NAMES
from himeji.rules.errors import IllegalAction

from tests.rules.duel.conftest import clan, display, do, give, goods, load, offers, pending

TABLES = rules.ruleset("duel").tables


def take(*, shines):
    return {"step": "lantern-card", "seat": 0, "shines": shines}


@pytest.mark.rule("D-8.1")
def test_icons_score_only_after_the_card_has_been_improved(first_turn):
    start = first_turn()
    start["clans"][0] |= {"path": "left", "courtier": 4}
    start["clans"][1]["path"] = "right"
    give(start, 0, "flag-01")
    assert load(start).breakdown()[0]["flags"] == 0
    start["clans"][0] |= {"cards": [], "improved": ["flag-01"]}
    assert load(start).breakdown()[0]["flags"] == 4


@pytest.mark.rule("D-8.2")
def test_flags_carry_flags_weapons_blades_and_helmets_origami_blue_cranes():
    allowed = {"flag": {"flag"}, "weapon": {"katana", "kabuto"}, "origami": {"blue crane"}}
    for number in TABLES.kinds["influence-card"]:
        card = TABLES.of(number)
        shown = {ICON_NAMES[icon] for icon, count in enumerate(card.icons) if count}
        assert shown
        assert shown <= allowed[card.id.split("-")[0]]


@pytest.mark.rule("D-8.2")
def test_white_cranes_come_from_gardens_and_merchandise():
    crane = ICON_NAMES.index("white crane")
    assert [n for n, icons in enumerate(TABLES.column_icons) if icons[crane]] == [2, 5]
    wares = [*TABLES.kinds["common-merchandise"], *TABLES.kinds["luxury-merchandise"]]
    assert sum(TABLES.of(number).icons[crane] for number in wares) == 3


@pytest.mark.rule("D-8.3")
def test_a_lantern_card_joins_its_zone_and_the_display_refills_at_once(first_turn):
    game = load(pending(first_turn(), take(shines=False)))
    assert offers(game) == ["lantern card 1", "lantern card 2", "lantern card 3"]
    do(game, "lantern card 2")
    state = json.loads(game.to_json())
    assert clan(game)["zones"]["white"] == ["lantern-white-food"]
    assert state["lantern_cards"][0] == "lantern-coral-iron"
    assert state["lantern_cards"][1] not in (None, "lantern-white-food")
    assert len(state["lantern_deck"]) == 11
    assert goods(game) == {}


@pytest.mark.rule("D-8.3")
def test_gain_and_activate_counts_the_new_card_too(first_turn):
    game = do(load(pending(first_turn(), take(shines=True))), "lantern card 3")
    assert goods(game) == {"iron": 1, "coin": 1, "vp": 1}


@pytest.mark.rule("D-8.3")
@pytest.mark.parametrize("shines", [False, True])
def test_without_a_card_left_nothing_happens(first_turn, shines):
    start = pending(first_turn(seal=2), take(shines=shines))
    everything = [*start["lantern_deck"], *start["lantern_cards"]]
    start |= {"lantern_deck": [], "lantern_cards": [None, None, None]}
    for card in everything:
        start["clans"][1]["zones"][card.split("-")[1]].append(card)
    game = load(start)
    assert game.to_move == 1
    assert goods(game) == {"seal": 2}


@pytest.mark.rule("D-8.3")
def test_an_empty_place_of_the_display_gives_no_card(first_turn):
    start = pending(first_turn(), take(shines=False))
    display(start, "lantern-coral-iron", "lantern-coral-pearl")
    for card in start["lantern_deck"]:
        start["clans"][1]["zones"][card.split("-")[1]].append(card)
    start["lantern_deck"] = []
    game = load(start)
    assert offers(game) == ["lantern card 1", "lantern card 2"]
    with pytest.raises(IllegalAction, match="no lantern card lies there"):
        do(game, "lantern card 3")
    do(game, "lantern card 1")
    assert json.loads(game.to_json())["lantern_cards"][0] is None
