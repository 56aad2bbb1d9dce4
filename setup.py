"""Compile the rules with mypyc where that is possible; everything else is in pyproject.toml.

HIMEJI_PURE=1 builds the pure-Python form on purpose. Where nothing can be compiled, one sentence
says what is missing, and the pure-Python form is left, which plays the same games.
"""

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).parent
COMPILED = "engine/himeji/rules"
BEGUN = time.monotonic()
AGAIN = "then build again"
STAY_PURE = "warning: the rules stay pure Python (slower, same games), because {}"
# Read once or seldom: compiling them would cost build time and gain nothing.
INTERPRETED = {
    *("__init__.py", "errors.py", "datafile.py", "position_reader.py", "registry.py"),
    *("description.py", "board_description.py", "events.py", "rulebook.py"),
    *("board.py", "invariants.py", "position.py", "reader.py", "checks.py", "section.py"),
    *("texts.py", "base.py", "solo.py", "matcha.py", "matcha_solo.py", "duel.py"),
}


def extensions() -> list[Extension]:
    """The modules of `himeji.rules` as one compiled group, `himeji.rules__mypyc`."""
    if os.environ.get("HIMEJI_PURE") == "1":
        say("HIMEJI_PURE=1: the rules stay pure Python")
        return []
    missing = why_nothing_compiles()
    if missing:
        say(STAY_PURE.format(missing))
        return []
    from mypyc.build import mypycify  # noqa: PLC0415 - may be missing

    os.chdir(ROOT)
    modules = sorted(Path(COMPILED).rglob("*.py"))
    sources = [str(path) for path in modules if path.name not in INTERPRETED]
    cores = os.cpu_count()
    say(
        f"compiling {len(sources)} modules of the rules to C with mypyc, on {cores} cores: "
        "half a minute to two minutes, only when they change ..."
    )
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


def why_nothing_compiles() -> str:
    """What keeps this machine from compiling, and what mends it; nothing if it can compile."""
    try:
        import mypyc.build  # noqa: F401, PLC0415 - may be missing
    except ImportError:
        return "mypyc is not installed (pip install 'mypy[mypyc]')"
    compiler = find_compiler()
    if not compiler:
        return f"there is no C compiler (Debian: apt-get install gcc python3-dev; {AGAIN})"
    headers = [sysconfig.get_path(each) for each in ("include", "platinclude")]
    command = [*compiler, *(f"-I{each}" for each in headers), "-fsyntax-only", "-x", "c", "-"]
    program = "#include <Python.h>\n"
    tried = subprocess.run(  # noqa: S603 - the compiler that setuptools would run
        command, input=program, text=True, capture_output=True, check=False
    )
    if tried.returncode == 0:
        return ""
    if not any(Path(each, "Python.h").exists() for each in headers):
        return f"Python's C headers are missing (Debian: apt-get install python3-dev; {AGAIN})"
    errors = [line for line in tried.stderr.splitlines() if "error" in line] or [""]
    return f"{compiler[0]} cannot compile a module for Python: {errors[0]}"


def find_compiler() -> list[str]:
    """The C compiler as a command, known to setuptools as well; nothing if there is none."""
    for wanted in (os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc", "gcc", "clang"):
        command = shlex.split(wanted or "")
        if command and shutil.which(command[0]):
            os.environ["CC"] = wanted
            return command
    return []


def say(sentence: str) -> None:
    """Tell whoever builds; pip shows it with --verbose alone."""
    sys.stderr.write(f"{sentence}\n")


class BuildSideBySide(build_ext):
    """Compiles the files of an extension on all cores; each module is a file of its own."""

    def run(self) -> None:
        super().run()
        made = [Path(self.get_ext_fullpath(each.name)).exists() for each in self.extensions]
        if not all(made):
            say(STAY_PURE.format("compiling them failed (see above)"))
        elif made:
            say(f"... done after {time.monotonic() - BEGUN:.0f} s")

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
