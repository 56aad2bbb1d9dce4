"""What one bad client of the page may take, over real sockets; others are served meanwhile.

On loopback another address is another client: 127.0.0.1 is the visitor, 127.0.0.2 the bad client.
"""

import asyncio
import gzip
import json
import re
import time
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import replace

import grpc
import h11
import pytest
from himeji.v1 import game_service_pb2 as games_pb2
from himeji.v1.game_pb2 import SeatPlan
from himeji.v1.game_service_pb2_grpc import GameServiceStub
from himeji_server import address_filter
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.queries import LadderQueries
from himeji_server.launch import serve
from himeji_server.limits import Limits
from himeji_server.settings import Settings
from himeji_server.web import server
from himeji_server.web.request_costs import EVENT, cost_of

from tests.server.arena_client import PATIENCE, with_timeout

VISITOR, BAD = "127.0.0.1", "127.0.0.2"
SAME_SITE = "sec-fetch-site: same-origin\r\n"
LARGE = "/api/rulesets/base"


class Answer:
    """A status, headers and a body."""

    def __init__(self, received):
        head, _, self.body = received.partition(b"\r\n\r\n")
        status, *lines = head.decode().split("\r\n")
        self.status = int(status.split()[1])
        pairs = (line.partition(": ") for line in lines)
        self.headers = {name.lower(): value for name, _, value in pairs}

    @property
    def json(self):
        return json.loads(self.body)


class PageClient:
    """Clients of an arena's page, of any address."""

    def __init__(self, opened, token):
        self.port = opened.http_port
        self.metadata = (("authorization", f"Bearer {token}"),)
        self.channel = grpc.aio.insecure_channel(f"127.0.0.1:{opened.port}")
        self.games = GameServiceStub(self.channel)
        self.sockets = []

    async def connect(self, source=VISITOR, text=""):
        """A connection that has sent this much."""
        local = (source, 0)
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=local)
        self.sockets.append(writer)
        writer.write(text.encode())
        return reader, writer

    async def ask(self, path, source=VISITOR, method="GET", headers="", body=""):
        """The answer to one request."""
        text = request(path, method, f"connection: close\r\n{headers}", body)
        reader, writer = await self.connect(source, text)
        answer = Answer(await with_timeout(reader.read()))
        writer.close()
        return answer

    async def stream(self, games, source=VISITOR):
        """An event stream after its header: the status, and the reader."""
        reader, writer = await self.connect(source, request(f"/events?games={games}"))
        head = await with_timeout(reader.readuntil(b"\r\n\r\n"))
        return int(head.split()[1]), reader, writer

    async def call(self, method, asked):
        return await getattr(self.games, method)(asked, metadata=self.metadata, timeout=PATIENCE)

    async def new_game(self):
        asked = games_pb2.CreateGameRequest(ruleset="base", seats=[SeatPlan()] * 2)
        game_id = (await self.call("CreateGame", asked)).game.game_id
        for bot in ("local/one", "local/two"):
            await self.call("JoinGame", games_pb2.JoinGameRequest(game_id=game_id, bot=bot))
        return game_id

    async def close(self):
        for writer in self.sockets:
            writer.transport.abort()
        await self.channel.close()


def request(path, method="GET", headers="", body=""):
    return f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{headers}\r\n{body}"


def form(size):
    return f"{SAME_SITE}content-length: {size}\r\naccept: application/json\r\n"


@pytest.fixture
def page(short_folder, cluster):
    """Opens an arena with a page and limits of its own."""

    @asynccontextmanager
    async def opened_with(**changed):
        folder, url = short_folder / "d", None if cluster is None else cluster.url
        limits = replace(Limits(), **changed)
        settings = Settings(port=0, http_port=0, data=folder, redis=url, limits=limits)
        async with serve.open_arena(settings) as opened:
            client = PageClient(opened, (folder / "token").read_text().strip())
            try:
                yield client
            finally:
                await client.close()

    return opened_with


