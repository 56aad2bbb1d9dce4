"""The file with a token for the person who runs the arena; only that user can read it."""

import contextlib
import os
import stat
from pathlib import Path
from typing import Final

from himeji.rules.errors import InvalidToken

from himeji_server.accounts.accounts import Accounts
from himeji_server.accounts.tokens import ALL_SCOPES
from himeji_server.startup_errors import StartRefusedError

NAME: Final = "token"
_LABEL: Final = "himeji serve"
_LONGEST: Final = 1000
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


async def ensure_token(path: Path, accounts: Accounts, owner: str) -> None:
    """Write a token of the owner into the file, unless it has a valid one already.

    Raises StartRefusedError when the file cannot be written.
    """
    try:
        secret, private = _read(path)
        if await _is_valid(secret, accounts, owner):
            if private:
                return
            # Other users could read it, so they may know the secret.
            await accounts.tokens.store.revoke((await accounts.tokens.verify(secret)).token_id)
        _write(path, (await accounts.issue_full_token(owner, _LABEL)).secret)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise StartRefusedError(f"the token file {path} cannot be used ({why})") from error


async def _is_valid(secret: str, accounts: Accounts, owner: str) -> bool:
    with contextlib.suppress(InvalidToken):
        caller = await accounts.tokens.verify(secret)
        return caller.owner == owner and caller.scopes.issuperset(ALL_SCOPES)
    return False


def _read(path: Path) -> tuple[str, bool]:
    """The content of the file, and whether only this user can read it."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return "", True
    try:
        text = os.read(file, _LONGEST).decode(errors="replace").strip()
        return text, not os.fstat(file).st_mode & _OTHERS
    finally:
        os.close(file)


def _write(path: Path, secret: str) -> None:
    """Replace the file atomically; the new one is private from its creation on."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, f"{secret}\n".encode())
        os.fsync(file)
    finally:
        os.close(file)
    temporary.replace(path)
