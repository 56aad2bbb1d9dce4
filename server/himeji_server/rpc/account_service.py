"""AccountService: owners, bots, versions of bots, and tokens."""

# ruff: noqa: N802 - methods are named as the contract names them

from typing import Final

import himeji
from google.protobuf.timestamp_pb2 import Timestamp
from himeji.v1 import account_service_pb2 as pb

from himeji_server.accounts.accounts import Accounts
from himeji_server.accounts.authorisation import Context
from himeji_server.accounts.caller import caller_or_none, current_caller
from himeji_server.accounts.tokens import TokenRequest
from himeji_server.store.accounts import Bot, BotVersion, Owner
from himeji_server.store.tokens import Token

SERVICE: Final = "himeji.v1.AccountService"


class AccountService:
    """Decodes a request, calls one use case, encodes the response."""

    def __init__(self, accounts: Accounts) -> None:
        self._accounts = accounts
        self._bots = accounts.bots
        self._tokens = accounts.tokens

    async def WhoAmI(self, _request: pb.WhoAmIRequest, _context: Context) -> pb.WhoAmIResponse:
        owner, token = await self._accounts.who_am_i(current_caller())
        server = f"himeji/{himeji.__version__}"
        return pb.WhoAmIResponse(owner=_owner(owner), token=_token(token), server=server)

    async def CreateOwner(
        self, request: pb.CreateOwnerRequest, _context: Context
    ) -> pb.CreateOwnerResponse:
        owner, issued = await self._accounts.create_owner(
            caller_or_none(), request.owner, request.display_name, request.request_id
        )
        token = _token(issued.token)
        return pb.CreateOwnerResponse(owner=_owner(owner), token=token, secret=issued.secret)

    async def GetOwner(self, request: pb.GetOwnerRequest, _context: Context) -> pb.GetOwnerResponse:
        return pb.GetOwnerResponse(owner=_owner(await self._accounts.owner(request.owner)))

    async def ListOwners(
        self, request: pb.ListOwnersRequest, _context: Context
    ) -> pb.ListOwnersResponse:
        owners, next_page_token = await self._accounts.owners(request.page_size, request.page_token)
        return pb.ListOwnersResponse(owners=map(_owner, owners), next_page_token=next_page_token)

    async def CreateBot(
        self, request: pb.CreateBotRequest, _context: Context
    ) -> pb.CreateBotResponse:
        bot = await self._bots.create(
            *(current_caller(), request.bot, request.description, request.version_label),
            request.request_id,
        )
        return pb.CreateBotResponse(bot=_bot(bot))

    async def GetBot(self, request: pb.GetBotRequest, _context: Context) -> pb.GetBotResponse:
        return pb.GetBotResponse(bot=_bot(await self._bots.get(request.bot)))

    async def ListBots(self, request: pb.ListBotsRequest, _context: Context) -> pb.ListBotsResponse:
        bots, next_page_token = await self._bots.list_bots(
            *(request.owner, request.page_size, request.page_token),
            show_retired=request.show_retired,
        )
        return pb.ListBotsResponse(bots=map(_bot, bots), next_page_token=next_page_token)

    async def RetireBot(
        self, request: pb.RetireBotRequest, _context: Context
    ) -> pb.RetireBotResponse:
        bot = await self._bots.retire(current_caller(), request.bot, request.request_id)
        return pb.RetireBotResponse(bot=_bot(bot))

    async def CreateBotVersion(
        self, request: pb.CreateBotVersionRequest, _context: Context
    ) -> pb.CreateBotVersionResponse:
        version = await self._bots.create_version(
            current_caller(), request.bot, request.label, request.request_id
        )
        return pb.CreateBotVersionResponse(bot_version=_version(version))

    async def ListBotVersions(
        self, request: pb.ListBotVersionsRequest, _context: Context
    ) -> pb.ListBotVersionsResponse:
        versions, next_page_token = await self._bots.versions(
            request.bot, request.page_size, request.page_token
        )
        found = map(_version, versions)
        return pb.ListBotVersionsResponse(bot_versions=found, next_page_token=next_page_token)

    async def CreateToken(
        self, request: pb.CreateTokenRequest, _context: Context
    ) -> pb.CreateTokenResponse:
        timed = request.HasField("lifetime")
        lifetime = request.lifetime.ToMilliseconds() if timed else None
        properties = TokenRequest(
            request.owner, request.bot, request.scopes, request.label, lifetime
        )
        issued = await self._tokens.create(current_caller(), properties, request.request_id)
        return pb.CreateTokenResponse(token=_token(issued.token), secret=issued.secret)

    async def RotateToken(
        self, request: pb.RotateTokenRequest, _context: Context
    ) -> pb.RotateTokenResponse:
        overlap = request.overlap.ToMilliseconds()
        issued = await self._tokens.rotate(
            current_caller(), request.token_id, overlap, request.request_id
        )
        return pb.RotateTokenResponse(token=_token(issued.token), secret=issued.secret)

    async def RevokeToken(
        self, request: pb.RevokeTokenRequest, _context: Context
    ) -> pb.RevokeTokenResponse:
        token = await self._tokens.revoke(current_caller(), request.token_id, request.request_id)
        return pb.RevokeTokenResponse(token=_token(token))

    async def ListTokens(
        self, request: pb.ListTokensRequest, _context: Context
    ) -> pb.ListTokensResponse:
        tokens, next_page_token = await self._tokens.list_tokens(
            *(current_caller(), request.owner, request.page_size, request.page_token),
            show_ended=request.show_ended,
        )
        return pb.ListTokensResponse(tokens=map(_token, tokens), next_page_token=next_page_token)


def _owner(owner: Owner) -> pb.Owner:
    return pb.Owner(
        name=owner.name,
        display_name=owner.display_name,
        create_time=_time(owner.created),
        house=owner.house,
        played=owner.played,
    )


def _bot(bot: Bot) -> pb.Bot:
    return pb.Bot(
        name=str(bot.name),
        description=bot.description,
        newest_version=bot.newest_version,
        create_time=_time(bot.created),
        retire_time=_time(bot.retired),
    )


def _version(version: BotVersion) -> pb.BotVersion:
    return pb.BotVersion(
        bot=str(version.bot),
        number=version.number,
        label=version.label,
        parent_version=version.parent,
        create_time=_time(version.created),
    )


def _token(token: Token) -> pb.Token:
    return pb.Token(
        token_id=token.token_id,
        owner=token.owner,
        bot=token.bot,
        scopes=token.scopes,  # type: ignore[arg-type]
        label=token.label,
        create_time=_time(token.created),
        expire_time=_time(token.expires),
        revoke_time=_time(token.revoked),
        overlap_time=_time(token.overlap),
        last_use_time=_time(token.used),
    )


def _time(milliseconds: int) -> Timestamp | None:
    """A timestamp, or None for 0."""
    if not milliseconds:
        return None
    time = Timestamp()
    time.FromMilliseconds(milliseconds)
    return time
