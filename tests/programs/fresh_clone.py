"""Runs a command in a fresh clone of the last commit, as a newcomer would.

    python -m tests.programs.fresh_clone make test
    python -m tests.programs.fresh_clone --new-user make test PYTHON=/usr/bin/python3

The clone's path has spaces, the environment has only what tests/environment.py lists (so
LANG is not set), and files are made with umask 027. With --new-user, which takes root, all of it
belongs to a user that is made for this and removed afterwards, together with an empty home; a
process that the command left behind is a failure. Standard library alone: nothing is set up yet.
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
LEAVE_SECONDS = 30.0


def main() -> int:
    """Do what the command line says; the exit code of the command."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.programs.fresh_clone", description=__doc__
    )
    parser.add_argument("--new-user", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    wanted = parser.parse_args()
    if not wanted.command:
        parser.error("which command?")
    if wanted.new_user:
        if os.geteuid() != 0:
            sys.exit("a user can be made by root alone: run this as root")
        debian_packages.ensure("fresh_clone")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    # A shell lets what it runs in the background ignore Ctrl-C, and what that starts as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with contextlib.ExitStack() as stack:
        # A new user may be kept out of the folder that TMPDIR names.
        place = "/tmp" if wanted.new_user else None
        home = Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="himeji-fresh-", dir=place))
        )
        user = stack.enter_context(new_user(home)) if wanted.new_user else None
        clone = cloned(home, user)
        say(f"{shown(wanted.command)} in {clone}, commit {commit(clone)}")
        begun = time.monotonic()
        code = run(wanted.command, clone, home, user)
        seconds = time.monotonic() - begun
        left = left_behind(user) if user else []
        for line in left:
            say(f"left behind: {line}")
    who = "a new user" if user else "this user"
    outcome = "failed" if code or left else "passed"
    say(f"{shown(wanted.command)} {outcome} after {seconds:.0f} s, fresh clone, {who}")
    return code or bool(left)


def cloned(home: Path, user: pwd.struct_passwd | None) -> Path:
    """A clone of the last commit; what is not committed is not in it."""
    # Without locks, git does not write to a checkout that may be somebody else's.
    status = ["git", "--no-optional-locks", "status", "--porcelain"]
    changed = subprocess.run(status, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    for line in changed.stdout.splitlines():
        say(f"not committed, so not in the clone: {line}")
    clone = home / "a path with spaces" / "himeji"
    # Files that two clones share would change their owner in both.
    command = ["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone]
    subprocess.run(command, umask=UMASK, check=True)
    if user is not None:
        for path in [home, *home.rglob("*")]:
            os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
    return clone


def run(command: list[str], clone: Path, home: Path, user: pwd.struct_passwd | None) -> int:
    """Run the command there; its exit code."""
    environment = scrubbed(os.environ)
    who = {}
    if user is not None:
        environment |= {"HOME": str(home), "PATH": PLAIN_PATH}
        who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    done = subprocess.run(command, cwd=clone, env=environment, umask=UMASK, check=False, **who)
    return done.returncode


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """What is left of an environment."""
    return matching(environment, EVERY_MACHINE + PACKAGE_CLIENTS)


@contextlib.contextmanager
def new_user(home: Path) -> Iterator[pwd.struct_passwd]:
    """An unprivileged user whose home is a folder, for as long as this lasts."""
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
    """The processes of the user that do not end by themselves, each in a line."""
    until = time.monotonic() + LEAVE_SECONDS
    while (found := processes_of(user)) and time.monotonic() < until:
        time.sleep(0.5)
    return [f"{pid} {words}" for pid, words in found.items()]


def processes_of(user: pwd.struct_passwd) -> dict[int, str]:
    """Their ids and what was typed to start them."""
    found = {}
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and folder.stat().st_uid == user.pw_uid:
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                if words:  # a zombie has none
                    found[int(folder.name)] = words.decode(errors="replace").strip()
    return found


def commit(clone: Path) -> str:
    """What was cloned, in short."""
    command = ["git", "-c", f"safe.directory={clone}", "rev-parse", "--short", "HEAD"]
    return subprocess.run(
        command, cwd=clone, capture_output=True, text=True, check=True
    ).stdout.strip()


def shown(command: list[str]) -> str:
    """A command as it is typed."""
    return " ".join(command)


def say(line: str) -> None:
    """Tell on standard output, before what the command says."""
    print(f"fresh: {line}", flush=True)  # noqa: T201 - a program's word


if __name__ == "__main__":
    sys.exit(main())
