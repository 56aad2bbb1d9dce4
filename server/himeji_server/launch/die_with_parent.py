"""Starts a program that dies with the process that asked for it, however that process dies.

Run as a script, with the standard library alone:

    python -I -S die_with_parent.py MECHANISM PARENT_PID INHERITED_FD PROGRAM ARGUMENT…

"prctl" asks Linux to kill this process when its parent is gone, and becomes the program. The
kernel watches the parent's *thread*, so the thread that starts this script has to live as long as
the program should. "pipe" is for other systems: this process stays between the two and kills the
program when its standard input ends, which is a pipe whose other end only the parent holds.
INHERITED_FD is an open file that the program inherits, and with it the lock on that file.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
from types import FrameType

PRCTL = "prctl"
PIPE = "pipe"
MECHANISM = PRCTL if sys.platform == "linux" else PIPE
"""The mechanism that this system has."""

STANDARD_ERROR = 2
"""The file to inherit for programs that need none: it is open anyway."""

_PR_SET_PDEATHSIG = 1


def command(
    program: list[str], inherited_fd: int = STANDARD_ERROR, mechanism: str = MECHANISM
) -> list[str]:
    """The command line that starts a program as a child that dies with this process."""
    launcher = [sys.executable, "-I", "-S", __file__]
    return [*launcher, mechanism, str(os.getpid()), str(inherited_fd), *program]


def run_with_prctl(parent: int, program: list[str]) -> None:
    """Become the program, to be killed by the kernel when the parent is gone."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent:
        sys.exit("the parent was gone before prctl took effect")
    os.execv(program[0], program)  # noqa: S606 - no shell is wanted


def run_with_pipe(inherited_fd: int, program: list[str]) -> int:
    """Start the program and kill it when the pipe from the parent ends."""
    child = subprocess.Popen(  # noqa: S603 - what our own parent named
        program, stdin=subprocess.DEVNULL, pass_fds=[inherited_fd]
    )

    def kill_at_end_of_pipe() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        child.kill()

    def pass_on(number: int, _frame: FrameType | None) -> None:
        child.send_signal(number)

    signal.signal(signal.SIGTERM, pass_on)
    threading.Thread(target=kill_at_end_of_pipe, daemon=True).start()
    return child.wait()


def main(arguments: list[str]) -> int:
    """Run the program that the arguments name."""
    mechanism, parent, inherited_fd, *program = arguments
    if mechanism == PRCTL:
        run_with_prctl(int(parent), program)
    return run_with_pipe(int(inherited_fd), program)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
