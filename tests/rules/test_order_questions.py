"""Laws of the questions for an order: none is asked in vain, and none that matters is left out."""

import random
from collections.abc import Iterator

import pytest
from himeji.rules import Game
from himeji.rules.castle.icons import ChooseDomainRow
from himeji.rules.constants import GOODS, INFLUENCE, LAST_EXCHANGE, SEAL
from himeji.rules.duel.lanterns import ChooseZone
from himeji.rules.effect_order import EffectOrder
from himeji.rules.effects import Effect
from himeji.rules.game import Step
from hypothesis import settings

from tests.rules.playing import Table, every_table

LONG_RUN = settings().max_examples >= 1_000
MANY_GAMES = 2_000  # of base for two, and of every table in a long run
FEW_GAMES = 150
MOST_POSITIONS = 50_000  # of one answer; more would be a defect of this test
AROUND_CHECKPOINTS = (3, 4, 5, 6, 9, 10, 13, 14)

Outcomes = set[bytes]


def wall(game: Game, seat: int) -> Step:
    """A step that waits for an answer in every position: play stops when it is reached."""
    return ChooseZone(seat) if game.ruleset.family == "duel" else ChooseDomainRow(seat)


def ends(game: Game, stop: Step) -> Iterator[Game]:
    """Every way to go on until the step is reached, without exchanges of seals."""
    todo, seen = [game], set[bytes]()
    while todo:
        game = todo.pop()
        key = game.dumps()
        if key in seen:
            continue
        seen.add(key)
        assert len(seen) < MOST_POSITIONS
        if game.stack[-1] is stop:
            yield game
            continue
        for action in game.answers:
            if action > LAST_EXCHANGE:
                twin = game.clone()
                twin.play(action)
                todo.append(twin)


def answers_differ(game: Game) -> bool:
    """Whether two answers to a question lead to different positions when its unit is complete."""
    step = game.stack[-1]
    stop = wall(game, step.seat)
    outcomes = set()
    for action in game.answers:
        if action > LAST_EXCHANGE:
            twin = game.clone()
            twin.stack.insert(len(twin.stack) - 1, stop)
            twin.play(action)
            outcomes.add(frozenset(each.dumps() for each in ends(twin, stop)))
    return len(outcomes) > 1


@every_table
@pytest.mark.rule("B-2.8")
def test_no_order_is_asked_in_vain(table):
    long = LONG_RUN or str(table) == "base-2"
    asked = 0
    for seed in range(MANY_GAMES if long else FEW_GAMES):
        game, rng = table.begin(seed), random.Random(seed)
        while not game.over:
            if isinstance(game.stack[-1], EffectOrder):
                asked += 1
                assert answers_differ(game), (seed, game.to_json())
            game.play(rng.choice(game.answers))
    assert asked or not long or table.ruleset == "duel", "there was no question to judge"


# --- what is not asked can be had ---------------------------------------------------------------


def units(game: Game, seat: int) -> Iterator[tuple[Effect, ...]]:
    """What may be granted to a seat in one go."""
    if game.ruleset.family == "duel":
        for card in game.tables.all_of("influence-card"):
            yield card.gives
        return
    yield game.well
    yield tuple(icon for card in game.lanterns[seat] for icon in game.tables.of(card).lantern)
    for line in range(3):
        yield game.visible(seat, line)
    for kind in ("steward", "diplomat", "flower", "calligraphy", "ceremony"):
        for card in game.tables.kinds.get(kind, ()):
            for row in game.tables.of(card).rows:
                yield row.gives


def granted(game: Game, seat: int, effects: tuple[Effect, ...]) -> tuple[Outcomes, bool]:
    """The positions after a unit as the engine grants it, and whether it asks for an order."""
    stop = wall(game, seat)
    twin = game.clone()
    twin.stack = [stop, EffectOrder(seat, effects, "B-2.8")]
    twin.advance()
    asks = isinstance(twin.stack[-1], EffectOrder)
    return {each.dumps() for each in ends(twin, stop)}, asks


def in_every_order(game: Game, seat: int, effects: tuple[Effect, ...]) -> Outcomes:
    """The positions after its parts were granted one by one, in every order."""
    stop = wall(game, seat)
    found: Outcomes = set()
    start = game.clone()
    start.stack = [stop]
    todo, seen = [(start, effects)], set[tuple[bytes, tuple[str, ...]]]()
    while todo:
        game, rest = todo.pop()
        key = game.dumps(), tuple(sorted(effect.text for effect in rest))
        if key in seen:
            continue
        seen.add(key)
        if not rest:
            found.add(key[0])
        for effect in {effect.text: effect for effect in rest}.values():
            left = list(rest)
            left.remove(effect)
            twin = game.clone()
            effect.start(twin, seat, "B-2.8")
            twin.advance()
            todo += [(each, tuple(left)) for each in ends(twin, stop)]
    return found


def sampled(table: Table, games: int) -> Iterator[Game]:
    """Positions of random games, with seals up to the cap and markers around the checkpoints."""
    for seed in range(games):
        game, rng = table.begin(seed), random.Random(seed)
        while not game.over:
            if not game.drafting and rng.random() < 0.05:
                twin, at = game.clone(), game.to_move * GOODS
                twin.goods[at + SEAL] = rng.randint(0, 5)
                if game.ruleset.family == "castle":
                    twin.goods[at + INFLUENCE] = rng.choice(AROUND_CHECKPOINTS)
                yield twin
            game.play(rng.choice(game.answers))


@every_table
@pytest.mark.rule("B-2.8")
def test_what_any_order_leads_to_can_be_reached(table):
    slow = table.ruleset not in ("base", "solo")  # thousands of positions behind one action
    asked = unasked = 0
    for game in sampled(table, 1 if slow and not LONG_RUN else 40):
        seat = game.to_move
        for effects in {unit for unit in units(game, seat) if len(unit) > 1}:
            reached, asks = granted(game, seat, effects)
            assert reached == in_every_order(game, seat, effects), [each.text for each in effects]
            asked, unasked = asked + asks, unasked + (not asks)
    assert unasked
    assert asked or slow