@pytest.fixture
def tables(monkeypatch):
    """The tables of connections of the arenas that are opened."""
    made, build = [], server.ConnectionTable
    monkeypatch.setattr(
        server, "ConnectionTable", lambda *parts: made.append(build(*parts)) or made[-1]
    )
    return made


async def until(condition):
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while not condition():
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.05)


async def write_for_ever(writer, chunk, most):
    for _ in range(most):
        writer.write(chunk)
        await with_timeout(writer.drain())


async def ended(reader):
    """What a client reads until its connection is closed."""
    received = b""
    try:
        while chunk := await with_timeout(reader.read(65_536)):
            received += chunk
    except ConnectionError:
        pass
    return received


# Connections


async def test_who_sends_nothing_or_half_a_header_is_closed(page, tables):
    async with page(page_header_seconds=0.5, page_body_seconds=0.5) as client:
        silent, _ = await client.connect(BAD)
        half, _ = await client.connect(BAD, "GET / HTTP/1.1\r\nhost: 127")
        assert await ended(silent) == b""
        assert Answer(await ended(half)).status == 408
        reader, writer = await client.connect(BAD, request("/ladders"))
        await with_timeout(reader.readuntil(b"\r\n\r\n"))
        writer.write(b"GET / HT")  # a slow second request
        assert b"408" in (await ended(reader)).rpartition(b"HTTP/1.1")[2]
        await until(lambda: not len(tables[0]))


async def test_an_idle_connection_is_closed_soon(page):
    async with page(page_idle_seconds=1) as client:
        reader, _ = await client.connect(VISITOR, request("/static/icon.svg"))
        assert Answer(await ended(reader)).status == 200


async def test_one_address_shuts_out_neither_others_nor_its_neighbours(page, tables):
    async with page(page_connections=40, page_connections_per_address=8) as client:
        held = [await client.connect(BAD, "GET / HTTP/1.1\r\n" * (n % 2)) for n in range(60)]
        assert (await client.ask("/ladders")).status == 200
        assert (await client.ask("/ladders", BAD)).status == 200
        assert len(tables[0]) <= 8 + 1
        for reader, _ in held[:50]:  # the oldest have made room
            assert await ended(reader) == b""


async def test_of_many_addresses_the_one_that_is_idle_longest_makes_room(page, tables):
    async with page(page_connections=10, page_connections_per_address=4) as client:
        for number in range(30):
            await client.connect(f"127.0.1.{number % 10}")
        assert (await client.ask("/ladders")).status == 200
        assert len(tables[0]) <= 10


async def test_a_connection_that_is_being_answered_is_not_closed_for_a_new_one(page):
    async with page(page_connections=4, page_connections_per_address=2) as client:
        game_id = await client.new_game()
        streams = [await client.stream(f"{game_id}:0", BAD) for _ in range(2)]
        assert [status for status, *_ in streams] == [200, 200]
        assert (await client.ask("/ladders", BAD)).status == 503
        assert (await client.ask("/ladders")).status == 200
        for _, reader, _ in streams:
            await with_timeout(reader.readuntil(b"event: news"))


# Bodies and headers


async def test_a_body_that_does_not_come_is_not_waited_for(page):
    async with page(page_body_seconds=0.5) as client:
        late, _ = await client.connect(BAD, request("/play", "POST", form(100), "r"))
        assert Answer(await ended(late)).status == 408
        unread, _ = await client.connect(BAD, request("/ladders", "GET", form(100), "r"))
        assert Answer(await ended(unread)).status == 200


@pytest.mark.parametrize(
    "framing", ["content-length: 67108864\r\n", "transfer-encoding: chunked\r\n"]
)
async def test_a_body_that_is_too_large_is_told_so_and_not_read_for_ever(page, framing):
    async with page() as client:
        head = request("/play", "POST", f"{SAME_SITE}accept: application/json\r\n{framing}")
        reader, writer = await client.connect(BAD, head)
        chunk = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
        with pytest.raises(ConnectionError):
            await write_for_ever(writer, chunk, 2_000)
        reader, writer = await client.connect(BAD, head)
        writer.write(chunk)
        head = (await with_timeout(reader.readuntil(b"\r\n\r\n"))).decode()
        assert " 413 " in head.splitlines()[0]
        length = int(head.lower().partition("content-length: ")[2].split()[0])
        told = json.loads(await with_timeout(reader.readexactly(length)))
        assert told["reason"] == "MESSAGE_TOO_LARGE"


