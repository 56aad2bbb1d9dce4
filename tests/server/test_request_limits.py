"""Requests are limited before they cost anything: no field lacks a limit, every RPC obeys."""

from dataclasses import fields, replace

import grpc
import pytest
from himeji.rules.errors import LimitExceeded, MessageTooLarge
from himeji.v1 import game_service_pb2 as games_pb2, play_service_pb2 as play_pb2
from himeji.v1.errors_pb2 import ErrorReason
from himeji.v1.game_pb2 import SeatPlan
from himeji.v1.position_pb2 import Position
from himeji.v1.rules_service_pb2 import ApplyActionsRequest
from himeji.wire.errors import from_rpc_error
from himeji_server.accounts.accounts import Accounts
from himeji_server.launch import serve
from himeji_server.limits import Limits
from himeji_server.request_limits import (
    CHECKED_LATER,
    FIELDS,
    MESSAGE_BYTES,
    MESSAGES,
    check_fields,
)
from himeji_server.rpc import grpc_server
from himeji_server.rpc.readiness import Readiness
from himeji_server.settings import Settings
from himeji_server.store import Store

from docs.request_limits import PAGE, table
from tests.server.arena_client import PATIENCE, connected_client, one_message, with_timeout
from tests.server.largest_requests import has_length, largest, reachable_fields, request_types

LIMITS = Limits()
EVERY_FIELD = {
    field.full_name: field
    for descriptor in request_types().values()
    for field in reachable_fields(descriptor)
}
LENGTHS = {name for name, field in EVERY_FIELD.items() if has_length(field)}


def typed(message):
    check_fields(message.DESCRIPTOR, LIMITS)(message)


# The table


def test_every_field_that_a_client_can_fill_has_a_row_and_every_row_a_field():
    assert FIELDS.keys() == LENGTHS


def test_every_row_names_a_limit():
    known = {each.name for each in fields(Limits)}
    assert {*FIELDS.values(), *MESSAGES.values(), *MESSAGE_BYTES.values()} < known
    assert MESSAGE_BYTES.keys() < request_types().keys()
    assert FIELDS.keys() > CHECKED_LATER
    assert {each.message_type.full_name for each in EVERY_FIELD.values() if each.message_type} > (
        MESSAGES.keys()
    )


def test_requests_have_neither_maps_nor_lists_of_bytes():
    for field in EVERY_FIELD.values():
        if field.is_repeated:
            assert field.type != field.TYPE_BYTES, field.full_name
            is_map = field.message_type and field.message_type.GetOptions().map_entry
            assert not is_map, field.full_name


def test_the_page_has_the_table_of_the_code():
    assert table() in PAGE.read_text(encoding="utf-8"), "run `make docs`"


# The check


@pytest.mark.parametrize("path", request_types())
def test_a_request_with_every_field_at_its_limit_is_accepted(path):
    message = largest(request_types()[path])
    typed(message)
    for inside in getattr(message, "messages", ()):  # of a batch each is checked by itself
        typed(inside)


@pytest.mark.parametrize("name", sorted(LENGTHS))
def test_one_more_than_the_limit_is_refused_and_the_error_says_which(name):
    descriptor = next(
        each for each in request_types().values() if name in map(_name, reachable_fields(each))
    )
    message = largest(descriptor, longer=name)
    if descriptor.name == "PlayRequest" and name not in CHECKED_LATER:
        message = message.messages[0]
    with pytest.raises(LimitExceeded) as raised:
        typed(message)
    assert raised.value.details == {
        "field": EVERY_FIELD[name].name,
        "limit": FIELDS[name],
        "allowed": str(getattr(LIMITS, FIELDS[name])),
    }


def _name(field):
    return field.full_name


def test_a_position_is_limited_as_a_whole():
    request = ApplyActionsRequest(position=Position(ruleset="r" * (LIMITS.position_bytes - 3)))
    assert request.position.ByteSize() == LIMITS.position_bytes
    typed(request)
    request.position.ruleset += "r"
    with pytest.raises(MessageTooLarge) as raised:
        typed(request)
    assert raised.value.details == {"limit": "position_bytes", "allowed": "2048"}


def test_the_entries_of_a_list_of_texts_are_limited():
    typed(play_pb2.Hello(invitations_from=["x" * LIMITS.name_length]))
    with pytest.raises(LimitExceeded) as raised:
        typed(play_pb2.Hello(invitations_from=["", "x" * (LIMITS.name_length + 1)]))
    assert raised.value.details == {
        "field": "invitations_from",
        "limit": "name_length",
        "allowed": str(LIMITS.name_length),
    }


def test_a_limit_is_the_one_that_was_handed_down():
    request = games_pb2.CreateGameRequest(seats=[SeatPlan()] * 3)
    check = check_fields(request.DESCRIPTOR, replace(LIMITS, list_entries=2))
    with pytest.raises(LimitExceeded):
        check(request)
    typed(request)


# On the wire


@pytest.fixture
async def channel():
    """A server without services behind it: what the limits let through is unsupported."""
    server = grpc_server.build(Readiness([]), dev=True)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        options = [("grpc.max_send_message_length", -1)]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as opened:
            yield opened
    finally:
        await server.stop(None)


