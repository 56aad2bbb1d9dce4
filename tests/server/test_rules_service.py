"""RulesService over a real socket: the rules as data, and the engine as a forward model."""

import random
from contextlib import asynccontextmanager
from dataclasses import replace

import grpc
import pytest
from himeji import rules
from himeji.rules import errors
from himeji.v1 import rules_service_pb2 as pb
from himeji.v1.game_pb2 import EndReason, StopReason, Want
from himeji.v1.position_pb2 import OptionValue, Position
from himeji.v1.rules_service_pb2_grpc import RulesServiceStub
from himeji.wire.errors import from_rpc_error
from himeji.wire.events import to_events, told_events
from himeji.wire.positions import to_position
from himeji.wire.rulesets import to_ruleset, to_summary
from himeji_server.accounts.caller import Caller, set_caller
from himeji_server.limits import Limits
from himeji_server.rpc import rpc_handlers
from himeji_server.rpc.interceptor import CallInterceptor
from himeji_server.rpc.rules_service import SERVICE, RulesService
from himeji_server.rpc.rules_workers import RulesWorkers

from tests.server.process_tree import rules_processes

BASE = rules.ruleset("base")
TEXTS = (Want.WANT_ACTION_TEXTS, Want.WANT_EVENT_TEXTS)
TABLES = [(each.name, seats) for each in rules.RULESETS.values() for seats in each.seat_counts]


async def anyone(_path, _context):
    set_caller(Caller("ada", "token", frozenset()))


@asynccontextmanager
async def serving(workers=None, charge=lambda _calls: None, **changed):
    """The service behind the guard, open to everybody: who may call is another test's matter."""
    guard = CallInterceptor(anyone)
    server = grpc.aio.server(interceptors=[guard], options=[("grpc.so_reuseport", 0)])
    limits = replace(Limits(), **changed)
    workers = workers or RulesWorkers(limits)
    handlers = rpc_handlers.handlers({SERVICE: RulesService(workers, charge, limits)})
    server.add_generic_rpc_handlers(tuple(handlers))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield RulesServiceStub(channel)
    finally:
        await server.stop(None)
        await workers.close()


@pytest.fixture
async def stub():
    async with serving() as found:
        yield found


async def refused(call):
    with pytest.raises(grpc.RpcError) as raised:
        await call
    return from_rpc_error(raised.value)


async def new(stub, **fields):
    return await stub.NewPosition(pb.NewPositionRequest(**{"ruleset": "base"} | fields))


async def apply(stub, position, *actions, **fields):
    return await stub.ApplyActions(
        pb.ApplyActionsRequest(position=position, actions=actions, **fields)
    )


def played(seats=2, seed=3, decisions=20):
    game = rules.new_game("base", seats, seed=seed)
    for _ in range(decisions):
        game.apply(game.legal()[-1])
    return game


# --- rulesets ---------------------------------------------------------------------------------


async def test_all_rulesets_are_listed_by_name(stub):
    listed = await stub.ListRulesets(pb.ListRulesetsRequest())
    assert [each.name for each in listed.rulesets] == sorted(rules.RULESETS)
    assert list(listed.rulesets) == [to_summary(rules.ruleset(n)) for n in sorted(rules.RULESETS)]
    assert listed.next_page_token == ""


async def test_a_list_comes_in_pages_that_neither_repeat_nor_miss_anything(monkeypatch):
    for name in ("alpha", "zeta", "omega", "gamma"):
        monkeypatch.setitem(rules.RULESETS, name, replace(BASE, name=name))
    async with serving() as stub:
        names, token, sizes = [], "", []
        while not sizes or token:
            # The size of a page may change from page to page.
            size = 2 if len(sizes) < 2 else 1
            page = await stub.ListRulesets(pb.ListRulesetsRequest(page_size=size, page_token=token))
            assert 0 < len(page.rulesets) <= size
            names += [each.name for each in page.rulesets]
            sizes.append(len(page.rulesets))
            token = page.next_page_token
            assert len(names) <= len(rules.RULESETS), "a page was repeated"
        huge = await stub.ListRulesets(pb.ListRulesetsRequest(page_size=2**31 - 1))
    assert names == sorted(rules.RULESETS)
    assert len(sizes) > 2
    assert [each.name for each in huge.rulesets] == names


