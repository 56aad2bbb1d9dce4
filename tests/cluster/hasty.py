"""An arena with a planted fault: it answers before replicas have what it wrote. For controls."""

import sys

from himeji_sdk._cli import main
from himeji_server.store.client import Pipeline


def _never(_batches):
    return 0


def _ignored(_batches, _copies):
    return None


if __name__ == "__main__":
    Pipeline.copies = property(_never, _ignored)
    sys.argv[0] = "himeji"
    main()
