"""Games on a real Redis, played by two hosts that share it as two processes would."""

import asyncio
import random
import time
from collections import Counter
from dataclasses import replace

import himeji
import pytest
from himeji.rules import errors
from himeji.rules.chance import Recorded
from himeji.v1.game_pb2 import EndReason, StopReason
from himeji.v1.game_service_pb2 import GameUpdate, LogCause
from himeji.wire import verification
from himeji.wire.clock import CASUAL, Clock
from himeji_server.games import live_games
from himeji_server.games.messages import replay_message, write_clocks
from himeji_server.games.store_clock import StoreClock
from himeji_server.store import keys
from himeji_server.store.game_records import (
    OVER,
    PLAYING,
    WAITING,
    Creator,
    SeatRequest,
    SeatStatus,
)

from tests.server.game_process import (
    BOTS,
    GameProcess,
    act,
    begun,
    lowest,
    new_game,
    raw,
    seat_request,
)
from tests.server.replays import faults_of

PATIENCE = 120.0


def at_random(seed):
    chooser = random.Random(seed)
    return lambda play: [chooser.choice(play.legal())]


async def played_out(game_id, *processes, choose=lowest):
    """Play to the end, each answer by the next process; the game."""
    for number in range(2_000):
        process = processes[number % len(processes)]
        table = await process.live_games.view(game_id)
        if table.stored.state == OVER:
            return table
        if table.stored.seats[table.stored.seat].lost:
            await process.timers.sweep()
        else:
            await act(process, game_id, choose)
    raise AssertionError("the game does not end")


async def until_over(process, game_id):
    """Sweep until a game is over."""
    async with asyncio.timeout(PATIENCE):
        while (table := await process.live_games.view(game_id)).stored.state != OVER:
            await process.timers.sweep()
            await asyncio.sleep(0.01)
    return table


async def until_time(process, time):
    async with asyncio.timeout(PATIENCE):
        while await process.games.now() <= time:  # noqa: ASYNC110 - nobody rings for the time
            await asyncio.sleep(0.01)


def replay_of(table):
    return replay_message(table, himeji.__version__)


def seat_reasons(table):
    result = replay_of(table).game.result
    return [EndReason.Name(seat.end_reason).removeprefix("END_REASON_") for seat in result.seats]


def end_reason(table):
    return EndReason.Name(replay_of(table).game.result.end_reason).removeprefix("END_REASON_")


def ranks(table):
    return [seat.rank for seat in replay_of(table).game.result.seats]


# --- whole games ------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [2, 3, 4])
async def test_two_hosts_play_one_game_by_turns_and_its_replay_verifies(one, two, seats):
    game_id = await begun(one, seats)
    table = await played_out(game_id, one, two, choose=at_random(seats))
    assert end_reason(table) == "FINISHED"
    assert faults_of(replay_of(table)) == []
    assert faults_of(replay_of(await one.live_games.view(game_id))) == []
    assert table.stored.chain == (await two.games.load(game_id)).chain


async def test_a_game_stands_in_the_outbox_once_with_its_last_version(one, two):
    game_id = await begun(one)
    table = await played_out(game_id, one, two)
    await one.timers.sweep()
    await two.timers.sweep()
    entries = await raw(one, "XRANGE", keys.outbox(keys.bucket_of(game_id)), "-", "+")
    assert [fields for _, fields in entries] == [
        [b"game", game_id.encode(), b"version", b"%d" % table.stored.version]
    ]


async def test_after_the_end_nothing_is_due_for_a_while(one):
    game_id = await begun(one)
    await played_out(game_id, one)
    assert await one.timers.sweep() == 0
    assert await raw(one, "EXISTS", keys.log(game_id)) == 1


async def memory(process, *names):
    return sum([await raw(process, "MEMORY", "USAGE", name) or 0 for name in names])


async def test_a_game_that_is_over_is_made_smaller_and_stays_whole(one, two, monkeypatch):
    monkeypatch.setattr("himeji_server.store.game_commit.COMPACT_AFTER", 0)
    game_id = await begun(one)
    table = await played_out(game_id, one, choose=at_random(1))
    names, before = (keys.game(game_id), keys.log(game_id)), replay_of(table)
    size = await memory(one, *names)
    assert await two.timers.sweep() == 1
    assert await raw(one, "EXISTS", keys.log(game_id)) == 0
    assert await memory(one, *names) < size
    for process in (one, two):
        assert replay_of(await process.live_games.view(game_id)) == before
        assert await process.timers.sweep() == 0
    with pytest.raises(errors.GameEnded):
        await act(two, game_id, lambda _: [0])


async def test_a_game_whose_log_is_broken_is_not_made_smaller(one, two):
    game_id = await begun(one)
    await played_out(game_id, one)
    await raw(one, "XDEL", keys.log(game_id), "3-0")
    bucket = keys.timers(keys.bucket_of(game_id))
    await raw(one, "ZADD", bucket, 0, game_id)
    assert await two.timers.sweep() == 1
    assert await raw(one, "EXISTS", keys.log(game_id)) == 1
    assert await raw(one, "ZCARD", bucket) == 0


