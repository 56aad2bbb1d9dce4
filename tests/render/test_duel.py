"""The drawings of Duel: everything that lies on the table is named and counted."""

import re

import pytest
from himeji import render
from himeji.rules.duel.position import masked

from tests.render.test_svg import parsed, titles, words
from tests.rules.playing import Table, play, policy

DUEL = Table("duel", 2)


def stops(seed, every=11):
    game = DUEL.begin(seed)
    for number, _ in enumerate(play(game, policy(seed))):
        if number % every == 0:
            yield game
    yield game


def named(game):
    """The ids of all cards and tiles that a player can see, but for the printed actions."""
    owned = [card for mask in (*game.cards, *game.improved) for card in masked(mask)]
    zones = [card for zone in game.zones for card in zone]
    tiles = (*game.gardens, *game.yards, *game.social, *game.wares)
    bought = [tile for tiles in game.bought for tile in tiles]
    numbers = (*owned, *zones, *tiles, *bought, *game.tops, *game.display, *game.offers)
    return {game.tables.of(number).id for number in numbers if number}


@pytest.mark.parametrize("seed", range(3))
def test_every_card_and_tile_in_play_is_named(seed):
    for game in stops(seed):
        assert named(game) <= set(re.findall(r"[\w-]+", render.text(game)))
        root = parsed(game)
        shown = {text.split(" ")[0] for text in (*words(root), *titles(root))}
        assert named(game) <= shown
        assert {game.tables.of(tile).id for tile in (*game.slots, *game.locations)} <= shown


def test_every_token_is_drawn_once():
    for game in stops(4):
        drawn = [title for title in titles(parsed(game)) if title.endswith(" token")]
        assert len(drawn) == 12
        assert {drawn.count(f"{colour} token") for colour in ("coral", "black", "white")} == {4}


def test_a_stack_is_written_from_the_tile_upwards():
    game = DUEL.begin(1)
    game.stacks[0], game.stacks[4] = (2, 0), (1,)
    lines = render.text(game).splitlines()
    assert any(re.search(r"\bW < C\b", line) for line in lines)


def test_the_start_cards_are_shown_while_they_can_be_picked():
    game = DUEL.begin(1)
    assert "START CARDS" in render.text(game)
    assert "Start cards" in words(parsed(game))
    while game.drafting:
        game.apply(game.legal()[0])
    assert "START CARDS" not in render.text(game)
    assert "Start cards" not in words(parsed(game))


def test_an_empty_deck_shows_its_well():
    game = DUEL.begin(1)
    game.tops[1], game.below[1] = 0, 0
    game.display[2], game.wares[0] = 0, 0
    text, shown = render.text(game), words(parsed(game))
    assert "empty: Well" in text
    assert "sold out" in text
    assert {"empty: Well", "no card left", "sold out"} <= set(shown)


def test_a_shared_victory_names_both():
    game = DUEL.begin(1)
    while not game.over:
        game.apply(game.legal()[0])
    game.goods = [0] * len(game.goods)
    game.improved, game.bought = [0, 0], [(), ()]
    game.garden_seals, game.yard_seals = [0] * 12, [0] * 4
    game.courtiers = [0, 0]
    assert "seat 0 and seat 1 have won with 0 points" in render.text(game)
