"""Rulesets as messages: complete, true to the engine, and enough to replay a game."""

from dataclasses import replace
from itertools import groupby

import pytest
from himeji import rules
from himeji.rules import Scripted
from himeji.rules.castle.base import base_ruleset
from himeji.rules.datafile import packaged
from himeji.rules.game import EVENT_KINDS
from himeji.v1.castle_pb2 import CastleColour, CastleSpace
from himeji.v1.rules_service_pb2 import Effect, EventRole, Ruleset
from himeji.wire.events import to_events, told_events
from himeji.wire.positions import to_position
from himeji.wire.rulesets import to_ruleset, to_summary

from tests.rules.playing import every_table, finish, play, policy

BASE = rules.ruleset("base")
every_ruleset = pytest.mark.parametrize("ruleset", rules.RULESETS.values(), ids=lambda r: r.name)


def message(ruleset):
    """The message as a client reads it."""
    return Ruleset.FromString(to_ruleset(ruleset).SerializeToString())


def gain(what, amount):
    return Effect(op="gain", what=what, amount=amount)


def pay(what, amount, *parts):
    return Effect(op="pay", costs=[Effect(what=what, amount=amount)], parts=parts)


@every_ruleset
def test_the_summary_says_what_the_ruleset_is(ruleset):
    summary = to_summary(ruleset)
    assert (summary.name, summary.revision) == (ruleset.name, ruleset.revision)
    assert summary.title
    assert list(summary.seat_counts) == sorted(ruleset.seat_counts)
    assert {option.name for option in summary.options} == ruleset.choices.keys()
    seats = ruleset.seat_counts[0]
    game = rules.new_game(ruleset.name, seats, seed=1)
    assert summary.family == to_position(game).WhichOneof("family")
    assert summary.has_rival == (len(game.scores()) > seats)


@every_ruleset
def test_the_action_table_is_complete_and_ascending(ruleset):
    told = {action.id: action.text for action in message(ruleset).actions}
    assert told == ruleset.actions.texts
    assert list(told) == sorted(told)


@every_ruleset
def test_every_component_stands_under_its_number_with_faces_and_source(ruleset):
    components = message(ruleset).components
    assert [each.number for each in components] == list(range(1, len(ruleset.tables.names)))
    assert [each.id for each in components] == ruleset.tables.names[1:]
    for each in components:
        assert each.kind
        assert each.source
        assert each.faces, each.id
        assert len({face.name for face in each.faces}) == len(each.faces)
        for face in each.faces:
            assert face.text
            assert face.effects


def component(name, ruleset=BASE):
    return next(each for each in message(ruleset).components if each.id == name)


def faces(name, ruleset=BASE):
    shown = component(name, ruleset).faces
    return {face.name: (face.dark, list(face.effects)) for face in shown}


def facts(name):
    return {fact.name: fact.value for fact in component(name).facts}


def test_a_steward_has_three_rows_and_a_back():
    assert component("steward-01").kind == "steward-card"
    assert faces("steward-01") == {
        "top": (True, [pay("seal", 1, Effect(op="courtier"))]),
        "middle": (False, [gain("seal", 1), gain("vp", 1)]),
        "bottom": (False, [gain("food", 1), Effect(op="lantern")]),
        "back": (False, [gain("coin", 1)]),
    }
    lines = {"row_of_coral_line": 0, "row_of_black_line": 1, "row_of_white_line": 2}
    assert facts("steward-01") == {"diamond": 1, **lines}
    assert facts("steward-02") == lines


def test_a_diplomat_has_two_rows_of_which_one_is_wide():
    assert list(faces("diplomat-12")) == ["first", "second", "back"]
    assert faces("diplomat-12")["first"] == (False, [gain("any", 3)])
    assert faces("diplomat-12")["second"] == (True, [Effect(op="gardener")])
    wide = {"row_of_coral_line": 0, "row_of_black_line": 0, "row_of_white_line": 1}
    assert facts("diplomat-12") == {"diamond": 1, **wide}


