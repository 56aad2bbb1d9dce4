"""An arena and a Redis for what is shipped."""

from tests.server.conftest import short_folder, start_arena, start_redis

__all__ = ["short_folder", "start_arena", "start_redis"]