@pytest.mark.parametrize(
    ("field", "request_"),
    [
        ("page_size", pb.ListRulesetsRequest(page_size=-1)),
        ("page_token", pb.ListRulesetsRequest(page_token="no token")),
        ("page_token", pb.ListRulesetsRequest(page_token="bm8gdG9rZW4=")),
    ],
)
async def test_a_page_that_cannot_be_is_refused(stub, field, request_):
    error = await refused(stub.ListRulesets(request_))
    assert type(error) is errors.InvalidRequest
    assert error.details["field"] == field


@pytest.mark.parametrize("name", rules.RULESETS)
async def test_a_ruleset_comes_with_everything(stub, name):
    ruleset = rules.ruleset(name)
    found = (await stub.GetRuleset(pb.GetRulesetRequest(ruleset=name))).ruleset
    assert found == to_ruleset(ruleset)
    assert len(found.actions) == len(ruleset.actions.texts)
    assert len(found.decision_kinds) == len(ruleset.describe_steps())
    assert {each.kind for each in found.event_kinds} == ruleset.event_kinds.keys()
    assert found.components
    assert found.rules
    by_revision = pb.GetRulesetRequest(ruleset=name, revision=ruleset.revision)
    assert (await stub.GetRuleset(by_revision)).ruleset == found


async def test_an_unknown_ruleset_or_revision_is_refused(stub):
    error = await refused(stub.GetRuleset(pb.GetRulesetRequest(ruleset="chess")))
    assert type(error) is errors.UnknownRuleset
    assert error.details == {"ruleset": "chess"}
    assert "base" in error.message
    error = await refused(stub.GetRuleset(pb.GetRulesetRequest(ruleset="base", revision="0-0")))
    assert type(error) is errors.UnknownRuleset
    assert error.details == {"ruleset": "base", "revision": "0-0"}
    assert BASE.revision in error.message
    error = await refused(new(stub, ruleset="chess"))
    assert type(error) is errors.UnknownRuleset
    error = await refused(apply(stub, Position(ruleset="chess")))
    assert type(error) is errors.UnknownRuleset


# --- setting up -------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "seats"), TABLES)
@pytest.mark.parametrize("seed", [0, 7, -(2**63), 2**63 - 1])
async def test_a_seed_gives_the_position_that_the_engine_gives(stub, name, seats, seed):
    answer = await new(stub, ruleset=name, seats=seats, seed=seed)
    game = rules.new_game(name, seats, seed=seed)
    assert answer.position == to_position(game)
    assert list(answer.legal_actions) == game.legal()
    assert list(answer.events) == to_events(game.log)
    assert answer.seed == seed
    assert not answer.action_texts


async def test_without_a_seed_the_server_chooses_one_and_says_which(stub):
    first, second = await new(stub), await new(stub)
    assert first.seed != second.seed
    assert all(0 <= answer.seed < 2**53 for answer in (first, second)), "JavaScript's numbers"
    assert first.position.seats == min(BASE.seat_counts)
    assert (await new(stub, seed=first.seed)).position == first.position


async def test_texts_come_when_they_are_wanted(stub):
    wants = (*TEXTS, Want.WANT_POSITION, 99)
    answer = await new(stub, seed=1, wants=wants)
    assert list(answer.action_texts) == ["pick pair 1", "pick pair 2", "pick pair 3"]
    game = rules.new_game("base", 2, seed=1)
    assert list(answer.events) == told_events(BASE, 2, game.log)
    answer = await apply(stub, answer.position, answer.legal_actions[0], seed=1, wants=wants)
    assert answer.events[0].text == "seat 1: pick pair 1"
    assert list(answer.action_texts) == [
        rules.action_text("base", action) for action in answer.legal_actions
    ]


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("ruleset", {"ruleset": ""}),
        ("seats", {"seats": 5}),
        ("seats", {"seats": -1}),
        ("options", {"options": [OptionValue(name="speed", value="high")]}),
        ("options", {"options": [OptionValue(name="a"), OptionValue(name="a")]}),
    ],
)
async def test_a_game_that_cannot_be_set_up_is_refused_with_the_field(stub, field, fields):
    error = await refused(new(stub, **fields))
    assert type(error) is errors.InvalidRequest
    assert error.details["field"] == field


