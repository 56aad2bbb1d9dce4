"""Positions made by hand, imitated: a position that play reached, with a few things changed.

Half of the changes keep what the rules count (a courtier goes elsewhere, two cards change places),
so that many positions are possible; the others break something. Everything follows from a seed.
"""

import contextlib
import copy
import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from himeji import rules
from himeji.rules.constants import GOOD_NAMES
from himeji.rules.step_fields import Card, Cards, FieldType, Flag, Icons, Mask, Name, Names, RuleId
from himeji.v1.position_pb2 import Position

from tests.rules.playing import Table, play, policy

Json = dict[str, Any]
Place = tuple[Any, Any]
"""A container and the key or index of a value in it."""

GAMES = 12  # whose positions are changed
EVERY = 7  # decisions between two positions of a game
GARBAGE = (None, True, False, "", "x", [], {}, [[]], [{}], 1.5, 2.0, -1, 10**30, "coral 9", "B-9.9")
SWAP_TILES = 2  # that a seat of Duel can hold
NUMBERS = (0, 1, 2, 3, 5, 6, 7, 11, 20, 99, -1, 1 << 20, 1 << 30, 1 << 40)


class World:
    """What the changes of one table draw from: positions, pending steps and components."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.ruleset: Any = rules.ruleset(table.ruleset)
        self.positions: list[Json] = []
        for seed in range(GAMES):
            game = table.begin(seed)
            for number, _ in enumerate(play(game, policy(seed))):
                if number % EVERY == seed % EVERY:
                    self.positions.append(json.loads(game.to_json()))
            self.positions.append(json.loads(game.to_json()))
        self.steps = [step for position in self.positions for step in position["pending"]]
        self.box = self.ruleset.tables
        self.words = list(self.ruleset.words.describe())
        names, rule_ids = self.box.names[1:], sorted(self.ruleset.rule_ids())
        self.makers: dict[type, Callable[[random.Random, Any], Any]] = {
            Flag: lambda rng, _: rng.random() < 0.5,
            RuleId: lambda rng, _: rng.choice(rule_ids),
            Name: lambda rng, field: rng.choice(field.names),
            Mask: lambda rng, field: rng.sample(field.names, rng.randint(0, 2)),
            Names: lambda rng, field: rng.sample(field.names, rng.randint(0, 2)),
            Card: lambda rng, _: rng.choice(names),
            Cards: lambda rng, _: [rng.choice(names) for _ in range(2)],
            Icons: lambda rng, _: [rng.choice(self.words) for _ in range(rng.randint(1, 4))],
        }

    def step(self, rng: random.Random) -> Json:
        """A step that was pending somewhere, or any of any kind."""
        if rng.random() < 0.6:
            return copy.deepcopy(rng.choice(self.steps))
        kind = rng.randrange(len(self.ruleset.step_kinds))
        fields = self.ruleset.codec.fields(kind).items()
        return {"step": self.ruleset.step_kinds[kind].name} | {
            name: self.value(rng, name, field_type) for name, field_type in fields
        }

    def value(self, rng: random.Random, name: str, field_type: FieldType) -> Any:
        """Any value that a field of a step may be written with."""
        if name == "seat":
            return rng.randrange(self.table.seats)
        for kind, make in self.makers.items():
            if isinstance(field_type, kind):
                return make(rng, field_type)
        seen = [step[name] for step in self.steps if name in step]
        return rng.choice([*seen, rng.choice(self.words), rng.randint(0, 7)])


# --- finding places -----------------------------------------------------------------------------


def places(value: Any) -> Iterator[Place]:
    """Every value inside of a position, with where it stands."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inner:
        yield value, key
        if isinstance(each, dict | list):
            yield from places(each)


def leaves(position: Json, kind: type) -> list[Place]:
    return [(box, key) for box, key in places(position) if type(box[key]) is kind]


def lists(position: Json) -> list[list[Any]]:
    """Every list in a position but for the pending steps."""
    found = [box[key] for box, key in leaves(position, list)]
    return [each for each in found if each is not position["pending"]]


