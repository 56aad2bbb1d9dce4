"""Accounts on a real Redis: owners, bots, versions and tokens, and what every retry gives."""

import asyncio
import contextlib
import re
import uuid
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from himeji.rules import errors
from himeji.v1.account_service_pb2 import SCOPE_ADMIN, SCOPE_MANAGE, SCOPE_PLAY, SCOPE_READ
from himeji.wire.errors import RETRY_AFTER
from himeji_server import addresses
from himeji_server.accounts import token_format
from himeji_server.accounts.accounts import Accounts
from himeji_server.accounts.caller import set_address
from himeji_server.accounts.idempotency import IdempotencyKeys, Operation
from himeji_server.accounts.open_streams import OpenStreams, token_ended
from himeji_server.accounts.tokens import TokenRequest
from himeji_server.limits import AccountLimits
from himeji_server.names import skeleton
from himeji_server.store import Store, keys
from himeji_server.store.accounts import REMEMBERED_SECONDS, AccountStore

from tests.server.arena_client import PATIENCE, with_timeout

ALL = (SCOPE_READ, SCOPE_PLAY, SCOPE_MANAGE, SCOPE_ADMIN)
HOUR = 3_600_000
LIMITS = AccountLimits(
    owners=6,
    registrations_per_minute=1000,
    registrations_per_day=1000,
    bots_per_owner=3,
    bot_names_per_owner=5,
    versions_per_bot=3,
    tokens_per_owner=4,
)


@pytest.fixture
async def store(start_redis):
    opened = await Store.connect(start_redis().url)
    yield opened
    await opened.close()


@pytest.fixture
async def accounts(store):
    prepared = Accounts(store, LIMITS)
    await prepared.prepare()
    return prepared


@pytest.fixture
async def admin(accounts):
    return await accounts.tokens.verify((await accounts.issue_full_token("admin", "test")).secret)


@pytest.fixture
async def ada(accounts, admin):
    _, issued = await accounts.create_owner(admin, "ada", "Ada")
    return await accounts.tokens.verify(issued.secret)


@pytest.fixture
async def bob(accounts, admin):
    _, issued = await accounts.create_owner(admin, "bob")
    return await accounts.tokens.verify(issued.secret)


def fresh():
    return str(uuid.uuid4())


def wish(*scopes, **more):
    return TokenRequest(scopes=scopes or (SCOPE_PLAY,), **more)


async def until(accounts, time):
    """Wait for a time of the store's clock, which nobody rings."""
    while (left := time - await accounts.tokens.store.now()) > 0:  # noqa: ASYNC110
        await asyncio.sleep(left / 1000)


async def works(accounts, secret):
    try:
        await accounts.tokens.verify(secret)
    except errors.InvalidToken:
        return False
    return True


async def works_until(accounts, secret, time):
    """Whether a secret works, as long as it is early enough for an answer to say so."""
    return await works(accounts, secret) or await accounts.tokens.store.now() >= time


# Names


@pytest.mark.parametrize("name", ["ada", "a", "7", "a-1", "a-b-c", "x" * 32])
async def test_a_name_of_small_letters_digits_and_hyphens_is_valid(accounts, admin, name):
    owner, _ = await accounts.create_owner(admin, name)
    assert (owner.name, owner.house) == (name, False)


@pytest.mark.parametrize(
    "name", ["", "Ada", "-a", "a-", "a_b", "a/b", "a.b", "é", "a}b", "x" * 33, "a\n", " a", "a--b"]
)
async def test_any_other_name_is_refused_with_the_format(accounts, admin, name):
    with pytest.raises(errors.InvalidRequest, match="small letters") as raised:
        await accounts.create_owner(admin, name)
    assert raised.value.details == {"field": "owner"}
    with pytest.raises(errors.InvalidRequest):
        await accounts.bots.get(f"ada/{name}")


async def test_a_name_is_taken_for_all_time(accounts, admin, ada):
    with pytest.raises(errors.AlreadyExists) as raised:
        await accounts.create_owner(admin, "ada")
    assert raised.value.details == {"kind": "owner", "name": "ada"}
    await accounts.bots.create(ada, "ada/bot", "", "")
    await accounts.bots.retire(ada, "ada/bot")
    with pytest.raises(errors.AlreadyExists) as raised:
        await accounts.bots.create(ada, "ada/bot", "", "")
    assert raised.value.details == {"kind": "bot", "name": "ada/bot"}


@pytest.mark.parametrize("name", ["house", "local", "admin", "himeji", "root", "arena", "guest"])
async def test_reserved_names_cannot_be_taken(accounts, admin, name):
    with pytest.raises(errors.AlreadyExists, match="reserved"):
        await accounts.create_owner(admin, name)


@pytest.mark.parametrize("name", ["h0use", "hou-se", "10cal", "adrnin", "adm1n", "5y57em"])
async def test_a_name_that_looks_like_a_reserved_one_cannot_be_taken(accounts, admin, name):
    with pytest.raises(errors.AlreadyExists, match="looks like") as raised:
        await accounts.create_owner(admin, name)
    assert raised.value.details == {"kind": "owner", "name": name}


@pytest.mark.parametrize("name", ["vvl1lie", "wi-l-l-i3", "w1llie"])
async def test_a_name_that_looks_like_an_owners_cannot_be_taken(accounts, admin, name):
    await accounts.create_owner(admin, "willie", "", "request-1")
    with pytest.raises(errors.AlreadyExists, match="looks like willie"):
        await accounts.create_owner(admin, name)
    await accounts.create_owner(admin, "willie", "", "request-1")  # a retry is not another name
    assert name not in [owner.name for owner in (await accounts.owners(0, ""))[0]]


def test_digits_that_differ_keep_names_apart():
    assert len({skeleton(f"team-{number}") for number in range(1000)}) == 1000


async def test_a_free_text_has_a_longest_length(accounts, admin, ada):
    with pytest.raises(errors.InvalidRequest, match="81 characters"):
        await accounts.create_owner(admin, "eve", "x" * 81)
    with pytest.raises(errors.InvalidRequest):
        await accounts.bots.create(ada, "ada/bot", "x" * 501, "")
    with pytest.raises(errors.InvalidRequest):
        await accounts.tokens.create(ada, wish(label="x" * 81))
    hostile = "<script> {} '\" 1 2"
    bot = await accounts.bots.create(ada, "ada/bot", hostile, hostile)
    assert bot.description == hostile
    assert (await accounts.bots.versions("ada/bot", 0, ""))[0][0].label == hostile


