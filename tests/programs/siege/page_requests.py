"""Requests to the page from any source address, for attacks."""

import asyncio
import contextlib

SECONDS = 10.0
CHUNK_BYTES = 1 << 16


def head(page, path):
    """The head of a GET request."""
    return f"GET {path} HTTP/1.1\r\nHost: {page}\r\nConnection: close\r\n\r\n".encode()


def event_stream(game):
    """The path of the events of a game, from its beginning."""
    return f"/events?games={game}:0"


async def connect(page, source):
    """A connection to the page from a source address."""
    host, _, port = page.rpartition(":")
    return await asyncio.open_connection(host, int(port), local_addr=(source, 0))


async def get(page, path, source):
    """GET a path; what came back in a few words."""
    try:
        async with asyncio.timeout(SECONDS):
            reader, writer = await connect(page, source)
            writer.write(head(page, path))
            answer = await read_to_end(reader)
            writer.transport.abort()
    except TimeoutError:
        return f"no page within {SECONDS:.0f} s"
    except OSError:
        return "connection refused"
    return status(answer)


async def read_to_end(reader):
    """The beginning of what comes until the connection is closed."""
    first = b""
    with contextlib.suppress(OSError):
        first = await reader.read(CHUNK_BYTES)
        while await reader.read(CHUNK_BYTES):
            pass
    return first


def status(answer):
    """The status of an answer in a few words."""
    return f"HTTP {answer.split(None, 2)[1].decode()}" if answer else "connection closed"
