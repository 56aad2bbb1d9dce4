"""The commands of this package, a module for each thing that they are about."""

from typing import Final

import click

from himeji_sdk.commands.bots import bots, new
from himeji_sdk.commands.doctor import doctor
from himeji_sdk.commands.ladder import ladder
from himeji_sdk.commands.local import play
from himeji_sdk.commands.online import run, watch
from himeji_sdk.commands.replays import replay, show, verify
from himeji_sdk.commands.rules import actions, rulesets
from himeji_sdk.match.command import match

COMMANDS: Final[tuple[click.Command, ...]] = (
    actions,
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