# --- answering --------------------------------------------------------------------------------


async def test_the_same_answer_by_two_hosts_at_once_is_played_once(one, two):
    game_id = await begun(one)
    for _ in range(20):
        table = await one.live_games.view(game_id)
        await two.live_games.view(game_id)
        stored, actions = table.stored, lowest(table.copy())
        bot = stored.seats[stored.seat].bot
        receipts = await asyncio.gather(
            *(process.answer(game_id, bot, stored.decision, actions) for process in (one, two))
        )
        assert sorted(receipt.duplicate for receipt in receipts) == [False, True]
        assert receipts[0].entry == receipts[1].entry
        assert (await one.live_games.view(game_id)).stored.version == stored.version + 1


async def test_of_two_answers_at_once_one_stands_and_the_other_is_told_which(one, two):
    game_id, other = await begun(one), 0
    for _ in range(40):
        table = await one.live_games.view(game_id)
        await two.live_games.view(game_id)
        stored, legal = table.stored, table.legal()
        bot = stored.seats[stored.seat].bot
        outcomes = await asyncio.gather(
            one.answer(game_id, bot, stored.decision, [legal[0]]),
            two.answer(game_id, bot, stored.decision, [legal[-1]]),
            return_exceptions=True,
        )
        if len(legal) == 1:
            continue
        other += 1
        [refused] = [each for each in outcomes if isinstance(each, errors.AlreadyDecided)]
        [receipt] = [each for each in outcomes if each is not refused]
        assert refused.details["played"] == str(receipt.actions[0])
    assert other


async def test_an_answer_can_be_repeated_at_any_time_even_after_the_end(one, two):
    game_id = await begun(one)
    table = await one.live_games.view(game_id)
    decision, actions = table.stored.decision, lowest(table.copy())
    bot = table.stored.seats[table.stored.seat].bot
    first = await one.answer(game_id, bot, decision, actions)
    await played_out(game_id, one, two)
    for process in (one, two):
        again = await process.answer(game_id, bot, decision, actions)
        assert (again.entry, again.actions, again.duplicate) == (first.entry, first.actions, True)
    with pytest.raises(errors.AlreadyDecided):
        await two.answer(game_id, bot, decision, [*actions, 0])


async def test_a_decision_that_is_not_open_is_stale_and_one_of_another_seat_is_not_ones_own(one):
    game_id = await begun(one)
    stored = (await one.live_games.view(game_id)).stored
    asked, other = stored.seats[stored.seat].bot, stored.seats[1 - stored.seat].bot
    with pytest.raises(errors.StaleDecision) as stale:
        await one.answer(game_id, asked, stored.decision + 5, [0])
    assert stale.value.details["decision_id"] == str(stored.decision)
    with pytest.raises(errors.NotYourDecision) as foreign:
        await one.answer(game_id, other, stored.decision, [0])
    assert foreign.value.details["seat"] == str(stored.seat)
    with pytest.raises(errors.NotYourDecision):
        await one.answer(game_id, "eve/nobody", stored.decision, [0])
    with pytest.raises(errors.InvalidRequest):
        await one.answer(game_id, asked, stored.decision, [])
    assert (await one.live_games.view(game_id)).stored.version == stored.version


async def test_a_host_with_an_old_memory_answers_by_the_store(one, two):
    game_id = await begun(one)
    stored = (await two.live_games.view(game_id)).stored  # what the second host remembers
    bot = stored.seats[stored.seat].bot
    first = await act(one, game_id, lowest)
    again = await two.answer(game_id, bot, stored.decision, list(first.actions))
    assert again.duplicate


async def test_an_illegal_answer_to_a_decision_that_was_answered_elsewhere_is_no_strike(one, two):
    game_id = await begun(one)
    table = await two.live_games.view(game_id)
    stored = table.stored
    illegal = next(a for a in range(500) if a not in table.legal())
    await act(one, game_id, lowest)
    with pytest.raises(errors.AlreadyDecided):
        await two.answer(game_id, stored.seats[stored.seat].bot, stored.decision, [illegal])
    assert [seat.strikes for seat in (await one.live_games.view(game_id)).stored.seats] == [0, 0]


@pytest.mark.parametrize("fate", ["its client is gone", "its store is new"])
async def test_whoever_is_interrupted_while_answering_leaves_the_game_whole(one, two, fate):
    game_id = await begun(one)
    for ticks in range(30):
        table = await one.live_games.view(game_id)
        stored, actions = table.stored, lowest(table.copy())
        bot = stored.seats[stored.seat].bot
        if fate == "its store is new":
            await raw(one, "SCRIPT", "FLUSH")  # so that the commit takes two commands
        answering = asyncio.create_task(one.answer(game_id, bot, stored.decision, actions))
        for _ in range(ticks):
            await asyncio.sleep(0)
        answering.cancel()
        await asyncio.gather(answering, return_exceptions=True)
        again = await one.answer(game_id, bot, stored.decision, actions)
        assert again.actions == tuple(actions)
        assert again.entry.version == stored.version + 1
    assert faults_of(replay_of(await played_out(game_id, two, one))) == []


