"""The pages docs/capacity.md and docs/scaling.md against the figures that they are written from."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from loadtest import page, scaling
from loadtest.scaling import BUSY, Costs, Need

DOCS = Path(__file__).parents[2] / "docs"
FIGURES = json.loads((DOCS / page.FIGURES).read_text(encoding="utf-8"))
COSTS = Costs(
    server=500e-6,
    redis=100e-6,
    bell=1e-6,
    client_bytes=500.0,
    redis_bytes=2_000.0,
    logged_bytes=1_000.0,
    fsync=1e-3,
    decisions=50.0,
    server_game=100e3,
    redis_game=4e3,
    process=80e6,
)


@pytest.mark.parametrize("writer", [page, scaling], ids=["capacity", "scaling"])
def test_the_page_is_what_its_figures_say(writer):
    assert (DOCS / writer.NAME).read_text(encoding="utf-8") == writer.text(FIGURES)


def test_the_table_counts_what_a_site_needs():
    rows = dict(Need(COSTS, games=100_000, think=5.0).rows())
    assert rows["decisions/s"] == "20,000"
    assert rows["games that end, a second"] == "400"
    assert rows["each server process hears bells with, processors"] == "0.02"
    assert rows["server processes, with bells by address"] == "40"  # for 5,000 streams each
    assert rows["Redis primaries"] == f"{math.ceil(2 / BUSY)}"
    assert rows["between bots and servers, Mbit/s"] == "80"
    assert rows["log of each primary, MB/s"] == "5.0"
    assert rows["commits of a primary that share an fsync"] == "5.0"


def test_no_number_of_processes_is_enough_where_each_is_busy_with_listening():
    loud = replace(COSTS, bell=BUSY / 20_000)
    need = Need(loud, games=100_000, think=5.0)
    assert need.processes is None
    assert dict(need.rows())["server processes, as it is"] == "no number would do"
    few = Need(loud, games=10_000, think=1.0)
    assert few.processes == math.ceil(5 / (BUSY / 2))
    assert few.processes_by_address == math.ceil(5 / BUSY)
