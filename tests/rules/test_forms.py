"""The compiled and the pure form of the rules play the same games, to the last byte.

Run as a script, this file plays a fixed set of games in the form that the environment chooses and
prints what it saw as JSON; the test compares two such runs.
"""

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import himeji
from himeji import rules
from himeji.rules import Fast, Mirror
from himeji.rules.errors import HimejiError

from tests.rules.playing import TABLES, play, policy

ROOT = Path(__file__).parents[2]
SEEDS = range(8)


def test_compiled_and_pure_rules_play_the_same_games(build, record_property):
    compiled, stale = build
    assert not stale, f"{stale[0].name} is older than its source: run `make build`"
    # Different hash seeds, so that an order taken from a set or a hash would show as well.
    with ThreadPoolExecutor() as both:
        pure, other = both.map(
            run, [{"HIMEJI_PURE": "1", "PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"}]
        )
    assert pure["form"] == "pure"
    assert other["form"] == ("compiled" if compiled else "pure")
    record_property("note", f"forms compared: {pure['form']} and {other['form']}")
    differing = [game for game in pure["games"] if pure["games"][game] != other["games"].get(game)]
    assert not differing, f"{other['form']} play differs from pure play in {differing}"
    assert pure["games"].keys() == other["games"].keys()


def run(settings):
    environment = {key: value for key, value in os.environ.items() if key != "HIMEJI_PURE"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.rules.test_forms"],
        env=environment | settings,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fingerprint(table, seed):
    """One number for all that a game showed: positions, legal lists, events, refusals, playouts."""
    seen = hashlib.sha256()
    game = table.begin(seed)
    for number, _ in enumerate(play(game, policy(seed))):
        seen.update(game.dumps() + repr((game.legal(), game.to_move, game.scores())).encode())
        if number % 16 == 0:
            twin = rules.from_json(game.to_json(), chance=Fast(seed))
            seen.update(game.to_json().encode() + repr(twin.playout(Bits(seed))).encode())
            for action in range(128):
                try:
                    game.clone().apply(action)
                except HimejiError as refusal:
                    seen.update(f"{type(refusal).__name__} {refusal}".encode())
    mirror = Mirror(table.ruleset, table.seats, game.options, seed)
    mirror.feed(game.events_since(0))
    seen.update(mirror.game.dumps() + repr(game.events_since(0)).encode())
    seen.update(repr((game.ranking(), game.breakdown())).encode())
    return seen.hexdigest()


class Bits:
    """The same bits for ever: a generator for playouts that no Python version can change."""

    def __init__(self, seed):
        self.seed = seed

    def getrandbits(self, k):
        return (self.seed * 0x9E3779B97F4A7C15) % (1 << k)


def main():
    games = {f"{table} seed {seed}": fingerprint(table, seed) for table in TABLES for seed in SEEDS}
    sys.stdout.write(json.dumps({"form": himeji.ENGINE_FORM, "games": games}))


if __name__ == "__main__":
    main()
