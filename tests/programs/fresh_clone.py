"""Runs a command in a fresh clone of the last commit, as on a new machine.

    python -m tests.programs.fresh_clone make test
    python -m tests.programs.fresh_clone --new-user make test PYTHON=/usr/bin/python3

The clone's path has spaces, the environment has only what tests/environment.py lists (so
LANG is not set), and files are created with umask 027. With --new-user, which needs root, the clone
belongs to a temporary user with an empty home; a process that the command left behind is a failure.
Standard library alone, because nothing is set up yet.
"""

import argparse
import contextlib
import os
import pwd
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.environment import EVERY_MACHINE, PACKAGE_CLIENTS, matching
from tests.programs import debian_packages

ROOT = Path(__file__).parents[2]
UMASK = 0o027
PLAIN_PATH = "/usr/local/bin:/usr/bin:/bin"  # what a new user of Debian has
EXIT_TIMEOUT = 30.0


def main() -> int:
    """Run the command; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.programs.fresh_clone", description=__doc__
    )
    parser.add_argument("--new-user", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if not given.command:
        parser.error("which command?")
    if given.new_user:
        if os.geteuid() != 0:
            sys.exit("only root can create a user: run this as root")
        debian_packages.ensure("fresh_clone")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    # A program that a shell runs in the background ignores Ctrl-C, and so would its children.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with contextlib.ExitStack() as stack:
        # A new user may have no access to the folder of TMPDIR.
        parent = "/tmp" if given.new_user else None
        home = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="himeji-fresh-", dir=parent))
        )
        user = stack.enter_context(new_user(home)) if given.new_user else None
        clone = clone_into(home, user)
        say(f"{shown(given.command)} in {clone}, commit {commit(clone)}")
        began = time.monotonic()
        code = run(given.command, clone, home, user)
        seconds = time.monotonic() - began
        left = left_behind(user) if user else []
        for line in left:
            say(f"left behind: {line}")
    who = "a new user" if user else "this user"
    outcome = "failed" if code or left else "passed"
    say(f"{shown(given.command)} {outcome} after {seconds:.0f} s, fresh clone, {who}")
    return code or bool(left)


def clone_into(home: Path, user: pwd.struct_passwd | None) -> Path:
    """Clone the last commit, without uncommitted changes."""
    # Without locks, git does not write into a checkout that may belong to another user.
    status = ["git", "--no-optional-locks", "status", "--porcelain"]
    changed = subprocess.run(status, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    for line in changed.stdout.splitlines():
        say(f"not committed, so not in the clone: {line}")
    clone = home / "a path with spaces" / "himeji"
    # Hard-linked files would change their owner in both clones.
    command = ["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone]
    subprocess.run(command, umask=UMASK, check=True)
    if user is not None:
        for path in [home, *home.rglob("*")]:
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
    return clone


def run(command: list[str], clone: Path, home: Path, user: pwd.struct_passwd | None) -> int:
    """Run the command in the clone; returns its exit code."""
    environment = scrubbed(os.environ)
    identity = {}
    if user is not None:
        environment |= {"HOME": str(home), "PATH": PLAIN_PATH}
        identity = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    done = subprocess.run(command, cwd=clone, env=environment, umask=UMASK, check=False, **identity)
    return done.returncode


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    return matching(environment, EVERY_MACHINE + PACKAGE_CLIENTS)


@contextlib.contextmanager
def new_user(home: Path) -> Iterator[pwd.struct_passwd]:
    """Create an unprivileged user for a `with` block, then kill its processes and remove it."""
    name = f"himeji-{os.getpid()}"
    subprocess.run(["useradd", "--no-create-home", "--home-dir", home, name], check=True)
    user = pwd.getpwnam(name)
    try:
        yield user
    finally:
        while found := processes_of(user):
            for pid in found:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)
        subprocess.run(["userdel", name], check=True)


def left_behind(user: pwd.struct_passwd) -> list[str]:
    """The processes of the user that are still running after EXIT_TIMEOUT, a line each."""
    until = time.monotonic() + EXIT_TIMEOUT
    while (found := processes_of(user)) and time.monotonic() < until:
        time.sleep(0.5)
    return [f"{pid} {command}" for pid, command in found.items()]


def processes_of(user: pwd.struct_passwd) -> dict[int, str]:
    """The command lines of the user's processes, by process id."""
    found = {}
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and folder.stat().st_uid == user.pw_uid:
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                if command:  # a zombie has none
                    found[int(folder.name)] = command.decode(errors="replace").strip()
    return found


def commit(clone: Path) -> str:
    command = ["git", "-c", f"safe.directory={clone}", "rev-parse", "--short", "HEAD"]
    return subprocess.run(
        command, cwd=clone, capture_output=True, text=True, check=True
    ).stdout.strip()


def shown(command: list[str]) -> str:
    return " ".join(command)


def say(line: str) -> None:
    print(f"fresh: {line}", flush=True)  # noqa: T201 - progress


if __name__ == "__main__":
    sys.exit(main())
