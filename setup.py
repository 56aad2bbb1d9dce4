"""Compile the rules with mypyc where that is possible; everything else is in pyproject.toml.

HIMEJI_PURE=1 builds the pure-Python form on purpose. A missing or failing C compiler is a
warning (the extensions are optional) and leaves the pure-Python form, which plays the same games.
"""

import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent
COMPILED = "engine/himeji/rules"
# Read once or seldom: compiling them would cost build time and gain nothing.
INTERPRETED = {
    *("__init__.py", "errors.py", "datafile.py", "reading.py", "registry.py"),
    *("description.py", "printed.py", "events.py", "rulebook.py"),
    *("board.py", "invariants.py", "position.py", "reader.py", "checks.py", "sections.py"),
    *("texts.py", "solitaire.py", "tea_data.py", "tea_sections.py"),
    *("base.py", "solo.py", "matcha.py", "matcha_solo.py", "duel.py"),
}


def extensions() -> list[Extension]:
    """The modules of `himeji.rules` as one compiled group, `himeji.rules__mypyc`."""
    if os.environ.get("HIMEJI_PURE") == "1":
        return []
    try:
        from mypyc.build import mypycify  # noqa: PLC0415 - may be missing
    except ImportError:
        warnings.warn("mypyc is not installed: the rules stay pure Python", stacklevel=1)
        return []
    os.chdir(ROOT)
    modules = sorted(Path(COMPILED).rglob("*.py"))
    sources = [str(path) for path in modules if path.name not in INTERPRETED]
    found = mypycify(
        ["--strict", *sources],
        opt_level="2",
        debug_level="0",
        multi_file=True,
        group_name="himeji.rules",
    )
    for extension in found:
        extension.optional = True
        extension.include_dirs.append("build/himeji")  # where the group puts its own header
    return found


class BuildSideBySide(build_ext):
    """Compiles the files of an extension on all cores; each module is a file of its own."""

    def build_extension(self, ext: Extension) -> None:
        one_by_one = self.compiler.compile

        def compile_all(sources, *args, **kwargs):  # type: ignore[no-untyped-def]
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                done = [pool.submit(one_by_one, [each], *args, **kwargs) for each in sources]
            return [made for each in done for made in each.result()]

        self.compiler.compile = compile_all
        try:
            super().build_extension(ext)
        finally:
            self.compiler.compile = one_by_one


setup(ext_modules=extensions(), cmdclass={"build_ext": BuildSideBySide})
