"""HTTP/2 frames written by hand, for clients that no gRPC library would let us be.

Header fields are sent as literals without an index, so that no compression table is needed.
"""

import asyncio
import socket
from collections import Counter

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
ACK, END_STREAM, END_HEADERS = 1, 1, 4
CANCEL = 8
INITIAL_WINDOW_SIZE = 4
HEADER_BYTES = 9
ANSWERED, CLOSED = "answer began", "connection closed"
MARKED = "messages with the marker"
ERRORS = {0: "NO_ERROR", 1: "PROTOCOL_ERROR", 7: "REFUSED_STREAM", 8: "CANCEL"} | {
    11: "ENHANCE_YOUR_CALM"
}


def frame(kind, payload=b"", *, stream=0, flags=0):
    return len(payload).to_bytes(3) + bytes((kind, flags)) + stream.to_bytes(4) + payload


def settings(**values):
    """A SETTINGS frame; `window` is what a peer may send before it is read, on a stream or all."""
    if "window" not in values:
        return frame(SETTINGS)
    size = values["window"].to_bytes(4)
    made = frame(SETTINGS, INITIAL_WINDOW_SIZE.to_bytes(2) + size)
    # The window of the whole connection can only be made larger.
    return made + frame(WINDOW_UPDATE, size) if values["window"] else made


def request_headers(path, token=""):
    """The header block of a gRPC call."""
    fields = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "siege")]
    fields += [("content-type", "application/grpc"), ("te", "trailers")]
    if token:
        fields.append(("authorization", f"Bearer {token}"))
    return b"".join(b"\0" + _text(name) + _text(value) for name, value in fields)


def _text(text):
    """A string literal of HPACK, not compressed; longer ones have their length in two bytes."""
    raw, most = text.encode(), 127
    if len(raw) < most:
        return bytes((len(raw),)) + raw
    if len(raw) >= most + 128:
        raise ValueError("a header value has at most 254 bytes here")
    return bytes((most, len(raw) - most)) + raw


def message(body):
    """A message of gRPC, not compressed."""
    return b"\0" + len(body).to_bytes(4) + body


class Connection:
    """A connection that counts what it is told in `told`, and never makes a window larger again."""

    def __init__(self, reader, writer, told, *, marker=b""):
        """`told` also counts how often the marker comes in what is sent to us."""
        self._reader, self._writer, self._told, self._marker = reader, writer, told, marker
        self._next_stream = 1
        self.open = True
        self.open_streams = set()
        """The calls that have ended on neither side."""

        self._receiving = asyncio.create_task(self._receive())

    @classmethod
    async def connect(cls, address, source, told: Counter, *, marker=b"", **values):
        """Connect from a source address; the values are settings."""
        host, _, port = address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port), local_addr=(source, 0))
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        writer.write(PREFACE + settings(**values))
        return cls(reader, writer, told, marker=marker)

    def call(self, headers, body=None, *, end=True):
        """Open a stream, with a message and an end where they are given; its number."""
        stream, self._next_stream = self._next_stream, self._next_stream + 2
        self.open_streams.add(stream)
        self._writer.write(frame(HEADERS, headers, stream=stream, flags=END_HEADERS))
        if body is not None:
            self.send(stream, body, end=end)
        return stream

    def send(self, stream, body, *, end=False):
        flags = END_STREAM if end else 0
        self._writer.write(frame(DATA, message(body), stream=stream, flags=flags))

    def reset(self, stream):
        self.open_streams.discard(stream)
        self._writer.write(frame(RST_STREAM, CANCEL.to_bytes(4), stream=stream))

    async def drain(self):
        """Wait until the system has taken what was written, unless the peer is gone."""
        try:
            await self._writer.drain()
        except OSError:
            self.open = False

    async def _receive(self):
        try:
            while True:
                head = await self._reader.readexactly(HEADER_BYTES)
                payload = await self._reader.readexactly(int.from_bytes(head[:3]))
                self._handle(head[3], head[4], int.from_bytes(head[5:]), payload)
        except (OSError, asyncio.IncompleteReadError):
            self._told[CLOSED] += 1
        finally:
            self.open = False

    def _handle(self, kind, flags, stream, payload):
        if kind == RST_STREAM or (kind in (HEADERS, DATA) and flags & END_STREAM):
            self.open_streams.discard(stream)
        if kind == SETTINGS and not flags & ACK:
            self._writer.write(frame(SETTINGS, flags=ACK))
        elif kind == DATA and self._marker:
            self._told[MARKED] += payload.count(self._marker)
        elif kind == PING and not flags & ACK:
            self._writer.write(frame(PING, payload, flags=ACK))
        elif kind == HEADERS:
            self._told["call ended" if flags & END_STREAM else ANSWERED] += 1
        elif kind == RST_STREAM:
            self._told[f"call reset: {_error(payload)}"] += 1
        elif kind == GOAWAY:
            self._told[f"GOAWAY: {_error(payload[4:])}"] += 1


def _error(raw):
    number = int.from_bytes(raw[:4])
    return ERRORS.get(number, str(number))