# --- planned turns ----------------------------------------------------------------------------


def plan_ahead(chooser, most):
    """A plan of legal actions, played out in a copy that has the same chance."""

    def choose(play):
        twin, plan, seat = play.clone(), [], play.to_move
        while len(plan) < most and twin.to_move == seat:
            plan.append(chooser.choice(twin.legal()))
            twin.apply(plan[-1])
        return plan

    return choose


def how_far(play, plan):
    """By the sentence in the contract: what is played of a plan, and why no more."""
    play.chance = Recorded(play.chance)
    seat, played = play.to_move, []
    for action in plan:
        if play.over:
            return played, "STOP_REASON_GAME_OVER"
        if play.to_move != seat:
            return played, "STOP_REASON_NOT_YOUR_DECISION"
        if action not in play.legal():
            return played, "STOP_REASON_ILLEGAL_ACTION"
        play.apply(action)
        played.append(action)
        if play.chance.results and len(played) < len(plan):
            return played, "STOP_REASON_CHANCE_REVEALED"
    return played, "STOP_REASON_ALL_PLAYED"


async def test_a_plan_is_played_as_far_as_it_is_legal_ones_own_and_without_chance(one, two):
    chooser, seen = random.Random(5), set()
    reasons = set(StopReason.keys()) - {"STOP_REASON_UNSPECIFIED"}
    for number in range(60):  # chance is the game's own, so that nobody knows how many it takes
        if seen == reasons:
            break
        game_id = await begun((one, two)[number % 2], 2 + number % 3)
        for _ in range(2_000):
            table = await one.live_games.view(game_id)
            if table.stored.state == OVER:
                break
            plan = plan_ahead(chooser, chooser.randint(1, 6))(table.copy())
            plan += chooser.choice([[], [chooser.choice(plan)], [10**6]])
            twin = table.copy().clone()
            played, stop = how_far(twin, plan)
            receipt = await act(one, game_id, lambda _play, plan=plan: plan)
            assert (list(receipt.actions), StopReason.Name(receipt.stop)) == (played, stop)
            assert (await one.live_games.view(game_id)).copy().dumps() == twin.dumps()
            seen.add(stop)
        assert faults_of(replay_of(await two.live_games.view(game_id))) == []
    assert seen == reasons


async def test_a_plan_can_be_repeated_whole_and_nothing_else_passes_for_it(one, two):
    game_id, chooser = await begun(one), random.Random(3)
    seen = set()
    while len(seen) < 2:
        table = await one.live_games.view(game_id)
        stored = table.stored
        assert stored.state == PLAYING
        bot = stored.seats[stored.seat].bot
        plan = [*plan_ahead(chooser, 3)(table.copy()), *chooser.choice([[], [10**6]])]
        receipt = await one.answer(game_id, bot, stored.decision, plan)
        whole = receipt.stop == StopReason.STOP_REASON_ALL_PLAYED
        again = await two.answer(game_id, bot, stored.decision, plan)
        assert (again.duplicate, again.stop, again.entry) == (True, receipt.stop, receipt.entry)
        played = list(receipt.actions)
        for other in ([*played, 1] if whole else played, played[:-1] or [10**6], [10**6, *plan]):
            with pytest.raises(errors.AlreadyDecided):
                await two.answer(game_id, bot, stored.decision, other)
        seen.add(whole)


# --- strikes ----------------------------------------------------------------------------------


async def illegal_answer(process, game_id, action=None):
    table = await process.live_games.view(game_id)
    stored = table.stored
    illegal = next(a for a in range(500) if a not in table.legal())
    wrong = illegal if action is None else action
    with pytest.raises((errors.IllegalAction, errors.UnknownAction)):
        await process.answer(game_id, stored.seats[stored.seat].bot, stored.decision, [wrong])
    return stored.seat


async def test_illegal_and_unknown_answers_are_strikes_and_the_last_one_ends_the_part(one, two):
    game_id = await begun(one)
    seat = await illegal_answer(one, game_id)
    await illegal_answer(two, game_id, action=10**6)
    for process in (one, two, one):  # retries of either
        await illegal_answer(process, game_id)
        await illegal_answer(process, game_id, action=10**6)
    stored = (await one.live_games.view(game_id)).stored
    assert (stored.state, stored.seats[seat].strikes) == (PLAYING, 2)
    await illegal_answer(one, game_id, action=10**6 + 1)
    table = await two.live_games.view(game_id)
    assert table.stored.state == OVER
    assert seat_reasons(table)[seat] == "STRIKES"
    assert seat_reasons(table)[1 - seat] == "OUTLASTED"
    assert faults_of(replay_of(table)) == []


