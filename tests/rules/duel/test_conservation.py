"""Laws of Duel: goods, tokens, seals, cards and tiles are neither made nor lost.

Everything is recomputed from the events alone and compared with the position at every decision.
"""

import json

import pytest
from himeji import rules
from himeji.rules.duel.checks import faults
from hypothesis import given, settings

from tests.rules.duel.bookkeeping import CAPS, STORAGE, Books
from tests.rules.playing import Table, eager, play, policy, seeds, uniform

DUEL = Table("duel", 2)
some = settings(max_examples=max(1, settings().max_examples // 2))


def followed(seed):
    """A game at every decision and at its end, each time with its books and its JSON."""
    layout = ("random", "first-game")[seed % 2]
    game = rules.new_game("duel", 2, seed=seed, options={"layout": layout})
    books = Books(game.tables.names, json.loads(game.to_json())["activation"])
    told = 0
    for _ in play(game, policy(seed)):
        told += book(game, books, told)
        yield game, books, json.loads(game.to_json())
    book(game, books, told)
    yield game, books, json.loads(game.to_json())


def book(game, books, told):
    news = game.events_since(told)
    for event in news:
        books.write(event)
    return len(news)


@some
@given(seed=seeds)
@pytest.mark.rule("D-7.1", "D-3.7")
def test_goods_are_what_the_gains_and_payments_make_them(seed):
    for _, books, position in followed(seed):
        for clan, booked in zip(position["clans"], books.goods, strict=True):
            held = {good: clan[good] for good in (*CAPS, "coin", "seal", "vp")}
            assert held == {good: booked[good] for good in held}
            assert all(0 <= held[good] <= cap for good, cap in CAPS.items())
            assert 0 <= held["coin"] + held["seal"] <= STORAGE


@some
@given(seed=seeds)
@pytest.mark.rule("D-5.3", "D-5.6")
def test_tokens_lie_where_they_were_placed_and_taken(seed):
    for game, books, position in followed(seed):
        stacks = {name: place["tokens"] for name, place in position["locations"].items()}
        assert stacks == books.stacks
        assert [clan["tokens"] for clan in position["clans"]] == books.tokens
        for colour in ("coral", "black", "white"):
            own = sum(clan["tokens"][colour] for clan in position["clans"])
            assert own + sum(stack.count(colour) for stack in stacks.values()) == 4
        assert all(len(set(stack)) == len(stack) <= 3 for stack in stacks.values())
        assert faults(game) == []


@some
@given(seed=seeds)
@pytest.mark.rule("D-5.1")
def test_a_game_has_24_turns_and_the_second_player_takes_two_in_a_row(seed):
    before, starter, turns, over = [0, 0], None, [], False
    for _, books, position in followed(seed):
        starter = position["starter"] if starter is None else starter
        points = [clan["vp"] for clan in position["clans"]]
        assert all(now >= then for now, then in zip(points, before, strict=True))
        before, turns, over = points, books.turns, position["over"]
    assert turns == [starter, 1 - starter] * 6 + [1 - starter, starter] * 6
    assert over


@some
@given(seed=seeds)
@pytest.mark.rule("D-6.2", "D-6.3", "D-6.4")
def test_seals_and_courtiers_stand_where_they_went(seed):
    for _, books, position in followed(seed):
        for seat, clan in enumerate(position["clans"]):
            seals = {**clan["garden_seals"], **clan["yard_seals"]}
            assert seals == {place: books.seals[seat][place] for place in seals}
            assert sum(seals.values()) <= 8
            assert (clan["courtier"], clan["path"]) == (
                books.courtiers[seat],
                books.paths[seat],
            )


@some
@given(seed=seeds)
@pytest.mark.rule("D-4.2", "D-8.3", "D-4.8")
def test_every_card_and_tile_is_in_exactly_one_place(seed):
    constant = None
    for _, books, position in followed(seed):
        clans, decks = position["clans"], position["decks"]
        assert position["activation"] == books.slots
        assert [set(clan["cards"]) for clan in clans] == books.cards
        assert [set(clan["improved"]) for clan in clans] == books.improved
        assert [clan["merchandise"] for clan in clans] == books.wares
        zones = [[c for zone in clan["zones"].values() for c in zone] for clan in clans]
        assert [sorted(zone) for zone in zones] == [sorted(zone) for zone in books.zones]
        influence = [*position["unseen_cards"], *(d["top"] for d in decks.values() if d["top"])]
        influence += [card for clan in clans for card in (*clan["cards"], *clan["improved"])]
        assert len(influence) == len(set(influence)) == 36
        assert len(position["unseen_cards"]) == sum(deck["below"] for deck in decks.values())
        lanterns = [*position["lantern_deck"], *filter(None, position["lantern_cards"])]
        lanterns += [card for zone in zones for card in zone if card.startswith("lantern")]
        assert len(lanterns) == len(set(lanterns)) == 15
        wares = [tile for stack in position["merchandise"].values() for tile in stack["below"]]
        wares += [stack["top"] for stack in position["merchandise"].values() if stack["top"]]
        wares += [tile for clan in clans for tile in clan["merchandise"]]
        assert len(wares) == len(set(wares)) == 6
        laid = [position[key] for key in ("gardens", "yards", "paths")]
        laid += [{name: place["tile"] for name, place in position["locations"].items()}]
        constant = constant or laid
        assert laid == constant, "gardens, yards, paths and locations stay for the whole game"


@some
@given(seed=seeds)
@pytest.mark.rule("D-7.1")
def test_two_seals_buy_a_resource_at_every_own_decision_after_the_set_up(seed):
    for game, _, position in followed(seed):
        texts = {rules.action_text("duel", action) for action in game.legal()}
        offered = {text for text in texts if text.startswith("exchange")}
        expected = set()
        if not position["set_up"] and not game.over:
            clan, step = position["clans"][game.to_move], position["pending"][-1]
            owed = step["amount"] if step["step"] == "pay-pieces" else 0
            if clan["seal"] >= 2 and clan["coin"] + clan["seal"] - 2 >= owed:
                goods = [good for good in ("food", "iron", "pearl") if clan[good] < 7]
                expected = {f"exchange 2 seals for 1 {good}" for good in goods}
        assert offered == expected


def test_play_for_these_laws_meets_every_kind_of_step():
    ruleset = rules.ruleset("duel")
    met = set()
    for seed in range(40):
        for choose in (eager(seed), uniform(seed)):
            game = DUEL.begin(seed)
            for _ in play(game, choose):
                met |= {ruleset.codec.name(step) for step in game.stack}
    # These never wait for an answer: they are run as soon as they come to the top.
    quiet = {"take-top", "take-ware", "scroll-effects"}
    assert met | quiet == {kind.name for kind in ruleset.step_kinds}
