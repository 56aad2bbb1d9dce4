"""The C++ bot plays in the same arena, over the same breaking connection, as the JavaScript bot."""

from tests.languages.conftest import (
    _temporary_files_go_with_the_test,
    breaking_connection,
    endpoint,
    short_folder,
)

__all__ = ["_temporary_files_go_with_the_test", "breaking_connection", "endpoint", "short_folder"]
