"""An arena and a Redis for what is shipped."""

from tests.server.conftest import (
    cluster,
    given_redis,
    nodes,
    short_folder,
    start_arena,
    start_redis,
)

__all__ = ["cluster", "given_redis", "nodes", "short_folder", "start_arena", "start_redis"]
