"""An arena for the commands that the pages name."""

from tests.sdk.conftest import _temporary_files_go_with_the_test, endpoint, short_folder

__all__ = ["_temporary_files_go_with_the_test", "endpoint", "short_folder"]