async def test_the_same_illegal_answer_to_another_decision_is_another_strike(one, two):
    game_id = await begun(one, strikes=100)
    first = await illegal_answer(one, game_id, action=10**6)
    for _ in range(200):
        await act(one, game_id, lowest)
        if (stored := (await one.live_games.view(game_id)).stored).seat == first:
            break
    for number in range(2):
        await illegal_answer(two, game_id, action=10**6)
        await illegal_answer(two, game_id, action=10**6 + number)
    assert (await one.live_games.view(game_id)).stored.seats[first].strikes == 3
    assert stored.seats[first].strikes == 1


async def test_a_seat_is_lost_by_strikes_even_if_whoever_counted_the_last_one_died(one, two):
    game_id = await begun(one, clock=None)
    stored = (await one.live_games.view(game_id)).stored
    for answer in "abc":  # a process that counts, and dies before it can end the seat's part
        await one.games.count_strike(game_id, stored.decision, stored.seat, answer, 3)
    table = await until_over(two, game_id)
    assert seat_reasons(table)[stored.seat] == "STRIKES"


# --- giving up, and the stand-in --------------------------------------------------------------


async def test_who_resigns_of_two_ends_the_game(one, two):
    game_id = await begun(one)
    await act(one, game_id, lowest)
    table = await two.commands.resign(game_id, BOTS[0], None)
    assert (end_reason(table), seat_reasons(table)) == ("OUTLASTED", ["RESIGNED", "OUTLASTED"])
    assert ranks(table) == [2, 1]
    assert faults_of(replay_of(table)) == []
    again = await one.commands.resign(game_id, BOTS[0], None)
    assert again.stored.version == table.stored.version


@pytest.mark.parametrize("seats", [3, 4])
async def test_a_lost_seat_is_played_on_by_the_stand_in_and_ranks_last(one, two, seats):
    game_id = await begun(one, seats)
    for _ in range(7):
        await act(one, game_id, lowest)
    await one.commands.resign(game_id, BOTS[1], None)
    table = await played_out(game_id, one, two, choose=at_random(1))
    assert end_reason(table) == "FINISHED"
    assert seat_reasons(table)[1] == "RESIGNED"
    assert ranks(table)[1] == seats
    causes = Counter(entry.cause for entry in replay_of(table).log)
    assert causes[LogCause.LOG_CAUSE_STAND_IN] > 0
    assert faults_of(replay_of(table)) == []


async def test_of_two_lost_seats_the_one_lost_earlier_ranks_last(one, two):
    game_id = await begun(one, 4)
    await one.commands.resign(game_id, BOTS[3], None)
    await two.commands.resign(game_id, BOTS[0], None)
    table = await played_out(game_id, one, two)
    assert (ranks(table)[3], ranks(table)[0]) == (4, 3)
    assert faults_of(replay_of(table)) == []


async def test_who_is_left_alone_of_three_has_won(one, two):
    game_id = await begun(one, 3)
    await one.commands.resign(game_id, BOTS[2], None)
    table = await two.commands.resign(game_id, BOTS[0], None)
    assert end_reason(table) == "OUTLASTED"
    assert ranks(table) == [2, 1, 3]
    assert seat_reasons(table) == ["RESIGNED", "OUTLASTED", "RESIGNED"]
    assert faults_of(replay_of(table)) == []


async def test_a_resignation_of_a_seat_that_is_not_asked_leaves_the_open_decision_open(one):
    game_id = await begun(one, 3)
    before = (await one.live_games.view(game_id)).stored
    other = (before.seat + 1) % 3
    await one.commands.resign(game_id, BOTS[other], None)
    after = (await one.live_games.view(game_id)).stored
    assert (after.decision, after.seat, after.asked) == (before.decision, before.seat, before.asked)
    assert after.version == before.version + 1
    await act(one, game_id, lowest)


async def test_a_lost_seat_is_told_so_and_how(one, two):
    game_id = await begun(one, 3)
    stored = (await one.live_games.view(game_id)).stored
    bot = stored.seats[stored.seat].bot
    await one.commands.resign(game_id, bot, None)
    for process in (one, two):
        with pytest.raises(errors.SeatLost) as lost:
            await process.answer(game_id, bot, stored.decision, [0])
        assert lost.value.details["end_reason"] == "RESIGNED"
        assert lost.value.details["seat"] == str(stored.seat)


# --- clocks -----------------------------------------------------------------------------------