# --- playing ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "seats"), TABLES)
async def test_a_game_played_through_the_service_is_the_game_of_the_engine(stub, name, seats):
    rng, game = random.Random(seats), rules.new_game(name, seats, seed=11)
    answer = await new(stub, ruleset=name, seats=seats, seed=11)
    while not game.over:
        known, actions = len(game.log), []
        for _ in range(rng.choice((1, 1, 2, 5))):
            if not game.over:
                actions.append(rng.choice(game.legal()))
                game.apply(actions[-1])
        answer = await apply(stub, answer.position, *actions, seed=11)
        assert answer.position == to_position(game)
        assert answer.position.ByteSize() * 3 < Limits.position_bytes
        assert list(answer.legal_actions) == game.legal()
        assert list(answer.events) == to_events(game.log[known:])
        assert (answer.played, answer.stop) == (len(actions), StopReason.STOP_REASON_ALL_PLAYED)
        assert answer.HasField("result") == game.over
    seats_told = answer.result.seats
    assert answer.result.end_reason == EndReason.END_REASON_FINISHED
    assert [each.score for each in seats_told] == game.scores()
    assert [each.rank for each in seats_told] == game.ranking()
    for clan, each in enumerate(seats_told):
        assert (each.seat, each.end_reason) == (clan, EndReason.END_REASON_FINISHED)
        assert {line.category: line.points for line in each.breakdown} == game.breakdown()[clan]
        assert all(line.rule for line in each.breakdown)


async def test_without_actions_the_answer_has_the_legal_ones(stub):
    game = played()
    answer = await apply(stub, to_position(game))
    assert list(answer.legal_actions) == game.legal()
    assert answer.position == to_position(game)
    assert (answer.played, answer.stop) == (0, StopReason.STOP_REASON_ALL_PLAYED)
    assert not answer.events


async def test_a_whole_game_fits_into_one_call(stub):
    start = await new(stub, seats=4, seed=5)
    game, rng, actions = rules.new_game("base", 4, seed=5), random.Random(5), []
    while not game.over:
        actions.append(rng.choice(game.legal()))
        game.apply(actions[-1])
    answer = await apply(stub, start.position, *actions, actions[-1], seed=5)
    assert (answer.played, answer.stop) == (len(actions), StopReason.STOP_REASON_GAME_OVER)
    assert answer.position == to_position(game)
    assert not answer.legal_actions
    again = await refused(apply(stub, answer.position, actions[-1]))
    assert type(again) is errors.GameEnded
    assert (await apply(stub, answer.position)).result == answer.result


@pytest.mark.parametrize("kind", ["roll", "draw"])
async def test_chance_can_stop_a_plan_and_its_seed_decides_it(stub, kind):
    game, actions = first_reveal(kind)
    start = to_position(game)
    answer = await apply(stub, start, *actions, 5, seed=0, stop_at_chance=True)
    assert answer.stop == StopReason.STOP_REASON_CHANCE_REVEALED
    assert answer.played == len(actions)
    assert kind in {BASE.event_kinds[event.kind] for event in answer.events}
    alone = await apply(stub, start, *actions, seed=0, stop_at_chance=True)
    assert alone.stop == StopReason.STOP_REASON_ALL_PLAYED
    assert (alone.seed, alone.position) == (0, answer.position)
    others = [(await apply(stub, start, *actions, seed=seed)).position for seed in range(2, 12)]
    assert any(other != alone.position for other in others)
    drawn = await apply(stub, start, *actions)
    assert (await apply(stub, start, *actions, seed=drawn.seed)).position == drawn.position


