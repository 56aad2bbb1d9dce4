"""The index of games: exact whatever happens to games, and read at a cost that does not grow."""

import asyncio
import random
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import product

import pytest
from himeji import rules
from himeji.rules.errors import HimejiError
from himeji.v1.game_pb2 import EndReason, SeatPlan, SeatPolicy
from himeji.wire.clock import CASUAL
from himeji_server.accounts.accounts import Accounts
from himeji_server.accounts.caller import Caller
from himeji_server.games.assembly import GameAssembly
from himeji_server.games.commands import NewGame
from himeji_server.games.live_game import LiveGame
from himeji_server.games.use_cases import GameFilter
from himeji_server.limits import AccountLimits, Limits
from himeji_server.store import game_index, index_migration, keys
from himeji_server.store.game_records import OVER, PLAYING, WAITING, SeatRequest
from structlog.testing import capture_logs

from tests.server.game_process import BOTS, act, begun, lowest, new_game, raw, seat_request
from tests.server.redis_client import raw_client

ADA = Caller("ada", "", frozenset())
BOUND = Caller("bob", "bob/b", frozenset())
STRANGER = Caller("", "", frozenset())
BUCKETS = range(keys.BUCKETS)
PLANS = (
    SeatPlan(policy=SeatPolicy.SEAT_POLICY_ANYONE),
    SeatPlan(policy=SeatPolicy.SEAT_POLICY_OWNER, name="ada"),
    SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name="bob/b"),
    SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name="bob/other"),
)
QUESTIONS = (
    GameFilter(),
    *(GameFilter(state=state) for state in (WAITING, PLAYING, OVER)),
    *(GameFilter(bot=bot) for bot in (*BOTS, "nobody/nobody")),
    *(GameFilter(owner=owner) for owner in ("ada", "bob", "nobody")),
    *(GameFilter(ladder=name) for name in ("base-2p", "none")),
    *(GameFilter(tournament=name) for name in ("cup", "none")),
    *(GameFilter(ruleset=name) for name in ("base", "matcha", "none")),
    GameFilter(joinable=True),
    GameFilter(state=PLAYING, bot=BOTS[0]),
    GameFilter(state=OVER, owner="bob", ladder="base-2p"),
    GameFilter(bot=BOTS[0], owner="bob", ruleset="base"),
    GameFilter(joinable=True, bot=BOTS[1]),
)


def use_cases_of(process, **limits):
    accounts = Accounts(process.store, AccountLimits(), dev=True)
    return GameAssembly(process.store, accounts, Limits(**limits)).use_cases


async def listed(use_cases, wanted, caller=ADA, page_size=7):
    """The games of all pages of a list, and how many of the pages were not full."""
    found, token, short = [], "", -1
    while True:
        page, token = await use_cases.list_games(caller, wanted, page_size, token)
        found += [view.game_id for view in page]
        short += len(page) < page_size
        if not token:
            return found, short


async def every_game(process, client):
    """All games that are stored, the newest first, found without the index."""
    names = [key.decode().rpartition(":")[2] for key in client.scan_iter("*:game:*")]
    views = [LiveGame.of(await process.games.head(name)).view for name in names]
    return sorted(views, key=lambda view: (view.stored.created, view.game_id), reverse=True)


async def check_index(process, client):
    """Every list has exactly the games that a search through all of them finds."""
    views, use_cases = await every_game(process, client), use_cases_of(process)
    for wanted, caller in product(QUESTIONS, (ADA, BOUND, STRANGER)):
        expected = [view.game_id for view in views if wanted.fits(view, caller)]
        assert (await listed(use_cases, wanted, caller))[0] == expected, wanted
    for wanted in QUESTIONS:
        if not wanted.joinable:  # games of it are in the list until they begin
            for terms, narrow in zip(wanted.lists(ADA), parts(wanted), strict=True):
                found, _ = await process.games.index.newest(terms, b"", 10_000)
                expected = [view.game_id for view in views if narrow.fits(view, ADA)]
                assert [game_index.game_at(each) for each in found] == expected, narrow
    live = {view.game_id for view in views if view.stored.state == WAITING}
    found, _ = await process.games.index.newest(game_index.joinable_terms("ada"), b"", 10_000)
    assert {game_index.game_at(each) for each in found} <= live