async def test_characters_that_deceive_are_refused_in_every_text_of_an_account(
    accounts, admin, ada
):
    for field, attempt in {
        "display_name": accounts.create_owner(admin, "eve", "\u202eeve"),
        "description": accounts.bots.create(ada, "ada/bot", "\x1b[2J", ""),
        "version_label": accounts.bots.create(ada, "ada/bot", "", "line\nbreak"),
        "label": accounts.tokens.create(ada, wish(label="a\u200bb")),
    }.items():
        with pytest.raises(errors.InvalidRequest) as raised:
            await attempt
        assert raised.value.details == {"field": field}
    await accounts.bots.create(ada, "ada/bot", "two\nlines", "")
    with pytest.raises(errors.InvalidRequest) as raised:
        await accounts.bots.create_version(ada, "ada/bot", "\U000e0041")
    assert raised.value.details == {"field": "label"}


# Owners


async def test_an_owner_comes_with_a_token_for_reading_playing_and_managing(accounts, admin):
    owner, issued = await accounts.create_owner(admin, "ada", "Ada Lovelace")
    assert (owner.name, owner.display_name) == ("ada", "Ada Lovelace")
    assert owner.created == issued.token.created > 0
    caller = await accounts.tokens.verify(issued.secret)
    assert caller.owner == "ada"
    assert caller.scopes == {SCOPE_READ, SCOPE_PLAY, SCOPE_MANAGE}
    assert await accounts.owner("ada") == owner


async def test_a_repeated_creation_of_an_owner_gives_a_fresh_secret_for_the_same_token(
    accounts, admin
):
    one, two = [await accounts.create_owner(admin, "ada", "Ada", "request-1") for _ in range(2)]
    assert one[0] == two[0]
    assert one[1].token.token_id == two[1].token.token_id
    assert not await works(accounts, one[1].secret)
    assert await works(accounts, two[1].secret)


async def test_a_request_id_with_another_content_is_refused_across_all_methods(
    accounts, admin, ada
):
    await accounts.create_owner(admin, "eve", "Eve", "request-1")
    with pytest.raises(errors.RequestIdReused) as raised:
        await accounts.create_owner(admin, "eve", "Another Eve", "request-1")
    assert raised.value.details == {"request_id": "request-1"}
    with pytest.raises(errors.RequestIdReused):
        await accounts.tokens.create(admin, wish(), "request-1")
    await accounts.bots.create(ada, "ada/bot", "", "", "request-1")  # another owner's id


async def test_versions_of_all_bots_of_an_owner_are_limited(store, ada, bob):
    accounts = Accounts(store, replace(LIMITS, versions_per_owner=3))
    await accounts.bots.create(bob, "bob/bot", "", "")
    for name in ("ada/one", "ada/two"):
        await accounts.bots.create(ada, name, "", "")
    await accounts.bots.create_version(ada, "ada/one", "", "request-1")
    await accounts.bots.create_version(ada, "ada/two", "")
    await accounts.bots.create_version(ada, "ada/two", "")
    with pytest.raises(errors.LimitExceeded) as raised:
        await accounts.bots.create_version(ada, "ada/one", "")
    assert raised.value.details == {"limit": "versions_per_owner", "allowed": "3"}
    again = await accounts.bots.create_version(ada, "ada/one", "", "request-1")
    assert again.number == (await accounts.bots.get("ada/one")).newest_version == 2
    await accounts.bots.create_version(bob, "bob/bot", "")


async def test_of_an_owners_request_ids_the_newest_are_remembered(store):
    requests = IdempotencyKeys(AccountStore(store), 3)

    async def claim(owner, request_id):
        return (await requests.claim(owner, request_id, ["same"], Operation())).operation_id

    others = await claim("bob", "1")
    first, *newest = [await claim("ada", f"{number}") for number in range(4)]
    assert [await claim("ada", f"{number}") for number in range(1, 4)] == newest
    assert await claim("ada", "0") != first
    assert await claim("bob", "1") == others
    plans, times = keys.request_plans("ada"), keys.request_times("ada")
    assert await store.call("HLEN", plans) == await store.call("ZCARD", times) == 3
    assert 0 < await store.call("TTL", plans) <= REMEMBERED_SECONDS


async def test_a_request_id_is_forgotten_after_a_day_and_takes_no_memory_then(store):
    requests = IdempotencyKeys(AccountStore(store), 1_000)
    first = await requests.claim("ada", "old", ["same"], Operation())
    times = keys.request_times("ada")
    (request,) = await store.call("ZRANGE", times, 0, -1)
    await store.call("ZADD", times, 1, request)
    assert await requests.claim("ada", "new", ["same"], Operation()) != first
    assert await store.call("HLEN", keys.request_plans("ada")) == 1
    assert await requests.claim("ada", "old", ["same"], Operation()) != first


async def test_strangers_do_not_make_an_owner_forget_its_requests(store, admin):
    accounts = Accounts(store, replace(LIMITS, request_ids_per_owner=2))
    _, issued = await accounts.create_owner(admin, "ada")
    ada = await accounts.tokens.verify(issued.secret)
    bot = await accounts.bots.create(ada, "ada/bot", "", "", "request-1")
    for number in range(3):
        with pytest.raises(errors.AlreadyExists):
            await accounts.create_owner(None, "ada", "", f"a stranger's request {number}")
    assert await accounts.bots.create(ada, "ada/bot", "", "", "request-1") == bot


async def test_a_repeated_creation_after_a_rotation_kills_no_secret(accounts, admin):
    _, first = await accounts.create_owner(admin, "ada", "", "request-1")
    caller = await accounts.tokens.verify(first.secret)
    rotated = await accounts.tokens.rotate(caller)
    with pytest.raises(errors.Refused):
        await accounts.create_owner(admin, "ada", "", "request-1")
    assert await works(accounts, rotated.secret)