def first_reveal(wanted):
    """A game with two actions of which only the second reveals chance, and of one kind."""
    for seed in range(100):
        game, rng, before, actions = played(seed=seed, decisions=0), random.Random(seed), None, []
        while not game.over:
            known, here = len(game.log), game.clone()
            actions = [*actions[-1:], rng.choice(game.legal())]
            game.apply(actions[-1])
            kinds = {event.kind for event in game.events_since(known)} & {"roll", "draw"}
            if kinds == {wanted} and before is not None and not game.over:
                return before, actions
            before = None if kinds else here
    raise AssertionError(f"no {wanted} was met")


async def test_a_plan_is_played_up_to_its_first_illegal_action(stub):
    game = played(decisions=0)
    first = game.legal()[0]
    answer = await apply(stub, to_position(game), first, first, seed=3)
    assert (answer.played, answer.stop) == (1, StopReason.STOP_REASON_ILLEGAL_ACTION)
    assert answer.rule == "B-1.7"
    assert f"tried “{rules.action_text('base', first)}”" in answer.message
    game.apply(first)
    assert answer.position == to_position(game)
    answer = await apply(stub, to_position(played(decisions=0)), first, 9_999, seed=3)
    assert (answer.played, answer.stop) == (1, StopReason.STOP_REASON_ILLEGAL_ACTION)
    assert answer.message == "base has no action 9999"
    assert answer.rule == ""


async def test_a_first_action_that_is_not_legal_fails_the_call(stub):
    game = played(decisions=0)
    error = await refused(apply(stub, to_position(game), rules.action_id("base", "done"), 103))
    assert type(error) is errors.IllegalAction
    assert error.details == {"action": "5", "rule": "B-1.7", "legal": "103,104,105"}
    assert list(error.legal) == game.legal()
    error = await refused(apply(stub, to_position(game), 9_999))
    assert type(error) is errors.UnknownAction
    assert error.details == {"action": "9999", "ruleset": "base"}


# --- positions from anywhere ------------------------------------------------------------------


async def test_a_request_without_a_position_is_refused(stub):
    error = await refused(stub.ApplyActions(pb.ApplyActionsRequest()))
    assert type(error) is errors.InvalidRequest
    assert error.details["field"] == "position"
    error = await refused(apply(stub, Position(ruleset="base")))
    assert type(error) is errors.InvalidRequest
    assert error.details["field"] == "position"


async def test_an_impossible_position_is_refused_with_every_reason(stub):
    position = to_position(played())
    position.castle.food[0] = 8
    position.castle.courtiers[0] += 1
    position.pending.add(kind=999)
    error = await refused(apply(stub, position, 1))
    assert type(error) is errors.ImpossiblePosition
    assert error.details["ruleset"] == "base"
    for word in ("food", "courtiers", "pending"):
        assert any(word in reason for reason in error.reasons), error.reasons


async def test_a_position_of_another_revision_is_refused(stub):
    position = to_position(played())
    position.revision = "0-0"
    error = await refused(apply(stub, position))
    assert type(error) is errors.VersionMismatch
    assert error.details == {
        "what": "ruleset",
        "client": "0-0",
        "server": BASE.revision,
        "ruleset": "base",
    }


def spoil(position, rng):
    """Change a few numbers of a position at random."""
    castle = position.castle
    for _ in range(rng.randint(1, 3)):
        field = rng.choice([name for name, _ in castle.ListFields()])
        name, value = field.name, rng.choice((-(2**31), -1, 0, 1, 2, 5, 8, 99, 2**31 - 1))
        if not field.is_repeated:
            setattr(castle, name, bool(value) if name == "drafting" else value)
        elif rng.random() < 0.7:
            getattr(castle, name)[rng.randrange(len(getattr(castle, name)))] = value
        else:
            getattr(castle, name).append(value)
    if rng.random() < 0.5:
        position.pending.add(
            kind=rng.randint(0, 28),
            seat=rng.choice((None, 0, 1, 7)),
            arguments=[rng.choice((0, 1, 3, 16, 87, 304, -1, 2**31 - 1)) for _ in range(3)],
        )


