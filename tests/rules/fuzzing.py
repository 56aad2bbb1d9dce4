"""What must hold for a position from anywhere: it is refused with reasons, or it can be played.

A refusal is one of our own errors and says what is wrong. A position that is taken is played to
its end, and meets the laws on the way: legal actions that apply, books that agree with it, checks
that find nothing, round trips, drawings.
"""

import json
import random
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import Any

from himeji import render, rules
from himeji.rules import Game
from himeji.rules.errors import HimejiError
from himeji.v1.position_pb2 import Position
from himeji.wire.positions import from_position, to_position

from tests.rules.mutations import Case, Json, World, leaves
from tests.rules.playing import policy
from tests.rules.rulebook import all_rules

RULES = all_rules()
TOO_LONG = 5_000  # decisions: a game that does not end would otherwise be played for ever
UNFORESEEN = "cannot go on from here"  # said where no check foresaw what is wrong
CLOSELY = 0.02  # share of the decisions on the way at which the forms are compared
FORMS = {
    family: (
        import_module(f"tests.rules.{family}.bookkeeping").Books.opened,
        import_module(f"himeji.rules.{family}.checks").faults,
    )
    for family in {ruleset.family for ruleset in rules.RULESETS.values()}
}
"""By family: how books are opened, and what finds faults."""


def examine(position: Json, seed: int) -> bool:
    """Whether a position is taken; raises if it is neither refused well nor played well."""
    game = taken(read(position, seed))
    message = as_message(position)
    if message is not None:
        twin = taken(lambda: from_position(message, rules.seeded(seed)))
        assert (twin is None) == (game is None), "the message and the JSON are judged alike"
        if game and twin:
            assert twin.dumps() == game.dumps()
            assert twin.legal() == game.legal()
    if game is None:
        return False
    follow(game, position, 0, seed)
    return True


def examine_message(message: Position, seed: int) -> bool:
    """The same for a message."""
    game = taken(lambda: from_position(message, rules.seeded(seed)))
    if game is None:
        return False
    follow(game, json.loads(game.to_json()), len(game.events_since(0)), seed)
    return True


def read(position: Json, seed: int = 0) -> Callable[[], Game]:
    """Reads a position, once it is called."""
    return lambda: rules.from_json(position, seed=seed)


def taken(reads: Callable[[], Game]) -> Game | None:
    """The game that is read, None if it is refused with what is wrong."""
    try:
        return reads()
    except HimejiError as refusal:
        reasons = getattr(refusal, "reasons", [refusal.message])
    assert reasons
    assert all(reasons)
    assert not [reason for reason in reasons if UNFORESEEN in reason], reasons
    return None


def as_message(position: Json) -> Position | None:
    """The message of a position that nobody has checked, None if it cannot be written as one."""
    ruleset: Any = rules.RULESETS.get(str(position.get("ruleset")))
    if ruleset is None or str(position.get("revision", ruleset.revision)) != ruleset.revision:
        return None
    module = import_module(f"himeji.rules.{ruleset.family}.reader")
    try:
        reader = getattr(module, f"{ruleset.family.capitalize()}Reader")(ruleset, position)
        game = reader.read(rules.seeded(0))
    except HimejiError:
        return None
    if reader.reasons:
        return None
    over, game.over = game.over, True  # a game without pending steps has nobody to move
    message = to_position(game)
    if not over:
        message.to_move = 0
    return message


def follow(game: Game, position: Json, told: int, seed: int) -> None:
    """Play to the end, every law in view; the books begin with the position."""
    family = game.ruleset.family
    open_books, find_faults = FORMS[family]
    names = game.ruleset.tables.names  # type: ignore[attr-defined]
    books, choose, rng = open_books(names, position), policy(seed), random.Random(seed)
    known = game.ruleset.actions.texts.keys()
    points = [clan["vp"] for clan in position["clans"]]
    draw(game)
    close = True  # the position as it was read is looked at closely, and some of those that follow
    for _ in range(TOO_LONG):
        events = game.events_since(told)
        told += len(events)
        for event in events:
            books.write(event)
            assert event.rule in RULES, f"there is no rule {event.rule}"
        now = game.ruleset.describe(game)
        books.check(now)
        laid = Counter(components(now, game))
        assert max(laid.values()) == 1, laid.most_common(1)
        found = find_faults(game)
        assert not found, found
        held = [clan["vp"] for clan in now["clans"]]
        assert all(mine >= before for mine, before in zip(held[: game.seats], points, strict=False))
        points = held
        if close or game.over:
            look_closely(game)
        if game.over:
            break
        legal = game.legal()
        assert legal
        assert legal == sorted(set(legal))
        assert set(legal) <= known
        assert game.to_move in range(game.seats)
        game.apply(choose(legal))
        close = rng.random() < CLOSELY
    assert game.over, "the game does not end"
    assert books.turns == books.due, "every clan has the turns that are left to it, in turn order"
    assert game.legal() == []