async def sent(channel, path, raw):
    """Send one message of raw bytes; raises what the method answers."""
    if path.endswith("/ServerReflectionInfo"):
        call = await one_message(channel.stream_stream(path), raw)
        while await with_timeout(call.read()) is not grpc.aio.EOF:
            pass
    else:
        await channel.unary_unary(path)(raw, timeout=PATIENCE)


async def refused(call):
    with pytest.raises(grpc.RpcError) as raised:
        await call
    return from_rpc_error(raised.value)


UNARY = {
    path: descriptor
    for path, descriptor in request_types().items()
    # Play is tried on a real stream below; Watch takes the same message as Check.
    if not path.endswith(("/Play", "Health/Watch"))
}


async def test_every_method_refuses_what_is_too_large(channel):
    for path, descriptor in UNARY.items():
        name = MESSAGE_BYTES.get(path, "message_bytes")
        error = await refused(sent(channel, path, b"\0" * (getattr(LIMITS, name) + 1)))
        assert type(error) is MessageTooLarge, path
        assert error.details["limit"] == name
        for field in descriptor.fields:
            if field.full_name in FIELDS:
                raw = largest(descriptor, longer=field.full_name).SerializeToString()
                error = await refused(sent(channel, path, raw))
                assert type(error) is LimitExceeded, field.full_name
                assert error.details["field"] == field.name


@pytest.fixture
async def client(short_folder, given_redis):
    folder = short_folder / "d"
    settings = Settings(port=0, data=folder, redis=given_redis.get("HIMEJI_REDIS"))
    async with serve.open_arena(settings) as opened:
        secret = (folder / "token").read_text().strip()
        async with connected_client(f"127.0.0.1:{opened.port}", secret) as connected:
            connected.redis = opened.redis.split()[0]
            yield connected


async def play(client, *messages):
    """Open a stream with a batch; its first answer, and the error that ends it, if any."""
    call = client.play.Play(metadata=client.metadata, timeout=PATIENCE)
    await call.write(play_pb2.PlayRequest(messages=messages))
    first = (await with_timeout(call.read())).messages[0]
    if first.HasField("welcome"):
        return call, first
    return await refused(with_timeout(call.read())), first


def hello(bot="local/one", **more):
    body = play_pb2.Hello(protocol_version=1, bot=bot, **more)
    return play_pb2.ClientMessage(request_id="h", hello=body)


async def test_a_stream_is_not_opened_by_a_hello_that_is_too_large(client):
    resumed = [play_pb2.Resume(game_id=f"{n:020}") for n in range(LIMITS.resumed_games + 1)]
    error, last = await play(client, hello(resume=resumed))
    assert last.request_id == "h"
    assert last.stream_end.reason == ErrorReason.ERROR_REASON_LIMIT_EXCEEDED
    assert error.details == {"field": "resume", "limit": "resumed_games", "allowed": "1000"}
    batch = [play_pb2.ClientMessage()] * (LIMITS.batch_messages + 1)
    call = client.play.Play(metadata=client.metadata, timeout=PATIENCE)
    await call.write(play_pb2.PlayRequest(messages=batch))
    error = await refused(read_all(call))
    assert error.details == {"field": "messages", "limit": "batch_messages", "allowed": "1000"}
    call, first = await play(client, hello(resume=resumed[1:]))
    assert first.HasField("welcome")
    call.cancel()


async def test_a_house_bot_resumes_all_its_games_for_they_have_no_limit(client):
    store = await Store.connect(client.redis)
    try:
        issued = await Accounts(store).issue_house_token("greedy")
    finally:
        await store.close()
    resumed = [play_pb2.Resume(game_id=f"{n:020}") for n in range(3 * LIMITS.resumed_games)]
    async with connected_client(client.address, issued.secret) as house:
        call, first = await play(house, hello("house/greedy", resume=resumed))
        assert first.HasField("welcome")
        call.cancel()


async def read_all(call):
    while await with_timeout(call.read()) is not grpc.aio.EOF:
        pass


async def test_a_request_on_a_stream_that_is_too_large_is_rejected_and_the_stream_goes_on(client):
    call, _ = await play(client, hello())
    asked = {
        "long": play_pb2.Act(game_id="g" * (LIMITS.name_length + 1), decision_id=1, actions=[1]),
        "many": play_pb2.Act(game_id="g", decision_id=1, actions=[1] * (LIMITS.actions + 1)),
        "fits": play_pb2.Act(game_id="g", decision_id=1, actions=[1]),
    }
    messages = [play_pb2.ClientMessage(request_id=name, act=act) for name, act in asked.items()]
    await call.write(play_pb2.PlayRequest(messages=messages))
    reasons = {}
    while len(reasons) < len(asked):
        batch = await with_timeout(call.read())
        reasons |= {each.request_id: each.rejected.reason for each in batch.messages}
    too_many = ErrorReason.ERROR_REASON_LIMIT_EXCEEDED
    unknown = ErrorReason.ERROR_REASON_UNKNOWN_GAME
    assert reasons == {"long": too_many, "many": too_many, "fits": unknown}
    call.cancel()
