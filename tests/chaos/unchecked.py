"""An arena with a planted fault: its commits do not compare the version. For controls alone."""

import sys

from himeji_sdk.cli import main
from himeji_server.store import game_store
from himeji_server.store.client import Script

CHECK = (
    "if version ~= expected_version or chain ~= expected_chain then "
    "return {'conflict', version} end"
)
VERSION = "local new_version = tonumber(expected_version) + 1"


def planted(text):
    """The script as it would be if it took every commit for the next one."""
    if text.count(CHECK) != 1 or text.count(VERSION) != 1:
        raise SystemExit("commit.lua has changed: plant the fault anew")
    return text.replace(CHECK, "").replace(VERSION, "local new_version = tonumber(version) + 1")


class Planted(Script):
    """A script with the fault in it."""

    def __init__(self, whole):
        self.text = planted(whole.text)
        self.digest = "0" * 40  # Redis knows no such script, so that it is always sent whole


if __name__ == "__main__":
    game_store.COMMIT = Planted(game_store.COMMIT)
    sys.argv[0] = "himeji"
    main()
