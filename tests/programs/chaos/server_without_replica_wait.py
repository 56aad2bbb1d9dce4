"""`himeji serve` with a planted fault, for controls: it does not wait for replicas."""

import sys

from himeji_sdk._cli import main
from himeji_server.store.pipelining import Pipeline


def _no_replicas(_pipeline):
    return 0


def _ignored(_pipeline, _replicas):
    return None


if __name__ == "__main__":
    Pipeline.replicas = property(_no_replicas, _ignored)
    sys.argv[0] = "himeji"
    main()
