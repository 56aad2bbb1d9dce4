"""The server's commands of the command line `himeji`; what they need is imported when they run."""

import json
import sys
from pathlib import Path

import click

from himeji_server.limits import AccountLimits, Limits
from himeji_server.settings import (
    CLOSED_REGISTRATION,
    DEFAULT_DATA,
    DEFAULT_HTTP_PORT,
    DEFAULT_PORT,
    HOST,
    MOST_PROCESSES,
    OPEN_REGISTRATION,
    USUAL_HTTP_PORT,
    Settings,
)
from himeji_server.startup_errors import ExitCode, StartRefusedError

HIGHEST_PORT = 65535
_EPILOG = (
    f"Exit codes: {ExitCode.STOPPED:d} stopped in good order, {ExitCode.REFUSED:d} cannot start, "
    f"2 wrong use, {ExitCode.PORT_IN_USE:d} port in use, {ExitCode.DATA_IN_USE:d} data folder in "
    "use by another arena."
)


class _Refused(click.ClickException):
    """A refusal to start, as click shows it."""

    def __init__(self, error: StartRefusedError) -> None:
        super().__init__(error.sentence)
        self.exit_code = error.exit_code  # type: ignore[misc]  # click reads it so


class HttpPort(click.ParamType[int | None]):
    """A port for the page, `none`, or `usual`."""

    name = "integer|none"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        """The port as the settings have it."""
        text = str(value)
        if text == "none":
            return None
        if text == "usual":
            return USUAL_HTTP_PORT
        if not text.isdecimal() or int(text) > HIGHEST_PORT:
            self.fail(f"{text!r} is neither a port nor `none`", param, ctx)
        return int(text)


