"""What `make capacity` is made of: crowds that hold games, and the page written from figures."""

import asyncio
import contextlib
import io
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import redis
from himeji_server.limits import Limits
from rich.console import Console

from loadtest import costs, needs, page
from loadtest.arena import own_arena
from loadtest.capacity import Measuring, Plan, main
from loadtest.crowd import Orders, Table, Tally
from loadtest.crowds import Crowds, Outcome, seated
from loadtest.meters import COMPONENTS, SERVER, Meters, Reading
from loadtest.plots import Line, plot

PATIENCE = 120.0


def orders(*arenas, **what):
    token = arenas[0].token_file.read_text().strip()
    targets = [each.target for each in arenas]
    return Orders(targets=targets, token=token, ruleset="duel", **what)


def plan(games, out=Path(), **changed):
    wanted = {"hold": 5, "think": 0.05, "step": 2, "crowds": 1, "processes": (1,), "sweep": (1,)}
    return Plan(games=games, out=out, **wanted | changed)


def test_a_crowd_holds_its_games_and_guests_without_a_place_are_told_so(tmp_path):
    with own_arena(tmp_path / "arena.log", "--streams=8") as arena:
        told = orders(arena, tables=4, think=0.01, seconds=3, knocks=10)
        with seated(told, 2, tmp_path / "crowd.log") as crowds:
            assert crowds.wait_until_seated() == {}
            held = crowds.play(arena)
    assert held.errors == {}
    assert held.least_connected == 8
    assert held.decisions > 0
    assert 0 < held.p50 <= held.p99 <= held.most
    assert held.guests.keys() == {"LIMIT_EXCEEDED"}
    assert all(held.cpu[each] > 0 and held.memory[each] > 0 for each in COMPONENTS)


def test_tables_take_turns_at_the_targets_and_their_bots_too_when_they_are_apart():
    together = Orders(targets=["a", "b"], token="", tables=3, think=0, seconds=0)
    apart = Orders(targets=["a", "b"], token="", tables=3, think=0, seconds=0, apart=True)
    assert [[together.target(t, s) for s in range(2)] for t in range(3)] == [
        [*"aa"],
        [*"bb"],
        [*"aa"],
    ]
    assert [[apart.target(t, s) for s in range(2)] for t in range(3)] == [[*"ab"], [*"ba"], [*"ab"]]


def processes_that_follow(url):
    """How many there are for each game that goes on."""
    with redis.Redis.from_url(url, decode_responses=True) as client:
        games = [
            client.hmget(each, "state", "subscribers") for each in client.scan_iter("*:game:*")
        ]
    return {len(processes.split()) for state, processes in games if state == "playing"}


@pytest.mark.parametrize("apart", [False, True], ids=["together", "apart"])
def test_seats_of_a_game_are_at_one_arena_or_at_two_and_both_are_metered(tmp_path, apart):
    with contextlib.ExitStack() as stack:
        one = stack.enter_context(own_arena(tmp_path / "one.log"))
        two = stack.enter_context(own_arena(tmp_path / "two.log", "--redis", one.redis))
        told = orders(one, two, tables=4, think=0.2, seconds=2, apart=apart)
        crowds = stack.enter_context(seated(told, 1, tmp_path / "crowd.log"))
        assert crowds.wait_until_seated() == {}
        before = costs.traffic(one)
        played = crowds.play(one, two)
        found = costs.per_decision(before, costs.traffic(one), played)
        alone = Meters([one.pid], []).read().memory
        followed = processes_that_follow(one.redis)
    assert played.errors == {}
    assert followed == {1 + apart}
    assert all(found[each] > 0 for each in before)
    assert played.memory[SERVER] > 1.5 * alone[SERVER]


def test_a_few_tables_more_than_games_are_held(tmp_path):
    held = Measuring(plan(4, tmp_path), Console(file=io.StringIO()))._hold()
    assert (held["tables"], held["least_connected"], held["errors"]) == (5, 10, {})


async def test_when_a_game_ends_the_next_one_begins_at_its_table(tmp_path):
    with own_arena(tmp_path / "arena.log") as arena:
        told, tally = orders(arena, tables=1, think=0, seconds=0), Tally()
        table = Table(0, told, tally)
        await table.open()
        assert (tally.games, tally.live) == (0, 1)
        table.may_play.set()
        async with asyncio.timeout(PATIENCE):
            while tally.games < 2 or tally.live < 1:  # noqa: ASYNC110 - plain numbers
                await asyncio.sleep(0.01)
        await table.close()
    assert not tally.errors


