"""Limits on requests: how large a message may be, and how long each of its fields.

A request is checked before anything is done for it, so that its cost is bounded by the table below
and not by what a client sends. The figures are fields of `Limits`; they bound the cost only. What a
valid value is, a use case says: the longest name, the seats of a ruleset. A field without a row
fails a test.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from himeji.rules.errors import LimitExceeded

from himeji_server.limits import Limits
from himeji_server.rate_limits import too_large

Check = Callable[[Any], None]
"""Raises LimitExceeded for a message with a field that is too long."""

MESSAGE_BYTES: Final[Mapping[str, str]] = {"/himeji.v1.PlayService/Play": "play_message_bytes"}
"""The limit on a message's bytes, by path; all other methods have `message_bytes`."""

MESSAGES: Final[Mapping[str, str]] = {"himeji.v1.Position": "position_bytes"}
"""Messages inside a request whose bytes are limited, and so all that is in them."""

TEXT_IN_LIST: Final = "name_length"
"""The limit on each entry of a list of texts."""

CHECKED_LATER: Final = frozenset({"himeji.v1.PlayRequest.messages"})
"""Lists whose entries are checked one by one as they are handled, so that a stream goes on."""


def _rows(limit: str, *fields: str, package: str = "himeji.v1.") -> dict[str, str]:
    return {package + field: limit for field in fields}


FIELDS: Final[Mapping[str, str]] = {
    **_rows(
        "name_length",
        "Act.game_id",
        "CancelGameRequest.game_id",
        "CancelGameRequest.request_id",
        "CancelTournamentRequest.request_id",
        "CancelTournamentRequest.tournament",
        "ClientMessage.request_id",
        "CreateBotRequest.bot",
        "CreateBotRequest.request_id",
        "CreateBotVersionRequest.bot",
        "CreateBotVersionRequest.request_id",
        "CreateGameRequest.request_id",
        "CreateGameRequest.ruleset",
        "CreateOwnerRequest.owner",
        "CreateOwnerRequest.request_id",
        "CreateTokenRequest.bot",
        "CreateTokenRequest.owner",
        "CreateTokenRequest.request_id",
        "CreateTournamentRequest.request_id",
        "CreateTournamentRequest.ruleset",
        "CreateTournamentRequest.tournament",
        "DeleteOwnerRequest.owner",
        "DeleteOwnerRequest.request_id",
        "Enter.entry_id",
        "Enter.ladder",
        "GetBotRequest.bot",
        "GetDecisionRequest.game_id",
        "GetGameRequest.game_id",
        "GetHeadToHeadRequest.bot",
        "GetHeadToHeadRequest.ladder",
        "GetHeadToHeadRequest.opponent",
        "GetHistoryRequest.bot",
        "GetHistoryRequest.ladder",
        "GetLadderRequest.ladder",
        "GetOwnerRequest.owner",
        "GetReplayRequest.game_id",
        "GetRulesetRequest.revision",
        "GetRulesetRequest.ruleset",
        "GetStandingsRequest.ladder",
        "GetTournamentRequest.tournament",
        "Hello.bot",
        "JoinGameRequest.bot",
        "JoinGameRequest.entropy",
        "JoinGameRequest.game_id",
        "JoinGameRequest.request_id",
        "Leave.ladder",
        "LeaveLadderRequest.bot",
        "LeaveLadderRequest.ladder",
        "LeaveLadderRequest.request_id",
        "ListBotVersionsRequest.bot",
        "ListBotsRequest.owner",
        "ListFlagsRequest.bot",
        "ListFlagsRequest.ladder",
        "ListGamesRequest.bot",
        "ListGamesRequest.ladder",
        "ListGamesRequest.owner",
        "ListGamesRequest.ruleset",
        "ListGamesRequest.tournament",
        "ListSeasonsRequest.ladder",
        "ListTicketsRequest.ladder",
        "ListTokensRequest.owner",
        "NewPositionRequest.ruleset",
        "OptionValue.name",
        "OptionValue.value",
        "Ready.entropy",
        "Ready.game_id",
        "RecomputeStandingsRequest.ladder",
        "RecomputeStandingsRequest.request_id",
        "Resign.game_id",
        "ResignRequest.game_id",
        "Resume.game_id",
        "RetireBotRequest.bot",
        "RetireBotRequest.request_id",
        "RevokeTokenRequest.request_id",
        "RevokeTokenRequest.token_id",
        "RotateTokenRequest.request_id",
        "RotateTokenRequest.token_id",
        "RulesetRevision.revision",
        "RulesetRevision.ruleset",
        "SeatPlan.name",
        "StartSeasonRequest.ladder",
        "StartSeasonRequest.request_id",
        "SubmitActionsRequest.game_id",
        "TournamentEntry.bot",
        "VoidGameRequest.game_id",
        "VoidGameRequest.request_id",
        "WatchGameRequest.game_id",
        "WatchResultsRequest.ladder",
    ),
    **_rows("name_length", "HealthCheckRequest.service", package="grpc.health.v1."),
    # Reflection has the same messages in v1, and parses them as these.
    **_rows(
        "name_length",
        "ServerReflectionRequest.host",
        "ServerReflectionRequest.file_by_filename",
        "ServerReflectionRequest.file_containing_symbol",
        "ServerReflectionRequest.all_extension_numbers_of_type",
        "ServerReflectionRequest.list_services",
        "ExtensionRequest.containing_type",
        package="grpc.reflection.v1alpha.",
    ),
    **_rows(
        "text_length",
        "CreateBotRequest.description",
        "CreateBotRequest.version_label",
        "CreateBotVersionRequest.label",
        "CreateOwnerRequest.display_name",
        "CreateTokenRequest.label",
        "CreateTournamentRequest.title",
        "DeleteOwnerRequest.explanation",
        "GetHistoryRequest.page_token",
        "GetStandingsRequest.page_token",
        "Hello.client",
        "Hello.engine_version",
        "ListAuditEntriesRequest.page_token",
        "ListBotVersionsRequest.page_token",
        "ListBotsRequest.page_token",
        "ListFlagsRequest.page_token",
        "ListGamesRequest.page_token",
        "ListLaddersRequest.page_token",
        "ListOwnersRequest.page_token",
        "ListRulesetsRequest.page_token",
        "ListSeasonsRequest.page_token",
        "ListTicketsRequest.page_token",
        "ListTokensRequest.page_token",
        "ListTournamentsRequest.page_token",
        "StartSeasonRequest.title",
        "VoidGameRequest.explanation",
    ),
    **_rows(
        "list_entries",
        "ApplyActionsRequest.wants",
        "CreateGameRequest.options",
        "CreateGameRequest.seats",
        "CreateTokenRequest.scopes",
        "CreateTournamentRequest.entries",
        "CreateTournamentRequest.options",
        "GetDecisionRequest.wants",
        "Hello.rulesets",
        "Hello.wants",
        "NewPositionRequest.options",
        "NewPositionRequest.wants",
        "SubmitActionsRequest.wants",
        "WatchGameRequest.wants",
    ),
    **_rows(
        "actions", "Act.actions", "ApplyActionsRequest.actions", "SubmitActionsRequest.actions"
    ),
    **_rows("batch_messages", "PlayRequest.messages"),
    **_rows("resumed_games", "Hello.resume"),
    **_rows("invitations_from", "Hello.invitations_from"),
}
"""The limit on the length of each string, bytes and repeated field that a client can fill."""


