"""The parts of `make capacity`: bot processes that hold games, and the page of figures."""

import asyncio
import contextlib
import io
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import redis
from himeji_server.limits import Limits
from rich.console import Console

from loadtest import capacity_page, cost_measurements as costs, sizing
from loadtest.arena import temporary_arena
from loadtest.bot_process import BotPair, IntervalCounts, Workload
from loadtest.capacity import CapacityOptions, CapacityRun, main
from loadtest.load_driver import LoadDriver, LoadResult, start_bots
from loadtest.plots import Series, plot
from loadtest.resource_usage import COMPONENTS, SERVER, ResourceMonitor, Usage

TIMEOUT = 120.0


def workload(*arenas, **what):
    token = arenas[0].token_file.read_text().strip()
    targets = [each.target for each in arenas]
    return Workload(targets=targets, token=token, ruleset="duel", **what)


def options(games, out=Path(), **changed):
    short = {
        "hold": 5,
        "think": 0.05,
        "step": 2,
        "bot_processes": 1,
        "processes": (1,),
        "sweep": (1,),
    }
    return CapacityOptions(games=games, out=out, **short | changed)


@pytest.mark.long
def test_bots_hold_their_games_and_surplus_bots_are_refused(tmp_path):
    with temporary_arena(tmp_path / "arena.log", "--streams=8") as arena:
        work = workload(arena, pairs=4, think=0.01, seconds=3, surplus_rate=10)
        with start_bots(work, 2, tmp_path / "bots.log") as driver:
            assert driver.wait_until_seated() == {}
            held = driver.play(arena)
    assert held.errors == {}
    assert held.min_connected == 8
    assert held.decisions > 0
    assert 0 < held.p50 <= held.p99 <= held.slowest
    assert held.surplus.keys() == {"LIMIT_EXCEEDED"}
    assert all(held.cpu[each] > 0 and held.memory[each] > 0 for each in COMPONENTS)


def test_pairs_are_spread_over_targets_and_so_are_their_bots_when_apart():
    together = Workload(targets=["a", "b"], token="", pairs=3, think=0, seconds=0)
    apart = Workload(targets=["a", "b"], token="", pairs=3, think=0, seconds=0, apart=True)
    assert [[together.target(p, s) for s in range(2)] for p in range(3)] == [
        [*"aa"],
        [*"bb"],
        [*"aa"],
    ]
    assert [[apart.target(p, s) for s in range(2)] for p in range(3)] == [[*"ab"], [*"ba"], [*"ab"]]


def processes_that_follow(url):
    """How many there are for each game that goes on."""
    with redis.Redis.from_url(url, decode_responses=True) as client:
        games = [
            client.hmget(each, "state", "subscribers") for each in client.scan_iter("*:game:*")
        ]
    return {len(processes.split()) for state, processes in games if state == "playing"}


@pytest.mark.long
@pytest.mark.parametrize("apart", [False, True], ids=["together", "apart"])
def test_seats_of_a_game_are_at_one_arena_or_at_two_and_both_are_measured(tmp_path, apart):
    with contextlib.ExitStack() as stack:
        one = stack.enter_context(temporary_arena(tmp_path / "one.log"))
        two = stack.enter_context(temporary_arena(tmp_path / "two.log", "--redis", one.redis))
        work = workload(one, two, pairs=4, think=0.2, seconds=2, apart=apart)
        driver = stack.enter_context(start_bots(work, 1, tmp_path / "bots.log"))
        assert driver.wait_until_seated() == {}
        before = costs.traffic(one)
        played = driver.play(one, two)
        found = costs.per_decision(before, costs.traffic(one), played)
        alone = ResourceMonitor([one.pid], []).sample().memory
        followed = processes_that_follow(one.redis)
    assert played.errors == {}
    assert followed == {1 + apart}
    assert all(found[each] > 0 for each in before)
    assert played.memory[SERVER] > 1.5 * alone[SERVER]


@pytest.mark.long
def test_a_few_more_pairs_than_games_are_held(tmp_path):
    held = CapacityRun(options(4, tmp_path), Console(file=io.StringIO()))._hold()
    assert (held["pairs"], held["min_connected"], held["errors"]) == (5, 10, {})


async def test_when_a_game_ends_its_pair_begins_the_next_one(tmp_path):
    with temporary_arena(tmp_path / "arena.log") as arena:
        work, counts = workload(arena, pairs=1, think=0, seconds=0), IntervalCounts()
        pair = BotPair(0, work, counts)
        await pair.open()
        assert (counts.games, counts.live) == (0, 1)
        pair.may_play.set()
        async with asyncio.timeout(TIMEOUT):
            while counts.games < 2 or counts.live < 1:  # noqa: ASYNC110 - plain numbers
                await asyncio.sleep(0.01)
        await pair.close()
    assert not counts.errors


