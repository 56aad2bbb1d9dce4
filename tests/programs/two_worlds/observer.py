"""What one world shows: starts its process, plays the deals there, and keeps every byte."""

import asyncio
import http.client
import json
import subprocess
import sys
import tempfile
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import grpc
from google.rpc import error_details_pb2
from himeji.v1.game_pb2 import SeatPlan, SeatPolicy, Want

from loadtest.arena import clean_environment
from tests.programs.two_worlds.deals import ENTROPY
from tests.server.arena_client import PATIENCE, Stream, connected_client, status_of

WANTS = [Want.WANT_POSITION, Want.WANT_ACTION_TEXTS, Want.WANT_EVENT_TEXTS]
NO_ACTION = 100_000
LOOK_EVERY = 16
"""Decisions between two looks at everything that can be asked for."""

TIMED_METRICS = (
    "process_",
    "himeji_call_seconds",
    "himeji_store_",
    "himeji_loop_",
    "himeji_sweeps",
    "himeji_due_games",
    'himeji_commits_total{outcome="running"}',
)
"""Metrics of how long things took, or how often something was done in the background."""


class Shown(NamedTuple):
    """Something that a world showed, and where."""

    place: str
    content: bytes


class World:
    """A running arena, and all that it has shown so far."""

    def __init__(self, log, facts):
        self.shown = []
        self._log = log
        self._facts = facts

    @property
    def log(self):
        return self._log.read_text(encoding="utf-8")

    def show(self, place, content):
        self.shown.append(Shown(place, content))

    def show_message(self, place, message):
        self.show(place, message.SerializeToString(deterministic=True))

    async def play(self, deals):
        """Play the deals one after the other, each up to its cut, then look at the metrics."""
        secret = self._facts["token"]
        async with connected_client(f"127.0.0.1:{self._facts['grpc']}", secret) as client:
            for number, deal in enumerate(deals):
                await _Table(self, client, number, deal).play()
        await self._wait_for_no_streams()
        for line in self._metrics():
            self.show(f"metric {line.partition(' ')[0]}", line.encode())

    async def _wait_for_no_streams(self):
        async with asyncio.timeout(PATIENCE):
            while any(_is_open(line) for line in self._metrics()):  # noqa: ASYNC110 - nobody rings
                await asyncio.sleep(0.1)

    async def get(self, place, path):
        """Look at a page."""
        await asyncio.to_thread(self._get, place, path)

    def _get(self, place, path):
        connection = http.client.HTTPConnection("127.0.0.1", self._facts["http"], timeout=PATIENCE)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            headers = {name: value for name, value in response.headers.items() if name != "date"}
            self.show(f"{place} header", json.dumps([response.status, headers]).encode())
            events = "event-stream" in headers.get("content-type", "")
            content = _first_event(response) if events else response.read()
            self.show(place, content.replace(f":{self._facts['grpc']}".encode(), b":PORT"))
        finally:
            connection.close()

    def _metrics(self):
        port = self._facts["metrics"]
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        without = ("#", *TIMED_METRICS)
        return [each for each in lines if not each.startswith(without) and "_created" not in each]


def _is_open(line):
    """Whether the line of a metric counts streams."""
    return line.startswith("himeji_streams_open") and not line.endswith(" 0.0")


def _first_event(response):
    """The first event with content; the stream goes on after it."""
    lines = []
    while not lines or lines[-1] != b"\n" or not any(line.startswith(b"data") for line in lines):
        lines.append(response.readline())
    return b"".join(lines)


