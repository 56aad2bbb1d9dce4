"""The gRPC server of an arena: services, health, reflection, guard and limits put together."""

import errno
import socket
from collections.abc import Mapping
from typing import Any, Final

import grpc
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection

from himeji_server.accounts.authorisation import Authoriser
from himeji_server.limits import MOST_BYTES_READ, MOST_METADATA_READ, Limits
from himeji_server.rpc import rpc_handlers
from himeji_server.rpc.interceptor import CallInterceptor, OverloadHandler
from himeji_server.rpc.readiness import Readiness
from himeji_server.settings import HOST
from himeji_server.startup_errors import port_unavailable

_SECONDS_OF_SILENCE: Final = 30
"""A connection from which nothing came for so long is asked for a sign of life."""

_SECONDS_FOR_A_SIGN: Final = 10
_SECONDS_IDLE: Final = 600
"""A connection without calls is closed then; clients open it again by themselves."""

_MOST_CALLS_PER_CONNECTION: Final = 1_000
_HEALTH: Final = health_pb2.DESCRIPTOR.services_by_name["Health"]


def build(  # noqa: PLR0913 - the parts, each once
    readiness: Readiness,
    *,
    implementations: Mapping[str, object] | None = None,
    authorise: Authoriser | None = None,
    dev: bool = False,
    limits: Limits | None = None,
    shared_port: bool = False,
    overload_handlers: Mapping[str, OverloadHandler] | None = None,
) -> grpc.aio.Server:
    """Build the server; methods without an implementation answer UNSUPPORTED.

    A shared port is one on which other processes of the same arena listen as well. The overload
    handlers, by path, answer instead of a method's handler while the process is full.
    """
    interceptor = CallInterceptor(authorise or Authoriser(), overload_handlers)
    options = _options(limits or Limits(), shared_port=shared_port)
    server = grpc.aio.server(interceptors=[interceptor], options=options)
    ours = rpc_handlers.handlers(implementations or {})
    server.add_generic_rpc_handlers((*ours, rpc_handlers.handler(_HEALTH, readiness.servicer)))
    if dev:
        names = [*rpc_handlers.services(), _HEALTH.full_name, reflection.SERVICE_NAME]
        reflection.enable_server_reflection(names, server)
    return server


def _options(limits: Limits, *, shared_port: bool) -> list[tuple[str, Any]]:
    return [
        # With 1, strangers could share the port silently, and each would get half of the calls.
        ("grpc.so_reuseport", int(shared_port)),
        ("grpc.max_receive_message_length", MOST_BYTES_READ),
        # gRPC refuses some above the first figure and all above the second.
        ("grpc.max_metadata_size", MOST_METADATA_READ),
        ("grpc.absolute_max_metadata_size", MOST_METADATA_READ),
        ("grpc.max_allowed_incoming_connections", limits.connections),
        ("grpc.max_concurrent_streams", _MOST_CALLS_PER_CONNECTION),
        ("grpc.keepalive_time_ms", _SECONDS_OF_SILENCE * 1000),
        ("grpc.keepalive_timeout_ms", _SECONDS_FOR_A_SIGN * 1000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", int(limits.seconds_between_pings * 1000)),
        ("grpc.max_connection_idle_ms", _SECONDS_IDLE * 1000),
    ]


def check_port(port: int) -> None:
    """Ask the system for the port, because gRPC tells no one why it cannot be had."""
    try:
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((HOST, port))
    except OSError as error:
        raise port_unavailable(port, error) from error


def bind(server: grpc.aio.Server, port: int, *, shared: bool = False) -> int:
    """Bind the server to a port of this machine alone (0: a free one) and return the port."""
    if not shared:
        check_port(port)
    try:
        return server.add_insecure_port(f"{HOST}:{port}")
    except RuntimeError as error:
        raise port_unavailable(port, OSError(errno.EADDRINUSE, "")) from error
