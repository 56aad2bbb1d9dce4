"""Errors that keep an arena from starting: a sentence that says what to do, and an exit code."""

import errno
import os
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of `himeji serve`; click itself exits with 2 for a wrong command line."""

    STOPPED = 0
    REFUSED = 1
    PORT_IN_USE = 3
    DATA_IN_USE = 4


class StartRefusedError(Exception):
    """The arena cannot start; the sentence is for the person who started it."""

    def __init__(self, sentence: str, exit_code: ExitCode = ExitCode.REFUSED) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.exit_code = exit_code


def port_unavailable(port: int, error: OSError, option: str = "--port") -> StartRefusedError:
    """The error for a port that cannot be bound."""
    number = error.errno or errno.EADDRINUSE
    advice = f"choose another one with {option}, or 0 for a free one"
    if number == errno.EADDRINUSE:
        return StartRefusedError(f"port {port} is in use: {advice}", ExitCode.PORT_IN_USE)
    return StartRefusedError(f"port {port} cannot be used ({os.strerror(number)}): {advice}")
