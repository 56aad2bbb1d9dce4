"""Programs in a terminal of our own, so that a test sees what a person would see."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

TIMEOUT_SECONDS = 120.0
CLEARED = "\x1b[2J\x1b[1;1H"
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def plain(text):
    """What a terminal shows, without codes for colours and places."""
    return _CODES.sub("", text).replace("\r\n", "\n")


class Terminal:
    """A program whose standard input, output and errors are a terminal of this size."""

    def __init__(self, command, *, lines=120, columns=120, **options):
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        env |= {"TERM": "xterm-256color", "LINES": str(lines), "COLUMNS": str(columns)}
        self.process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, **options
        )
        os.close(theirs)
        self.said = ""

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def type(self, keys):
        os.write(self._ours, keys.encode())

    def until(self, words):
        """Everything that was said since the last time, up to the moment these words are there."""
        return self._read(lambda: words in plain(self.said), f"{words!r}")

    def rest(self):
        """Everything that is still said, and the exit code."""
        return self._read(lambda: False, "the end"), self.process.wait(TIMEOUT_SECONDS)

    def _read(self, enough, what):
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not enough():
            assert time.monotonic() < deadline, f"waited for {what}, saw {plain(self.said)[-500:]}"
            if not select.select([self._ours], [], [], 0.2)[0]:
                continue
            try:
                piece = os.read(self._ours, 65536)
            except OSError:  # Linux's way to say that the other end is closed
                piece = b""
            if not piece:
                assert what == "the end", f"it ended before {what}: {plain(self.said)[-500:]}"
                break
            self.said += piece.decode(errors="replace")
        said, self.said = self.said, ""
        return said