async def test_a_stranger_who_repeats_in_time_gets_a_secret_and_later_nothing(accounts):
    request = fresh()
    _, lost = await accounts.create_owner(None, "ada", "Ada", request)
    _, issued = await accounts.create_owner(None, "ada", "Ada", request)
    assert not await works(accounts, lost.secret)
    assert await works(accounts, issued.secret)
    with pytest.raises(errors.AlreadyExists):
        await accounts.create_owner(None, "ada", "Ada", request)
    assert await works(accounts, issued.secret)


async def test_a_strangers_request_id_has_to_be_hard_to_guess(accounts):
    with pytest.raises(errors.InvalidRequest, match="16 characters"):
        await accounts.create_owner(None, "ada", "Ada", "1")
    await accounts.create_owner(None, "ada")


async def test_owners_are_listed_by_name_in_pages(accounts, admin):
    for name in ("eve", "a-b", "a"):
        await accounts.create_owner(admin, name)
    names, token = [], ""
    for _ in range(3):
        owners, token = await accounts.owners(2, token)
        names.append([owner.name for owner in owners])
    assert names == [["a", "a-b"], ["admin", "eve"], ["house"]]
    assert token == ""
    assert [each.house for each in owners] == [True]


async def test_a_name_that_was_only_reserved_is_listed_nowhere_and_free(accounts, admin, store):
    # What is left when a process dies between the list and the owner.
    await AccountStore(store).reserve_owner("ada", 10)
    owners, _ = await accounts.owners(0, "")
    assert "ada" not in [owner.name for owner in owners]
    with pytest.raises(errors.UnknownAccount):
        await accounts.owner("ada")
    await accounts.create_owner(admin, "ada")


async def test_there_are_only_so_many_owners(accounts, admin):
    request = fresh()
    for number in range(LIMITS.owners - 2):  # the house and the administrator count
        await accounts.create_owner(None, f"owner-{number}", "", f"{request}-{number}")
    with pytest.raises(errors.LimitExceeded) as raised:
        await accounts.create_owner(None, "one-more")
    assert raised.value.details == {"limit": "owners", "allowed": "6"}
    # A retry is no new owner, and administrators have no limit.
    await accounts.create_owner(None, "owner-0", "", f"{request}-0")
    await accounts.create_owner(admin, "one-more")


# Registration by strangers


RARE = AccountLimits(
    registrations_per_minute=2, registrations_per_day=3, registrations_in_all_per_day=5
)


@pytest.fixture
async def processes(store):
    """Two processes of an arena in which registration is rare."""
    opened = [Accounts(store, RARE) for _ in range(2)]
    await opened[0].prepare()
    return opened


def refused_registration(limit, seconds):
    """Checks that an error says which rate was exceeded, and when there is room again."""

    def says(error):
        wait = int(error.details[RETRY_AFTER])
        allowed = str(getattr(RARE, limit))
        return (
            error.details["limit"] == limit
            and error.details["allowed"] == allowed
            and ((seconds - 50) * 1000 < wait <= seconds * 1000)
        )

    return pytest.raises(errors.RateLimited, check=says)


async def end_of_windows(store, limit):
    """What the clock does."""
    await store.call("DEL", keys.rate_window("registrations", limit, addresses.UNKNOWN))


async def test_strangers_of_an_address_register_few_owners_at_all_processes_together(
    processes, store
):
    one, two = processes
    await one.create_owner(None, "ada")
    await two.create_owner(None, "bob")
    for process in processes:
        with refused_registration("registrations_per_minute", 60):
            await process.create_owner(None, "eve")
    await end_of_windows(store, "registrations_per_minute")
    await two.create_owner(None, "eve")
    await end_of_windows(store, "registrations_per_minute")
    with refused_registration("registrations_per_day", 86_400):
        await one.create_owner(None, "dan")
    names = [owner.name for owner in (await one.owners(0, ""))[0]]
    assert names == ["ada", "bob", "eve", "house"]


async def test_an_address_does_not_use_up_what_another_may_register(processes, store):
    accounts, _ = processes
    for number in range(3):
        await end_of_windows(store, "registrations_per_minute")
        await accounts.create_owner(None, f"first-{number}")
    set_address("10.0.0.2")
    for number in range(2):
        await accounts.create_owner(None, f"second-{number}")
    set_address("10.0.0.3")
    with refused_registration("registrations_in_all_per_day", 86_400):
        await accounts.create_owner(None, "third")


async def test_owners_with_a_token_register_others_at_the_rate_of_strangers(processes):
    accounts, _ = processes
    _, issued = await accounts.create_owner(None, "ada")
    ada = await accounts.tokens.verify(issued.secret)
    await accounts.create_owner(ada, "bob")
    with refused_registration("registrations_per_minute", 60):
        await accounts.create_owner(ada, "eve")


async def test_administrators_register_as_many_as_they_like(processes):
    accounts, _ = processes
    issued = await accounts.issue_full_token("admin", "test")
    admin = await accounts.tokens.verify(issued.secret)
    for number in range(10):
        await accounts.create_owner(admin, f"owner-{number}")
    await accounts.create_owner(None, "ada")


@pytest.mark.one_redis("looks at all keys of a node")
async def test_a_flood_of_registrations_leaves_nothing_behind(processes, store):
    accounts, _ = processes
    for number in range(200):
        with contextlib.suppress(errors.RateLimited):
            await accounts.create_owner(None, f"flood-{number}", "", fresh())
    left = {key.decode() for key in await store.call("KEYS", "*flood*")}
    registered = {"{o:flood-0", "{o:flood-1"}
    requests = {"{o:anonymous/flood-0", "{o:anonymous/flood-1"}
    assert {key.partition("}")[0] for key in left} == registered | requests
    windows = await store.call("KEYS", "{rate:*")
    assert len(windows) == 3
    assert all([await store.call("PTTL", key) > 0 for key in windows])


# Bots


async def test_a_bot_begins_with_version_1(accounts, ada):
    bot = await accounts.bots.create(ada, "ada/bot", "plays well", "1.0")
    assert (str(bot.name), bot.description, bot.newest_version) == ("ada/bot", "plays well", 1)
    assert bot.retired == 0
    (version,), token = await accounts.bots.versions("ada/bot", 0, "")
    assert (version.number, version.label, version.parent, token) == (1, "1.0", 0, "")
    assert version.created == bot.created


