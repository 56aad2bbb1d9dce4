"""Every call over a real socket: what goes wrong reaches the client typed, and nothing else."""

import asyncio
import io
import json
import re
from contextlib import asynccontextmanager

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from google.rpc import error_details_pb2, status_pb2
from himeji.rules import errors
from himeji.v1 import rules_service_pb2, rules_service_pb2_grpc
from himeji.wire.errors import STATUS_DETAILS, from_rpc_error
from himeji_server import log
from himeji_server.accounts.authorisation import ACCESS, PUBLIC
from himeji_server.limits import Limits
from himeji_server.rpc import grpc_server, interceptor, rpc_handlers
from himeji_server.rpc.account_service import AccountService
from himeji_server.rpc.game_service import GameService
from himeji_server.rpc.interceptor import CallInterceptor
from himeji_server.rpc.ladder_service import LadderService
from himeji_server.rpc.play_service import PlayService
from himeji_server.rpc.readiness import Readiness
from himeji_server.rpc.rules_service import RulesService

from tests.server.arena_client import PATIENCE, one_message, with_timeout

SECRET = "himeji_token_5EC4E7"
MALFORMED = b"\x0a\xff"
SHAPES = {(False, False): "unary_unary", (False, True): "unary_stream"}
SHAPES |= {(True, False): "stream_unary", (True, True): "stream_stream"}
every_shape = pytest.mark.parametrize("shape", SHAPES.values())


class Planted:
    """Handlers of every shape that first answer `echo` times, then do what they are told."""

    def __init__(self, then):
        self.then = then
        self.closed = False

    async def unary_unary(self, request, context):
        return await self.then(request, context) or request

    async def stream_unary(self, requests, context):
        received = [request async for request in requests]
        return await self.then(received, context) or received[-1]

    async def unary_stream(self, request, context):
        try:
            yield request
            await self.then(request, context)
        finally:
            self.closed = True

    async def stream_stream(self, requests, context):
        async for request in requests:
            yield request
            await self.then(request, context)


async def leak(_request, context):
    context.set_trailing_metadata((("x-note", SECRET),))
    context.set_details(SECRET)
    raise RuntimeError(f"{SECRET} in /srv/himeji/keys")


async def nothing(_request, _context):
    return None


@asynccontextmanager
async def serving(server):
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    options = [("grpc.max_send_message_length", -1)]
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
            yield channel
    finally:
        await server.stop(None)


@asynccontextmanager
async def guarded(planted):
    """A server of four planted methods behind the guard, open to everybody."""

    async def anyone(_path, _context):
        return None

    server = grpc.aio.server(
        interceptors=[CallInterceptor(anyone)],
        options=[
            ("grpc.so_reuseport", 0),
            ("grpc.max_receive_message_length", Limits().bytes_read),
        ],
    )
    handlers = {
        name: rpc_handlers.HANDLER_FACTORIES[shape](
            getattr(planted, name),
            request_deserializer=StringValue.FromString,
            response_serializer=StringValue.SerializeToString,
        )
        for shape, name in SHAPES.items()
    }
    handlers["writer"] = grpc.unary_stream_rpc_method_handler(
        planted.writer if hasattr(planted, "writer") else planted.unary_stream,
        request_deserializer=StringValue.FromString,
        response_serializer=StringValue.SerializeToString,
    )
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("test.Planted", handlers),)
    )
    async with serving(server) as channel:
        yield channel


async def call(channel, path, shape, raw, metadata=()):
    """Call a method with one message of raw bytes; returns all answers."""
    method = getattr(channel, shape)(path)
    if shape.startswith("unary"):
        called = method(raw, metadata=metadata, timeout=PATIENCE)
    else:
        called = await one_message(method, raw, metadata)
    if shape.endswith("unary"):
        return [await called]
    return [answer async for answer in called]


async def refusal(channel, path, shape, raw=b"", metadata=()):
    with pytest.raises(grpc.RpcError) as raised:
        await call(channel, path, shape, raw, metadata)
    return raised.value


