"""The commands of the SDK, a module per topic."""

from typing import Final

import click

from himeji_sdk._commands.admin import admin
from himeji_sdk._commands.bots import bots, new
from himeji_sdk._commands.doctor import doctor
from himeji_sdk._commands.ladder import ladder
from himeji_sdk._commands.local import play
from himeji_sdk._commands.match import match
from himeji_sdk._commands.online import run, watch
from himeji_sdk._commands.replays import replay, show, verify
from himeji_sdk._commands.rules import actions, rulesets

COMMANDS: Final[tuple[click.Command, ...]] = (
    actions,
    admin,
    bots,
    doctor,
    ladder,
    match,
    new,
    play,
    replay,
    rulesets,
    run,
    show,
    verify,
    watch,
)