async def test_a_repeated_creation_of_a_bot_gets_the_first_answer(accounts, ada):
    first = await accounts.bots.create(ada, "ada/bot", "", "1", "request-1")
    await accounts.bots.create_version(ada, "ada/bot", "2")
    await accounts.bots.retire(ada, "ada/bot")
    assert await accounts.bots.create(ada, "ada/bot", "", "1", "request-1") == first
    with pytest.raises(errors.RequestIdReused):
        await accounts.bots.create(ada, "ada/other", "", "1", "request-1")
    with pytest.raises(errors.AlreadyExists):
        await accounts.bots.create(ada, "ada/bot", "", "1")


async def test_versions_count_up_and_name_their_parent(accounts, ada):
    await accounts.bots.create(ada, "ada/bot", "", "one")
    second = await accounts.bots.create_version(ada, "ada/bot", "two", "request-1")
    again = await accounts.bots.create_version(ada, "ada/bot", "two", "request-1")
    third = await accounts.bots.create_version(ada, "ada/bot", "two")
    assert second == again
    assert [(each.number, each.parent) for each in (second, third)] == [(2, 1), (3, 2)]
    assert (await accounts.bots.get("ada/bot")).newest_version == 3
    with pytest.raises(errors.RequestIdReused):
        await accounts.bots.create_version(ada, "ada/bot", "three", "request-1")
    with pytest.raises(errors.LimitExceeded) as raised:
        await accounts.bots.create_version(ada, "ada/bot", "four")
    assert raised.value.details == {"limit": "versions_per_bot", "allowed": "3"}


async def test_versions_are_listed_newest_first_in_pages(accounts, ada):
    await accounts.bots.create(ada, "ada/bot", "", "1")
    for label in ("2", "3"):
        await accounts.bots.create_version(ada, "ada/bot", label)
    first, token = await accounts.bots.versions("ada/bot", 2, "")
    second, end = await accounts.bots.versions("ada/bot", 2, token)
    assert [each.label for each in first] == ["3", "2"]
    assert ([each.label for each in second], end) == (["1"], "")


async def test_a_retired_bot_plays_no_more_and_stays(accounts, ada):
    await accounts.bots.create(ada, "ada/bot", "", "")
    assert await accounts.bots.resolve_player(ada, "ada/bot") == ("ada/bot", 1)
    retired = await accounts.bots.retire(ada, "ada/bot", "request-1")
    assert retired.retired > 0
    assert await accounts.bots.retire(ada, "ada/bot", "request-1") == retired
    with pytest.raises(errors.RequestIdReused):
        await accounts.bots.retire(ada, "ada/other", "request-1")
    with pytest.raises(errors.Refused, match="retired"):
        await accounts.bots.resolve_player(ada, "ada/bot")
    with pytest.raises(errors.Refused, match="retired"):
        await accounts.bots.create_version(ada, "ada/bot", "2")
    with pytest.raises(errors.Refused, match="retired"):
        await accounts.tokens.create(ada, wish(bot="ada/bot"))
    assert await accounts.bots.get("ada/bot") == retired


async def test_bots_of_all_owners_are_listed_by_their_whole_name(accounts, admin):
    expected = []
    for owner in ("az", "a", "a-b"):
        _, issued = await accounts.create_owner(admin, owner)
        caller = await accounts.tokens.verify(issued.secret)
        for short in ("z", "b"):
            await accounts.bots.create(caller, f"{owner}/{short}", "", "")
            expected.append(f"{owner}/{short}")
    await accounts.bots.retire(caller, "a-b/z")
    for show_retired in (True, False):
        names, token = [], "first"
        while token:
            page = token.replace("first", "")
            bots, token = await accounts.bots.list_bots("", 2, page, show_retired=show_retired)
            names += [str(bot.name) for bot in bots]
        assert names == [each for each in sorted(expected) if show_retired or each != "a-b/z"]
    only, _ = await accounts.bots.list_bots("a", 0, "", show_retired=True)
    assert [str(bot.name) for bot in only] == ["a/b", "a/z"]
    one, token = await accounts.bots.list_bots("a", 1, "", show_retired=True)
    rest, end = await accounts.bots.list_bots("a", 1, token, show_retired=True)
    assert ([str(bot.name) for bot in (*one, *rest)], end) == (["a/b", "a/z"], "")


@pytest.mark.parametrize("page", ["nonsense", "e30=", "W1tbWw==", "WyJ4IiwgInkiXQ==", "é"])
async def test_a_page_token_of_no_list_of_ours_is_refused(accounts, page):
    with pytest.raises(errors.InvalidRequest) as raised:
        await accounts.owners(0, page)
    assert raised.value.details == {"field": "page_token"}


async def test_a_page_token_belongs_to_its_query(accounts, ada):
    for short in ("a", "b"):
        await accounts.bots.create(ada, f"ada/{short}", "", "")
    _, token = await accounts.bots.list_bots("ada", 1, "", show_retired=False)
    assert token
    with pytest.raises(errors.InvalidRequest):
        await accounts.bots.list_bots("ada", 1, token, show_retired=True)
    with pytest.raises(errors.InvalidRequest, match="less than 0"):
        await accounts.bots.list_bots("ada", -1, "", show_retired=False)


async def test_an_owner_has_only_so_many_bots_and_names(accounts, ada):
    for number in range(LIMITS.bots_per_owner):
        await accounts.bots.create(ada, f"ada/bot-{number}", "", "")
    with pytest.raises(errors.LimitExceeded) as raised:
        await accounts.bots.create(ada, "ada/more", "", "")
    assert raised.value.details == {"limit": "bots_per_owner", "allowed": "3"}
    for number in range(LIMITS.bots_per_owner):
        await accounts.bots.retire(ada, f"ada/bot-{number}")
    for number in range(LIMITS.bot_names_per_owner - LIMITS.bots_per_owner):
        await accounts.bots.create(ada, f"ada/new-{number}", "", "")
    with pytest.raises(errors.LimitExceeded) as raised:
        await accounts.bots.create(ada, "ada/more", "", "")
    assert raised.value.details == {"limit": "bot_names_per_owner", "allowed": "5"}