def info(error):
    """The ErrorInfo of a failed call; there has to be exactly one."""
    (packed,) = [value for key, value in error.trailing_metadata() if key == STATUS_DETAILS]
    status = status_pb2.Status.FromString(packed)
    assert (status.code, status.message) == (error.code().value[0], error.details())
    found = error_details_pb2.ErrorInfo()
    (packed_info,) = [each for each in status.details if each.Is(found.DESCRIPTOR)]
    packed_info.Unpack(found)
    assert found.domain == "himeji"
    return found


def everything_told(error):
    raw = b"".join(
        key.encode() + (value if isinstance(value, bytes) else value.encode())
        for key, value in [*error.trailing_metadata(), *error.initial_metadata()]
    )
    return f"{error.code()} {error.details()} {error.debug_error_string()} {raw!r}"


@pytest.fixture(autouse=True)
def logged():
    stream = io.StringIO()
    log.configure("json", stream)
    return lambda: [json.loads(line) for line in stream.getvalue().splitlines()]


async def lines(logged, count=1):
    """The lines of so many calls: a call is logged after its status was sent."""
    found = []
    for _ in range(6_000):
        found = [line for line in logged() if line["event"] == "call"]
        if len(found) >= count:
            break
        await asyncio.sleep(0.01)
    return found


@every_shape
async def test_a_defect_reaches_the_client_as_an_incident_id_and_nothing_else(shape, logged):
    async with guarded(Planted(leak)) as channel:
        error = await refusal(channel, f"/test.Planted/{shape}", shape)
    assert error.code() is grpc.StatusCode.INTERNAL
    assert info(error).reason == "INTERNAL_FAULT"
    incident = info(error).metadata["incident"]
    assert error.details() == f"internal fault, incident {incident}"
    assert {key for key, _ in error.trailing_metadata()} == {STATUS_DETAILS}
    told = everything_told(error)
    for hidden in (SECRET, "RuntimeError", "/srv", "Traceback", "x-note"):
        assert hidden not in told
    (fault,) = [line for line in logged() if line["event"] == "fault"]
    assert fault["incident"] == incident
    assert "RuntimeError" in fault["exception"]


@pytest.mark.parametrize("shape", ["unary_stream", "stream_stream"])
async def test_a_defect_in_mid_stream_comes_after_the_answers_before_it(shape):
    async with guarded(Planted(leak)) as channel:
        method = getattr(channel, shape)(f"/test.Planted/{shape}")
        stream = method(b"") if shape == "unary_stream" else await one_message(method, b"")
        assert await stream.read() == b""
        with pytest.raises(grpc.RpcError) as raised:
            await stream.read()
    assert info(raised.value).reason == "INTERNAL_FAULT"
    assert SECRET not in everything_told(raised.value)


class FailsAtOnce(Planted):
    async def unary_stream(self, request, context):
        await self.then(request, context)
        yield request

    async def stream_stream(self, requests, context):
        await self.then(requests, context)
        yield StringValue()


@pytest.mark.parametrize("shape", ["unary_stream", "stream_stream"])
async def test_a_defect_before_the_first_message_is_reported_alike(shape):
    async with guarded(FailsAtOnce(leak)) as channel:
        error = await refusal(channel, f"/test.Planted/{shape}", shape)
    assert info(error).reason == "INTERNAL_FAULT"
    assert SECRET not in everything_told(error)


@pytest.mark.parametrize("says", ["a word", "nothing"])
async def test_a_stream_is_refused_only_after_its_first_message_or_when_it_sends_none(
    monkeypatch, says
):
    if says == "nothing":
        monkeypatch.setattr(interceptor, "FIRST_MESSAGE_SECONDS", 0.1)
    decided = asyncio.Event()

    async def refuse(_request, _context):
        decided.set()
        raise errors.Refused("not today")

    async with guarded(FailsAtOnce(refuse)) as channel:
        stream = channel.stream_stream("/test.Planted/stream_stream")()
        await with_timeout(decided.wait())
        if says == "a word":
            await stream.write(b"")
        with pytest.raises(grpc.RpcError) as raised:
            await with_timeout(stream.read())
    assert from_rpc_error(raised.value).message == "not today"


