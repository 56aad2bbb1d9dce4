"""`himeji serve` with a planted fault, for controls: commits do not compare the version."""

import sys

from himeji_sdk._cli import main
from himeji_server.store import game_commit
from himeji_server.store.pipelining import Script

CHECK = (
    "if version ~= expected_version or chain ~= expected_chain then "
    "return {'conflict', version} end"
)
VERSION = "local new_version = tonumber(expected_version) + 1"


def without_check(text):
    """The script changed so that it takes every commit for the next version."""
    if text.count(CHECK) != 1 or text.count(VERSION) != 1:
        raise SystemExit("commit.lua has changed: adapt CHECK and VERSION to it")
    return text.replace(CHECK, "").replace(VERSION, "local new_version = tonumber(version) + 1")


class UncheckedScript(Script):
    """A script without the version check."""

    def __init__(self, original):
        self.text = without_check(original.text)
        self.digest = "0" * 40  # Redis does not know it, so the text is always sent


if __name__ == "__main__":
    game_commit.COMMIT = UncheckedScript(game_commit.COMMIT)
    sys.argv[0] = "himeji"
    main()