async def test_the_player_is_the_bot_that_is_named_or_that_of_the_token(accounts, ada, bob):
    await accounts.bots.create(ada, "ada/bot", "", "")
    await accounts.bots.create(ada, "ada/other", "", "")
    await accounts.bots.create_version(ada, "ada/bot", "")
    assert await accounts.bots.resolve_player(ada, "ada/bot") == ("ada/bot", 2)
    assert await accounts.bots.resolve_player(ada, "ada/bot", 1) == ("ada/bot", 1)
    bound = replace(ada, bot="ada/bot")
    assert await accounts.bots.resolve_player(bound) == ("ada/bot", 2)
    for caller, bot, version, error in [
        (ada, "", 0, errors.InvalidRequest),
        (ada, "bot", 0, errors.InvalidRequest),
        (ada, "ada/none", 0, errors.UnknownAccount),
        (ada, "ada/bot", 3, errors.UnknownAccount),
        (ada, "ada/bot", -1, errors.UnknownAccount),
        (bob, "ada/bot", 0, errors.Forbidden),
        (bound, "ada/other", 0, errors.Forbidden),
    ]:
        with pytest.raises(error):
            await accounts.bots.resolve_player(caller, bot, version)


# The text of secrets


def test_a_secret_is_recognisable_random_and_checked():
    token_id = token_format.new_id("a-b")
    secrets = {token_format.new_secret(token_id) for _ in range(100)}
    assert len(secrets) == 100
    form = re.compile(r"himeji_a-b\.[0-9a-z]{12}_[0-9A-Za-z]{49}")
    for secret in secrets:
        assert form.fullmatch(secret)
        assert token_format.find_id(secret) == token_id
    assert len({secret[-49:-6] for secret in secrets}) == 100


def test_every_single_typo_in_a_secret_is_noticed():
    secret = token_format.new_secret(token_format.new_id("ada"))
    for place in range(len(secret)):
        for sign in "aZ7.-_":
            typo = secret[:place] + sign + secret[place + 1 :]
            assert (token_format.find_id(typo) is None) == (typo != secret)
    for wrong in ("", secret[:-1], secret + "a", secret.upper(), f" {secret}", secret * 1000):
        assert token_format.find_id(wrong) is None


# Tokens


async def test_only_the_digest_of_a_secret_is_stored(accounts, ada, store):
    issued = await accounts.tokens.create(ada, wish(label="laptop"), "request-1")
    rotated = await accounts.tokens.rotate(ada, issued.token.token_id, HOUR, "request-2")
    random_parts = [each.secret[-49:-6].encode() for each in (issued, rotated)]
    stored = b""
    for key in await store.call("KEYS", "*"):
        stored += key + await store.call("DUMP", key)
        assert not any(part in stored for part in random_parts)
    assert token_format.digest(rotated.secret).encode()[:20] in b"".join(
        await store.call("HVALS", keys.token("ada", issued.token.token_id))
    )


async def test_neither_a_caller_nor_a_token_shows_a_secret_or_its_digest(accounts, ada):
    issued = await accounts.tokens.create(ada, wish())
    caller = await accounts.tokens.verify(issued.secret)
    for shown in (repr(issued), repr(caller), str(caller)):
        assert issued.secret[-49:-6] not in shown
        assert caller.digest not in shown


async def test_a_token_has_the_properties_that_were_requested(accounts, ada):
    await accounts.bots.create(ada, "ada/bot", "", "")
    issued = await accounts.tokens.create(
        ada,
        TokenRequest("", "ada/bot", [SCOPE_PLAY, SCOPE_READ, SCOPE_PLAY], "laptop", HOUR),
    )
    token = issued.token
    assert (token.owner, token.bot, token.label) == ("ada", "ada/bot", "laptop")
    assert token.scopes == (SCOPE_READ, SCOPE_PLAY)
    assert token.expires - token.created == HOUR
    assert (token.revoked, token.overlap, token.used) == (0, 0, 0)
    caller = await accounts.tokens.verify(issued.secret)
    assert (caller.owner, caller.bot) == ("ada", "ada/bot")
    assert caller.scopes == {SCOPE_READ, SCOPE_PLAY}
    assert (await accounts.tokens.get(token.token_id)).used >= token.created


async def test_a_repeated_creation_of_a_token_gives_it_a_fresh_secret(accounts, ada):
    one = await accounts.tokens.create(ada, wish(), "request-1")
    two = await accounts.tokens.create(ada, wish(), "request-1")
    assert one.token.token_id == two.token.token_id
    assert not await works(accounts, one.secret)
    assert await works(accounts, two.secret)
    with pytest.raises(errors.RequestIdReused):
        await accounts.tokens.create(ada, wish(SCOPE_READ), "request-1")
    await accounts.tokens.revoke(ada, two.token.token_id)
    with pytest.raises(errors.Refused):
        await accounts.tokens.create(ada, wish(), "request-1")


async def test_a_token_stops_by_itself_when_its_lifetime_is_over(accounts, ada):
    issued = await accounts.tokens.create(ada, wish(lifetime_ms=300))
    assert await works_until(accounts, issued.secret, issued.token.expires)
    await until(accounts, issued.token.expires)
    assert not await works(accounts, issued.secret)


@pytest.mark.parametrize("lifetime", [0, -1, 11 * 365 * 24 * HOUR])
async def test_an_impossible_lifetime_is_refused(accounts, ada, lifetime):
    with pytest.raises(errors.InvalidRequest) as raised:
        await accounts.tokens.create(ada, wish(lifetime_ms=lifetime))
    assert raised.value.details == {"field": "lifetime"}


@pytest.mark.parametrize("scopes", [(), (0,), (1, 99)])
async def test_a_token_needs_known_scopes(accounts, ada, scopes):
    with pytest.raises(errors.InvalidRequest) as raised:
        await accounts.tokens.create(ada, TokenRequest(scopes=scopes))
    assert raised.value.details == {"field": "scopes"}


