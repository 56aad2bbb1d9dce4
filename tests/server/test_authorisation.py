"""Who may call what, over real sockets: every RPC of the contract with every kind of token."""

import asyncio
import io
import itertools
import json
import stat
from collections.abc import AsyncIterable
from contextlib import asynccontextmanager

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from himeji.rules import errors
from himeji.v1 import account_service_pb2 as pb
from himeji.v1.account_service_pb2_grpc import AccountServiceStub
from himeji.wire.errors import from_rpc_error
from himeji_server import log
from himeji_server.accounts import token_format
from himeji_server.accounts.accounts import Accounts
from himeji_server.accounts.authorisation import ACCESS, ANY_TOKEN, PUBLIC, Authoriser
from himeji_server.accounts.caller import caller_or_none, current_caller
from himeji_server.accounts.tokens import ALL_SCOPES, TokenRequest
from himeji_server.launch import token_file
from himeji_server.rpc import account_service, grpc_server, rpc_handlers
from himeji_server.rpc.interceptor import CallInterceptor
from himeji_server.rpc.readiness import Readiness
from himeji_server.startup_errors import StartRefusedError
from himeji_server.store import Store

from tests.server.arena_client import PATIENCE, one_message

METHODS = dict(rpc_handlers.methods())
SHAPES = {(False, False): "unary_unary", (False, True): "unary_stream"}
SHAPES |= {(True, False): "stream_unary", (True, True): "stream_stream"}
HOUR = 3_600_000


def bearer(secret):
    return (("authorization", f"Bearer {secret}"),)


@asynccontextmanager
async def serving(server):
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await server.stop(None)


async def call(channel, path, metadata=(), raw=b"", shape=None):
    """Call a method with one message; the error of the tree that it ended with, or None."""
    shape = shape or SHAPES[METHODS[path].client_streaming, METHODS[path].server_streaming]
    method = getattr(channel, shape)(path)
    try:
        if shape.startswith("unary"):
            called = method(raw, metadata=metadata, timeout=PATIENCE)
        else:
            called = await one_message(method, raw, metadata)
        if shape.endswith("unary"):
            await called
        else:
            async for _ in called:
                pass
    except grpc.RpcError as error:
        return from_rpc_error(error)
    return None


async def read(request):
    """Read all that a client sends, as every handler of the arena does.

    A client of grpc.aio that writes after a call has ended is told of an internal error instead of
    the status (grpc issue 36066), which happened on a busy machine.
    """
    if isinstance(request, AsyncIterable):
        async for _ in request:
            pass


def everything_implemented():
    """An implementation of every method of the contract that answers with an empty message."""

    def answer(method):
        empty = rpc_handlers.GetMessageClass(method.output_type)()

        async def respond(_self, request, _context):
            await read(request)
            return empty

        async def respond_all(_self, request, _context):
            await read(request)
            yield empty

        return respond_all if method.server_streaming else respond

    return {
        name: type("All", (), {each.name: answer(each) for each in service.methods})()
        for name, service in rpc_handlers.services().items()
    }


@pytest.fixture
async def accounts(start_redis):
    store = await Store.connect(start_redis().url)
    opened = Accounts(store)
    await opened.prepare()
    yield opened
    await store.close()


async def owner(accounts, name):
    """A new owner as a caller, whose token manages."""
    _, issued = await accounts.create_owner(None, name)
    return await accounts.tokens.verify(issued.secret)


async def token_of(accounts, name, *scopes, **more):
    return await accounts.tokens.issue_for_arena(
        TokenRequest(name, scopes=scopes or ALL_SCOPES, **more)
    )


# The table


def test_every_method_has_a_row_and_every_row_a_method():
    standard = {path for path in ACCESS if path.startswith("/grpc.")}
    assert ACCESS.keys() - standard == METHODS.keys()


def test_what_is_open_without_a_scope_is_a_short_list():
    free = {path.rpartition("/")[2] for path in METHODS if not ACCESS[path].scopes}
    assert free == {
        *("ListRulesets", "GetRuleset", "ListLadders", "GetLadder", "GetStandings"),
        "WhoAmI",
    }
    assert ACCESS["/himeji.v1.AccountService/WhoAmI"] is ANY_TOKEN


