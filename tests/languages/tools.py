"""Sees to it that what the bots in other languages are built with is there; says what is not.

python tests/languages/tools.py installs Debian's packages where it may (as root), and otherwise
fails with their names.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

PACKAGES = {
    "g++": ("g++", "--version"),
    "pkg-config": ("pkg-config", "--version"),
    "libgrpc++-dev": ("pkg-config", "--exists", "grpc++"),
    "libprotobuf-dev": ("pkg-config", "--exists", "protobuf"),
    "protobuf-compiler": ("protoc", "--version"),
    "protobuf-compiler-grpc": ("which", "grpc_cpp_plugin"),
}
"""Debian's packages, each with a command that succeeds where it is installed."""


def works(command: tuple[str, ...]) -> bool:
    """Whether a command is there and succeeds."""
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def missing(needed: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The packages whose commands do not work."""
    return [package for package, command in needed.items() if not works(command)]


def install(packages: list[str]) -> None:
    """Install Debian's packages."""
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "--yes", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", "--quiet", *command], env=quiet, check=True)


def main(needed: Mapping[str, tuple[str, ...]] = PACKAGES) -> None:
    """Install what is missing, or say so."""
    packages = missing(needed)
    if packages and os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"installing {', '.join(packages)} ...", flush=True)  # noqa: T201 - a program's word
        install(packages)
        packages = missing(needed)
    if packages:
        sys.exit(f"missing: {', '.join(packages)} (Debian: apt-get install {' '.join(packages)})")


if __name__ == "__main__":
    main()