async def test_a_token_creates_none_that_can_do_more(accounts, ada):
    await accounts.bots.create(ada, "ada/bot", "", "")
    await accounts.bots.create(ada, "ada/other", "", "")
    with pytest.raises(errors.Forbidden) as raised:
        await accounts.tokens.create(ada, wish(SCOPE_PLAY, SCOPE_ADMIN))
    assert raised.value.details == {"scope": "ADMIN"}
    with pytest.raises(errors.Forbidden) as raised:
        await accounts.tokens.create(ada, wish(owner="bob"))
    assert raised.value.details == {"scope": "ADMIN"}
    bound = replace(ada, bot="ada/bot")
    for bot in ("", "ada/other"):
        with pytest.raises(errors.Forbidden, match="bound to ada/bot"):
            await accounts.tokens.create(bound, wish(bot=bot))
    assert await accounts.tokens.create(bound, wish(bot="ada/bot"))
    with pytest.raises(errors.Forbidden) as raised:
        await accounts.tokens.create(replace(ada, scopes=frozenset({SCOPE_ADMIN})), wish())
    assert raised.value.details == {"scope": "MANAGE"}


async def test_a_token_is_bound_to_a_bot_of_its_owner_that_exists(accounts, ada, bob):
    await accounts.bots.create(bob, "bob/bot", "", "")
    with pytest.raises(errors.InvalidRequest):
        await accounts.tokens.create(ada, wish(bot="bob/bot"))
    with pytest.raises(errors.UnknownAccount):
        await accounts.tokens.create(ada, wish(bot="ada/none"))


@pytest.mark.usefixtures("ada")
async def test_an_administrator_makes_tokens_for_others(accounts, admin):
    issued = await accounts.tokens.create(admin, wish(SCOPE_MANAGE, owner="ada"))
    assert (await accounts.tokens.verify(issued.secret)).owner == "ada"
    with pytest.raises(errors.UnknownAccount):
        await accounts.tokens.create(admin, wish(owner="nobody-here"))


async def test_after_a_rotation_the_old_secret_works_for_the_overlap(accounts, ada):
    issued = await accounts.tokens.create(ada, wish())
    rotated = await accounts.tokens.rotate(ada, issued.token.token_id, 400)
    assert rotated.token.token_id == issued.token.token_id
    assert await works_until(accounts, issued.secret, rotated.token.overlap)
    assert await works(accounts, rotated.secret)
    await until(accounts, rotated.token.overlap)
    assert not await works(accounts, issued.secret)
    assert await works(accounts, rotated.secret)


async def test_without_an_overlap_the_old_secret_stops_at_once(accounts, ada):
    first = await accounts.tokens.create(ada, wish())
    second = await accounts.tokens.rotate(ada, first.token.token_id, HOUR)
    third = await accounts.tokens.rotate(ada, first.token.token_id)
    assert third.token.overlap == 0
    secrets = [each.secret for each in (first, second, third)]
    assert [await works(accounts, each) for each in secrets] == [False, False, True]


async def test_a_repeated_rotation_replaces_only_its_own_secret(accounts, ada):
    issued = await accounts.tokens.create(ada, wish())
    token_id = issued.token.token_id
    lost = await accounts.tokens.rotate(ada, token_id, HOUR, "request-1")
    again = await accounts.tokens.rotate(ada, token_id, HOUR, "request-1")
    secrets = [each.secret for each in (issued, lost, again)]
    assert [await works(accounts, each) for each in secrets] == [True, False, True]
    assert again.token.overlap == lost.token.overlap
    with pytest.raises(errors.RequestIdReused):
        await accounts.tokens.rotate(ada, token_id, 0, "request-1")
    later = await accounts.tokens.rotate(ada, token_id, HOUR, "request-2")
    with pytest.raises(errors.Refused):
        await accounts.tokens.rotate(ada, token_id, HOUR, "request-1")
    assert await works(accounts, later.secret)


async def test_a_rotation_that_died_half_way_is_finished_by_its_retry(accounts, ada, monkeypatch):
    issued = await accounts.tokens.create(ada, wish())

    async def die(*_, **__):
        raise errors.StoreUnavailable("the store does not answer")

    with monkeypatch.context() as patch:
        patch.setattr(accounts.tokens.store, "rotate", die)
        with pytest.raises(errors.StoreUnavailable):
            await accounts.tokens.rotate(ada, issued.token.token_id, HOUR, "request-1")
    assert await works(accounts, issued.secret)
    rotated = await accounts.tokens.rotate(ada, issued.token.token_id, HOUR, "request-1")
    assert await works(accounts, rotated.secret)


async def test_a_secret_that_was_rotated_out_repeats_its_rotation_and_starts_no_other(
    accounts, ada
):
    issued = await accounts.tokens.create(ada, wish(SCOPE_MANAGE))
    old = await accounts.tokens.verify(issued.secret)
    await accounts.tokens.rotate(old, "", HOUR, "request-1")
    again = await accounts.tokens.rotate(old, "", HOUR, "request-1")
    with pytest.raises(errors.Forbidden):
        await accounts.tokens.rotate(old, "", HOUR, "request-2")
    with pytest.raises(errors.Forbidden):
        await accounts.tokens.rotate(old)
    assert await works(accounts, again.secret)


async def test_an_overlap_is_cut_to_what_the_server_allows(accounts, ada):
    issued = await accounts.tokens.create(ada, wish())
    rotated = await accounts.tokens.rotate(ada, issued.token.token_id, 1000 * HOUR)
    now = await accounts.tokens.store.now()
    assert 6 * 24 * HOUR < rotated.token.overlap - now <= 7 * 24 * HOUR
    with pytest.raises(errors.InvalidRequest) as raised:
        await accounts.tokens.rotate(ada, issued.token.token_id, -1)
    assert raised.value.details == {"field": "overlap"}


async def test_rotating_a_token_gives_the_caller_no_further_scopes(accounts, admin):
    mighty = (await accounts.issue_full_token("admin", "other")).token.token_id
    humble = replace(admin, scopes=frozenset({SCOPE_MANAGE}))
    with pytest.raises(errors.Forbidden):
        await accounts.tokens.rotate(humble, mighty)