@pytest.mark.parametrize("path", METHODS)
def test_what_the_contract_reserves_for_administrators_asks_for_that_scope(path):
    changing = ("Recompute", "StartSeason", "VoidGame", "ListFlags", "ListAudit")
    tournaments = ("CreateTournament", "CancelTournament", "CreateOwner", "DeleteOwner")
    reserved = path.rpartition("/")[2].startswith((*changing, *tournaments))
    assert (ACCESS[path].scopes == (pb.SCOPE_ADMIN,)) == reserved


# Every method with every kind of token


async def bad_credentials(accounts):
    """Metadata that open nothing, by what is wrong with them."""
    good = await token_of(accounts, "ada")
    revoked = await token_of(accounts, "ada")
    await accounts.tokens.store.revoke(revoked.token.token_id)
    expired = await token_of(accounts, "ada", lifetime_ms=1)
    replaced = await token_of(accounts, "ada")
    caller = await accounts.tokens.verify(replaced.secret)
    await accounts.tokens.rotate(caller)
    while await accounts.tokens.store.now() <= expired.token.expires:  # noqa: ASYNC110
        await asyncio.sleep(0.001)
    flipped = good.secret[:-1] + ("a" if good.secret[-1] != "a" else "b")
    return {
        "malformed": bearer("himeji_nonsense"),
        "without a secret": bearer(""),
        "mistyped": bearer(flipped),
        "cut off": bearer(good.secret[:-1]),
        "of another scheme": (("authorization", f"Basic {good.secret}"),),
        "without a scheme": (("authorization", good.secret),),
        "twice": bearer(good.secret) * 2,
        "unknown": bearer(token_format.new_secret(token_format.new_id("ada"))),
        "of an unknown owner": bearer(token_format.new_secret(token_format.new_id("nobody-here"))),
        "forged for a known id": bearer(token_format.new_secret(good.token.token_id)),
        "revoked": bearer(revoked.secret),
        "expired": bearer(expired.secret),
        "rotated out": bearer(replaced.secret),
    }


@pytest.mark.parametrize("path", METHODS)
async def test_a_method_opens_to_the_tokens_of_its_row_and_to_no_other(path, accounts):
    await owner(accounts, "ada")
    access = ACCESS[path]
    server = grpc_server.build(
        Readiness([]),
        implementations=everything_implemented(),
        authorise=Authoriser(accounts.tokens),
    )
    async with serving(server) as channel:
        if access is PUBLIC:
            assert await call(channel, path) is None
            return
        for metadata in ((), (("authorization", ""),)):
            assert type(await call(channel, path, metadata)) is errors.MissingToken
        for fault, metadata in (await bad_credentials(accounts)).items():
            assert type(await call(channel, path, metadata)) is errors.InvalidToken, fault
        for scope in ALL_SCOPES:
            issued = await token_of(accounts, "ada", scope)
            error = await call(channel, path, bearer(issued.secret))
            if scope in access.scopes or not access.scopes:
                assert error is None, scope
            else:
                assert type(error) is errors.Forbidden, scope
                name = pb.Scope.Name(access.scopes[0]).removeprefix("SCOPE_")
                assert error.details == {"scope": name}


async def test_the_answer_does_not_say_what_is_wrong_with_a_token(accounts):
    await owner(accounts, "ada")
    server = grpc_server.build(
        Readiness([]),
        implementations=everything_implemented(),
        authorise=Authoriser(accounts.tokens),
    )
    faults = await bad_credentials(accounts)
    async with serving(server) as channel:
        path = "/himeji.v1.AccountService/WhoAmI"
        told = {
            (await call(channel, path, faults[fault])).message
            for fault in ("unknown", "forged for a known id", "revoked", "expired", "rotated out")
        }
    assert len(told) == 1


async def test_a_method_without_a_row_is_closed_even_to_an_administrator(accounts, monkeypatch):
    path = "/himeji.v1.GameService/CreateGame"
    issued = await accounts.issue_full_token("admin", "")
    server = grpc_server.build(
        Readiness([]),
        implementations=everything_implemented(),
        authorise=Authoriser(accounts.tokens),
    )
    async with serving(server) as channel:
        assert await call(channel, path, bearer(issued.secret)) is None
        monkeypatch.delitem(ACCESS, path)
        assert type(await call(channel, path, bearer(issued.secret))) is errors.Forbidden