async def test_a_header_that_is_too_large_is_refused_in_one_part_or_several(page):
    async with page() as client:
        large = f"x-more: {'m' * 40_000}\r\n"
        assert (await client.ask("/ladders", headers=large)).status == 431
        assert (await client.ask(f"/ladders?{'q' * 20_000}")).status == 431
        hardly = f"accept: application/json\r\nx-more: {'m' * Limits.page_header_bytes}\r\n"
        answer = await client.ask("/ladders", headers=hardly)
        assert (answer.status, answer.json["reason"]) == (431, "MESSAGE_TOO_LARGE")
        reader, _ = await client.connect(VISITOR, f"GET / HTTP/1.1\r\n{large[:20_000]}")
        assert Answer(await ended(reader)).status == 431
        fits = f"x-more: {'m' * 15_000}\r\n"
        assert (await client.ask("/ladders", headers=fits)).status == 200


async def test_a_header_of_many_lines_is_refused_before_they_are_read(page, monkeypatch):
    sizes, parse = [], h11.Connection.next_event

    def next_event(connection):
        sizes.append(len(connection.trailing_data[0]))
        return parse(connection)

    monkeypatch.setattr(h11.Connection, "next_event", next_event)
    async with page() as client:
        many = "a:b\r\n" * 40_000
        first = request("/static/icon.svg")
        for text in (request("/", headers=many), first + request("/", headers=many)):
            reader, _ = await client.connect(BAD, text)
            assert b"HTTP/1.1 431" in await ended(reader)
    assert max(sizes) < 2 * Limits.page_header_bytes


async def test_requests_that_come_together_are_answered_in_order(page):
    async with page() as client:
        paths = ["/static/icon.svg", "/static/page.css", "/nowhere", "/ladders"] * 8
        last = request("/ladders", headers="connection: close\r\n")
        reader, _ = await client.connect(VISITOR, "".join(map(request, paths)) + last)
        found = re.findall(rb"HTTP/1.1 (\d+)", await ended(reader))
        assert found == [b"200", b"200", b"404", b"200"] * 8 + [b"200"]


async def test_nonsense_is_a_bad_request(page):
    async with page() as client:
        for text in ("\x16\x03\x01\x02\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\na b: c\r\n\r\n"):
            reader, _ = await client.connect(BAD, text)
            assert Answer(await ended(reader)).status == 400


async def test_who_does_not_read_is_cut_off(page, tables):
    async with page(page_write_seconds=0.5, page_requests_at_once=10_000) as client:
        reader, writer = await client.connect(BAD, request(LARGE) * 200)
        writer.transport.pause_reading()
        await until(lambda: len(tables[0]) == 1)
        await until(lambda: len(tables[0]) == 0)
        writer.transport.resume_reading()
        assert (await ended(reader)).count(b"HTTP/1.1 200") < 200


async def test_who_goes_on_opening_connections_is_blocked_for_a_while_and_nobody_else(page):
    few = {"page_connections_per_address": 2, "page_excess_at_once": 4, "page_excess_per_second": 1}
    async with page(block_seconds=1.0, **few) as client:
        kept, _ = await client.connect(BAD, request("/nowhere", headers="x: y\r\n"))
        await with_timeout(kept.readuntil(b"\r\n\r\n"))

        async def open_until_blocked():
            while True:
                try:
                    async with asyncio.timeout(0.5):
                        await client.connect(BAD)
                except TimeoutError:
                    return

        await with_timeout(open_until_blocked())
        assert (await client.ask("/ladders")).status == 200
        assert (await client.ask("/ladders", "127.0.0.3")).status == 200
        assert (await client.ask("/ladders", BAD)).status == 200, "the block is over by then"