async def test_nobody_rotates_the_token_of_another(accounts, admin, ada, bob):
    for caller in (bob, admin):
        with pytest.raises(errors.Forbidden):
            await accounts.tokens.rotate(caller, ada.token_id)


async def test_a_revoked_token_stops_at_once_and_twice_is_the_same_as_once(accounts, ada):
    issued = await accounts.tokens.create(ada, wish())
    token_id = issued.token.token_id
    rotated = await accounts.tokens.rotate(ada, token_id, HOUR)
    revoked = await accounts.tokens.revoke(ada, token_id, "request-1")
    assert revoked.revoked >= revoked.created
    assert not await works(accounts, issued.secret)
    assert not await works(accounts, rotated.secret)
    assert await accounts.tokens.revoke(ada, token_id, "request-1") == revoked
    assert await accounts.tokens.revoke(ada, token_id) == revoked
    with pytest.raises(errors.RequestIdReused):
        await accounts.tokens.revoke(ada, ada.token_id, "request-1")
    with pytest.raises(errors.Refused):
        await accounts.tokens.rotate(ada, token_id)


async def test_a_foreign_token_is_revoked_by_an_administrator_alone(accounts, admin, ada, bob):
    with pytest.raises(errors.Forbidden):
        await accounts.tokens.revoke(bob, ada.token_id)
    assert (await accounts.tokens.get(ada.token_id)).revoked == 0
    assert (await accounts.tokens.revoke(admin, ada.token_id)).revoked > 0


async def test_a_bound_token_manages_the_tokens_of_its_bot_alone(accounts, ada):
    await accounts.bots.create(ada, "ada/bot", "", "")
    of_bot = await accounts.tokens.create(ada, wish(SCOPE_MANAGE, bot="ada/bot"))
    bound = await accounts.tokens.verify(of_bot.secret)
    for act in (accounts.tokens.rotate, accounts.tokens.revoke):
        with pytest.raises(errors.Forbidden):
            await act(bound, ada.token_id)
    found, _ = await accounts.tokens.list_tokens(bound, "", 0, "", show_ended=True)
    assert [each.token_id for each in found] == [of_bot.token.token_id]
    await accounts.tokens.rotate(bound, of_bot.token.token_id)
    for act in (accounts.bots.retire, accounts.bots.create_version):
        with pytest.raises(errors.Forbidden, match="bound"):
            await act(bound, "ada/other", "")


@pytest.mark.parametrize("token_id", ["", "nonsense", "ada.short", "ada.0123456789ab:x", "é" * 300])
async def test_what_is_no_token_id_is_refused(accounts, ada, token_id):
    with pytest.raises(errors.InvalidRequest):
        await accounts.tokens.revoke(ada, token_id)
    with pytest.raises(errors.UnknownAccount):
        await accounts.tokens.revoke(ada, "ada.0123456789ab")


async def test_tokens_are_listed_newest_first_in_pages(accounts, admin, ada, bob):
    made = [ada.token_id]
    for _ in range(3):
        await asyncio.sleep(0.002)  # so that their times differ
        made.append((await accounts.tokens.create(ada, wish())).token.token_id)
    await accounts.tokens.revoke(ada, made[2])
    first, token = await accounts.tokens.list_tokens(ada, "", 3, "", show_ended=True)
    rest, end = await accounts.tokens.list_tokens(ada, "", 3, token, show_ended=True)
    assert [each.token_id for each in (*first, *rest)] == made[::-1]
    assert end == ""
    live, _ = await accounts.tokens.list_tokens(admin, "ada", 0, "", show_ended=False)
    assert [each.token_id for each in live] == [made[3], made[1], made[0]]
    with pytest.raises(errors.Forbidden):
        await accounts.tokens.list_tokens(bob, "ada", 0, "", show_ended=False)


async def test_an_owner_has_only_so_many_tokens_that_work(accounts, ada):
    issued = await accounts.tokens.create(ada, wish(lifetime_ms=3_000))
    others = [await accounts.tokens.create(ada, wish()) for _ in range(2)]
    with pytest.raises(errors.LimitExceeded) as raised:
        await accounts.tokens.create(ada, wish(), "request-1")
    assert raised.value.details == {"limit": "tokens_per_owner", "allowed": "4"}
    await until(accounts, issued.token.expires)
    await accounts.tokens.create(ada, wish(), "request-1")  # the same request, once there is room
    await accounts.tokens.revoke(ada, others[0].token.token_id)
    await accounts.tokens.create(ada, wish())


async def test_tokens_that_ended_are_kept_for_a_while_and_not_for_ever(accounts, ada, monkeypatch):
    monkeypatch.setattr("himeji_server.accounts.tokens._MOST_ENDED", 2)
    ended = []
    for _ in range(5):
        await asyncio.sleep(0.002)
        issued = await accounts.tokens.create(ada, wish())
        ended.append((await accounts.tokens.revoke(ada, issued.token.token_id)).token_id)
    await accounts.tokens.create(ada, wish())
    found, _ = await accounts.tokens.list_tokens(ada, "", 0, "", show_ended=True)
    assert [each.token_id for each in found if each.revoked] == ended[:2:-1]
    assert await works(accounts, (await accounts.tokens.rotate(ada)).secret)


async def test_the_last_use_is_recorded_roughly(accounts, ada):
    issued = await accounts.tokens.create(ada, wish())
    token_id = issued.token.token_id
    await accounts.tokens.verify(issued.secret)
    first = (await accounts.tokens.get(token_id)).used
    await asyncio.sleep(0.01)
    await accounts.tokens.verify(issued.secret)
    assert (await accounts.tokens.get(token_id)).used == first
    await accounts.tokens.store.set_used(token_id, first - 2 * 60_000)
    await accounts.tokens.verify(issued.secret)
    assert (await accounts.tokens.get(token_id)).used >= first


async def test_one_owners_keys_share_a_slot_of_a_cluster(accounts, ada, store):
    await accounts.bots.create(ada, "ada/bot", "", "", "request-1")
    await accounts.bots.create_version(ada, "ada/bot", "", "request-2")
    await accounts.tokens.create(ada, wish(bot="ada/bot"), "request-3")
    of_nodes = await store._sender.ask_each_primary("KEYS", "*")
    found = [bytes(key).decode() for keys in of_nodes for key in keys]
    tags = {key.partition("}")[0] for key in found}
    assert tags == {"{owners", "{o:ada", "{o:admin", "{o:house"}
    assert all(key.startswith("{") for key in found)


