"""The pages docs/capacity.md and docs/scaling.md against the figures that they are written from."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from loadtest import capacity_page, scaling_page
from loadtest.sizing import MAX_BUSY, SiteSize, UnitCosts

DOCS = Path(__file__).parents[2] / "docs"
FIGURES = json.loads((DOCS / capacity_page.FIGURES).read_text(encoding="utf-8"))
COSTS = UnitCosts(
    server=505e-6,
    notification=100e-6,
    redis=100e-6,
    redis_notification=20e-6,
    idle_game=50e-6,
    redis_idle_game=10e-6,
    broadcast=10e-6,
    client_bytes=500.0,
    redis_bytes=2_000.0,
    notification_bytes=1_000.0,
    logged_bytes=1_000.0,
    fsync=1e-3,
    decisions=50.0,
    server_game=150e3,
    server_bot=50e3,
    redis_game=4e3,
    process=80e6,
)


@pytest.mark.parametrize("writer", [capacity_page, scaling_page], ids=["capacity", "scaling"])
def test_the_page_is_what_its_figures_say(writer):
    assert (DOCS / writer.NAME).read_text(encoding="utf-8") == writer.text(FIGURES)


def test_the_table_counts_what_a_site_needs():
    assert dict(SiteSize(COSTS, games=100_000, think=5.0).rows()) == {
        "decisions/s": "20,000",
        "games that end, a second": "400",
        "server processes": "40",  # for 5,000 streams each
        "memory of the servers, GB": "23.2",  # 150 kB, 50 kB at the other process, and 40 processes
        "Redis primaries": f"{math.ceil((2.4 + 1) / MAX_BUSY)}",
        "nodes, with replicas": f"{2 * math.ceil((2.4 + 1) / MAX_BUSY)}",
        "memory of Redis for live games, with replicas, GB": "0.8",
        "days until finished games fill the primaries": "1.4",
        "between bots and servers, Mbit/s": "80",
        "between servers and Redis, commits, Mbit/s": "320",
        "the same, notifications, Mbit/s": "160",
        "to replicas, Mbit/s": "160",
        "log of each primary, MB/s": "3.3",
        "commits of a primary for each fsync": "3.3",
        "broadcasts about bots, a second": "1,600",
        "processors of each process for them": "0.016",
        "deliveries of them by Redis, a second": "64,000",
    }


def test_processes_grow_with_decisions_with_notifications_and_with_idle_games():
    many = {"games": 100_000, "think": 1.0}
    assert SiteSize(COSTS, **many).processes == math.ceil((50.5 + 10 + 5) / MAX_BUSY)
    assert SiteSize(replace(COSTS, notification=0.0), **many).processes == math.ceil(
        (50.5 + 5) / MAX_BUSY
    )
    assert SiteSize(replace(COSTS, idle_game=0.0), **many).processes == math.ceil(
        (50.5 + 10) / MAX_BUSY
    )


def test_costs_are_taken_from_the_runs_that_measured_them():
    apart = {"server_us": 600, "redis_us": 70, "received": 500, "sent": 900, "logged": 300}
    together = {"server_us": 450, "redis_us": 80, "received": 400, "sent": 100, "logged": 200}
    growth = [
        {"games": 0, "server": 80e6, "redis": 8e6, "server_busy": 0.02, "redis_busy": 0.01},
        {"games": 100, "server": 90e6, "redis": 9e6, "server_busy": 0.03, "redis_busy": 0.01},
    ]
    hold = FIGURES["hold"] | {"pairs": 1_050, "rate": 500.0, "cpu": {"server": 0.405}}
    costs = UnitCosts.from_figures(
        FIGURES
        | {
            "decision": {"together": together, "apart": apart},
            "notification_us": 150,
            "broadcast_us": 9,
        }
        | {"growth": growth, "hold": hold}
    )
    assert costs.idle_game == pytest.approx(100e-6)
    assert costs.server == pytest.approx((0.405 - 0.105) / 500)
    assert (costs.notification, costs.redis, costs.broadcast) == pytest.approx(
        (150e-6, 80e-6, 9e-6)
    )
    assert (costs.redis_notification, costs.redis_idle_game) == (0.0, 0.0)
    assert (costs.redis_bytes, costs.notification_bytes, costs.logged_bytes) == (500, 900, 200)
