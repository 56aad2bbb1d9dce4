"""Why an arena does not start, as one sentence that says what to do, and an exit code."""

import errno
import os
from enum import IntEnum


class ExitCode(IntEnum):
    """What `himeji serve` returns to the shell; 2 is a wrong use of the command line."""

    STOPPED = 0
    REFUSED = 1
    PORT_IN_USE = 3
    DATA_IN_USE = 4


class StartRefusedError(Exception):
    """The arena cannot start as things are; the sentence is for the person who started it."""

    def __init__(self, sentence: str, exit_code: ExitCode = ExitCode.REFUSED) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.exit_code = exit_code


def port_unavailable(port: int, error: OSError, option: str = "--port") -> StartRefusedError:
    """Say why a port cannot be had, and what to do."""
    number = error.errno or errno.EADDRINUSE
    advice = f"choose another one with {option}, or 0 for a free one"
    if number == errno.EADDRINUSE:
        return StartRefusedError(f"port {port} is in use: {advice}", ExitCode.PORT_IN_USE)
    return StartRefusedError(f"port {port} cannot be used ({os.strerror(number)}): {advice}")