async def test_a_store_that_is_away_opens_nothing(start_redis):
    redis = start_redis()
    store = await Store.connect(redis.url)
    accounts = Accounts(store)
    secret = (await accounts.issue_full_token("admin", "")).secret
    server = grpc_server.build(
        Readiness([]),
        implementations=everything_implemented(),
        authorise=Authoriser(accounts.tokens),
    )
    redis.kill()
    async with serving(server) as channel:
        error = await call(channel, "/himeji.v1.GameService/GetGame", bearer(secret))
        assert type(error) is errors.StoreUnavailable
        assert await call(channel, "/himeji.v1.RulesService/ListRulesets") is None
    await store.close()


# The caller


@pytest.mark.parametrize("shape", SHAPES.values())
async def test_a_handler_of_every_shape_knows_its_caller_and_the_next_one_does_not(
    shape, accounts, monkeypatch
):
    seen = []

    async def note():
        async def in_a_task_of_its_own():
            return caller_or_none()

        seen.append((caller_or_none(), await asyncio.create_task(in_a_task_of_its_own())))

    async def one(request, _context):
        await note()
        await read(request)
        return request if isinstance(request, StringValue) else StringValue()

    async def many(request, _context):
        await note()
        await read(request)
        yield StringValue()
        await note()

    behaviour = many if shape.endswith("stream") else one
    make = rpc_handlers.HANDLER_FACTORIES[tuple(part == "stream" for part in shape.split("_"))]
    handlers = {
        name: make(
            behaviour,
            request_deserializer=StringValue.FromString,
            response_serializer=StringValue.SerializeToString,
        )
        for name in ("Closed", "Open")
    }
    monkeypatch.setitem(ACCESS, "/test.Planted/Closed", ANY_TOKEN)
    monkeypatch.setitem(ACCESS, "/test.Planted/Open", PUBLIC)
    guard = CallInterceptor(Authoriser(accounts.tokens))
    server = grpc.aio.server(interceptors=[guard], options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("test.Planted", handlers),)
    )
    ada, bob = await owner(accounts, "ada"), await owner(accounts, "bob")
    secrets = {
        each: (await accounts.tokens.rotate(each, overlap_ms=HOUR)).secret for each in (ada, bob)
    }
    async with serving(server) as channel:
        for caller in (ada, bob):
            metadata = bearer(secrets[caller])
            assert await call(channel, "/test.Planted/Closed", metadata, shape=shape) is None
        assert await call(channel, "/test.Planted/Open", metadata, shape=shape) is None
    times = 2 if behaviour is many else 1
    assert seen == [(ada, ada)] * times + [(bob, bob)] * times + [(None, None)] * times


def test_the_caller_of_a_call_without_a_token_is_an_error():
    with pytest.raises(errors.MissingToken):
        current_caller()


# The account service itself


@asynccontextmanager
async def serving_accounts(accounts, *, open_registration=False):
    server = grpc_server.build(
        Readiness([]),
        implementations={account_service.SERVICE: account_service.AccountService(accounts)},
        authorise=Authoriser(accounts.tokens, open_registration=open_registration),
    )
    async with serving(server) as channel:
        yield AccountServiceStub(channel), channel


def requests_about(owner_name, token_id):
    """A request of each method that is about something of an owner's."""
    bot = f"{owner_name}/bot"
    return {
        "CreateBot": pb.CreateBotRequest(bot=f"{owner_name}/new"),
        "CreateBotVersion": pb.CreateBotVersionRequest(bot=bot),
        "CreateToken": pb.CreateTokenRequest(owner=owner_name, scopes=[pb.SCOPE_PLAY]),
        "ListTokens": pb.ListTokensRequest(owner=owner_name),
        "RotateToken": pb.RotateTokenRequest(token_id=token_id),
        "RetireBot": pb.RetireBotRequest(bot=bot),
        "RevokeToken": pb.RevokeTokenRequest(token_id=token_id),
    }


