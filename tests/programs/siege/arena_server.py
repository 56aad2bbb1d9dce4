"""`himeji serve --ranked` with single limits changed, which no option of the product can do.

The controls of a siege raise the one limit that defends against an attack, to show that the attack
works without it.
"""

import dataclasses
import functools
import json
import sys
from pathlib import Path

from himeji_server.launch import serve
from himeji_server.limits import AccountLimits, Limits
from himeji_server.settings import CLOSED_REGISTRATION, OPEN_REGISTRATION, Settings

ADMIN_TOKEN = "admin.token"


def changed(limits, changes):
    """The limits with those of the changes that they have."""
    names = {field.name for field in dataclasses.fields(limits)}
    return dataclasses.replace(limits, **{k: v for k, v in changes.items() if k in names})


def unknown_limits(changes):
    """The names in the changes that are no limit."""
    known = {each.name for kind in (AccountLimits, Limits) for each in dataclasses.fields(kind)}
    return sorted(set(changes) - known)


def settings(folder, changes, *, open_registration):
    """The settings of the arena; the changes are limits by their names."""
    return Settings(
        port=0,
        http_port=0,
        data=folder,
        ranked=True,
        dev=False,
        log_format="json",
        registration=OPEN_REGISTRATION if open_registration else CLOSED_REGISTRATION,
        admin_token_file=folder / ADMIN_TOKEN,
        accounts=changed(AccountLimits(), changes),
        limits=changed(Limits(), changes),
    )


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    serve.run(
        settings(Path(asked["folder"]), asked["limits"], open_registration=asked["open"]),
        announce=functools.partial(print, flush=True),
    )