@click.command(epilog=_EPILOG)
@click.option(
    "--port",
    type=click.IntRange(0, HIGHEST_PORT),
    default=DEFAULT_PORT,
    show_default=True,
    envvar="HIMEJI_PORT",
    show_envvar=True,
    help="Port on 127.0.0.1; 0 takes a free one.",
)
@click.option(
    "--http-port",
    type=HttpPort(),
    default="usual",
    show_default=f"{DEFAULT_HTTP_PORT}, or a free one where that is in use",
    envvar="HIMEJI_HTTP_PORT",
    show_envvar=True,
    help="Port on 127.0.0.1 of the page for browsers; 0 takes a free one, `none` serves no page.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=DEFAULT_DATA,
    show_default=True,
    envvar="HIMEJI_DATA",
    show_envvar=True,
    help="Folder of the embedded Redis and of the local token; created where it is missing.",
)
@click.option(
    "--redis",
    metavar="URL",
    envvar="HIMEJI_REDIS",
    show_envvar=True,
    help="Use this Redis (redis://, rediss:// or unix://) instead of an embedded one.",
)
@click.option(
    "--ranked",
    is_flag=True,
    envvar="HIMEJI_RANKED",
    show_envvar=True,
    help="Refuse to start on a Redis that could lose an acknowledged move.",
)
@click.option(
    "--dev/--no-dev",
    default=None,
    envvar="HIMEJI_DEV",
    show_envvar=True,
    help="Development mode: gRPC reflection, a local owner with a token in the data folder. "
    "On by default, off with --ranked.",
)
@click.option(
    "--log-format",
    type=click.Choice(["console", "json"]),
    default="console",
    show_default=True,
    envvar="HIMEJI_LOG_FORMAT",
    show_envvar=True,
    help="How the log on standard error is written.",
)
@click.option(
    "--registration",
    type=click.Choice([CLOSED_REGISTRATION, OPEN_REGISTRATION]),
    default=CLOSED_REGISTRATION,
    show_default=True,
    envvar="HIMEJI_REGISTRATION",
    show_envvar=True,
    help="Who may create owners: administrators (closed) or everybody (open).",
)
@click.option(
    "--admin-token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="HIMEJI_ADMIN_TOKEN_FILE",
    show_envvar=True,
    help="Keep a token of an administrator in this file, for your user alone.",
)
@click.option(
    "--bots-per-owner",
    type=click.IntRange(1),
    default=AccountLimits.bots_per_owner,
    show_default=True,
    envvar="HIMEJI_BOTS_PER_OWNER",
    show_envvar=True,
    help="Bots that an owner may have, retired ones not counted.",
)
@click.option(
    "--tokens-per-owner",
    type=click.IntRange(1),
    default=AccountLimits.tokens_per_owner,
    show_default=True,
    envvar="HIMEJI_TOKENS_PER_OWNER",
    show_envvar=True,
    help="Tokens that an owner may have, those that ended not counted.",
)
@click.option(
    "--house",
    metavar="BOT,…",
    envvar="HIMEJI_HOUSE",
    show_envvar=True,
    help="House bots that the arena runs, as `himeji bots` lists them; they play on the "
    "ladders and when invited. In development mode `random,greedy,planner` by default, else none; "
    "`none` means none.",
)
@click.option(
    "--components",
    type=click.Path(path_type=Path),
    envvar="HIMEJI_COMPONENTS",
    show_envvar=True,
    help="A folder with data files of components in place of the packaged ones.",
)
@click.option(
    "--ladders",
    type=click.Path(path_type=Path, dir_okay=False),
    envvar="HIMEJI_LADDERS",
    show_envvar=True,
    help="A TOML file with ladders of your own, beside the standard ones (docs/ladder.md).",
)
@click.option(
    "--games-per-owner",
    type=click.IntRange(1),
    default=Limits.games_per_owner,
    show_default=True,
    envvar="HIMEJI_GAMES_PER_OWNER",
    show_envvar=True,
    help="Games, not over, in which the bots of an owner may have seats.",
)
@click.option(
    "--streams",
    type=click.IntRange(1),
    default=Limits.streams,
    show_default=True,
    envvar="HIMEJI_STREAMS",
    show_envvar=True,
    help="Play streams that each process has room for.",
)
@click.option(
    "--streams-per-owner",
    type=click.IntRange(1),
    default=Limits.streams_per_owner,
    show_default=True,
    envvar="HIMEJI_STREAMS_PER_OWNER",
    show_envvar=True,
    help="Play streams that an owner may have open at each process.",
)
@click.option(
    "--calls-per-second",
    type=click.IntRange(1),
    default=Limits.calls_per_second,
    show_default=True,
    envvar="HIMEJI_CALLS_PER_SECOND",
    show_envvar=True,
    help="Calls that an owner may make a second at each process; twice as many at once.",
)
@click.option(
    "--processes",
    type=click.IntRange(1, MOST_PROCESSES),
    default=Settings.processes,
    show_default=True,
    envvar="HIMEJI_PROCESSES",
    show_envvar=True,
    help="Server processes that share the port and the Redis.",
)
@click.option(
    "--metrics-port",
    type=click.IntRange(0, HIGHEST_PORT),
    envvar="HIMEJI_METRICS_PORT",
    show_envvar=True,
    help="Serve Prometheus metrics on this port of 127.0.0.1; 0 takes a free one. With several "
    "processes each has a port, this one and those after it.",
)
def serve(  # noqa: PLR0913 - one parameter per option
    *,
    port: int,
    http_port: int | None,
    data: Path,
    redis: str | None,
    ranked: bool,
    dev: bool | None,
    log_format: str,
    registration: str,
    admin_token_file: Path | None,
    bots_per_owner: int,
    tokens_per_owner: int,
    house: str | None,
    components: Path | None,
    ladders: Path | None,
    games_per_owner: int,
    streams: int,
    streams_per_owner: int,
    calls_per_second: int,
    processes: int,
    metrics_port: int | None,
) -> None:
    """Open an arena on this machine and keep it open until Ctrl-C."""
    from himeji.components import use_folder  # noqa: PLC0415 - reads all rulesets

    from himeji_server.launch import serve as life  # noqa: PLC0415 - needs the extra
    from himeji_server.launch.house_bots import wanted  # noqa: PLC0415 - the same

    if ranked and dev:
        raise click.UsageError("--ranked and --dev exclude each other")
    dev = not ranked if dev is None else dev
    if components is not None:
        use_folder(components)
    try:
        settings = Settings(
            port=port,
            http_port=http_port,
            data=data,
            redis=redis,
            ranked=ranked,
            dev=dev,
            house=wanted(house, dev=dev),
            ladders=ladders,
            log_format=log_format,
            registration=registration,
            admin_token_file=admin_token_file,
            accounts=AccountLimits(
                bots_per_owner=bots_per_owner,
                bot_names_per_owner=max(AccountLimits.bot_names_per_owner, 2 * bots_per_owner),
                tokens_per_owner=tokens_per_owner,
            ),
            limits=Limits(
                games_per_owner=games_per_owner,
                waiting_games_per_owner=max(Limits.waiting_games_per_owner, games_per_owner // 5),
                streams=streams,
                streams_per_owner=streams_per_owner,
                calls_per_second=calls_per_second,
                calls_at_once=2 * calls_per_second,
            ),
            processes=processes,
            metrics_port=metrics_port,
        )
        life.run(settings, announce=click.echo)
    except StartRefusedError as error:
        raise _Refused(error) from error


@click.command()
@click.option(
    "--port",
    type=click.IntRange(1, HIGHEST_PORT),
    default=DEFAULT_PORT,
    show_default=True,
    envvar="HIMEJI_PORT",
    show_envvar=True,
    help="Port on 127.0.0.1 at which the arena listens.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of words.")
def health(*, port: int, as_json: bool) -> None:
    """Say whether the arena on this machine is ready; the exit code is 0 if it is."""
    from himeji_server.launch.health_probe import state  # noqa: PLC0415 - needs the extra

    found = state(f"{HOST}:{port}")
    facts = {"address": f"{HOST}:{port}", "state": found}
    click.echo(json.dumps(facts) if as_json else f"{HOST}:{port} {found}")
    sys.exit(0 if found == "SERVING" else 1)