async def test_the_receipts_add_up_to_what_is_left(one, two):
    clock = Clock(60_000, 700)
    game_id = await begun(one, 3, clock=clock)
    table = await played_out(game_id, one, two, choose=plan_ahead(random.Random(2), 3))
    left = [60_000] * 3
    asked = None
    for entry, line in zip(table.log, replay_of(table).log, strict=True):
        if line.cause == LogCause.LOG_CAUSE_ANSWER:
            assert entry.charged == entry.time - asked
            assert entry.added == 700 * len(line.actions)
            counted = clock.after_answer(left[line.seat], entry.charged, len(line.actions))
            left[line.seat] += entry.added - entry.charged
            assert counted == left[line.seat]
            assert entry.left == left[line.seat]
            assert line.charged.ToMilliseconds() == entry.charged
        asked = entry.time
    assert [seat.left for seat in (await one.games.load(game_id)).seats] == left


async def test_an_untimed_game_has_no_receipts_and_no_flag(one):
    game_id = await begun(one, clock=None)
    receipt = await act(one, game_id, lowest)
    assert (receipt.entry.charged, receipt.entry.added, receipt.entry.left) == (0, 0, 0)
    assert await raw(one, "ZCARD", keys.timers(keys.bucket_of(game_id))) == 0


@pytest.mark.parametrize(("connected", "expected"), [(True, "TIMEOUT"), (False, "DISCONNECTED")])
async def test_a_flag_falls_by_any_host_and_says_whether_the_bot_was_there(
    one, two, connected, expected
):
    game_id = await begun(one, clock=Clock(1, 0))
    stored = (await one.live_games.view(game_id)).stored
    if connected:
        await one.presence.connect(stored.seats[stored.seat].bot, "stream")
    table = await until_over(two, game_id)
    assert seat_reasons(table)[stored.seat] == expected
    assert faults_of(replay_of(table)) == []
    [fallen] = [entry for entry in table.log if entry.version == table.stored.version]
    assert (fallen.charged, fallen.left) == (1, 0)  # what was left, and not more


async def test_a_person_at_the_page_is_slow_and_not_disconnected(one):
    game_id = (await one.commands.create(new_game(clock=Clock(1, 0)))).game_id
    for bot in ("guest/browser-1", "guest/browser-2"):
        await one.commands.join(game_id, range(2), SeatRequest(bot, 1, b"", ""))
    table = await until_over(one, game_id)
    assert sorted(seat_reasons(table)) == ["OUTLASTED", "TIMEOUT"]


async def test_an_answer_after_the_flag_is_not_played_by_whomever_it_comes_to(one, two):
    game_id = await begun(one, clock=Clock(1, 0))
    table = await one.live_games.view(game_id)
    stored = table.stored
    await until_time(one, stored.asked + 1)
    with pytest.raises(errors.SeatLost) as lost:
        await act(two, game_id, lowest)
    assert lost.value.details["end_reason"] == "DISCONNECTED"
    table = await one.live_games.view(game_id)
    assert (table.stored.state, end_reason(table)) == (OVER, "OUTLASTED")


@pytest.mark.parametrize("clock", [CASUAL, None], ids=["timed", "untimed"])
async def test_a_flag_does_not_fall_before_its_time(one, two, clock):
    game_id = await begun(one, clock=clock)
    await raw(one, "ZADD", keys.timers(keys.bucket_of(game_id)), 1, game_id)  # a hasty timer
    await two.timers.sweep()
    assert (await one.live_games.view(game_id)).stored.state == PLAYING


class Jumping:
    """A clock that runs with this machine's monotonic one, and can be set."""

    def __init__(self):
        self.jump = 0.0

    def __call__(self):
        return time.monotonic() + self.jump


async def left_of_the_asked(process, game_id):
    """The milliseconds that the seat to act has left, as they are shown."""
    view, out = await process.live_games.view(game_id), GameUpdate()
    write_clocks(view, out, process.live_games.clock.now())
    return out.clocks.left[view.stored.seat].ToMilliseconds()


HOUR = 3_600.0


@pytest.mark.parametrize("hours", [1, 24 * 3650])
async def test_clocks_are_shown_right_after_the_time_of_day_jumped(one, monkeypatch, hours):
    game_id = await begun(one, clock=Clock(600_000, 0))
    day, day_ns = time.time, time.time_ns
    monkeypatch.setattr(time, "time", lambda: day() + hours * HOUR)
    monkeypatch.setattr(time, "time_ns", lambda: day_ns() + int(hours * HOUR * 1e9))
    assert 600_000 - PATIENCE * 1_000 < await left_of_the_asked(one, game_id) <= 600_000


@pytest.mark.parametrize("hours", [1, -1])
async def test_a_sweep_sets_the_clock_by_the_store_after_every_jump(one, hours):
    monotonic = Jumping()
    process = GameProcess(one.store, StoreClock(monotonic))
    await process.timers.sweep()
    monotonic.jump = hours * HOUR  # as after a pause of the whole machine
    off = process.live_games.clock.now() - await one.games.now()
    assert abs(off - hours * HOUR * 1_000) < PATIENCE * 1_000
    await process.timers.sweep()
    assert abs(process.live_games.clock.now() - await one.games.now()) < PATIENCE * 1_000