async def test_a_handler_that_writes_its_responses_itself_is_wrapped_too():
    class Writer(Planted):
        async def writer(self, request, context):
            await context.write(request)
            await context.write(f"{SECRET} is not a message")

    async with guarded(Writer(nothing)) as channel:
        error = await refusal(channel, "/test.Planted/writer", "unary_stream")
    assert info(error).reason == "INTERNAL_FAULT"
    assert SECRET not in everything_told(error)


@every_shape
async def test_an_answer_that_cannot_be_serialised_is_a_defect_of_ours(shape):
    class Wrong(Planted):
        async def unary_unary(self, _request, _context):
            return SECRET

        async def stream_unary(self, _requests, _context):
            return SECRET

        async def unary_stream(self, _request, _context):
            yield SECRET

        async def stream_stream(self, _requests, _context):
            yield SECRET

    async with guarded(Wrong(nothing)) as channel:
        error = await refusal(channel, f"/test.Planted/{shape}", shape)
    assert info(error).reason == "INTERNAL_FAULT"
    assert SECRET not in everything_told(error)


@every_shape
async def test_an_error_of_the_tree_arrives_as_itself(shape, logged):
    async def illegal(_request, _context):
        raise errors.IllegalAction("the well is empty", action=17, rule="B-4.4", legal=[1, 2])

    async with guarded(Planted(illegal)) as channel:
        error = await refusal(channel, f"/test.Planted/{shape}", shape)
    arrived = from_rpc_error(error)
    assert isinstance(arrived, errors.IllegalAction)
    assert (arrived.message, arrived.legal) == ("the well is empty (B-4.4)", (1, 2))
    assert [line["reason"] for line in await lines(logged)] == ["ILLEGAL_ACTION"]


async def test_the_one_error_of_a_task_group_arrives_as_itself():
    async def group(_request, _context):
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(refuse())

    async def refuse():
        raise errors.GameEnded("the game is over")

    async with guarded(Planted(group)) as channel:
        error = await refusal(channel, "/test.Planted/unary_unary", "unary_unary")
    assert info(error).reason == "GAME_ENDED"


@every_shape
async def test_malformed_bytes_are_an_invalid_argument(shape):
    async with guarded(Planted(nothing)) as channel:
        error = await refusal(channel, f"/test.Planted/{shape}", shape, MALFORMED)
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert info(error).reason == "MALFORMED_MESSAGE"
    assert "DecodeError" not in everything_told(error)


async def test_malformed_bytes_in_mid_stream_come_after_the_answers_before_them():
    async with guarded(Planted(nothing)) as channel:
        stream = channel.stream_stream("/test.Planted/stream_stream")()
        await stream.write(b"")
        assert await stream.read() == b""
        await stream.write(MALFORMED)
        with pytest.raises(grpc.RpcError) as raised:
            await stream.read()
    assert info(raised.value).reason == "MALFORMED_MESSAGE"


@every_shape
async def test_a_message_over_our_limit_has_a_typed_answer(shape):
    async with guarded(Planted(nothing)) as channel:
        path = f"/test.Planted/{shape}"
        largest = StringValue(value="x" * (Limits.message_bytes - 4)).SerializeToString()
        assert len(largest) == Limits.message_bytes
        assert await call(channel, path, shape, largest) == [largest]
        error = await refusal(channel, path, shape, largest + b"\x0a\x00")
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert info(error).reason == "MESSAGE_TOO_LARGE"
    assert info(error).metadata["allowed"] == str(Limits.message_bytes)


@pytest.mark.parametrize("compression", [None, grpc.Compression.Gzip])
async def test_a_message_over_the_hard_cap_is_not_even_read(compression):
    seen = []

    async def note(request, _context):
        seen.append(request)

    async with guarded(Planted(note)) as channel:
        method = channel.unary_unary("/test.Planted/unary_unary")
        with pytest.raises(grpc.RpcError) as raised:
            await method(b"\0" * (Limits().bytes_read + 1), compression=compression, timeout=120)
    assert raised.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert isinstance(from_rpc_error(raised.value), errors.LimitExceeded)
    assert seen == []


