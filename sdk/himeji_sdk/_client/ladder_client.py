"""Ladders by single calls: tables, histories, seasons and tournaments, as messages."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Final, Self

import click
import grpc
from google.protobuf.json_format import MessageToDict
from himeji.v1 import ladder_service_pb2 as pb
from himeji.v1.ladder_service_pb2_grpc import LadderServiceStub
from himeji.wire.errors import from_rpc_error

from himeji_sdk import connection
from himeji_sdk.connection import advised, find_target

_CALL_SECONDS: Final = 30.0


class LadderClient:
    """The ladders of an arena, as the owner of a token, or anybody, asks for them."""

    def __init__(self, target: str | None = None, token: str = "") -> None:
        """Without a token only what everybody may know is answered."""
        self._target = find_target(target)
        self._metadata = connection.credentials(token) if token else ()
        self._channel = connection.channel(self._target)
        self._stub = LadderServiceStub(self._channel)

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
        """Call a method of LadderService; raises what the arena refuses.

        A method that changes something gets a request id, so that it may be sent again.
        """
        request = getattr(pb, f"{method}Request")(**fields)
        if "request_id" in request.DESCRIPTOR.fields_by_name:
            request.request_id = request.request_id or str(uuid.uuid4())
        try:
            return getattr(self._stub, method)(
                request, metadata=self._metadata, timeout=_CALL_SECONDS
            )
        except grpc.RpcError as failure:
            raise advised(from_rpc_error(failure), self._target) from None

    def pages(self, method: str, field: str, most: int | None = None, **fields: Any) -> list[Any]:
        """All entries of a list, page by page, or so many."""
        found: list[Any] = []
        token = ""
        while True:
            size = 0 if most is None else most - len(found)
            page = self.call(method, page_token=token, page_size=size, **fields)
            found += getattr(page, field)
            token = page.next_page_token
            if not token or (most is not None and len(found) >= most):
                return found[:most]

    def results(self, ladder: str, after: int | None = None) -> Iterator[pb.RatedResult]:
        """Results as they are rated; ends when the arena stops."""
        request = pb.WatchResultsRequest(ladder=ladder, after_sequence=after)
        try:
            for message in self._stub.WatchResults(request, metadata=self._metadata):
                if message.HasField("result"):
                    yield message.result
        except grpc.RpcError as failure:
            raise advised(from_rpc_error(failure), self._target) from None


def print_json(messages: list[Any]) -> None:
    """Write messages to standard output as JSON, every field named as in the contract."""
    found = [
        MessageToDict(
            each, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
        )
        for each in messages
    ]
    click.echo(json.dumps(found, indent=1))