# --- beginning and not beginning --------------------------------------------------------------


async def test_a_game_whose_last_joiner_died_before_it_began_is_begun_by_another(one, two):
    game_id = (await one.commands.create(new_game())).game_id
    for seat in range(2):
        assert (await one.games.take_seat(game_id, range(2), seat_request(seat)))[
            0
        ] is SeatStatus.OK
    assert (await two.live_games.view(game_id)).stored.state == WAITING
    await two.timers.sweep()
    assert (await one.live_games.view(game_id)).stored.state == PLAYING
    table = await played_out(game_id, one)
    assert faults_of(replay_of(table)) == []


async def test_all_who_sit_down_at_once_find_a_seat_each_and_one_beginning(one, two):
    game_id = (await one.commands.create(new_game(4))).game_id
    processes = (one, two, one, two)
    joined = await asyncio.gather(
        *(processes[n].commands.join(game_id, range(4), seat_request(n)) for n in range(4))
    )
    assert sorted(seat for _, seat in joined) == [0, 1, 2, 3]
    assert [entry.version for entry in (await one.games.load(game_id)).log] == [1]
    with pytest.raises(errors.SeatTaken):
        await one.commands.join(game_id, range(4), seat_request(0))


async def test_a_game_stored_twice_keeps_its_first_secret(one, two):
    first = await one.commands.create(new_game(), "0123456789abcdef0123")
    again = await two.commands.create(new_game(), "0123456789abcdef0123")
    assert again.stored.secret == first.stored.secret
    assert again.header == first.header


async def test_a_repeated_request_to_sit_gets_the_same_seat(one):
    game_id = (await one.commands.create(new_game(3))).game_id
    for _ in range(2):
        _, seat = await one.commands.join(game_id, range(3), seat_request(0, "again"))
        assert seat == 0
    assert (await one.live_games.view(game_id)).open_seats() == [1, 2]


async def test_a_game_that_was_called_off_begins_no_more(one, two):
    game_id = (await one.commands.create(new_game())).game_id
    await one.commands.join(game_id, [0], seat_request(0))
    table = await two.commands.cancel(game_id)
    assert (table.stored.state, end_reason(table)) == (OVER, "CANCELLED")
    assert replay_of(table).game.result.seats == []
    assert not replay_of(table).game.HasField("start_time")
    with pytest.raises(errors.GameEnded):
        await one.commands.join(game_id, [1], seat_request(1))


@pytest.mark.parametrize("creator", ["ada", "cat"])
async def test_who_gives_up_a_seat_before_the_game_begins_leaves_it_open(one, two, creator):
    game_id = (await one.commands.create(new_game(3), creator=Creator(creator))).game_id
    for seat in range(2):
        await one.commands.join(game_id, [seat], SeatRequest(BOTS[seat], 1, b"entropy", ""))
    for process in (two, one):  # twice is the same as once
        table = await process.commands.resign(game_id, BOTS[0], None)
        assert (table.stored.state, table.open_seats()) == (WAITING, [0, 2])
    assert table.stored.seats[0].entropy == b""
    for seat in (0, 2):
        await two.commands.join(game_id, [seat], seat_request(seat))
    assert faults_of(replay_of(await played_out(game_id, one, two))) == []


async def test_who_gives_up_once_all_seats_are_taken_resigns_from_a_game_that_begins(one, two):
    game_id = (await one.commands.create(new_game())).game_id
    for seat in range(2):  # by a process that dies before it begins the game
        await one.games.take_seat(game_id, [seat], seat_request(seat))
    table = await two.commands.resign(game_id, BOTS[0], None)
    assert (table.stored.state, seat_reasons(table)) == (OVER, ["RESIGNED", "OUTLASTED"])


async def test_a_game_that_nobody_fills_is_cancelled_in_time_by_any_host(one, two):
    wish = replace(new_game(), expires_after_ms=50)
    game_id = (await one.commands.create(wish)).game_id
    await one.commands.join(game_id, [0], seat_request(0))
    patient = (await one.commands.create(replace(wish, expires_after_ms=3_600_000))).game_id
    filled = await begun(one, clock=None)
    await raw(one, "HSET", keys.game(filled), "expires", 1)
    await until_time(two, (await one.live_games.view(game_id)).stored.expires)
    assert await two.timers.sweep() == 1
    table = await one.live_games.view(game_id)
    assert (table.stored.state, end_reason(table)) == (OVER, "CANCELLED")
    assert faults_of(replay_of(table)) == []
    assert await two.timers.sweep() == 0
    assert (await two.live_games.view(patient)).stored.state == WAITING
    assert (await two.live_games.view(filled)).stored.state == PLAYING
    with pytest.raises(errors.GameEnded):
        await one.commands.join(game_id, [1], seat_request(1))


