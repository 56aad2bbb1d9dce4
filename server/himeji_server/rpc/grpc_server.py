"""Builds the gRPC server: services, health, reflection, interceptor and limits."""

import errno
import socket
from collections.abc import Iterable, Mapping
from typing import Any, Final

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, text_format
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection, reflection_pb2

from himeji_server.accounts.authorisation import Authoriser
from himeji_server.limits import MOST_METADATA_READ, Limits
from himeji_server.processor_shares import ProcessorShares
from himeji_server.rpc import rpc_handlers
from himeji_server.rpc.calls_in_flight import CallsInFlight
from himeji_server.rpc.interceptor import CallInterceptor, OverloadHandler
from himeji_server.rpc.readiness import Readiness
from himeji_server.settings import HOST
from himeji_server.startup_errors import port_unavailable

_KEEPALIVE_SECONDS: Final = 30
"""A connection on which nothing was received for this long gets a keepalive ping."""

_KEEPALIVE_TIMEOUT_SECONDS: Final = 10
_MOST_PENDING_CALLS: Final = 10_000
"""Calls that wait to be looked at: a flood makes so many of them before its address is blocked.

Each takes 14 kB.
"""

_HEALTH: Final = health_pb2.DESCRIPTOR.services_by_name["Health"]
_REFLECTION_V1: Final = "grpc.reflection.v1.ServerReflection"


def build(  # noqa: PLR0913 - the parts, each once
    readiness: Readiness,
    *,
    implementations: Mapping[str, object] | None = None,
    authorise: Authoriser | None = None,
    dev: bool = False,
    limits: Limits | None = None,
    calls: CallsInFlight | None = None,
    processor_shares: ProcessorShares | None = None,
    shared_port: bool = False,
    overload_handlers: Mapping[str, OverloadHandler] | None = None,
) -> grpc.aio.Server:
    """Build the server; methods without an implementation answer UNSUPPORTED.

    A shared port is one on which other processes of the same arena listen as well. The overload
    handlers, by path, answer instead of a method's handler while the process is full.
    """
    limits = limits or Limits()
    authorise = authorise or Authoriser(limits=limits)
    interceptor = CallInterceptor(
        authorise,
        overload_handlers,
        limit_address=authorise.limit_address,
        calls=calls or CallsInFlight(limits),
        processor_shares=processor_shares,
    )
    options = _options(limits, shared_port=shared_port)
    server = grpc.aio.server(interceptors=[interceptor], options=options)
    handlers = rpc_handlers.handlers(implementations or {})
    handlers.append(rpc_handlers.handler(_HEALTH, readiness.servicer))
    if dev:
        handlers += _reflection_handlers([*rpc_handlers.services(), _HEALTH.full_name])
    server.add_generic_rpc_handlers(handlers)
    return server


def _reflection_handlers(services: Iterable[str]) -> list[rpc_handlers.ServiceHandler]:
    """Serve reflection as v1, and as v1alpha for older clients.

    grpcio-reflection has only v1alpha. The messages of v1 differ in their package only and are
    the same on the wire, so one servicer answers both.
    """
    _register_reflection_v1()
    names = (_REFLECTION_V1, reflection.SERVICE_NAME)
    servicer = reflection.aio.ReflectionServicer(  # type: ignore[attr-defined]
        [*services, *names]
    )
    method = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    methods = {"ServerReflectionInfo": method}
    return [grpc.method_handlers_generic_handler(name, methods) for name in names]


def _register_reflection_v1() -> None:
    """Make the descriptor of v1 known, because clients look up every service that is listed."""
    file = descriptor_pb2.FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(file)
    text = text_format.MessageToString(file).replace("v1alpha", "v1")
    renamed = text_format.Parse(text, descriptor_pb2.FileDescriptorProto())
    descriptor_pool.Default().AddSerializedFile(renamed.SerializeToString())


def _options(limits: Limits, *, shared_port: bool) -> list[tuple[str, Any]]:
    return [
        # With 1, another program could share the port silently and get half of the calls.
        ("grpc.so_reuseport", int(shared_port)),
        ("grpc.max_receive_message_length", limits.bytes_read),
        # gRPC refuses some above the first figure and all above the second.
        ("grpc.max_metadata_size", MOST_METADATA_READ),
        ("grpc.absolute_max_metadata_size", MOST_METADATA_READ),
        ("grpc.max_allowed_incoming_connections", limits.connections),
        ("grpc.max_concurrent_streams", limits.calls_per_connection),
        # Above the first figure gRPC drops some new calls of anybody, above the second all.
        ("grpc.server.max_pending_requests", _MOST_PENDING_CALLS),
        ("grpc.server.max_pending_requests_hard_limit", _MOST_PENDING_CALLS),
        ("grpc.server_handshake_timeout_ms", int(limits.handshake_seconds * 1000)),
        ("grpc.keepalive_time_ms", _KEEPALIVE_SECONDS * 1000),
        ("grpc.keepalive_timeout_ms", _KEEPALIVE_TIMEOUT_SECONDS * 1000),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.min_ping_interval_without_data_ms", int(limits.seconds_between_pings * 1000)),
        # Clients open a connection that was closed again by themselves.
        ("grpc.max_connection_idle_ms", int(limits.idle_seconds * 1000)),
    ]


def check_port(port: int) -> None:
    """Raise StartRefusedError if the port cannot be bound; gRPC itself does not say why."""
    try:
        with socket.socket() as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((HOST, port))
    except OSError as error:
        raise port_unavailable(port, error) from error


def bind(server: grpc.aio.Server, port: int, *, shared: bool = False) -> int:
    """Bind the server to a port of 127.0.0.1 (0: a free one) and return the port."""
    if not shared:
        check_port(port)
    try:
        return server.add_insecure_port(f"{HOST}:{port}")
    except RuntimeError as error:
        raise port_unavailable(port, OSError(errno.EADDRINUSE, "")) from error