def test_every_other_kind_of_component_shows_what_is_printed_on_it():
    assert faces("daimyo-09") == {
        "slot-1": (False, [Effect(op="well")]),
        "slot-2": (False, [gain("pearl", 2)]),
        "slot-3": (False, [gain("coin", 3)]),
    }
    assert faces("garden-plant-1") == {
        "front": (False, [pay("coin", 4, Effect(op="castle-row", what="any"))])
    }
    assert facts("garden-plant-1") == {"plant": 1, "food_cost": 5, "points": 9}
    assert facts("garden-stone-10") == {"stone": 1, "food_cost": 3, "points": 5}
    assert faces("yard-tile-8") == {
        "blue": (False, [Effect(op="domain-row")]),
        "yellow": (False, [gain("vp", 2)]),
    }
    assert faces("die-tile-coral-food") == {"reward": (False, [gain("food", 1)])}
    assert facts("die-tile-coral-food") == {"coral": 1}
    assert faces("decree-1") == {"front": (False, [gain("coin", 1)])}
    start = faces("start-resource-1")
    assert start["back"] == (False, [gain("pearl", 1)])
    assert start["front"][1] == [gain("food", 2), gain("iron", 1), gain("coin", 2), gain("seal", 1)]
    assert facts("start-resource-1") == {"decree": component("decree-1").number}


@every_ruleset
def test_every_part_of_the_board_has_an_id_of_its_own_a_number_in_its_kind_and_something_to_tell(
    ruleset,
):
    board = message(ruleset).board
    assert len({part.id for part in board}) == len(board)
    assert len({(part.kind, part.number, part.id) for part in board}) == len(board)
    kinds = [kind for kind, _ in groupby(part.kind for part in board)]
    assert len(set(kinds)) == len(kinds), "parts of a kind do not stand together"
    for part in board:
        assert part.description
        assert part.faces or part.facts, part.id
        assert all(face.name and face.text and face.effects for face in part.faces)


@pytest.mark.parametrize(
    "ruleset", [r for r in rules.RULESETS.values() if r.family == "castle"], ids=lambda r: r.name
)
def test_a_position_means_spaces_and_domain_rows_by_the_numbers_of_the_board(ruleset):
    board = message(ruleset).board
    spaces = {part.id: part.number for part in board if part.kind == "space"}
    assert spaces == {
        name: CastleSpace.Value(f"CASTLE_SPACE_{name.upper().replace('-', '_')}") for name in spaces
    }
    rows = {part.id: part.number for part in board if part.kind == "domain-row"}
    assert rows == {
        name: CastleColour.Value(f"CASTLE_COLOUR_{name.removeprefix('domain-').upper()}")
        for name in rows
    }
    slots = [part.number for part in board if part.kind == "die-tile-slot"]
    game = rules.new_game(ruleset.name, ruleset.seat_counts[0], seed=1)
    assert slots == list(range(1, len(to_position(game).castle.die_tiles) + 1))


def board(name, ruleset=BASE):
    [part] = [each for each in message(ruleset).board if each.id == name]
    return part


def printed(name, ruleset=BASE):
    part = board(name, ruleset)
    faces = {face.name: list(face.effects) for face in part.faces}
    return part.kind, part.number, faces, {fact.name: fact.value for fact in part.facts}


def test_a_part_of_the_board_that_nothing_else_means_has_no_number_and_0_is_one():
    parts = [part for ruleset in rules.RULESETS.values() for part in message(ruleset).board]
    without = {part.kind for part in parts if not part.HasField("number")}
    assert without == {"caps", "game", "limits", "rival-start", "score", "tea-price", "well"}
    assert not any(part.HasField("number") for part in parts if part.kind in without)
    for first in ("gate", "audience"):
        assert (board(first).HasField("number"), board(first).number) == (True, 0)


