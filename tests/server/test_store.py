"""The store: one connection to a real Redis, with errors of our own and no silent retries."""

import asyncio
import re
from importlib import resources

import pytest
from himeji.rules.errors import StoreUnavailable
from himeji_server.rpc import readiness
from himeji_server.store import (
    Store,
    StoreRefusedError,
    accounts,
    game_commit,
    game_scripts,
    keys,
    tokens,
    without_password,
)

SCRIPTS = {
    each.name.removesuffix(".lua"): each.read_text()
    for each in (resources.files("himeji_server.store") / "scripts").iterdir()
}


async def test_a_store_that_loses_its_redis_says_so_and_recovers_by_itself(start_redis, binary):
    mine = start_redis(binary=binary)
    store = await Store.connect(mine.url)
    await store.ping()
    mine.kill()
    with pytest.raises(StoreUnavailable, match="does not answer"):
        await store.ping()
    mine.start()
    await store.ping()
    await store.close()


@pytest.mark.one_redis("a cluster has no one connection to cut")
async def test_a_connection_that_redis_closed_while_nothing_was_said_is_opened_again(
    start_redis, binary
):
    url = start_redis(binary=binary).url
    store, other = await Store.connect(url), await Store.connect(url)
    for _ in range(3):
        await store.call("SET", "said", "before")
        await other.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        await asyncio.sleep(0.05)
        assert await store.call("GET", "said") == b"before"
    await store.close()
    await other.close()


async def test_a_command_that_cannot_be_said_is_refused_and_those_after_it_are_answered(
    start_redis,
):
    store = await Store.connect(start_redis().url)
    with pytest.raises(StoreUnavailable):
        await store.call("SET", "said", object())
    await store.ping()
    await store.close()


async def test_a_command_is_sent_once_however_it_fails():
    sent = []

    async def hang_up(reader, writer):
        sent.append(await reader.read(1000))
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(StoreUnavailable):
            await Store.connect(f"redis://127.0.0.1:{port}")
    assert len(sent) == 1


@pytest.mark.parametrize("ticks", range(40))
async def test_whoever_is_cancelled_while_they_ask_the_store_ends(start_redis, monkeypatch, ticks):
    # redis-py swallows a cancellation that comes at a bad moment, and what loops would go on.
    monkeypatch.setattr(readiness, "_POLL_SECONDS", 0)
    store = Store(start_redis().url)
    monitoring = asyncio.create_task(readiness.Readiness([]).monitor(store))
    for _ in range(ticks):
        await asyncio.sleep(0)
    monitoring.cancel()
    done, _ = await asyncio.wait([monitoring], timeout=120)
    assert done == {monitoring}
    await store.close()


async def test_what_the_store_says_names_no_address_and_no_password():
    with pytest.raises(StoreUnavailable) as raised:
        await Store.connect("redis://me:hidden@127.0.0.1:1/0")
    assert "hidden" not in str(raised.value)
    assert "127.0.0.1" not in str(raised.value)


async def test_a_version_is_read_from_the_server(start_redis, binary):
    store = await Store.connect(start_redis(binary=binary).url)
    await store.check_version()
    assert (await store.version()).split(".")[0].isdecimal()
    await store.close()


@pytest.mark.one_redis("needs a Redis with settings of its own")
async def test_durability_is_read_from_the_server(start_redis, binary):
    store = await Store.connect(start_redis(binary=binary).url)
    with pytest.raises(StoreRefusedError, match="appendonly is no and has to be yes"):
        await store.check_durability()
    await store.close()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://me:hidden@host:7000/2?x=hidden", "redis://host:7000/2"),
        ("unix://:hidden@/tmp/r.sock", "unix:///tmp/r.sock"),
        ("rediss://host", "rediss://host"),
        ("redis://me:hidden@host:port", "the URL"),
    ],
)
def test_a_url_is_shown_without_its_secrets(url, shown):
    assert without_password(url) == shown


# --- scripts ----------------------------------------------------------------------------------


def names_given(array, script):
    """The names that a script gives to its KEYS or ARGV."""
    found = re.search(rf"^local ([\w,\s]+) = unpack\({array}[,)]", script, re.MULTILINE)
    return re.split(r",\s*", found[1])


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        (game_commit.COMMIT, game_commit.CommitArguments),
        (game_scripts.TAKE_SEAT, game_scripts.TakeSeatArguments),
        (game_scripts.VOID, game_scripts.VoidArguments),
        (accounts.CREATE_OWNER, accounts.CreateOwnerArguments),
        (tokens.CREATE, tokens.CreateArguments),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_script_names_its_arguments_as_they_are_sent(script, arguments):
    assert names_given("ARGV", script.text) == list(arguments._fields)


@pytest.mark.parametrize("name", ["commit", "void_game"])
def test_a_script_names_the_keys_of_a_game_as_they_are_sent(name):
    sent = [f"{each}_key" for each in keys.GameKeys._fields]
    assert names_given("KEYS", SCRIPTS[name]) == sent


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_reads_its_keys_and_arguments_by_name(name):
    lines = [line for line in SCRIPTS[name].splitlines() if not line.startswith("--")]
    by_number = [line for line in lines if re.search(r"(KEYS|ARGV)\[\d", line)]
    assert all(re.fullmatch(r"local \w+ = (KEYS|ARGV)\[1\]", line) for line in by_number)
