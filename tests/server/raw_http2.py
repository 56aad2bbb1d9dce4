"""Clients that a gRPC library would not be: HTTP/2 frames written by hand on a plain socket."""

from __future__ import annotations

import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS = 0, 1, 3, 4
END_STREAM, END_HEADERS, ACK = 1, 4, 1
INITIAL_WINDOW_SIZE = 4
CANCEL = 8


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def _field(name: str, value: str) -> bytes:
    """A header as a literal that is neither indexed nor compressed."""
    return b"\x00" + b"".join(bytes([len(each)]) + each.encode() for each in (name, value))


def headers(stream: int, path: str, token: str = "", *, end: bool = False) -> bytes:
    fields = {":method": "POST", ":scheme": "http", ":path": path, ":authority": "arena"}
    fields |= {"te": "trailers", "content-type": "application/grpc"}
    if token:
        fields["authorization"] = f"Bearer {token}"
    block = b"".join(_field(*each) for each in fields.items())
    return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, block)


def data(stream: int, message: bytes, *, end: bool = True) -> bytes:
    flags = END_STREAM if end else 0
    return frame(DATA, flags, stream, struct.pack(">BI", 0, len(message)) + message)


class RawConnection:
    """One connection of a client at a loopback address; with window 0 it takes no answer."""

    def __init__(
        self,
        address: str,
        source: str = "127.0.0.1",
        window: int | None = None,
        *,
        preface: bool = True,
    ) -> None:
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), 10, (source, 0))
        self._next = 1
        if not preface:
            return
        settings = b"" if window is None else struct.pack(">HI", INITIAL_WINDOW_SIZE, window)
        self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0, settings))

    def call(self, path: str, message: bytes = b"", token: str = "", *, end: bool = True) -> None:
        """Make a call with one message, and do not wait for its answer."""
        stream = self._new_stream()
        self.socket.sendall(headers(stream, path, token) + data(stream, message, end=end))

    def open(self, path: str, token: str = "") -> None:
        """Begin a call whose message never comes."""
        self.socket.sendall(headers(self._new_stream(), path, token))

    def open_and_reset(self, path: str, count: int) -> None:
        """Begin calls and cancel each at once."""
        sent = b""
        for _ in range(count):
            stream = self._new_stream()
            sent += headers(stream, path)
            sent += frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL))
        self.socket.sendall(sent)

    def _new_stream(self) -> int:
        stream, self._next = self._next, self._next + 2
        return stream

    def is_closed(self) -> bool:
        """Whether the server has closed the connection; what it sent so far is thrown away."""
        self.socket.settimeout(0)
        try:
            while chunk := self.socket.recv(1 << 16):
                del chunk
        except BlockingIOError:
            return False
        except OSError:
            return True
        finally:
            if self.socket.fileno() >= 0:
                self.socket.settimeout(10)
        return True

    def close(self) -> None:
        self.socket.close()
