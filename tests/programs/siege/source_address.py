"""A relay that gives the connections of a gRPC client another source address.

gRPC cannot bind a client to an address, and an arena counts clients by theirs. So the client
connects to a Unix socket, and the relay passes everything on from an address of 127.0.0.0/8.
"""

import asyncio
import contextlib
import tempfile
from pathlib import Path

CHUNK_BYTES = 1 << 18


@contextlib.asynccontextmanager
async def relayed(address, source):
    """The gRPC target that reaches the address from the source address, for a block."""
    host, _, port = address.rpartition(":")
    pairs = set()

    async def relay(near_reader, near_writer):
        task = asyncio.current_task()
        pairs.add(task)
        try:
            far_reader, far_writer = await asyncio.open_connection(
                host, int(port), local_addr=(source, 0)
            )
            await asyncio.gather(copy(near_reader, far_writer), copy(far_reader, near_writer))
        except (OSError, asyncio.CancelledError):
            near_writer.transport.abort()
        finally:
            pairs.discard(task)

    with tempfile.TemporaryDirectory(prefix="hj-") as folder:
        path = Path(folder) / "relay"
        server = await asyncio.start_unix_server(relay, path)
        try:
            yield f"unix:{path}"
        finally:
            server.close()
            for task in tuple(pairs):
                task.cancel()


async def copy(reader, writer):
    """Pass on everything that is read, and the end of it."""
    try:
        while data := await reader.read(CHUNK_BYTES):
            writer.write(data)
            await writer.drain()
    finally:
        with contextlib.suppress(OSError):
            writer.close()
