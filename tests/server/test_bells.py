"""Bells: a change of a game rings at the processes that follow it, and at no others."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

from himeji_server.games import bells
from himeji_server.store import keys
from himeji_server.store.games import OVER

from tests.server.houses import act, begun, lowest, raw, sitter, wished

PATIENCE = 120.0


async def until(condition):
    async with asyncio.timeout(PATIENCE):
        while not await condition():  # noqa: ASYNC110 - of many kinds
            await asyncio.sleep(0.01)


@asynccontextmanager
async def listening(*houses):
    """What each of the houses hears of games while it listens."""
    heard = {house: [] for house in houses}
    for house in houses:
        pass_on = house.bells._pass_on

        def note(channel, words, house=house, pass_on=pass_on):
            if channel in house.games.bells and words != ["hello"]:
                heard[house].append(tuple(words))
            pass_on(channel, words)

        house.bells._pass_on = note
    tasks = [asyncio.create_task(house.bells.follow()) for house in houses]
    try:
        for house in houses:
            await until(lambda house=house: all_heard(house))
        yield heard
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def all_heard(house):
    """Whether somebody listens to each channel of a process, wherever it is."""
    return all([await raw(house, "SPUBLISH", each, "hello") for each in house.games.bells])


class Follower:
    """Somebody who follows a game."""

    def __init__(self, house, game_id):
        self._house, self._game_id = house, game_id
        self.versions = []

    async def come(self):
        await self._house.bells.hear(self._game_id)
        await self._house.ledger.table(self._game_id)
        self._house.bells.follow_game(self._game_id, self._see, lambda *_: None)
        return self

    def leave(self):
        self._house.bells.leave_game(self._game_id, self._see)

    def _see(self, table):
        if table.stored.version not in self.versions:
            self.versions.append(table.stored.version)


async def ears(house, game_id):
    found = await raw(house, "HGET", keys.game(game_id), "ears")
    return bytes(found or b"").decode().split()


async def test_a_change_rings_where_the_game_is_followed_and_nowhere_else(three):
    one, two, _ = three
    game_id = await begun(one)
    async with listening(*three) as heard:
        mine, theirs = await Follower(one, game_id).come(), await Follower(two, game_id).come()
        for _ in range(3):
            await act(one, game_id, lowest)
        await until(lambda: seen(theirs, 4))
        assert mine.versions == theirs.versions == [2, 3, 4]
        other = await begun(one)  # which nobody follows
        await act(one, other, lowest)
        await act(one, game_id, lowest)
        await until(lambda: seen(theirs, 5))
    assert [heard[house] for house in three] == [[], [(game_id, str(n)) for n in (2, 3, 4, 5)], []]


async def seen(follower, version):
    return version in follower.versions


async def test_a_seat_that_is_taken_or_left_rings_everywhere_it_is_followed(houses):
    one = houses[0]
    game_id = (await one.host.create(wished())).game_id
    async with listening(*houses) as heard:
        for house in houses:
            await Follower(house, game_id).come()
        await one.games.sit(game_id, [0], sitter(0))
        await one.games.stand_up(game_id, [0], sitter(0).bot)
        await until(lambda: rung_twice(heard))
    assert all(words == [(game_id, "0")] * 2 for words in heard.values())


async def rung_twice(heard):
    return all(len(words) == 2 for words in heard.values())


async def test_a_process_that_left_a_game_long_ago_is_rung_at_once_more(houses, monkeypatch):
    one, two = houses
    game_id = await begun(one)
    async with listening(*houses) as heard:
        follower = await Follower(two, game_id).come()
        follower.leave()
        two.bells._let_fade()
        await act(one, game_id, lowest)
        await until(lambda: rung(heard[two]))
        assert len(await ears(one, game_id)) == 1  # whoever asks by calls may come back
        monkeypatch.setattr(bells, "SECONDS_HEARD_ON", 0.0)
        two.bells._let_fade()
        await act(one, game_id, lowest)
        await until(lambda: deaf(one, game_id))
        await act(one, game_id, lowest)
        assert heard[two] == [(game_id, "2"), (game_id, "3")]


async def rung(heard):
    return bool(heard)


async def deaf(house, game_id):
    return not await ears(house, game_id)


async def test_a_bell_that_was_missed_is_made_up_for_and_the_next_one_rings(houses, monkeypatch):
    monkeypatch.setattr(bells, "SECONDS_BETWEEN_LOOKS", 0.05)
    one, two = houses
    game_id = await begun(one)
    async with listening(*houses) as heard:
        follower = await Follower(two, game_id).come()
        await raw(one, "HDEL", keys.game(game_id), "ears")  # as a lost primary may
        looking = asyncio.create_task(two.bells.look_around())
        await act(one, game_id, lowest)
        await until(lambda: seen(follower, 2))
        await until(lambda: listens(one, game_id))
        looking.cancel()
        assert heard[two] == []
        await act(one, game_id, lowest)
        await until(lambda: seen(follower, 3))
        assert heard[two] == [(game_id, "3")]


async def listens(house, game_id):
    return len(await ears(house, game_id)) == 1


async def test_who_follows_a_game_leaves_nothing_behind_after_its_end(houses):
    one, two = houses
    game_id = await begun(one)
    async with listening(*houses):
        follower = await Follower(two, game_id).come()
        bot = (await one.ledger.table(game_id)).stored.seats[0].bot
        await one.host.resign(game_id, bot, None)
        await until(lambda: seen(follower, 2))
        follower.leave()
        assert two.bells._rung == {}
        await one.games.compact(await one.games.load(game_id))
        assert await ears(one, game_id) == []
        late = await Follower(two, game_id).come()
        late.leave()
        assert (await two.ledger.table(game_id)).stored.state == OVER
        assert await ears(one, game_id) == []


async def test_asking_for_the_bells_of_no_game_makes_none(houses):
    one, _ = houses
    await one.bells.hear("none")
    assert await raw(one, "EXISTS", keys.game("none")) == 0


async def test_what_others_played_is_played_on_from_what_is_known(houses, monkeypatch):
    one, two = houses
    game_id = (await one.host.create(wished())).game_id
    known = await two.ledger.table(game_id)  # before its seats are taken
    for seat in range(2):
        await one.host.join(game_id, [seat], replace(sitter(seat), entropy=b"chosen by the bot"))
    for _ in range(20):
        await act(one, game_id, lowest)

    async def whole_log(_game_id):
        raise AssertionError("the whole log was read")

    monkeypatch.setattr(two.games, "load", whole_log)
    rung_before = two.rung[game_id]
    table = await two.ledger.table(game_id)
    assert table is known
    assert two.rung[game_id] == rung_before + 1
    mine = await one.ledger.table(game_id)
    assert table.play.dumps() == mine.play.dumps()
    assert (table.stored.version, table.stored.chain) == (21, mine.stored.chain)
    assert table.log == mine.log
    assert table.answers == mine.answers
    await act(two, game_id, lowest)
    assert (await one.ledger.table(game_id)).stored.version == 22


async def test_a_position_that_a_log_does_not_lead_to_voids_the_game_of_who_follows_it(houses):
    one, two = houses
    game_id = await begun(one)
    await two.ledger.table(game_id)
    for _ in range(10):
        await act(one, game_id, lowest)
    snapshot = await raw(one, "HGET", keys.game(game_id), "snapshot")
    version, _, position = snapshot.partition(b" ")
    assert 1 < int(version) <= 11
    await raw(one, "HSET", keys.game(game_id), "snapshot", version + b" x" + position)
    assert (await two.ledger.table(game_id)).stored.state == OVER