class _Table:
    """One deal at one world."""

    def __init__(self, world, client, number, deal):
        self._world, self._client, self._deal = world, client, deal
        self._name = f"game {number} ({deal.ruleset})"
        self._bots = [f"local/bot-{number}-{seat}" for seat in range(deal.seats)]

    async def play(self):
        async with AsyncExitStack() as stack:
            streams = []
            for bot in self._bots:
                streams.append(Stream(self._client, bot, wants=WANTS))
                stack.push_async_callback(streams[-1].cut)
                await streams[-1].open()
            game_id = await self._create()
            watching = self._client.watch(game_id, wants=WANTS)
            stack.callback(watching.cancel)
            await self._act(game_id, streams, watching)
            await self._look(game_id)
            for stream in streams:
                for message in stream.seen:
                    self._show(f"stream {message.WhichOneof('body')}", message)

    def _show(self, place, message):
        self._world.show_message(f"{self._name} {place}", message)

    async def _create(self):
        seats = [SeatPlan(policy=SeatPolicy.SEAT_POLICY_BOT, name=each) for each in self._bots]
        game = await self._call("CreateGame", ruleset=self._deal.ruleset, seats=seats)
        for seat, bot in enumerate(self._bots):
            joining = {"bot": bot, "seat": seat, "entropy": ENTROPY}
            await self._call("JoinGame", game_id=game.game.game_id, **joining)
        return game.game.game_id

    async def _call(self, method, **fields):
        answer = await self._client.game(method, **fields)
        self._show(method, answer)
        return answer

    async def _act(self, game_id, streams, watching):
        """Answer the decisions up to the cut; each is seen by everybody before the next one."""
        for number, seat in enumerate(self._deal.asked):
            decision = await streams[seat].asked()
            self._show("WatchGame", await _update(watching, decision.decision_id))
            if number % LOOK_EVERY == 0:
                await self._look(game_id)
            if number < len(self._deal.actions):
                await streams[seat].act(decision, [self._deal.actions[number]], f"{number}")
                await streams[seat].answer(f"{number}")
            else:
                await streams[seat].act(decision, [NO_ACTION], "refused")
                await streams[seat].answer("refused")
                await self._refuse(game_id, decision.decision_id)

    async def _refuse(self, game_id, decision_id):
        """Have an answer refused that is sent by a call."""
        fields = {"game_id": game_id, "decision_id": decision_id, "actions": [NO_ACTION]}
        try:
            await self._client.game("SubmitActions", **fields)
        except grpc.aio.AioRpcError as error:
            for number, packed in enumerate(status_of(error).details):
                self._world.show(f"{self._name} SubmitActions {number}", _detail(packed))

    async def _look(self, game_id):
        """Ask for everything that can be asked for."""
        get, page = self._call, f"/games/{game_id}"
        await get("GetGame", game_id=game_id)
        await get("GetDecision", game_id=game_id, wants=WANTS, event_count=0)
        await get("GetReplay", game_id=game_id)
        await get("ListGames", bot=self._bots[0])
        for path in (page, f"{page}/replay", f"{page}/news", f"/api{page}", "/games", "/"):
            await self._world.get(f"{self._name} page {path.replace(game_id, 'ID')}", path)


def _detail(packed):
    """A detail of a refusal; the order of a map is another one in each process."""
    info = error_details_pb2.ErrorInfo()
    return info.SerializeToString(deterministic=True) if packed.Unpack(info) else packed.value


async def _update(watching, version):
    """The news of a spectator, up to a version."""
    while True:
        response = await asyncio.wait_for(watching.read(), PATIENCE)
        if response.update.version >= version:
            return response


@asynccontextmanager
async def running_world(number, deals, *, leaky=False):
    """A world, for a `with` block."""
    with tempfile.TemporaryDirectory(prefix="hj-") as folder:
        log = Path(folder) / "log"
        with log.open("w") as errors:
            process = subprocess.Popen(  # noqa: ASYNC220 - takes no time
                [sys.executable, "-m", "tests.programs.two_worlds.world"],
                env=clean_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        try:
            process.stdin.write(f"{json.dumps([number, folder, leaky, deals])}\n")
            process.stdin.flush()
            facts = await asyncio.to_thread(process.stdout.readline)
            if not facts:
                raise RuntimeError(f"world {number} does not start: {log.read_text()[-2000:]}")
            yield World(log, json.loads(facts))
        finally:
            process.stdin.close()
            process.stdout.close()
            process.wait(PATIENCE)
