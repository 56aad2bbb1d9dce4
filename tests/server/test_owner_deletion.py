"""Deletion of owners on a real Redis: who can be deleted, and what every crash and race leaves."""

import asyncio
import uuid

import pytest
from himeji.rules import errors
from himeji.v1.account_service_pb2 import SCOPE_PLAY
from himeji.v1.ladder_service_pb2 import (
    CreateTournamentRequest,
    TournamentEntry,
    TournamentSystem,
)
from himeji.wire.clock import CASUAL
from himeji_server.accounts.accounts import Accounts
from himeji_server.accounts.owner_deletion import OwnerDeletion
from himeji_server.accounts.tokens import TokenRequest
from himeji_server.games.use_cases import Player
from himeji_server.limits import AccountLimits
from himeji_server.names import BotName
from himeji_server.store import Store, keys
from himeji_server.store.accounts import AccountStore
from himeji_server.store.audit import AuditLog

from tests.server.game_process import new_game
from tests.server.ladder_process import ADMIN, LADDER, LadderProcess
from tests.server.redis_client import raw_client

WHY = "never played"


class Process:
    """What a process has for accounts and games, with a connection of its own."""

    def __init__(self, store, redis):
        self.store = store
        self.redis = redis  # a client that sees all keys, of a cluster too
        self.parts = LadderProcess(store)
        self.accounts = self.parts.accounts
        self.deletion = OwnerDeletion(store, self.accounts.requests, self.accounts.tokens)


@pytest.fixture
async def processes(start_redis):
    url = start_redis().url
    with raw_client(url, decode_responses=True) as redis:
        opened = [Process(await Store.connect(url), redis) for _ in range(2)]
        await opened[0].accounts.prepare()
        yield opened
        for process in opened:
            await process.store.close()


@pytest.fixture
def process(processes):
    return processes[0]


@pytest.fixture
async def admin(process):
    issued = await process.accounts.issue_full_token("admin", "test")
    return await process.accounts.tokens.verify(issued.secret)


async def create_ada(process, admin, name):
    """Create an owner with two bots, one of them retired, two versions and two tokens."""
    accounts = process.accounts
    _, issued = await accounts.create_owner(admin, name, "Ada")
    caller = await accounts.tokens.verify(issued.secret)
    for short in ("bot", "old"):
        await accounts.bots.create(caller, f"{name}/{short}", "", "")
    await accounts.bots.retire(caller, f"{name}/old")
    await accounts.bots.create_version(caller, f"{name}/bot", "2")
    await accounts.tokens.create(caller, TokenRequest(scopes=[SCOPE_PLAY]))
    return caller


@pytest.fixture
async def ada(process, admin):
    return await create_ada(process, admin, "ada")


def keys_of(process, owner):
    """The keys of an owner that do not expire by themselves."""
    return sorted(key for key in process.redis.keys(f"*{owner}*") if process.redis.pttl(key) < 0)


async def owner_names(process):
    return [owner.name for owner in (await process.accounts.owners(0, ""))[0]]


async def messages(process):
    return [entry.message for entry in await AuditLog(process.store).newest(0, 100)]


@pytest.mark.usefixtures("ada")
async def test_an_owner_that_never_played_goes_with_everything_it_had(process, admin):
    await process.deletion.delete(admin, "ada", WHY, "")
    assert keys_of(process, "ada") == []
    assert await owner_names(process) == ["admin", "house"]
    assert await process.store.call("HLEN", keys.OWNER_SKELETONS) == 2
    assert await process.accounts.bots.list_bots("", 0, "", show_retired=True) == ([], "")
    assert await messages(process) == ["deleted the owner ada: never played"]
    with pytest.raises(errors.UnknownAccount):
        await process.deletion.delete(admin, "ada", WHY, "")


async def test_tokens_of_a_deleted_owner_stop_and_its_name_is_free_again(process, admin):
    _, issued = await process.accounts.create_owner(admin, "ada")
    await process.deletion.delete(admin, "ada", WHY, "")
    with pytest.raises(errors.InvalidToken):
        await process.accounts.tokens.verify(issued.secret)
    owner, _ = await process.accounts.create_owner(admin, "a-da", "Another Ada")
    assert owner.display_name == "Another Ada"


async def test_a_place_that_became_free_can_be_taken_by_a_stranger(process, admin):
    accounts = Accounts(process.store, AccountLimits(owners=3))
    await accounts.create_owner(None, "ada")
    with pytest.raises(errors.LimitExceeded):
        await accounts.create_owner(None, "bob")
    await process.deletion.delete(admin, "ada", WHY, "")
    await accounts.create_owner(None, "bob")


async def create_game(process, caller):
    await process.parts.use_cases.create(caller, new_game(clock=CASUAL), "")


async def join_game(process, _caller):
    view = await process.parts.use_cases._commands.create(new_game())
    await process.parts.use_cases.join(Player("ada/bot", 1), view.game_id, None, b"", "")


async def enter_queue(process, _caller):
    await process.parts.queue_commands.enter(Player("ada/bot", 1), LADDER, 1)


async def enter_tournament(process, _caller):
    await process.parts.create_owner("bob/bot")
    await process.accounts.bots.ensure(BotName("bob", "bot"))
    request = CreateTournamentRequest(
        tournament="cup",
        system=TournamentSystem.TOURNAMENT_SYSTEM_ROUND_ROBIN,
        ruleset="base",
        seats=2,
        rounds=1,
        entries=[TournamentEntry(bot="ada/bot"), TournamentEntry(bot="bob/bot")],
    )
    await process.parts.tournaments.create(ADMIN, request)


PLAYS = [create_game, join_game, enter_queue, enter_tournament]


