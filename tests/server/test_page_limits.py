"""What one bad client of the page may take, over real sockets; others are served meanwhile.

On loopback another address is another client: 127.0.0.1 is the visitor, 127.0.0.2 the bad client.
"""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from himeji_server.launch import serve
from himeji_server.limits import Limits
from himeji_server.settings import Settings
from himeji_server.web import server

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


class PageClient:
    """Clients of an arena's page, of any address."""

    def __init__(self, port):
        self.port = port
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

    async def close(self):
        for writer in self.sockets:
            writer.transport.abort()


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
            client = PageClient(opened.http_port)
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
        server, "ConnectionTable", lambda limits: made.append(build(limits)) or made[-1]
    )
    return made


async def until(condition):
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while not condition():
        assert asyncio.get_running_loop().time() < deadline
        await asyncio.sleep(0.05)


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


# Requests and answers


async def test_a_body_that_does_not_come_is_not_waited_for(page):
    async with page(page_body_seconds=0.5) as client:
        late, _ = await client.connect(BAD, request("/play", "POST", form(100), "r"))
        assert Answer(await ended(late)).status == 408
        unread, _ = await client.connect(BAD, request("/ladders", "GET", form(100), "r"))
        assert Answer(await ended(unread)).status == 200


async def test_nonsense_is_a_bad_request(page):
    async with page() as client:
        for text in ("\x16\x03\x01\x02\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\na b: c\r\n\r\n"):
            reader, _ = await client.connect(BAD, text)
            assert Answer(await ended(reader)).status == 400


async def test_who_does_not_read_is_cut_off(page, tables):
    async with page(page_write_seconds=0.5) as client:
        reader, writer = await client.connect(BAD, request(LARGE) * 200)
        writer.transport.pause_reading()
        await until(lambda: len(tables[0]) == 1)
        await until(lambda: len(tables[0]) == 0)
        writer.transport.resume_reading()
        assert (await ended(reader)).count(b"HTTP/1.1 200") < 200
