"""Installs the Debian packages that a program needs, or names those that are missing.

python -m tests.programs.debian_packages cpp installs as root; any other user gets one line with
the missing packages, and exit code 1. Standard library alone, because it runs before any set-up.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

_HEADERS = "import os, sysconfig; os.stat(sysconfig.get_path('include') + '/Python.h')"

Packages = Mapping[str, tuple[str, ...]]
"""Package names, each with a command that succeeds where the package is installed."""

PROGRAMS: Mapping[str, Packages] = {
    "browser": {"chromium": ("chromium", "--version")},
    "cpp": {
        "g++": ("g++", "--version"),
        "pkg-config": ("pkg-config", "--version"),
        "libgrpc++-dev": ("pkg-config", "--exists", "grpc++"),
        "libprotobuf-dev": ("pkg-config", "--exists", "protobuf"),
        "protobuf-compiler": ("protoc", "--version"),
        "protobuf-compiler-grpc": ("which", "grpc_cpp_plugin"),
    },
    "fresh_clone": {
        "git": ("git", "--version"),
        "gcc": ("gcc", "--version"),
        "passwd": ("useradd", "--help"),
        "python3-venv": ("/usr/bin/python3", "-c", "import ensurepip"),
        "python3-dev": ("/usr/bin/python3", "-c", _HEADERS),
    },
    "rolling_restart": {"haproxy": ("haproxy", "-v")},
}


def works(command: tuple[str, ...]) -> bool:
    """Whether a command exists and succeeds."""
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def missing(packages: Packages) -> list[str]:
    """The packages whose commands do not work."""
    return [package for package, command in packages.items() if not works(command)]


def install(names: list[str]) -> None:
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *names]):
        subprocess.run(["apt-get", "--quiet", *command], env=quiet, check=True)


def ensure(program: str) -> None:
    """Install what a program needs where this user may; exits with the names of what is missing."""
    packages = PROGRAMS[program]
    names = missing(packages)
    if names and os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"installing {', '.join(names)} ...", flush=True)  # noqa: T201 - progress
        install(names)
        names = missing(packages)
    if names:
        sys.exit(f"missing: {', '.join(names)} (Debian: apt-get install {' '.join(names)})")


if __name__ == "__main__":
    ensure(sys.argv[1])