async def test_a_cancelled_stream_ends_its_handler_and_is_logged_as_cancelled(logged):
    begun, ended = asyncio.Event(), asyncio.Event()

    async def linger(_request, _context):
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    planted = Planted(linger)
    async with guarded(planted) as channel:
        stream = channel.unary_stream("/test.Planted/unary_stream")(b"")
        assert await stream.read() == b""
        await with_timeout(begun.wait())  # else the call may end before there is a handler to end
        stream.cancel()
        await with_timeout(ended.wait())
    assert planted.closed
    (line,) = await lines(logged)
    assert line["code"] == "CANCELLED"
    assert not [line for line in logged() if line["event"] == "fault"]


async def test_each_call_leaves_one_line_without_secrets(logged):
    async with guarded(Planted(nothing)) as channel:
        metadata = (("authorization", f"Bearer {SECRET}"),)
        raw = StringValue(value=SECRET).SerializeToString()
        await call(channel, "/test.Planted/unary_unary", "unary_unary", raw, metadata)
        await refusal(channel, f"/test.Planted/{SECRET} \x1b[31m", "unary_unary")
    first, second = await lines(logged, 2)
    assert (first["code"], second["code"]) == ("OK", "UNIMPLEMENTED")
    assert first["method"] == "/test.Planted/unary_unary"
    assert re.fullmatch(r"ipv4:127\.0\.0\.1", first["peer"])
    assert first["ms"] >= 0
    assert SECRET not in json.dumps(first)
    assert "\x1b" not in second["method"]


@pytest.mark.parametrize("form", log.FORMATS)
async def test_a_traceback_in_the_log_shows_no_local_variables(form):
    async def careless(_request, _context):
        token = "local_{}_value".format(b"secret".decode())
        raise RuntimeError(len(token))

    stream = io.StringIO()
    log.configure(form, stream)
    async with guarded(Planted(careless)) as channel:
        await refusal(channel, "/test.Planted/unary_unary", "unary_unary")
    assert "Traceback" in stream.getvalue()
    assert "local_secret_value" not in stream.getvalue()


@every_shape
async def test_an_unknown_method_says_so(shape):
    async with serving(grpc_server.build(Readiness([]))) as channel:
        error = await refusal(channel, "/himeji.v1.PlayService/Cheat", shape)
        stranger = await refusal(channel, "/other.Service/Do", shape)
    assert error.code() is grpc.StatusCode.UNIMPLEMENTED
    assert info(error).reason == info(stranger).reason == "UNKNOWN_METHOD"
    assert info(error).metadata["method"] == "/himeji.v1.PlayService/Cheat"


METHODS = dict(rpc_handlers.methods())


@pytest.mark.parametrize("path", METHODS)
async def test_a_method_without_an_implementation_says_that_it_is_unsupported(path):
    shape = SHAPES[METHODS[path].client_streaming, METHODS[path].server_streaming]
    async with serving(grpc_server.build(Readiness([]))) as channel:
        error = await refusal(channel, path, shape)
    assert error.code() is grpc.StatusCode.UNIMPLEMENTED
    assert info(error).reason == "UNSUPPORTED"
    assert info(error).metadata["method"] == path


def everything_implemented():
    """An implementation of every method of the contract that answers with an empty message."""
    implementations = {}
    for name, service in rpc_handlers.services().items():
        answers = {}
        for method in service.methods:
            empty = rpc_handlers.GetMessageClass(method.output_type)()
            answers[method.name] = (
                answer_stream(empty) if method.server_streaming else answer(empty)
            )
        implementations[name] = type("Implemented", (), answers)()
    return implementations


def answer(empty):
    async def respond(_self, _request, _context):
        return empty

    return respond


def answer_stream(empty):
    async def respond(_self, _request, _context):
        yield empty

    return respond