async def test_where_the_kernel_does_not_help_connections_of_a_blocked_address_are_closed(
    page, monkeypatch
):
    monkeypatch.setattr(address_filter, "_is_linux", lambda: False)
    few = {"page_connections_per_address": 1, "page_excess_at_once": 4, "page_excess_per_second": 1}
    async with page(block_seconds=1.0, **few) as client:
        for _ in range(6):
            await client.connect(BAD)
        reader, _ = await client.connect(BAD, request("/ladders"))
        assert await ended(reader) == b""
        assert (await client.ask("/ladders")).status == 200
        await asyncio.sleep(1.2)
        assert (await client.ask("/ladders", BAD)).status == 200


# Event streams


async def test_event_streams_are_limited_by_address_and_in_all(page):
    async with page(event_streams=3, event_streams_per_address=2) as client:
        asked = f"{await client.new_game()}:0"
        first = await client.stream(asked, BAD)
        await client.stream(asked, BAD)
        refused = await client.ask(
            f"/events?games={asked}", BAD, headers="accept: application/json\r\n"
        )
        assert (refused.status, refused.json["reason"]) == (429, "LIMIT_EXCEEDED")
        assert (await client.stream(asked))[0] == 200
        full = await client.ask(f"/events?games={asked}", "127.0.0.3")
        assert (full.status, full.headers["retry-after"]) == (429, "10")
        first[2].close()
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while (await client.stream(asked, BAD))[0] != 200:
            assert asyncio.get_running_loop().time() < deadline
            await asyncio.sleep(0.1)


async def test_for_an_event_stream_that_is_refused_no_game_is_loaded(page, monkeypatch):
    view, loaded = GameUseCases.view, Counter()

    async def counted(self, game_id):
        loaded[game_id] += 1
        return await view(self, game_id)

    async with page(event_streams_per_address=1) as client:
        monkeypatch.setattr(GameUseCases, "view", counted)
        assert (await client.stream(f"{await client.new_game()}:0", BAD))[0] == 200
        other = await client.new_game()
        loaded.clear()
        assert (await client.ask(f"/events?games={other}:0", BAD)).status == 429
        assert not loaded[other]
        # Nor does a stream that comes to nothing keep its slot.
        for _ in range(3):
            assert (await client.ask("/events?games=unknown:0")).status == 404
        assert (await client.stream(f"{other}:0"))[0] == 200
        assert loaded[other]


async def test_one_stream_follows_several_games_to_their_ends(page):
    async with page(games_per_event_stream=3, page_idle_seconds=1) as client:
        first, second = await client.new_game(), await client.new_game()
        status, reader, _ = await client.stream(f"{first}:0,{second}:0,unknown:0")
        assert status == 200
        for game_id in (first, second):
            await client.call("Resign", games_pb2.ResignRequest(game_id=game_id))
        text = (await ended(reader)).decode()
        for game_id in (first, second):
            assert f'event: news\ndata: {{"game": "{game_id}"' in text
            assert f'event: end\ndata: {{"game": "{game_id}"}}' in text
        assert (await client.ask("/events?games=unknown:0")).status == 404
        for games in ("", "x", "x:y", f"{first}:0,a:0,b:0,c:0"):
            assert (await client.ask(f"/events?games={games}")).status == 400


# Rate, compression, codes


async def test_requests_are_limited_by_address_and_say_when_to_come_back(page):
    few = {"page_requests_per_second": 1, "page_requests_at_once": 6, "page_wait_seconds": 0.5}
    async with page(**few) as client:
        asking = [client.ask("/ladders", BAD) for _ in range(20)]
        answers = await asyncio.gather(*asking)
        refused = [answer for answer in answers if answer.status == 429]
        assert {answer.status for answer in answers} == {200, 429}
        assert all(1 <= int(answer.headers["retry-after"]) <= 3 for answer in refused)
        assert b"<h1>" in refused[0].body
        found = [await client.ask("/api/games?page_size=500", BAD) for _ in range(2)]
        assert found[1].json["reason"] == "RATE_LIMITED"
        assert (await client.ask("/ladders")).status == 200