PUBLIC_READS = {
    "GetOwner": pb.GetOwnerRequest(owner="ada"),
    "ListOwners": pb.ListOwnersRequest(),
    "GetBot": pb.GetBotRequest(bot="ada/bot"),
    "ListBots": pb.ListBotsRequest(),
    "ListBotVersions": pb.ListBotVersionsRequest(bot="ada/bot"),
}


def test_every_account_method_is_about_an_owner_or_for_all():
    names = {method.name for method in rpc_handlers.services()[account_service.SERVICE].methods}
    about = requests_about("ada", "").keys()
    assert about | PUBLIC_READS.keys() | {"WhoAmI", "CreateOwner"} == names


@pytest.fixture
async def ada_and_bob(accounts):
    ada, bob = await owner(accounts, "ada"), await owner(accounts, "bob")
    await accounts.bots.create(ada, "ada/bot", "", "")
    return {
        each.owner: (
            await accounts.tokens.create(
                each, TokenRequest(scopes=(pb.SCOPE_READ, pb.SCOPE_PLAY, pb.SCOPE_MANAGE))
            )
        ).secret
        for each in (ada, bob)
    }


@pytest.mark.parametrize("method", requests_about("ada", ""))
async def test_what_is_anothers_is_forbidden_and_ones_own_is_not(method, accounts, ada_and_bob):
    (target,) = [
        each.token_id
        for each in await accounts.tokens.store.list_by_owner("ada")
        if token_format.find_id(ada_and_bob["ada"]) != each.token_id
    ]
    request = requests_about("ada", target)[method]
    before = await accounts.tokens.get(target), await accounts.bots.get("ada/bot")
    async with serving_accounts(accounts) as (stub, channel):
        path = f"/himeji.v1.AccountService/{method}"
        raw = request.SerializeToString()
        error = await call(channel, path, bearer(ada_and_bob["bob"]), raw)
        assert type(error) is errors.Forbidden
        assert before == (await accounts.tokens.get(target), await accounts.bots.get("ada/bot"))
        with pytest.raises(errors.UnknownAccount):
            await accounts.bots.get("ada/new")
        await getattr(stub, method)(request, metadata=bearer(ada_and_bob["ada"]), timeout=120)


@pytest.mark.parametrize("method", PUBLIC_READS)
async def test_who_may_read_reads_of_everybody(method, accounts, ada_and_bob):
    async with serving_accounts(accounts) as (stub, _):
        for secret in ada_and_bob.values():
            response = await getattr(stub, method)(
                PUBLIC_READS[method], metadata=bearer(secret), timeout=120
            )
            assert "ada" in str(response)


async def test_an_account_lives_its_life_over_the_wire(accounts):
    admin = bearer((await accounts.issue_full_token("admin", "")).secret)
    async with serving_accounts(accounts) as (stub, _):
        made = await stub.CreateOwner(
            pb.CreateOwnerRequest(request_id="1", owner="ada", display_name="Ada"), metadata=admin
        )
        ada = bearer(made.secret)
        assert list(made.token.scopes) == [pb.SCOPE_READ, pb.SCOPE_PLAY, pb.SCOPE_MANAGE]
        assert not made.token.HasField("expire_time")
        me = await stub.WhoAmI(pb.WhoAmIRequest(), metadata=ada)
        assert (me.owner, me.token.token_id) == (made.owner, made.token.token_id)
        assert me.token.HasField("last_use_time")
        assert me.server.startswith("himeji/")
        bot = (
            await stub.CreateBot(
                pb.CreateBotRequest(bot="ada/bot", description="d", version_label="1"), metadata=ada
            )
        ).bot
        assert (bot.name, bot.newest_version, bot.HasField("retire_time")) == ("ada/bot", 1, False)
        version = await stub.CreateBotVersion(
            pb.CreateBotVersionRequest(bot="ada/bot", label="2"), metadata=ada
        )
        assert (version.bot_version.number, version.bot_version.parent_version) == (2, 1)
        listed = await stub.ListBotVersions(pb.ListBotVersionsRequest(bot="ada/bot"), metadata=ada)
        assert [each.label for each in listed.bot_versions] == ["2", "1"]
        wish = pb.CreateTokenRequest(bot="ada/bot", scopes=[pb.SCOPE_PLAY], label="laptop")
        wish.lifetime.FromSeconds(3600)
        token = await stub.CreateToken(wish, metadata=ada)
        assert token.token.expire_time.seconds - token.token.create_time.seconds == 3600
        turn = pb.RotateTokenRequest(token_id=token.token.token_id)
        turn.overlap.FromSeconds(60)
        turned = await stub.RotateToken(turn, metadata=ada)
        assert turned.token.HasField("overlap_time")
        for secret in (token.secret, turned.secret):
            found = await stub.WhoAmI(pb.WhoAmIRequest(), metadata=bearer(secret))
            assert found.token.bot == "ada/bot"
        ended = await stub.RevokeToken(
            pb.RevokeTokenRequest(token_id=token.token.token_id), metadata=ada
        )
        assert ended.token.HasField("revoke_time")
        tokens = await stub.ListTokens(pb.ListTokensRequest(show_ended=True), metadata=ada)
        assert [each.label for each in tokens.tokens] == ["laptop", ""]
        retired = await stub.RetireBot(pb.RetireBotRequest(bot="ada/bot"), metadata=ada)
        assert retired.bot.HasField("retire_time")