@pytest.mark.parametrize("path", METHODS)
async def test_an_implemented_method_asks_for_what_its_row_says(path):
    shape = SHAPES[METHODS[path].client_streaming, METHODS[path].server_streaming]
    server = grpc_server.build(Readiness([]), implementations=everything_implemented())
    async with serving(server) as channel:
        if ACCESS[path] is PUBLIC:
            assert await call(channel, path, shape, b"") == [b""]
            return
        missing = await refusal(channel, path, shape)
        empty = await refusal(channel, path, shape, metadata=(("authorization", ""),))
        bearer = (("authorization", f"Bearer {SECRET}"),)
        invalid = await refusal(channel, path, shape, metadata=bearer)
    assert missing.code() is invalid.code() is grpc.StatusCode.UNAUTHENTICATED
    assert info(missing).reason == info(empty).reason == "MISSING_TOKEN"
    assert info(invalid).reason == "INVALID_TOKEN"
    assert SECRET not in everything_told(invalid)


async def test_a_caller_without_a_token_learns_nothing_from_malformed_bytes():
    server = grpc_server.build(Readiness([]), implementations=everything_implemented())
    async with serving(server) as channel:
        error = await refusal(channel, "/himeji.v1.AccountService/WhoAmI", "unary_unary", MALFORMED)
    assert info(error).reason == "MISSING_TOKEN"


async def test_a_method_without_a_row_is_open_to_nobody(monkeypatch):
    path = "/himeji.v1.RulesService/ListRulesets"
    monkeypatch.delitem(ACCESS, path)
    server = grpc_server.build(Readiness([]), implementations=everything_implemented())
    async with serving(server) as channel:
        bearer = (("authorization", f"Bearer {SECRET}"),)
        error = await refusal(channel, path, "unary_unary", metadata=bearer)
    assert error.code() is grpc.StatusCode.PERMISSION_DENIED
    assert info(error).reason == "FORBIDDEN"


@pytest.mark.parametrize(
    "implementation",
    [AccountService, GameService, LadderService, PlayService, RulesService],
    ids=lambda implementation: implementation.__name__,
)
def test_every_method_of_the_contract_is_implemented(implementation):
    service = rpc_handlers.services()[f"himeji.v1.{implementation.__name__}"]
    for method in service.methods:
        assert hasattr(implementation, method.name), method.full_name


def test_the_authorisation_table_has_a_row_for_every_method_and_no_other():
    standard = {path for path in ACCESS if path.startswith("/grpc.")}
    assert ACCESS.keys() - standard == METHODS.keys()
    assert standard == {
        "/grpc.health.v1.Health/Check",
        "/grpc.health.v1.Health/Watch",
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    }


async def test_what_the_health_library_leaves_out_is_unsupported():
    async with serving(grpc_server.build(Readiness([]))) as channel:
        error = await refusal(channel, "/grpc.health.v1.Health/List", "unary_unary")
        assert await call(channel, "/grpc.health.v1.Health/Check", "unary_unary", b"")
    assert info(error).reason == "UNSUPPORTED"


async def test_what_a_generated_base_class_leaves_out_is_unsupported():
    class Rules(rules_service_pb2_grpc.RulesServiceServicer):
        async def ListRulesets(self, _request, _context):  # noqa: N802 - the contract's name
            return rules_service_pb2.ListRulesetsResponse()

    server = grpc_server.build(Readiness([]), implementations={"himeji.v1.RulesService": Rules()})
    async with serving(server) as channel:
        listed = "/himeji.v1.RulesService/ListRulesets"
        assert await call(channel, listed, "unary_unary", b"") == [b""]
        error = await refusal(channel, "/himeji.v1.RulesService/GetRuleset", "unary_unary")
    assert info(error).reason == "UNSUPPORTED"


def test_an_implementation_of_no_service_of_ours_is_refused():
    with pytest.raises(ValueError, match=r"himeji\.v1\.Nothing"):
        rpc_handlers.handlers({"himeji.v1.Nothing": object()})
