"""Asks a running arena whether it is ready, from another process."""

from typing import Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from himeji.wire.errors import from_rpc_error

_SECONDS: Final = 10.0


def state(address: str) -> str:
    """Give the state of the arena as the health service names it; raises an error of the tree."""
    # The address is this machine's, which no proxy (http_proxy) reaches.
    options = [("grpc.enable_http_proxy", 0)]
    with grpc.insecure_channel(address, options=options) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        try:
            answer = stub.Check(health_pb2.HealthCheckRequest(), timeout=_SECONDS)
        except grpc.RpcError as error:
            raise from_rpc_error(error) from error
    return str(health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))