def parts(wanted):
    """A filter for each field of a filter."""
    names = ("state", "ruleset", "ladder", "tournament", "bot", "owner")
    given = {name: getattr(wanted, name) for name in names if getattr(wanted, name)}
    return [GameFilter(**{name: value}) for name, value in given.items()] or [GameFilter()]


# --- exactness --------------------------------------------------------------------------------


@pytest.fixture
def client(one):
    """A plain client of the Redis of the processes."""
    with raw_client(one.store.display_url) as opened:
        yield opened


class Wanderer:
    """Does random things to games through one process."""

    def __init__(self, process, seed, games):
        self._process = process
        self._chance = random.Random(seed)
        self._games = games

    async def wander(self, steps):
        """Do so many things; some are broken off at a random moment, as if the process died."""
        for _ in range(steps):
            deed = asyncio.create_task(self._do())
            if self._chance.random() < 0.3:
                for _ in range(self._chance.randrange(12)):
                    await asyncio.sleep(0)
                deed.cancel()
            with suppress(HimejiError, asyncio.CancelledError):
                await deed
        for bucket in BUCKETS:  # what was sent before is done then, though nobody waited for it
            await raw(self._process, "EXISTS", keys.game_index(bucket))

    async def _do(self):
        choose, process = self._chance.choice, self._process
        if len(self._games) < 12 or self._chance.random() < 0.1:
            return await self._create()
        game_id, bot = choose(self._games), choose(BOTS)
        request = SeatRequest(bot, 1, b"", "")
        deeds = {
            "join": lambda: process.commands.join(game_id, range(2), request),
            "sit": lambda: process.games.take_seat(game_id, range(2), request),  # not begun
            "leave": lambda: process.commands.resign(game_id, bot, None),
            "act": lambda: self._act(game_id),
            "cancel": lambda: process.commands.cancel(game_id),
            "end": lambda: process.commands.end(game_id, EndReason.END_REASON_NO_CONTEST),
            "damage": lambda: self._damage(game_id),
        }
        kinds = ["join"] * 6 + ["sit", "leave", "leave", "act", "act", "cancel", "end", "damage"]
        return await deeds[choose(kinds)]()

    async def _create(self):
        choose = self._chance.choice
        plans = tuple(choose((PLANS[0], *PLANS)) for _ in range(2))
        new = NewGame(
            *(choose(["base", "matcha"]), {}, plans, CASUAL, 3),
            ladder=choose(["", "base-2p"]),
            tournament=choose(["", "cup"]),
        )
        game_id = f"{self._chance.getrandbits(80):020x}"
        self._games.append(game_id)
        await self._process.commands.create(new, game_id)

    async def _act(self, game_id):
        if (await self._process.live_games.view(game_id)).stored.state == PLAYING:
            await act(self._process, game_id, lowest)

    async def _damage(self, game_id):
        """Lose a part of the log: whoever reads the game next ends it."""
        await raw(self._process, "XTRIM", keys.log(game_id), "MAXLEN", 1)
        self._process.live_games.drop(game_id)
        await self._process.live_games.view(game_id)


@pytest.mark.parametrize("seed", range(3))
async def test_lists_have_exactly_the_games_that_belong_into_them(three, client, seed):
    games = []
    wanderers = [Wanderer(process, 10 * seed + n, games) for n, process in enumerate(three)]
    await asyncio.gather(*(each.wander(60) for each in wanderers))
    await check_index(three[0], client)
    states = Counter(view.stored.state for view in await every_game(three[0], client))
    assert all(states[state] for state in (WAITING, PLAYING, OVER))