@pytest.mark.parametrize("play", PLAYS)
async def test_an_owner_that_played_stays_with_everything_it_has(processes, admin, ada, play):
    process, other = processes
    assert not (await process.accounts.owner("ada")).played
    await play(other, ada)
    before = keys_of(process, "o:ada}")
    with pytest.raises(errors.Refused, match="has played"):
        await process.deletion.delete(admin, "ada", WHY, "")
    assert keys_of(process, "o:ada}") == before
    assert (await process.accounts.owner("ada")).played
    assert not [each for each in await messages(process) if "deleted" in each]


@pytest.mark.parametrize("play", PLAYS)
async def test_who_is_deleted_does_not_come_to_play(processes, admin, ada, play):
    process, other = processes
    await process.deletion.delete(admin, "ada", WHY, "")
    with pytest.raises(errors.UnknownAccount):  # its token may be cached at another process
        await play(other, ada)
    with pytest.raises(errors.UnknownAccount):
        await other.accounts.bots.create(ada, "ada/new", "", "")
    with pytest.raises(errors.UnknownAccount):
        await other.accounts.tokens.create(ada, TokenRequest(scopes=[SCOPE_PLAY]))
    assert keys_of(process, "o:ada}") == []


@pytest.mark.parametrize("name", ["house", "admin", "local"])
async def test_the_arenas_own_owners_stay(process, admin, name):
    with pytest.raises(errors.Refused, match="the arena's own"):
        await process.deletion.delete(admin, name, WHY, "")


@pytest.mark.usefixtures("ada")
async def test_a_deletion_needs_a_name_and_an_explanation(process, admin):
    for name, why in (("ada", ""), ("ada", " "), ("ada", "x" * 501), ("ada", "\x1b"), ("Ada", WHY)):
        with pytest.raises(errors.InvalidRequest):
            await process.deletion.delete(admin, name, why, "")
    with pytest.raises(errors.UnknownAccount):
        await process.deletion.delete(admin, "bob", WHY, "")
    assert "ada" in await owner_names(process)


@pytest.mark.usefixtures("ada")
async def test_a_repeated_request_deletes_nobody_who_took_the_name_since(process, admin):
    request = str(uuid.uuid4())
    await process.deletion.delete(admin, "ada", WHY, request)
    await process.accounts.create_owner(admin, "ada")
    await process.deletion.delete(admin, "ada", WHY, request)
    assert "ada" in await owner_names(process)
    with pytest.raises(errors.RequestIdReused):
        await process.deletion.delete(admin, "bob", WHY, request)


class KilledError(Exception):
    """A process that dies."""


def dying(method, budget):
    """The method, which works as often as the budget allows."""

    async def call(*arguments):
        budget[0] -= 1
        if budget[0] < 0:
            raise KilledError
        return await method(*arguments)

    return call


async def test_a_deletion_that_died_at_any_step_is_completed_by_the_next(processes, admin):
    process, other = processes
    steps, died = 0, True
    while died:
        name = f"owner-{steps}"
        await create_ada(process, admin, name)
        budget, store = [steps], process.store
        store.call, store.run = dying(store.call, budget), dying(store.run, budget)
        try:
            await process.deletion.delete(admin, name, WHY, f"request-{steps}")
            died = False
        except KilledError:
            pass
        finally:
            del store.call, store.run
        await other.deletion.delete(admin, name, WHY, f"request-{steps}")
        assert keys_of(other, f"{{o:{name}}}") == []
        assert await owner_names(other) == ["admin", "house"]
        assert (await messages(other))[0] == f"deleted the owner {name}: never played"
        assert len(await messages(other)) == steps + 1
        steps += 1
    assert steps > 20


@pytest.mark.usefixtures("ada")
async def test_an_owner_that_is_being_deleted_is_gone_for_everybody(processes, admin):
    process, other = processes
    await AccountStore(process.store).begin_deletion("ada", "mark")
    with pytest.raises(errors.UnknownAccount):
        await other.accounts.owner("ada")
    assert "ada" not in await owner_names(other)
    with pytest.raises(errors.AlreadyExists):
        await other.accounts.create_owner(admin, "ada")


@pytest.mark.parametrize("play", PLAYS)
async def test_who_is_being_deleted_begins_nothing(processes, ada, play):
    process, other = processes
    await AccountStore(process.store).begin_deletion("ada", "mark")
    before = keys_of(process, "o:ada}")
    with pytest.raises(errors.UnknownAccount):
        await play(other, ada)
    with pytest.raises(errors.UnknownAccount):
        await other.accounts.bots.create(ada, "ada/new", "", "")
    with pytest.raises(errors.UnknownAccount):
        await other.accounts.tokens.create(ada, TokenRequest(scopes=[SCOPE_PLAY]))
    assert keys_of(process, "o:ada}") == before


async def test_of_playing_and_being_deleted_at_once_one_wins(processes, admin):
    process, other = processes
    for number in range(30):
        name = f"owner-{number}"
        await process.accounts.create_owner(admin, name)
        await process.accounts.bots.create(_owner(admin, name), f"{name}/bot", "", "")
        play = other.parts.queue_commands.enter(Player(f"{name}/bot", 1), LADDER, 1)
        delete = process.deletion.delete(admin, name, WHY, "")
        order = (play, delete) if number % 2 else (delete, play)
        found = await asyncio.gather(*order, return_exceptions=True)
        failed = [isinstance(each, errors.HimejiError) for each in found]
        assert sum(failed) == 1, found
        played = failed[0] != bool(number % 2)
        assert (name in await owner_names(process)) == played
        assert bool(await process.parts.queue_commands.ladders_of(f"{name}/bot")) == played


def _owner(admin, name):
    return type(admin)(name, "t", admin.scopes)
