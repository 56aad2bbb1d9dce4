"""Services of the contract by blocking calls: those of accounts, ladders and administration."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from types import ModuleType, TracebackType
from typing import Any, ClassVar, Self

import grpc
from himeji.v1 import account_service_pb2, admin_service_pb2, ladder_service_pb2 as pb
from himeji.v1.account_service_pb2_grpc import AccountServiceStub
from himeji.v1.admin_service_pb2_grpc import AdminServiceStub
from himeji.v1.ladder_service_pb2_grpc import LadderServiceStub
from himeji.wire.errors import from_rpc_error

from himeji_sdk import connection
from himeji_sdk._client.rpc import RPC_TIMEOUT_SECONDS
from himeji_sdk.connection import find_target, with_advice


class ServiceClient:
    """A service of an arena, for the owner of a token or for anybody.

    Requests and responses are those of the contract.
    """

    _messages: ClassVar[ModuleType]
    _stub_class: ClassVar[Any]

    def __init__(self, target: str | None = None, token: str = "") -> None:
        """Without a token only public methods are answered."""
        self._target = find_target(target)
        self._metadata = connection.credentials(token) if token else ()
        self._channel = connection.channel(self._target)
        self._stub = self._stub_class(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._channel.close()

    def call(self, method: str, **fields: Any) -> Any:
        """Call a method of the service; raises what the arena refuses.

        Such as `call("GetStandings", ladder="base-2p")`; the fields are those of its request. A
        method that changes something gets a request id, so that it may be sent again.
        """
        request = getattr(self._messages, f"{method}Request")(**fields)
        if "request_id" in request.DESCRIPTOR.fields_by_name:
            request.request_id = request.request_id or str(uuid.uuid4())
        try:
            return getattr(self._stub, method)(
                request, metadata=self._metadata, timeout=RPC_TIMEOUT_SECONDS
            )
        except grpc.RpcError as failure:
            raise with_advice(from_rpc_error(failure), self._target) from None

    def pages(self, method: str, field: str, most: int | None = None, **fields: Any) -> list[Any]:
        """Collect a list over all its pages, or its first `most` entries."""
        found: list[Any] = []
        token = ""
        while True:
            page = self.call(method, page_token=token, page_size=most or 0, **fields)
            found += getattr(page, field)
            token = page.next_page_token
            if not token or (most is not None and len(found) >= most):
                return found[:most]


class AccountClient(ServiceClient):
    """AccountService: owners, bots and tokens."""

    _messages: ClassVar = account_service_pb2
    _stub_class: ClassVar = AccountServiceStub


class AdminClient(ServiceClient):
    """AdminService: void games, delete owners, see fair-play flags and the audit log."""

    _messages: ClassVar = admin_service_pb2
    _stub_class: ClassVar = AdminServiceStub

    def delete_owner(self, owner: str, explanation: str) -> None:
        """Delete an owner that never played, with its bots and tokens; its name is free again.

        The explanation goes into the audit log. Raises Refused for an owner that has played.
        """
        self.call("DeleteOwner", owner=owner, explanation=explanation)


class LadderClient(ServiceClient):
    """LadderService: standings, histories, seasons and tournaments."""

    _messages: ClassVar = pb
    _stub_class: ClassVar = LadderServiceStub

    def results(self, ladder: str, after: int | None = None) -> Iterator[pb.RatedResult]:
        """Results as they are rated; ends when the arena stops."""
        request = pb.WatchResultsRequest(ladder=ladder, after_sequence=after)
        try:
            for message in self._stub.WatchResults(request, metadata=self._metadata):
                if message.HasField("result"):
                    yield message.result
        except grpc.RpcError as failure:
            raise with_advice(from_rpc_error(failure), self._target) from None

    def recompute(
        self, ladder: str, season: int = 0, *, repair: bool = False
    ) -> Iterator[pb.RecomputeStandingsResponse]:
        """Compute a table anew and compare it: progress, rows that differ, and last the result.

        `repair` puts the computed table in place of a wrong one. Season 0 is the running one.
        """
        request = pb.RecomputeStandingsRequest(
            request_id=str(uuid.uuid4()), ladder=ladder, season=season, repair=repair
        )
        try:
            for message in self._stub.RecomputeStandings(request, metadata=self._metadata):
                if not message.HasField("stream_end"):
                    yield message
        except grpc.RpcError as failure:
            raise with_advice(from_rpc_error(failure), self._target) from None