async def test_registration_is_for_administrators_unless_it_is_open(accounts):
    _, known = await accounts.create_owner(None, "known")
    path = "/himeji.v1.AccountService/CreateOwner"
    request = pb.CreateOwnerRequest(owner="ada").SerializeToString()
    async with serving_accounts(accounts) as (_, channel):
        assert type(await call(channel, path, (), request)) is errors.MissingToken
        error = await call(channel, path, bearer(known.secret), request)
        assert type(error) is errors.Forbidden
    async with serving_accounts(accounts, open_registration=True) as (_, channel):
        wrong = bearer(token_format.new_secret(known.token.token_id))
        assert type(await call(channel, path, wrong, request)) is errors.InvalidToken
        assert await call(channel, path, (), request) is None
        request = pb.CreateOwnerRequest(owner="bob").SerializeToString()
        assert await call(channel, path, bearer(known.secret), request) is None
        # Nothing else is open.
        other = "/himeji.v1.AccountService/GetOwner"
        assert type(await call(channel, other)) is errors.MissingToken


@pytest.mark.parametrize("form", log.FORMATS)
async def test_the_log_names_owner_and_token_and_no_secret(form, accounts):
    stream = io.StringIO()
    log.configure(form, stream)
    _, issued = await accounts.create_owner(None, "ada")
    async with serving_accounts(accounts) as (stub, channel):
        wish = pb.CreateTokenRequest(scopes=[pb.SCOPE_PLAY], label="my laptop")
        made = await stub.CreateToken(wish, metadata=bearer(issued.secret))
        turned = await stub.RotateToken(pb.RotateTokenRequest(), metadata=bearer(issued.secret))
        path = "/himeji.v1.AccountService/WhoAmI"
        assert await call(channel, path, bearer(issued.secret)) is not None
        mistyped = turned.secret[:-1] + "!"
        assert await call(channel, path, bearer(mistyped)) is not None
        assert await call(channel, "/himeji.v1.AccountService/CreateOwner", bearer(made.secret))
    text = stream.getvalue()
    assert text.count("\n") == 5
    assert issued.token.token_id in text
    for secret in (issued.secret, made.secret, turned.secret):
        assert secret not in text
        assert secret[-49:-6] not in text
        assert token_format.digest(secret) not in text
    if form == log.JSON:
        lines = [json.loads(line) for line in text.splitlines()]
        assert [line.get("owner") for line in lines] == ["ada", "ada", None, None, None]


# The token that an arena hands to the person who runs it


def who_am_i(arena, secret):
    with grpc.insecure_channel(arena.address) as channel:
        stub = AccountServiceStub(channel)
        return stub.WhoAmI(pb.WhoAmIRequest(), metadata=bearer(secret), timeout=120)