async def test_a_game_whose_last_seat_is_taken_in_time_begins_however_late_it_is_swept(one, two):
    game_id = (await one.commands.create(replace(new_game(), expires_after_ms=100))).game_id
    for seat in range(2):
        await one.games.take_seat(game_id, [seat], seat_request(seat))
    await until_time(two, (await one.live_games.view(game_id)).stored.expires)
    await two.timers.sweep()
    assert (await one.live_games.view(game_id)).stored.state == PLAYING


async def test_asking_for_games_that_do_not_exist_leaves_nothing_behind(one):
    for number in range(50):
        with pytest.raises(errors.UnknownGame):
            await one.live_games.view(f"none-{number}")
    assert len(one.live_games.locks._waiters) == 0


# --- a log that was lost in part --------------------------------------------------------------


async def delete_entry(process, game_id):
    await raw(process, "XDEL", keys.log(game_id), "4-0")


async def cut_the_log(process, game_id):
    last = (await process.games.load(game_id)).version
    await raw(process, "XDEL", keys.log(game_id), f"{last}-0")


async def alter_entry(process, game_id):
    entries = await raw(process, "XRANGE", keys.log(game_id), "-", "+")
    await raw(process, "DEL", keys.log(game_id))
    for number, (identity, (name, entry)) in enumerate(entries):
        cause, rest = entry.split(b" ", 1)
        altered = b" ".join([str(int(cause) + (number == 2)).encode(), rest])
        await raw(process, "XADD", keys.log(game_id), identity, name, altered)


async def garble_entry(process, game_id):
    entries = await raw(process, "XRANGE", keys.log(game_id), "-", "+")
    await raw(process, "DEL", keys.log(game_id))
    for identity, _ in entries:
        await raw(process, "XADD", keys.log(game_id), identity, "e", "no words")


async def lower_version(process, game_id):
    await raw(process, "HINCRBY", keys.game(game_id), "version", -2)


async def alter_snapshot(process, game_id):
    await raw(process, "HSET", keys.game(game_id), "position", b"another")


async def test_a_commit_that_nobody_waits_for_is_told_to_those_who_follow_the_game(
    one, monkeypatch
):
    game_id = await begun(one)
    version = (await one.live_games.view(game_id)).stored.version
    before = one.subscribers.counts[game_id]
    commit, under_way, published = one.writer.commit, asyncio.Event(), asyncio.Event()

    class Pending:
        def __init__(self, pending):
            self._pending = pending

        def on_reply(self, reply):
            self._pending.on_reply(reply)
            published.set()

    def committing(change, pending):
        commit(change, Pending(pending))
        under_way.set()

    monkeypatch.setattr(one.writer, "commit", committing)
    playing = asyncio.create_task(act(one, game_id, lowest))
    await under_way.wait()
    playing.cancel()  # as when a call is given up in the middle of its answer
    with pytest.raises(asyncio.CancelledError):
        await playing
    await published.wait()
    assert one.subscribers.counts[game_id] == before + 1
    assert (await one.live_games.view(game_id)).stored.version == version + 1


DAMAGES = [delete_entry, cut_the_log, alter_entry, garble_entry, lower_version, alter_snapshot]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("who", ["who read it before", "who reads it first"])
async def test_a_game_whose_log_is_not_what_was_committed_is_void(processes, damage, who):
    one, two = processes
    game_id = await begun(one)
    for _ in range(6):
        await act(one, game_id, lowest)
    stored = (await one.games.load(game_id)).seat
    await damage(one, game_id)
    reader = two
    if who == "who read it before":
        reader = one
        if damage is not lower_version:
            one.live_games.drop(game_id)
    table = await reader.live_games.view(game_id)
    assert (table.stored.state, end_reason(table)) == (OVER, "NO_CONTEST")
    assert reader.subscribers.counts[game_id] > 0
    for process in processes:
        told = await process.live_games.view(game_id)
        assert (told.stored.state, end_reason(told)) == (OVER, "NO_CONTEST")
        assert replay_of(told).game.chance.secret
        with pytest.raises(errors.GameEnded):
            await process.answer(game_id, BOTS[stored], told.stored.decision, [0])
    assert await raw(one, "ZCARD", keys.timers(keys.bucket_of(game_id))) == 0
    assert await raw(one, "XLEN", keys.outbox(keys.bucket_of(game_id))) == 1


async def set_back(process, game_id, steps=3):
    """What a failover can do: the whole game as it was some commits ago."""
    names = (keys.game(game_id), keys.log(game_id))
    before = [await raw(process, "DUMP", name) for name in names]
    for _ in range(steps):
        await act(process, game_id, lowest)
    for name, dump in zip(names, before, strict=True):
        await raw(process, "RESTORE", name, 0, dump, "REPLACE")