def test_the_board_says_what_is_printed_on_it():
    offers = {"offer-1": [Effect(op="gardener")], "offer-2": [Effect(op="courtier")]}
    assert printed("outside-left") == ("space", 6, offers, {"printed": 5})
    assert printed("well") == ("space", 8, {"front": [gain("seal", 1)]}, {"printed": 1})
    kind, number, cells, facts = printed("domain-white")
    assert (kind, number, facts) == ("domain-row", 3, {"printed": 6})
    assert [effect for [effect] in cells.values()] == [
        *[gain("pearl", 1)] * 3,
        *(gain("seal", 1), gain("pearl", 1), Effect(op="lantern")),
    ]
    tiles = {"blue_tile": 1, "yellow_tile": 0}
    assert printed("yard-2") == ("yard", 2, {}, {"iron": 3, "value": 1, **tiles})
    assert printed("slot-6") == ("die-tile-slot", 9, {}, {"space": 4, "row": 1})
    assert printed("slot-12") == ("die-tile-slot", 15, {}, {"space": 8, "row": 1})
    assert printed("passage-of-time-15") == ("track-position", 15, {}, {"seals": 3, "points": 10})
    assert printed("daimyo-floor") == ("floor", 3, {}, {"points": 10})
    assert printed("audience") == ("price", 0, {}, {"coins": 2})
    assert printed("climb-2") == ("price", 2, {}, {"pearl": 5})
    caps = {"food": 7, "iron": 7, "pearl": 7, "seal": 5, "influence": 20}
    assert printed("caps") == ("caps", 0, {}, caps)
    assert printed("resource-7") == ("resource-points", 7, {}, {"points": 2})
    assert printed("coins-and-seals") == ("score", 0, {}, {"per_point": 5})
    assert printed("length") == ("game", 0, {}, {"rounds": 3, "turns": 3, "colours": 3})
    table = {"dice_per_colour": 4, "dice_per_space": 2}
    assert printed("with-3-clans") == ("table", 3, {}, table)


def test_the_board_of_matcha_has_the_tea_garden_and_says_what_is_reconstructed():
    matcha = rules.ruleset("matcha")
    geisha = {"offer-1": [Effect(op="geisha")]}
    fields = {"printed": 5, "reconstructed": 1}
    assert printed("tea-fields-left", matcha)[2:] == (geisha, fields)
    assert printed("outskirts-upper", matcha)[2:] == ({}, fields)
    assert printed("outskirts-lower", matcha)[2:] == ({}, {"printed": 5})
    kind, number, cells, facts = printed("domain-green", matcha)
    assert (kind, number, facts) == ("domain-row", 4, {"printed": 6, "reconstructed": 1})
    assert [effect for [effect] in cells.values()] == [
        *[gain("chasen", 1)] * 3,
        *(gain("coin", 2), gain("any", 1), gain("chasen", 1)),
    ]
    assert printed("overlook", matcha) == ("tea-place", 2, {}, {"limit": 1, "points": 2})
    assert printed("courtiers-room", matcha) == ("tea-place", 7, {}, {"limit": 2, "points": 2})
    assert printed("length", matcha)[3] == {"rounds": 3, "turns": 4, "colours": 4}
    assert not any(
        fact.name == "reconstructed" for part in message(BASE).board for fact in part.facts
    )


@pytest.mark.parametrize("name", ["solo", "matcha-solo"])
def test_a_game_for_one_tells_how_the_rival_starts_and_of_no_other_table(name):
    solo = rules.ruleset(name)
    hard = {"vp": 8, "turn_order": 1, "influence": 3}
    assert printed("rival-hard", solo)[3] == hard
    assert printed("rival-lot-2", solo)[3] == {"coins": 5}
    tables = [part.id for part in message(solo).board if part.kind == "table"]
    assert tables == ["with-2-clans"]


def test_the_components_of_every_box_show_both_of_their_sides():
    matcha, duel = rules.ruleset("matcha"), rules.ruleset("duel")
    assert faces("flower-1", matcha) == {
        "upper": (True, [pay("seal", 1, Effect(op="gardener", what="or geisha"))]),
        "lower": (False, [gain("coin", 4)]),
        "back": (False, [gain("chasen", 1)]),
    }
    assert list(faces("ceremony-01", matcha)) == ["blue", "yellow"]
    assert list(faces("solitaire-1", rules.ruleset("solo"))) == ["bridge", "action"]
    assert list(faces("flag-01", duel)) == ["front", "back"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("printed = 5", "printed = 4"),
        ("iron = 5", "iron = 6"),
        ("value = 2", "value = 3"),
        ('"1 seal", "1 pearl", "lantern"]', '"1 seal", "1 pearl", "1 vp"]'),
        ("{ entering = 6, seals = 1 }", "{ entering = 7, seals = 1 }"),
        ("6, 10, 11, 12", "6, 10, 11, 13"),
        ("audience-coins = 2", "audience-coins = 3"),
        ("climb-two-floors-pearl = 5", "climb-two-floors-pearl = 4"),
        ("seal = 5", "seal = 4"),
        ("per-point = 5", "per-point = 4"),
        ("1, 1, 1, 1, 2]", "1, 1, 1, 1, 3]"),
        ("diplomat = 6", "diplomat = 7"),
        ('id = "9"\nroom', 'id = "ninth"\nroom'),
    ],
)
def test_whatever_changes_on_the_board_changes_what_is_told_of_it(old, new):
    text = packaged("base.toml")
    assert old in text
    changed = base_ruleset(lambda _: text.replace(old, new, 1))
    assert message(changed).board != message(BASE).board


