"""The services of the contract as gRPC handlers, built from their descriptors.

An implementation is any object with coroutine methods named as the RPCs. What it leaves out, and
every service that has none, answers UNSUPPORTED: the contract is complete before the server is.
"""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

import grpc
import himeji.v1
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message_factory import GetMessageClass
from himeji.rules.errors import Unsupported

# These are generic in the stubs alone.
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
ServiceHandler: TypeAlias = "grpc.GenericRpcHandler[Any, Any]"

HANDLER_OF_SHAPE: Final = {
    (False, False): grpc.unary_unary_rpc_method_handler,
    (False, True): grpc.unary_stream_rpc_method_handler,
    (True, False): grpc.stream_unary_rpc_method_handler,
    (True, True): grpc.stream_stream_rpc_method_handler,
}
"""What makes a handler, by whether requests and whether responses are streams."""


class UnsupportedMethod:
    """A method of the contract that has no implementation; no token makes it answer otherwise."""

    def __init__(self, path: str) -> None:
        self._path = path

    async def __call__(self, _request: object, _context: object) -> None:
        """Refuse, with the name of the method."""
        raise Unsupported(
            f"this server does not implement {self._path} yet", {"method": self._path}
        )


def services() -> dict[str, ServiceDescriptor]:
    """Every service of the contract by its full name."""
    found: dict[str, ServiceDescriptor] = {}
    for module in pkgutil.iter_modules(himeji.v1.__path__, "himeji.v1."):
        if module.name.endswith("_pb2"):
            file = importlib.import_module(module.name).DESCRIPTOR
            found |= {each.full_name: each for each in file.services_by_name.values()}
    return found


def methods() -> Iterator[tuple[str, MethodDescriptor]]:
    """Every method of the contract with the path under which it is called."""
    for service in services().values():
        for method in service.methods:
            yield f"/{service.full_name}/{method.name}", method


def handlers(implementations: Mapping[str, object]) -> list[ServiceHandler]:
    """Make the handlers of all services; implementations are given by a service's full name."""
    known = services()
    strangers = implementations.keys() - known.keys()
    if strangers:
        raise ValueError(f"not a service of the contract: {', '.join(sorted(strangers))}")
    return [handler(each, implementations.get(name)) for name, each in known.items()]


def handler(service: ServiceDescriptor, implementation: object) -> ServiceHandler:
    """Make the handler of one service, of the contract or not."""
    return grpc.method_handlers_generic_handler(
        service.full_name, {each.name: _of_method(each, implementation) for each in service.methods}
    )


def _of_method(method: MethodDescriptor, implementation: object) -> Handler:
    shape = (bool(method.client_streaming), bool(method.server_streaming))
    behaviour = getattr(implementation, method.name, None)
    if behaviour is None or _is_generated(behaviour):
        path = f"/{method.containing_service.full_name}/{method.name}"
        behaviour = UnsupportedMethod(path)
    return HANDLER_OF_SHAPE[shape](
        behaviour,
        request_deserializer=GetMessageClass(method.input_type).FromString,
        response_serializer=GetMessageClass(method.output_type).SerializeToString,
    )


def _is_generated(behaviour: object) -> bool:
    """Whether it is the empty method that a generated base class gives."""
    return str(getattr(behaviour, "__module__", "")).endswith("_pb2_grpc")
