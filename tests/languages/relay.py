"""A TCP relay to an arena that drops its connections once, after so many bytes."""

import contextlib
import socket
import threading


class Relay:
    """Listens on a free port and forwards everything to `target`."""

    def __init__(self, target: str, cut_after: int) -> None:
        host, _, port = target.rpartition(":")
        self._target = (host, int(port))
        self._budget = cut_after
        self.connections = 0
        self.cuts = 0
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._listener.getsockname()[1]}"

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._drop()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(self._target)
                with self._lock:
                    self.connections += 1
                    self._open |= {near, far}
                threading.Thread(target=self._copy, args=(near, far, 0), daemon=True).start()
                threading.Thread(target=self._copy, args=(far, near, 1), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket, counted: int) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(4096):
                self._count(len(data) * counted)
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _count(self, size: int) -> None:
        with self._lock:
            spent = self._budget > 0 >= self._budget - size
            self._budget -= size
            self.cuts += spent
        if spent:
            self._drop()

    def _drop(self) -> None:
        with self._lock:
            dropped, self._open = self._open, set()
        for end in dropped:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
