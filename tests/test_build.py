"""Where the rules cannot be compiled, one sentence says why, and the pure form is left."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BUILD = """
import runpy, sys, sysconfig
folder = {headers!r}
sysconfig.get_path = lambda name, found=sysconfig.get_path: folder or found(name)
sys.argv = ["setup.py", "--quiet", "build_ext", "--inplace"]
runpy.run_path("setup.py", run_name="__main__")
"""


def build(headers="", **env):
    """What `make build` says; with headers elsewhere, and an environment that lets nothing compile.

    So nothing is written: a build that began would be a failure of the test, not of the checkout.
    """
    done = subprocess.run(
        [sys.executable, "-c", BUILD.format(headers=str(headers))],
        cwd=ROOT,
        env=os.environ | {"HIMEJI_PURE": ""} | env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return done.stderr


@pytest.fixture
def no_compiler(tmp_path):
    """A PATH without any program."""
    return {"PATH": str(tmp_path), "CC": ""}


def test_without_a_compiler_its_package_is_named(no_compiler):
    (sentence,) = build(**no_compiler).splitlines()
    assert sentence.startswith("warning: the rules stay pure Python (slower, same games), because ")
    assert "there is no C compiler (Debian: apt-get install gcc python3-dev;" in sentence


def test_without_the_headers_of_python_their_package_is_named(tmp_path):
    fails = tmp_path / "cc"
    fails.write_text(
        "#!/bin/sh\necho 'fatal error: Python.h: No such file or directory' >&2\nexit 1\n"
    )
    fails.chmod(stat.S_IRWXU)
    (sentence,) = build(headers=tmp_path, CC=str(fails)).splitlines()
    assert sentence.startswith("warning: the rules stay pure Python (slower, same games), because ")
    assert "headers are missing (Debian: apt-get install python3-dev;" in sentence


def test_a_compiler_that_does_not_work_is_told_with_its_first_error(tmp_path):
    (tmp_path / "Python.h").touch()
    fails = tmp_path / "cc"
    fails.write_text("#!/bin/sh\necho note: well >&2\necho 'error: no stdio.h' >&2\nexit 1\n")
    fails.chmod(stat.S_IRWXU)
    (sentence,) = build(headers=tmp_path, CC=str(fails)).splitlines()
    assert sentence.endswith(f"{fails} cannot compile a module for Python: error: no stdio.h")


def test_the_pure_form_is_made_when_it_is_wanted(no_compiler):
    assert build(HIMEJI_PURE="1", **no_compiler) == "HIMEJI_PURE=1: the rules stay pure Python\n"
