"""The blocking client under gevent, as a Locust user has it: one thread, many games."""

import subprocess
import sys

GAMES = 6
PROGRAM = """
from gevent import monkey
monkey.patch_all()
import grpc.experimental.gevent
grpc.experimental.gevent.init_gevent()

import sys, threading
import gevent
from himeji_sdk import Client

target, token, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
under_way, most = 0, 0

def play(number):
    global under_way, most
    with Client(target, token) as client:
        game = client.create_game(seats=["", "house/random"])
        mine = client.join(game, seat=0, bot=f"local/green-{number}")
        under_way += 1
        most = max(most, under_way)
        while (asked := mine.decision(wait=60)) is not None:
            mine.submit(asked.legal[0])
        under_way -= 1
        return mine.end.reason

jobs = [gevent.spawn(play, number) for number in range(count)]
gevent.joinall(jobs, raise_error=True)
print(*[job.value for job in jobs], most)
"""


def test_greenlets_play_games_side_by_side(endpoint):
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM, endpoint.target, endpoint.token, str(GAMES)],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert told.returncode == 0, told.stderr
    *reasons, most = told.stdout.split()
    assert reasons == ["finished"] * GAMES
    assert int(most) > 1, "while one greenlet waits for the arena, others play"