@pytest.mark.parametrize("deed", ["looks", "answers", "resigns", "sweeps"])
async def test_a_game_that_was_set_back_is_void_for_whoever_saw_more_of_it(one, two, deed):
    game_id = await begun(one)
    await act(one, game_id, lowest)
    await set_back(one, game_id)
    if deed == "answers":
        remembered = one.live_games.cached[game_id].stored
        bot = remembered.seats[remembered.seat].bot
        legal = one.live_games.cached[game_id].engine.legal()
        with pytest.raises(errors.GameEnded):
            await one.answer(game_id, bot, remembered.decision, [legal[0]])
    elif deed == "resigns":
        await one.commands.resign(game_id, BOTS[0], None)
    elif deed == "sweeps":
        await raw(one, "ZADD", keys.timers(keys.bucket_of(game_id)), 1, game_id)
        await one.timers.sweep()
    for process in (one, two):
        assert end_reason(await process.live_games.view(game_id)) == "NO_CONTEST"


async def test_a_game_that_was_set_back_and_played_on_is_void_for_whoever_saw_the_other(one, two):
    game_id = await begun(one)
    await set_back(one, game_id)
    for _ in range(5):
        await act(two, game_id, at_random(9))
    assert end_reason(await one.live_games.view(game_id)) == "NO_CONTEST"


async def test_a_finished_game_keeps_its_result_whatever_happens_to_its_log(one, two):
    game_id = await begun(one)
    before = replay_of(await played_out(game_id, one)).game.result
    await delete_entry(one, game_id)
    assert replay_of(await two.live_games.view(game_id)).game.result == before


@pytest.mark.parametrize("damage", [garble_entry, "gone", "without a header"])
async def test_one_damaged_game_does_not_keep_others_from_what_is_due(one, two, damage):
    bad, good = await begun(one, clock=Clock(1, 0)), await begun(one, clock=Clock(1, 0))
    if damage == "gone":
        await raw(one, "DEL", keys.game(bad), keys.log(bad))
    elif damage == "without a header":
        await raw(one, "HDEL", keys.game(bad), "header")
    else:
        await damage(one, bad)
    table = await until_over(two, good)
    assert end_reason(table) == "OUTLASTED"


# --- all the ways to end ----------------------------------------------------------------------


async def finished(one, _two):
    return await played_out(await begun(one), one)


async def resigned(one, _two):
    return await one.commands.resign(await begun(one), BOTS[0], None)


async def timeout(one, two):
    game_id = await begun(one, clock=Clock(1, 0))
    for bot in BOTS:
        await one.presence.connect(bot, "stream")
    return await until_over(two, game_id)


async def disconnected(one, two):
    return await until_over(two, await begun(one, clock=Clock(1, 0)))


async def strikes(one, _two):
    game_id = await begun(one, strikes=1)
    await illegal_answer(one, game_id)
    return await one.live_games.view(game_id)


async def cancelled(one, _two):
    return await one.commands.cancel((await one.commands.create(new_game())).game_id)


async def no_contest(one, two):
    game_id = await begun(one)
    await cut_the_log(one, game_id)
    return await two.live_games.view(game_id)


WAYS = {
    "FINISHED": finished,
    "RESIGNED": resigned,
    "OUTLASTED": resigned,
    "TIMEOUT": timeout,
    "DISCONNECTED": disconnected,
    "STRIKES": strikes,
    "CANCELLED": cancelled,
    "NO_CONTEST": no_contest,
}
LATER = {"UNSEATED", "ADJUDICATED"}  # by the ladder, and by its administrators


@pytest.mark.parametrize("name", WAYS)
async def test_every_end_reason_can_be_reached(one, two, name):
    table = await WAYS[name](one, two)
    assert name in {end_reason(table), *seat_reasons(table)}
    if name in ("CANCELLED", "NO_CONTEST"):
        assert replay_of(table).game.result.seats == []
    if name != "NO_CONTEST":  # its log was cut
        assert faults_of(replay_of(table)) == []
        assert list(verification.checks(replay_of(table)))


def test_every_end_reason_is_tried():
    names = {name.removeprefix("END_REASON_") for name in EndReason.keys()}  # noqa: SIM118
    assert names - {"UNSPECIFIED"} == set(WAYS) | LATER


async def test_few_games_that_are_over_are_kept_and_what_was_seen_of_the_others_is_not_forgotten(
    one, monkeypatch
):
    monkeypatch.setattr(live_games, "MOST_OVER", 2)
    over, goes_on = [await begun(one) for _ in range(4)], await begun(one)
    places = keys.game(over[0]), keys.log(over[0])
    before = [await raw(one, "DUMP", place) for place in places]
    for game_id in over:
        await one.commands.resign(game_id, BOTS[0], None)
    assert {*one.live_games.cached} == {goes_on, *over[2:]}
    assert await one.live_games.changed([*over, goes_on]) == []
    for place, content in zip(places, before, strict=True):  # as a primary that knew less
        await raw(one, "RESTORE", place, 0, content, "REPLACE")
    assert await one.live_games.changed(over) == [over[0]]
    assert end_reason(await one.live_games.view(over[0])) == "NO_CONTEST"