def check_bytes(path: str, limits: Limits) -> Callable[[bytes], None]:
    """The check of a method's messages before they are parsed; it raises MessageTooLarge."""
    name = MESSAGE_BYTES.get(path, "message_bytes")
    most: int = getattr(limits, name)

    def check(raw: bytes) -> None:
        if len(raw) > most:
            raise too_large(name, "the message has", len(raw), most)

    return check


@lru_cache(maxsize=1_000)
def check_fields(descriptor: Descriptor, limits: Limits) -> Check:
    """The check of messages of one type after they are parsed; it raises LimitExceeded."""
    return _compiled(descriptor, limits) or _accept


def _compiled(descriptor: Descriptor, limits: Limits) -> Check | None:
    """The check of one type, built once so that a check costs a microsecond; None if all fits."""
    if descriptor.full_name in MESSAGES:
        return _check_size(MESSAGES[descriptor.full_name], limits)
    lengths = [
        (field.name, FIELDS[field.full_name], getattr(limits, FIELDS[field.full_name]))
        for field in descriptor.fields
        if field.full_name in FIELDS
    ]
    inside = [
        (field.name, field.is_repeated, check)
        for field in descriptor.fields
        if (check := _check_of_entry(field, limits)) is not None
    ]
    return _check_both(lengths, inside) if lengths or inside else None


def _check_of_entry(field: FieldDescriptor, limits: Limits) -> Check | None:
    """The check of the message in a field, or of each entry of a list; None if all fits."""
    if field.full_name in CHECKED_LATER:
        return None
    if field.message_type is not None:
        return _compiled(field.message_type, limits)
    if field.is_repeated and field.type == FieldDescriptor.TYPE_STRING:
        return _check_text(field.name, getattr(limits, TEXT_IN_LIST))
    return None


def _check_text(field: str, most: int) -> Check:
    def check(text: str) -> None:
        if len(text) > most:
            raise _refusal(field, f"an entry of {field} has {len(text)} characters", most)

    return check


def _refusal(field: str, what: str, most: int, limit: str = TEXT_IN_LIST) -> LimitExceeded:
    return LimitExceeded(
        f"{what}, and {most} are allowed", {"field": field, "limit": limit, "allowed": str(most)}
    )


def _check_both(
    lengths: list[tuple[str, str, int]], inside: list[tuple[str, bool, Check]]
) -> Check:
    """The check of lengths, and of the messages inside; a loop over lists is the quickest form."""

    def check(message: Message) -> None:
        for name, limit, most in lengths:
            if len(getattr(message, name)) > most:
                raise _too_long(message, name, limit, most)
        for name, is_list, check_inner in inside:
            if is_list:
                for entry in getattr(message, name):
                    check_inner(entry)
            elif message.HasField(name):
                check_inner(getattr(message, name))

    return check


def _check_size(limit: str, limits: Limits) -> Check:
    most: int = getattr(limits, limit)

    def check(message: Message) -> None:
        size = message.ByteSize()
        if size > most:
            raise too_large(limit, f"the {message.DESCRIPTOR.name} has", size, most)

    return check


def _accept(_message: object) -> None:
    return None


def _too_long(message: Message, field: str, limit: str, most: int) -> LimitExceeded:
    kind = message.DESCRIPTOR.fields_by_name[field]
    unit = "entries" if kind.is_repeated else "characters"
    length = len(getattr(message, field))
    return _refusal(field, f"{field} has {length} {unit}", most, limit)