def test_development_mode_hands_out_a_local_token_and_says_only_where(start_arena, tmp_path):
    arena = start_arena("--port", "0", "--data", str(tmp_path), "--log-format", "json").opened()
    file = tmp_path / "token"
    assert arena.facts["token"] == str(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    secret = file.read_text().strip()
    me = who_am_i(arena, secret)
    assert me.owner.name == me.token.owner == "local"
    assert tuple(me.token.scopes) == ALL_SCOPES
    assert arena.stop() == 0
    assert secret[-49:-6] not in arena.output + arena.errors

    again = start_arena("--port", "0", "--data", str(tmp_path)).opened()
    assert file.read_text().strip() == secret
    assert who_am_i(again, secret).owner.name == "local"
    assert again.stop() == 0

    ranked = start_arena("--port", "0", "--data", str(tmp_path), "--ranked").opened()
    assert "no file" in ranked.facts["token"]
    with pytest.raises(grpc.RpcError) as refused:
        who_am_i(ranked, secret)
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_two_arenas_on_one_redis_know_each_others_tokens(start_arena, start_redis, tmp_path):
    redis = start_redis()
    arenas = [
        start_arena("--port", "0", "--redis", redis.url, "--data", str(tmp_path / name)).opened()
        for name in ("one", "two")
    ]
    secrets = [(tmp_path / name / "token").read_text().strip() for name in ("one", "two")]
    assert secrets[0] != secrets[1]
    for arena, secret in itertools.product(arenas, secrets):
        assert who_am_i(arena, secret).owner.name == "local"


def test_a_ranked_arena_gets_its_first_administrator_by_a_file(start_arena, tmp_path):
    file = tmp_path / "keys" / "admin"
    options = ("--port", "0", "--data", str(tmp_path / "data"), "--ranked")
    first = start_arena(*options, "--admin-token-file", str(file)).opened()
    assert first.facts["token"] == str(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    secret = file.read_text().strip()
    assert first.stop() == 0
    assert secret[-49:-6] not in first.output + first.errors
    # From then on the token lives in the store, with or without the option.
    later = start_arena(*options).opened()
    with grpc.insecure_channel(later.address) as channel:
        made = AccountServiceStub(channel).CreateOwner(
            pb.CreateOwnerRequest(owner="ada"), metadata=bearer(secret), timeout=120
        )
    assert who_am_i(later, made.secret).owner.name == "ada"


def test_a_token_file_that_cannot_be_written_is_one_sentence(start_arena, tmp_path):
    (tmp_path / "file").touch()
    impossible = tmp_path / "file" / "admin"
    arena = start_arena(
        "--port", "0", "--data", str(tmp_path / "data"), "--admin-token-file", str(impossible)
    )
    assert arena.ended() == 1
    assert f"the token file {impossible} cannot be used" in arena.errors
    assert "Traceback" not in arena.errors


async def test_a_token_file_that_others_could_read_counts_as_known_to_them(accounts, tmp_path):
    file = tmp_path / "token"
    await token_file.ensure_token(file, accounts, "local")
    secret = file.read_text().strip()
    file.chmod(0o640)
    await token_file.ensure_token(file, accounts, "local")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert file.read_text().strip() != secret
    with pytest.raises(errors.InvalidToken):
        await accounts.tokens.verify(secret)
    assert [each.name for each in tmp_path.iterdir()] == ["token"]


@pytest.mark.parametrize("content", [b"", b"nonsense", b"\xff\x00" * 2000])
async def test_a_token_file_with_nothing_good_in_it_is_written_anew(accounts, tmp_path, content):
    file = tmp_path / "token"
    file.write_bytes(content)
    await token_file.ensure_token(file, accounts, "local")
    caller = await accounts.tokens.verify(file.read_text().strip())
    assert (caller.owner, caller.scopes) == ("local", frozenset(ALL_SCOPES))


async def test_a_token_file_keeps_no_token_of_another_owner(accounts, tmp_path):
    file = tmp_path / "token"
    await token_file.ensure_token(file, accounts, "admin")
    await token_file.ensure_token(file, accounts, "local")
    assert (await accounts.tokens.verify(file.read_text().strip())).owner == "local"
    with pytest.raises(StartRefusedError):
        await token_file.ensure_token(file / "below", accounts, "local")