# The arena's own


async def test_the_house_gets_tokens_bound_to_its_bots(accounts):
    assert (await accounts.owner("house")).house
    issued = await accounts.issue_house_token("greedy", "takes what it can")
    caller = await accounts.tokens.verify(issued.secret)
    assert (caller.owner, caller.bot) == ("house", "house/greedy")
    assert caller.scopes == {SCOPE_READ, SCOPE_PLAY}
    assert await accounts.bots.resolve_player(caller) == ("house/greedy", 1)
    assert (await accounts.bots.get("house/greedy")).description == "takes what it can"


async def test_a_house_process_that_is_started_again_and_again_does_not_pile_up_tokens(accounts):
    issued = []
    for _ in range(10):
        await asyncio.sleep(0.002)
        issued.append(await accounts.issue_house_token("greedy"))
    worked = [await works(accounts, each.secret) for each in issued]
    assert worked == [False] * 2 + [True] * 8


async def test_a_local_bot_exists_as_soon_as_it_plays_in_development_mode_alone(accounts, store):
    local = Accounts(store, LIMITS, dev=True)
    await local.prepare()
    caller = await local.tokens.verify((await local.issue_full_token("local", "")).secret)
    with pytest.raises(errors.UnknownAccount):
        await accounts.bots.resolve_player(caller, "local/mine")
    assert await local.bots.resolve_player(caller, "local/mine") == ("local/mine", 1)
    assert await local.bots.resolve_player(caller, "local/mine") == ("local/mine", 1)


async def test_what_development_mode_left_opens_nothing_in_other_modes(accounts, store):
    local = Accounts(store, LIMITS, dev=True)
    await local.prepare()
    issued = await local.issue_full_token("local", "")
    await local.prepare()
    assert await works(accounts, issued.secret)
    await accounts.prepare()
    assert not await works(accounts, issued.secret)


async def test_a_token_with_all_scopes_is_for_the_arenas_own_owners(accounts):
    with pytest.raises(errors.Forbidden):
        await accounts.issue_full_token("ada", "")


# Open streams


@asynccontextmanager
async def monitored(streams):
    task = asyncio.create_task(streams.monitor())
    try:
        yield streams
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_revocation_by_another_process_reaches_an_open_stream(accounts, ada, store):
    issued = await accounts.tokens.create(ada, wish())
    caller = await accounts.tokens.verify(issued.secret)
    async with monitored(OpenStreams(accounts.tokens.store)) as streams:
        with streams.register(caller) as ended, streams.register(ada) as others:
            elsewhere = Accounts(store)
            await elsewhere.tokens.revoke(ada, caller.token_id)
            await with_timeout(ended.wait())
            assert not others.is_set()
    assert isinstance(token_ended(), errors.Unauthenticated)


@pytest.mark.parametrize("broken", ["notification", "poll"])
async def test_either_the_notification_or_the_poll_is_enough(accounts, ada, monkeypatch, broken):
    async def never(*_):
        await asyncio.Event().wait()
        yield ""

    streams = OpenStreams(accounts.tokens.store)
    if broken == "notification":
        monkeypatch.setattr(accounts.tokens.store, "changes", never)
    else:
        monkeypatch.setattr(streams, "_poll", lambda: asyncio.Event().wait())
    async with monitored(streams):
        with streams.register(ada) as ended:
            assert not ended.is_set()
            async with asyncio.timeout(PATIENCE):
                while not ended.is_set():  # a notification before the subscription is lost
                    await accounts.tokens.revoke(ada, ada.token_id)
                    await asyncio.sleep(0.1)


async def test_a_stream_ends_with_the_secret_it_was_opened_with(accounts, ada):
    issued = await accounts.tokens.create(ada, wish())
    old = await accounts.tokens.verify(issued.secret)
    rotated = await accounts.tokens.rotate(ada, old.token_id, 700)
    new = await accounts.tokens.verify(rotated.secret)
    async with monitored(OpenStreams(accounts.tokens.store)) as streams:
        with streams.register(old) as old_ended, streams.register(new) as new_ended:
            await with_timeout(old_ended.wait())
            assert await accounts.tokens.store.now() >= rotated.token.overlap
            assert not new_ended.is_set()


async def test_a_stream_ends_when_its_token_expires(accounts, ada):
    issued = await accounts.tokens.create(ada, wish(lifetime_ms=3_000))
    caller = await accounts.tokens.verify(issued.secret)
    async with monitored(OpenStreams(accounts.tokens.store)) as streams:
        with streams.register(caller) as ended:
            await with_timeout(ended.wait())
    assert not streams._open


@pytest.mark.parametrize("ticks", range(0, 40, 3))
async def test_monitoring_ends_whenever_it_is_cancelled(accounts, ticks):
    # redis-py swallows a cancellation that comes while it connects.
    monitoring = asyncio.create_task(OpenStreams(accounts.tokens.store).monitor())
    for _ in range(ticks):
        await asyncio.sleep(0)
    monitoring.cancel()
    done, _ = await asyncio.wait([monitoring], timeout=120)
    assert done == {monitoring}


async def test_streams_stay_open_while_the_store_is_away_and_end_after_it(start_redis):
    redis = start_redis("--appendonly", "yes", "--appendfsync", "always")
    store = await Store.connect(redis.url)
    accounts = Accounts(store)
    await accounts.prepare()
    caller = await accounts.tokens.verify((await accounts.issue_full_token("admin", "")).secret)
    async with monitored(OpenStreams(accounts.tokens.store)) as streams:
        with streams.register(caller) as ended:
            await asyncio.sleep(0.3)
            await asyncio.to_thread(redis.kill)
            await asyncio.sleep(1.5)
            assert not ended.is_set()
            await asyncio.to_thread(redis.start)
            await accounts.tokens.revoke(caller, caller.token_id)
            await with_timeout(ended.wait())
    await store.close()
