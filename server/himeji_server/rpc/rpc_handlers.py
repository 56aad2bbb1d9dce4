"""gRPC handlers of the services of the contract, built from their descriptors.

An implementation is any object with coroutine methods that are named like the RPCs. Methods that it
lacks, and services without an implementation, answer UNSUPPORTED.
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

# These are generic only in the stubs.
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
ServiceHandler: TypeAlias = "grpc.GenericRpcHandler[Any, Any]"

HANDLER_FACTORIES: Final = {
    (False, False): grpc.unary_unary_rpc_method_handler,
    (False, True): grpc.unary_stream_rpc_method_handler,
    (True, False): grpc.stream_unary_rpc_method_handler,
    (True, True): grpc.stream_stream_rpc_method_handler,
}
"""The function that makes a handler, by whether requests and responses are streams."""


class UnsupportedMethod:
    """Answers every call of a method of the contract that has no implementation."""

    def __init__(self, path: str) -> None:
        self._path = path

    async def __call__(self, _request: object, _context: object) -> None:
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
    """Every method of the contract with its path, "/service/method"."""
    for service in services().values():
        for method in service.methods:
            yield f"/{service.full_name}/{method.name}", method


def handlers(implementations: Mapping[str, object]) -> list[ServiceHandler]:
    """Make the handlers of all services; implementations are keyed by the service's full name."""
    known = services()
    unknown = implementations.keys() - known.keys()
    if unknown:
        raise ValueError(f"not a service of the contract: {', '.join(sorted(unknown))}")
    return [handler(each, implementations.get(name)) for name, each in known.items()]


def handler(service: ServiceDescriptor, implementation: object) -> ServiceHandler:
    """Make the handler of one service, also of one outside the contract."""
    return grpc.method_handlers_generic_handler(
        service.full_name,
        {each.name: _method_handler(each, implementation) for each in service.methods},
    )


def _method_handler(method: MethodDescriptor, implementation: object) -> Handler:
    streaming = (bool(method.client_streaming), bool(method.server_streaming))
    behaviour = getattr(implementation, method.name, None)
    if behaviour is None or _is_generated(behaviour):
        path = f"/{method.containing_service.full_name}/{method.name}"
        behaviour = UnsupportedMethod(path)
    return HANDLER_FACTORIES[streaming](
        behaviour,
        request_deserializer=GetMessageClass(method.input_type).FromString,
        response_serializer=GetMessageClass(method.output_type).SerializeToString,
    )


def _is_generated(behaviour: object) -> bool:
    """Whether it is the empty method of a generated base class."""
    return str(getattr(behaviour, "__module__", "")).endswith("_pb2_grpc")
