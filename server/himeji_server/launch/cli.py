"""The server's commands of the command line `himeji`; what they need is imported when they run."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

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

HIGHEST_PORT: Final = 65535
_HEALTH_SECONDS: Final = 10.0
_EPILOG = (
    f"Exit codes: {ExitCode.STOPPED:d} stopped in good order, {ExitCode.REFUSED:d} cannot start, "
    f"2 wrong use, {ExitCode.PORT_IN_USE:d} port in use, {ExitCode.DATA_IN_USE:d} data folder in "
    "use by another arena."
)

_Decorated = TypeVar("_Decorated", bound=Callable[..., Any])


def _option(name: str, **attributes: Any) -> Callable[[_Decorated], _Decorated]:
    """An option that can also be set by an environment variable.

    `--log-format` has HIMEJI_LOG_FORMAT. The help shows the variable, and a default that is given.
    """
    variable = f"HIMEJI_{name.partition('/')[0].lstrip('-').replace('-', '_').upper()}"
    attributes.setdefault("show_default", attributes.get("default") is not None)
    return click.option(name, envvar=variable, show_envvar=True, **attributes)


class _StartRefused(click.ClickException):
    """Prints the sentence of a StartRefusedError and exits with its code."""

    def __init__(self, error: StartRefusedError) -> None:
        super().__init__(error.sentence)
        self.exit_code = error.exit_code  # type: ignore[misc]  # click reads it so


class HttpPort(click.ParamType[int | None]):
    """A port for the web page, `none`, or `usual`."""

    name = "integer|none"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        text = str(value)
        if text == "none":
            return None
        if text == "usual":
            return USUAL_HTTP_PORT
        if not text.isdecimal() or int(text) > HIGHEST_PORT:
            self.fail(f"{text!r} is neither a port nor `none`", param, ctx)
        return int(text)


@click.command(epilog=_EPILOG)
@_option(
    "--port",
    type=click.IntRange(0, HIGHEST_PORT),
    default=DEFAULT_PORT,
    help="Port on 127.0.0.1; 0 takes a free one.",
)
@_option(
    "--http-port",
    type=HttpPort(),
    default="usual",
    show_default=f"{DEFAULT_HTTP_PORT}, or a free one where that is in use",
    help="Port on 127.0.0.1 of the page for browsers; 0 takes a free one, `none` serves no page.",
)
@_option(
    "--data",
    type=click.Path(path_type=Path),
    default=DEFAULT_DATA,
    help="Folder of the embedded Redis and of the local token; created where it is missing.",
)
@_option(
    "--redis",
    metavar="URL",
    help="Use this Redis (redis://, rediss:// or unix://) instead of an embedded one.",
)
@_option(
    "--ranked",
    is_flag=True,
    help="Refuse to start on a Redis that could lose an acknowledged move.",
)
@_option(
    "--accept-data-loss",
    is_flag=True,
    help="Start with --ranked although acknowledged moves are missing from the data folder.",
)
@_option(
    "--dev/--no-dev",
    default=None,
    help="Development mode: gRPC reflection, a local owner with a token in the data folder. "
    "On by default, off with --ranked.",
)
@_option(
    "--log-format",
    type=click.Choice(["console", "json"]),
    default="console",
    help="How the log on standard error is written.",
)
@_option(
    "--registration",
    type=click.Choice([CLOSED_REGISTRATION, OPEN_REGISTRATION]),
    default=CLOSED_REGISTRATION,
    help="Who may create owners: administrators (closed) or everybody (open).",
)
@_option(
    "--admin-token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Keep a token of an administrator in this file, for your user alone.",
)
@_option(
    "--bots-per-owner",
    type=click.IntRange(1),
    default=AccountLimits.bots_per_owner,
    help="Bots that an owner may have, retired ones not counted.",
)
@_option(
    "--tokens-per-owner",
    type=click.IntRange(1),
    default=AccountLimits.tokens_per_owner,
    help="Tokens that an owner may have, those that ended not counted.",
)
@_option(
    "--house",
    metavar="BOT,…",
    help="House bots that the arena runs, as `himeji bots` lists them; they play on the "
    "ladders and when invited. In development mode `random,greedy,planner` by default, else none; "
    "`none` means none.",
)
@_option(
    "--components",
    type=click.Path(path_type=Path),
    help="A folder with data files of components in place of the packaged ones.",
)
@_option(
    "--ladders",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A TOML file with ladders of your own, beside the standard ones (docs/ladder.md).",
)
@_option(
    "--games-per-owner",
    type=click.IntRange(1),
    default=Limits.games_per_owner,
    help="Games, not over, in which the bots of an owner may have seats.",
)
@_option(
    "--streams",
    type=click.IntRange(1),
    default=Limits.streams,
    help="Play streams that each process has room for.",
)
@_option(
    "--streams-per-owner",
    type=click.IntRange(1),
    default=Limits.streams_per_owner,
    help="Play streams that an owner may have open at each process.",
)
@_option(
    "--calls-per-second",
    type=click.IntRange(1),
    default=Limits.calls_per_second,
    help="Calls that an owner may make a second at each process; twice as many at once.",
)
@_option(
    "--processes",
    type=click.IntRange(1, MOST_PROCESSES),
    default=Settings.processes,
    help="Server processes that share the port and the Redis.",
)
@_option(
    "--metrics-port",
    type=click.IntRange(0, HIGHEST_PORT),
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
    accept_data_loss: bool,
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

    from himeji_server.launch.house_bots import parse_house_bots  # noqa: PLC0415 - needs the extra
    from himeji_server.launch.serve import run  # noqa: PLC0415 - the same

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
            accept_data_loss=accept_data_loss,
            dev=dev,
            house=parse_house_bots(house, dev=dev),
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
                games_created_per_day=max(Limits.games_created_per_day, 50 * games_per_owner),
                resumed_games=max(Limits.resumed_games, games_per_owner),
                play_message_bytes=max(Limits.play_message_bytes, 64 * games_per_owner),
                streams=streams,
                streams_per_owner=streams_per_owner,
                connections_per_owner=max(Limits.connections_per_owner, 2 * streams_per_owner),
                calls_per_second=calls_per_second,
                calls_at_once=2 * calls_per_second,
            ),
            processes=processes,
            metrics_port=metrics_port,
        )
        run(settings, announce=click.echo)
    except StartRefusedError as error:
        raise _StartRefused(error) from error


@click.command()
@_option(
    "--port",
    type=click.IntRange(1, HIGHEST_PORT),
    default=DEFAULT_PORT,
    help="Port on 127.0.0.1 at which the arena listens.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of words.")
def health(*, port: int, as_json: bool) -> None:
    """Say whether the arena on this machine is ready; the exit code is 0 if it is."""
    state = _health_state(f"{HOST}:{port}")
    facts = {"address": f"{HOST}:{port}", "state": state}
    click.echo(json.dumps(facts) if as_json else f"{HOST}:{port} {state}")
    sys.exit(0 if state == "SERVING" else 1)


def _health_state(address: str) -> str:
    """What the health service of an arena answers; raises a HimejiError."""
    import grpc  # noqa: PLC0415 - needs the extra
    from grpc_health.v1 import health_pb2, health_pb2_grpc  # noqa: PLC0415 - the same
    from himeji.wire.errors import from_rpc_error  # noqa: PLC0415 - the same

    # The address is on this machine, where no proxy (http_proxy) is needed.
    options = [("grpc.enable_http_proxy", 0)]
    with grpc.insecure_channel(address, options=options) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        try:
            answer = stub.Check(health_pb2.HealthCheckRequest(), timeout=_HEALTH_SECONDS)
        except grpc.RpcError as error:
            raise from_rpc_error(error) from error
    return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))
