"""AdminService: adjudication, deletion of owners, fair-play flags and the audit log."""

from __future__ import annotations

from typing import Any, Final

from himeji.v1 import admin_service_pb2 as pb

from himeji_server.accounts.caller import current_caller
from himeji_server.accounts.owner_deletion import OwnerDeletion
from himeji_server.games.messages import game_message
from himeji_server.games.use_cases import GameUseCases
from himeji_server.ladder.administration import Administration

SERVICE: Final = "himeji.v1.AdminService"

# ruff: noqa: N802 - methods have the contract's names


class AdminService:
    """Decodes a request, calls one use case, encodes the response."""

    def __init__(
        self, use_cases: GameUseCases, administration: Administration, deletion: OwnerDeletion
    ) -> None:
        self._use_cases = use_cases
        self._administration = administration
        self._deletion = deletion

    async def VoidGame(self, request: pb.VoidGameRequest, _context: Any) -> pb.VoidGameResponse:
        view, pending = await self._administration.void_game(
            current_caller(), request.game_id, request.explanation, request.request_id
        )
        connected = await self._use_cases.connected(view)
        game = game_message(view, connected.__contains__)
        return pb.VoidGameResponse(game=game, pending=pending)

    async def DeleteOwner(
        self, request: pb.DeleteOwnerRequest, _context: Any
    ) -> pb.DeleteOwnerResponse:
        await self._deletion.delete(
            current_caller(), request.owner, request.explanation, request.request_id
        )
        return pb.DeleteOwnerResponse()

    async def ListFlags(self, request: pb.ListFlagsRequest, _context: Any) -> pb.ListFlagsResponse:
        found, token = await self._administration.list_flags(
            request.ladder, request.bot, request.kind, request.page_size, request.page_token
        )
        return pb.ListFlagsResponse(flags=found, next_page_token=token)

    async def ListAuditEntries(
        self, request: pb.ListAuditEntriesRequest, _context: Any
    ) -> pb.ListAuditEntriesResponse:
        found, token = await self._administration.list_audit_entries(
            request.kind, request.page_size, request.page_token
        )
        return pb.ListAuditEntriesResponse(entries=found, next_page_token=token)