def test_the_worst_second_of_all_crowds_together_is_the_one_that_counts():
    # In each second, what each of two crowds says.
    live = [[(2, 4), (3, 6)], [(1, 4), (3, 5)], [(2, 4), (1, 6)]]
    rounds = [
        [Tally().told() | {"live": games, "connected": bots} for games, bots in second]
        for second in live
    ]
    quiet = Reading(at=0.0, cpu={}, memory={})
    found = Crowds([], tables=5)._outcome(rounds, 3.0, quiet, quiet)
    assert (found.least_live, found.least_connected) == (3, 9)


@pytest.mark.parametrize(("games", "tables"), [(4, 5), (20, 21), (21, 23), (1_000, 1_050)])
def test_a_twentieth_of_the_tables_is_to_spare_and_at_least_one(games, tables):
    assert plan(games).tables == tables


def test_the_most_games_that_may_be_held_have_a_stream_for_every_bot():
    games = next(each for each in main.params if each.name == "games")
    assert 2 * plan(games.type.max).tables <= Limits.streams


def test_what_a_decision_costs_is_told_by_medians_and_hearing_costs_nothing_less_than_nothing():
    assert costs.typical([{"server_us": each} for each in (500.0, 90.0, 400.0)]) == {
        "server_us": 400.0
    }
    assert costs.hearing_us({"server_us": 400.0}, {"server_us": 550.0}) == 150.0
    assert costs.hearing_us({"server_us": 400.0}, {"server_us": 390.0}) == 0.0


def test_the_cost_of_a_decision_is_counted_from_processors_and_traffic():
    run = Outcome(
        **{"seconds": 2.0, "tables": 1, "decisions": 1_000, "games": 0, "least_live": 1}
        | {"least_connected": 2, "errors": {}, "guests": {}, "p50": 1, "p99": 1, "most": 1}
        | {"cpu": {"server": 0.5, "redis": 0.1, "load": 0.2}, "memory": {}}
    )
    before, after = ({"received": each, "sent": 2 * each, "logged": 0} for each in (500, 2_500))
    assert costs.per_decision(before, after, run) == pytest.approx(
        {"server_us": 1_000, "redis_us": 200, "received": 2, "sent": 4, "logged": 0}
    )


def outcome(tables, **changed):
    facts = {
        "tables": tables,
        "seconds": 600.0,
        "rate": 10.0 * tables,
        "p50": 3.0,
        "p99": 9.0,
        "least_live": tables - 1,
        "least_connected": 2 * tables,
        "errors": {},
        "guests": {"LIMIT_EXCEEDED": 40, "OK": 1},
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
        "sweeps": {"1": [outcome(1), outcome(16)], "2": [outcome(16)]},
        "sane": {"rate": 160.0, "p99": 9.0, "games": 16},
        "growth": growth,
        "hold": outcome(1050, **hold),
        "overload": {"calm": outcome(16), "full": outcome(16), "kept": 0.8}
        | {"impatient": outcome(16), "kept_by_impatient": 0.6},
        "echo": {"ratio to the echo": 0.55, page.ONE_BY_ONE: 0.3}
        | {needs.IDLE_BOT: 58.2, needs.LIVE_GAME: 3.6},
    }


def test_the_page_has_every_figure_with_its_command_and_plots(tmp_path):
    page.write(figures(), tmp_path)
    text = (tmp_path / "capacity.md").read_text()
    assert "make capacity\n" in text
    assert "| live games held, at least | 1,049 | 1,000 |" in text
    assert "| tables at which they followed each other | 1,050 |  |" in text
    assert "| bots connected meanwhile, at least | 2,100 | 2,000 |" in text
    assert "| memory per game with its two bots, server, kB | 100 |  |" in text
    assert "| memory of an idle bot, server, kB | 58 | 64 |" in text
    assert "| memory per game, Redis (used), kB | 3.6 | 4 |" in text
    assert "| the same with a message for each thing | 0.30 |  |" in text
    assert "| of them kept when three times as many bots come | 80% | 70% |" in text
    assert "| of them kept when those come again every second, not as advised | 60% |  |" in text
    assert "| the others: anything else | 2 OK | none |" in text
    for name in page.plots(figures()):
        assert f"images/capacity-{name}.svg" in text
        ET.parse(tmp_path / "images" / f"capacity-{name}.svg")


def test_what_was_lost_while_games_were_held_is_an_error():
    assert page.errors(figures()) == ""
    assert "TIMEOUT" in page.errors(figures(errors={"game END_REASON_TIMEOUT": 1}))
    assert "2099 bots" in page.errors(figures(least_connected=2099))


def test_a_plot_of_nothing_is_a_plot():
    ET.fromstring(plot("nothing < something", "x", "y", [Line("none", [])]))