class Hand:
    """The hand that changes a position. A change that finds nothing to change raises something."""

    def __init__(self, world: World, position: Json, rng: random.Random) -> None:
        self.world = world
        self.position = position
        self.pending: list[Json] = position["pending"]
        self.rng = rng

    def pick(self, found: Sequence[Any]) -> Any:
        return self.rng.choice(found)

    def components(self) -> list[Place]:
        """Where components are named."""
        names = self.world.box.numbers
        return [(box, key) for box, key in leaves(self.position, str) if box[key] in names]

    def kind(self, name: str) -> str:
        """The kind of a component."""
        return str(self.world.box.of(self.world.box.numbers[name]).kind)

    # --- changes that often keep a position possible ------------------------------------------

    def change_goods(self) -> None:
        clan, most = self.pick(self.position["clans"]), self.pick((1, 5, 7, 20))
        goods = [good for good in GOOD_NAMES if good in clan]
        for good in self.rng.sample(goods, self.rng.randint(1, len(goods))):
            clan[good] = self.rng.randint(0, SWAP_TILES if good == "swap" else most)

    def shift_one(self) -> None:
        """One piece goes to another place of its table: a courtier, a warrior, a token, a seal."""
        tables = [box[key] for box, key in leaves(self.position, dict)]
        counts = [t for t in tables if len(t) > 1 and {type(held) for held in t.values()} == {int}]
        table = self.pick(counts)
        table[self.pick(list(table))] += 1
        table[self.pick([name for name in table if table[name]])] -= 1

    def swap_components(self) -> None:
        """Two components of one kind change places."""
        found = self.components()
        one, key = self.pick(found)
        alike = [(b, k) for b, k in found if self.kind(b[k]) == self.kind(one[key])]
        other, place = self.pick(alike)
        one[key], other[place] = other[place], one[key]

    def other_component(self) -> None:
        """Another component of the same kind lies there."""
        box, key = self.pick(self.components())
        number = self.pick(self.world.box.kinds[self.kind(box[key])])
        box[key] = self.world.box.names[number]

    def move_entry(self) -> None:
        """A card, die or tile goes from one list to another."""
        source = self.pick([each for each in lists(self.position) if each])
        entry = source.pop(self.rng.randrange(len(source)))
        alike = [e for e in lists(self.position) if not e or type(e[0]) is type(entry)]
        target = self.pick(alike)
        target.insert(self.rng.randint(0, len(target)), entry)

    def change_die(self) -> None:
        """Another value, or the colours of two dice change."""
        names = [(box, key) for box, key in leaves(self.position, str) if " " in box[key]]
        dice = [(box, key) for box, key in names if box[key][-1].isdigit()]
        (one, key), (other, place) = self.pick(dice), self.pick(dice)
        if self.rng.random() < 0.5:
            one[key] = one[key][:-1] + str(self.rng.randint(1, 6))
        else:
            mine, yours = one[key], other[place]
            one[key], other[place] = yours[:-1] + mine[-1], mine[:-1] + yours[-1]

    def move_die(self) -> None:
        """A die on a space goes to another space."""
        spaces = self.position["spaces"]
        die = self.pick([dice for dice in spaces.values() if dice]).pop()
        self.pick(list(spaces.values())).append(die)

    def shuffle_order(self) -> None:
        self.rng.shuffle(self.position[self.pick(("turn_order", "markers", "pending"))])

    def transplant(self) -> None:
        """A part of another position."""
        mine, donor = self.position, copy.deepcopy(self.pick(self.world.positions))
        if self.rng.random() < 0.5:
            seat = self.rng.randrange(len(mine["clans"]))
            mine, donor = mine["clans"][seat], donor["clans"][seat]
        key = self.pick(list(donor))
        mine[key] = donor[key]

    def change_step(self) -> None:
        """Another value in a field of a pending step."""
        step = self.pick(self.pending)
        names = [kind.name for kind in self.world.ruleset.step_kinds]
        fields = self.world.ruleset.codec.fields(names.index(step["step"]))
        name = self.pick(list(fields))
        step[name] = self.world.value(self.rng, name, fields[name])

    def ask_another_seat(self) -> None:
        asking = [step for step in self.pending if "seat" in step]
        for step in asking if self.rng.random() < 0.5 else asking[-1:]:
            step["seat"] = self.rng.randrange(self.world.table.seats)

    def add_step(self) -> None:
        self.pending.insert(self.rng.randint(0, len(self.pending)), self.world.step(self.rng))

    def add_top_step(self) -> None:
        self.pending.append(self.world.step(self.rng))

    def replace_step(self) -> None:
        self.pending[self.rng.randrange(len(self.pending))] = self.world.step(self.rng)

    def drop_step(self) -> None:
        self.pending.pop(self.rng.randrange(len(self.pending)))

    def repeat_step(self) -> None:
        step = copy.deepcopy(self.pick(self.pending))
        self.pending.insert(self.rng.randint(0, len(self.pending)), step)

    def drop_all_steps(self) -> None:
        self.pending.clear()

    # --- changes that mostly break something --------------------------------------------------

    def change_number(self) -> None:
        box, key = self.pick(leaves(self.position, int))
        box[key] = self.pick((*NUMBERS, box[key] + 1, box[key] - 1))

    def nudge_number(self) -> None:
        box, key = self.pick(leaves(self.position, int))
        box[key] += self.pick((1, -1))

    def turn_flag(self) -> None:
        box, key = self.pick(leaves(self.position, bool))
        box[key] = not box[key]

    def change_clock(self) -> None:
        """Round, turn or who begins."""
        self.position[self.pick(("round", "turn", "starter", "deal"))] += self.pick((-2, -1, 1, 2))

    def repeat_entry(self) -> None:
        entries = self.pick([each for each in lists(self.position) if each])
        entries.append(copy.deepcopy(self.pick(entries)))

    def drop_entry(self) -> None:
        entries = self.pick([each for each in lists(self.position) if each])
        entries.pop(self.rng.randrange(len(entries)))

    def swap_values(self) -> None:
        """Any two values change places."""
        found = [place for kind in (int, str, type(None)) for place in leaves(self.position, kind)]
        (one, key), (other, place) = self.pick(found), self.pick(found)
        one[key], other[place] = other[place], one[key]

    def put_garbage(self) -> None:
        box, key = self.pick(list(places(self.position)))
        box[key] = copy.deepcopy(self.pick(GARBAGE))

    def drop_key(self) -> None:
        box, key = self.pick([(b, k) for b, k in places(self.position) if isinstance(b, dict)])
        del box[key]

    def add_key(self) -> None:
        box, key = self.pick([(b, k) for b, k in places(self.position) if isinstance(b, dict)])
        box[f"{key} "] = box[key]

    def change_head(self) -> None:
        """Ruleset, seats or options."""
        key = self.pick(("ruleset", "seats", "options", "revision"))
        self.position[key] = self.pick(("duel", "solo", 1, 2, 3, 4, {}, {"difficulty": "hard"}))


