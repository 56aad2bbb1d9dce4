"""The process that runs long rules calls: calls come in at standard input, answers go out.

A message is a byte that says what it is, four bytes with its length, and its content. The process
ends with its input, hence with the server process that holds the other end; a call that takes too
long ends it by an alarm, whether that server process is still there or not.

Run as a script:

    python -P -m himeji_server.rpc.rules_process SECONDS
"""

import signal
import struct
import sys
import traceback
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import BinaryIO, Final

from himeji.rules.errors import HimejiError
from himeji.v1.rules_service_pb2 import ApplyActionsRequest
from himeji.wire.errors import to_status

from himeji_server.rpc import forward_model

HEADER: Final = struct.Struct(">BI")


class RulesCall(IntEnum):
    """What can be called."""

    APPLY_ACTIONS = 1


class Outcome(IntEnum):
    """What an answer is: the response, the status of an error, or the traceback of a defect.

    The first message says that the process is ready for calls.
    """

    READY = 1
    RESPONSE = 2
    ERROR = 3
    FAULT = 4


def _apply_actions(request: bytes) -> bytes:
    response = forward_model.apply_actions(ApplyActionsRequest.FromString(request))
    return response.SerializeToString()


CALLS: Final[Mapping[RulesCall, Callable[[bytes], bytes]]] = {
    RulesCall.APPLY_ACTIONS: _apply_actions,
}


def answer(call: RulesCall, request: bytes) -> tuple[Outcome, bytes]:
    """Run one call; what it raises is an answer, too."""
    try:
        return Outcome.RESPONSE, CALLS[call](request)
    except HimejiError as error:
        return Outcome.ERROR, to_status(error).SerializeToString()
    except Exception:  # noqa: BLE001 - the server process logs it, and tells the client nothing
        return Outcome.FAULT, traceback.format_exc().encode()


def run(calls: BinaryIO, answers: BinaryIO, seconds: float) -> None:
    """Answer calls until their input ends."""
    _write(answers, Outcome.READY, b"")
    while header := calls.read(HEADER.size):
        call, length = HEADER.unpack(header)
        request = calls.read(length)
        signal.setitimer(signal.ITIMER_REAL, seconds)  # its signal ends the process
        outcome, content = answer(RulesCall(call), request)
        signal.setitimer(signal.ITIMER_REAL, 0)
        _write(answers, outcome, content)


def _write(answers: BinaryIO, outcome: Outcome, content: bytes) -> None:
    answers.write(HEADER.pack(outcome, len(content)) + content)
    answers.flush()


if __name__ == "__main__":
    run(sys.stdin.buffer, sys.stdout.buffer, float(sys.argv[1]))
