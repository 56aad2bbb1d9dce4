"""Guests of the page on a real Redis: whose name is taken over, and what becomes of the former."""

import asyncio
from itertools import count

import pytest
from himeji.rules import errors
from himeji.v1.account_service_pb2 import SCOPE_PLAY
from himeji.v1.game_pb2 import EndReason, GameResult, SeatPlan, SeatPolicy
from himeji.wire.clock import CASUAL
from himeji_server.accounts.accounts import Accounts
from himeji_server.accounts.caller import Caller
from himeji_server.games.assembly import GameAssembly
from himeji_server.games.commands import NewGame
from himeji_server.games.use_cases import Player
from himeji_server.limits import AccountLimits, Limits
from himeji_server.store import Store, keys
from himeji_server.store.game_records import OVER, PLAYING
from himeji_server.web.browser_players import COOKIE, BrowserPlayers
from starlette.requests import Request

from tests.server.ladder_process import LADDER, LadderProcess

HERE = "127.0.0.1"
DEVELOPER = Caller("local", "t", frozenset({SCOPE_PLAY}))
FEW = AccountLimits(
    guests=3,
    guests_per_minute=10_000,
    guests_in_all_per_minute=10_000,
    bots_per_owner=2,
    bot_names_per_owner=4,
    versions_per_bot=3,
)


class Page:
    """What a process has for its page, with a connection of its own."""

    def __init__(self, store, limits=FEW):
        self.store = store
        self.accounts = Accounts(store, limits, dev=True)
        self.use_cases = GameAssembly(store, self.accounts, Limits(games_per_guest=2)).use_cases
        self.players = BrowserPlayers(self.accounts, self.use_cases, dev=True)

    async def visit(self):
        """A new browser: its caller and its secret."""
        return await self.players.register(HERE)

    async def find(self, secret):
        headers = [(b"cookie", f"{COOKIE}={secret}".encode())]
        return await self.players.find(Request({"type": "http", "headers": headers}))

    async def sit(self, caller, opponent=""):
        """Take a seat alone, or against somebody who is not there yet; the id of the game."""
        plans = [SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name=caller.bot)]
        ruleset = "solo"
        if opponent:
            plans.append(SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name=opponent))
            ruleset = "base"
        new = NewGame(ruleset, {}, tuple(plans), CASUAL, 3)
        view = await self.use_cases.create(caller, new, "")
        await self.use_cases.join(await self.use_cases.player(caller), view.game_id, 0, b"", "")
        return view.game_id

    async def end_reason(self, game_id):
        view = await self.use_cases.view(game_id)
        return GameResult.FromString(view.stored.result).end_reason

    async def set_last_use(self, caller, time):
        await self.store.call("HSET", keys.token("guest", caller.token_id), "used", time)
        await self.store.call("HSET", keys.token("guest", caller.token_id), "created", time)


@pytest.fixture
async def pages(start_redis):
    url = start_redis().url
    opened = [Page(await Store.connect(url)) for _ in range(2)]
    await opened[0].accounts.prepare()
    yield opened
    for page in opened:
        await page.store.close()


@pytest.fixture
def page(pages):
    return pages[0]


async def test_visits_use_up_neither_names_nor_versions_nor_the_developers_bots(page):
    secrets = [(await page.visit())[1] for _ in range(60)]
    assert [bool(await page.find(each)) for each in secrets] == [False] * 57 + [True] * 3
    guests, _ = await page.accounts.bots.list_bots("guest", 0, "", show_retired=True)
    assert [str(each.name) for each in guests] == [f"guest/browser-{n}" for n in (1, 2, 3)]
    assert [each.newest_version for each in guests] == [20] * 3
    listed = [await page.accounts.bots.versions(str(each.name), 0, "") for each in guests]
    assert [len(versions) for versions, _ in listed] == [1] * 3
    issued = await page.accounts.issue_full_token("local", "test")
    local = await page.accounts.tokens.verify(issued.secret)
    await page.accounts.bots.create(local, "local/mine", "", "")


async def size_of_all_keys(page):
    """How many keys there are of guests, and how many entries their lists of versions have."""
    names = [key async for key in scan(page)]
    lists = [key for key in names if b":versions" in key]
    return len(names), sum([await page.store.call("LLEN", key) for key in lists])