async def test_no_hostile_position_is_a_fault_of_the_server(stub):
    rng = random.Random(17)
    counts = {"refused": 0, "played": 0}
    for number in range(300):
        position = to_position(played(2 + number % 3, number, rng.randint(0, 60)))
        if number % 10:
            spoil(position, rng)
        try:
            answer = await apply(stub, position, seed=1)
            if answer.legal_actions:
                await apply(stub, position, answer.legal_actions[-1], seed=1)
            counts["played"] += 1
        except grpc.RpcError as raised:
            error = from_rpc_error(raised)
            assert isinstance(error, errors.InvalidRequest), (error, position)
            counts["refused"] += 1
    assert min(counts.values()) > 20, counts


# --- long calls -------------------------------------------------------------------------------


def whole_game(name="matcha", seats=4, seed=1):
    """A position, and actions that play it to the end."""
    game, rng = rules.new_game(name, seats, seed=seed), random.Random(seed)
    position, actions = to_position(game), []
    while not game.over:
        actions.append(rng.choice(game.legal()))
        game.apply(actions[-1])
    return position, actions


async def test_a_long_call_is_answered_by_another_process_and_like_a_short_one():
    position, actions = whole_game()
    assert len(actions) > Limits.inline_actions
    async with serving() as stub, serving(inline_actions=len(actions)) as inline:
        fields = {"seed": 1, "wants": TEXTS}
        before = rules_processes()
        answer = await apply(stub, position, *actions, **fields)
        (worker,) = rules_processes() - before
        assert answer == await apply(inline, position, *actions, **fields)
        assert answer.played == len(actions)
        many = [9_999] * (Limits.inline_actions + 1)
        refusals = [await refused(apply(each, position, *many)) for each in (stub, inline)]
        assert refusals[0].details == refusals[1].details
        assert {type(each) for each in refusals} == {errors.UnknownAction}
        assert rules_processes() - before == {worker}
    assert rules_processes() == before


async def test_a_call_of_so_many_actions_is_charged_as_several():
    charged = []
    async with serving(charge=charged.append, actions_per_call=10) as stub:
        for count in (0, 1, 10, 11, 30, 31):
            await refused(apply(stub, Position(), *[5] * count))
    assert [max(0, each) for each in charged] == [0, 0, 0, 1, 2, 3]


# --- limits -----------------------------------------------------------------------------------


async def test_more_actions_than_a_game_has_are_a_typed_limit(stub):
    position = to_position(played())
    error = await refused(apply(stub, position, *[5] * (Limits.actions + 1)))
    assert type(error) is errors.LimitExceeded
    allowed = str(Limits.actions)
    assert error.details == {"field": "actions", "limit": "actions", "allowed": allowed}
    error = await refused(apply(stub, position, *[9_999] * Limits.actions))
    assert type(error) is errors.UnknownAction


async def test_a_huge_position_is_refused_before_it_is_read(stub):
    position = to_position(played())
    while position.ByteSize() <= Limits.position_bytes:
        position.castle.unseen_stewards.append(1)
    error = await refused(apply(stub, position))
    assert type(error) is errors.MessageTooLarge
    assert error.details == {"limit": "position_bytes", "allowed": str(Limits.position_bytes)}
    position.castle.unseen_stewards.pop()
    error = await refused(apply(stub, position))
    assert type(error) is errors.ImpossiblePosition


# --- in an arena ------------------------------------------------------------------------------


def test_an_arena_serves_the_rules_to_everybody(start_arena, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path / "data")).opened()
    with grpc.insecure_channel(arena.address) as channel:
        stub = RulesServiceStub(channel)
        listed = stub.ListRulesets(pb.ListRulesetsRequest(), timeout=120)
        assert [each.name for each in listed.rulesets] == sorted(rules.RULESETS)
        found = stub.GetRuleset(pb.GetRulesetRequest(ruleset="base"), timeout=120).ruleset
        assert found == to_ruleset(BASE)