def test_a_ruleset_with_a_reconstructed_component_says_so():
    text = packaged("base.toml").replace('source = "bga-log"', 'source = "reconstructed"', 1)
    changed = to_ruleset(base_ruleset(lambda _: text))
    assert changed.summary.reconstructed
    assert [each.reconstructed for each in changed.components[:2]] == [True, False]
    assert not to_summary(BASE).reconstructed


def test_options_are_listed_by_name_with_their_choices():
    changed = replace(
        BASE,
        choices={"pace": ("slow", "fast"), "map": ("large",)},
        option_words={"pace": "How fast.", "map": "How large."},
    )
    told = to_summary(changed).options
    assert [(each.name, each.standard, each.description) for each in told] == [
        ("map", "large", "How large."),
        ("pace", "slow", "How fast."),
    ]
    assert list(told[1].choices) == ["slow", "fast"]


@every_table
def test_the_kinds_of_decisions_say_who_is_asked_and_what_the_arguments_are(table):
    kinds = {each.kind: each for each in message(rules.ruleset(table.ruleset)).decision_kinds}
    assert list(kinds) == list(range(1, len(kinds) + 1))
    assert all(each.name and each.description for each in kinds.values())
    met = set()
    for seed in range(6):
        game = table.begin(seed)
        for _ in play(game, policy(seed)):
            pending = to_position(game).pending
            assert kinds[pending[-1].kind].asks, "somebody was asked by a step that asks nobody"
            for each in pending:
                met.add(each.kind)
                texts, numbers = kinds[each.kind].arguments, len(each.arguments)
                more = bool(texts) and texts[-1].endswith("…")
                assert numbers >= len(texts) if more else numbers == len(texts), kinds[each.kind]
    quiet = {each.name for each in kinds.values() if not each.asks and each.kind in met}
    assert quiet, "no step that asks nobody was ever pending"


@every_table
def test_a_game_can_be_replayed_from_its_events_by_their_roles_alone(table):
    kinds = message(rules.ruleset(table.ruleset)).event_kinds
    assert [each.kind for each in kinds] == sorted(each.kind for each in kinds)
    assert set(EVENT_KINDS) <= {each.kind for each in kinds}
    assert all(each.name and each.description and len(each.numbers) == 2 for each in kinds)
    role = {each.kind: each.role for each in kinds}
    for seed in range(3):
        game = table.begin(seed)
        finish(game, policy(seed))
        events = to_events(game.log)
        actions = [e.numbers[0] for e in events if role[e.kind] == EventRole.EVENT_ROLE_ACTION]
        chance = [e.numbers[-1] for e in events if role[e.kind] == EventRole.EVENT_ROLE_CHANCE]
        again = table.begin(chance=Scripted(chance))
        for action in actions:
            again.apply(action)
        assert again.over
        assert again.dumps() == game.dumps()
        assert to_events(again.log) == events


@every_ruleset
def test_every_rule_comes_with_its_text(ruleset):
    told = [(rule.id, rule.text) for rule in message(ruleset).rules]
    assert told == [tuple(rule) for rule in ruleset.describe_rules()]
    assert all(text for _, text in told)


@every_ruleset
def test_the_message_is_the_same_every_time(ruleset):
    first, second = to_ruleset(ruleset), to_ruleset(ruleset)
    assert first.SerializeToString(deterministic=True) == second.SerializeToString(
        deterministic=True
    )


def test_told_events_are_the_same_events_with_their_texts():
    game = rules.new_game("base", 2, seed=1)
    game.apply(game.legal()[0])
    plain, told = to_events(game.log), told_events(game.ruleset, 2, game.log)
    assert all(event.text for event in told)
    assert [event.text for event in told if event.kind == 1] == ["seat 1: pick pair 1"]
    for event in told:
        event.ClearField("text")
    assert told == plain