async def scan(page):
    cursor = b"0"
    while True:
        cursor, found = await page.store.call("SCAN", cursor, "MATCH", "*guest*", "COUNT", 1_000)
        for key in found:
            yield key
        if cursor == b"0":
            return


async def test_names_that_go_from_one_guest_to_the_next_leave_nothing_behind_in_the_store(page):
    limited = page.accounts.tokens.store
    for _ in range(6):
        await page.visit()
    before = await size_of_all_keys(page)
    tokens = len(await limited.list_by_owner("guest"))
    for _ in range(30):
        await page.visit()
    keys_now, versions_now = await size_of_all_keys(page)
    # Tokens that ended are kept, up to a limit of their own.
    assert keys_now - len(await limited.list_by_owner("guest")) <= before[0] - tokens
    assert versions_now == before[1]


async def test_of_a_guests_name_the_version_that_plays_is_listed(page):
    for _ in range(7):
        caller, _ = await page.visit()
    newest = (await page.accounts.bots.get(caller.bot)).newest_version
    listed, next_page_token = await page.accounts.bots.versions(caller.bot, 1, "")
    assert [(each.number, each.parent) for each in listed] == [(newest, newest - 1)]
    assert newest == 3
    while next_page_token:  # an empty page says that nothing older is kept
        listed, next_page_token = await page.accounts.bots.versions(caller.bot, 1, next_page_token)
        assert listed == []


async def test_all_guests_together_create_as_many_games_a_day_as_one_owner(pages):
    limits = Limits(games_created_per_day=2)
    page = Page(pages[0].store)
    page.use_cases = GameAssembly(page.store, page.accounts, limits).use_cases
    guests = [(await page.visit())[0] for _ in range(3)]
    for guest in guests[:2]:
        await page.sit(guest)
    with pytest.raises(errors.LimitExceeded) as refused:
        await page.sit(guests[2])
    assert refused.value.details["limit"] == "games_created_per_day"


async def test_a_name_and_a_version_never_mean_two_people(page):
    people = set()
    for _ in range(9):
        caller, _ = await page.visit()
        player = await page.use_cases.player(caller)
        people.add((player.bot, player.version))
    assert len(people) == 9


async def test_the_longest_idle_guest_goes_first(page):
    callers = [(await page.visit())[0] for _ in range(3)]
    for caller, time in zip(callers, (3000, 1000, 2000), strict=True):
        await page.set_last_use(caller, time)
    assert [(await page.visit())[0].bot for _ in range(3)] == [
        callers[1].bot,
        callers[2].bot,
        callers[0].bot,
    ]


async def test_a_guest_in_a_game_stays_while_another_is_in_none(page):
    (busy, secret), *others = [await page.visit() for _ in range(3)]
    game_id = await page.sit(busy)
    for time, (caller, _) in zip(count(1000, 1000), [(busy, secret), *others], strict=False):
        await page.set_last_use(caller, time)
    for _ in range(4):
        await page.visit()
    assert (await page.find(secret)) == busy
    assert (await page.use_cases.view(game_id)).stored.state == PLAYING


async def test_where_all_are_in_games_the_longest_idle_goes_and_its_games_end(page):
    guests = [await page.visit() for _ in range(3)]
    playing = [await page.sit(caller) for caller, _ in guests]
    waiting = await page.sit(guests[0][0], "local/not-here")
    for time, (caller, _) in enumerate(guests, 1000):
        await page.set_last_use(caller, time)
    newcomer, _ = await page.visit()
    assert newcomer.bot == guests[0][0].bot
    assert await page.find(guests[0][1]) is None
    assert await page.end_reason(waiting) == EndReason.END_REASON_CANCELLED
    assert (await page.use_cases.view(playing[1])).stored.state == PLAYING
    view = await page.use_cases.view(playing[0])
    assert view.stored.state == OVER
    assert (view.stored.seats[0].bot, view.stored.seats[0].bot_version) == (newcomer.bot, 1)
    assert (await page.use_cases.player(newcomer)).version == 2
    assert await page.use_cases.games_of(newcomer.bot) == []


