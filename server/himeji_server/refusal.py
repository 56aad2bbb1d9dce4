"""Why an arena does not start, as one sentence that says what to do, and an exit code."""

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