async def test_a_bot_that_leaves_one_of_two_seats_is_still_in_the_list(one, client):
    game_id = (await one.commands.create(new_game(seats=4))).game_id
    for bot in ("ada/a", "ada/a", "ada/other"):
        await one.games.take_seat(game_id, range(4), SeatRequest(bot, 1, b"", ""))
    by_bot, by_owner = GameFilter(bot="ada/a"), GameFilter(owner="ada")
    use_cases = use_cases_of(one)
    for seat, bots, owners in ((0, 1, 1), (1, 0, 1)):
        await one.games.leave_seats(game_id, [seat], "ada/a")
        assert len((await listed(use_cases, by_bot))[0]) == bots
        assert len((await listed(use_cases, by_owner))[0]) == owners
    await one.games.leave_seats(game_id, [2], "ada/other")
    await check_index(one, client)


async def test_games_of_one_instant_are_listed_once_each_however_many(one):
    term = game_index.term("state", OVER)
    made = [f"x{n:03}" for n in range(90)]
    for n, game_id in enumerate(made):  # the newer ones in one bucket, more than a page
        entry = term + (1_000 + n // 40).to_bytes(game_index.TIME_BYTES) + game_id.encode()
        await raw(one, "ZADD", keys.game_index(0 if n > 30 else n % 7), 0, entry)
    for size in (1, 7, 80, 500):
        found, place, is_last = [], b"", False
        while not is_last:
            part, is_last = await one.games.index.newest([term], place, size)
            assert len(part) <= size
            found, place = found + part, part[-1]
        assert [game_index.game_at(each) for each in found] == sorted(made, key=_age, reverse=True)


def _age(game_id):
    return int(game_id[1:]) // 40, game_id


async def test_a_list_shows_all_of_a_game_but_its_position_whatever_its_ruleset(one):
    for name in rules.RULESETS:
        plans = (SeatPlan(),) * max(rules.ruleset(name).seat_counts)
        game_id = (await one.commands.create(NewGame(name, {}, plans, CASUAL, 3))).game_id
        for seat in range(len(plans)):
            await one.commands.join(game_id, [seat], seat_request(seat))
        await act(one, game_id, lowest)
        await one.commands.resign(game_id, BOTS[0], None)
        positions, _ = await one.games.index.newest(game_index.ALL_GAMES, b"", 1)
        head = await one.games.head(game_id)
        assert await one.games.summaries(positions) == [replace(head, snapshot=None)]


# --- cost -------------------------------------------------------------------------------------


class CountedCalls:
    """Counts the commands that a store is sent."""

    def __init__(self, store, monkeypatch):
        self.count = 0
        self._kills = {}
        send = store.sender.send

        def counted(command, receiver):
            self.count += 1
            send(command, receiver)
            if self.count in self._kills:
                self._kills[self.count].cancel()

        monkeypatch.setattr(store.sender, "send", counted)

    def kill(self, task, after):
        """Break a task off when so many more commands were sent."""
        self._kills[self.count + after] = task

    async def of(self, awaitable):
        before = self.count
        await awaitable
        return self.count - before


async def ended(process, count, bots=BOTS[2:]):
    """Games that are over."""

    async def one_game():
        game_id = (await process.commands.create(new_game())).game_id
        for bot in bots:
            await process.games.take_seat(game_id, range(2), SeatRequest(bot, 1, b"", ""))
        await process.commands.end(game_id, EndReason.END_REASON_NO_CONTEST)

    for _ in range(0, count, 50):
        await asyncio.gather(*(one_game() for _ in range(min(count, 50))))


async def test_what_a_page_costs_does_not_grow_with_the_games_of_others(one, two, monkeypatch):
    for _ in range(3):
        await begun(one)
        await one.commands.create(new_game())
    use_cases = use_cases_of(one)
    questions = (
        *(GameFilter(state=PLAYING), GameFilter(state=WAITING), GameFilter(joinable=True)),
        *(GameFilter(bot="nobody/nobody"), GameFilter(bot=BOTS[0]), GameFilter(owner="ada")),
        *(GameFilter(ladder="base-2p"), GameFilter(tournament="cup")),
        *(GameFilter(bot=BOTS[0], state=PLAYING), GameFilter(bot=BOTS[0], ruleset="base")),
    )
    calls = CountedCalls(one.store, monkeypatch)

    async def costs():
        return [await calls.of(use_cases.list_games(ADA, each, 0, "")) for each in questions]

    await ended(two, 10)
    few = await costs()
    await ended(two, 400)
    for question, before, after in zip(questions, few, await costs(), strict=True):
        assert after <= before, question
    assert max(few) < 200


async def test_a_page_reads_a_limited_number_of_games_and_the_next_goes_on(one, monkeypatch):
    ours = [await begun(one) for _ in range(25)]
    await ended(one, 25)
    use_cases = use_cases_of(one, games_read_per_page=10)
    nothing = GameFilter(bot=BOTS[0], owner="eve")  # both have games, but not together
    calls = CountedCalls(one.store, monkeypatch)
    assert await calls.of(use_cases.list_games(ADA, nothing, 0, "")) < 64 + 10 + 20
    page, token = await use_cases.list_games(ADA, nothing, 0, "")
    assert not page
    assert token
    found, short = await listed(use_cases, nothing)
    assert (found, short) == ([], 2)
    page, token = await use_cases.list_games(ADA, GameFilter(bot=BOTS[0]), 500, "")
    assert [view.game_id for view in page] == ours[:-11:-1]
    assert (await listed(use_cases, GameFilter(bot=BOTS[0]), page_size=500))[0] == ours[::-1]


# --- games of older versions ------------------------------------------------------------------


async def make_old(process, client):
    """Store the games as a version before 0.3.0 did: with a list for each bucket, and no index."""
    for view in await every_game(process, client):
        key = keys.games_to_index(keys.bucket_of(view.game_id))
        await raw(process, "ZADD", key, view.stored.created, view.game_id)
    for bucket in BUCKETS:
        await raw(process, "DEL", keys.game_index(bucket))


async def left_to_index(process):
    return sum([await raw(process, "ZCARD", keys.games_to_index(bucket)) for bucket in BUCKETS])


async def test_games_of_an_older_version_are_indexed_once_and_it_says_so(one, two, client):
    games = []
    await Wanderer(one, 5, games).wander(80)
    await make_old(one, client)
    await raw(one, "ZADD", keys.games_to_index(5), 1, "gone")
    assert (await listed(use_cases_of(one), GameFilter()))[0] == []
    with capture_logs() as lines:
        await index_migration.index_older_games(two.store)
    count = len(await every_game(one, client)) + 1
    assert [line["games"] for line in lines] == [count, count]
    await check_index(one, client)
    assert await left_to_index(one) == 0
    with capture_logs() as lines:
        await index_migration.index_older_games(two.store)
    assert lines == []


async def test_an_indexing_that_is_killed_goes_on_and_games_may_be_played_meanwhile(
    three, client, monkeypatch
):
    monkeypatch.setattr(index_migration, "_GAMES_AT_ONCE", 1)
    one, two, other = three
    games = []
    await Wanderer(one, 6, games).wander(80)
    await make_old(one, client)
    count, calls = await left_to_index(one), CountedCalls(two.store, monkeypatch)
    for commands in (1, 2, 3, 4, 5, 20):
        indexing = asyncio.create_task(index_migration.index_older_games(two.store))
        calls.kill(indexing, after=keys.BUCKETS + commands)
        await asyncio.wait([indexing])
        assert indexing.cancelled()
    assert 0 < await left_to_index(one) < count
    await asyncio.gather(
        Wanderer(other, 7, games).wander(60),
        *(index_migration.index_older_games(process.store) for process in (one, two)),
    )
    await check_index(one, client)


async def test_a_game_that_changed_since_it_was_read_is_not_indexed_as_it_was(one):
    game_id = await begun(one)
    bucket = keys.bucket_of(game_id)
    await raw(one, "DEL", keys.game_index(bucket))
    head = await one.games.head(game_id)
    entries = game_index.all_entries(head.header, WAITING, BOTS[:2])
    for state, bots in ((WAITING, BOTS[:2]), (PLAYING, BOTS[:1])):
        arguments = (game_id, state, " ".join(bots), entries)
        touched = [keys.game(game_id), keys.game_index(bucket)]
        assert await one.store.run(index_migration.INDEX_GAME, touched, *arguments) == 0
    assert not await raw(one, "EXISTS", keys.game_index(bucket))