async def test_a_guest_who_leaves_a_game_of_others_leaves_it_to_them(page):
    guest, *others = [(await page.visit())[0] for _ in range(3)]
    await page.set_last_use(guest, 1000)
    for other in others:
        await page.sit(other)
    new = NewGame("base", {}, (SeatPlan(), SeatPlan()), CASUAL, 3)
    game_id = (await page.use_cases.create(DEVELOPER, new, "")).game_id
    await page.use_cases.join(await page.use_cases.player(guest), game_id, 0, b"", "")
    assert (await page.visit())[0].bot == guest.bot
    view = await page.use_cases.view(game_id)
    assert view.stored.state == "waiting"
    assert view.open_seats() == [0, 1]


async def test_visits_at_two_processes_at_once_share_no_name(pages):
    found = await asyncio.gather(*(pages[n % 2].visit() for n in range(3)))
    assert len({caller.bot for caller, _ in found}) == 3
    for _ in range(5):
        # Eight at once for three names: who loses the race too often is told to try again.
        visits = (pages[n % 2].visit() for n in range(8))
        outcomes = await asyncio.gather(*visits, return_exceptions=True)
        found = [each for each in outcomes if not isinstance(each, errors.StoreUnavailable)]
        good = [caller.bot for caller, secret in found if await pages[0].find(secret)]
        assert len(good) == len(set(good)) <= 3
        now = await pages[0].accounts.tokens.store.now()
        tokens = await pages[0].accounts.tokens.store.list_by_owner("guest")
        assert len([each for each in tokens if not each.ended(now)]) == len(good)


async def test_a_registration_that_died_half_way_does_no_harm(page, monkeypatch):
    first = await page.visit()
    monkeypatch.setattr(page.accounts.guests, "give", None)
    for _ in range(3):
        with pytest.raises(TypeError):
            await page.visit()
    monkeypatch.undo()
    found = [first, *[await page.visit() for _ in range(3)]]
    good = [caller.bot for caller, secret in found if await page.find(secret)]
    assert sorted(good) == [f"guest/browser-{n}" for n in (1, 2, 3)]


async def test_only_the_cookie_of_a_guest_counts(page):
    issued = await page.accounts.issue_full_token("local", "test")
    local = await page.accounts.tokens.verify(issued.secret)
    await page.accounts.bots.create(local, "local/mine", "", "")
    assert await page.find(issued.secret) is None
    assert await page.find("himeji_nonsense") is None
    _, secret = await page.visit()
    assert await page.find(secret) is not None


async def test_new_guests_are_limited_by_address_and_in_all_at_all_processes(pages):
    rare = AccountLimits(guests=3, guests_per_minute=2, guests_in_all_per_minute=3)
    one, two = [Page(each.store, rare).players for each in pages]
    await one.register(HERE)
    await two.register(HERE)
    for players in (one, two):
        with pytest.raises(errors.RateLimited) as raised:
            await players.register(HERE)
        assert raised.value.details["limit"] == "guests_per_minute"
    await one.register("10.0.0.2")
    with pytest.raises(errors.RateLimited) as raised:
        await two.register("10.0.0.3")
    assert raised.value.details["limit"] == "guests_in_all_per_minute"


async def test_a_guest_is_in_so_many_games_at_once(page):
    caller, _ = await page.visit()
    games = [await page.sit(caller) for _ in range(2)]
    with pytest.raises(errors.LimitExceeded) as raised:
        await page.use_cases.check_may_sit(caller.bot)
    assert raised.value.details == {"limit": "games_per_guest", "allowed": "2"}
    with pytest.raises(errors.LimitExceeded):
        await page.sit(caller)
    other, _ = await page.visit()
    await page.sit(other)
    await page.use_cases.resign(caller, games[0], None)
    await page.sit(caller)


async def test_guests_play_for_no_rating(page):
    caller, _ = await page.visit()
    ladder = LadderProcess(page.store)
    with pytest.raises(errors.Forbidden, match="no rated games"):
        await ladder.queue_commands.enter(Player(caller.bot, 1), LADDER, 1)


async def test_what_development_mode_left_opens_nothing_in_other_modes(page):
    _, secret = await page.visit()
    await Accounts(page.store, FEW).prepare()
    assert await page.find(secret) is None