def look_closely(game: Game) -> None:
    """Round trips, results, and every answer tried in a copy."""
    shown = (game.dumps(), game.legal(), game.to_move, game.over, game.scores(), game.ranking())
    message = Position.FromString(to_position(game).SerializeToString())
    for twin in (
        rules.loads(game.dumps()),
        rules.from_json(game.to_json()),
        from_position(message, rules.seeded(0)),
    ):
        again = (twin.dumps(), twin.legal(), twin.to_move, twin.over, twin.scores(), twin.ranking())
        assert again == shown
    assert [sum(lines.values()) for lines in game.breakdown()] == game.scores()
    for action in game.legal():
        twin = game.clone()
        twin.apply(action)
        assert twin.dumps() != shown[0]


def components(position: Json, game: Game) -> list[str]:
    """Every card and tile that lies somewhere; pending steps only speak of them."""
    known = game.ruleset.tables.numbers  # type: ignore[attr-defined]
    lying = {key: value for key, value in position.items() if key != "pending"}
    return [box[key] for box, key in leaves(lying, str) if box[key] in known]


def draw(game: Game) -> None:
    """Both drawings are made, and the page is not too wide."""
    assert max(map(len, render.text(game).splitlines())) <= 100
    assert render.svg(game).startswith("<svg")


# --- failures -----------------------------------------------------------------------------------


def report_message(message: Position, seed: int) -> str:
    """What repeats the failure of a message."""
    try:
        examine_message(message, seed)
    except Exception as problem:  # noqa: BLE001 - whatever it is, it is a failure
        return f"{type(problem).__name__}: {problem}\nseed {seed}\n{message}"
    return "another time it did not fail"


def failure(case: Case, world: World, seed: int) -> str:
    """What does not hold for a case, empty if all does."""
    try:
        examine(case.position(world), seed)
    except Exception as problem:  # noqa: BLE001 - whatever it is, it is a failure
        return f"{type(problem).__name__}: {problem}"
    return ""


def smallest(case: Case, world: World, seed: int) -> Case:
    """The case with as few of its changes as still fail."""
    for number in range(len(case.changes)):
        fewer = Case(case.source, case.changes[:number] + case.changes[number + 1 :])
        if failure(fewer, world, seed):
            return smallest(fewer, world, seed)
    return case


def report(case: Case, world: World, seed: int) -> str:
    """What repeats a failure: the position, what was changed in it, and the seed."""
    small = smallest(case, world, seed)
    position, source = small.position(world), world.positions[small.source]
    changed = "\n".join(differences(source, position, ""))
    return (
        f"{failure(small, world, seed)}\n{small} of {world.table}, seed {seed}\n{changed}\n"
        f"{json.dumps(position)}"
    )


def differences(old: Any, new: Any, path: str) -> list[str]:
    """What was changed, value by value."""
    if type(old) is type(new) and isinstance(old, dict):
        keys = [*old, *[key for key in new if key not in old]]
        pairs = [(old.get(key), new.get(key), f"{path}.{key}") for key in keys]
    elif type(old) is type(new) and isinstance(old, list) and len(old) == len(new):
        pairs = [(a, b, f"{path}[{n}]") for n, (a, b) in enumerate(zip(old, new, strict=True))]
    else:
        return [] if old == new else [f"{path}: {old!r} -> {new!r}"]
    return [line for a, b, where in pairs for line in differences(a, b, where)]
