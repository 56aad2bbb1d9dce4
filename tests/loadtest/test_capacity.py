"""What `make capacity` is made of: crowds that hold games, and the page written from figures."""

import io
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from himeji_server.limits import Limits
from rich.console import Console

from loadtest import page
from loadtest.arena import own_arena
from loadtest.capacity import Measuring, Plan, main
from loadtest.crowd import Orders
from loadtest.crowds import seated
from loadtest.meters import COMPONENTS, Meters
from loadtest.plots import Line, plot


def orders(arena, **what):
    token = arena.token_file.read_text().strip()
    return Orders(target=arena.target, token=token, ruleset="duel", **what)


def plan(games, out=Path(), **changed):
    wanted = {"hold": 5, "think": 0.05, "step": 2, "crowds": 1, "processes": (1,), "sweep": (1,)}
    return Plan(games=games, out=out, **wanted | changed)


def test_a_crowd_holds_its_games_and_guests_without_a_place_are_told_so(tmp_path):
    with own_arena(tmp_path / "arena.log", "--streams=8") as arena:
        told = orders(arena, tables=4, think=0.01, seconds=3, knocks=10)
        with seated(told, 2, tmp_path / "crowd.log") as crowds:
            assert crowds.wait_until_seated() == {}
            held = crowds.play(arena, Meters(arena.pid, crowds.pids))
    assert held.errors == {}
    assert held.least_connected == 8
    assert held.decisions > 0
    assert 0 < held.p50 <= held.p99 <= held.most
    assert held.guests.keys() == {"LIMIT_EXCEEDED"}
    assert all(held.cpu[each] > 0 and held.memory[each] > 0 for each in COMPONENTS)


def test_a_few_tables_more_than_games_are_held_so_that_as_many_are_always_live(tmp_path):
    held = Measuring(plan(4, tmp_path), Console(file=io.StringIO()))._hold()["hold"]
    assert held["tables"] == 5
    assert held["least_live"] >= 4
    assert held["games"] > 0, "no game ended, so nothing was shown"


@pytest.mark.parametrize(("games", "tables"), [(4, 5), (20, 21), (21, 23), (1_000, 1_050)])
def test_a_twentieth_of_the_tables_is_to_spare_and_at_least_one(games, tables):
    assert plan(games).tables == tables


def test_the_most_games_that_may_be_held_have_a_stream_for_every_bot():
    games = next(each for each in main.params if each.name == "games")
    assert 2 * plan(games.type.max).tables <= Limits.streams


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
        "overload": {"calm": outcome(16), "full": outcome(16), "kept": 0.8},
        "echo": {"ratio to the echo": 0.55},
    }


def test_the_page_has_every_figure_with_its_command_and_plots(tmp_path):
    page.write(figures(), tmp_path)
    text = (tmp_path / "capacity.md").read_text()
    assert "make capacity\n" in text
    assert "| live games held, at least | 1,049 | 1,000 |" in text
    assert "| tables at which they followed each other | 1,050 |  |" in text
    assert "| bots connected meanwhile, at least | 2,100 | 2,000 |" in text
    assert "| memory per game with its two bots, server, kB | 100 | 128 |" in text
    assert "| of them kept when three times as many bots come | 80% | 70% |" in text
    assert "| the others: anything else | 1 OK | none |" in text
    for name in page.plots(figures()):
        assert f"images/capacity-{name}.svg" in text
        ET.parse(tmp_path / "images" / f"capacity-{name}.svg")


def test_what_was_lost_while_games_were_held_is_an_error():
    assert page.errors(figures()) == ""
    assert "TIMEOUT" in page.errors(figures(errors={"game END_REASON_TIMEOUT": 1}))
    assert "2099 bots" in page.errors(figures(least_connected=2099))


def test_a_plot_of_nothing_is_a_plot():
    ET.fromstring(plot("nothing < something", "x", "y", [Line("none", [])]))