OFTEN = (
    *(Hand.change_goods, Hand.shift_one, Hand.swap_components, Hand.change_die),
    *(Hand.drop_all_steps, Hand.add_top_step),
)
GENTLE = (
    *(Hand.other_component, Hand.move_entry, Hand.move_die, Hand.shuffle_order, Hand.transplant),
    *(Hand.change_step, Hand.ask_another_seat, Hand.add_step, Hand.replace_step),
    *(Hand.drop_step, Hand.repeat_step),
)
HARSH = (
    *(Hand.change_number, Hand.nudge_number, Hand.turn_flag, Hand.change_clock),
    *(Hand.repeat_entry, Hand.drop_entry, Hand.swap_values, Hand.put_garbage),
    *(Hand.drop_key, Hand.add_key, Hand.change_head),
)
CHANGES = (*OFTEN, *OFTEN, *OFTEN, *GENTLE, *GENTLE, *HARSH)
NOTHING_THERE = (AttributeError, IndexError, KeyError, TypeError, ValueError)


class Case(NamedTuple):
    """A position with changes: all of it follows from numbers."""

    source: int
    changes: tuple[int, ...]

    def position(self, world: World) -> Json:
        """The changed position; a change that finds nothing to change is left out."""
        position = copy.deepcopy(world.positions[self.source])
        for seed in self.changes:
            rng = random.Random(seed)
            with contextlib.suppress(*NOTHING_THERE):
                rng.choice(CHANGES)(Hand(world, position, rng))
        return position


def case(world: World, number: int) -> Case:
    """The case of a number: a position that one to four changes have made another one."""
    rng = random.Random(f"{world.table} {number}")
    while True:
        changes = tuple(rng.getrandbits(32) for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))))
        found = Case(rng.randrange(len(world.positions)), changes)
        if found.position(world) != world.positions[found.source]:
            return found


# --- messages -----------------------------------------------------------------------------------


def spoil(message: Position, rng: random.Random) -> None:
    """Change a number of a message: of its lists, of its other fields, or of a pending step."""
    part = getattr(message, str(message.WhichOneof("family")))
    name = rng.choice([field.name for field in part.DESCRIPTOR.fields])
    numbers: Any = getattr(part, name)
    if rng.random() < 0.25 and message.pending:
        numbers = rng.choice(message.pending).arguments
    if isinstance(numbers, int):
        setattr(part, name, int(rng.choice((0, 1, 2, 3, 5, 12, -1, 99, 1 << 30))))
        return
    place, kind = rng.randint(0, len(numbers)), rng.random()
    if place == len(numbers) or kind < 0.1:
        numbers.insert(place, rng.randint(0, 3))
    elif kind < 0.2:
        numbers.pop(place)
    else:
        numbers[place] = rng.choice((*numbers, *numbers, 0, 1, 2, 3, 4, 7, 30, -1, 1 << 30))
