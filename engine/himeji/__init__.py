"""Himeji's core: the rules of the games and their translation to and from the wire.

The rules exist in two forms that play the same games: compiled by mypyc, which is used where it
was built, and pure Python. HIMEJI_PURE=1 chooses the pure form. The choice is made here, once,
before any module of the rules is imported, so that the rules themselves never ask the environment.
"""

import importlib
import importlib.machinery
import importlib.metadata
import os
import sys
from collections.abc import Sequence
from types import ModuleType

__all__ = ["ENGINE_FORM", "__version__"]

__version__ = importlib.metadata.version("himeji")


class _PureFinder:
    """Finds the source of every module of the rules, where Python would prefer the compiled one."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if path is None or not name.startswith("himeji.rules."):
            return None
        source = (importlib.machinery.SourceFileLoader, importlib.machinery.SOURCE_SUFFIXES)
        for folder in path:
            spec = importlib.machinery.FileFinder(folder, source).find_spec(name)
            if spec is not None:
                return spec
        return None


if os.environ.get("HIMEJI_PURE") == "1":
    sys.meta_path.insert(0, _PureFinder)


_rules = importlib.import_module("himeji.rules.game")
ENGINE_FORM = "pure" if str(_rules.__file__).endswith(".py") else "compiled"
"""The form of the rules that runs here: "compiled" or "pure"."""
