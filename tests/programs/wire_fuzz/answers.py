"""Judges how the arena answers: which statuses, reasons and texts no client may get."""

import re
from collections import Counter

import grpc
from google.rpc import error_details_pb2
from himeji.v1.errors_pb2 import ErrorReason

from tests.server.arena_client import detail

FORBIDDEN = (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN)
GRPC_ITSELF = (
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
)
"""Ends of calls that the fuzzer brought about."""

BROKEN_WRITE = "Internal error from Core"
"""What the client's own library says of a write to a stream that the arena has ended."""

WITHOUT_REASON = "/grpc."
"""The health and reflection services are not ours, and their errors have no reasons."""

PYTHON_WORDS = re.compile(
    r"Traceback|NoneType|has no attribute|object at 0x|<class|himeji_server|site-packages"
    r"|KeyError|TypeError|ValueError|IndexError|AssertionError|not subscriptable"
    r"|unsupported operand|positional argument|\.py\b|redis\.|grpc\._|asyncio"
)
"""Words of the program rather than of the game; no text that the fuzzer sends contains one."""

REASONS = {name.removeprefix("ERROR_REASON_") for name in ErrorReason.keys()}  # noqa: SIM118 - no mapping


class Verdict:
    """Counts of what came back, and everything that must not."""

    def __init__(self):
        self.sent = 0
        self.codes = Counter()
        self.findings = []

    def answered(self, path):
        """A call went well."""
        self.sent += 1
        self.codes["OK"] += 1

    def failed(self, path, error):
        """A call ended with a status."""
        self.sent += 1
        code, text = error.code(), error.details() or ""
        if text == BROKEN_WRITE:
            return
        self.codes[code.name] += 1
        if code in FORBIDDEN:
            self.find(path, f"{code.name} {text}")
        self.check_text(path, text)
        if code in GRPC_ITSELF or path.startswith(WITHOUT_REASON):
            return
        info = detail(error, error_details_pb2.ErrorInfo())
        if info is None or info.reason not in REASONS:
            self.find(path, f"{code.name} without a reason: {text}")

    def message(self, path, message):
        """A message of a stream: its rejections and its end."""
        for field in ("rejected", "stream_end"):
            if message.HasField(field):
                told = getattr(message, field)
                self.codes[ErrorReason.Name(told.reason).removeprefix("ERROR_REASON_")] += 1
                self.check_text(path, told.message)
                if told.reason == ErrorReason.ERROR_REASON_INTERNAL_FAULT:
                    self.find(path, f"an internal fault: {told.message}")

    def check_text(self, path, text):
        if PYTHON_WORDS.search(text):
            self.find(path, f"words of Python: {text}")

    def find(self, path, what):
        self.findings.append(f"{path}: {what}")