def test_the_worst_second_of_all_processes_together_counts():
    # In each second, the report of each of two processes.
    live = [[(2, 4), (3, 6)], [(1, 4), (3, 5)], [(2, 4), (1, 6)]]
    rounds = [
        [IntervalCounts().take() | {"live": games, "connected": bots} for games, bots in second]
        for second in live
    ]
    nothing = Usage(at=0.0, cpu={}, memory={})
    found = LoadDriver([], pairs=5)._result(rounds, 3.0, nothing, nothing)
    assert (found.min_live, found.min_connected) == (3, 9)


@pytest.mark.parametrize(("games", "pairs"), [(4, 5), (20, 21), (21, 23), (1_000, 1_050)])
def test_a_twentieth_of_the_pairs_is_spare_and_at_least_one(games, pairs):
    assert options(games).pairs == pairs


def test_the_most_games_that_may_be_held_have_a_stream_for_every_bot():
    games = next(each for each in main.params if each.name == "games")
    assert 2 * options(games.type.max).pairs <= Limits.streams


def test_costs_are_medians_and_a_notification_never_costs_less_than_nothing():
    assert costs.medians([{"server_us": each} for each in (500.0, 90.0, 400.0)]) == {
        "server_us": 400.0
    }
    assert costs.notification_us({"server_us": 400.0}, {"server_us": 550.0}) == 150.0
    assert costs.notification_us({"server_us": 400.0}, {"server_us": 390.0}) == 0.0


def test_the_cost_of_a_decision_is_counted_from_processors_and_traffic():
    run = LoadResult(
        **{"seconds": 2.0, "pairs": 1, "decisions": 1_000, "games": 0, "min_live": 1}
        | {"min_connected": 2, "errors": {}, "surplus": {}, "p50": 1, "p99": 1, "slowest": 1}
        | {"cpu": {"server": 0.5, "redis": 0.1, "load": 0.2}, "memory": {}}
    )
    before, after = ({"received": each, "sent": 2 * each, "logged": 0} for each in (500, 2_500))
    assert costs.per_decision(before, after, run) == pytest.approx(
        {"server_us": 1_000, "redis_us": 200, "received": 2, "sent": 4, "logged": 0}
    )


def result(pairs, **changed):
    facts = {
        "pairs": pairs,
        "seconds": 600.0,
        "rate": 10.0 * pairs,
        "p50": 3.0,
        "p99": 9.0,
        "min_live": pairs - 1,
        "min_connected": 2 * pairs,
        "errors": {},
        "surplus": {"LIMIT_EXCEEDED": 40, "OK": 1},
        "cpu": {"server": 0.9, "redis": 0.2, "load": 0.7},
        "memory": {"server": 200_000_000, "redis": 20_000_000, "load": 300_000_000},
    }
    return facts | changed


def figures(**hold):
    growth = [
        {"games": 0, "server": 80e6, "redis": 8e6},
        {"games": 100, "server": 90e6, "redis": 9e6},
    ]
    return {
        "command": "make capacity",
        "machine": {"himeji": "1", "rules": "compiled", "python": "3", "system": "Linux"}
        | {"processors": 2, "memory": 8e9},
        "sweeps": {"1": [result(1), result(16)], "2": [result(16)]},
        "responsive": {"rate": 160.0, "p99": 9.0, "games": 16},
        "growth": growth,
        "hold": result(1050, **hold),
        "overload": {"baseline": result(16), "full": result(16), "kept": 0.8}
        | {"impatient": result(16), "kept_by_impatient": 0.6},
        "echo": {"ratio to the echo": 0.55, capacity_page.UNBATCHED: 0.3}
        | {sizing.IDLE_BOT: 58.2, sizing.LIVE_GAME: 3.6},
    }


def test_the_page_has_every_figure_with_its_command_and_plots(tmp_path):
    capacity_page.write(figures(), tmp_path)
    text = (tmp_path / "capacity.md").read_text()
    assert "make capacity\n" in text
    assert "| live games held, at least | 1,049 | 1,000 |" in text
    assert "| pairs of bots that played them | 1,050 |  |" in text
    assert "| bots connected, at least | 2,100 | 2,000 |" in text
    assert "| memory per game with its two bots, server, kB | 100 |  |" in text
    assert "| memory of an idle bot, server, kB | 58 | 64 |" in text
    assert "| memory per game, Redis (used), kB | 3.6 | 4 |" in text
    assert "| the same without batched messages | 0.30 |  |" in text
    assert "| share kept with three times as many bots | 80% | 70% |" in text
    assert "| share kept if refused bots retry every second | 60% |  |" in text
    assert "| surplus bots with any other reply | 2 OK | none |" in text
    for name in capacity_page.plots(figures()):
        assert f"images/capacity-{name}.svg" in text
        ET.parse(tmp_path / "images" / f"capacity-{name}.svg")


def test_what_was_lost_while_games_were_held_is_an_error():
    assert capacity_page.errors(figures()) == ""
    assert "TIMEOUT" in capacity_page.errors(figures(errors={"game END_REASON_TIMEOUT": 1}))
    assert "2099 bots" in capacity_page.errors(figures(min_connected=2099))


def test_a_plot_of_nothing_is_a_plot():
    ET.fromstring(plot("nothing < something", "x", "y", [Series("none", [])]))
