"""The command line `himeji`: its group, and the commands of installed packages.

Other packages name their commands in the entry-point group `himeji.commands`. A command is loaded
when it is asked for; one whose extra is not installed says which extra it needs.
"""

import importlib.metadata
import platform
import re
from typing import Any, Final, NoReturn

import click
import himeji
from himeji.components import use_environment
from himeji.rules.errors import HimejiError

from himeji_sdk._bot_fault import BotFault
from himeji_sdk._commands import COMMANDS
from himeji_sdk._stdout import reopen_closed_descriptors

GROUP: Final = "himeji.commands"

_PACKAGE: Final = re.compile(r"himeji_(\w+)")
_REQUIREMENT: Final = re.compile(r"[A-Za-z0-9._-]+")


class _Commands(click.Group):
    """The commands of this package and those of the entry points."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *_entry_points()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        own = super().get_command(ctx, cmd_name)
        entry_point = _entry_points().get(cmd_name)
        if own is not None or entry_point is None:
            return own
        try:
            command = entry_point.load()
        except ImportError as error:
            return _Unloadable(cmd_name, error)
        if not isinstance(command, click.Command):
            raise TypeError(f"the entry point {entry_point.value} of {GROUP} is no click command")
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error that a user can mend is one sentence, not a traceback."""
        reopen_closed_descriptors()
        try:
            use_environment()
            return super().invoke(ctx)
        except HimejiError as error:
            raise click.ClickException(error.message) from error
        except BotFault as fault:
            raise click.ClickException(str(fault)) from fault
        except ModuleNotFoundError as error:
            sentence = _missing_extra(ctx.invoked_subcommand or "", error)
            if sentence is None:
                raise
            raise click.ClickException(sentence) from error


class _Unloadable(click.Command):
    """A command that is listed, though its module cannot be imported here."""

    def __init__(self, name: str, error: ImportError) -> None:
        takes_anything = {"ignore_unknown_options": True, "help_option_names": []}
        super().__init__(
            name,
            params=[click.Argument(["arguments"], nargs=-1, type=click.UNPROCESSED)],
            short_help=f"(not available here: {error})",
            context_settings=takes_anything,
        )
        self._error = error

    def invoke(self, ctx: click.Context) -> NoReturn:
        raise self._error


def _entry_points() -> dict[str, importlib.metadata.EntryPoint]:
    return {each.name: each for each in importlib.metadata.entry_points(group=GROUP)}


def _missing_extra(command: str, error: ModuleNotFoundError) -> str | None:
    """The sentence that names the missing extra; None if the missing module is a defect."""
    entry_point = _entry_points().get(command)
    package = _PACKAGE.match(entry_point.module) if entry_point else None
    if package is None or (error.name or "himeji").startswith("himeji"):
        return None
    extra = package[1]
    if not _is_incomplete(extra):
        return None
    return f"himeji {command} needs the extra `{extra}`: pip install 'himeji[{extra}]'"


def _is_incomplete(extra: str) -> bool:
    """Whether a distribution that the extra asks for is not installed."""
    for requirement in importlib.metadata.requires("himeji") or ():
        name = _REQUIREMENT.match(requirement)
        if name and re.search(rf"extra\s*==\s*['\"]{extra}['\"]", requirement):
            try:
                importlib.metadata.distribution(name[0])
            except importlib.metadata.PackageNotFoundError:
                return True
    return False


@click.group(cls=_Commands)
@click.version_option(
    himeji.__version__,
    prog_name="himeji",
    message=f"%(prog)s %(version)s (rules: {himeji.ENGINE_FORM}, "
    f"Python {platform.python_version()})",
)
def main() -> None:
    """Himeji: a bot arena for the board game family The White Castle."""


for _command in COMMANDS:
    main.add_command(_command)