async def test_a_request_that_takes_longer_than_it_paid_for_is_charged_for_all_of_it(
    page, monkeypatch
):
    list_ladders = LadderQueries.list_ladders

    async def after_much_work(*arguments):
        until = time.thread_time() + 0.1
        while time.thread_time() < until:
            pass
        return await list_ladders(*arguments)

    few = {"page_requests_per_second": 1, "page_requests_at_once": 20, "page_wait_seconds": 10}
    async with page(**few) as client:
        assert [(await client.ask("/ladders", BAD)).status for _ in range(3)] == [200] * 3
    monkeypatch.setattr(LadderQueries, "list_ladders", after_much_work)
    async with page(**few) as client:
        assert [(await client.ask("/ladders", BAD)).status for _ in range(3)] == [200, 429, 429]


def test_heavier_pages_cost_more():
    replay, board = "/games/g/replay", "/api/games/g/boards/3.svg"
    rising = ["/static/page.css", "/ladders", "/bots/ada/bot", replay]
    assert sorted(rising, key=lambda path: cost_of(path, b"")) == rising
    assert len({cost_of(path, b"") for path in rising}) == len(rising)
    assert cost_of("/api/games/g/replay.json", b"") == cost_of(replay, b"") == cost_of(board, b"")
    assert cost_of("/api/games", b"page_size=500") > cost_of("/games", b"")
    assert cost_of("/api/games", b"page_size=999999999") == cost_of("/games", b"page_size=500")
    assert cost_of("/api/games", b"page_size=two") == cost_of("/games", b"page_size=50")


def test_an_event_stream_costs_as_much_as_its_games():
    costs = [cost_of("/events", f"games={','.join(['g:0'] * n)}".encode()) for n in range(1, 17)]
    assert costs == [EVENT * n for n in range(1, 17)]
    assert cost_of("/events", b"games=g:0%2Ch:0") == 2 * EVENT
    assert cost_of("/events", b"games=g:0&games=h:0,i:0") == 2 * EVENT  # the last one counts
    assert cost_of("/events", b"") == EVENT
    assert cost_of("/events", b"games=" + b"," * 5_000) == costs[-1]  # refused before any work


async def test_text_is_compressed_for_who_takes_it_and_event_streams_are_not(page):
    async with page() as client:
        takes = "accept-encoding: gzip, deflate, br\r\n"
        for path in (LARGE, "/rulesets/base", "/static/page.css", "/static/game.js"):
            plain, small = await client.ask(path), await client.ask(path, headers=takes)
            assert "content-encoding" not in plain.headers
            assert small.headers["content-encoding"] == "gzip"
            assert small.headers["vary"].lower() == "accept-encoding"
            assert int(small.headers["content-length"]) < len(plain.body) / 2
            assert gzip.decompress(small.body) == plain.body
        known = plain.headers["etag"]
        assert (await client.ask(path, headers=f"if-none-match: {known}\r\n")).status == 304
        game_id = await client.new_game()
        text = request(f"/events?games={game_id}:0", headers=takes)
        reader, _ = await client.connect(VISITOR, text)
        head = await with_timeout(reader.readuntil(b"\r\n\r\n"))
        assert b"text/event-stream" in head
        assert b"content-encoding" not in head.lower()


async def test_a_method_that_a_path_does_not_have_is_told_those_that_it_has(page):
    async with page() as client:
        for path, allowed in (
            ("/play", "GET, HEAD, POST"),
            ("/ladders", "GET, HEAD"),
            ("/games/g/actions", "POST"),
            ("/static/page.css", "GET, HEAD"),
        ):
            accept = f"{SAME_SITE}accept: application/json\r\n"
            answer = await client.ask(path, method="DELETE", headers=accept)
            assert (answer.status, answer.headers["allow"]) == (405, allowed)
            assert answer.json["reason"] == "UNSUPPORTED"
        assert (await client.ask("/static/../site.py")).status == 404
