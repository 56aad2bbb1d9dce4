"""`himeji serve` with a planted fault, for controls: it does not wait for replicas."""

import sys

from himeji_sdk._cli import main
from himeji_server.store.client import Pipeline


def _no_copies(_pipeline):
    return 0


def _ignored(_pipeline, _copies):
    return None


if __name__ == "__main__":
    Pipeline.copies = property(_no_copies, _ignored)
    sys.argv[0] = "himeji"
    main()
